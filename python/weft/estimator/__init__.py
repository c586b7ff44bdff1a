"""tf.estimator: models as functions, with the loops around them."""
from . import export as _export, inputs  # noqa: F401
from .canned import (DNNClassifier, DNNLinearCombinedClassifier, DNNLinearCombinedRegressor, DNNRegressor,  # noqa: F401
                     LinearClassifier, LinearRegressor)
from .estimator import Estimator  # noqa: F401
from .exporter import BestExporter, Exporter, FinalExporter, LatestExporter  # noqa: F401
from .run_config import RunConfig, TaskType  # noqa: F401
from .spec import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec  # noqa: F401
from .training import train_and_evaluate  # noqa: F401

export = _export
