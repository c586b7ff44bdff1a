"""tf.contrib.tensor_forest.client.random_forest: estimators of random forests."""
from weft._core.contrib.forest_estimators import CoreTensorForestEstimator, TensorForestEstimator, TensorForestLossHook
from weft._core.public import publish as _publish

__all__ = ["CoreTensorForestEstimator", "TensorForestEstimator", "TensorForestLossHook"]
__getattr__ = _publish(__name__)
