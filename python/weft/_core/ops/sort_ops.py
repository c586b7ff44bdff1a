"""Sorting, and searching in sorted rows, with TopKV2, LowerBound and UpperBound."""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import constant_value, convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """Returns the values sorted along an axis.

    Args:
      values: a tensor of numbers, of one dimension or more.
      axis: the dimension along which to sort.
      direction: 'ASCENDING' or 'DESCENDING'.
      name: a name for the operation.
    """
    with name_scope(name, "sort"):
        return _sort_or_argsort(values, axis, direction, False)


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """Returns the int32 indices that sort the values along an axis; equal values keep their order.

    Args:
      values: a tensor of numbers, of one dimension or more.
      axis: the dimension along which to sort.
      direction: 'ASCENDING' or 'DESCENDING'.
      stable: has no effect, as in TensorFlow; the order of equal values is always kept.
      name: a name for the operation.
    """
    with name_scope(name, "argsort"):
        return _sort_or_argsort(values, axis, direction, True)


def _sort_or_argsort(values, axis, direction, want_indices):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError("direction must be 'ASCENDING' or 'DESCENDING', got '%s'" % (direction,))
    axis_value = constant_value(convert_to_tensor(axis, name="axis"))
    if axis_value is None:
        raise ValueError("the axis of a sort must be known when the graph is built, got %s" % (axis,))
    axis_value = int(axis_value)
    values = convert_to_tensor(values, name="values")
    keys = _reflected(values) if direction == "ASCENDING" else values
    # TensorFlow adds the node of the length before that of the rank.
    length = array_ops.shape(keys)[axis_value]
    rank = array_ops.rank(keys)
    known = keys.shape.ndims
    if axis_value == -1 or axis_value + 1 == known:
        found = _top_k(keys, length, want_indices)
        return found if want_indices or direction == "DESCENDING" else _reflected(found)
    if known is None:
        order = array_ops.concat([math_ops.range(axis_value), [rank - 1], math_ops.range(axis_value + 1, rank - 1), [axis_value]], 0)
    else:
        at = axis_value + known if axis_value < 0 else axis_value
        swapped = np.arange(known)
        swapped[at], swapped[-1] = swapped[-1], swapped[at]
        order = convert_to_tensor(swapped, name="transposition")
    found = array_ops.transpose(_top_k(array_ops.transpose(keys, order), length, want_indices), order)
    return found if want_indices or direction == "DESCENDING" else _reflected(found)


def _top_k(keys, k, want_indices):
    values, indices = op("TopKV2", input=keys, k=k, sorted=True)
    return indices if want_indices else values


def _reflected(values):
    """Returns values that sort in the reverse order; applying the function again restores them."""
    if values.dtype.base_dtype.is_integer:
        if values.dtype.base_dtype in (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64):
            return values.dtype.max - values
        # -1 - x is used because the negative of the smallest integer does not exist.
        return -values - 1
    return -values


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Returns the position at which each value would be inserted into sorted rows.

    Args:
      sorted_sequence: sorted values; the last dimension is searched.
      values: what to search for, of as many dimensions; all dimensions but the last equal those of `sorted_sequence`.
      side: 'left' gives the first such place among equal values, 'right' the last.
      out_type: tf.int32 or tf.int64.
      name: a name for the operation.
    """
    if side not in ("left", "right"):
        raise ValueError("side must be 'left' or 'right', got '%s'" % (side,))
    rows = array_ops.reshape(sorted_sequence, [-1, array_ops.shape(sorted_sequence)[-1]])
    wanted = array_ops.reshape(values, [-1, array_ops.shape(values)[-1]])
    found = op("UpperBound" if side == "right" else "LowerBound", name, sorted_inputs=rows, values=wanted, out_type=out_type)
    return array_ops.reshape(found, array_ops.shape(values))
