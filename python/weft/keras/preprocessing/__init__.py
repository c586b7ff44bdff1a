"""tf.keras.preprocessing: empty; asking for a name says what to use instead."""
from weft._core.public import publish as _publish
from weft.keras.preprocessing import image

__all__ = ["image"]
__getattr__ = _publish(__name__)
