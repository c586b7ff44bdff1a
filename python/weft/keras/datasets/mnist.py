"""tf.keras.datasets.mnist: the digits as arrays."""
from weft._core.keras.mnist import load_data
from weft._core.public import publish as _publish

__all__ = ["load_data"]
__getattr__ = _publish(__name__)
