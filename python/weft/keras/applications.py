"""tf.keras.applications: empty; asking for a name says what to use instead."""
from weft._core.public import publish as _publish

__all__ = []
__getattr__ = _publish(__name__)
