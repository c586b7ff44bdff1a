"""tf.keras.applications.resnet: models of this family and how their images are prepared."""
from weft._core.keras.applications.imagenet_utils import caffe as preprocess_input, decode_predictions
from weft._core.keras.applications.resnet import ResNet50, ResNet101, ResNet152
from weft._core.public import publish as _publish

__all__ = ["ResNet101", "ResNet152", "ResNet50", "decode_predictions", "preprocess_input"]
__getattr__ = _publish(__name__)
