"""Helper functions of the metrics that are built in Python: local variables, and pairs of value and update."""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, control_dependencies, get_default_graph, name_scope
from weft._core.ops import array_ops, check_ops, control_flow, math_ops
from weft._core.ops.special_math import divide_no_nan
from weft._core.ops.variable_methods import VariableAggregation, VariableSynchronization
from weft._core.ops.variable_scope import variable_scope
from weft._core.ops.variables import Variable


def local(name, shape=(), dtype=dtypes.float32):
    """Returns a local variable of zeros that belongs to a metric."""
    return Variable(lambda: array_ops.zeros(list(shape), dtype), trainable=False, name=name, dtype=dtype, validate_shape=True,
                    synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.SUM,
                    collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def listed(value, update, metrics_collections, updates_collections):
    """Returns (value, update) after adding them to the given collections."""
    graph = get_default_graph()
    graph.add_to_collections(metrics_collections or [], value)
    graph.add_to_collections(updates_collections or [], update)
    return value, update


def without_last(x, than):
    """Returns x without a last axis of one element that `than` lacks. If a rank is unknown, each step decides."""
    mine, other, last = x.shape.ndims, than.shape.ndims, x.shape[-1:].as_list() if x.shape.ndims else [None]
    if mine is not None and other is not None:
        return array_ops.squeeze(x, [-1]) if mine == other + 1 else x
    if mine == 0 or last[0] not in (1, None):
        return x
    return control_flow.cond(math_ops.equal(array_ops.rank(x), array_ops.rank(than) + 1), lambda: array_ops.squeeze(x, [-1]), lambda: x)


def alike(labels, predictions):
    """Returns labels and predictions with the same shape; a last axis of one element that only one has is removed."""
    with name_scope("remove_squeezable_dimensions"):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        if predictions.shape.ndims is not None and predictions.shape.ndims == labels.shape.ndims:
            return labels, predictions
        return without_last(labels, predictions), without_last(predictions, labels)


def aligned_weights(weights, values):
    """Returns weights with the rank of the values, or a scalar. A weight for each row applies to the whole row.

    As in TensorFlow, the weights may have one axis less or, with one element, one more than the values; each other axis
    has the size of the values' one or 1. What is not known while the graph is built is checked in each step.
    """
    weights = convert_to_tensor(weights)
    if weights.shape.ndims == 0:
        return weights
    with name_scope("aligned_weights"):
        weights = with_last(without_last(weights, values), values)
        have, want = weights.shape, values.shape
        if have.ndims is not None and want.ndims is not None:
            check_broadcastable(weights, values)
            if have.is_fully_defined() and want.is_fully_defined():
                return weights
        return broadcastable_in_steps(weights, values)


def with_last(weights, values):
    """Returns weights with one more axis if they have one less than the values."""
    if weights.shape.ndims is not None and values.shape.ndims is not None:
        return array_ops.expand_dims(weights, -1) if weights.shape.ndims == values.shape.ndims - 1 else weights
    rank = array_ops.rank(weights)
    less = math_ops.logical_and(rank > 0, math_ops.equal(rank, array_ops.rank(values) - 1))
    return control_flow.cond(less, lambda: array_ops.expand_dims(weights, -1), lambda: weights)


def probabilities(predictions, labels):
    """Returns predictions as floats and labels as booleans, with a check that each prediction is between 0 and 1.

    As in TensorFlow, the check runs with what is converted: not for labels that are booleans and predictions that are float32.
    """
    predictions = convert_to_tensor(predictions)
    kind, wrong = predictions.dtype.base_dtype, "predictions must be in [0, 1]"
    checks = [check_ops.assert_greater_equal(predictions, math_ops.cast(0.0, kind), message=wrong),
              check_ops.assert_less_equal(predictions, math_ops.cast(1.0, kind), message=wrong)]
    with control_dependencies(checks):
        return math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.bool)


_WRONG = "weights can not be broadcast to values."


def check_broadcastable(weights, values):
    """Raises ValueError if weights of known rank are no scalar and have an axis with neither the size of the values nor
    1.
    """
    have, want = weights.shape, values.shape
    if have.ndims == 0:
        return
    if have.ndims != want.ndims:
        raise ValueError("%s values.rank=%s. weights.rank=%s. values.shape=%s. weights.shape=%s. Received weights=%s, values=%s" % (
            _WRONG, want.ndims, have.ndims, want, have, weights, values))
    for i, (mine, other) in enumerate(zip(have.as_list(), want.as_list())):
        if mine not in (1, None) and other is not None and mine != other:
            raise ValueError("%s Mismatch at dim %d. values.shape=%s, weights.shape=%s. Received weights=%s, values=%s" % (
                _WRONG, i, want, have, weights, values))


def broadcastable_in_steps(weights, values):
    """Returns the weights with a check in each step that they fit the values."""
    have, want = array_ops.shape(weights), array_ops.shape(values)

    def fit():
        return math_ops.reduce_all(math_ops.logical_or(math_ops.equal(have, 1), math_ops.equal(have, want)))
    if weights.shape.ndims is not None and weights.shape.ndims == values.shape.ndims:
        good = fit()
    else:
        ranks = math_ops.equal(array_ops.size(have), array_ops.size(want))
        scalar = math_ops.equal(array_ops.size(have), 0)
        good = math_ops.logical_or(scalar, control_flow.cond(ranks, fit, lambda: array_ops.constant(False)))
    with control_dependencies([control_flow.Assert(good, [_WRONG, "weights.shape=", have, "values.shape=", want])]):
        return array_ops.identity(weights)


def broadcast_weights(weights, values):
    """Returns weights with the shape of the values."""
    return math_ops.cast(aligned_weights(weights, values), values.dtype.base_dtype) * array_ops.ones_like(values)


def running_mean(values, weights, default_name, name):
    """Returns the weighted mean of all values so far, and its update; the variables are `total` and `count`."""
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
        value = divide_no_nan(total.value(), math_ops.maximum(count.value(), 0.0), name="value")
        return value, divide_no_nan(new_total, math_ops.maximum(new_count, 0.0), name="update_op")
