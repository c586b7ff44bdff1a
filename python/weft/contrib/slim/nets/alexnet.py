"""tf.contrib.slim.nets.alexnet: AlexNet."""
from weft._core.contrib.nets.plain import alexnet_v2, alexnet_v2_arg_scope, trunc_normal
from weft._core.public import publish as _publish

__all__ = ["alexnet_v2", "alexnet_v2_arg_scope", "trunc_normal"]
__getattr__ = _publish(__name__)
