"""tf.contrib.metrics: tf.metrics under its older names."""
from weft._core.nn import metrics as _metrics


def streaming_auc(predictions, labels, weights=None, num_thresholds=200, metrics_collections=None,
                  updates_collections=None, curve="ROC", name=None):
    return _metrics.auc(labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, curve, name)


def streaming_accuracy(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return _metrics.accuracy(labels, predictions, weights, metrics_collections, updates_collections, name)


def streaming_mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return _metrics.mean(values, weights, metrics_collections, updates_collections, name)


def _streaming(kind):
    """Returns the metric of tf.metrics with the predictions first."""
    def metric(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return kind(labels, predictions, weights, metrics_collections, updates_collections, name=name)
    return metric


streaming_precision, streaming_recall = map(_streaming, (_metrics.precision, _metrics.recall))
streaming_mean_squared_error, streaming_mean_absolute_error = map(_streaming, (
    _metrics.mean_squared_error, _metrics.mean_absolute_error))
streaming_root_mean_squared_error = _streaming(_metrics.root_mean_squared_error)


def accuracy(predictions, labels, weights=None, name=None):
    """Returns the accuracy of one batch."""
    from weft._core.framework import dtypes
    from weft._core.framework.build import convert_to_tensor
    from weft._core.framework.graph import name_scope
    from weft._core.ops import array_ops, math_ops
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError("Labels should have bool, integer, or string dtype, not %r" % labels.dtype)
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError("Dtypes of predictions and labels should match. Given: predictions (%r) and labels (%r)" % (
            predictions.dtype, labels.dtype))
    with name_scope(name, "accuracy", [predictions, labels]):
        right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return math_ops.reduce_mean(right)
        weights = math_ops.cast(weights, dtypes.float32) * array_ops.ones_like(right)
        return math_ops.div_no_nan(math_ops.reduce_sum(right * weights), math_ops.reduce_sum(weights))


def aggregate_metrics(*value_update_tuples):
    """Returns ([values], [updates])."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    return tuple(map(list, zip(*value_update_tuples)))


def aggregate_metric_map(names_to_tuples):
    names = list(names_to_tuples)
    return {n: names_to_tuples[n][0] for n in names}, {n: names_to_tuples[n][1] for n in names}
