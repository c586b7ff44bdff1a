"""tf.contrib.tensorboard: what TensorBoard's plugins read."""
from weft._core.public import publish as _publish
from weft.contrib.tensorboard import plugins

__all__ = ["plugins"]
__getattr__ = _publish(__name__)
