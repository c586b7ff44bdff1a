"""tf.contrib.util: values of constants, and tensors as messages."""
from weft._core.framework.tensor_util import make_ndarray, make_tensor_proto
from weft._core.ops.special_math import get_static_value as constant_value
from weft._core.public import publish as _publish

__all__ = ["constant_value", "make_ndarray", "make_tensor_proto"]
__getattr__ = _publish(__name__)
