"""tf.random.experimental: the newer functions of tf.random."""
from weft._core.ops.stateful_random import (
    Algorithm,
    Generator,
    create_rng_state,
    fold_in as stateless_fold_in,
    get_global_generator,
    index_shuffle,
    set_global_generator,
    split as stateless_split,
    stateless_shuffle,
)
from weft._core.public import publish as _publish

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "index_shuffle", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split",
]
__getattr__ = _publish(__name__)
