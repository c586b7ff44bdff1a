"""tf.contrib.slim: the layers of tf.contrib.layers, arg_scope and variables under one name."""
from weft._core.contrib.framework import (
    VariableDeviceChooser,
    add_arg_scope,
    add_model_variable,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    assert_or_get_global_step,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    current_arg_scope,
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    has_arg_scope,
    local_variable,
    model_variable,
    variable,
)
from weft._core.contrib.slim import repeat, stack
from weft._core.public import publish as _publish
from weft._core.train.training_util import assert_global_step, create_global_step, get_global_step, get_or_create_global_step
from weft.contrib import layers, losses, metrics
from weft.contrib.layers import initializers, regularizers, utils
from weft.contrib.slim import (
    data,
    data_decoder,
    data_provider,
    dataset,
    dataset_data_provider,
    evaluation,
    learning,
    model_analyzer,
    nets,
    parallel_reader,
    prefetch_queue,
    queues,
    summaries,
    tfexample_decoder,
    variables,
)

__all__ = [
    "VariableDeviceChooser", "add_arg_scope", "add_model_variable", "arg_scope", "arg_scope_func_key",
    "arg_scoped_arguments", "assert_global_step", "assert_or_get_global_step", "assign_from_checkpoint",
    "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn", "create_global_step",
    "current_arg_scope", "data", "data_decoder", "data_provider", "dataset", "dataset_data_provider", "evaluation",
    "filter_variables", "get_global_step", "get_local_variables", "get_model_variables", "get_or_create_global_step",
    "get_trainable_variables", "get_unique_variable", "get_variable_full_name", "get_variables",
    "get_variables_by_name", "get_variables_by_suffix", "get_variables_to_restore", "global_variable",
    "has_arg_scope", "initializers", "layers", "learning", "local_variable", "losses", "metrics", "model_analyzer",
    "model_variable", "nets", "parallel_reader", "prefetch_queue", "queues", "regularizers", "repeat", "stack",
    "summaries", "tfexample_decoder", "utils", "variable", "variables",
]
globals().update({_name: vars(layers)[_name] for _name in layers.__all__ if _name not in __all__})
__all__ += [_name for _name in layers.__all__ if _name not in __all__]
__getattr__ = _publish(__name__)
