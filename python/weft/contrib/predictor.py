"""tf.contrib.predictor: functions of arrays, of saved models and estimators."""
from weft._core.contrib.predictor import Predictor, from_contrib_estimator, from_estimator, from_saved_model
from weft._core.public import publish as _publish

__all__ = ["Predictor", "from_contrib_estimator", "from_estimator", "from_saved_model"]
__getattr__ = _publish(__name__)
