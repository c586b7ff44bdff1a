"""tf.contrib.slim.nets.overfeat: OverFeat."""
from weft._core.contrib.nets.plain import overfeat, overfeat_arg_scope, trunc_normal
from weft._core.public import publish as _publish

__all__ = ["overfeat", "overfeat_arg_scope", "trunc_normal"]
__getattr__ = _publish(__name__)
