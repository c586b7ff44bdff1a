"""tf.contrib.learn: its data sets, and estimators of before tf.estimator."""
from weft._core.contrib.learn import Estimator, ModeKeys, ModelFnOps, RunConfig
from weft._core.contrib.learn_data import read_batch_examples, read_batch_features, read_batch_record_features
from weft._core.contrib.learn_models import (
    DNNClassifier,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    ExportStrategy,
    LinearClassifier,
    LinearRegressor,
    MetricSpec,
    PredictionKey,
    ProblemType,
    SKCompat,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
    make_export_strategy,
)
from weft._core.contrib.learn_runner import Experiment
from weft._core.estimator.run_config import TaskType
from weft._core.public import publish as _publish
from weft.contrib.learn import datasets, io, learn_runner, models, monitors, preprocessing, utils

__all__ = [
    "DNNClassifier", "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor", "DNNRegressor", "Estimator",
    "Experiment", "ExportStrategy", "LinearClassifier", "LinearRegressor", "MetricSpec", "ModeKeys", "ModelFnOps",
    "PredictionKey", "ProblemType", "RunConfig", "SKCompat", "TaskType", "datasets",
    "infer_real_valued_columns_from_input", "infer_real_valued_columns_from_input_fn", "io", "learn_runner", "models", "monitors",
    "preprocessing", "utils",
    "make_export_strategy", "read_batch_examples", "read_batch_features", "read_batch_record_features",
]
__getattr__ = _publish(__name__)
