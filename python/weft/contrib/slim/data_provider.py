"""tf.contrib.slim.data_provider: the base class of what gives samples."""
from weft._core.contrib.slim_data import DataProvider
from weft._core.public import publish as _publish

__all__ = ["DataProvider"]
__getattr__ = _publish(__name__)
