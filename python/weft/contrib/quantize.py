"""tf.contrib.quantize: training and evaluation with the rounding of 8-bit integers."""
from weft._core.contrib.quantize.rewriting import (
    create_eval_graph,
    create_training_graph,
    experimental_create_eval_graph,
    experimental_create_training_graph,
)
from weft._core.public import publish as _publish

__all__ = ["create_eval_graph", "create_training_graph", "experimental_create_eval_graph", "experimental_create_training_graph"]
__getattr__ = _publish(__name__)
