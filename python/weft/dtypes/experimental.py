"""tf.dtypes.experimental: float8 and 4-bit integers, which constants, casts and checkpoints have."""
from weft._core.framework.dtypes import float8_e4m3fn, float8_e5m2, int4, uint4
from weft._core.public import publish as _publish

__all__ = ["float8_e4m3fn", "float8_e5m2", "int4", "uint4"]
__getattr__ = _publish(__name__)
