"""tensorflow.python.training.slot_creator: creates the variables that an optimizer keeps for a variable."""
import contextlib

from weft._core.framework.build import convert_to_tensor
from weft._core.framework.tensor_shape import TensorShape
from weft._core.ops import array_ops, init_ops
from weft._core.ops.resource_variables import is_resource_variable
from weft._core.ops.variable_scope import single, variable_scope
from weft._core.ops.variables import Variable
from weft._core.train.python_optimizer import slot_place


def create_slot(primary, val, name, colocate_with_primary=True):
    """Returns a variable named after another one, with a value to begin with.

    Args:
      primary: the variable that it belongs to.
      val: its first value.
      name: the name of the slot.
      colocate_with_primary: whether it is on the device of the variable.
    """
    val = convert_to_tensor(val)
    return _made(primary, name, colocate_with_primary, val, val.dtype.base_dtype, validate_shape=val.shape.is_fully_defined())


def create_slot_with_initializer(primary, initializer, shape, dtype, name, colocate_with_primary=True):
    """Returns a variable named after another one, with an initializer.

    Args:
      primary: the variable that it belongs to.
      initializer: its initializer.
      shape: its shape.
      dtype: its type.
      name: the name of the slot.
      colocate_with_primary: whether it is on the device of the variable.
    """
    return _made(primary, name, colocate_with_primary, initializer, dtype, TensorShape(shape).as_list())


def create_zeros_slot(primary, name, dtype=None, colocate_with_primary=True):
    """Returns a variable of zeros named after another one.

    Args:
      primary: the variable that it belongs to.
      name: the name of the slot.
      dtype: its type; that of the variable if it is None.
      colocate_with_primary: whether it is on the device of the variable.
    """
    dtype = dtype or primary.dtype.base_dtype
    if primary.get_shape().is_fully_defined():
        return create_slot_with_initializer(primary, init_ops.zeros_initializer(), primary.get_shape(), dtype, name,
                                            colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, array_ops.zeros(array_ops.shape(value), dtype), name, colocate_with_primary)


def _made(primary, name, colocate, initializer, dtype, shape=None, validate_shape=True):
    where = slot_place(primary) if colocate else contextlib.nullcontext()
    with where, variable_scope(None, primary.op.name + "/" + name, auxiliary_name_scope=False) as scope:
        return single(scope.name, shape, dtype, initializer, trainable=False, validate_shape=validate_shape,
                      use_resource=is_resource_variable(primary))
