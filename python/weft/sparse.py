"""tf.sparse: tensors of which few values are kept."""
from weft._core.ops.array_ops import sparse_placeholder as placeholder
from weft._core.ops.data_flow import SparseConditionalAccumulator
from weft._core.ops.sparse import (
    SparseTensor,
    sparse_add as add,
    sparse_concat as concat,
    sparse_fill_empty_rows as fill_empty_rows,
    sparse_reduce_max as reduce_max,
    sparse_reduce_max_sparse as reduce_max_sparse,
    sparse_reduce_sum as reduce_sum,
    sparse_reduce_sum_sparse as reduce_sum_sparse,
    sparse_reorder as reorder,
    sparse_reshape as reshape,
    sparse_retain as retain,
    sparse_slice as slice,
    sparse_softmax as softmax,
    sparse_split as split,
    sparse_tensor_dense_matmul as matmul,
    sparse_tensor_dense_matmul as sparse_dense_matmul,
    sparse_tensor_to_dense as to_dense,
    sparse_transpose as transpose,
)
from weft._core.ops.sparse_cross import sparse_cross as cross, sparse_cross_hashed as cross_hashed
from weft._core.ops.sparse_more import (
    bincount,
    expand_dims,
    eye,
    from_dense,
    segment_mean,
    segment_sqrt_n,
    segment_sum,
    sparse_mask as mask,
    sparse_maximum as maximum,
    sparse_merge as merge,
    sparse_minimum as minimum,
    sparse_reset_shape as reset_shape,
    sparse_to_indicator as to_indicator,
)
from weft._core.public import publish as _publish

__all__ = [
    "SparseConditionalAccumulator", "SparseTensor", "add", "bincount", "concat", "cross", "cross_hashed",
    "expand_dims", "eye", "fill_empty_rows", "from_dense", "mask", "matmul", "maximum", "merge", "minimum",
    "placeholder", "reduce_max", "reduce_max_sparse", "reduce_sum", "reduce_sum_sparse", "reorder", "reset_shape",
    "reshape", "retain", "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax", "sparse_dense_matmul",
    "split", "to_dense", "to_indicator", "transpose",
]
__getattr__ = _publish(__name__)
