"""tf.contrib.slim: contrib.layers and arg_scope under one name."""
from . import layers, learning, losses, prefetch_queue  # noqa: F401
from .framework import (add_arg_scope, arg_scope, get_model_variables, get_or_create_global_step,  # noqa: F401
                        get_trainable_variables, get_variables, local_variable, model_variable, variable)
from .layers import (avg_pool2d, batch_norm, conv2d, convolution2d, dropout, flatten, fully_connected,  # noqa: F401
                     l1_l2_regularizer, l1_regularizer, l2_regularizer, linear, max_pool2d, relu, relu6, separable_conv2d,
                     separable_convolution2d, softmax, variance_scaling_initializer, xavier_initializer)


def repeat(inputs, repetitions, layer, *args, **kwargs):
    from ..variable_scope import variable_scope
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        out = inputs
        name = scope or layer.__name__
        for i in range(repetitions):
            out = layer(out, *args, scope="%s_%d" % (name, i + 1), **kwargs)
        return out


def stack(inputs, layer, stack_args, **kwargs):
    from ..variable_scope import variable_scope
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Stack", [inputs]):
        out = inputs
        for i, args in enumerate(stack_args):
            args = args if isinstance(args, (list, tuple)) else [args]
            out = layer(out, *args, scope="%s_%d" % (scope or layer.__name__, i + 1), **kwargs)
        return out
