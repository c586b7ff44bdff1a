"""tf.bitwise: operations on the bits of integers."""
from weft._core.framework import wrap

wrap.functions("""
bitwise_and BitwiseAnd x y
bitwise_or BitwiseOr x y
bitwise_xor BitwiseXor x y
invert Invert x
left_shift LeftShift x y
right_shift RightShift x y
""", globals())
