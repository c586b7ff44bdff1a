"""tf.contrib.slim.nets.inception: the Inception networks."""
from weft._core.contrib.nets.inception import (
    inception_v1,
    inception_v1_arg_scope,
    inception_v1_base,
    inception_v2,
    inception_v2_arg_scope,
    inception_v2_base,
    inception_v3,
    inception_v3_arg_scope,
    inception_v3_base,
)
from weft._core.public import publish as _publish

__all__ = [
    "inception_v1", "inception_v1_arg_scope", "inception_v1_base", "inception_v2", "inception_v2_arg_scope", "inception_v2_base",
    "inception_v3", "inception_v3_arg_scope", "inception_v3_base",
]
__getattr__ = _publish(__name__)
