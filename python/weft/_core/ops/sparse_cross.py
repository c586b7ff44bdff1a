"""tf.sparse.cross and cross_hashed: all combinations of the features of each example."""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.ops import math_ops
from weft._core.ops.sparse import SparseTensor

DEFAULT_HASH_KEY = 956888297470  # if none is given


def _columns(inputs):
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    inputs = [v if isinstance(v, SparseTensor) else convert_to_tensor(v) for v in inputs]
    number = lambda t: t if t.dtype.base_dtype == dtypes.string else math_ops.cast(t, dtypes.int64)
    sparse = [v for v in inputs if isinstance(v, SparseTensor)]
    return dict(indices=[s.indices for s in sparse], values=[number(s.values) for s in sparse], shapes=[s.dense_shape for s in sparse],
                dense_inputs=[number(v) for v in inputs if not isinstance(v, SparseTensor)])


def sparse_cross(inputs, name=None, separator=None):
    """Returns all combinations of the features of each example, as text.

    Args:
      inputs: sparse tensors and matrices with a row for each example.
      name: a name for the operation.
      separator: the text between features; '_X_' by default.
    """
    separator = convert_to_tensor("_X_" if separator is None else separator, dtypes.string)
    return SparseTensor(*op("SparseCrossV2", name, sep=separator, **_columns(inputs)))


def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Returns all combinations of the features of each example, as hashes.

    Args:
      inputs: sparse tensors and matrices with a row for each example.
      num_buckets: the number of different results; 0: as many as possible.
      hash_key: a key for the hash.
      name: a name for the operation.
    """
    return SparseTensor(*op("SparseCross", name, hashed_output=True, num_buckets=num_buckets,
                            hash_key=DEFAULT_HASH_KEY if hash_key is None else hash_key, out_type=dtypes.int64, internal_type=dtypes.int64,
                            **_columns(inputs)))


sparse_cross.__name__ = sparse_cross.__qualname__ = "cross"
sparse_cross_hashed.__name__ = sparse_cross_hashed.__qualname__ = "cross_hashed"
