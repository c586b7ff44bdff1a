"""tf functions for shapes, slices, joining and splitting."""
import numpy as np

from weft._core.framework import dtypes, tensor_shape, wrap
from weft._core.framework.build import constant, constant_value, convert, convert_to_tensor, either, is_number, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, name_scope
from weft._core.framework.shape_values import constant_value_as_shape
from weft._core.ops.sparse import SparseTensor, SparseTensorValue
from weft._core.ops.variable_methods import sliced_assign

_Slice = slice  # Python's slice, which the function of that name hides below

wrap.functions("""
identity Identity input
ragged_fill_empty_rows RaggedFillEmptyRows value_rowids values nrows default_value
ragged_fill_empty_rows_grad RaggedFillEmptyRowsGrad reverse_index_map grad_values
reverse_v2 ReverseV2 tensor axis
tile Tile input:input multiples
broadcast_to BroadcastTo input shape
gather_nd_op GatherNd params indices
scatter_nd ScatterNd indices updates shape
stop_gradient StopGradient input
check_numerics CheckNumerics tensor message
unique_op Unique x out_idx=3
unique_with_counts UniqueWithCounts x out_idx=3
space_to_depth SpaceToDepth input block_size name=None data_format='NHWC'
depth_to_space DepthToSpace input block_size name=None data_format='NHWC'
space_to_batch_nd SpaceToBatchND input block_shape paddings
batch_to_space_nd BatchToSpaceND input block_shape crops
dynamic_stitch DynamicStitch indices data
dynamic_partition DynamicPartition data partitions num_partitions
bitcast Bitcast input type
reverse_sequence_op ReverseSequence input seq_lengths seq_dim batch_dim=0
edit_distance_op EditDistance hypothesis_indices hypothesis_values hypothesis_shape truth_indices truth_values truth_shape
""", globals())


def shape(input, name=None, out_type=dtypes.int32):
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            from weft._core.ops.math_ops import cast
            return cast(input.dense_shape, out_type)
        input = convert_to_tensor(input)
        known = input.shape
        if known.is_fully_defined():
            return convert(known.as_list(), out_type, scope, check=True)
        return op("Shape", scope, input=input, out_type=out_type)


def size(input, name=None, out_type=dtypes.int32):
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            from weft._core.ops.math_ops import reduce_prod
            return reduce_prod(op("Cast", None, x=input.dense_shape, DstT=as_dtype(out_type)), 0, name=scope)
        input = convert_to_tensor(input)
        if input.shape.is_fully_defined():
            return convert(input.shape.num_elements(), out_type, scope, check=True)
        return op("Size", scope, input=input, out_type=out_type)


def rank(input, name=None):
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return size(input.dense_shape, name=scope)
        input = convert_to_tensor(input)
        if input.shape.ndims is not None:
            return constant(input.shape.ndims, dtypes.int32, name=scope)
        return op("Rank", scope, input=input)


def shape_n(input, out_type=dtypes.int32, name=None):
    return op("ShapeN", name, input=input, out_type=out_type)


def reshape(tensor, shape, name=None):
    made = op("Reshape", name, tensor=tensor, shape=shape)
    return made


def expand_dims(input, axis=None, name=None, dim=None):
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return op("ExpandDims", name, input=input, dim=axis)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    axis = either("axis", axis, "squeeze_dims", squeeze_dims)
    axis = [axis] if is_number(axis) else axis
    return op("Squeeze", name, input=input, squeeze_dims=axis or [])


def transpose(a, perm=None, name="transpose", conjugate=False):
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        if perm is None:
            if a.shape.ndims is None:
                count = rank(a)
                from weft._core.ops.math_ops import range as range_of
                perm = (count - 1) - range_of(0, count, 1)
            else:
                perm = np.arange(a.shape.ndims)[::-1].astype(np.int32)
        return op("ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose", scope, x=a, perm=perm)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        n = a.shape.ndims
        if n is None:
            from weft._core.ops import math_ops
            last = rank(a)
            perm = concat((math_ops.range(last - 2, name="Range"), [last - 1, last - 2]), 0)
            return transpose(a, perm, conjugate=conjugate)
        if n < 2:
            raise ValueError("Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: %s" % (a.shape,))
        return transpose(a, list(range(n - 2)) + [n - 1, n - 2], conjugate=conjugate)


def concat(values, axis, name="concat"):
    """Joins tensors along an axis: tf.concat. The argument order of before 1.0, concat(axis, values), works too."""
    if isinstance(axis, (list, tuple)) and not isinstance(values, (list, tuple)):
        values, axis = axis, values
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            return identity(values[0], name=name)  # noqa: F821
    return op("ConcatV2", name, values=list(values), axis=axis)


def stack(values, axis=0, name="stack"):
    if axis == 0 and isinstance(values, (list, tuple)) and all(is_number(v) for v in values):
        return convert_to_tensor(values, name=name)
    if isinstance(values, Tensor):  # TensorFlow takes a tensor for its own rows.
        if axis == 0:
            return values
        rank = values.shape.ndims
        if rank is not None and not -rank <= axis < rank:
            raise ValueError("Argument `axis` = %s not in range [%d, %d)" % (axis, -rank, rank))
        raise TypeError("Expected list for 'values' argument to 'Pack' Op, not %s." % values)
    if axis == 0 and any(is_number(v) for v in values):
        return convert_to_tensor(list(values), name=name)
    return op("Pack", name, values=list(values), axis=axis)


def pack(values, axis=0, name="pack"):
    return stack(values, axis, name)


def unstack(value, num=None, axis=0, name="unstack"):
    if num is None:
        value = convert_to_tensor(value)
        rank = value.shape.ndims
        if rank is not None:
            if not -rank <= axis < rank:
                raise ValueError("Argument `axis` = %s not in range [%d, %d)" % (axis, -rank, rank))
            num = value.shape.as_list()[axis]
    if num is None:
        raise ValueError("Cannot infer argument `num` from shape %s" % value.shape)
    return op("Unpack", name, value=value, num=num, axis=axis)


def unpack(value, num=None, axis=0, name="unpack"):
    return unstack(value, num, axis, name)


def parallel_stack(values, name="parallel_stack"):
    with name_scope(name):
        first = convert_to_tensor(values[0])
        dims = [len(values), *first.shape.as_list()]
        return op("ParallelConcat", values=[expand_dims(v, 0) for v in values], shape=dims)


def split(value, num_or_size_splits=None, axis=0, num=None, name="split", split_dim=None, num_split=None):
    """Splits a tensor along an axis: tf.split.

    The argument order of before 1.0, split(split_dim, num_split, value), works too.
    """
    if split_dim is not None:
        axis, num_or_size_splits = split_dim, num_split
    if isinstance(value, int) and isinstance(axis, Tensor):
        value, axis = axis, value
    if is_number(num_or_size_splits) and num_or_size_splits == int(num_or_size_splits) and not isinstance(num_or_size_splits, float):
        return op("Split", name, split_dim=axis, num_split=int(num_or_size_splits), value=value)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.ndims == 0 and sizes.op.type == "Const":
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: %s" % (
            num_or_size_splits,))
    if num is None:
        num = sizes.shape.as_list()[0]
    return op("SplitV", name, value=value, size_splits=sizes, split_dim=axis, num_split=num)


def slice(input_, begin, size, name=None):
    return op("Slice", name, input=input_, begin=begin, size=size)


def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                  shrink_axis_mask=0, var=None, name=None):
    if strides is None:
        strides = ones_like(begin)
    where = dict(begin=begin, end=end, strides=strides, begin_mask=begin_mask, end_mask=end_mask,
                 ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask)
    made = op("StridedSlice", name, input=input_, **where)
    if var is not None:
        made.assign = sliced_assign(var, made, where)
    return made


newaxis = None


def _dims_type(values):
    """Returns the type of a constant of sizes: int32 if they fit, as in TensorFlow."""
    return dtypes.int32 if all(-2**31 <= v < 2**31 for v in values) else dtypes.int64


def _packed(values):
    """Returns the bounds of a slice as one tensor, which is a constant if all of them are numbers."""
    if any(isinstance(v, Tensor) or hasattr(v, "_ref") for v in values):
        return stack(values, name="stack")
    if values and all(isinstance(v, bool) for v in values):
        raise TypeError("Value passed to parameter 'begin' has DataType bool not in list of allowed values: int16, int32, int64")
    return constant(values, _dims_type(values), name="stack")


def _same_type(parts):
    """Returns the bounds of a slice in one type, which is int64 if one of them is."""
    if all(p.dtype.base_dtype == parts[0].dtype.base_dtype for p in parts):
        return parts
    from weft._core.ops.math_ops import cast
    return [cast(p, dtypes.int64) for p in parts]


def _check_index(index):
    """Raises TypeError for an index that is neither an integer nor a tensor of integers."""
    if isinstance(index, Tensor) or hasattr(index, "_ref"):
        if index.dtype.base_dtype in (dtypes.int16, dtypes.int32, dtypes.int64) and index.shape.ndims != 1:
            return
    elif hasattr(index, "__index__"):
        return
    raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
                    "valid indices, got %r" % (index,))


def slice_helper(tensor, item, var=None):
    """Returns tensor[item] as a StridedSlice with TensorFlow's masks."""
    if isinstance(item, bool) or isinstance(item, (Tensor, np.ndarray)) and getattr(item, "dtype", None) in (dtypes.bool, np.bool_):
        return boolean_mask(tensor, item)
    items = item if isinstance(item, (list, tuple)) else (item,)
    begin, end, strides, masks = [], [], [], dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for i, s in enumerate(items):
        bit = 1 << i
        if isinstance(s, _Slice):
            for bound in (s.start, s.stop, s.step):
                if bound is not None:
                    _check_index(bound)
            begin.append(0 if s.start is None else s.start)
            end.append(0 if s.stop is None else s.stop)
            strides.append(1 if s.step is None else s.step)
            masks["begin"] |= bit if s.start is None else 0
            masks["end"] |= bit if s.stop is None else 0
        elif s is Ellipsis or s is None:
            begin.append(0)
            end.append(0)
            strides.append(1)
            masks["ellipsis" if s is Ellipsis else "new_axis"] |= bit
        else:
            _check_index(s)
            begin.append(s)
            end.append(s + 1)
            strides.append(1)
            masks["shrink_axis"] |= bit
    with name_scope(None, "strided_slice", [tensor]) as scope:
        if not begin:
            begin = end = strides = []
        parts = [_packed([int(v) if isinstance(v, tensor_shape.Dimension) else v for v in p]) for p in (begin, end, strides)]
        return strided_slice(convert_to_tensor(tensor), *_same_type(parts), begin_mask=masks["begin"], end_mask=masks["end"],
                             ellipsis_mask=masks["ellipsis"], new_axis_mask=masks["new_axis"],
                             shrink_axis_mask=masks["shrink_axis"], var=var, name=scope)


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    from weft._core.ops.math_ops import reduce_prod
    with name_scope(name, values=[tensor, mask]):
        tensor, mask = convert_to_tensor(tensor, name="tensor"), convert_to_tensor(mask, name="mask")
        n = mask.shape.ndims
        if n is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.")
        if n == 0:
            raise ValueError("mask cannot be scalar.")
        axis = 0 if axis is None else axis
        known = constant_value(axis)
        if known is not None and tensor.shape.ndims is not None:
            tensor.shape[int(known):int(known) + n].assert_is_compatible_with(mask.shape)
        leading = reduce_prod(shape(tensor)[axis:axis + n], [0])
        tensor = reshape(tensor, concat([shape(tensor)[:axis], [leading], shape(tensor)[axis + n:]], 0))
        # For numbers, Where finds those that are not 0.
        picked = squeeze(op("Where", None, input=reshape(mask, [-1])), axis=[1])
        return gather(tensor, picked, axis=axis)


def where(condition, x=None, y=None, name=None):
    if x is None and y is None:
        return op("Where", name, input=convert_to_tensor(condition, name="condition", preferred_dtype=dtypes.bool))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return op("Select", name, condition=condition, t=x, e=y)


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    if axis is None:
        axis = batch_dims
    if hasattr(params, "handle") and batch_dims == 0 and constant_value(axis) == 0:
        return params.sparse_read(indices, name=name)
    return op("GatherV2", name, params=params, indices=indices, axis=axis, batch_dims=batch_dims)


def gather_nd(params, indices, name=None, batch_dims=0):
    if batch_dims == 0 and hasattr(params, "handle"):
        return params.gather_nd(indices, name=name)
    if batch_dims == 0:
        return gather_nd_op(params, indices, name=name)  # noqa: F821
    if batch_dims < 0:
        raise ValueError("gather_nd: batch_dims is %d; it must not be negative" % batch_dims)
    with name_scope(name, "BatchGatherND", [params, indices]):
        params, indices = convert_to_tensor(params), convert_to_tensor(indices)
        rank = indices.shape.ndims
        if rank is None or batch_dims >= rank:
            raise ValueError("gather_nd: batch_dims (%d) must be less than the rank of indices (%s)" % (batch_dims, rank))
        return gather_nd_op(params, concat([_batch_positions(indices, batch_dims), indices], -1))  # noqa: F821


def _batch_positions(indices, batch_dims):
    """Returns for each row of indices its position in the first batch_dims dimensions."""
    from weft._core.ops import math_ops
    dims, ones = shape(indices)[:-1], [1] * (indices.shape.ndims - 1)
    places = []
    for i in range(batch_dims):
        line = math_ops.cast(math_ops.range(dims[i]), indices.dtype.base_dtype)
        places.append(broadcast_to(reshape(line, ones[:i] + [-1] + ones[i + 1:]), dims))  # noqa: F821
    return stack(places, -1)


def gather_rows_count(dense_shape):
    """Returns the first dimension of a shape given as a tensor."""
    known = constant_value(dense_shape)
    if known is not None:
        return constant(int(known[0]), _dims_type(known[:1].tolist()))
    return slice_helper(convert_to_tensor(dense_shape), 0)


def _below_zero(shape):
    """Returns whether a list of sizes has one below zero."""
    return isinstance(shape, (list, tuple, np.ndarray)) and any(isinstance(d, (int, np.integer)) and d < 0 for d in shape)


def _shape_tensor(shape, name="shape"):
    if isinstance(shape, Tensor):
        return shape
    if hasattr(shape, "_ref"):
        return convert_to_tensor(shape)
    if isinstance(shape, (list, tuple)) and any(isinstance(d, Tensor) for d in shape):
        return convert_to_tensor(list(shape), name=None if name == "shape_as_tensor" else name)
    if _below_zero(shape):  # The shape rule of the op reports the error, or the op itself when it runs.
        return constant(shape, dtypes.int32, name=name)
    if name == "shape" and isinstance(shape, (list, tuple, np.ndarray)) and any(isinstance(d, (float, np.floating)) for d in shape):
        return convert_to_tensor(shape, name=name)  # The op refuses the type.
    dims = tensor_shape.as_shape(shape).as_list()
    if None in dims:
        raise ValueError("Cannot convert a partially known TensorShape to a Tensor: %s" % tensor_shape.as_shape(shape))
    if isinstance(shape, np.ndarray) and shape.dtype == np.int64 and name == "shape":
        return constant(shape, dtypes.int64, name=name)
    return constant(dims, _dims_type(dims), name=name)


def fill(dims, value, name=None):
    return op("Fill", name, dims=dims, value=value)


def _whole(shape, dtype, name, value):
    """Makes tf.zeros and tf.ones: a Const if it is small, otherwise a Fill, as in TensorFlow 2.15."""
    dtype = as_dtype(dtype).base_dtype
    default = "ones" if value else "zeros"
    with name_scope(name, default, [shape] if isinstance(shape, Tensor) else None) as scope:
        if value == 0 and dtype == dtypes.bool:
            value = False
        elif value == 0 and dtype == dtypes.string:
            value = ""
        elif dtype == dtypes.bool:
            value = True
        if not isinstance(shape, Tensor) and not hasattr(shape, "_ref"):
            try:
                alone = isinstance(shape, (int, np.integer))
                dims = tensor_shape.unknown_shape() if alone or _below_zero(shape) else tensor_shape.as_shape(shape)
                if dims.is_fully_defined() and (dims.num_elements() < 1000):
                    return constant(value, dtype, shape=dims.as_list(), name=scope)
            except TypeError:
                pass
            shape = _shape_tensor(shape, "shape_as_tensor")
        if shape.shape.ndims == 0:
            shape = reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=scope)


def zeros(shape, dtype=dtypes.float32, name=None):
    return _whole(shape, dtype, name, 0)


def ones(shape, dtype=dtypes.float32, name=None):
    return _whole(shape, dtype, name, 1)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    with name_scope(name, "zeros_like", [tensor]) as scope:
        if not hasattr(tensor, "handle") or not tensor.shape.is_fully_defined():
            tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.shape.is_fully_defined() and tensor.dtype.base_dtype != dtypes.variant:
            return zeros(tensor.shape, dtype or tensor.dtype, name=scope)
        if dtype is not None and as_dtype(dtype) != tensor.dtype.base_dtype:
            return zeros(shape(tensor), dtype, name=scope)
        return op("ZerosLike", scope, x=tensor)


def ones_like(tensor, dtype=None, name=None, optimize=True):
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.shape.is_fully_defined():
            known = tensor.shape.as_list()
            dims = constant(known, _dims_type(known), name="Shape/shape_as_tensor")
        else:
            dims = shape(tensor)
        return ones(dims, dtype or tensor.dtype.base_dtype, name=scope)


def placeholder(dtype, shape=None, name=None):
    made = op("Placeholder", name, dtype=dtype, shape=tensor_shape.TensorShape(shape))
    return made


def placeholder_with_default(input, shape, name=None):
    return op("PlaceholderWithDefault", name, input=input, shape=tensor_shape.TensorShape(shape))


def sparse_placeholder(dtype, shape=None, name=None):
    """Returns a SparseTensor whose parts are placeholders. shape is a shape or a tensor of one."""
    def named(part):
        return name + "/" + part if name else None
    n = known = None
    if shape is None:
        dense = placeholder(dtypes.int64, [None], named("shape"))
    elif isinstance(shape, Tensor):
        n = shape.shape[0].value if shape.shape.ndims else None
        dense = placeholder_with_default(shape, shape.shape, named("shape"))
    else:
        n = len(shape)
        # TensorFlow treats -1 as unknown here.
        known = tensor_shape.TensorShape([None if isinstance(d, int) and d == -1 else d for d in shape])
        default = constant([-1 if d is None else d for d in known.as_list()], dtypes.int64, name=named("shape_default") or "Const")
        dense = placeholder_with_default(default, [n], named("shape"))
    values = placeholder(dtype, [None], named("values"))
    made = SparseTensor(placeholder(dtypes.int64, [None, n], named("indices")), values, dense)
    made._declared = constant_value_as_shape(shape) if isinstance(shape, Tensor) else known
    return made


def _one_hot_type(on_value, off_value):
    """Returns the type of the values that were given, and float32 if there are none."""
    from weft._core.ops.math_ops import convert_type
    given = [v for v in (on_value, off_value) if v is not None]
    known = [convert_type(v) for v in given]
    if len(known) == 2 and known[0] != known[1]:
        raise TypeError("dtype %r of on_value does not match dtype %r of off_value" % tuple(known))
    return known[0] if known else dtypes.float32


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        if dtype is None:
            dtype = _one_hot_type(on_value, off_value)
        on_value = constant(1, dtype, name="on_value") if on_value is None else convert_to_tensor(on_value, dtype)
        off_value = constant(0, dtype, name="off_value") if off_value is None else convert_to_tensor(off_value, dtype)
        return op("OneHot", scope, indices=indices, depth=depth, on_value=on_value, off_value=off_value,
                  axis=-1 if axis is None else axis)


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    mode = mode.upper()
    if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError("Unknown padding mode: %s" % mode)
    if mode != "CONSTANT":
        made = op("MirrorPad", name, input=tensor, paddings=paddings, mode=mode)
    elif not isinstance(constant_values, Tensor) and constant_values == 0:
        made = op("Pad", name, input=tensor, paddings=paddings)
    else:
        made = op("PadV2", name, input=tensor, paddings=paddings, constant_values=constant_values)
    given = made.op.inputs[0].shape
    if isinstance(paddings, (list, tuple)) and given.ndims == len(paddings) and not made.shape.is_fully_defined():
        made.set_shape(_padded_dims(given.as_list(), paddings))
    return made


def _padded_dims(dims, paddings):
    """Returns the sizes that are known even if some paddings are tensors."""
    def size(n, pads):
        known = n is not None and isinstance(pads, (list, tuple)) and all(is_number(p) for p in pads)
        return n + sum(int(p) for p in pads) if known else None
    return [size(n, pads) for n, pads in zip(dims, paddings)]


def reverse(tensor, axis, name=None, dims=None):
    axis = either("axis", axis, "dims", dims)
    if isinstance(axis, (list, tuple)) and axis and isinstance(axis[0], bool):
        axis = [i for i, on in enumerate(axis) if on]
    return op("ReverseV2", name, tensor=tensor, axis=[axis] if is_number(axis) else axis)


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    return op("ReverseSequence", name, input=input, seq_lengths=seq_lengths, seq_dim=either("seq_axis", seq_axis, "seq_dim", seq_dim),
              batch_dim=either("batch_axis", batch_axis, "batch_dim", batch_dim) or 0)


def unique(x, out_idx=dtypes.int32, name=None):
    return unique_op(x, out_idx, name)  # noqa: F821


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    from weft._core.ops.math_ops import cast, less, reduce_max
    with name_scope(name, "SequenceMask", [lengths]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            longest = reduce_max(lengths)
            maxlen = op("Maximum", x=constant(0, longest.dtype.base_dtype), y=longest)
        maxlen = convert_to_tensor(maxlen)
        row = op("Range", start=constant(0, maxlen.dtype.base_dtype), limit=maxlen, delta=constant(1, maxlen.dtype.base_dtype))
        made = less(row, op("Cast", x=expand_dims(lengths, -1), DstT=maxlen.dtype.base_dtype))
        return cast(made, dtype)


def meshgrid(*args, **kwargs):
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError("'%s' is an invalid keyword argument for this function" % next(iter(kwargs)))
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij', got %r" % (indexing,))
    if not args:
        return []
    with name_scope(name, "meshgrid", args):
        n, order = len(args), list(range(len(args)))
        made = [reshape(stack(x) if isinstance(x, list) else x, [-1 if i == j else 1 for j in order]) for i, x in enumerate(args)]
        if indexing == "xy" and n > 1:
            made[0] = reshape(made[0], [1, -1] + [1] * (n - 2))
            made[1] = reshape(made[1], [-1, 1] + [1] * (n - 2))
        made = [convert_to_tensor(m) for m in made]
        sizes = [size(m) for m in made]
        whole = ones(sizes[1:2] + sizes[:1] + sizes[2:] if indexing == "xy" and n > 1 else sizes, made[0].dtype.base_dtype)
        return [m * whole for m in made]


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """Returns the paddings that make spatial sizes multiples of the blocks of `space_to_batch_nd`, and the crops that
    undo them.

    Args:
      input_shape: the spatial sizes, a vector of int32.
      block_shape: the sizes of the blocks, likewise.
      base_paddings: what is to be added before and after each dimension in any case; by default nothing.
      name: a name for the operation.
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtypes.int32, name="block_shape")
        n = block_shape.shape.with_rank(1)[0].value
        if n is None:
            raise ValueError("the length of block_shape must be known")
        if n == 0:
            return zeros([0, 2], dtypes.int32), zeros([0, 2], dtypes.int32)
        base = np.zeros([n, 2], np.int32) if base_paddings is None else base_paddings
        base = convert_to_tensor(base, dtypes.int32, name="base_paddings")
        sizes, blocks, known = (constant_value(t) for t in (input_shape, block_shape, base))
        if sizes is not None and blocks is not None and known is not None:
            extra = (blocks - (sizes + known.sum(1)) % blocks) % blocks
            paddings = np.stack([known[:, 0], known[:, 1] + extra], axis=1)
            crops = np.stack([np.zeros_like(extra), extra], axis=1)
            return constant(paddings, dtypes.int32, name="paddings"), constant(crops, dtypes.int32, name="crops")
        start, end = base[:, 0], base[:, 1]
        extra = (block_shape - (input_shape + start + end) % block_shape) % block_shape
        return stack([start, end + extra], axis=1, name="paddings"), stack([zeros_like(extra), extra], axis=1, name="crops")


def guarantee_const(input, name=None):
    return op("GuaranteeConst", name, input=input)


