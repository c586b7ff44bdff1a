"""tf.contrib.compiler: computations and scopes for TensorFlow's compiler XLA, which run as ordinary nodes here."""
from weft._core.public import publish as _publish
from weft.contrib.compiler import jit, xla

__all__ = ["jit", "xla"]
__getattr__ = _publish(__name__)
