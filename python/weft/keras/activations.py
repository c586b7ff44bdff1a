"""tf.keras.activations: functions that layers apply to their outputs."""
from weft._core.keras.activations import (
    deserialize,
    elu,
    exponential,
    get,
    hard_sigmoid,
    linear,
    mish,
    relu,
    selu,
    serialize,
    sigmoid,
    softmax,
    softplus,
    softsign,
    swish,
    tanh,
)
from weft._core.public import publish as _publish

__all__ = [
    "deserialize", "elu", "exponential", "get", "hard_sigmoid", "linear", "mish", "relu", "selu", "serialize",
    "sigmoid", "softmax", "softplus", "softsign", "swish", "tanh",
]
__getattr__ = _publish(__name__)
