"""tf.contrib.ndlstm.misc: images as vectors, labels as planes."""
from weft._core.contrib.ndlstm.misc import one_hot_mask, one_hot_planes, pixels_as_vector, pool_as_vector
from weft._core.public import publish as _publish

__all__ = ["one_hot_mask", "one_hot_planes", "pixels_as_vector", "pool_as_vector"]
__getattr__ = _publish(__name__)
