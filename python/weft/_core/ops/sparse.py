"""SparseTensor, and functions of one or several of them."""
import collections

import numpy as np

from weft._core.framework import tensor_shape


class SparseTensor:
    """A sparse tensor: indices (n, rank), values (n) and the dense shape (rank)."""

    _declared = None  # the shape that was given to a placeholder

    def __init__(self, indices, values, dense_shape=None, shape=None):
        from weft._core.framework import dtypes
        from weft._core.framework.build import convert_to_tensor
        from weft._core.framework.graph import name_scope
        dense_shape = shape if dense_shape is None else dense_shape
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._shape = convert_to_tensor(dense_shape, dtypes.int64, name="dense_shape")
        at, values_at, rank = self._indices.shape.with_rank(2), self._values.shape.with_rank(1), self._shape.shape.with_rank(1)
        at.dims[0].assert_is_compatible_with(values_at.dims[0])
        at.dims[1].assert_is_compatible_with(rank.dims[0])

    @property
    def indices(self):
        return self._indices

    @property
    def values(self):
        return self._values

    @property
    def dense_shape(self):
        return self._shape

    @property
    def op(self):
        return self._values.op

    @property
    def graph(self):
        return self._values.graph

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def shape(self):
        return self.get_shape()

    def get_shape(self):
        from weft._core.framework.shape_values import constant_value_as_shape
        return constant_value_as_shape(self._shape) if self._declared is None else self._declared

    def set_shape(self, shape):
        """Adds information about the dense shape."""
        known, more = self.get_shape(), tensor_shape.as_shape(shape)
        if not known.is_compatible_with(more):
            raise ValueError("Shapes %s and %s are not compatible" % (known, more))
        self._declared = known.merge_with(more)

    def eval(self, feed_dict=None, session=None):
        from weft._core.framework.graph import _session
        return _session(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    _dense_shape = property(lambda self: self._shape)

    @classmethod
    def from_value(cls, sparse_tensor_value):
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError("Argument sparse_tensor_value=%s is neither a SparseTensor nor SparseTensorValue" % (
                sparse_tensor_value,))
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

    def with_values(self, new_values):
        """Returns a sparse tensor with the same indices and other values."""
        return SparseTensor(self._indices, new_values, self._shape)

    def consumers(self):
        return list(dict.fromkeys(c for t in self._parts() for c in t.consumers()))

    def _parts(self):
        return [self._indices, self._values, self._shape]

    def _with_parts(self, parts):
        return SparseTensor(*parts)

    def _part_shapes(self, shape):
        """Returns the shapes of the parts of a tensor that would have this shape."""
        rank = shape.ndims
        return [tensor_shape.TensorShape(s) for s in ([None, rank], [None], [rank])]

    def __str__(self):
        return "SparseTensor(indices=%s, values=%s, dense_shape=%s)" % (self._indices, self._values, self._shape)

    __repr__ = __str__


SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
SparseTensorValue.__doc__ = "What a run gives for a SparseTensor."


def _from_value(value):
    """Returns a SparseTensor for what a run gave for one, and anything else as it is."""
    return SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value


def as_sparse(value):
    """Returns a SparseTensor or SparseTensorValue as a SparseTensor; raises TypeError for anything else."""
    value = _from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    from weft._core.framework.build import op
    return op("SparseToDense", name, sparse_indices=sparse_indices, output_shape=output_shape,
              sparse_values=sparse_values, default_value=default_value, validate_indices=validate_indices)


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    from weft._core.ops import array_ops
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], sp_input.dtype.base_dtype)
    return sparse_to_dense(sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices, name)


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    from weft._core.framework.build import op
    from weft._core.framework.graph import name_scope
    sp_a = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        return op("SparseTensorDenseMatMul", a_indices=sp_a.indices, a_values=sp_a.values, a_shape=sp_a.dense_shape,
                  b=b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def sparse_reorder(sp_input, name=None):
    from weft._core.framework.build import op
    sp_input = as_sparse(sp_input)
    indices, values = op("SparseReorder", name, input_indices=sp_input.indices, input_values=sp_input.values,
                         input_shape=sp_input.dense_shape)
    return SparseTensor(indices, values, _static(sp_input))


def _static(sp_input):
    """Returns the dense shape of a result that has the shape of the input: numbers if they are known."""
    from weft._core.ops import array_ops
    shape = sp_input.get_shape()
    return shape.as_list() if shape.is_fully_defined() else array_ops.identity(sp_input.dense_shape)


def sparse_reshape(sp_input, shape, name=None):
    from weft._core.framework import dtypes
    from weft._core.framework.build import op
    from weft._core.framework.graph import name_scope
    from weft._core.ops import array_ops, math_ops
    sp_input = as_sparse(sp_input)
    known = not any(hasattr(n, "op") and n.op.type != "Const" for n in (shape if isinstance(shape, (list, tuple)) else [shape]))
    shape = math_ops.cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input.indices]) as scope:
        indices, dims = op("SparseReshape", scope, input_indices=sp_input.indices, input_shape=sp_input.dense_shape, new_shape=shape)
        dims = _known_sizes(sp_input.dense_shape, shape, dims) if known else dims
        return SparseTensor(indices, array_ops.identity(sp_input.values), dims)


def _known_sizes(before, asked, dims):
    """Returns the sizes after a reshape as a constant if all are known."""
    from weft._core.framework.build import constant, constant_value
    before, asked = constant_value(before), constant_value(asked)
    if before is None or asked is None:
        return dims
    sizes, total = [int(n) for n in asked], int(np.prod(before))
    if sizes.count(-1) > 1:
        raise ValueError("At most one dimension can be inferred (-1). Found: %s" % asked)
    rest = int(np.prod([n for n in sizes if n >= 0]))
    if -1 in sizes and rest == 0:
        return dims
    return constant([total // rest if n < 0 else n for n in sizes], dims.dtype)


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """Returns the tensor with a default in every empty row, and which rows were empty."""
    from weft._core.framework.build import convert_to_tensor, op
    from weft._core.framework.graph import name_scope
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input.indices]):
        default_value = convert_to_tensor(default_value, sp_input.values.dtype.base_dtype)
        indices, values, empty, _ = op("SparseFillEmptyRows", indices=sp_input.indices, values=sp_input.values,
                                       dense_shape=sp_input.dense_shape, default_value=default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


# ---- concatenation, slices and sums ----

def _axes(axis, reduction_axes):
    from weft._core.framework.build import either
    return either("axis", axis, "reduction_axes", reduction_axes)


def _keep(keepdims, keep_dims):
    from weft._core.framework.build import either
    return bool(either("keepdims", keepdims, "keep_dims", keep_dims))


def sparse_concat(axis=None, sp_inputs=None, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None):
    from weft._core.framework import dtypes
    from weft._core.framework.build import constant, constant_value, either, op
    axis = either("axis", axis, "concat_dim", concat_dim)
    sp_inputs = [as_sparse(s) for s in sp_inputs]
    if not sp_inputs:
        raise ValueError("List argument 'indices' to 'SparseConcat' Op with length 0 shorter than minimum length 2.")
    _check_axis(axis, sp_inputs)
    known = _concat_shape([constant_value(s.dense_shape) for s in sp_inputs], axis)
    expand = either("expand_nonconcat_dims", expand_nonconcat_dims, "expand_nonconcat_dim", expand_nonconcat_dim)
    declared = _concat_declared([s.shape for s in sp_inputs], axis, expand)
    if expand:
        sp_inputs = _expanded(sp_inputs, axis)
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    indices, values, shape = op("SparseConcat", name, indices=[s.indices for s in sp_inputs],
                                values=[s.values for s in sp_inputs], shapes=[s.dense_shape for s in sp_inputs], concat_dim=axis)
    made = SparseTensor(indices, values, shape if known is None else constant(known, dtypes.int64))
    made._declared = declared
    return made


def _check_axis(axis, sp_inputs):
    """Raises an error for an axis that is not an integer, or that the inputs do not have."""
    if isinstance(axis, float):
        raise TypeError("list indices must be integers or slices, not float: sparse_concat has the axis %s" % axis)
    if not isinstance(axis, (int, np.integer)):
        raise TypeError("Expected int for argument 'concat_dim' not %r." % (axis,))
    rank = sp_inputs[0].shape.ndims
    if rank is not None and not -rank <= axis < rank:
        raise IndexError("list index out of range: sparse_concat has the axis %d, and its inputs have %d dimensions" % (axis, rank))


def _concat_shape(shapes, axis):
    """Returns the shape of a concatenation, or None if one of the shapes is not known."""
    if any(s is None for s in shapes):
        return None
    made = np.max(shapes, 0)
    made[axis] = sum(s[axis] for s in shapes)
    return made


def _concat_declared(shapes, axis, expand):
    """Returns the static shape of a concatenation, or None if a rank is not known.

    As in TensorFlow, other dimensions are those of the first tensor, or with `expand` the largest known ones.
    """
    if len({s.ndims for s in shapes}) != 1 or shapes[0].ndims is None or not -shapes[0].ndims <= axis < shapes[0].ndims:
        return None
    columns = list(zip(*[s.as_list() for s in shapes]))
    made = [c[0] if c[0] is None or not expand else max(d for d in c if d is not None) for c in columns]
    made[axis] = None if None in columns[axis] else sum(columns[axis])
    return tensor_shape.TensorShape(made)


def _expanded(sp_inputs, axis):
    """Returns the tensors enlarged to the largest of their shapes, except along the axis."""
    from weft._core.framework import dtypes
    from weft._core.ops import array_ops, math_ops
    shapes = array_ops.stack([s.dense_shape for s in sp_inputs])
    rank = sp_inputs[0].dense_shape.shape[0].value
    rank = array_ops.size(sp_inputs[0].dense_shape) if rank is None else rank
    own = math_ops.cast(array_ops.one_hot(axis % rank, rank, dtype=dtypes.int32), dtypes.int64)
    most = math_ops.reduce_max(shapes, 0)
    return [SparseTensor(s.indices, s.values, s.dense_shape * own + most * (1 - own)) for s in sp_inputs]


def sparse_add(a, b, threshold=None, thresh=None):
    """Returns the sum of two tensors, of which one may be dense; then the sum is dense."""
    from weft._core.framework.build import convert_to_tensor, either, op
    threshold = either("threshold", threshold, "thresh", thresh)
    threshold = 0 if threshold is None else threshold
    a, b = _from_value(a), _from_value(b)
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        a.get_shape().assert_is_compatible_with(b.get_shape())
        real = {"complex64": "float32", "complex128": "float64"}.get(a.dtype.base_dtype.name, a.dtype.base_dtype.name)
        indices, values, dims = op("SparseAdd", None, a_indices=a.indices, a_values=a.values, a_shape=a.dense_shape, b_indices=b.indices,
                                   b_values=b.values, b_shape=b.dense_shape,
                                   thresh=convert_to_tensor(threshold, real, name="threshold"))
        whole = a.get_shape().merge_with(b.get_shape())
        made = SparseTensor(indices, values, whole.as_list() if whole.is_fully_defined() else dims)
        made.set_shape(whole)
        return made
    a, b = (a, b) if isinstance(a, SparseTensor) else (b, a)
    return op("SparseTensorDenseAdd", a_indices=a.indices, a_values=a.values, a_shape=a.dense_shape, b=b)


def sparse_slice(sp_input, start, size, name=None):
    from weft._core.framework import dtypes
    from weft._core.framework.build import convert_to_tensor, op
    from weft._core.framework.graph import name_scope
    sp_input = as_sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input.indices]) as scope:
        return SparseTensor(*op("SparseSlice", scope, indices=sp_input.indices, values=sp_input.values, shape=sp_input.dense_shape,
                                start=start, size=size))


def sparse_split(keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None):
    from weft._core.framework.build import either, op
    axis = either("axis", axis, "split_dim", split_dim)
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sp_input, num_split and axis are required")
    sp_input = as_sparse(sp_input)
    parts = op("SparseSplit", name, split_dim=axis, indices=sp_input.indices, values=sp_input.values, shape=sp_input.dense_shape,
               num_split=num_split)
    return [SparseTensor(*part) for part in zip(*parts)]


def sparse_softmax(sp_input, name=None):
    from weft._core.framework.build import op
    from weft._core.framework.graph import name_scope
    sp_input = _from_value(sp_input)
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = op("SparseSoftmax", None, sp_indices=sp_input.indices, sp_values=sp_input.values, sp_shape=sp_input.dense_shape)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _reduced(kind, sp_input, axis, keep):
    from weft._core.framework import dtypes
    from weft._core.framework.build import op
    from weft._core.ops import array_ops, math_ops
    sp_input = _from_value(sp_input)
    if axis is None:
        rank = sp_input.dense_shape.shape[0].value
        axis = array_ops.convert_to_tensor(list(range(rank)), dtypes.int32) if rank is not None else math_ops.range(
            array_ops.size(sp_input.dense_shape))
    return op(kind, None, input_indices=sp_input.indices, input_values=sp_input.values, input_shape=sp_input.dense_shape,
              reduction_axes=axis, keep_dims=keep)


def sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduced("SparseReduceSum", sp_input, _axes(axis, reduction_axes), _keep(keepdims, keep_dims))


def sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduced("SparseReduceMax", sp_input, _axes(axis, reduction_axes), _keep(keepdims, keep_dims))


def sparse_reduce_sum_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return SparseTensor(*_reduced("SparseReduceSumSparse", sp_input, _axes(axis, reduction_axes), _keep(keepdims, keep_dims)))


def sparse_reduce_max_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return SparseTensor(*_reduced("SparseReduceMaxSparse", sp_input, _axes(axis, reduction_axes), _keep(keepdims, keep_dims)))


def sparse_retain(sp_input, to_retain):
    from weft._core.framework import dtypes
    from weft._core.framework.build import convert_to_tensor
    from weft._core.ops import array_ops
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain, dtypes.bool)
    to_retain.shape.assert_has_rank(1)
    if sp_input.values.shape.ndims is not None:
        sp_input.values.shape[0].assert_is_compatible_with(to_retain.shape[0])
    keep = array_ops.reshape(array_ops.where(to_retain), [-1])
    return SparseTensor(array_ops.gather(sp_input.indices, keep), array_ops.gather(sp_input.values, keep),
                        array_ops.identity(sp_input.dense_shape))


def sparse_transpose(sp_input, perm=None, name=None):
    from weft._core.framework.build import constant_value
    from weft._core.framework.graph import name_scope
    from weft._core.ops import array_ops
    sp_input = _from_value(sp_input)
    with name_scope(name, "SparseTranspose", [sp_input.indices]):
        if perm is None:
            perm = list(range(sp_input.dense_shape.shape[0].value))[::-1]
        perm = array_ops.convert_to_tensor(perm)
        if perm.shape.ndims is not None:
            perm.shape[0].assert_is_compatible_with(sp_input.dense_shape.shape[0])
        order, known = constant_value(perm), sp_input.get_shape()
        whole = order is not None and known.is_fully_defined()
        made = sparse_reorder(SparseTensor(array_ops.gather(sp_input.indices, perm, axis=1), sp_input.values,
                                           [known[int(i)] for i in order] if whole else array_ops.gather(sp_input.dense_shape, perm)))
        if order is not None and known.ndims is not None:
            made.set_shape([known[int(i)] for i in order])
        return made
