"""tf.metrics: (value over all batches so far, op that takes one in)."""
from . import _weft, dtypes
from .build import convert_to_tensor
from .graph import get_default_graph


def _metric(kind, labels, predictions, weights, collections, updates, name, thresholds=0):
    graph = get_default_graph()
    labels = predictions if labels is None else labels
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    if kind in ("accuracy",) and labels.dtype.base_dtype != predictions.dtype.base_dtype:
        from .math_ops import cast
        predictions = cast(predictions, labels.dtype.base_dtype)
    given = -1 if weights is None else convert_to_tensor(weights, dtypes.float32)._out
    value, update = _weft.metric(graph._c, kind, labels._out, predictions._out, given, thresholds, name)
    value, update = graph._tensor(value), graph._tensor(update)
    graph.add_to_collections(collections or [], value)
    graph.add_to_collections(updates or [], update)
    return value, update


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return _metric("mean", None, values, weights, metrics_collections, updates_collections, name)


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
        curve="ROC", name=None, summation_method="trapezoidal", thresholds=None):
    if curve != "ROC":
        raise NotImplementedError("tf.metrics.auc: only the ROC curve is in Weft")
    return _metric("auc", labels, predictions, weights, metrics_collections, updates_collections, name, num_thresholds)


def _simple(kind):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return _metric(kind, labels, predictions, weights, metrics_collections, updates_collections, name)
    metric.__name__ = kind
    return metric


accuracy, mean_squared_error, mean_absolute_error = map(_simple, ("accuracy", "mean_squared_error", "mean_absolute_error"))
root_mean_squared_error, precision, recall = map(_simple, ("root_mean_squared_error", "precision", "recall"))
true_positives, false_positives = map(_simple, ("true_positives", "false_positives"))
true_negatives, false_negatives = map(_simple, ("true_negatives", "false_negatives"))
