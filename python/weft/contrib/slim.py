"""tf.contrib.slim: contrib.layers and arg_scope under one name."""
from ..train.training_util import create_global_step, get_global_step  # noqa: F401
from . import layers, learning, losses, metrics, prefetch_queue, queues  # noqa: F401
from .framework import (VariableDeviceChooser, add_arg_scope, arg_scope, assign_from_checkpoint_fn,  # noqa: F401
                        get_model_variables, get_or_create_global_step, get_variables_to_restore,
                        get_trainable_variables, get_variables, local_variable, model_variable, variable)
from .layers import (avg_pool2d, batch_norm, conv2d, conv2d_transpose, convolution2d, dropout, flatten, fully_connected,  # noqa: F401
                     l1_l2_regularizer, l1_regularizer, l2_regularizer, linear, max_pool2d, one_hot_encoding, relu, relu6,
                     separable_conv2d, separable_convolution2d, softmax, variance_scaling_initializer, xavier_initializer)


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


class utils:  # noqa: N801 - contrib's name
    @staticmethod
    def convert_collection_to_dict(collection, clear_collection=False):
        """{alias: tensor} of the outputs that layers put into a collection."""
        from ..graph import get_collection, get_collection_ref
        found = {layers.alias_of(t): t for t in get_collection(collection)}
        if clear_collection:
            del get_collection_ref(collection)[:]
        return found
