"""tf.contrib.metrics: tf.metrics under its older names."""
from weft._core.contrib.metrics import (
    accuracy,
    aggregate_metric_map,
    aggregate_metrics,
    streaming_accuracy,
    streaming_auc,
    streaming_mean,
    streaming_mean_absolute_error,
    streaming_mean_squared_error,
    streaming_precision,
    streaming_recall,
    streaming_root_mean_squared_error,
)
from weft._core.public import publish as _publish

__all__ = [
    "accuracy", "aggregate_metric_map", "aggregate_metrics", "streaming_accuracy", "streaming_auc", "streaming_mean",
    "streaming_mean_absolute_error", "streaming_mean_squared_error", "streaming_precision", "streaming_recall",
    "streaming_root_mean_squared_error",
]
__getattr__ = _publish(__name__)
