"""tf.metrics: measures that are updated batch by batch."""
from weft._core.nn.metrics import (
    accuracy,
    auc,
    false_negatives,
    false_positives,
    mean,
    mean_absolute_error,
    mean_squared_error,
    precision,
    recall,
    root_mean_squared_error,
    true_negatives,
    true_positives,
)
from weft._core.public import publish as _publish

__all__ = [
    "accuracy", "auc", "false_negatives", "false_positives", "mean", "mean_absolute_error", "mean_squared_error",
    "precision", "recall", "root_mean_squared_error", "true_negatives", "true_positives",
]
__getattr__ = _publish(__name__)
