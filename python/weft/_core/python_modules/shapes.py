"""Parts of tensorflow.python.framework.tensor_util and tensor_shape: shapes that tensors hold."""
from weft._core.framework.shape_values import constant_value_as_shape  # noqa: F401
from weft._core.framework.tensor_shape import TensorShape


def vector(length):
    """Returns the shape of a vector."""
    return TensorShape([length])


def matrix(rows, cols):
    """Returns the shape of a matrix."""
    return TensorShape([rows, cols])


def ShapeEquals(tensor_proto, shape):
    """Returns whether the tensor of a TensorProto has a shape, which is a TensorShapeProto or a list."""
    dims = [d.size for d in shape.dim] if hasattr(shape, "dim") else list(shape)
    return [d.size for d in tensor_proto.tensor_shape.dim] == dims
