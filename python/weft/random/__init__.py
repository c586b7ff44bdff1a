"""tf.random: random numbers."""
from weft._core.framework.graph import set_random_seed
from weft._core.nn.sampled import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
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
from weft._core.ops.stateful_random import (
    Algorithm,
    Generator,
    create_rng_state,
    fold_in,
    get_global_generator,
    set_global_generator,
    split,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_multinomial,
    stateless_poisson,
)
from weft._core.ops.stateless import (
    stateless_normal,
    stateless_parameterized_truncated_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from weft._core.public import publish as _publish
from weft.random import experimental

__all__ = [
    "Algorithm", "Generator", "all_candidate_sampler", "categorical", "create_rng_state", "experimental",
    "fixed_unigram_candidate_sampler", "fold_in", "gamma", "get_global_generator", "get_seed",
    "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler", "multinomial", "normal", "poisson",
    "set_global_generator", "set_random_seed", "shuffle", "split", "stateless_binomial", "stateless_categorical",
    "stateless_gamma", "stateless_multinomial", "stateless_normal",
    "stateless_parameterized_truncated_normal", "stateless_poisson", "stateless_truncated_normal",
    "stateless_uniform", "truncated_normal", "uniform", "uniform_candidate_sampler",
]
__getattr__ = _publish(__name__)
