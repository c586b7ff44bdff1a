"""tf.estimator: models as functions, with the loops around them."""
from weft._core.estimator.canned import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
)
from weft._core.estimator.estimator import Estimator
from weft._core.estimator.exporter import BestExporter, Exporter, FinalExporter, LatestExporter
from weft._core.estimator.run_config import RunConfig
from weft._core.estimator.spec import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec
from weft._core.estimator.training import train_and_evaluate
from weft._core.public import publish as _publish
from weft.estimator import export, inputs

__all__ = [
    "BestExporter", "DNNClassifier", "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor", "DNNRegressor",
    "Estimator", "EstimatorSpec", "EvalSpec", "Exporter", "FinalExporter", "LatestExporter", "LinearClassifier",
    "LinearRegressor", "ModeKeys", "RunConfig", "TrainSpec", "export", "inputs", "train_and_evaluate",
]
__getattr__ = _publish(__name__)
