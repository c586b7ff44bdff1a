"""Names of tensorflow.python.ops.metrics_impl that programs use in their own metrics."""
from weft._core.contrib.framework import remove_squeezable_dimensions
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.nn.mean_metrics import _matrix
from weft._core.nn.threshold_metrics import confusion
from weft._core.ops import array_ops
from weft._core.ops.variable_methods import VariableAggregation, VariableSynchronization
from weft._core.ops.variables import Variable


def metric_variable(shape, dtype, validate_shape=True, name=None):
    """Returns a local variable of zeros in the collections LOCAL_VARIABLES and METRIC_VARIABLES."""
    return Variable(lambda: array_ops.zeros(shape, dtype), trainable=False, name=name, dtype=dtype, validate_shape=validate_shape,
                    synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.SUM,
                    collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def _streaming_confusion_matrix(labels, predictions, num_classes, weights=None):
    """Returns (variable of the confusion matrix over all batches, its update)"""
    return _matrix(labels, predictions, num_classes, weights)


_KINDS = ("tp", "fn", "tn", "fp")


def _confusion_matrix_at_thresholds(labels, predictions, thresholds, weights=None, includes=None):
    """Returns ({kind: counts at each threshold}, {kind: update}) of the kinds tp, fn, tn and fp."""
    kinds = _KINDS if includes is None else includes
    for kind in kinds:
        if kind not in _KINDS:
            raise ValueError("Invalid key: %s" % kind)
    made = confusion(labels, predictions, thresholds, weights, [k for k in _KINDS if k in kinds])
    return {k: v.value() for k, (v, _) in made.items()}, {k: update for k, (_, update) in made.items()}


def _remove_squeezable_dimensions(predictions, labels, weights):
    """Returns predictions, labels and weights without a last axis of one element that only some of them have."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    have, want = weights.get_shape().ndims, predictions.get_shape().ndims
    if have == 0 or have is None or want is None:
        return predictions, labels, weights
    if have - want == 1:
        weights = array_ops.squeeze(weights, [-1])
    elif want - have == 1:
        weights = array_ops.expand_dims(weights, [-1])
    return predictions, labels, weights


def _aggregate_across_replicas(metrics_collections, metric_value_fn, *args):
    """Returns metric_value_fn(None, *args) and adds it to the collections; a session has one replica."""
    value = metric_value_fn(None, *args)
    get_default_graph().add_to_collections(metrics_collections or [], value)
    return value


def _aggregate_variable(v, collections):
    """Returns the value of a variable, added to the collections."""
    return _aggregate_across_replicas(collections, lambda _, variable: variable, v)
