"""SparseTensor, and the functions that take one apart."""
from . import tensor_shape


class SparseTensor:
    """Where the values are (n, rank), the values (n), and the shape of the whole (rank)."""

    def __init__(self, indices, values, dense_shape=None, shape=None):
        from . import dtypes
        from .build import convert_to_tensor
        from .graph import name_scope
        dense_shape = shape if dense_shape is None else dense_shape
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._shape = convert_to_tensor(dense_shape, dtypes.int64, name="dense_shape")

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
        from .build import constant_value
        known = constant_value(self._shape)
        return tensor_shape.TensorShape(None if known is None else [int(d) for d in known])

    def eval(self, feed_dict=None, session=None):
        from .graph import _session
        return _session(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    def __str__(self):
        return "SparseTensor(indices=%s, values=%s, dense_shape=%s)" % (self._indices, self._values, self._shape)


class SparseTensorValue(tuple):
    """What a run gives for a SparseTensor."""

    def __new__(cls, indices, values, dense_shape):
        return super().__new__(cls, (indices, values, dense_shape))

    indices = property(lambda self: self[0])
    values = property(lambda self: self[1])
    dense_shape = property(lambda self: self[2])


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    from .build import op
    return op("SparseToDense", name, sparse_indices=sparse_indices, output_shape=output_shape,
              sparse_values=sparse_values, default_value=default_value, validate_indices=validate_indices)


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    from . import dtypes
    if default_value is None:
        default_value = "" if sp_input.dtype.base_dtype == dtypes.string else 0
    return sparse_to_dense(sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices, name)


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    from .build import op
    from .graph import name_scope
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]) as scope:
        return op("SparseTensorDenseMatMul", scope, a_indices=sp_a.indices, a_values=sp_a.values, a_shape=sp_a.dense_shape,
                  b=b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def sparse_reorder(sp_input, name=None):
    from .build import op
    indices, values = op("SparseReorder", name, input_indices=sp_input.indices, input_values=sp_input.values,
                         input_shape=sp_input.dense_shape)
    return SparseTensor(indices, values, sp_input.dense_shape)


def sparse_reshape(sp_input, shape, name=None):
    from . import dtypes
    from .build import convert_to_tensor, op
    from .graph import name_scope
    with name_scope(name, "SparseReshape", [sp_input.indices]) as scope:
        indices, dims = op("SparseReshape", scope, input_indices=sp_input.indices, input_shape=sp_input.dense_shape,
                           new_shape=convert_to_tensor(shape, dtypes.int64))
        return SparseTensor(indices, sp_input.values, dims)


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """The tensor with a default in every empty row, and which rows those were."""
    from .build import convert_to_tensor, op
    from .graph import name_scope
    with name_scope(name, "SparseFillEmptyRows", [sp_input.indices]):
        default_value = convert_to_tensor(default_value, sp_input.values.dtype.base_dtype)
        indices, values, empty, _ = op("SparseFillEmptyRows", indices=sp_input.indices, values=sp_input.values,
                                       dense_shape=sp_input.dense_shape, default_value=default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty
