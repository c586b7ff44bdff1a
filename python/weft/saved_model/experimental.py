"""tf.saved_model.experimental: options of models made of objects."""
from weft._core.files.saved_model_objects import VariablePolicy, save
from weft._core.public import publish as _publish

__all__ = ["VariablePolicy", "save"]
__getattr__ = _publish(__name__)
