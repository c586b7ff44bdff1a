"""tf.keras.utils: labels, files, progress, custom objects."""
from weft._core.keras.generators import GeneratorEnqueuer, OrderedEnqueuer, Sequence, SequenceEnqueuer
from weft._core.keras.image_files import array_to_img, img_to_array, load_img, save_img
from weft._core.keras.progbar import Progbar, disable_interactive_logging, enable_interactive_logging, is_interactive_logging_enabled
from weft._core.keras.random_test_tool import DeterministicRandomTestTool
from weft._core.keras.sequence_text import pad_sequences
from weft._core.keras.serialization import (
    CustomObjectScope,
    custom_object_scope,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from weft._core.keras.summary_text import get_source_inputs
from weft._core.keras.utils import (
    deserialize_keras_object,
    get_file,
    model_to_dot,
    normalize,
    plot_model,
    to_categorical,
    to_ordinal,
    warmstart_embedding_matrix,
)
from weft._core.public import publish as _publish
from weft.keras.utils import legacy

__all__ = [
    "CustomObjectScope", "DeterministicRandomTestTool", "GeneratorEnqueuer", "OrderedEnqueuer", "Progbar", "Sequence",
    "SequenceEnqueuer", "array_to_img", "custom_object_scope", "deserialize_keras_object", "disable_interactive_logging",
    "enable_interactive_logging", "get_custom_objects", "get_file", "get_registered_name", "get_registered_object",
    "get_source_inputs", "img_to_array", "is_interactive_logging_enabled", "legacy", "load_img", "model_to_dot",
    "normalize", "pad_sequences", "plot_model", "register_keras_serializable", "save_img", "serialize_keras_object",
    "to_categorical", "to_ordinal", "warmstart_embedding_matrix",
]
__getattr__ = _publish(__name__)
