"""tf.contrib.periodic_resample: elements of one dimension in the places of others."""
from weft._core.contrib.small_ops import periodic_resample
from weft._core.public import publish as _publish

__all__ = ["periodic_resample"]
__getattr__ = _publish(__name__)
