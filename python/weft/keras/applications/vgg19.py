"""tf.keras.applications.vgg19: models of this family and how their images are prepared."""
from weft._core.keras.applications.imagenet_utils import caffe as preprocess_input, decode_predictions
from weft._core.keras.applications.vgg import VGG19
from weft._core.public import publish as _publish

__all__ = ["VGG19", "decode_predictions", "preprocess_input"]
__getattr__ = _publish(__name__)
