"""tf.raw_ops: every op of the library by its own name, made when it is asked for."""
from weft._core.framework.raw_ops import (
    NAMES as __all__,
    by_name as __getattr__,  # noqa: F401
)


def __dir__():
    return __all__
