"""tf.saved_model.signature_def_utils: makes signatures."""
from weft._core.files.saved_model import (
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)
from weft._core.files.saved_model_objects import MethodNameUpdater
from weft._core.public import publish as _publish

__all__ = [
    "MethodNameUpdater", "build_signature_def", "classification_signature_def", "is_valid_signature",
    "predict_signature_def", "regression_signature_def",
]
__getattr__ = _publish(__name__)
