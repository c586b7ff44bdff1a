"""Functions on sparse tensors that are newer than TensorFlow 1.0 or rarely used: masks, merges, serialization, counts.
"""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import constant_value, convert_to_tensor, op
from weft._core.framework.graph import IndexedSlices, control_dependencies, name_scope
from weft._core.ops import array_ops, check_ops, math_ops, special_math
from weft._core.ops.sparse import SparseTensor, SparseTensorValue, as_sparse, sparse_reorder, sparse_tensor_to_dense


def sparse_mask(a, mask_indices, name=None):
    """Returns IndexedSlices without the rows of some indices.

    Args:
      a: IndexedSlices.
      mask_indices: the indices to leave out.
      name: a name for the operation.
    """
    with name_scope(name, "sparse_mask", [a.values, mask_indices]) as scope:
        kept, at = special_math.setdiff1d(a.indices, mask_indices)
        return IndexedSlices(array_ops.gather(a.values, at, name=scope), kept, a.dense_shape)


def _place_by_place(kind, default):
    def function(sp_a, sp_b, name=None):
        sp_a, sp_b = as_sparse(sp_a), as_sparse(sp_b)
        with name_scope(name, default, [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]) as scope:
            made = op(kind, scope, a_indices=sp_a.indices, a_values=sp_a.values, a_shape=sp_a.dense_shape, b_indices=sp_b.indices,
                      b_values=sp_b.values, b_shape=sp_b.dense_shape)
        return SparseTensor(made.output_indices, made.output_values, sp_a.dense_shape)
    return function


sparse_maximum = _place_by_place("SparseSparseMaximum", "SparseSparseMaximum")
sparse_maximum.__name__ = sparse_maximum.__qualname__ = "sparse_maximum"
sparse_maximum.__doc__ = """The larger value at each place of two sparse tensors; a place that one does not have counts as 0.

    Args:
      sp_a: a SparseTensor.
      sp_b: another one of the same shape.
      name: a name for the operation.
    """
sparse_minimum = _place_by_place("SparseSparseMinimum", "SparseSparseMinimum")
sparse_minimum.__name__ = sparse_minimum.__qualname__ = "sparse_minimum"
sparse_minimum.__doc__ = sparse_maximum.__doc__.replace("larger", "smaller")


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """Returns a SparseTensor with the values at positions given by ids; its last dimension is the vocabulary.

    Args:
      sp_ids: a SparseTensor of ids, or a list of them.
      sp_values: a SparseTensor of values with the same indices.
      vocab_size: the number of ids, or a list of such.
      name: a name for the operation.
      already_sorted: whether the result is in order without sorting it.
    """
    ids, sizes = sp_ids, vocab_size
    if isinstance(sp_ids, (SparseTensor, SparseTensorValue)):
        ids = [sp_ids]
        if not (isinstance(vocab_size, (int, np.integer)) or hasattr(vocab_size, "op")):
            raise TypeError("vocab_size has to be a scalar if sp_ids is a SparseTensor.")
        sizes = [vocab_size]
    else:
        if not hasattr(sizes, "__iter__"):
            raise TypeError("vocab_size has to be a list of Tensors or Python ints.")
        if len(ids) != len(sizes):
            raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    ids, values = [as_sparse(i) for i in ids], as_sparse(sp_values)
    with name_scope(name, "SparseMerge", [i.values for i in ids] + [values.values]):
        columns = [array_ops.expand_dims(math_ops.cast(i.values, dtypes.int64), axis=1) for i in ids]
        indices = array_ops.concat([ids[0].indices[:, :-1], *columns], axis=1)
        sizes = [math_ops.cast(convert_to_tensor(s), dtypes.int64) for s in sizes]
        shape = array_ops.concat([ids[0].dense_shape[:-1]] + [array_ops.expand_dims(s, 0) for s in sizes], axis=0)
        made = SparseTensor(indices, values.values, shape)
        if already_sorted:
            return made
        ordered = sparse_reorder(made)
        return SparseTensor(ordered.indices, ordered.values, shape)


def sparse_reset_shape(sp_input, new_shape=None):
    """Returns a sparse tensor with another dense shape and the same values.

    Args:
      sp_input: a SparseTensor.
      new_shape: a shape that is nowhere smaller; by default the smallest one.
    """
    sp_input = as_sparse(sp_input)
    indices, values = array_ops.identity(sp_input.indices), array_ops.identity(sp_input.values)
    if new_shape is None:
        low = convert_to_tensor(0, dtypes.int64)
        largest = math_ops.reduce_max(indices, axis=0)
        shape = math_ops.maximum(low, math_ops.add(largest, array_ops.ones_like(largest)))
        return SparseTensor(indices, values, shape)
    shape = math_ops.cast(convert_to_tensor(new_shape), dtypes.int64)
    shape.shape.assert_has_rank(1)
    old, new = constant_value(sp_input.dense_shape), constant_value(shape)
    if old is not None and new is not None:
        if len(old) != len(new):
            raise ValueError("Dimensions must be equal, but are %d and %d" % (len(old), len(new)))
        if (np.asarray(new) < np.asarray(old)).any():
            raise ValueError("Requested dimension size %s is smaller than the present one %s" % (list(new), list(old)))
        return SparseTensor(indices, values, shape)
    with control_dependencies([check_ops.assert_equal(array_ops.shape(sp_input.dense_shape), array_ops.shape(shape))]):
        shape = array_ops.identity(shape)
    with control_dependencies([check_ops.assert_less_equal(sp_input.dense_shape, shape)]):
        return SparseTensor(indices, values, array_ops.identity(shape))


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """Returns a boolean tensor [..., vocab_size] that says whether each row has an id.

    Args:
      sp_input: a SparseTensor of ids.
      vocab_size: the number of ids.
      name: a name for the operation.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input.values]) as scope:
        ones = SparseTensor(sp_input.indices, array_ops.fill(array_ops.shape(sp_input.values), True), sp_input.dense_shape)
        merged = sparse_merge(sp_input, ones, vocab_size)
        return sparse_tensor_to_dense(merged, False, validate_indices=False, name=scope)


def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """Returns a sparse matrix with ones on its diagonal.

    Args:
      num_rows: the number of rows.
      num_columns: the number of columns; as many as rows by default.
      dtype: the type of the values.
      name: a name for the operation.
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = convert_to_tensor(num_rows, dtypes.int64, name="num_rows")
        columns = rows if num_columns is None else convert_to_tensor(num_columns, dtypes.int64, name="num_columns")
        count = math_ops.minimum(rows, columns)
        at = math_ops.range(count, dtype=dtypes.int64)
        known = constant_value(count)
        if known is not None:
            at.set_shape([int(known)])
        return SparseTensor(array_ops.stack([at, at], axis=1), array_ops.ones(count, dtype=dtype), [rows, columns])


def expand_dims(sp_input, axis=None, name=None):
    """Returns a sparse tensor with a new dimension of size 1.

    Args:
      sp_input: a SparseTensor.
      axis: where the dimension goes; at the end by default.
      name: a name for the operation.
    """
    sp_input = as_sparse(sp_input)
    rank = sp_input.dense_shape.shape[0].value
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input.indices]):
        if rank is None:
            raise ValueError("tf.sparse.expand_dims needs a sparse tensor of a known rank")
        if not -rank - 1 <= axis <= rank:
            raise ValueError("axis must be between %d and %d, got %d" % (-rank - 1, rank, axis))
        axis = axis + rank + 1 if axis < 0 else axis
        column = array_ops.zeros_like(sp_input.indices[:, :1])
        indices = array_ops.concat([sp_input.indices[:, :axis], column, sp_input.indices[:, axis:]], 1)
        shape = array_ops.concat([sp_input.dense_shape[:axis], np.array([1], np.int64), sp_input.dense_shape[axis:]], 0)
        indices.set_shape([sp_input.indices.shape[0], rank + 1])
        shape.set_shape([rank + 1])
        return SparseTensor(indices, sp_input.values, shape)


def from_dense(tensor, name=None):
    """Returns the elements of a tensor that are not zero.

    Args:
      tensor: a tensor.
      name: a name for the operation.
    """
    with name_scope(name, "dense_to_sparse", [tensor]):
        tensor = convert_to_tensor(tensor)
        zero = "" if tensor.dtype.base_dtype == dtypes.string else array_ops.zeros((), tensor.dtype.base_dtype)
        indices = array_ops.where(math_ops.not_equal(tensor, zero))
        return SparseTensor(indices, array_ops.gather_nd(tensor, indices), array_ops.shape(tensor, out_type=dtypes.int64))


# ---- serialization ----

def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """Returns a sparse tensor serialized as three strings.

    Args:
      sp_input: a SparseTensor.
      name: a name for the operation.
      out_type: tf.string.
    """
    sp_input = as_sparse(sp_input)
    return op("SerializeSparse", name, sparse_indices=sp_input.indices, sparse_values=sp_input.values,
              sparse_shape=sp_input.dense_shape, out_type=out_type)


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """Returns each row of a sparse tensor serialized as three strings.

    Args:
      sp_input: a SparseTensor of rank 2 or more.
      name: a name for the operation.
      out_type: tf.string.
    """
    sp_input = as_sparse(sp_input)
    return op("SerializeManySparse", name, sparse_indices=sp_input.indices, sparse_values=sp_input.values,
              sparse_shape=sp_input.dense_shape, out_type=out_type)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """Returns the batch of sparse tensors that serialize_many_sparse wrote.

    Args:
      serialized_sparse: strings [batch, 3].
      dtype: the type of the values.
      rank: the rank of one of the tensors, if it is known.
      name: a name for the operation.
    """
    indices, values, shape = op("DeserializeManySparse", name, serialized_sparse=serialized_sparse, dtype=dtype)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


# ---- counts ----

def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """Returns how often each number occurs, as a sparse tensor.

    Args:
      values: integers: a tensor of rank 1 or 2, a SparseTensor or a RaggedTensor.
      weights: what each value counts; 1 by default.
      axis: 0 counts all values together, -1 each row alone.
      minlength: the last dimension of the result has at least this size.
      maxlength: numbers from this one on are left out.
      binary_output: whether each number that occurs counts 1.
      name: a name for the operation.
    """
    from weft._core.ragged.ragged_tensor import RaggedTensor
    with name_scope(name, "count", [values if not hasattr(values, "_parts") else None, None]):
        if not isinstance(values, (SparseTensor, RaggedTensor)):
            values = convert_to_tensor(values, name="values")
        if weights is not None and binary_output:
            raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
        if axis is not None and axis not in (0, -1):
            raise ValueError("Unsupported value for argument axis=%s. Only 0 and -1 are currently supported." % axis)
        options = dict(minlength=-1 if minlength is None else minlength, maxlength=-1 if maxlength is None else maxlength,
                       binary_output=binary_output)
        if axis == 0:
            values, weights = _all_values(values, weights)
        return SparseTensor(*_counted(values, weights, options))


def _all_values(values, weights):
    from weft._core.ragged.ragged_tensor import RaggedTensor
    if isinstance(values, SparseTensor):
        return values.values, None if weights is None else weights.values
    if isinstance(values, RaggedTensor):
        return values.values, None if weights is None else weights.values
    flat = array_ops.reshape(values, [-1])
    return flat, None if weights is None else array_ops.reshape(weights, [-1])


def _counted(values, weights, options):
    from weft._core.ragged.ragged_tensor import RaggedTensor
    none = convert_to_tensor([], dtypes.int32)
    if isinstance(values, SparseTensor):
        return op("SparseCountSparseOutput", indices=values.indices, values=values.values, dense_shape=values.dense_shape,
                  weights=none if weights is None else weights.values, **options)
    if isinstance(values, RaggedTensor):
        return op("RaggedCountSparseOutput", splits=math_ops.cast(values.row_splits, dtypes.int64), values=values.values,
                  weights=none if weights is None else weights.values, **options)
    return op("DenseCountSparseOutput", values=values, weights=none if weights is None else weights, **options)


# ---- edit distances and hashes ----

def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Returns the number of edits that turn each sequence of one sparse tensor into that of another.

    Args:
      hypothesis: a SparseTensor; its last dimension is that of the sequences.
      truth: another one of the same rank.
      normalize: whether to divide by the length of the true sequence.
      name: a name for the operation.
    """
    if not isinstance(hypothesis, (SparseTensor, SparseTensorValue)):
        raise TypeError("Hypothesis must be a SparseTensor.")
    if not isinstance(truth, (SparseTensor, SparseTensorValue)):
        raise TypeError("Truth must be a SparseTensor.")
    return op("EditDistance", name, hypothesis_indices=hypothesis.indices, hypothesis_values=hypothesis.values,
              hypothesis_shape=hypothesis.dense_shape, truth_indices=truth.indices, truth_values=truth.values,
              truth_shape=truth.dense_shape, normalize=normalize)


def fingerprint(data, method="farmhash64", name=None):
    """Returns a hash of each row as eight bytes.

    Args:
      data: a tensor of rank 1 or more.
      method: 'farmhash64'.
      name: a name for the operation.
    """
    return op("Fingerprint", name, data=data, method=method)




# ---- segments ----

def _segments(kind, data, indices, segment_ids, name, num_segments, sparse_gradient):
    given = dict(data=data, indices=indices, segment_ids=segment_ids, sparse_gradient=sparse_gradient)
    if num_segments is None:
        return op(kind, name, **given)
    return op(kind + "WithNumSegments", name, num_segments=num_segments, **given)


def segment_sum(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False):
    """Returns the sums by segment of rows that are selected by indices.

    Args:
      data: a tensor.
      indices: the rows.
      segment_ids: the segment of each, which never falls.
      name: a name for the operation.
      num_segments: how many segments there are; one more than the last by default.
      sparse_gradient: whether the gradient is IndexedSlices.
    """
    return _segments("SparseSegmentSum", data, indices, segment_ids, name, num_segments, sparse_gradient)


def segment_mean(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False):
    """Returns the means by segment of rows that are selected by indices.

    Args:
      data: a tensor.
      indices: the rows.
      segment_ids: the segment of each, which never falls.
      name: a name for the operation.
      num_segments: how many segments there are; one more than the last by default.
      sparse_gradient: whether the gradient is IndexedSlices.
    """
    return _segments("SparseSegmentMean", data, indices, segment_ids, name, num_segments, sparse_gradient)


def segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False):
    """Returns the sums by segment of rows that are selected by indices, divided by the square root of their number.

    Args:
      data: a tensor.
      indices: the rows.
      segment_ids: the segment of each, which never falls.
      name: a name for the operation.
      num_segments: how many segments there are; one more than the last by default.
      sparse_gradient: whether the gradient is IndexedSlices.
    """
    return _segments("SparseSegmentSqrtN", data, indices, segment_ids, name, num_segments, sparse_gradient)
