"""tf.contrib.timeseries: readers and windows of time series, and an autoregressive Estimator."""
from weft._core.contrib.timeseries.ar_model import ARModel
from weft._core.contrib.timeseries.estimators import ARRegressor, TimeSeriesRegressor
from weft._core.contrib.timeseries.inputs import (
    CSVReader,
    NumpyReader,
    RandomWindowInputFn,
    WholeDatasetInputFn,
    predict_continuation_input_fn,
)
from weft._core.contrib.timeseries.keys import FilteringFeatures, FilteringResults, PredictionFeatures, PredictionResults, TrainEvalFeatures
from weft._core.public import publish as _publish
from weft.contrib.timeseries import saved_model_utils

__all__ = [
    "ARModel", "ARRegressor", "CSVReader", "FilteringFeatures", "FilteringResults", "NumpyReader", "PredictionFeatures",
    "PredictionResults", "RandomWindowInputFn", "TimeSeriesRegressor", "TrainEvalFeatures", "WholeDatasetInputFn",
    "predict_continuation_input_fn", "saved_model_utils",
]
__getattr__ = _publish(__name__)
