"""tf.lookup.experimental: tables that change."""
from weft._core.ops.lookup import DenseHashTable, MutableHashTable
from weft._core.public import publish as _publish

__all__ = ["DenseHashTable", "MutableHashTable"]
__getattr__ = _publish(__name__)
