"""tf.contrib.slim.data_decoder: the base class of decoders of records."""
from weft._core.contrib.slim_data import DataDecoder
from weft._core.public import publish as _publish

__all__ = ["DataDecoder"]
__getattr__ = _publish(__name__)
