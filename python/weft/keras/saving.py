"""tf.keras.saving: saving and loading of models and objects."""
from weft._core.keras.saved_models import load_model, save_model
from weft._core.keras.serialization import (
    custom_object_scope,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from weft._core.keras.utils import deserialize_keras_object
from weft._core.public import publish as _publish

__all__ = [
    "custom_object_scope", "deserialize_keras_object", "get_custom_objects", "get_registered_name",
    "get_registered_object", "load_model", "register_keras_serializable", "save_model", "serialize_keras_object",
]
__getattr__ = _publish(__name__)
