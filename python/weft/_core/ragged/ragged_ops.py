"""tf.ragged, and the ragged versions of functions on tensors."""
import collections
import functools

import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops import array_ops, check_ops, io_ops, math_ops, special_math, unicode_ops
from weft._core.ops.sparse import SparseTensor
from weft._core.ragged.ragged_tensor import RaggedTensor, RaggedTensorValue, _from_lengths, convert, nrows_of, wrapped_axis


def is_ragged(value):
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


# ---- elementwise ----

def map_flat_values(op, *args, **kwargs):
    """Returns a function of the values of ragged tensors that have the same rows.

    Args:
      op: the function.
      *args: its arguments; a RaggedTensor is replaced by its flat values.
      **kwargs: its keyword arguments, likewise.
    """
    found = []

    def flat(value):
        if isinstance(value, RaggedTensorValue):
            value = convert(value)
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        if isinstance(value, (list, tuple)):
            return type(value)(flat(v) for v in value)
        if isinstance(value, dict):
            return {k: flat(v) for k, v in value.items()}
        return value

    given, named = [flat(a) for a in args], {k: flat(v) for k, v in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    with control_dependencies(_same_splits(found)):
        made = op(*given, **named)
    first = found[0]
    if made.shape.ndims is not None and made.shape.ndims > 0 and first.flat_values.shape.ndims and not made.shape[:1].is_compatible_with(
            first.flat_values.shape[:1]):
        raise ValueError("tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as flat_values "
                         "of any ragged inputs. (output shape: %s; expected outer dimension size: %s)" % (
                             made.shape, first.flat_values.shape.as_list()[0]))
    return first.with_flat_values(made)


def _same_splits(found):
    if len({r.ragged_rank for r in found}) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    checks = []
    for other in found[1:]:
        for a, b in zip(found[0].nested_row_splits, other.nested_row_splits):
            if a is not b:
                checks.append(check_ops.assert_equal(*_alike(a, b), message="Inputs must have identical ragged splits"))
    return [c for c in checks if c is not None]


def _alike(a, b):
    if a.dtype.base_dtype == b.dtype.base_dtype:
        return a, b
    return math_ops.cast(a, dtypes.int64), math_ops.cast(b, dtypes.int64)


def elementwise(function, x, y, *args, **kwargs):
    """Returns a function of two arguments of which at least one is ragged; the other is broadcast to its rows."""
    x, y = convert(x) if is_ragged(x) else x, convert(y) if is_ragged(y) else y
    ragged = x if isinstance(x, RaggedTensor) else y
    if not (isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor)):
        other = convert_to_tensor(y if ragged is x else x, ragged.dtype.base_dtype)
        if other.shape.ndims != 0:
            other = _spread(other, ragged)
        x, y = (ragged, other) if ragged is x else (other, ragged)
    elif x.ragged_rank != y.ragged_rank or x.shape.ndims != y.shape.ndims:
        raise ValueError("ragged tensors of shapes %s and %s cannot be broadcast in Weft: give them the same rows" % (x.shape, y.shape))
    return map_flat_values(function, x, y, *args, **kwargs)


def _spread(dense, ragged):
    """Returns a tensor that is broadcast to a ragged one, as its flat values."""
    rank, depth = dense.shape.ndims, ragged.shape.ndims
    if rank is None or depth is None or rank > depth:
        raise ValueError("a tensor of shape %s cannot be broadcast to a ragged tensor of shape %s" % (dense.shape, ragged.shape))
    levels = ragged.ragged_rank + 1
    outer = levels - (depth - rank)  # the number of its dimensions that are ragged
    if outer <= 0:
        return dense
    rows = _places(ragged)[depth - rank:levels]
    sizes = dense.shape.as_list()[:outer]
    index = [r * 0 if size == 1 else r for r, size in zip(rows, sizes)]
    return array_ops.gather_nd(dense, array_ops.stack(index, 1))


def _places(ragged):
    """Returns for each flat value its index in every dimension up to the last ragged one."""
    ids = ragged.nested_value_rowids()
    numbers = []
    item = math_ops.range(nrows_of(ragged.flat_values, ragged.row_splits.dtype.base_dtype))
    for splits, rows in zip(reversed(ragged.nested_row_splits), reversed(ids)):
        row = array_ops.gather(rows, item)
        numbers.append(item - array_ops.gather(splits, row))
        item = row
    return [item, *reversed(numbers)]


# ---- rows ----

def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """Returns the row of each value.

    Args:
      splits: row splits.
      name: a name for the operation.
      out_type: the type of the result.
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = _index(splits, "splits")
        splits.shape.assert_has_rank(1)
        if splits.shape.as_list()[0] == 0:
            raise ValueError("Invalid row_splits: []")
        lengths = splits[1:] - splits[:-1]
        rows = math_ops.range(array_ops.shape(lengths, out_type=splits.dtype.base_dtype)[0])
        made = special_math.repeat(rows, lengths)
        return made if out_type is None else math_ops.cast(made, dtypes.as_dtype(out_type))


def _index(value, name):
    dtype = dtypes.int64 if isinstance(value, (list, tuple)) else None
    value = convert_to_tensor(value, dtype, preferred_dtype=dtypes.int64, name=name)
    if value.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("%s must have dtype int32 or int64" % name)
    return value


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Returns row splits for the row number of each value.

    Args:
      segment_ids: the rows, which never fall.
      num_segments: the number of rows; one more than the last by default.
      out_type: the type of the result.
      name: a name for the operation.
    """
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = _index(segment_ids, "segment_ids")
        ids.shape.assert_has_rank(1)
        if num_segments is None:
            num_segments = math_ops.reduce_max(array_ops.concat([array_ops.zeros([1], ids.dtype.base_dtype) - 1, ids], 0)) + 1
        lengths = math_ops.unsorted_segment_sum(array_ops.ones_like(ids), ids, num_segments)
        splits = _from_lengths(lengths)
        return splits if out_type is None else math_ops.cast(splits, dtypes.as_dtype(out_type))


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0, options=None):
    """Returns rows of a ragged tensor by number, or rows of a tensor by ragged numbers."""
    params = convert(params)
    if axis not in (None, 0) or batch_dims:
        raise NotImplementedError("tf.gather of ragged tensors with axis=%r, batch_dims=%r is not in Weft: gather along the first "
                                  "dimension" % (axis, batch_dims))
    indices = convert(indices) if is_ragged(indices) else _plain_index(indices)
    with name_scope(name, "RaggedGather", [params, indices]):
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array_ops.gather(params, indices)
        if indices.shape.ndims is None:
            raise ValueError("indices.shape.ndims must be known statically")
        made = op("RaggedGather", params_nested_splits=list(params.nested_row_splits), params_dense_values=params.flat_values,
                  indices=indices, OUTPUT_RAGGED_RANK=indices.shape.ndims + params.ragged_rank - 1)
        splits, flat = made.output_nested_splits, made.output_dense_values
        return RaggedTensor.from_nested_row_splits(flat, splits, validate=False) if splits else flat


def _plain_index(indices):
    made = convert_to_tensor(indices, name="indices")
    return made if made.dtype.base_dtype in (dtypes.int32, dtypes.int64) else math_ops.cast(made, dtypes.int64)


def gather_nd(params, indices, batch_dims=0, name=None):
    """Returns items of a ragged tensor by rows of indices."""
    if batch_dims:
        raise NotImplementedError("tf.gather_nd of ragged tensors with batch_dims=%r is not in Weft" % (batch_dims,))
    params = convert(params)
    if is_ragged(indices):
        indices = convert(indices)
        return indices.with_values(gather_nd(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return array_ops.gather_nd(params, indices)
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        indices = _plain_index(indices)
        depth = indices.shape.as_list()[-1]
        if depth is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if indices.shape.ndims > 2:
            flat = gather_nd(params, array_ops.reshape(indices, [-1, depth]))
            return array_ops.reshape(flat, array_ops.concat([array_ops.shape(indices)[:-1], array_ops.shape(flat)[1:]], 0))
        while depth > 1 and isinstance(params, RaggedTensor):
            first = math_ops.cast(indices[..., 0], params.row_splits.dtype.base_dtype)
            second = math_ops.cast(indices[..., 1], params.row_splits.dtype.base_dtype)
            flat = array_ops.gather(params.row_splits, first) + second
            indices = array_ops.concat([array_ops.expand_dims(flat, -1), math_ops.cast(indices[..., 2:], flat.dtype.base_dtype)], -1)
            params, depth = params.values, depth - 1
        if isinstance(params, RaggedTensor):
            return gather(params, indices[..., 0]) if depth else params
        return array_ops.gather_nd(params, indices)


def boolean_mask(data, mask, name=None):
    """Returns the values where the mask is true; dimensions after the first of the mask become ragged.

    Args:
      data: a tensor or a ragged tensor.
      mask: booleans, ragged as far as the data is.
      name: a name for the operation.
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        data, mask = convert(data), convert(mask, dtypes.bool)
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if mask.shape.ndims > 1 and not isinstance(mask, RaggedTensor):
            mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.ndims - 1)
        if isinstance(mask, RaggedTensor) and not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank)
        return _masked(data, mask)


def _masked(data, mask):
    if not isinstance(mask, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            return array_ops.boolean_mask(data, mask)
        return gather(data, array_ops.reshape(array_ops.where(mask), [-1]))
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank)
    kept = _masked(data.values, mask.values)
    if isinstance(mask.values, RaggedTensor):
        return data.with_values(kept)
    counts = math_ops.cast(mask.values, data.row_splits.dtype.base_dtype)
    lengths = math_ops.unsorted_segment_sum(counts, data.value_rowids(), data.nrows())
    if data.row_splits.shape.as_list()[0] is not None:
        lengths.set_shape([data.row_splits.shape.as_list()[0] - 1])
    return RaggedTensor.from_row_lengths(kept, lengths, validate=False)


# ---- concatenation and stacking ----

def concat(values, axis=0, name="concat"):
    """Concatenates ragged tensors along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    with name_scope(name, "RaggedConcat", list(values)):
        return _joined([convert(v) for v in values], axis, False)


def stack(values, axis=0, name=None):
    """Stacks tensors and ragged tensors along a new dimension.

    Args:
      values: the tensors, of one rank.
      axis: the new dimension.
      name: a name for the operation.
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("values must be a nonempty list of Tensors and RaggedTensors")
    with name_scope(name, "RaggedStack", list(values)):
        return _joined([convert(v) for v in values], axis, True)


def _joined(values, axis, stacks):
    if len(values) == 1 and not stacks:
        return values[0]
    ranks = {v.shape.ndims for v in values}
    if None in ranks:
        raise ValueError("Unable to convert a tensor of unknown rank to a ragged one")
    if len(ranks) > 1:
        raise ValueError("All inputs must have the same rank, got %s" % sorted(ranks))
    rank = ranks.pop()
    axis = wrapped_axis(axis, rank + 1 if stacks else rank)
    if stacks:
        if rank == 0:
            return array_ops.stack(values)
        if axis == 0 and rank == 1:
            lengths = array_ops.stack([nrows_of(v, dtypes.int32) for v in values])
            return RaggedTensor.from_row_lengths(array_ops.concat(values, 0), lengths, validate=False)
        if axis == 0:
            return _stacked_rows(values)
        if rank == 1:
            return RaggedTensor.from_tensor(array_ops.stack(values, axis))
        return _joined([expand_dims(v, axis) for v in values], axis, False)
    if not any(isinstance(v, RaggedTensor) for v in values):
        if axis == 0 and rank == 1:
            return array_ops.concat(values, axis)
    values = [v if isinstance(v, RaggedTensor) or rank == 1 else RaggedTensor.from_tensor(v) for v in values]
    if not isinstance(values[0], RaggedTensor):
        return array_ops.concat(values, axis)
    dtype = dtypes.int64 if any(v.row_splits.dtype.base_dtype == dtypes.int64 for v in values) else dtypes.int32
    values = _same_ragged_rank([v.with_row_splits_dtype(dtype) for v in values])
    if axis == 0:
        return _joined_rows(values)
    if axis == 1:
        return _joined_columns(values)
    return values[0].with_values(_joined_values([v.values for v in values], axis - 1))


def _joined_values(values, axis):
    if any(isinstance(v, RaggedTensor) for v in values):
        return _joined(values, axis, False)
    return array_ops.concat(values, axis)


def _same_ragged_rank(values):
    """Returns all with as many ragged dimensions as the one with most."""
    most = max(v.ragged_rank for v in values)

    def raised(value, rank):
        if rank == 0:
            return value
        if not isinstance(value, RaggedTensor):
            return RaggedTensor.from_tensor(value, ragged_rank=rank)
        return value.with_values(raised(value.values, rank - 1))
    return [raised(v, most) for v in values]


def _joined_rows(values):
    parts = [v.values for v in values]
    joined = _joined_rows(parts) if isinstance(parts[0], RaggedTensor) else array_ops.concat(parts, 0)
    splits, last = [values[0].row_splits], values[0].row_splits[-1]
    for v in values[1:]:
        splits.append(v.row_splits[1:] + last)
        last = last + v.row_splits[-1]
    return RaggedTensor.from_row_splits(joined, array_ops.concat(splits, 0), validate=False)


def _joined_columns(values):
    """Returns rows that are the concatenated rows of all values, made by interleaving them."""
    dtype, n = values[0].row_splits.dtype.base_dtype, len(values)
    rows = values[0].nrows()
    checks = [check_ops.assert_equal(v.nrows(), rows, message="Input tensors have incompatible shapes.") for v in values[1:]]
    with control_dependencies([c for c in checks if c is not None]):
        order = array_ops.reshape(array_ops.transpose(array_ops.reshape(math_ops.range(rows * n), array_ops.stack([
            convert_to_tensor(n, dtype), rows]))), [-1])
    mixed = gather(_joined_rows(values), order)
    splits = mixed.row_splits[::n]
    known = values[0].row_splits.shape.as_list()[0]
    if known is not None:
        splits.set_shape([known])
    return RaggedTensor.from_row_splits(mixed.values, splits, validate=False)


def _stacked_rows(values):
    """Stacks matrices, ragged or not, as the items of a new first dimension."""
    values = [v if isinstance(v, RaggedTensor) else RaggedTensor.from_tensor(v) for v in values]
    dtype = dtypes.int64 if any(v.row_splits.dtype.base_dtype == dtypes.int64 for v in values) else dtypes.int32
    values = _same_ragged_rank([v.with_row_splits_dtype(dtype) for v in values])
    lengths = array_ops.stack([v.nrows() for v in values])
    return RaggedTensor.from_row_lengths(_joined_rows(values) if len(values) > 1 else values[0], lengths, validate=False)


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """Returns the values of each partition as a row.

    Args:
      data: a tensor or a ragged tensor.
      partitions: the partition of each item of the data.
      num_partitions: how many partitions there are.
      name: a name for the operation.
    """
    with name_scope(name, "SegmentStack", [data, partitions]):
        data = convert(data)
        partitions = convert(partitions) if is_ragged(partitions) else _plain_index(partitions)
        if isinstance(partitions, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                data = RaggedTensor.from_tensor(data, row_splits_dtype=partitions.row_splits.dtype.base_dtype,
                                                ragged_rank=partitions.ragged_rank)
            return stack_dynamic_partitions(data.values, partitions.values, num_partitions)
        if partitions.shape.ndims is None:
            raise ValueError("partitions must have known rank")
        if partitions.shape.ndims == 0:
            return RaggedTensor.from_value_rowids(array_ops.expand_dims(data, 0), array_ops.reshape(partitions, [1]), num_partitions,
                                                  validate=False)
        if partitions.shape.ndims > 1:
            data = array_ops.reshape(data, array_ops.concat([[-1], array_ops.shape(data)[partitions.shape.ndims:]], 0))
            partitions = array_ops.reshape(partitions, [-1])
        from weft._core.ops import sort_ops
        order = sort_ops.argsort(partitions, stable=True)
        rows = array_ops.gather(partitions, order)
        return RaggedTensor.from_value_rowids(gather(data, order), rows, math_ops.cast(num_partitions, rows.dtype.base_dtype),
                                              validate=False)


def expand_dims(input, axis=None, name=None, dim=None):
    """Returns a ragged tensor with a new dimension of size 1."""
    from weft._core.framework.build import either
    axis = either("axis", axis, "dim", dim)
    input = convert(input)
    if not isinstance(input, RaggedTensor):
        return array_ops.expand_dims(input, axis, name)
    rank = input.shape.ndims
    axis = wrapped_axis(axis, None if rank is None else rank + 1)
    with name_scope(name, "RaggedExpandDims", [input]):
        if axis == 0:
            return RaggedTensor.from_uniform_row_length(input, input.nrows(), nrows=1, validate=False)
        if axis == 1:
            return RaggedTensor.from_uniform_row_length(input, 1, nrows=input.nrows(), validate=False)
        values = input.values
        return input.with_values(expand_dims(values, axis - 1) if isinstance(values, RaggedTensor) else array_ops.expand_dims(
            values, axis - 1))


def tile(input, multiples, name=None):
    """Returns a ragged tensor repeated along its dimensions."""
    input = convert(input)
    from weft._core.framework.build import constant_value
    known = constant_value(multiples)
    if known is None:
        raise NotImplementedError("tf.tile of a ragged tensor needs multiples that are known when the graph is built")
    known = np.asarray(known).reshape(-1)
    if len(known) < input.shape.ndims:
        raise IndexError("index %d is out of bounds for axis 0 with size %d: multiples has one number for each of the %d dimensions"
                         % (len(known), len(known), input.shape.ndims))
    with name_scope(name, "RaggedTile", [input]):
        for axis, times in enumerate(known):
            if times != 1:
                input = concat([input] * int(times), axis) if times else _none_of(input, axis)
        return input


def _none_of(value, axis):
    raise NotImplementedError("tf.tile of a ragged tensor with a multiple of 0 is not in Weft (dimension %d)" % axis)


def where(condition, x=None, y=None, name=None):
    """Works as tf.where does with ragged arguments: returns positions where the condition is true, or selected values.
    """
    condition = convert(condition, dtypes.bool)
    if x is None and y is None:
        if not isinstance(condition, RaggedTensor):
            return array_ops.where(condition, name=name)
        kept = array_ops.reshape(array_ops.where(condition.flat_values), [-1])
        if condition.flat_values.shape.ndims != 1:
            raise NotImplementedError("tf.where of a ragged condition with uniform inner dimensions is not in Weft")
        places = array_ops.stack([math_ops.cast(p, dtypes.int64) for p in _places(condition)], 1)
        return array_ops.gather(places, kept)
    x, y = convert(x), convert(y)
    if not isinstance(condition, RaggedTensor) and condition.shape.ndims == 1:
        both, rows = concat([x, y], 0), nrows_of(x)
        places = math_ops.range(rows)
        return gather(both, array_ops.where(condition, places, places + rows))
    like = next(v for v in (condition, x, y) if isinstance(v, RaggedTensor))
    spread = [v if isinstance(v, RaggedTensor) else like.with_flat_values(
        _spread(v, like) if v.shape.ndims else v + array_ops.zeros_like(like.flat_values, v.dtype.base_dtype)) for v in (condition, x, y)]
    return map_flat_values(array_ops.where, *spread)


# ---- reductions ----

# how the values of a tensor are combined, and how those of rows are
_Kind = collections.namedtuple("_Kind", "dense segments")
_SUM = _Kind(math_ops.reduce_sum, math_ops.unsorted_segment_sum)
_PRODUCT = _Kind(math_ops.reduce_prod, special_math.unsorted_segment_prod)
_MIN = _Kind(math_ops.reduce_min, special_math.unsorted_segment_min)
_MAX = _Kind(math_ops.reduce_max, math_ops.unsorted_segment_max)


def _segments(kind, data, ids, count):
    """Combines values with equal ids; ragged rows are combined element by element."""
    if not isinstance(data, RaggedTensor):
        return kind.segments(data, ids, count)
    lengths = data.row_lengths()
    longest = math_ops.maximum(math_ops.unsorted_segment_max(lengths, ids, count), convert_to_tensor(0, lengths.dtype.base_dtype))
    splits = _from_lengths(longest)
    starts = array_ops.gather(splits, ids)
    made = op("RaggedRange", starts=starts, limits=starts + lengths, deltas=convert_to_tensor(1, starts.dtype.base_dtype),
              Tsplits=starts.dtype.base_dtype)
    return RaggedTensor.from_row_splits(_segments(kind, data.values, made.rt_dense_values, splits[-1]), splits, validate=False)


def _reduced(kind, ragged, axis, keepdims):
    if not isinstance(ragged, RaggedTensor):
        return kind.dense(ragged, axis, keepdims=keepdims)
    if axis is None:
        made = kind.dense(ragged.flat_values)
        for _ in range(ragged.shape.ndims if keepdims else 0):
            made = array_ops.expand_dims(made, 0)
        return made
    if isinstance(axis, (list, tuple, np.ndarray)):
        axes = sorted({wrapped_axis(int(a), ragged.shape.ndims) for a in axis}, reverse=True)
        for a in axes:
            ragged = _reduced(kind, ragged, a, keepdims)
        return ragged
    axis = wrapped_axis(int(axis), ragged.shape.ndims)
    if axis == 0:
        lengths = ragged.row_lengths()
        count = math_ops.maximum(math_ops.reduce_max(lengths), convert_to_tensor(0, lengths.dtype.base_dtype))
        made = op("RaggedRange", starts=array_ops.zeros_like(lengths), limits=lengths, Tsplits=lengths.dtype.base_dtype,
                  deltas=convert_to_tensor(1, lengths.dtype.base_dtype))
        made = _segments(kind, ragged.values, made.rt_dense_values, count)
        return expand_dims(made, 0) if keepdims else made
    if axis == 1:
        made = _segments(kind, ragged.values, ragged.value_rowids(), ragged.nrows())
        if not isinstance(made, RaggedTensor) and ragged.row_splits.shape.as_list()[0] is not None:
            made.set_shape([ragged.row_splits.shape.as_list()[0] - 1] + made.shape.as_list()[1:])
        return expand_dims(made, 1) if keepdims else made
    return ragged.with_values(_reduced(kind, ragged.values, axis - 1, keepdims))


def _reduction(public, reduce):
    def reduced(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        from weft._core.framework.build import either
        axis = either("axis", axis, "reduction_indices", reduction_indices)
        keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
        with name_scope(name, "Ragged" + public, [input_tensor]):
            return reduce(convert(input_tensor), axis, keepdims)
    reduced.__name__ = reduced.__qualname__ = public
    return reduced


def _mean(ragged, axis, keepdims):
    if axis is None:
        total = _reduced(_SUM, ragged, None, keepdims)
        count = math_ops.cast(array_ops.size(ragged.flat_values), ragged.dtype.base_dtype)
        return total / count
    total = _reduced(_SUM, ragged, axis, keepdims)
    count = _reduced(_SUM, ragged.with_flat_values(array_ops.ones_like(ragged.flat_values)), axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(total.flat_values / count.flat_values)
    return total / count


def _variance(ragged, axis, keepdims):
    square = ragged.with_flat_values(math_ops.square(ragged.flat_values))
    mean = _mean(ragged, axis, keepdims)
    return _mean(square, axis, keepdims) - math_ops.square(mean if not isinstance(mean, RaggedTensor) else mean.flat_values)


def _whether(kind):
    def reduce(ragged, axis, keepdims):
        whole = ragged.with_flat_values(math_ops.cast(ragged.flat_values, dtypes.int32))
        made = _reduced(kind, whole, axis, keepdims)
        if isinstance(made, RaggedTensor):
            return made.with_flat_values(math_ops.greater(made.flat_values, 0))
        return math_ops.greater(made, 0)
    return reduce


reduce_sum = _reduction("reduce_sum", lambda r, a, k: _reduced(_SUM, r, a, k))
reduce_prod = _reduction("reduce_prod", lambda r, a, k: _reduced(_PRODUCT, r, a, k))
reduce_min = _reduction("reduce_min", lambda r, a, k: _reduced(_MIN, r, a, k))
reduce_max = _reduction("reduce_max", lambda r, a, k: _reduced(_MAX, r, a, k))
reduce_mean = _reduction("reduce_mean", _mean)
reduce_variance = _reduction("reduce_variance", _variance)
reduce_std = _reduction("reduce_std", lambda r, a, k: math_ops.sqrt(_variance(r, a, k)))
reduce_any = _reduction("reduce_any", _whether(_MAX))
reduce_all = _reduction("reduce_all", _whether(_MIN))


def reduce_join(inputs=None, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Returns the strings of rows, joined."""
    kind = _Kind(functools.partial(io_ops.reduce_join, separator=separator),
                 functools.partial(unicode_ops.unsorted_segment_join, separator=separator))
    return _reduction("reduce_join", lambda r, a, k: _reduced(kind, r, a, k))(
        inputs, axis, keepdims, name, reduction_indices, keep_dims)


def size(input, name=None, out_type=dtypes.int32):
    """Returns the number of values."""
    return array_ops.size(convert(input).flat_values, name, out_type)


def rank(input, name=None):
    """Returns the number of dimensions."""
    input = convert(input)
    with name_scope(name, "RaggedRank", [input]):
        return array_ops.rank(input.flat_values) + input.ragged_rank


def reverse(tensor, axis, name=None):
    """Returns the order of items reversed along axes."""
    tensor = convert(tensor)
    axes = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    with name_scope(name, "Reverse", [tensor]):
        key = [slice(None)] * (max(wrapped_axis(a, tensor.shape.ndims) for a in axes) + 1)
        for a in axes:
            key[wrapped_axis(a, tensor.shape.ndims)] = slice(None, None, -1)
        return tensor[tuple(key)]


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """Returns a ragged tensor without dimensions of size 1."""
    from weft._core.framework.build import either
    axis = either("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    input = convert(input)
    with name_scope(name, "RaggedSqueeze", [input]):
        for a in sorted({wrapped_axis(a, input.shape.ndims) for a in ([axis] if isinstance(axis, int) else axis)}, reverse=True):
            input = _squeezed(input, a)
        return input


def _squeezed(value, axis):
    if not isinstance(value, RaggedTensor):
        return array_ops.squeeze(value, [axis])
    if axis == 0:
        return value.values
    if axis == 1:
        return value.values if isinstance(value.values, RaggedTensor) else value.values
    return value.with_values(_squeezed(value.values, axis - 1))


# ---- crosses ----

def cross(inputs, name=None):
    """Returns all combinations of the features of each example, as text.

    Args:
      inputs: ragged tensors, sparse tensors and matrices.
      name: a name for the operation.
    """
    return _cross(inputs, False, 0, None, name)


def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Returns all combinations of the features of each example, as hashes.

    Args:
      inputs: ragged tensors, sparse tensors and matrices.
      num_buckets: the number of different results; 0: as many as possible.
      hash_key: a key for the hash.
      name: a name for the operation.
    """
    return _cross(inputs, True, num_buckets, hash_key, name)


def _cross(inputs, hashed, buckets, key, name):
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    if hashed and buckets < 0:
        raise ValueError("`num_buckets` must be >= 0. Received %s." % buckets)
    with name_scope(name, "RaggedCross", list(inputs)):
        made = [convert(v) if not isinstance(v, SparseTensor) else v for v in inputs]
        for i, v in enumerate(made):
            if v.dtype.base_dtype != dtypes.string and not v.dtype.base_dtype.is_integer:
                raise ValueError("Unexpected dtype for inputs[%d]: %s" % (i, v.dtype))
        if not any(isinstance(v, RaggedTensor) for v in made):
            from weft._core.ops import sparse_cross
            st = sparse_cross.sparse_cross_hashed(made, buckets, key) if hashed else sparse_cross.sparse_cross(made)
            return RaggedTensor.from_sparse(st)
        ragged, sparse = [v for v in made if isinstance(v, RaggedTensor)], [v for v in made if isinstance(v, SparseTensor)]
        dense = [v for v in made if not isinstance(v, (RaggedTensor, SparseTensor))]
        dtype = dtypes.int64 if any(r.row_splits.dtype.base_dtype == dtypes.int64 for r in ragged) else dtypes.int32
        ragged = [r.with_row_splits_dtype(dtype) for r in ragged]
        text = lambda t: t if t.dtype.base_dtype == dtypes.string else math_ops.cast(t, dtypes.int64)
        order = "".join("R" if isinstance(v, RaggedTensor) else "S" if isinstance(v, SparseTensor) else "D" for v in made)
        found = op("RaggedCross", name, ragged_values=[text(r.flat_values) for r in ragged],
                   ragged_row_splits=[r.row_splits for r in ragged],
                   sparse_indices=[s.indices for s in sparse], sparse_values=[text(s.values) for s in sparse],
                   sparse_shape=[s.dense_shape for s in sparse], dense_inputs=[text(d) for d in dense], input_order=order,
                   hashed_output=hashed, num_buckets=buckets, hash_key=956888297470 if key is None else key,
                   out_values_type=dtypes.int64 if hashed else dtypes.string, out_row_splits_type=dtype)
        rows = next((v.shape.as_list()[0] for v in [*ragged, *dense] if v.shape.as_list()[0] is not None), None)
        if rows is not None:
            found.output_row_splits.set_shape([rows + 1])
        return RaggedTensor.from_row_splits(found.output_values, found.output_row_splits, validate=False)
