"""tf.contrib.tensorboard.plugins: the projector of embeddings."""
from weft._core.public import publish as _publish
from weft.contrib.tensorboard.plugins import projector

__all__ = ["projector"]
__getattr__ = _publish(__name__)
