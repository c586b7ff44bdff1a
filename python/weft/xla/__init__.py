"""tf.xla: computations for TensorFlow's compiler XLA, which run as ordinary nodes here."""
from weft._core.public import publish as _publish
from weft.xla import experimental

__all__ = ["experimental"]
__getattr__ = _publish(__name__)
