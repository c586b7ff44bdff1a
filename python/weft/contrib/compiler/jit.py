"""tf.contrib.compiler.jit: the scope of nodes that TensorFlow compiles."""
from weft._core.ops.xla import jit_scope as experimental_jit_scope
from weft._core.public import publish as _publish

__all__ = ["experimental_jit_scope"]
__getattr__ = _publish(__name__)
