"""Small tf functions on tensors: conversions that keep slices and sparse tensors, old scopes, checks of all numbers."""
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import Tensor, get_default_graph, name_scope


def is_symbolic_tensor(tensor):
    """Returns whether a value is a tensor of a graph."""
    return isinstance(tensor, Tensor)


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """Returns a tensor of the value; tf.IndexedSlices are returned unchanged."""
    from weft._core.framework.indexed_slices import IndexedSlices
    if isinstance(value, IndexedSlices):
        if dtype is not None and not value.dtype.is_compatible_with(dtype):
            raise ValueError("Tensor conversion requested dtype %s for Tensor with dtype %s: %r" % (
                dtype, value.dtype.name, value))
        return value
    return convert_to_tensor(value, dtype, name)


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """Returns a tensor of the value; a tf.SparseTensor is returned unchanged."""
    from weft._core.ops.sparse import SparseTensor, SparseTensorValue
    if isinstance(value, SparseTensorValue):
        value = SparseTensor(value.indices, value.values, value.dense_shape)
    if isinstance(value, SparseTensor):
        if dtype is not None and not value.dtype.is_compatible_with(dtype):
            raise RuntimeError("Sparse dtype mismatch. Requested: %s, Actual: %s" % (dtype, value.dtype.name))
        return value
    return convert_to_tensor(value, dtype, name)


def op_scope(values, name, default_name=None):
    """Opens a tf.name_scope; the arguments are in the order that they had before 1.0."""
    return name_scope(name, default_name, values)


def add_check_numerics_ops():
    """Returns an op that fails if any floating-point tensor of the graph has an infinity or NaN."""
    from weft._core.ops.control_flow import group
    checks, graph = [], get_default_graph()
    for node in graph.get_operations():
        for out in node.outputs:
            if out.dtype.base_dtype.name not in ("float16", "float32", "float64"):
                continue
            with graph.control_dependencies(checks):
                checks = [op("CheckNumerics", tensor=out, message=out.name)]
    return group(*checks)
