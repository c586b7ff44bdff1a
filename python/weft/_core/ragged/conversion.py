"""Converts ragged tensors from and to tensors and sparse tensors, and merges dimensions."""
import numpy as np

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import convert_to_tensor, is_tensor, op
from weft._core.framework.graph import control_dependencies
from weft._core.ops import array_ops, check_ops, math_ops
from weft._core.ragged.ragged_tensor import RaggedTensor, _splits


def to_tensor(ragged, default_value, shape):
    """Returns the padded tensor of RaggedTensorToTensor."""
    if default_value is None:
        default_value = array_ops.zeros((), ragged.dtype.base_dtype) if ragged.dtype.base_dtype != dtypes.string else ""
    default_value = convert_to_tensor(default_value, ragged.dtype.base_dtype, name="default_value")
    index = ragged.row_splits.dtype.base_dtype
    wanted = _wanted(shape, index)
    made = op("RaggedTensorToTensor", shape=wanted, values=ragged.flat_values, default_value=default_value,
              row_partition_tensors=list(ragged.nested_row_splits),
              row_partition_types=["ROW_SPLITS"] * ragged.ragged_rank)
    known = ragged.shape if shape is None or is_tensor(shape) else tensor_shape.TensorShape(shape)
    if shape is None and known.ndims is not None:
        made.set_shape(known)
    return made


def _wanted(shape, index):
    if shape is None:
        return convert_to_tensor(-1, index)
    if is_tensor(shape):
        return math_ops.cast(shape, index)
    dims = tensor_shape.TensorShape(shape)
    if dims.ndims is None:
        return convert_to_tensor(-1, index)
    return convert_to_tensor([-1 if d is None else d for d in dims.as_list()], index)


def from_tensor(cls, tensor, lengths, padding, ragged_rank, dtype):
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError("Argument `ragged_rank` must be an int. Received %s." % ragged_rank)
    if ragged_rank <= 0:
        raise ValueError("Argument `ragged_rank` must be greater than 0. Received %s." % ragged_rank)
    tensor = convert_to_tensor(tensor, name="tensor")
    if tensor.shape.ndims is not None and tensor.shape.ndims <= ragged_rank:
        raise ValueError("The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
                         "Received argument `tensor` with rank %d and ragged_rank %d." % (tensor.shape.ndims, ragged_rank))
    if isinstance(lengths, (list, tuple)) and lengths and isinstance(lengths[0], (list, tuple, np.ndarray)) or (
            isinstance(lengths, (list, tuple)) and lengths and is_tensor(lengths[0]) and lengths[0].shape.ndims == 1):
        return _from_nested_lengths(cls, tensor, lengths, dtype)
    if ragged_rank > 1:
        return _from_rank(cls, tensor, lengths, padding, ragged_rank, dtype)
    sizes = array_ops.shape(tensor, out_type=dtype)
    rows, columns = sizes[0], sizes[1]
    if padding is not None:
        lengths = _lengths_without(tensor, padding, dtype)
    flat = array_ops.reshape(tensor, array_ops.concat([[-1], array_ops.shape(tensor)[2:]], 0))
    flat.set_shape(tensor_shape.TensorShape([_product(tensor.shape.as_list()[:2])] + tensor.shape.as_list()[2:]))
    if lengths is None:
        return _uniform(cls, flat, tensor, rows, columns, dtype)
    lengths = math_ops.cast(_splits(lengths, None, "lengths"), dtype)
    lengths = math_ops.minimum(math_ops.maximum(lengths, 0), columns) if padding is None else lengths
    keep = array_ops.sequence_mask(lengths, columns)
    return cls.from_row_lengths(array_ops.boolean_mask(tensor, keep), lengths, validate=False)


def _product(dims):
    return None if None in dims else int(np.prod(dims))


def _uniform(cls, flat, tensor, rows, columns, dtype):
    """Returns a tensor whose second dimension becomes a ragged one of equal rows."""
    made = cls.from_row_splits(flat, math_ops.range(rows + 1) * columns, validate=False)
    known = tensor.shape.as_list()
    if known[0] is not None:
        made.row_splits.set_shape([known[0] + 1])
    width = convert_to_tensor(known[1], dtype) if known[1] is not None else columns
    return RaggedTensor(made.values, made.row_splits, True, uniform_row_length=width)


def _from_nested_lengths(cls, tensor, lengths, dtype):
    rank = len(lengths)
    outer = from_tensor(cls, tensor, lengths[0], None, 1, dtype)
    if rank == 1:
        return outer
    return outer.with_values(_from_nested_lengths(cls, outer.values, lengths[1:], dtype))


def _from_rank(cls, tensor, lengths, padding, ragged_rank, dtype):
    """Flattens the outer dimensions, and splits the last ragged one."""
    sizes = array_ops.shape(tensor, out_type=dtype)
    if lengths is not None:
        flat = array_ops.reshape(tensor, array_ops.concat([[-1], array_ops.shape(tensor)[ragged_rank:]], 0))
        inner = from_tensor(cls, flat, lengths, None, 1, dtype)
    else:
        flat = array_ops.reshape(tensor, array_ops.concat([[-1], array_ops.shape(tensor)[ragged_rank:]], 0))
        flat.set_shape([_product(tensor.shape.as_list()[:ragged_rank])] + tensor.shape.as_list()[ragged_rank:])
        inner = from_tensor(cls, flat, None, padding, 1, dtype)
    for d in range(ragged_rank - 1, 0, -1):
        rows = math_ops.reduce_prod(sizes[:d])
        splits = math_ops.range(rows + 1) * sizes[d]
        known = _product(tensor.shape.as_list()[:d])
        if known is not None:
            splits.set_shape([known + 1])
        width = tensor.shape.as_list()[d]
        inner = RaggedTensor(inner, splits, True, uniform_row_length=None if width is None else convert_to_tensor(width, dtype))
    return inner


def _lengths_without(tensor, padding, dtype):
    """Returns the length of each row without the padding at its end."""
    padding = convert_to_tensor(padding, tensor.dtype.base_dtype, name="padding")
    is_padding = math_ops.equal(tensor, padding)
    for _ in range(tensor.shape.ndims - 2):
        is_padding = math_ops.reduce_all(is_padding, axis=-1)
    columns = array_ops.shape(tensor, out_type=dtype)[1]
    places = math_ops.range(columns) + 1
    kept = array_ops.where(is_padding, array_ops.zeros_like(is_padding, dtype),
                           array_ops.zeros_like(is_padding, dtype) + places)
    return math_ops.reduce_max(array_ops.concat([kept, array_ops.zeros_like(kept[:, :1])], 1), axis=1)


def from_sparse(cls, st_input, dtype):
    if st_input.indices.shape.ndims is not None and st_input.dense_shape.shape.num_elements() not in (None, 2):
        raise ValueError("rank(st_input) must be 2.")
    indices = convert_to_tensor(st_input.indices, dtypes.int64)
    rows, places = math_ops.cast(indices[:, 0], dtype), math_ops.cast(indices[:, 1], dtype)
    count = math_ops.cast(convert_to_tensor(st_input.dense_shape)[0], dtype)
    made = cls.from_value_rowids(convert_to_tensor(st_input.values), rows, count, validate=False)
    starts = array_ops.gather(made.row_starts(), rows)
    expected = math_ops.range(array_ops.shape(places, out_type=dtype)[0]) - starts
    with control_dependencies([check_ops.assert_equal(places, expected, message="SparseTensor is not right-ragged")]):
        return made.with_values(array_ops.identity(made.values))


def merge_dims(values, outer, inner):
    """Returns the dimensions outer..inner of a tensor or a ragged tensor as one."""
    while outer < inner:
        values = _merged_with_next(values, outer)
        inner -= 1
    return values


def _merged_with_next(values, axis):
    """Merges dimension `axis` with the one after it."""
    if not isinstance(values, RaggedTensor):
        shape = array_ops.shape(values)
        made = array_ops.reshape(values, array_ops.concat([shape[:axis], [-1], shape[axis + 2:]], 0))
        known = values.shape.as_list()
        made.set_shape(known[:axis] + [_product(known[axis:axis + 2])] + known[axis + 2:])
        return made
    if axis == 0:
        return values.values
    if axis > 1:
        return values.with_values(_merged_with_next(values.values, axis - 1))
    below = values.values
    if isinstance(below, RaggedTensor):
        return RaggedTensor.from_row_splits(below.values, array_ops.gather(below.row_splits, values.row_splits), validate=False)
    width = array_ops.shape(below, out_type=values.row_splits.dtype.base_dtype)[1]
    return RaggedTensor.from_row_splits(_merged_with_next(below, 0), values.row_splits * width, validate=False)
