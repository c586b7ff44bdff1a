"""tf.layers: layers as functions, and batch normalization as an object too."""
from weft._core.nn.base_layer import Layer
from weft._core.nn.batch_norm_layer import BatchNormalization
from weft._core.nn.layers import (
    average_pooling2d,
    batch_normalization,
    conv2d,
    conv2d_transpose,
    dense,
    dropout,
    flatten,
    max_pooling2d,
    separable_conv2d,
)
from weft._core.public import publish as _publish

__all__ = [
    "BatchNormalization", "Layer", "average_pooling2d", "batch_normalization", "conv2d", "conv2d_transpose", "dense",
    "dropout", "flatten", "max_pooling2d", "separable_conv2d",
]
__getattr__ = _publish(__name__)
