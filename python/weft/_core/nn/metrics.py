"""tf.metrics: functions that return (the value over all batches so far, an op that adds a batch)."""
from weft import _weft
from weft._core.framework import dtypes, errors
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import get_default_graph
from weft._core.nn.metric_parts import aligned_weights, alike, listed, running_mean
from weft._core.nn.threshold_metrics import confusion
from weft._core.ops import math_ops
from weft._core.ops.variables import resource_wanted
from weft._core.platform import logging

# The op that computes the difference of labels and predictions, and which of the two is its first input.
_DIFFERENCES = {"mean_squared_error": ("SquaredDifference", "labels"), "root_mean_squared_error": ("SquaredDifference", "labels"),
                "mean_absolute_error": ("Sub", "predictions")}


def _check_types(kind, labels, predictions):
    op, first = _DIFFERENCES[kind]
    x, y = (t.dtype.base_dtype.name for t in ((labels, predictions) if first == "labels" else (predictions, labels)))
    if x != y:
        raise TypeError("Input 'y' of '%s' Op has type %s that does not match type %s of argument 'x'." % (op, y, x))


def _metric(kind, labels, predictions, weights, collections, updates, name):
    graph = get_default_graph()
    labels, predictions = alike(convert_to_tensor(labels), convert_to_tensor(predictions))
    predictions.shape.assert_is_compatible_with(labels.shape)
    given = -1 if weights is None else _weights(kind, weights, predictions)._out
    graph._c.variables_resource(resource_wanted(None))
    try:
        with graph._made_by_library():
            value, update = _weft.metric(graph._c, kind, labels._out, predictions._out, given, 0, name)
    except errors.InvalidArgumentError as e:  # TensorFlow raises ValueError here.
        raise ValueError(e.message) from None
    value, update = graph._result(value), graph._result(update)
    graph.add_to_collections(collections or [], value)
    graph.add_to_collections(updates or [], update)
    return value, update


def _weights(kind, weights, predictions):
    from weft._core.ops.math_ops import cast
    return cast(aligned_weights(weights, predictions), dtypes.float32)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return listed(*running_mean(values, weights, "mean", name), metrics_collections, updates_collections)


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
        curve="ROC", name=None, summation_method="trapezoidal", thresholds=None):
    if curve not in ("ROC", "PR"):
        raise ValueError("Curve must be either ROC or PR. Curve %s is unknown." % curve)
    if summation_method not in _SUMMATIONS:
        raise ValueError("Invalid summation_method: %s summation_method should be 'trapezoidal', 'careful_interpolation', "
                         "'minoring', or 'majoring'." % summation_method)
    if thresholds is None:
        thresholds = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    return _area_under(curve, labels, predictions, weights, [-1e-7] + sorted(thresholds) + [1 + 1e-7], metrics_collections,
                       updates_collections, name, summation_method)


_SUMMATIONS = ("trapezoidal", "careful_interpolation", "minoring", "majoring")


def _area(tp, fp, fn, tn, curve, method, name):
    from weft._core.ops import array_ops, math_ops
    if curve == "PR" and method == "trapezoidal":  # Logged for the value and again for the update, as in TensorFlow.
        logging.warning("Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to \"careful_interpolation\" instead.")
    if curve == "ROC" or method != "careful_interpolation":
        recall_ = (tp + 1e-6) / (tp + fn + 1e-6)
        x, y = (fp / (fp + tn + 1e-6), recall_) if curve == "ROC" else (recall_, (tp + 1e-6) / (tp + fp + 1e-6))
        between = {"minoring": math_ops.minimum, "majoring": math_ops.maximum}.get(method, lambda a, b: (a + b) / 2)
        last = x.shape.as_list()[0] - 1
        steps = x[:last] - x[1:]
        return math_ops.reduce_sum(math_ops.multiply(steps, between(y[:last], y[1:])), name=name)
    p, steps = tp + fp, tp[:-1] - tp[1:]
    slope = math_ops.div_no_nan(steps, math_ops.maximum(p[:-1] - p[1:], 0.0))
    start = tp[1:] - slope * p[1:]
    both = math_ops.logical_and(p[:-1] > 0, p[1:] > 0)
    ratio = array_ops.where(both, math_ops.div_no_nan(p[:-1], math_ops.maximum(p[1:], 0.0)), array_ops.ones_like(p[1:]))
    return math_ops.reduce_sum(math_ops.div_no_nan(slope * (steps + start * math_ops.log(ratio)),
                                                   math_ops.maximum(tp[1:] + fn[1:], 0.0)), name="interpolate_pr_auc")


def _area_under(curve, labels, predictions, weights, thresholds, collections, updates, name, method):
    """Returns the area under a curve at the given thresholds."""
    from weft._core.ops.variable_scope import variable_scope
    with variable_scope(name, "auc", [labels, predictions, weights]):
        counts = confusion(labels, predictions, thresholds, weights, ["tp", "fn", "tn", "fp"])
        found = [counts[kind] for kind in ("tp", "fp", "fn", "tn")]
        value = _area(*[count.value() for count, _ in found], curve, method, "value")
        after = _area(*[update for _, update in found], curve, method, "update_op")
    graph = get_default_graph()
    graph.add_to_collections(collections or [], value)
    graph.add_to_collections(updates or [], after)
    return value, after


def _of_mean(kind, measured):
    """Returns a metric that is the mean of what is measured for each example, outside the metric's scope as in TensorFlow."""
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        if kind in _DIFFERENCES:
            _check_types(kind, labels, predictions)
        labels, predictions = alike(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        return mean(measured(labels, predictions), weights, metrics_collections, updates_collections, name or kind)
    metric.__name__ = kind
    return metric


def _hits(labels, predictions):
    if labels.dtype.base_dtype != predictions.dtype.base_dtype:
        predictions = math_ops.cast(predictions, labels.dtype.base_dtype)
    return math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)


def root_mean_squared_error(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    value, update = math_ops.sqrt(value), math_ops.sqrt(update)
    graph = get_default_graph()
    graph.add_to_collections(metrics_collections or [], value)
    graph.add_to_collections(updates_collections or [], update)
    return value, update


def _simple(kind):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return _metric(kind, labels, predictions, weights, metrics_collections, updates_collections, name)
    metric.__name__ = kind
    return metric


accuracy = _of_mean("accuracy", _hits)
mean_squared_error = _of_mean("mean_squared_error", math_ops.squared_difference)
mean_absolute_error = _of_mean("mean_absolute_error", lambda labels, predictions: math_ops.abs(predictions - labels))
precision, recall = map(_simple, ("precision", "recall"))
true_positives, false_positives = map(_simple, ("true_positives", "false_positives"))
true_negatives, false_negatives = map(_simple, ("true_negatives", "false_negatives"))
