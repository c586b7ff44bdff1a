"""tf.contrib.slim.utils: the outputs of layers by name."""
from weft._core.contrib.slim import convert_collection_to_dict
from weft._core.public import publish as _publish

__all__ = ["convert_collection_to_dict"]
__getattr__ = _publish(__name__)
