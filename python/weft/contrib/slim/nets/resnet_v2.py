"""tf.contrib.slim.nets.resnet_v2: residual networks that normalize before their convolutions."""
from weft._core.contrib.nets.resnet import (
    bottleneck_v2 as bottleneck,
    resnet_arg_scope,
    resnet_v2,
    resnet_v2_50,
    resnet_v2_101,
    resnet_v2_152,
    resnet_v2_200,
    resnet_v2_block,
)
from weft._core.public import publish as _publish

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_v2", "resnet_v2_101", "resnet_v2_152", "resnet_v2_200", "resnet_v2_50",
    "resnet_v2_block",
]
__getattr__ = _publish(__name__)
