"""tf.contrib.layers.sparse_ops: sparse tensors of dense ones."""
from weft._core.contrib.columns import dense_to_sparse_tensor, indicators_to_sparse_ids
from weft._core.public import publish as _publish

__all__ = ["dense_to_sparse_tensor", "indicators_to_sparse_ids"]
__getattr__ = _publish(__name__)
