"""tf.contrib.boosted_trees.estimator_batch.estimator: estimators of boosted trees."""
from weft._core.contrib.boosted_trees import (
    GradientBoostedDecisionTreeClassifier,
    GradientBoostedDecisionTreeEstimator,
    GradientBoostedDecisionTreeRegressor,
)
from weft._core.public import publish as _publish

__all__ = ["GradientBoostedDecisionTreeClassifier", "GradientBoostedDecisionTreeEstimator", "GradientBoostedDecisionTreeRegressor"]
__getattr__ = _publish(__name__)
