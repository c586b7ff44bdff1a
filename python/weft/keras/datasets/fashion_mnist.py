"""tf.keras.datasets.fashion_mnist: a data set that is read from ~/.keras/datasets."""
from weft._core.keras.datasets import fashion_mnist as load_data
from weft._core.public import publish as _publish

__all__ = ["load_data"]
__getattr__ = _publish(__name__)
