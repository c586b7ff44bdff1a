"""tf.contrib.tensor_forest.client: estimators of random forests."""
from weft._core.public import publish as _publish
from weft.contrib.tensor_forest.client import eval_metrics, random_forest

__all__ = ["eval_metrics", "random_forest"]
__getattr__ = _publish(__name__)
