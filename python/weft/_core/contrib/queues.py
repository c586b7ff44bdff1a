"""tf.contrib.slim.queues: runs queue runners for the duration of a `with` block."""
import contextlib

from weft._core.train.coordinator import Coordinator, start_queue_runners


@contextlib.contextmanager
def QueueRunners(session):
    coord = Coordinator()
    threads = start_queue_runners(session, coord)
    try:
        yield
    finally:
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=120)
