"""tf.keras.applications.efficientnet: models of this family and how their images are prepared."""
from weft._core.keras.applications.efficientnet import (
    EfficientNetB0,
    EfficientNetB1,
    EfficientNetB2,
    EfficientNetB3,
    EfficientNetB4,
    EfficientNetB5,
    EfficientNetB6,
    EfficientNetB7,
)
from weft._core.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from weft._core.public import publish as _publish

__all__ = [
    "EfficientNetB0", "EfficientNetB1", "EfficientNetB2", "EfficientNetB3", "EfficientNetB4", "EfficientNetB5",
    "EfficientNetB6", "EfficientNetB7", "decode_predictions", "preprocess_input",
]
__getattr__ = _publish(__name__)
