"""tf.keras.initializers: first values of variables, with Keras's defaults."""
from weft._core.keras.initializers import (
    Constant,
    Constant as constant,
    GlorotNormal as glorot_normal,
    GlorotUniform as glorot_uniform,
    HeNormal as he_normal,
    HeUniform as he_uniform,
    Identity,
    Identity as identity,
    Initializer,
    LecunNormal as lecun_normal,
    LecunUniform as lecun_uniform,
    Ones,
    Ones as ones,
    Orthogonal,
    Orthogonal as orthogonal,
    RandomNormal,
    RandomNormal as normal,
    RandomNormal as random_normal,
    RandomUniform,
    RandomUniform as random_uniform,
    RandomUniform as uniform,
    TruncatedNormal,
    TruncatedNormal as truncated_normal,
    VarianceScaling,
    Zeros,
    Zeros as zeros,
    deserialize,
    get,
    serialize,
)
from weft._core.public import publish as _publish

__all__ = [
    "Constant", "Identity", "Initializer", "Ones", "Orthogonal", "RandomNormal", "RandomUniform", "TruncatedNormal",
    "VarianceScaling", "Zeros", "constant", "deserialize", "get", "glorot_normal", "glorot_uniform", "he_normal",
    "he_uniform", "identity", "lecun_normal", "lecun_uniform", "normal", "ones", "orthogonal", "random_normal",
    "random_uniform", "serialize", "truncated_normal", "uniform", "zeros",
]
__getattr__ = _publish(__name__)
