"""Helper functions of the metrics that are built in Python: their variables, and the pair of value and update."""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, control_dependencies, get_default_graph
from weft._core.ops import array_ops, math_ops
from weft._core.ops.special_math import divide_no_nan
from weft._core.ops.variable_methods import VariableAggregation, VariableSynchronization
from weft._core.ops.variable_scope import variable_scope
from weft._core.ops.variables import Variable


def local(name, shape=(), dtype=dtypes.float32):
    """A local variable of zeros that belongs to a metric."""
    return Variable(lambda: array_ops.zeros(list(shape), dtype), trainable=False, name=name, dtype=dtype, validate_shape=True,
                    synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.SUM,
                    collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def listed(value, update, metrics_collections, updates_collections):
    """The pair, after it was added to the collections that the caller named."""
    graph = get_default_graph()
    graph.add_to_collections(metrics_collections or [], value)
    graph.add_to_collections(updates_collections or [], update)
    return value, update


def broadcast_weights(weights, values):
    """Weights of the shape of the values."""
    weights = math_ops.cast(convert_to_tensor(weights), values.dtype.base_dtype)
    missing = (values.shape.ndims or 0) - (weights.shape.ndims or 0)
    if weights.shape.ndims and missing > 0:
        for _ in range(missing):
            weights = array_ops.expand_dims(weights, -1)
    return weights * array_ops.ones_like(values)


def running_mean(values, weights, default_name, name):
    """The weighted mean of all values so far, and its update, in variables `total` and `count`."""
    with variable_scope(name, default_name, (values, weights)):
        values = math_ops.cast(convert_to_tensor(values), dtypes.float32)
        total, count = local("total"), local("count")
        if weights is None:
            number = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            weights = broadcast_weights(weights, values)
            values, number = values * weights, math_ops.reduce_sum(weights)
        new_total = total.assign_add(math_ops.reduce_sum(values))
        with control_dependencies([values]):
            new_count = count.assign_add(number)
        value = divide_no_nan(total.value(), count.value(), name="value")
        return value, divide_no_nan(new_total, new_count, name="update_op")
