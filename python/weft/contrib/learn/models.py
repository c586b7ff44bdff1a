"""tf.contrib.learn.models: linear and logistic regression."""
from weft._core.contrib.regressions import (
    linear_regression,
    linear_regression_zero_init,
    logistic_regression,
    logistic_regression_zero_init,
)
from weft._core.public import publish as _publish

__all__ = ["linear_regression", "linear_regression_zero_init", "logistic_regression", "logistic_regression_zero_init"]
__getattr__ = _publish(__name__)
