"""tf.xla.experimental: compiled computations and scopes."""
from weft._core.ops.xla import compile, jit_scope
from weft._core.public import publish as _publish

__all__ = ["compile", "jit_scope"]
__getattr__ = _publish(__name__)
