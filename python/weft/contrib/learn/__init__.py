"""tf.contrib.learn: its data sets, and estimators of before tf.estimator."""
from weft._core.contrib.learn import DNNLinearCombinedClassifier, Estimator, ModelFnOps, RunConfig
from weft._core.contrib.learn_runner import Experiment
from weft._core.estimator.run_config import TaskType
from weft._core.estimator.spec import ModeKeys
from weft._core.public import publish as _publish
from weft.contrib.learn import datasets, learn_runner

__all__ = [
    "DNNLinearCombinedClassifier", "Estimator", "Experiment", "ModeKeys", "ModelFnOps", "RunConfig", "TaskType",
    "datasets", "learn_runner",
]
__getattr__ = _publish(__name__)
