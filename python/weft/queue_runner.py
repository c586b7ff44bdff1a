"""QueueRunner: threads that keep queues full."""


class QueueRunner:
    pass
