"""tf.contrib.tensor_forest.python: the graphs of random forests."""
from weft._core.public import publish as _publish
from weft.contrib.tensor_forest.python import tensor_forest

__all__ = ["tensor_forest"]
__getattr__ = _publish(__name__)
