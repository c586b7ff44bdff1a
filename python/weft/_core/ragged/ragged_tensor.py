"""tf.RaggedTensor: values, and splits that divide them into rows of different lengths."""
import numpy as np

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import constant_value, convert_to_tensor, is_tensor, op, register_tensor_conversion_function
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops import array_ops, check_ops, math_ops, special_math
from weft._core.ops.sparse import SparseTensor
from weft._core.ragged.ragged_value import RaggedTensorValue


def _splits(splits, dtype=None, name="row_splits"):
    """Returns row splits, lengths or row numbers as a tensor of int32 or int64."""
    if isinstance(splits, (list, tuple)) or (isinstance(splits, np.ndarray) and splits.dtype not in (np.int32, np.int64)):
        splits = convert_to_tensor(np.asarray(splits, np.int64) if not _has_tensor(splits) else splits, dtype or dtypes.int64, name=name)
    splits = convert_to_tensor(splits, dtype, preferred_dtype=dtypes.int64, name=name)
    if splits.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("%s must have dtype int32 or int64" % name)
    return splits


def _has_tensor(values):
    return any(is_tensor(v) for v in values)


def _values_of(values):
    """Returns the values of a ragged tensor: a tensor or a ragged tensor."""
    if isinstance(values, RaggedTensorValue):
        return convert(values)
    return values if isinstance(values, RaggedTensor) else convert_to_tensor(values, name="values")


def _checked(tensor, checks, validate):
    """Returns the tensor, computed after the checks if they are wanted."""
    if not validate:
        return tensor
    with control_dependencies([c for c in (check() for check in checks) if c is not None]):
        return array_ops.identity(tensor)


def nrows_of(values, out_type=dtypes.int64):
    """Returns the number of items in the first dimension of a tensor or a ragged tensor."""
    if isinstance(values, RaggedTensor):
        return values.nrows(out_type)
    return array_ops.shape(values, out_type=out_type)[0]


class RaggedTensor:
    """A tensor with rows of different lengths: row i has the values from row_splits[i] up to row_splits[i + 1].

    Make one with tf.ragged.constant or a `from_` method.
    """

    __array_priority__ = 101

    def __init__(self, values, row_splits, internal=False, value_rowids=None, nrows=None, uniform_row_length=None):
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                             "RaggedTensor.from_row_lengths())")
        self._values, self._row_splits = values, row_splits
        self._value_rowids, self._nrows, self._uniform = value_rowids, nrows, uniform_row_length

    # ---- construction ----

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Returns a ragged tensor from its values and where each row begins and ends."""
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values = _values_of(values)
            row_splits = _splits(row_splits, _dtype_of(values))
            row_splits.shape.assert_has_rank(1)
            row_splits = _checked(row_splits, [
                lambda: check_ops.assert_equal(row_splits[0], convert_to_tensor(0, row_splits.dtype.base_dtype),
                                               message="Arguments to from_row_splits do not form a valid RaggedTensor"),
                lambda: _rising(row_splits, "Arguments to from_row_splits do not form a valid RaggedTensor"),
                lambda: check_ops.assert_equal(row_splits[-1], nrows_of(values, row_splits.dtype.base_dtype),
                                               message="Arguments to from_row_splits do not form a valid RaggedTensor")],
                                  validate)
            return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Returns a ragged tensor from its values and the length of each row."""
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values = _values_of(values)
            row_lengths = _splits(row_lengths, _dtype_of(values), "row_lengths")
            row_lengths.shape.assert_has_rank(1)
            splits = _from_lengths(row_lengths)
            splits = _checked(splits, [
                lambda: check_ops.assert_non_negative(
                    row_lengths, message="Arguments to from_row_lengths do not form a valid RaggedTensor"),
                lambda: check_ops.assert_equal(splits[-1], nrows_of(values, splits.dtype.base_dtype),
                                               message="Arguments to from_row_lengths do not form a valid RaggedTensor")],
                              validate)
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Returns a ragged tensor from its values and where each row begins."""
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values = _values_of(values)
            starts = _splits(row_starts, _dtype_of(values), "row_starts")
            end = array_ops.reshape(nrows_of(values, starts.dtype.base_dtype), [1])
            return cls.from_row_splits(values, array_ops.concat([starts, end], 0), validate=validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Returns a ragged tensor from its values and where each row ends."""
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values = _values_of(values)
            limits = _splits(row_limits, _dtype_of(values), "row_limits")
            return cls.from_row_splits(values, array_ops.concat([array_ops.zeros([1], limits.dtype.base_dtype), limits], 0),
                                       validate=validate)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """Returns a ragged tensor from its values and the row of each, which never falls."""
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values = _values_of(values)
            ids = _splits(value_rowids, _dtype_of(values), "value_rowids")
            ids.shape.assert_has_rank(1)
            if nrows is None:
                known = constant_value(ids)
                nrows = (int(known[-1]) + 1 if len(known) else 0) if known is not None else (
                    math_ops.reduce_max(array_ops.concat([[-1], ids], 0) if ids.dtype.base_dtype == dtypes.int32 else
                                        array_ops.concat([np.array([-1], np.int64), ids], 0)) + 1)
            known = nrows if isinstance(nrows, (int, np.integer)) else None
            if known is not None and known < 0:
                raise ValueError("Expected nrows >= 0; got %d" % known)
            rows = convert_to_tensor(nrows, ids.dtype.base_dtype, name="nrows")
            ids = _checked(ids, [
                lambda: check_ops.assert_non_negative(
                    ids, message="Arguments to from_value_rowids do not form a valid RaggedTensor"),
                lambda: check_ops.assert_less(
                    ids, rows, message="Arguments to from_value_rowids do not form a valid RaggedTensor"),
                lambda: _rising(ids, "Arguments to from_value_rowids do not form a valid RaggedTensor"),
                lambda: check_ops.assert_equal(
                    nrows_of(ids), nrows_of(values), message="Arguments to from_value_rowids do not form a valid "
                    "RaggedTensor")], validate)
            ones = array_ops.ones_like(ids)
            lengths = math_ops.unsorted_segment_sum(ones, ids, rows)
            if known is not None:
                lengths.set_shape([known])
            return cls(values, _from_lengths(lengths), internal=True, value_rowids=ids, nrows=rows)

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True, name=None):
        """Returns a ragged tensor whose rows all have one length."""
        with name_scope(name, "RaggedFromUniformRowLength", [values, uniform_row_length, nrows]):
            values = _values_of(values)
            dtype = _dtype_of(values) or (uniform_row_length.dtype.base_dtype if is_tensor(uniform_row_length) else dtypes.int64)
            width = convert_to_tensor(uniform_row_length, dtype, name="uniform_row_length")
            count, known = nrows_of(values, dtype), constant_value(width)
            if known is not None and int(known) < 0:
                raise ValueError("Expected uniform_row_length >= 0; got %d" % int(known))
            if nrows is not None:
                rows = convert_to_tensor(nrows, dtype, name="nrows")
            elif known is not None and int(known) == 0:
                raise ValueError("nrows must be specified if uniform_row_length==0")
            else:
                rows = count // width
            rows = _checked(rows, [lambda: check_ops.assert_equal(
                rows * width, count, message="Arguments to from_uniform_row_length do not form a valid RaggedTensor")], validate)
            splits = math_ops.range(rows + 1) * width
            fixed = constant_value(rows)
            if fixed is not None:
                splits.set_shape([int(fixed) + 1])
            return cls(values, splits, internal=True, nrows=rows, uniform_row_length=width)

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
        """Returns a ragged tensor with several ragged dimensions from the rows of each; the outermost first."""
        if is_tensor(nested_value_rowids):
            raise TypeError("Argument `nested_value_rowids` must be a list of Tensors. Received %s." % nested_value_rowids)
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        elif len(nested_nrows) != len(nested_value_rowids):
            raise ValueError("Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. len(nested_nrows) "
                             "= %d vs. len(nested_values_rowids) = %d." % (len(nested_nrows), len(nested_value_rowids)))
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids]):
            result = flat_values
            for ids, rows in reversed(list(zip(nested_value_rowids, nested_nrows))):
                result = cls.from_value_rowids(result, ids, rows, validate=validate)
            return result

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Returns a ragged tensor with several ragged dimensions from the splits of each; the outermost first."""
        if is_tensor(nested_row_splits):
            raise TypeError("Argument `nested_row_splits` must be a list of Tensors. Received %s." % nested_row_splits)
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            result = flat_values
            for splits in reversed(nested_row_splits):
                result = cls.from_row_splits(result, splits, validate=validate)
            return result

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """Returns a ragged tensor with several ragged dimensions from the row lengths of each; the outermost first."""
        if is_tensor(nested_row_lengths):
            raise TypeError("Argument `nested_row_lengths` must be a list of Tensors. Received %s." % nested_row_lengths)
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            result = flat_values
            for lengths in reversed(nested_row_lengths):
                result = cls.from_row_lengths(result, lengths, validate=validate)
            return result

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
        """Returns a tensor as a ragged one; `lengths` cuts rows, `padding` leaves out such values at their ends."""
        from weft._core.ragged import conversion
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            return conversion.from_tensor(cls, tensor, lengths, padding, ragged_rank, dtypes.as_dtype(row_splits_dtype))

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """Returns a sparse matrix without gaps in its rows as a ragged tensor."""
        from weft._core.ragged import conversion
        if not isinstance(st_input, SparseTensor) and not hasattr(st_input, "dense_shape"):
            raise TypeError("Argument `st_input` must be of type SparseTensor, but is of type %s." % type(st_input).__name__)
        with name_scope(name, "RaggedFromSparse", [st_input.indices, st_input.values]):
            return conversion.from_sparse(cls, st_input, dtypes.as_dtype(row_splits_dtype))

    # ---- properties ----

    @property
    def values(self):
        return self._values

    @property
    def row_splits(self):
        return self._row_splits

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def flat_values(self):
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self):
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self):
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def uniform_row_length(self):
        return self._uniform

    @property
    def graph(self):
        return self._row_splits.graph

    @property
    def op(self):
        return self.flat_values.op

    @property
    def shape(self):
        rows = self._row_splits.shape.as_list()[0] if self._row_splits.shape.ndims else None
        width = None if self._uniform is None else constant_value(self._uniform)
        inner = self._values.shape
        if inner.ndims is None:
            return tensor_shape.TensorShape(None)
        return tensor_shape.TensorShape([None if rows is None else rows - 1, None if width is None else int(width)] + inner.as_list()[1:])

    def get_shape(self):
        return self.shape

    def nrows(self, out_type=None, name=None):
        """Returns the number of rows."""
        out_type = self._row_splits.dtype.base_dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedNRows", [self._row_splits]):
            if self._nrows is not None:
                return math_ops.cast(self._nrows, out_type)
            return array_ops.shape(self._row_splits, out_type=out_type)[0] - 1

    def value_rowids(self, name=None):
        """Returns the row of each value."""
        if self._value_rowids is not None:
            return self._value_rowids
        with name_scope(name, "RaggedValueRowIds", [self._row_splits]):
            lengths = self._row_splits[1:] - self._row_splits[:-1]
            return special_math.repeat(math_ops.range(self.nrows()), lengths)

    def nested_value_rowids(self, name=None):
        """Returns the rows of the values of every ragged dimension."""
        with name_scope(name, "RaggedNestedValueRowIds", [self._row_splits]):
            inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
            return (self.value_rowids(), *inner)

    def row_starts(self, name=None):
        """Returns the start of each row."""
        with name_scope(name, "RaggedRowStarts", [self._row_splits]):
            return self._row_splits[:-1]

    def row_limits(self, name=None):
        """Returns the end of each row."""
        with name_scope(name, "RaggedRowLimits", [self._row_splits]):
            return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """Returns the lengths of the rows of a dimension."""
        axis = wrapped_axis(axis, self.shape.ndims)
        if axis == 0:
            return self.nrows()
        with name_scope(name, "RaggedRowLengths", [self._row_splits]):
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            shape = array_ops.shape(self._values, out_type=self._row_splits.dtype.base_dtype)
            return self.with_values(array_ops.ones(shape[:axis - 1], shape.dtype.base_dtype) * shape[axis - 1])

    def nested_row_lengths(self, name=None):
        """Returns the lengths of the rows of every ragged dimension."""
        with name_scope(name, "RaggedNestedRowLengths", [self._row_splits]):
            inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
            return (self.row_lengths(), *inner)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """Returns the shape of the smallest tensor that holds all rows."""
        out_type = self._row_splits.dtype.base_dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self._row_splits]):
            if isinstance(axis, int) and axis == 0:
                return self.nrows(out_type)
            inner = array_ops.shape(self.flat_values, out_type=out_type)[1:]
            most = [math_ops.maximum(math_ops.reduce_max(math_ops.cast(s[1:] - s[:-1], out_type)), convert_to_tensor(0, out_type))
                    if s.shape.num_elements() != 1 else convert_to_tensor(0, out_type) for s in self.nested_row_splits]
            whole = array_ops.concat([array_ops.stack([self.nrows(out_type), *most]), inner], 0)
            return whole if axis is None else array_ops.gather(whole, axis)

    # ---- conversions ----

    def with_values(self, new_values):
        """Returns the same rows with other values."""
        new_values = _values_of(new_values)
        return RaggedTensor(new_values, self._row_splits, True, self._value_rowids, self._nrows, self._uniform)

    def with_flat_values(self, new_values):
        """Returns the same rows of every dimension with other values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """Returns the same with row splits of another type."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("Argument `row_splits` dtype must be int32 or int64. Received %s." % dtype)
        if self._row_splits.dtype.base_dtype == dtype:
            return self
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(values, math_ops.cast(self._row_splits, dtype), internal=True,
                            uniform_row_length=None if self._uniform is None else math_ops.cast(self._uniform, dtype))

    def merge_dims(self, outer_axis, inner_axis):
        """Returns the dimensions from outer_axis to inner_axis as one."""
        from weft._core.ragged import conversion
        outer, inner = (wrapped_axis(a, self.shape.ndims) for a in (outer_axis, inner_axis))
        if outer > inner:
            raise ValueError("Expected outer_axis (%d) to be less than or equal to inner_axis (%d)" % (outer_axis, inner_axis))
        return self if outer == inner else conversion.merge_dims(self, outer, inner)

    def to_tensor(self, default_value=None, name=None, shape=None):
        """Returns a tensor of the same values, padded with the default value; `shape` cuts or pads dimensions."""
        from weft._core.ragged import conversion
        with name_scope(name, "RaggedToTensor", [self.flat_values, default_value, *self.nested_row_splits]):
            return conversion.to_tensor(self, default_value, shape)

    def to_sparse(self, name=None):
        """Returns a SparseTensor of the same values."""
        with name_scope(name, "RaggedToSparse", [self.flat_values, *self.nested_row_splits]):
            made = op("RaggedTensorToSparse", rt_nested_splits=list(self.nested_row_splits), rt_dense_values=self.flat_values)
            return SparseTensor(*made)

    def to_list(self):
        """Raises ValueError, because it needs eager execution."""
        raise ValueError("RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first and "
                         "then use RaggedTensorValue.to_list().")

    def numpy(self):
        """Raises ValueError, because it needs eager execution."""
        raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")

    def consumers(self):
        """Returns the ops that use a part of it."""
        return list(dict.fromkeys(c for t in self._parts() for c in t.consumers()))

    def eval(self, feed_dict=None, session=None):
        """Returns the value, computed in a session."""
        from weft._core.framework.graph import _session
        return _session(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    # ---- parts, for loops, conditionals and sessions ----

    def _parts(self):
        return [self.flat_values, *self.nested_row_splits]

    def _with_parts(self, parts):
        return RaggedTensor.from_nested_row_splits(parts[0], list(parts[1:]), validate=False)

    def _part_shapes(self, shape):
        flat = tensor_shape.TensorShape(None if shape.ndims is None else [None] + shape.as_list()[self.ragged_rank + 1:])
        return [flat] + [tensor_shape.TensorShape([None])] * self.ragged_rank

    def __getitem__(self, key):
        from weft._core.ragged import indexing
        return indexing.get_item(self, key)

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __len__(self):
        raise TypeError("object of type 'RaggedTensor' has no len() in a graph: use nrows()")

    def __iter__(self):
        raise TypeError("a RaggedTensor is not iterable in a graph")

    def __str__(self):
        return "tf.RaggedTensor(values=%s, row_splits=%s)" % (self._values, self._row_splits)

    __repr__ = __str__


def _dtype_of(values):
    return values.row_splits.dtype.base_dtype if isinstance(values, RaggedTensor) else None


def _rising(values, message):
    return check_ops.assert_less_equal(values[:-1], values[1:], message=message)


def _from_lengths(lengths):
    splits = array_ops.concat([array_ops.zeros([1], lengths.dtype.base_dtype), math_ops.cumsum(lengths)], 0)
    if lengths.shape.as_list()[0] is not None:
        splits.set_shape([lengths.shape.as_list()[0] + 1])
    return splits


def wrapped_axis(axis, rank):
    """Returns an axis counted from the front."""
    if axis >= 0:
        return axis
    if rank is None:
        raise ValueError("axis=%d may only be negative if ndims is statically known." % axis)
    if axis + rank < 0:
        raise ValueError("axis=%d out of bounds: expected %d<=axis<%d" % (axis, -rank, rank))
    return axis + rank


def convert(value, dtype=None, row_splits_dtype=None, name=None):
    """Returns a RaggedTensor or a tensor of a value: a ragged one, one that a session gave, nested lists or an array.
    """
    if isinstance(value, RaggedTensor):
        return value if row_splits_dtype is None else value.with_row_splits_dtype(row_splits_dtype)
    if isinstance(value, RaggedTensorValue):
        flat = convert_to_tensor(value.flat_values, dtype, name="flat_values")
        splits = [convert_to_tensor(s, row_splits_dtype or s.dtype, name="row_splits") for s in value.nested_row_splits]
        return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)
    return convert_to_tensor(value, dtype, name=name)


def _refused(value, dtype=None, name=None, as_ref=False):
    raise TypeError("a RaggedTensor cannot be used where a Tensor is needed: %s. Pad it with to_tensor(), or use a function of "
                    "tf.ragged" % (value,))


register_tensor_conversion_function(RaggedTensor, _refused)
register_tensor_conversion_function(RaggedTensorValue, _refused)
