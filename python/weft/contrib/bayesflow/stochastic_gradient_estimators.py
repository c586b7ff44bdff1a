"""tf.contrib.bayesflow.stochastic_gradient_estimators: how gradients reach the parameters of samples."""
from weft._core.contrib.bayesflow.stochastic import (
    get_mean_baseline,
    get_score_function_with_advantage,
    get_score_function_with_baseline,
    get_score_function_with_constant_baseline,
    score_function,
)
from weft._core.public import publish as _publish

__all__ = [
    "get_mean_baseline", "get_score_function_with_advantage", "get_score_function_with_baseline",
    "get_score_function_with_constant_baseline", "score_function",
]
__getattr__ = _publish(__name__)
