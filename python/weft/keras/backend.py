"""tf.keras.backend: the phase of learning, and the losses on probabilities."""
from weft._core.framework.graph import name_scope
from weft._core.keras.backend import (
    categorical_crossentropy,
    epsilon,
    floatx,
    get_session,
    image_data_format,
    learning_phase,
    manual_variable_initialization,
    set_learning_phase,
    set_session,
)
from weft._core.public import publish as _publish

__all__ = [
    "categorical_crossentropy", "epsilon", "floatx", "get_session", "image_data_format", "learning_phase",
    "manual_variable_initialization", "name_scope", "set_learning_phase", "set_session",
]
__getattr__ = _publish(__name__)
