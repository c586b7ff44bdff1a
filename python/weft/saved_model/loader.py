"""tf.saved_model.loader: reads a SavedModel into a session."""
from weft._core.files.saved_model import load, maybe_saved_model_directory
from weft._core.public import publish as _publish

__all__ = ["load", "maybe_saved_model_directory"]
__getattr__ = _publish(__name__)
