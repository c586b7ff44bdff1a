"""tf.contrib.slim.nets.resnet_utils: what residual networks are made of."""
from weft._core.contrib.nets.resnet import Block, conv2d_same, resnet_arg_scope, stack_blocks_dense, subsample
from weft._core.public import publish as _publish

__all__ = ["Block", "conv2d_same", "resnet_arg_scope", "stack_blocks_dense", "subsample"]
__getattr__ = _publish(__name__)
