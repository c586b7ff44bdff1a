"""tensorflow.python.training.moving_averages: moving averages of values as ops."""
import itertools

from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.ops import init_ops, math_ops
from weft._core.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from weft._core.ops.variables import assign, assign_add, assign_sub
from weft._core.train.optimizer import ExponentialMovingAverage  # noqa: F401


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """Moves a variable towards a value: variable -= (variable - value) * (1 - decay).

    Args:
      variable: the variable.
      value: the new value.
      decay: how much of the old average stays.
      zero_debias: whether the average is divided by 1 - decay ** steps, for a variable that begins at zero.
      name: the name of the update.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = convert_to_tensor(1.0 - decay, name="decay")
        if rate.dtype.base_dtype != variable.dtype.base_dtype:
            rate = math_ops.cast(rate, variable.dtype.base_dtype)
        if zero_debias:
            return assign(variable, _unbiased(variable, value, rate), name=scope)
        return assign_sub(variable, (variable - value) * rate, name=scope)


def _unbiased(variable, value, rate):
    """Returns the average that two variables beside this one keep, divided by the weight that zero has in it."""
    with variable_scope(variable.op.name, values=[variable, value, rate]), get_default_graph().colocate_with(variable):
        zeros = init_ops.zeros_initializer(dtype=variable.dtype.base_dtype)
        biased = get_variable(_free("biased"), variable.get_shape(), variable.dtype.base_dtype, zeros, trainable=False)
        step = get_variable(_free("local_step"), [], variable.dtype.base_dtype, zeros, trainable=False)
    moved = assign_sub(biased, (biased - value) * rate)
    steps = assign_add(step, 1)
    return moved / (1 - math_ops.pow(1.0 - rate, steps))


def _free(name):
    """Returns the name of a new variable of this scope: with a number behind it if a variable has the name."""
    scope, taken = get_variable_scope(), get_default_graph()._variable_store
    names = itertools.chain([name], ("%s_%d" % (name, i) for i in itertools.count(1)))
    return name if scope.reuse else next(n for n in names if "%s/%s" % (scope.name, n) not in taken)


def weighted_moving_average(value, decay, weight, truediv=True, collections=None, name=None):
    """Returns the moving average of a value whose items have weights.

    Args:
      value: the value.
      decay: how much of the old average stays.
      weight: the weight of the value.
      truediv: whether integers are divided exactly.
      collections: the collections of the two variables.
      name: the name of the scope.
    """
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        value, weight = convert_to_tensor(value), convert_to_tensor(weight)
        product = get_variable("value_x_weight", value.get_shape(), value.dtype, init_ops.zeros_initializer(), trainable=False,
                               collections=collections)
        total = get_variable("weight", weight.get_shape(), weight.dtype, init_ops.zeros_initializer(), trainable=False,
                             collections=collections)
        top = assign_moving_average(product, value * weight, decay, zero_debias=False)
        bottom = assign_moving_average(total, weight, decay, zero_debias=False)
        return (math_ops.truediv if truediv else math_ops.div)(top, bottom, name=scope.name)
