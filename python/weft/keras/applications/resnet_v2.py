"""tf.keras.applications.resnet_v2: models of this family and how their images are prepared."""
from weft._core.keras.applications.imagenet_utils import decode_predictions, tf as preprocess_input
from weft._core.keras.applications.resnet import ResNet50V2, ResNet101V2, ResNet152V2
from weft._core.public import publish as _publish

__all__ = ["ResNet101V2", "ResNet152V2", "ResNet50V2", "decode_predictions", "preprocess_input"]
__getattr__ = _publish(__name__)
