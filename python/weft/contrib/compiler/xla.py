"""tf.contrib.compiler.xla: computations that TensorFlow compiles."""
from weft._core.ops.xla import compile
from weft._core.public import publish as _publish

__all__ = ["compile"]
__getattr__ = _publish(__name__)
