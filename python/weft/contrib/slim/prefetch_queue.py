"""tf.contrib.slim.prefetch_queue: batches made ahead, in a queue that a thread fills."""
from weft._core.contrib.prefetch_queue import prefetch_queue
from weft._core.public import publish as _publish

__all__ = ["prefetch_queue"]
__getattr__ = _publish(__name__)
