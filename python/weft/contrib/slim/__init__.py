"""tf.contrib.slim: contrib.layers and arg_scope under one name."""
from weft._core.contrib.framework import (
    VariableDeviceChooser,
    add_arg_scope,
    arg_scope,
    assign_from_checkpoint_fn,
    get_model_variables,
    get_trainable_variables,
    get_variables,
    get_variables_to_restore,
    local_variable,
    model_variable,
    variable,
)
from weft._core.contrib.layers import (
    avg_pool2d,
    batch_norm,
    conv2d,
    conv2d_transpose,
    convolution2d,
    dropout,
    flatten,
    fully_connected,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    linear,
    max_pool2d,
    one_hot_encoding,
    relu,
    relu6,
    separable_conv2d,
    separable_convolution2d,
    softmax,
    variance_scaling_initializer,
    xavier_initializer,
)
from weft._core.contrib.slim import repeat, stack
from weft._core.public import publish as _publish
from weft._core.train.training_util import create_global_step, get_global_step, get_or_create_global_step
from weft.contrib import layers, losses, metrics
from weft.contrib.slim import learning, prefetch_queue, queues, utils

__all__ = [
    "VariableDeviceChooser", "add_arg_scope", "arg_scope", "assign_from_checkpoint_fn", "avg_pool2d", "batch_norm",
    "conv2d", "conv2d_transpose", "convolution2d", "create_global_step", "dropout", "flatten", "fully_connected",
    "get_global_step", "get_model_variables", "get_or_create_global_step", "get_trainable_variables", "get_variables",
    "get_variables_to_restore", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "layers", "learning",
    "linear", "local_variable", "losses", "max_pool2d", "metrics", "model_variable", "one_hot_encoding",
    "prefetch_queue", "queues", "relu", "relu6", "repeat", "separable_conv2d", "separable_convolution2d", "softmax",
    "stack", "utils", "variable", "variance_scaling_initializer", "xavier_initializer",
]
__getattr__ = _publish(__name__)
