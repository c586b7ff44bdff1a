"""tf.keras.preprocessing: preparing data."""
from weft._core.public import publish as _publish
from weft.keras.preprocessing import image, sequence, text

__all__ = ["image", "sequence", "text"]
__getattr__ = _publish(__name__)
