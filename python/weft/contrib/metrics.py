"""tf.contrib.metrics: tf.metrics under its older names."""
from .. import metrics as _metrics


def streaming_auc(predictions, labels, weights=None, num_thresholds=200, metrics_collections=None,
                  updates_collections=None, curve="ROC", name=None):
    return _metrics.auc(labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, curve, name)


def streaming_accuracy(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return _metrics.accuracy(labels, predictions, weights, metrics_collections, updates_collections, name)


def streaming_mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    return _metrics.mean(values, weights, metrics_collections, updates_collections, name)


def aggregate_metric_map(names_to_tuples):
    names = list(names_to_tuples)
    return {n: names_to_tuples[n][0] for n in names}, {n: names_to_tuples[n][1] for n in names}
