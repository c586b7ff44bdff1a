"""tf.random: random numbers."""
from weft._core.ops.random_ops import (
    get_seed,
    multinomial,
    random_gamma as gamma,
    random_normal as normal,
    random_poisson as poisson,
    random_shuffle as shuffle,
    random_uniform as uniform,
    truncated_normal,
)
from weft._core.ops.stateless import stateless_normal, stateless_truncated_normal, stateless_uniform
from weft._core.public import publish as _publish

__all__ = [
    "gamma", "get_seed", "multinomial", "normal", "poisson", "shuffle", "stateless_normal",
    "stateless_truncated_normal", "stateless_uniform", "truncated_normal", "uniform",
]
__getattr__ = _publish(__name__)
