"""tf.contrib.memory_stats: the memory of the device that an op is placed on."""
from weft._core.contrib.small_ops import BytesInUse, BytesLimit, MaxBytesInUse
from weft._core.public import publish as _publish

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]
__getattr__ = _publish(__name__)
