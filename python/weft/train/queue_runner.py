"""tf.train.queue_runner: threads that fill queues."""
from weft._core.public import publish as _publish
from weft._core.train.coordinator import QueueRunner, add_queue_runner, start_queue_runners

__all__ = ["QueueRunner", "add_queue_runner", "start_queue_runners"]
__getattr__ = _publish(__name__)
