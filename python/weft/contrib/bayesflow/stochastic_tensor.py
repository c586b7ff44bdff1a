"""tf.contrib.bayesflow.stochastic_tensor: tensors that are samples of distributions."""
from weft._core.contrib.bayesflow.stochastic import (
    BaseStochasticTensor,
    MeanValue,
    ObservedStochasticTensor,
    SampleValue,
    StochasticTensor,
    get_current_value_type,
    value_type,
)
from weft._core.public import publish as _publish

__all__ = [
    "BaseStochasticTensor", "MeanValue", "ObservedStochasticTensor", "SampleValue", "StochasticTensor",
    "get_current_value_type", "value_type",
]
__getattr__ = _publish(__name__)
