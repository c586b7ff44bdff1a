"""tf.contrib.slim.variables: variables of a model, by scope and name."""
from weft._core.contrib.framework import (
    VariableDeviceChooser,
    add_model_variable,
    assert_or_get_global_step,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
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
    local_variable,
    model_variable,
    variable,
)
from weft._core.public import publish as _publish
from weft._core.train.training_util import assert_global_step, create_global_step, get_global_step, get_or_create_global_step

__all__ = [
    "VariableDeviceChooser", "add_model_variable", "assert_global_step", "assert_or_get_global_step",
    "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn",
    "create_global_step", "filter_variables", "get_global_step", "get_local_variables", "get_model_variables",
    "get_or_create_global_step", "get_trainable_variables", "get_unique_variable", "get_variable_full_name",
    "get_variables", "get_variables_by_name", "get_variables_by_suffix", "get_variables_to_restore",
    "global_variable", "local_variable", "model_variable", "variable",
]
__getattr__ = _publish(__name__)
