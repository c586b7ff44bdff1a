"""tf.contrib.layers.regularizers: penalties for large weights."""
from weft._core.contrib.layers import apply_regularization, l1_l2_regularizer, l1_regularizer, l2_regularizer, sum_regularizer
from weft._core.public import publish as _publish

__all__ = ["apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer"]
__getattr__ = _publish(__name__)
