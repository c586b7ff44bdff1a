"""Indexing of ragged tensors: rows, slices of rows, and slices inside of rows."""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import Tensor, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ragged.ragged_tensor import RaggedTensor, nrows_of


def get_item(ragged, key):
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    with name_scope(None, "RaggedGetItem", [ragged.row_splits]):
        return _outer(ragged, keys)


def _outer(value, keys):
    """Returns the keys applied to a tensor or a ragged tensor from its first dimension on."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return value[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _outer(value, _expanded(keys, value.shape.ndims))
    if key is None:
        inner = _outer(value, rest)
        return RaggedTensor.from_uniform_row_length(inner, nrows_of(inner, value.row_splits.dtype.base_dtype), nrows=1, validate=False)
    if isinstance(key, slice):
        rows = _sliced_rows(value, key)
        return _inner(rows, rest) if rest else rows
    return _outer(_row(value, key), rest)


def _expanded(keys, rank):
    """Returns the keys with their first Ellipsis as full slices."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    rest = keys[1:]
    count = rank - sum(1 for k in rest if k is not None and k is not Ellipsis)
    return [slice(None)] * count + rest


def _row(ragged, key):
    """Returns one row: by a number from either end."""
    if isinstance(key, (int, np.integer)):
        # The last row ends at the last split, which a slice up to 0 would miss.
        at = int(key)
        known = ragged.row_splits.shape.as_list()[0]
        if known is not None and not -(known - 1) <= at < known - 1:
            raise ValueError("slice index %d of dimension 0 out of bounds." % at)
        start, limit = ragged.row_splits[:-1][at], ragged.row_splits[1:][at]
    elif isinstance(key, Tensor):
        start, limit = ragged.row_splits[:-1][key], ragged.row_splits[1:][key]
    else:
        raise TypeError("Ragged tensors can be indexed by integers, slices, tensors, None and Ellipsis, not %r" % (key,))
    return ragged.values[start:limit] if not isinstance(ragged.values, RaggedTensor) else _slice_of(ragged.values, start, limit)


def _slice_of(ragged, start, limit):
    """Returns rows [start, limit), where the bounds are tensors."""
    splits = ragged.row_splits[start:limit + 1]
    first, last = splits[0], splits[-1]
    values = ragged.values
    values = _slice_of(values, first, last) if isinstance(values, RaggedTensor) else values[first:last]
    return RaggedTensor(values, splits - first, True, uniform_row_length=ragged.uniform_row_length)


def _sliced_rows(ragged, key):
    if key.start is None and key.stop is None and key.step in (None, 1):
        return ragged
    starts, limits = ragged.row_splits[:-1][key], ragged.row_splits[1:][key]
    made = op("RaggedRange", starts=starts, limits=limits, deltas=convert_to_tensor(1, starts.dtype.base_dtype),
              Tsplits=starts.dtype.base_dtype)
    splits = made.rt_nested_splits
    if starts.shape.as_list()[0] is not None:
        splits.set_shape([starts.shape.as_list()[0] + 1])
    return RaggedTensor(_gathered(ragged.values, made.rt_dense_values), splits, True,
                        uniform_row_length=ragged.uniform_row_length)


def _gathered(values, rows):
    from weft._core.ragged import ragged_ops
    return ragged_ops.gather(values, rows) if isinstance(values, RaggedTensor) else array_ops.gather(values, rows)


def _inner(value, keys):
    """Returns the keys applied inside of the rows: to the second dimension and those after it."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return value[(slice(None), *keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _inner(value, _expanded(keys, None if value.shape.ndims is None else value.shape.ndims - 1))
    if key is None:
        inner = _inner(value, rest)
        return RaggedTensor.from_uniform_row_length(inner, 1, nrows=nrows_of(inner, value.row_splits.dtype.base_dtype), validate=False)
    if isinstance(key, slice):
        if key.start is not None or key.stop is not None or key.step is not None:
            value = _sliced_columns(value, key)
        return value.with_values(_inner(value.values, rest)) if rest else value
    if value.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    width = value.uniform_row_length
    at = convert_to_tensor(key, width.dtype.base_dtype)
    at = array_ops.where(at < 0, at + width, at)
    return _outer(_gathered(value.values, value.row_starts() + at), [slice(None), *rest]) if rest else _gathered(
        value.values, value.row_starts() + at)


def _bound(offset, starts, limits, otherwise):
    """Returns the position of a slice's bound in each row; negative bounds count from the end of the row."""
    if offset is None:
        return otherwise
    offset = math_ops.cast(convert_to_tensor(offset, name="offset"), starts.dtype.base_dtype)
    from_front = math_ops.minimum(starts + offset, limits)
    from_end = math_ops.maximum(limits + offset, starts)
    return array_ops.where(array_ops.ones_like(starts, dtypes.bool) & (offset >= 0), from_front, from_end)


def _sliced_columns(ragged, key):
    """Returns each row sliced."""
    if key.step is not None and isinstance(key.step, (int, np.integer)) and key.step == 0:
        raise ValueError("slice step cannot be zero")
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    step = 1 if key.step is None else key.step
    back = isinstance(step, (int, np.integer)) and step < 0
    if back:
        low = limits - 1 if key.start is None else starts + _offset_back(key.start, starts, limits)
        high = starts - 1 if key.stop is None else starts + _offset_back(key.stop, starts, limits)
    else:
        low, high = _bound(key.start, starts, limits, starts), _bound(key.stop, starts, limits, limits)
    made = op("RaggedRange", starts=low, limits=high, deltas=math_ops.cast(convert_to_tensor(step), starts.dtype.base_dtype),
              Tsplits=starts.dtype.base_dtype)
    splits = made.rt_nested_splits
    splits.set_shape(ragged.row_splits.shape)
    return RaggedTensor(_gathered(ragged.values, made.rt_dense_values), splits, True)


def _offset_back(offset, starts, limits):
    """Returns a bound of a slice with a negative step as a place in each row: at most the last one, at least one before
    the first.
    """
    offset = math_ops.cast(convert_to_tensor(offset), starts.dtype.base_dtype)
    lengths = limits - starts
    place = array_ops.where(array_ops.ones_like(starts, dtypes.bool) & (offset >= 0), starts * 0 + offset, lengths + offset)
    return math_ops.maximum(math_ops.minimum(place, lengths - 1), starts * 0 - 1)
