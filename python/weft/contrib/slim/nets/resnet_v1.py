"""tf.contrib.slim.nets.resnet_v1: residual networks that normalize after their convolutions."""
from weft._core.contrib.nets.resnet import (
    bottleneck_v1 as bottleneck,
    resnet_arg_scope,
    resnet_v1,
    resnet_v1_50,
    resnet_v1_101,
    resnet_v1_152,
    resnet_v1_200,
    resnet_v1_block,
)
from weft._core.public import publish as _publish

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_v1", "resnet_v1_101", "resnet_v1_152", "resnet_v1_200", "resnet_v1_50",
    "resnet_v1_block",
]
__getattr__ = _publish(__name__)
