"""tf.contrib.tensor_forest.client.eval_metrics: metrics by name."""
from weft._core.contrib.forest_estimators import (
    FEATURE_IMPORTANCE_NAME,
    INFERENCE_PRED_NAME,
    INFERENCE_PROB_NAME,
    get_metric,
    get_prediction_key,
)
from weft._core.public import publish as _publish

__all__ = ["FEATURE_IMPORTANCE_NAME", "INFERENCE_PRED_NAME", "INFERENCE_PROB_NAME", "get_metric", "get_prediction_key"]
__getattr__ = _publish(__name__)
