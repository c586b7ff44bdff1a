"""tf.contrib.layers.initializers: initializers by the sizes of a layer's inputs and outputs."""
from weft._core.contrib.layers import variance_scaling_initializer, xavier_initializer, xavier_initializer_conv2d
from weft._core.public import publish as _publish

__all__ = ["variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]
__getattr__ = _publish(__name__)
