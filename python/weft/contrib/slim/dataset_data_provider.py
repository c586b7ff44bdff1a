"""tf.contrib.slim.dataset_data_provider: samples of a data set."""
from weft._core.contrib.slim_data import DatasetDataProvider
from weft._core.public import publish as _publish

__all__ = ["DatasetDataProvider"]
__getattr__ = _publish(__name__)
