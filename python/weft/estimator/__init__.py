"""tf.estimator: models as functions, with the loops around them."""
from weft._core.contrib.estimators import add_metrics
from weft._core.estimator.boosted_trees import BoostedTreesClassifier, BoostedTreesEstimator, BoostedTreesRegressor
from weft._core.estimator.canned import (
    BaselineClassifier,
    BaselineEstimator,
    BaselineRegressor,
    DNNClassifier,
    DNNEstimator,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
    classifier_parse_example_spec,
    regressor_parse_example_spec,
)
from weft._core.estimator.estimator import Estimator
from weft._core.estimator.exporter import BestExporter, Exporter, FinalExporter, LatestExporter
from weft._core.estimator.heads import (
    BinaryClassHead,
    Head,
    LogisticRegressionHead,
    MultiClassHead,
    MultiHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
)
from weft._core.estimator.run_config import RunConfig
from weft._core.estimator.spec import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec, WarmStartSettings
from weft._core.estimator.training import train_and_evaluate
from weft._core.public import publish as _publish
from weft._core.train.hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from weft._core.train.warm_start import VocabInfo
from weft.estimator import experimental, export, inputs, tpu

__all__ = [
    "BaselineClassifier", "BaselineEstimator", "BaselineRegressor", "BestExporter", "BinaryClassHead", "BoostedTreesClassifier",
    "BoostedTreesEstimator", "BoostedTreesRegressor",
    "CheckpointSaverHook", "CheckpointSaverListener", "DNNClassifier", "DNNEstimator", "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator", "DNNLinearCombinedRegressor", "DNNRegressor", "Estimator", "EstimatorSpec",
    "EvalSpec", "Exporter", "FeedFnHook", "FinalExporter", "FinalOpsHook", "GlobalStepWaiterHook", "Head",
    "LatestExporter", "LinearClassifier", "LinearEstimator", "LinearRegressor", "LoggingTensorHook",
    "LogisticRegressionHead", "ModeKeys", "MultiClassHead", "MultiHead", "MultiLabelHead",
    "NanLossDuringTrainingError", "NanTensorHook", "PoissonRegressionHead", "ProfilerHook", "RegressionHead",
    "RunConfig", "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues",
    "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "TrainSpec", "VocabInfo", "WarmStartSettings",
    "add_metrics", "classifier_parse_example_spec", "experimental", "export", "inputs",
    "regressor_parse_example_spec", "tpu", "train_and_evaluate",
]
__getattr__ = _publish(__name__)
