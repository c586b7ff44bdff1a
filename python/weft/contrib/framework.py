"""tf.contrib.framework: arg_scope, variables and the global step."""
from weft import nest
from weft._core.contrib.framework import (
    VariableDeviceChooser,
    add_arg_scope,
    add_model_variable,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    assert_or_get_global_step,
    assert_scalar_int,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    convert_to_tensor_or_sparse_tensor,
    current_arg_scope,
    deprecated,
    deprecated_arg_values,
    deprecated_args,
    filter_variables,
    get_graph_from_inputs,
    get_local_variables,
    get_model_variables,
    get_name_scope,
    get_placeholders,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    has_arg_scope,
    is_tensor,
    local_variable,
    model_variable,
    reduce_sum_n,
    remove_squeezable_dimensions,
    smart_cond,
    smart_constant_value,
    variable,
    with_same_shape,
    with_shape,
    zero_initializer,
)
from weft._core.ops.check_ops import assert_same_float_dtype, assert_scalar
from weft._core.ops.critical_section import CriticalSection
from weft._core.ops.sort_ops import argsort, sort
from weft._core.public import publish as _publish
from weft._core.train.saver import list_variables, load_checkpoint, load_variable
from weft._core.train.training_util import assert_global_step, create_global_step, get_global_step, get_or_create_global_step
from weft._core.train.warm_start import init_from_checkpoint

__all__ = [
    "CriticalSection", "VariableDeviceChooser", "add_arg_scope", "add_model_variable", "arg_scope",
    "arg_scope_func_key", "arg_scoped_arguments", "argsort", "assert_global_step", "assert_or_get_global_step",
    "assert_same_float_dtype", "assert_scalar", "assert_scalar_int", "assign_from_checkpoint",
    "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn", "convert_to_tensor_or_sparse_tensor",
    "create_global_step", "current_arg_scope", "deprecated", "deprecated_arg_values", "deprecated_args",
    "filter_variables", "get_global_step", "get_graph_from_inputs", "get_local_variables", "get_model_variables",
    "get_name_scope", "get_or_create_global_step", "get_placeholders", "get_trainable_variables",
    "get_unique_variable", "get_variable_full_name", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "global_variable", "has_arg_scope", "init_from_checkpoint",
    "is_tensor", "list_variables", "load_checkpoint", "load_variable", "local_variable", "model_variable", "nest",
    "reduce_sum_n", "remove_squeezable_dimensions", "smart_cond", "smart_constant_value", "sort", "variable",
    "with_same_shape", "with_shape", "zero_initializer",
]
__getattr__ = _publish(__name__)
