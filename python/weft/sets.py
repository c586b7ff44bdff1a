"""tf.sets: sets in the rows of tensors."""
from weft._core.ops.sets import difference, intersection, set_difference, set_intersection, set_size, set_union, size, union
from weft._core.public import publish as _publish

__all__ = ["difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size", "union"]
__getattr__ = _publish(__name__)
