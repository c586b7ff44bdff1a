"""tf.nest: nests of lists, tuples and dicts."""
from weft._core.framework.nest_api import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as
from weft._core.public import publish as _publish

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
__getattr__ = _publish(__name__)
