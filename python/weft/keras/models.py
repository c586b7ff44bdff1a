"""tf.keras.models: the layers between two tensors."""
from weft._core.keras.models import Model
from weft._core.public import publish as _publish

__all__ = ["Model"]
__getattr__ = _publish(__name__)
