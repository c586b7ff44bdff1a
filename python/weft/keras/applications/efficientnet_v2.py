"""tf.keras.applications.efficientnet_v2: models of this family and how their images are prepared."""
from weft._core.keras.applications.efficientnet_v2 import (
    EfficientNetV2B0,
    EfficientNetV2B1,
    EfficientNetV2B2,
    EfficientNetV2B3,
    EfficientNetV2L,
    EfficientNetV2M,
    EfficientNetV2S,
)
from weft._core.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from weft._core.public import publish as _publish

__all__ = [
    "EfficientNetV2B0", "EfficientNetV2B1", "EfficientNetV2B2", "EfficientNetV2B3", "EfficientNetV2L",
    "EfficientNetV2M", "EfficientNetV2S", "decode_predictions", "preprocess_input",
]
__getattr__ = _publish(__name__)
