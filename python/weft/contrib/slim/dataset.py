"""tf.contrib.slim.dataset: what a data set consists of."""
from weft._core.contrib.slim_data import Dataset
from weft._core.public import publish as _publish

__all__ = ["Dataset"]
__getattr__ = _publish(__name__)
