"""tf.contrib.tensor_forest: random forests."""
from weft._core.contrib.tensor_forest import ForestHParams, RandomForestGraphs, TrainingLossForest
from weft._core.public import publish as _publish
from weft.contrib.tensor_forest import client, python

__all__ = ["ForestHParams", "RandomForestGraphs", "TrainingLossForest", "client", "python"]
__getattr__ = _publish(__name__)
