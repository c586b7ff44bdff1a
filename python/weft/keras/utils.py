"""tf.keras.utils: labels as rows."""
from weft._core.keras.utils import to_categorical
from weft._core.public import publish as _publish

__all__ = ["to_categorical"]
__getattr__ = _publish(__name__)
