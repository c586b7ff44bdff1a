"""tf.contrib.boosted_trees: gradient boosted trees."""
from weft._core.public import publish as _publish
from weft.contrib.boosted_trees import estimator_batch, proto

__all__ = ["estimator_batch", "proto"]
__getattr__ = _publish(__name__)
