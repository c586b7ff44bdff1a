"""tf.contrib.boosted_trees.estimator_batch: estimators of boosted trees."""
from weft._core.public import publish as _publish
from weft.contrib.boosted_trees.estimator_batch import estimator

__all__ = ["estimator"]
__getattr__ = _publish(__name__)
