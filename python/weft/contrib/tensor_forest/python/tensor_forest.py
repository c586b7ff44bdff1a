"""tf.contrib.tensor_forest.python.tensor_forest: the graphs of random forests."""
from weft._core.contrib.tensor_forest import (
    ForestHParams,
    ForestVariables,
    RandomForestDeviceAssigner,
    RandomForestGraphs,
    RandomTreeGraphs,
    TrainingLossForest,
    TreeVariables,
    get_epoch_variable,
)
from weft._core.public import publish as _publish

__all__ = [
    "ForestHParams", "ForestVariables", "RandomForestDeviceAssigner", "RandomForestGraphs", "RandomTreeGraphs",
    "TrainingLossForest", "TreeVariables", "get_epoch_variable",
]
__getattr__ = _publish(__name__)
