"""tf.contrib.slim.model_analyzer: the sizes of a graph's tensors and variables."""
from weft._core.contrib.model_analyzer import analyze_ops, analyze_vars, tensor_description
from weft._core.public import publish as _publish

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]
__getattr__ = _publish(__name__)
