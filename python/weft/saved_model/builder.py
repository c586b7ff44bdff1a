"""tf.saved_model.builder: the class that writes a SavedModel."""
from weft._core.files.saved_model import SavedModelBuilder
from weft._core.public import publish as _publish

__all__ = ["SavedModelBuilder"]
__getattr__ = _publish(__name__)
