"""tf.contrib.slim.nets.vgg: the VGG networks."""
from weft._core.contrib.nets.plain import vgg_16, vgg_19, vgg_a, vgg_arg_scope, vgg_d, vgg_e
from weft._core.public import publish as _publish

__all__ = ["vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e"]
__getattr__ = _publish(__name__)
