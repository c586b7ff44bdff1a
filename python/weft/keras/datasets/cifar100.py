"""tf.keras.datasets.cifar100: a data set that is read from ~/.keras/datasets."""
from weft._core.keras.datasets import cifar100 as load_data
from weft._core.public import publish as _publish

__all__ = ["load_data"]
__getattr__ = _publish(__name__)
