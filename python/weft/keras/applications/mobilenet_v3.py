"""tf.keras.applications.mobilenet_v3: models of this family and how their images are prepared."""
from weft._core.keras.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from weft._core.public import publish as _publish

__all__ = ["decode_predictions", "preprocess_input"]
__getattr__ = _publish(__name__)
