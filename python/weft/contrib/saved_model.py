"""tf.contrib.saved_model: Keras models as SavedModels."""
from weft._core.contrib.saved_model import load_keras_model, save_keras_model
from weft._core.public import publish as _publish

__all__ = ["load_keras_model", "save_keras_model"]
__getattr__ = _publish(__name__)
