"""tf.keras.applications.inception_resnet_v2: models of this family and how their images are prepared."""
from weft._core.keras.applications.imagenet_utils import decode_predictions, tf as preprocess_input
from weft._core.keras.applications.inception import InceptionResNetV2
from weft._core.public import publish as _publish

__all__ = ["InceptionResNetV2", "decode_predictions", "preprocess_input"]
__getattr__ = _publish(__name__)
