"""tf.contrib.timeseries.saved_model_utils: predictions from saved models of time series."""
from weft._core.contrib.timeseries.saved_models import predict_continuation
from weft._core.public import publish as _publish

__all__ = ["predict_continuation"]
__getattr__ = _publish(__name__)
