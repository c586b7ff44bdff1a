"""tf.ragged.constant, constant_value, placeholder and range."""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops
from weft._core.ragged.ragged_tensor import RaggedTensor
from weft._core.ragged.ragged_value import RaggedTensorValue, nested


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    """Returns a ragged tensor of nested lists.

    Args:
      pylist: lists of lists of values.
      dtype: the type of the values.
      ragged_rank: how many dimensions are ragged; by default all that need to be.
      inner_shape: the shape of one value.
      name: a name for the operation.
      row_splits_dtype: the type of the row splits: int32 or int64.
    """
    with name_scope(name, "RaggedConstant"):
        made = _built(pylist, dtype, ragged_rank, inner_shape, as_dtype(row_splits_dtype).as_numpy_dtype)
        if not isinstance(made, RaggedTensorValue):
            return convert_to_tensor(made, dtype)
        flat = convert_to_tensor(_python(made.flat_values, pylist, dtype), dtype, name="values")
        return RaggedTensor.from_nested_row_splits(flat, [convert_to_tensor(s) for s in made.nested_row_splits], validate=False)


def _python(flat, pylist, dtype):
    """Converts values without a type to float32 and int32, as tf.constant does."""
    if dtype is None and isinstance(flat, np.ndarray) and flat.dtype == np.float64 and not _has_numpy(pylist):
        return flat.astype(np.float32)
    if dtype is None and isinstance(flat, np.ndarray) and flat.dtype == np.int64 and not _has_numpy(pylist):
        return flat.astype(np.int32)
    return flat


def _has_numpy(values):
    return isinstance(values, (np.ndarray, np.generic)) or (isinstance(values, (list, tuple)) and any(map(_has_numpy, values)))


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    """Returns a RaggedTensorValue of nested lists.

    Args:
      pylist: lists of lists of values.
      dtype: the numpy type of the values.
      ragged_rank: how many dimensions are ragged; by default all that need to be.
      inner_shape: the shape of one value.
      row_splits_dtype: the type of the row splits: int32 or int64.
    """
    if dtype is not None and as_dtype(dtype) == dtypes.string:
        dtype = None
    return _built(pylist, dtype, ragged_rank, inner_shape, as_dtype(row_splits_dtype).as_numpy_dtype)


def _listed(value):
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _depths(value):
    """Returns the nesting depth of scalars, or None, and the largest nesting depth of lists."""
    if not _listed(value):
        return 0, 0
    below = [_depths(v) for v in value]
    scalars = {d for d, _ in below if d is not None}
    if len(scalars) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    deepest = max((m for _, m in below), default=0)
    found = scalars.pop() + 1 if scalars else None
    if found is not None and deepest + 1 > found:
        raise ValueError("all scalar values must have the same nesting depth")
    return found, deepest + 1


def _uniform_shape(rows):
    """Returns the shape that every item of a list of values has, or None where they differ."""
    if not rows or not _listed(rows[0]):
        return ()
    sizes = {len(r) if _listed(r) else None for r in rows}
    if len(sizes) > 1:
        return None
    inner = _uniform_shape([v for r in rows for v in r])
    return None if inner is None else (sizes.pop(), *inner)


def _built(pylist, dtype, ragged_rank, inner_shape, splits_type):
    if not _listed(pylist):
        if ragged_rank:
            raise ValueError("Invalid pylist=%r: incompatible with ragged_rank=%d" % (pylist, ragged_rank))
        if inner_shape:
            raise ValueError("Invalid pylist=%r: incompatible with dim(inner_shape)=%d" % (pylist, len(inner_shape)))
        return _array(pylist, dtype, ())
    depth, deepest = _depths(pylist)
    if depth is not None and deepest > depth:
        raise ValueError("all scalar values must have the same nesting depth")
    total = deepest if depth is None else depth
    if inner_shape is not None and depth is not None and ragged_rank is not None and depth != ragged_rank + 1 + len(inner_shape):
        raise ValueError("Invalid pylist=%s: incompatible with ragged_rank=%d and dim(inner_shape)=%d" % (
            pylist, ragged_rank, len(inner_shape)))
    if ragged_rank is None:
        ragged_rank = max(0, total - 1 - (len(inner_shape) if inner_shape is not None else 0))
    elif ragged_rank > 0 and depth is not None and ragged_rank >= depth:
        raise ValueError("Invalid pylist=%s: incompatible with ragged_rank=%d" % (pylist, ragged_rank))
    splits, items = [], list(pylist)
    for _ in range(ragged_rank):
        splits.append(np.cumsum([0] + [len(r) for r in items]).astype(splits_type))
        items = [v for r in items for v in r]
    if inner_shape is None:
        inner_shape = _uniform_shape(items)
        if inner_shape is None:
            raise ValueError("Invalid pylist=%s: the values below ragged_rank=%d have different shapes" % (pylist, ragged_rank))
    return nested(_array(items, dtype, tuple(inner_shape)), splits)


def _array(items, dtype, inner_shape):
    text = _is_text(items)
    kind = object if text and dtype is None else (None if dtype is None else as_dtype(dtype).as_numpy_dtype)
    if text and dtype is None:
        flat = np.array(items) if not _listed(items) or items else np.array([])
    else:
        flat = np.array(items, kind) if kind is not None else np.array(items)
    return flat.reshape((len(items), *inner_shape)) if _listed(items) else flat


def _is_text(items):
    while _listed(items) and len(items):
        items = items[0]
    return isinstance(items, (str, bytes))


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """Returns a ragged tensor that is fed.

    Args:
      dtype: the type of the values.
      ragged_rank: how many dimensions are ragged.
      value_shape: the shape of one value.
      name: a name for the operation.
    """
    if ragged_rank == 0:
        return array_ops.placeholder(dtype, value_shape, name)
    from weft._core.framework.tensor_shape import TensorShape
    with name_scope(name, "RaggedPlaceholder"):
        inner = TensorShape(value_shape)
        flat = array_ops.placeholder(dtype, None if inner.ndims is None else [None] + inner.as_list(), "flat_values")
        splits = [array_ops.placeholder(dtypes.int64, [None], "row_splits_%d" % i) for i in range(ragged_rank)]
        return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)


def ragged_range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Returns a range of numbers in each row.

    Args:
      starts: the first number of each row, or its limit where no limits are given.
      limits: where each row ends, exclusive.
      deltas: the distances of numbers.
      dtype: the type of the numbers.
      name: a name for the operation.
      row_splits_dtype: the type of the row splits: int32 or int64.
    """
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]):
        given = [convert_to_tensor(v, dtype, name=n) for v, n in ((starts, "starts"), (limits, "limits"), (deltas, "deltas"))]
        if dtype is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
            common = max((v.dtype.base_dtype for v in given), key=order.index)
            from weft._core.ops import math_ops
            given = [math_ops.cast(v, common) for v in given]
        made = op("RaggedRange", starts=given[0], limits=given[1], deltas=given[2], Tsplits=as_dtype(row_splits_dtype))
        return RaggedTensor.from_row_splits(made.rt_dense_values, made.rt_nested_splits, validate=False)


ragged_range.__name__ = ragged_range.__qualname__ = "range"
