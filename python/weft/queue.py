"""tf.queue: queues."""
from weft._core.ops.data_flow import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from weft._core.public import publish as _publish

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]
__getattr__ = _publish(__name__)
