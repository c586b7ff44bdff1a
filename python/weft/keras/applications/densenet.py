"""tf.keras.applications.densenet: models of this family and how their images are prepared."""
from weft._core.keras.applications.densenet import DenseNet121, DenseNet169, DenseNet201
from weft._core.keras.applications.imagenet_utils import decode_predictions, torch as preprocess_input
from weft._core.public import publish as _publish

__all__ = ["DenseNet121", "DenseNet169", "DenseNet201", "decode_predictions", "preprocess_input"]
__getattr__ = _publish(__name__)
