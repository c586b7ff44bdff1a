"""The keys of features and of results, and what every part of tf.contrib.timeseries shares."""
from weft._core.framework.absent import Named


class TrainEvalFeatures(metaclass=Named):
    """Keys of the features in training and evaluation."""
    TIMES, VALUES = "times", "values"


class PredictionFeatures(metaclass=Named):
    """Keys of the features in prediction."""
    TIMES, STATE_TUPLE = "times", "start_tuple"


class FilteringFeatures(metaclass=Named):
    """Keys of the features in filtering."""
    TIMES, VALUES, STATE_TUPLE = "times", "values", "start_tuple"


class PredictionResults(metaclass=Named):
    """Keys of the results of prediction."""
    TIMES = "times"


class FilteringResults(metaclass=Named):
    """Keys of the results of filtering."""
    TIMES, STATE_TUPLE = "times", "start_tuple"
