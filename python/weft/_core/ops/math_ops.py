"""tf.* and tf.math.*: arithmetic, comparisons, reductions."""
import builtins

import numpy as np

from weft._core.framework import dtypes, library, tensor_shape, wrap
from weft._core.framework.build import constant, convert_to_tensor, either, is_number, is_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import IndexedSlices, Tensor, name_scope
from weft._core.ops.sparse import SparseTensor

wrap.functions("""
conv Conv input filter strides padding explicit_paddings=[] data_format='CHANNELS_LAST' dilations=[] batch_dims=1 groups=1
multiply Mul@Mul x y
subtract Sub@Sub x y
negative Neg x
sign Sign x
square Square x
sqrt Sqrt x
rsqrt Rsqrt x
exp Exp x
expm1 Expm1 x
log Log x
log1p Log1p x
sin Sin x
cos Cos x
tan Tan x
asin Asin x
acos Acos x
atan Atan x
atan2 Atan2 y x
sinh Sinh x
cosh Cosh x
tanh Tanh x
sigmoid Sigmoid x
erf Erf x
erfc Erfc x
lgamma Lgamma x
digamma Digamma x
floor Floor x
ceil Ceil x
rint Rint x
reciprocal Reciprocal x
maximum Maximum x y
minimum Minimum x y
mod FloorMod x y | floormod
floordiv_op FloorDiv x y
truncatediv TruncateDiv x y
truncatemod TruncateMod x y
realdiv RealDiv x y
squared_difference SquaredDifference x y
igamma Igamma a x
igammac Igammac a x
zeta Zeta x q
betainc Betainc a b x
equal_op Equal x y
less Less x y
less_equal LessEqual x y
greater Greater x y
greater_equal GreaterEqual x y
logical_and LogicalAnd x y
logical_or LogicalOr x y
logical_not LogicalNot x
is_finite IsFinite x
is_inf IsInf x
is_nan IsNan x
cross Cross a b
real_op Real input
invert_permutation InvertPermutation x
segment_sum SegmentSum data segment_ids
segment_mean SegmentMean data segment_ids
segment_max SegmentMax data segment_ids
segment_min SegmentMin data segment_ids
segment_prod SegmentProd data segment_ids
unsorted_segment_sum UnsortedSegmentSum data segment_ids num_segments
unsorted_segment_max UnsortedSegmentMax data segment_ids num_segments
sparse_matmul SparseMatMul a b transpose_a=False transpose_b=False a_is_sparse=False b_is_sparse=False
sparse_segment_sum SparseSegmentSum data indices segment_ids
sparse_segment_mean SparseSegmentMean data indices segment_ids
cumsum_op Cumsum x axis=0 exclusive=False reverse=False
cumprod_op Cumprod x axis=0 exclusive=False reverse=False
matrix_band_part MatrixBandPart input num_lower num_upper
diag Diag diagonal
diag_part DiagPart input
bincount_op Bincount arr size weights
polygamma Polygamma a x
""", globals())


def add(x, y, name=None):
    return op(add_op(x, y), name or "Add", x=x, y=y)


def add_op(x, y):
    """Returns Add, or AddV2 for the unsigned integers that only AddV2 supports."""
    wide = (dtypes.uint16, dtypes.uint32, dtypes.uint64, np.uint16, np.uint32, np.uint64)
    return "AddV2" if builtins.any(getattr(v, "dtype", None) in wide for v in (x, y)) else "Add"


def equal(x, y, name=None):
    return equal_op(x, y, name=name)  # noqa: F821


def not_equal(x, y, name=None):
    return op("NotEqual", name, x=x, y=y)


def abs(x, name=None):
    if isinstance(x, SparseTensor):
        return x.with_values(abs(x.values, name))
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex:
        return op("ComplexAbs", name or "Abs", x=x, Tout=x.dtype.base_dtype.real_dtype)
    return op("Abs", name, x=x)


def pow(x, y, name=None):
    return op("Pow", name, x=x, y=y)


def round(x, name=None):
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else op("Round", name, x=x)


def cast(x, dtype, name=None):
    dtype = as_dtype(dtype).base_dtype
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, cast(x.values, dtype, name=name), x.dense_shape)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, dtype, name=name), x.indices, x.dense_shape)
    if (isinstance(x, Tensor) or hasattr(x, "handle")) and x.dtype.base_dtype == dtype:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return x if x.dtype.base_dtype == dtype else op("Cast", scope, x=x, DstT=dtype)


def saturate_cast(value, dtype, name=None):
    with name_scope(name, "saturate_cast", [value]) as scope:
        value, dtype = convert_to_tensor(value, name="value"), as_dtype(dtype).base_dtype
        return library.helper("saturate_cast", scope, [value, float(dtype.as_datatype_enum)])


def _to(name, dtype):
    def convert(x, name=name):
        return cast(x, dtype, name=name)
    convert.__name__ = name
    return convert


to_float, to_double = _to("ToFloat", dtypes.float32), _to("ToDouble", dtypes.float64)
to_int32, to_int64 = _to("ToInt32", dtypes.int32), _to("ToInt64", dtypes.int64)
to_bfloat16 = _to("ToBFloat16", dtypes.bfloat16)


def _divided_as(dtype):
    """Returns the type in which integers are divided by `/`, or None for types that are kept."""
    wider = {4: dtypes.float32, 6: dtypes.float32, 5: dtypes.float32, 17: dtypes.float32,
             3: dtypes.float64, 9: dtypes.float64, 22: dtypes.float64, 23: dtypes.float64}
    return wider.get(dtype.as_datatype_enum)


def widened(x, y):
    """Returns both operands of a division; integers are converted to the floating-point type in which they are divided.
    """
    x = convert_to_tensor(x, name="x")
    y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
    if x.dtype.base_dtype != y.dtype.base_dtype:
        raise TypeError("x and y must have the same dtype, got %r != %r" % (x.dtype, y.dtype))
    to = _divided_as(x.dtype.base_dtype)
    return (x, y) if to is None else (cast(x, to), cast(y, to))


def truediv(x, y, name=None):
    with name_scope(name, "truediv", [x, y]) as scope:
        x, y = widened(x, y)
        return op("RealDiv", scope, x=x, y=y)


def div_no_nan(x, y, name=None):
    """Returns x / y, and 0 where y is 0.

    Args:
      x: the numerators.
      y: the denominators.
      name: a name for the operation.
    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        if not is_tensor(x) and is_tensor(y):
            x = convert_to_tensor(x, dtype_hint=y.dtype.base_dtype, name="x")
        x, y = widened(x, y)
        return op("DivNoNan", scope, x=x, y=y)


def divide(x, y, name=None):
    if name is not None:
        return truediv(x, y, name)
    return convert_to_tensor(x, dtype=y.dtype.base_dtype if isinstance(y, Tensor) else None) / y


def div(x, y, name=None):
    """Divides as Python 2 does: integers stay integers."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
        if x.dtype.is_floating or x.dtype.is_complex:
            return op("RealDiv", scope, x=x, y=y)
        return op("FloorDiv", scope, x=x, y=y)


def floordiv(x, y, name=None):
    with name_scope(name, "floordiv", [x, y]) as scope:
        return op("FloorDiv", scope, x=x, y=y)


floor_div = floordiv


def logical_xor(x, y, name="LogicalXor"):
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)  # noqa: F821


def scalar_mul(scalar, x, name=None):
    if isinstance(x, IndexedSlices):
        return IndexedSlices(scalar * x.values, x.indices, x.dense_shape)
    x = convert_to_tensor(x)
    return op("Mul", name, x=convert_to_tensor(scalar, x.dtype.base_dtype, name="scalar"), y=x)


def add_n(inputs, name=None):
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError("inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape")
    made = [convert_to_tensor(x) for x in inputs]
    if len(made) == 1:
        if name:
            return op("Identity", name, input=made[0])
        return made[0]
    return op("AddN", name, inputs=made)


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    refused = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(refused)
    made = [convert_to_tensor(x) for x in inputs]
    merged = tensor_shape.as_shape(shape)
    for x in made:
        if x.dtype.base_dtype != made[0].dtype.base_dtype:
            raise ValueError(refused)
        merged = merged.merge_with(x.shape)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) != made[0].dtype.base_dtype:
        raise TypeError("tensor_dtype is %s, but input is of type %s" % (tensor_dtype, made[0].dtype))
    return add_n(made, name=name)


def _batched_product(a, b):
    """Returns the op for products of many matrices: the first version, which any server has, if nothing is broadcast."""
    batches = [t.shape[:-2] if t.shape.ndims is not None else t.shape for t in (a, b)]
    same = all(s.is_fully_defined() for s in batches) and batches[0].as_list() == batches[1].as_list()
    return "BatchMatMul" if same and a.dtype.base_dtype != dtypes.int16 else "BatchMatMulV2"


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, output_type=None, name=None):
    for side, turned, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if turned and adjoint:
            raise ValueError("Only one of `transpose_%s` and `adjoint_%s` can be True." % (side, side))
    with name_scope(name, "MatMul", [a, b]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b", dtype_hint=a.dtype.base_dtype)
        ranks = a.shape.ndims, b.shape.ndims
        if transpose_a and adjoint_a:
            raise ValueError("Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`=%s, "
                             "`adjoint_a`=%s." % (transpose_a, adjoint_a))
        if transpose_b and adjoint_b:
            raise ValueError("Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`=%s, "
                             "`adjoint_b`=%s." % (transpose_b, adjoint_b))
        flips = {"x": bool(transpose_a or adjoint_a), "y": bool(transpose_b or adjoint_b)}
        batched = [r is None or r > 2 for r in ranks]
        # The batched ops take adjoints and MatMul takes transposes; the requested operation differs by a conjugate.
        a = conj(a) if (transpose_a if any(batched) else adjoint_a) else a
        b = conj(b) if (transpose_b if any(batched) else adjoint_b) else b
        if any(batched):
            return op(_batched_product(a, b), scope, x=a, y=b, adj_x=flips["x"], adj_y=flips["y"])
        return op("MatMul", scope, a=a, b=b, transpose_a=flips["x"], transpose_b=flips["y"])


def batch_matmul(x, y, adj_x=False, adj_y=False, name=None):
    return op("BatchMatMul", name, x=x, y=y, adj_x=adj_x, adj_y=adj_y)


def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    axis = either("axis", axis, "dimension", dimension)
    axis = 0 if axis is None else axis
    return op("ArgMax", name, input=input, dimension=axis, output_type=output_type)


def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    axis = either("axis", axis, "dimension", dimension)
    axis = 0 if axis is None else axis
    return op("ArgMin", name, input=input, dimension=axis, output_type=output_type)


def arg_max(input, dimension, output_type=dtypes.int64, name=None):
    return op("ArgMax", name, input=input, dimension=dimension, output_type=output_type)


def arg_min(input, dimension, output_type=dtypes.int64, name=None):
    return op("ArgMin", name, input=input, dimension=dimension, output_type=output_type)


def range(start, limit=None, delta=1, dtype=None, name="range"):
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        found = dtype and as_dtype(dtype)
        if found is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
            kinds = [convert_type(v) for v in (start, limit, delta)]
            found = max(kinds, key=lambda d: order.index(d) if d in order else 0)
        # As in TensorFlow, the constants are made in their own type and then cast.
        own = dtype is None and found == dtypes.int64
        parts = [convert_to_tensor(v, name=n) if isinstance(v, Tensor) else constant(v, None if own else found, name=n)
                 for v, n in ((start, "start"), (limit, "limit"), (delta, "delta"))]
        return op("Range", scope, start=cast(parts[0], found), limit=cast(parts[1], found), delta=cast(parts[2], found))


def convert_type(value):
    """Returns the type that a Python value would have as a tensor."""
    if hasattr(value, "dtype"):
        return as_dtype(value.dtype).base_dtype
    if isinstance(value, float):
        return dtypes.float32
    for kind, made in ((bool, dtypes.bool), ((str, bytes), dtypes.string), (type(1j), dtypes.complex128)):
        if isinstance(value, kind):
            return made
    return dtypes.int32 if not isinstance(value, int) or -2**31 <= value < 2**31 else dtypes.int64


def linspace(start, stop, num, name=None, axis=0):
    """Returns num evenly spaced numbers from start to stop.

    Args:
      start: the first number, or a tensor of them.
      stop: the last number, or a tensor of them; the shapes broadcast.
      num: how many numbers.
      name: a name for the operation.
      axis: of tensors, the dimension of the result along which the numbers lie.
    """
    from weft._core.ops import array_ops
    with name_scope(name, "linspace", [start, stop]):
        start = convert_to_tensor(start, name="start")
        stop = convert_to_tensor(stop, start.dtype, name="stop")
        num = op("Cast", x=convert_to_tensor(num, name="num"), DstT=dtypes.int32)
        op("Cast", x=num, DstT=start.dtype.base_dtype)
        whole = op("BroadcastArgs", s0=array_ops.shape(start), s1=array_ops.shape(stop))
        ends = [op("BroadcastTo", input=end, shape=whole) for end in (start, stop)]
        first, last = [array_ops.expand_dims(end, axis) for end in ends]
        return _between(first, last, num, axis)


def _between(first, last, num, axis):
    """Returns num slices from first to last along the axis, in which both have size 1; the ends are first and last exactly."""
    from weft._core.ops import array_ops
    sizes = array_ops.shape(first)
    rank = array_ops.shape(sizes)[0]
    axis = _where(axis >= 0, axis, rank + axis)
    inner = maximum(num - 2, 0)  # noqa: F821
    steps = maximum(num - 1, 1)  # noqa: F821
    delta = (last - first) / cast(steps, first.dtype.base_dtype)
    first, last = cast(first, delta.dtype), cast(last, delta.dtype)
    limit = _where(num >= 0, steps, -1)
    numbers = cast(range(1, limit, dtype=dtypes.int64), delta.dtype)
    along = _where(equal(axis, range(rank)), inner, 1)
    middle = first + delta * array_ops.reshape(numbers, along)
    parts = array_ops.concat([first, middle, last], axis)
    begin = array_ops.zeros_like(sizes)
    size = array_ops.concat([sizes[0:axis], array_ops.reshape(num, [1]), sizes[axis + 1:]], 0)
    return array_ops.slice(parts, begin, size)


def _where(condition, t, e):
    return op("SelectV2", condition=condition, t=t, e=e)


lin_space = linspace


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    with name_scope(name, "Cumsum", [x]) as scope:
        return cumsum_op(convert_to_tensor(x, name="x"), axis, exclusive, reverse, name=scope)  # noqa: F821


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    with name_scope(name, "Cumprod", [x]) as scope:
        return cumprod_op(convert_to_tensor(x, name="x"), axis, exclusive, reverse, name=scope)  # noqa: F821


def complex(real, imag, name=None):
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    out = dtypes.complex128 if real.dtype.base_dtype == dtypes.float64 else dtypes.complex64
    return op("Complex", name, real=real, imag=imag, Tout=out)


def real(input, name=None):
    input = convert_to_tensor(input)
    if input.dtype.is_complex:
        return op("Real", name, input=input, Tout=input.dtype.real_dtype)
    small = input.dtype.base_dtype in (dtypes.float8_e5m2, dtypes.float8_e4m3fn, dtypes.int4, dtypes.uint4)
    if small or not (_is_numeric(input.dtype) or input.dtype.is_quantized):
        raise TypeError("input must be a numeric tensor, but got tensor with dtype %r" % input.dtype)
    return input


def imag(input, name=None):
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return op("Imag", scope, input=input, Tout=input.dtype.real_dtype)
        from weft._core.ops.array_ops import zeros_like
        return zeros_like(input)


def conj(x, name=None):
    x = convert_to_tensor(x)
    if x.dtype.is_complex:
        return op("Conj", name, input=x)
    if not _is_numeric(x.dtype):
        raise TypeError("Expected numeric or variant tensor, got dtype %r." % x.dtype)
    return x


def _is_numeric(dtype):
    return dtype.is_floating or dtype.is_integer


# ---- reductions ----

def _axes(x, axis):
    if axis is not None:
        return axis
    if x.shape.ndims:
        return constant(np.arange(x.shape.ndims), dtype=dtypes.int32)
    from weft._core.ops.array_ops import rank as rank_of
    return range(0, rank_of(x))


def _reduction(public, kind, converts=None):
    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = either("axis", axis, "reduction_indices", reduction_indices)
        keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
        x = input_tensor  # The node itself reads a resource variable.
        if not hasattr(x, "handle"):
            x = x if isinstance(x, Tensor) else convert_to_tensor(x, None if is_tensor(x) else converts, name="input_tensor")
        made = op(kind, name, input=x, reduction_indices=_axes(x, axis), keep_dims=keepdims)
        # The rank is unknown, and all dimensions are reduced.
        if axis is None and not keepdims and made.shape.ndims is None:
            made.set_shape([])
        return made
    reduce.__name__ = public
    return reduce


reduce_sum = _reduction("reduce_sum", "Sum")
reduce_mean = _reduction("reduce_mean", "Mean")
reduce_prod = _reduction("reduce_prod", "Prod")
reduce_max = _reduction("reduce_max", "Max")
reduce_min = _reduction("reduce_min", "Min")
reduce_all = _reduction("reduce_all", "All", dtypes.bool)
reduce_any = _reduction("reduce_any", "Any", dtypes.bool)


def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=dtypes.int64, name=None, reduction_indices=None,
                  keep_dims=None, input=None):
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    input_tensor = either("input", input, "input_tensor", input_tensor)
    from weft._core.ops import array_ops
    with name_scope(name, "count_nonzero", [input_tensor]):
        x = convert_to_tensor(input_tensor, name="input")
        hits = cast(not_equal(x, array_ops.zeros([], x.dtype.base_dtype)), dtypes.int64)
        return cast(reduce_sum(hits, axis, keepdims, reduction_indices=reduction_indices), dtype)


def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        top = reduce_max(input_tensor, axis=axis, keepdims=True)
        top = op("StopGradient", input=op("Select", condition=is_finite(top), t=top,  # noqa: F821
                                          e=op("ZerosLike", x=top)))
        total = log(reduce_sum(exp(subtract(input_tensor, top)), axis=axis, keepdims=keepdims))  # noqa: F821
        if not keepdims:
            top = op("Reshape", tensor=top, shape=op("Shape", input=total))
        return op("Add", scope, x=total, y=top)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    with name_scope(name, "reduce_std", [input_tensor]):
        return sqrt(reduce_variance(convert_to_tensor(input_tensor), axis, keepdims))  # noqa: F821


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    with name_scope(name, "reduce_variance", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor)
        kind = input_tensor.dtype.base_dtype
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        if kind.is_integer:
            raise TypeError("Input must be either real or complex. Received integer type %s." % kind)
        apart = input_tensor - means
        squares = real(multiply(conj(apart), apart)) if kind.is_complex else square(apart)  # noqa: F821
        return reduce_mean(squares, axis=axis, keepdims=keepdims)


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    axes = _norm_axes(ord, axis)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        made = _norm_kept(x, ord, axes)
        if keepdims:
            return made
        from weft._core.ops.array_ops import squeeze
        return squeeze(made, axes)


def _norm_axes(ord, axis):
    """Returns None, one axis or two axes as a tuple; raises ValueError for a norm that they do not have."""
    if isinstance(axis, (tuple, list)) and len(axis) == 2:
        if any(not isinstance(a, (int, np.integer)) for a in axis) or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers, got %s" % (axis,))
        known = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in known:
            raise ValueError("'ord' must be a supported matrix norm in %s, got %s" % (known, ord))
        return tuple(axis)
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers, got %s" % (axis,))
    if ord not in ("euclidean", 1, 2, np.inf) and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
        raise ValueError("'ord' must be a supported vector norm, got %s" % ord)
    return None if axis is None else (axis,)


def _norm_kept(x, ord, axes):
    """Returns the norm, with the reduced axes kept at size 1."""
    matrix = axes is not None and len(axes) == 2
    if matrix and ord == 2:
        return _largest_singular_value(x, axes)
    if ord in ("fro", "euclidean", 2):
        return sqrt(reduce_sum(x * conj(x), axes, True))  # noqa: F821
    size = abs(x)
    if ord == 1:
        sums = reduce_sum(size, axes[0] if axes else None, True)
        return reduce_max(sums, axes[1], True) if matrix else sums
    if ord == np.inf:
        size = reduce_sum(size, axes[1], True) if matrix else size
        return reduce_max(size, axes[0] if axes else None, True)
    return pow(reduce_sum(pow(size, ord), axes, True), 1.0 / ord)


def _largest_singular_value(x, axes):
    """Returns the 2-norm of matrices. Their two axes are moved to the end, and the result keeps both at size 1."""
    from weft._core.ops.array_ops import expand_dims, transpose
    from weft._core.ops.linalg_solve import svd
    if x.shape.ndims is None:
        raise ValueError("tf.norm(ord=2) of matrices needs a tensor of known rank")
    rank = x.shape.ndims
    rows, columns = (a % rank for a in axes)
    rest = [a for a in builtins.range(rank) if a not in (rows, columns)]
    value = svd(transpose(x, rest + [rows, columns]), compute_uv=False)
    made = reduce_max(value, -1)
    for axis in sorted((rows, columns)):
        made = expand_dims(made, axis)
    return made


def _einsum_subscripts(equation, inputs):
    """Returns the labels of each input and of the result.

    Without an arrow, the result has the labels that occur once, in order.
    """
    left, arrow, out = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if not left.replace("...", "").replace(",", "").isalpha() and left.replace("...", "").replace(",", "") or not (
            out.replace("...", "").isalpha() or not out.replace("...", "")):
        raise ValueError("Equation contains invalid characters or more than one '->': %s" % equation)
    if len(parts) != len(inputs):
        raise ValueError("Got %d arguments for equation \"%s\", expecting %d" % (len(inputs), equation, len(parts)))
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        out = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return parts, out


def einsum(equation, *inputs, **kwargs):
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError("Invalid keyword arguments for this function: %s" % ", ".join(sorted(kwargs)))
    inputs = list(inputs[0]) if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) else list(inputs)
    parts, out = _einsum_subscripts(equation, inputs)
    with name_scope(name, "einsum", inputs):
        tensors = [x if hasattr(x, "handle") else convert_to_tensor(x) for x in inputs]
        # Contracts two tensors at a time, keeping the labels that the others and the result need.
        while len(tensors) > 2:
            needed = set("".join(parts[2:] + [out]).replace(".", ""))
            kept = "".join(dict.fromkeys(c for c in (parts[0] + parts[1]).replace(".", "") if c in needed))
            kept = ("..." if "..." in parts[0] + parts[1] else "") + kept
            made = op("Einsum", None, inputs=tensors[:2], equation="%s,%s->%s" % (parts[0], parts[1], kept))
            tensors, parts = [made] + tensors[2:], [kept] + parts[2:]
        return op("Einsum", None, inputs=tensors, equation="%s->%s" % (",".join(parts), out))


def _dot_axes(a, axes):
    """Returns the axes of both operands to sum over: two lists, or two tensors if they are known only in the run."""
    from weft._core.ops.array_ops import rank
    if isinstance(axes, Tensor):
        return axes[0], axes[1]
    if is_number(axes):
        if axes < 0:
            raise ValueError("`axes` must be at least 0. Received: %s." % axes)
        if a.shape.ndims is None:
            n = rank(a)
            return range(n - axes, n), range(0, axes)
        if axes > a.shape.ndims:
            raise ValueError("`axes` must not be larger than the number of dimensions of tensor %s. Received %s, vs tensor "
                             "dimensions %s." % (a, axes, a.shape.ndims))
        return list(_range(a.shape.ndims - axes, a.shape.ndims)), list(_range(axes))
    if isinstance(axes, str):
        raise TypeError("`axes` must be an integer or two lists of integers, got %r" % (axes,))
    if len(axes) != 2:
        raise ValueError("`axes` must be an integer or have length 2. Received %s." % (axes,))
    ours, theirs = ([x] if is_number(x) else x if isinstance(x, Tensor) else list(x) for x in axes)
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) != len(theirs):
        raise ValueError("Different number of contraction axes `a` and `b`, %s != %s." % (len(ours), len(theirs)))
    return ours, theirs


def _dot_operand(x, axes, summed_first):
    """Returns x as a matrix of the kept axes and the summed axes, the sizes of the kept axes (a list, or a tensor if
    one is unknown), and what is known of them.
    """
    from weft._core.ops.array_ops import concat, gather, reshape, shape, stack, transpose
    known, free, rank = None, None, x.shape.ndims
    if rank is not None and isinstance(axes, list):
        for axis in axes:
            if not -rank <= axis < rank:
                raise IndexError("axis %s is out of range for a tensor of rank %d" % (axis, rank))
        axes = [i % rank for i in axes]
        free = [i for i in _range(rank) if i not in axes]
        known = [x.shape.as_list()[i] for i in free]
    if x.shape.is_fully_defined() and free is not None:
        return _dot_known(x, axes, free, summed_first), known, known
    if free is not None:
        axes, free = constant(axes, dtypes.int32, name="axes"), constant(free, dtypes.int32, name="free")
        sizes = shape(x)
    else:
        sizes, axes, free = _dot_unknown(x, axes)
    kept, summed = gather(sizes, free), gather(sizes, axes)
    rows, columns = reduce_prod(kept), reduce_prod(summed)
    order = concat([axes, free] if summed_first else [free, axes], 0)
    target = stack([columns, rows] if summed_first else [rows, columns])
    return reshape(transpose(x, order), target), kept, known


def _dot_unknown(x, axes):
    """Returns the shape of x, the axes to sum over as non-negative numbers, and the other axes, all as tensors."""
    from weft._core.ops.array_ops import rank, shape, where
    sizes, n = shape(x), rank(x)
    axes = convert_to_tensor(axes, dtypes.int32, name="axes")
    axes = where(axes >= 0, axes, axes + n)
    return sizes, axes, op("ListDiff", x=range(n), y=axes)[0]


def _dot_known(x, axes, free, summed_first):
    """Returns the matrix of an operand of known shape, without nodes that would change nothing."""
    from weft._core.ops.array_ops import reshape, transpose
    order, sizes = (axes + free if summed_first else free + axes), x.shape.as_list()
    if order != list(_range(len(order))):
        x = transpose(x, order)
    rows, columns = (int(np.prod([sizes[i] for i in part], dtype=np.int64)) for part in (free, axes))
    target = [columns, rows] if summed_first else [rows, columns]
    return x if x.shape.as_list() == target else reshape(x, target)


def tensordot(a, b, axes, name=None):
    from weft._core.ops.array_ops import concat, reshape
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        ours, theirs = _dot_axes(a, axes)
        left, kept_a, known_a = _dot_operand(a, ours, False)
        right, kept_b, known_b = _dot_operand(b, theirs, True)
        made = matmul(left, right)
        if isinstance(kept_a, list) and isinstance(kept_b, list):
            if made.shape.is_fully_defined() and made.shape.as_list() == kept_a + kept_b:
                return made
            return reshape(made, kept_a + kept_b, name=scope)
        kept = [convert_to_tensor(k, dtypes.int32) for k in (kept_a, kept_b)]
        made = reshape(made, concat(kept, 0), name=scope)
        if known_a is not None and known_b is not None:
            made.set_shape(known_a + known_b)
        return made


_range = __builtins__["range"] if isinstance(__builtins__, dict) else __builtins__.range


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    from weft._core.ops import array_ops
    with name_scope(None, "bincount"):
        arr = convert_to_tensor(arr, name="arr", preferred_dtype=dtypes.int32)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
        if arr.dtype.base_dtype not in (dtypes.int32, dtypes.int64):  # Fractions are truncated.
            arr = cast(arr, dtypes.int32)
        size = _bins(arr, minlength, maxlength)
        if weights is not None:
            weights = array_ops.reshape(weights, [-1])
        arr = array_ops.reshape(arr, [-1])
        return op("DenseBincount", input=arr, size=size, weights=constant([], dtype) if weights is None else weights)


def _bins(arr, minlength, maxlength):
    """Returns how many numbers bincount counts: those up to the largest one, within the limits."""
    from weft._core.ops import array_ops
    size = cast(array_ops.size(arr) > 0, arr.dtype) * (reduce_max(arr) + 1)
    if minlength is not None:
        size = maximum(convert_to_tensor(minlength, arr.dtype, name="minlength"), size)  # noqa: F821
    if maxlength is not None:
        size = minimum(convert_to_tensor(maxlength, arr.dtype, name="maxlength"), size)  # noqa: F821
    return size


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    from weft._core.ops.array_ops import ones_like, stack
    with name_scope(name, "confusion_matrix", [predictions, labels]):
        labels, predictions = _of_one_rank(convert_to_tensor(labels, name="labels"), convert_to_tensor(predictions, name="predictions"))
        given = [(cast(x, dtypes.int64), what) for x, what in ((labels, "labels"), (predictions, "predictions"))]
        labels, predictions = (_checked_classes(x, what, num_classes) for x, what in given)
        if num_classes is None:
            num_classes = maximum(reduce_max(predictions), reduce_max(labels)) + 1  # noqa: F821
        n = cast(convert_to_tensor(num_classes), dtypes.int64)
        if weights is not None:
            weights = convert_to_tensor(weights)
            predictions.shape.assert_is_compatible_with(weights.shape)
        values = ones_like(predictions, dtype) if weights is None else cast(weights, dtype)
        return op("ScatterNd", indices=stack([labels, predictions], axis=1), updates=values, shape=stack([n, n]))


def _of_one_rank(labels, predictions):
    """Returns labels and predictions with equal ranks: a last axis of one element that only one of them has is removed.
    """
    from weft._core.contrib.framework import remove_squeezable_dimensions
    return remove_squeezable_dimensions(labels, predictions)


def _checked_classes(classes, what, limit):
    """Returns the classes with a check that fails for a class below 0 or not below the limit."""
    from weft._core.framework.graph import control_dependencies
    from weft._core.ops import check_ops
    checks = [check_ops.assert_non_negative(classes, message="`%s` contains negative values" % what)]
    if limit is not None:
        limit = cast(convert_to_tensor(limit), dtypes.int64)
        checks.append(check_ops.assert_less(classes, limit, message="`%s` out of bound" % what))
    with control_dependencies(checks):
        return op("Identity", None, input=classes)


mul, sub, neg = multiply, subtract, negative  # noqa: F821
