"""tf.manip: arrays turned, tiled and gathered."""
from weft._core.ops.array_ops import batch_to_space_nd, gather_nd, reshape, reverse, scatter_nd, space_to_batch_nd, tile
from weft._core.ops.special_math import roll
from weft._core.public import publish as _publish

__all__ = ["batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd", "space_to_batch_nd", "tile"]
__getattr__ = _publish(__name__)
