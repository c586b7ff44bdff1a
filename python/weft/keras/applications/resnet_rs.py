"""tf.keras.applications.resnet_rs: models of this family and how their images are prepared."""
from weft._core.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from weft._core.keras.applications.resnet_rs import ResNetRS50, ResNetRS101, ResNetRS152, ResNetRS200, ResNetRS270, ResNetRS350, ResNetRS420
from weft._core.public import publish as _publish

__all__ = [
    "ResNetRS101", "ResNetRS152", "ResNetRS200", "ResNetRS270", "ResNetRS350", "ResNetRS420", "ResNetRS50",
    "decode_predictions", "preprocess_input",
]
__getattr__ = _publish(__name__)
