"""tf.contrib.stateless: random numbers that depend only on the seed that is given with them."""
from weft._core.ops.stateful_random import stateless_multinomial
from weft._core.ops.stateless import (
    stateless_normal as stateless_random_normal,
    stateless_truncated_normal,
    stateless_uniform as stateless_random_uniform,
)
from weft._core.public import publish as _publish

__all__ = ["stateless_multinomial", "stateless_random_normal", "stateless_random_uniform", "stateless_truncated_normal"]
__getattr__ = _publish(__name__)
