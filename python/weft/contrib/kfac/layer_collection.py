"""tf.contrib.kfac.layer_collection: the layers and losses of a network."""
from weft._core.contrib.kfac.layer_collection import APPROX_DIAGONAL_NAME, APPROX_FULL_NAME, APPROX_KRONECKER_NAME, LayerCollection
from weft._core.public import publish as _publish

__all__ = ["APPROX_DIAGONAL_NAME", "APPROX_FULL_NAME", "APPROX_KRONECKER_NAME", "LayerCollection"]
__getattr__ = _publish(__name__)
