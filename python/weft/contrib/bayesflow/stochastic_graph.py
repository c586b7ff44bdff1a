"""tf.contrib.bayesflow.stochastic_graph: the loss of a graph with samples."""
from weft._core.contrib.bayesflow.stochastic import surrogate_loss
from weft._core.public import publish as _publish

__all__ = ["surrogate_loss"]
__getattr__ = _publish(__name__)
