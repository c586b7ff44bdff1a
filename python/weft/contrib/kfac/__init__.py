"""tf.contrib.kfac: natural gradients by Kronecker factors."""
from weft._core.public import publish as _publish
from weft.contrib.kfac import layer_collection, optimizer

__all__ = ["layer_collection", "optimizer"]
__getattr__ = _publish(__name__)
