"""tf.contrib.framework: arg_scope, variables and the global step."""
from weft._core.contrib.framework import (
    VariableDeviceChooser,
    add_arg_scope,
    arg_scope,
    assert_or_get_global_step,
    assign_from_checkpoint_fn,
    current_arg_scope,
    get_model_variables,
    get_trainable_variables,
    get_variables,
    get_variables_to_restore,
    has_arg_scope,
    local_variable,
    model_variable,
    variable,
)
from weft._core.public import publish as _publish
from weft._core.train.training_util import assert_global_step, create_global_step, get_global_step, get_or_create_global_step

__all__ = [
    "VariableDeviceChooser", "add_arg_scope", "arg_scope", "assert_global_step", "assert_or_get_global_step",
    "assign_from_checkpoint_fn", "create_global_step", "current_arg_scope", "get_global_step", "get_model_variables",
    "get_or_create_global_step", "get_trainable_variables", "get_variables", "get_variables_to_restore",
    "has_arg_scope", "local_variable", "model_variable", "variable",
]
__getattr__ = _publish(__name__)
