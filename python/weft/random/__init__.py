"""tf.random: random numbers."""
from weft._core.framework.graph import set_random_seed
from weft._core.nn.sampled import log_uniform_candidate_sampler, uniform_candidate_sampler
from weft._core.ops.random_ops import (
    categorical,
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
    "categorical", "gamma", "get_seed", "log_uniform_candidate_sampler", "multinomial", "normal", "poisson",
    "set_random_seed", "shuffle", "stateless_normal", "stateless_truncated_normal", "stateless_uniform",
    "truncated_normal", "uniform", "uniform_candidate_sampler",
]
__getattr__ = _publish(__name__)
