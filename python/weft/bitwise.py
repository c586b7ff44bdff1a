"""tf.bitwise: integers as rows of bits."""
from weft._core.ops.bitwise_ops import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift
from weft._core.public import publish as _publish

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]
__getattr__ = _publish(__name__)
