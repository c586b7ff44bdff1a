"""tf.keras.utils.legacy: the serialization of older files of Keras."""
from weft._core.keras.serialization import deserialize_keras_object, serialize_keras_object
from weft._core.public import publish as _publish

__all__ = ["deserialize_keras_object", "serialize_keras_object"]
__getattr__ = _publish(__name__)
