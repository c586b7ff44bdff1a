"""tf.keras.applications.imagenet_utils: images and predictions of models trained on ImageNet."""
from weft._core.keras.applications.imagenet_utils import decode_predictions, preprocess_input
from weft._core.public import publish as _publish

__all__ = ["decode_predictions", "preprocess_input"]
__getattr__ = _publish(__name__)
