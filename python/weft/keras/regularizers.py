"""tf.keras.regularizers: penalties on the size of weights and outputs."""
from weft._core.keras.regularizers import L1, L1L2, L2, Regularizer, deserialize, get, l1, l1_l2, l2, serialize
from weft._core.public import publish as _publish

__all__ = [
    "L1", "L1L2", "L2", "Regularizer", "deserialize", "get", "l1", "l1_l2", "l2", "serialize",
]
__getattr__ = _publish(__name__)
