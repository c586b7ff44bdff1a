"""tf.keras.estimator: Keras models as estimators."""
from weft._core.keras.estimators import model_to_estimator
from weft._core.public import publish as _publish

__all__ = ["model_to_estimator"]
__getattr__ = _publish(__name__)
