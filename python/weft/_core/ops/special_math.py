"""Less common mathematical functions: inverse hyperbolic functions, safe quotients, unsorted segments."""
import collections
import re

import numpy as np

from weft._core.framework import dtypes, tensor_shape, wrap
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.framework.shape_values import constant_value
from weft._core.ops import array_ops, math_ops

wrap.functions("""
acosh Acosh x
asinh Asinh x
atanh Atanh x
nextafter NextAfter x1 x2
unsorted_segment_min UnsortedSegmentMin data segment_ids num_segments
unsorted_segment_prod UnsortedSegmentProd data segment_ids num_segments
xlogy Xlogy x y
unravel_index UnravelIndex indices dims
roll Roll input shift axis
broadcast_dynamic_shape BroadcastArgs@BroadcastArgs shape_x:s0 shape_y:s1
timestamp Timestamp
identity_n IdentityN input
""", globals())


def angle(input, name=None):
    """Returns the angle of complex numbers; for real ones, 0, or pi if they are negative.

    Args:
      input: a tensor of numbers.
      name: a name for the operation.
    """
    with name_scope(name, "Angle", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.base_dtype.is_complex:
            real = dtypes.float64 if input.dtype.base_dtype == dtypes.complex128 else dtypes.float32
            return op("Angle", scope, input=input, Tout=real)
        return array_ops.where(input < 0, np.pi * array_ops.ones_like(input), array_ops.zeros_like(input))


def lbeta(x, name=None):
    """Returns log |Beta(x)| along the last dimension: the sum of lgamma, minus lgamma of the sum.

    Args:
      x: a tensor of floating-point numbers, of one dimension or more.
      name: a name for the operation.
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        logs = math_ops.reduce_sum(math_ops.lgamma(x), axis=[-1])
        return logs - math_ops.lgamma(math_ops.reduce_sum(x, axis=[-1]))


def erfinv(x, name=None):
    """Returns the inverse of erf.

    Args:
      x: a tensor of floating-point numbers between -1 and 1.
      name: a name for the operation.
    """
    with name_scope(name, "erfinv", [x]):
        return op("Erfinv", x=x)


def ndtri(x, name=None):
    """Returns the quantile function of the standard normal distribution.

    Args:
      x: a tensor of probabilities.
      name: a name for the operation.
    """
    with name_scope(name, "ndtri", [x]):
        return op("Ndtri", x=x)


def erfcinv(x, name=None):
    """Returns the inverse of erfc.

    Args:
      x: a tensor of floating-point numbers between 0 and 2.
      name: a name for the operation.
    """
    with name_scope(name, "erfcinv", [x]):
        x = convert_to_tensor(x, name="start")
        return -ndtri(0.5 * x) * np.sqrt(0.5).astype(x.dtype.as_numpy_dtype)


def xdivy(x, y, name=None):
    """Returns x / y, and 0 where x is 0.

    Args:
      x: the numerators.
      y: the denominators.
      name: a name for the operation.
    """
    with name_scope(name, "xdivy", [x]):
        return op("Xdivy", x=x, y=y)


def xlog1py(x, y, name=None):
    """Returns x * log1p(y), and 0 where x is 0.

    Args:
      x: the factors.
      y: the arguments of log1p.
      name: a name for the operation.
    """
    with name_scope(name, "xlog1py", [x]):
        return op("Xlog1py", x=x, y=y)


def polyval(coeffs, x, name=None):
    """Returns the value of a polynomial at x, by Horner's rule.

    Args:
      coeffs: a list of tensors, the coefficient of the highest power first.
      x: where to evaluate it.
      name: a name for the operation.
    """
    if not isinstance(coeffs, list):
        raise ValueError("Argument coeffs must be list type. Received type %s." % type(coeffs))
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return array_ops.zeros_like(x, name=scope)
        coeffs = [convert_to_tensor(c, name="coeff_%d" % i) for i, c in enumerate(coeffs)]
        p = coeffs[0]
        for c in coeffs[1:]:
            p = c + p * x
        return p


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Returns the logarithm of the running sum of exp(x) along an axis.

    Args:
      x: a tensor of floating-point numbers.
      axis: the dimension to sum along.
      exclusive: whether element i leaves out x[i].
      reverse: whether to sum from the end.
      name: a name for the operation.
    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return op("CumulativeLogsumexp", scope, x=x, axis=axis, exclusive=exclusive, reverse=reverse)


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """Returns the Euclidean norm of the elements along the given dimensions.

    Args:
      input_tensor: a tensor of numbers.
      axis: the dimensions to reduce; None is all of them.
      keepdims: whether reduced dimensions stay, with length 1.
      name: a name for the operation.
    """
    x = convert_to_tensor(input_tensor, name="input_tensor") if axis is None else input_tensor
    axis = math_ops._axes(x, axis)
    return op("EuclideanNorm", name, input=x, reduction_indices=axis, keep_dims=bool(keepdims))


divide_no_nan = math_ops.div_no_nan


def multiply_no_nan(x, y, name=None):
    """Returns x * y, and 0 where y is 0, even if x is infinite or NaN.

    Args:
      x: the first factors.
      y: the second factors.
      name: a name for the operation.
    """
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        return op("MulNoNan", scope, x=x, y=convert_to_tensor(y, x.dtype.base_dtype, name="y"))


def reciprocal_no_nan(x, name=None):
    """Returns 1 / x, and 0 where x is 0.

    Args:
      x: a tensor of floating-point or complex numbers.
      name: a name for the operation.
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return op("DivNoNan", scope, x=constant(1.0, x.dtype.base_dtype, name="one"), y=x)


def log_sigmoid(x, name=None):
    """Returns log(sigmoid(x)), computed as -softplus(-x).

    Args:
      x: a tensor of floating-point numbers.
      name: a name for the operation.
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return math_ops.negative(op("Softplus", features=-x), name=scope)


def _segment_counts(data, segment_ids, num_segments):
    """Returns the number of rows of each segment, at least 1, in a shape that broadcasts against the sums."""
    shape = op("Shape", input=segment_ids)
    counts = math_ops.unsorted_segment_sum(array_ops.ones(shape, data.dtype.base_dtype), segment_ids, num_segments)
    behind = array_ops.ones(array_ops.stack([array_ops.rank(data) - array_ops.rank(segment_ids)]), dtype=num_segments.dtype)
    counts = array_ops.reshape(counts, array_ops.concat([num_segments[None], behind], axis=0))
    return math_ops.maximum(counts, constant(1, data.dtype.base_dtype))


def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """Returns the mean of the rows of each segment; segments may come in any order.

    Args:
      data: a tensor whose first dimensions are those of `segment_ids`.
      segment_ids: the segment of each row.
      num_segments: the number of segments.
      name: a name for the operation.
    """
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, convert_to_tensor(num_segments))
        return math_ops.unsorted_segment_sum(data, segment_ids, num_segments) / counts


def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """Returns the sum of the rows of each segment divided by the square root of their number.

    Args:
      data: a tensor whose first dimensions are those of `segment_ids`.
      segment_ids: the segment of each row.
      num_segments: the number of segments.
      name: a name for the operation.
    """
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, convert_to_tensor(num_segments))
        return math_ops.unsorted_segment_sum(data, segment_ids, num_segments) / math_ops.sqrt(counts)


def sparse_segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None):
    """Returns the sum of the gathered rows of each segment divided by the square root of their number.

    Args:
      data: the rows.
      indices: which rows of `data` to take.
      segment_ids: the segment of each taken row, in order.
      name: a name for the operation.
      num_segments: the number of segments; by default one more than the last id.
    """
    more = {} if num_segments is None else {"num_segments": num_segments}
    kind = "SparseSegmentSqrtN" if num_segments is None else "SparseSegmentSqrtNWithNumSegments"
    return op(kind, name, data=data, indices=indices, segment_ids=segment_ids, **more)


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """Returns how many values are in each of `nbins` bins of equal width.

    Args:
      values: a tensor of numbers.
      value_range: the lower and the upper limit; values outside of them count for the first and last bin.
      nbins: the number of bins.
      dtype: the type of the counts.
      name: a name for the operation.
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return op("HistogramFixedWidth", scope, values=values, value_range=value_range, nbins=nbins, dtype=dtype)


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """Returns the bin of each value, out of `nbins` bins of equal width.

    Args:
      values: a tensor of numbers.
      value_range: the lower and the upper limit; values outside of them are in the first and last bin.
      nbins: the number of bins.
      dtype: has no effect, as in TensorFlow; the result is of tf.int32.
      name: a name for the operation.
    """
    from weft._core.ops.check_ops import assert_positive
    from weft._core.ops.control_flow import with_dependencies
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = array_ops.shape(values)
        values = array_ops.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtypes.int32, name="nbins")
        nbins = with_dependencies([assert_positive(nbins)], nbins)
        number = math_ops.cast(nbins, values.dtype)
        scaled = math_ops.truediv(values - value_range[0], value_range[1] - value_range[0], name="scaled_values")
        indices = math_ops.floor(number * scaled, name="indices")
        indices = math_ops.maximum(math_ops.minimum(indices, number - 1), convert_to_tensor(0.0, values.dtype))
        # As in TensorFlow, the result is always int32.
        return array_ops.reshape(math_ops.cast(indices, dtypes.int32), shape)


def ensure_shape(x, shape, name=None):
    """Returns x after a check in the run that its shape is compatible.

    Args:
      x: a tensor.
      shape: the shape that it must have; None for a dimension that may be anything.
      name: a name for the operation.
    """
    return op("EnsureShape", name, input=x, shape=tensor_shape.as_shape(shape))


def broadcast_static_shape(shape_x, shape_y):
    """Returns the TensorShape that two shapes broadcast to.

    Args:
      shape_x: a TensorShape.
      shape_y: a TensorShape.
    """
    x, y = tensor_shape.as_shape(shape_x), tensor_shape.as_shape(shape_y)
    if x.ndims is None or y.ndims is None:
        return tensor_shape.TensorShape(None)
    a, b = [d.value for d in x.dims], [d.value for d in y.dims]
    a, b = [1] * (len(b) - len(a)) + a, [1] * (len(a) - len(b)) + b
    dims = []
    for i, j in zip(a, b):
        if i is not None and j is not None and 1 not in (i, j) and i != j:
            raise ValueError("Incompatible shapes for broadcasting: %s and %s" % (x, y))
        dims.append(j if i == 1 else i if j == 1 else i if j is None and i is not None else j if i is None else i)
    return tensor_shape.TensorShape(dims)


def repeat(input, repeats, axis=None, name=None):
    """Returns the elements repeated along an axis.

    Args:
      input: a tensor.
      repeats: how often: one number, or one for each element along the axis.
      axis: the dimension; None flattens the input first.
      name: a name for the operation.
    """
    if axis is None:
        input, axis = array_ops.reshape(input, [-1]), 0
    with name_scope(name, "Repeat", [input, repeats]):
        input = convert_to_tensor(input, name="data")
        repeats = math_ops.cast(convert_to_tensor(repeats, name="repeats"), dtypes.int32)
        if input.shape.ndims is None:
            raise ValueError("tf.repeat needs an input of known rank, got %s" % input)
        axis = axis + input.shape.ndims if axis < 0 else axis
        shape = array_ops.shape(input)
        if repeats.shape.ndims == 0 or (repeats.shape.ndims == 1 and repeats.shape[0].value == 1):
            times = array_ops.reshape(repeats, [])
            ones = [1] * (input.shape.ndims + 1)
            tiled = array_ops.tile(array_ops.expand_dims(input, axis + 1), [*ones[:axis + 1], times, *ones[axis + 2:]])
            length = times * shape[axis]
            return array_ops.reshape(tiled, array_ops.concat([shape[:axis], [length], shape[axis + 1:]], 0))
        # A mask selects the valid copies in rows of the longest length.
        repeats = array_ops.broadcast_to(repeats, [shape[axis]])
        longest = math_ops.maximum(0, math_ops.reduce_max(repeats))
        ones = [1] * (input.shape.ndims + 1)
        tiled = array_ops.tile(array_ops.expand_dims(input, axis + 1), [*ones[:axis + 1], longest, *ones[axis + 2:]])
        return array_ops.boolean_mask(tiled, array_ops.sequence_mask(repeats, longest), axis=axis)


def batch_gather(params, indices, name=None):
    """Returns the slices that `indices` selects in each batch of `params`, along the last dimension of `indices`.

    Args:
      params: the batches of slices.
      indices: whole numbers; all dimensions but the last are those of the batch.
      name: a name for the operation.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return array_ops.gather(params, indices, axis=indices.shape.ndims - 1, batch_dims=indices.shape.ndims - 1)


def is_non_decreasing(x, name=None):
    """Returns whether the elements, in row-major order, never decrease.

    Args:
      x: a tensor of numbers.
      name: a name for the operation.
    """
    with name_scope(name, "is_non_decreasing", [x]):
        flat = array_ops.reshape(convert_to_tensor(x, name="x"), [-1])
        return math_ops.reduce_all(math_ops.less_equal(flat[:-1], flat[1:]))


def is_strictly_increasing(x, name=None):
    """Returns whether each element, in row-major order, is greater than the one before it.

    Args:
      x: a tensor of numbers.
      name: a name for the operation.
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        flat = array_ops.reshape(convert_to_tensor(x, name="x"), [-1])
        return math_ops.reduce_all(math_ops.less(flat[:-1], flat[1:]))


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """Returns the values of x that are not in y, and their indices in x.

    Args:
      x: a vector.
      y: a vector of the same type.
      index_dtype: the type of the indices.
      name: a name for the operation.
    """
    out, idx = op("ListDiff", name, x=x, y=y, out_idx=index_dtype)
    return collections.namedtuple("ListDiff", ["out", "idx"])(out, idx)


def where_v2(condition, x=None, y=None, name=None):
    """Returns x where the condition holds and y elsewhere, with broadcasting; without x and y, the indices where it
    holds.

    Args:
      condition: a boolean tensor.
      x: a tensor, or None together with y.
      y: a tensor, or None together with x.
      name: a name for the operation.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is None:
        return array_ops.where(condition, name=name)
    return op("SelectV2", name, condition=condition, t=x, e=y)


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """Returns a tensor divided by its norm, and the norm.

    Args:
      tensor: a tensor of floating-point numbers.
      ord: the kind of norm, as in tf.norm.
      axis: the dimensions along which it is taken; None is all.
      name: a name for the operation.
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        length = math_ops.norm(tensor, ord, axis, keepdims=True)
        length = math_ops.cast(length, tensor.dtype)
        return tensor / length, length


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """Returns the product of a matrix and a vector, or of batches of them.

    Args:
      a: the matrices.
      b: the vectors, in the last dimension.
      transpose_a: whether to transpose the matrices first.
      adjoint_a: whether to transpose and conjugate them first.
      a_is_sparse: says that `a` has many zeros; the result is the same.
      b_is_sparse: says that `b` has many zeros; the result is the same.
      name: a name for the operation.
    """
    with name_scope(name, "MatVec", [a, b]):
        b = array_ops.expand_dims(b, axis=-1)
        made = math_ops.matmul(a, b, transpose_a=transpose_a, adjoint_a=adjoint_a, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse)
        return array_ops.squeeze(made, axis=-1)


def to_complex64(x, name="ToComplex64"):
    """Casts a tensor to tf.complex64.

    Args:
      x: a tensor.
      name: a name for the operation.
    """
    return math_ops.cast(x, dtypes.complex64, name=name)


def to_complex128(x, name="ToComplex128"):
    """Casts a tensor to tf.complex128.

    Args:
      x: a tensor.
      name: a name for the operation.
    """
    return math_ops.cast(x, dtypes.complex128, name=name)


def dimension_value(dimension):
    """Returns the value of a Dimension; a number is returned unchanged.

    Args:
      dimension: a Dimension, a number or None.
    """
    return dimension.value if isinstance(dimension, tensor_shape.Dimension) else dimension


def dimension_at_index(shape, index):
    """Returns the Dimension of a shape at an index, or an unknown one if the rank is unknown.

    Args:
      shape: a TensorShape.
      index: the number of the dimension.
    """
    return tensor_shape.Dimension(None) if shape.ndims is None else shape.dims[index]


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """Moves blocks of the height and width into the batch, after padding with zeros.

    Args:
      input: a tensor of four dimensions.
      paddings: how many zeros to put before and after the height and the width.
      block_size: the side of a block.
      name: a name for the operation.
      block_shape: another name of `block_size`.
    """
    block = block_shape if block_size is None else block_size
    return array_ops.space_to_batch_nd(input, np.array([block, block], np.int64), paddings, name=name)


def batch_to_space(input, crops, block_size=None, name=None, block_shape=None):
    """Undoes space_to_batch: moves blocks from the batch back to the height and width.

    Args:
      input: a tensor of four dimensions.
      crops: how many rows and columns to cut off at the sides.
      block_size: the side of a block.
      name: a name for the operation.
      block_shape: another name of `block_size`.
    """
    block = block_shape if block_size is None else block_size
    return array_ops.batch_to_space_nd(input, np.array([block, block], np.int64), crops, name=name)


def get_static_value(tensor, partial=False):
    """Returns the value of a tensor as an array if the graph determines it, or None; what is no tensor is returned as it is.

    Args:
      tensor: a tensor.
      partial: whether a list that is packed of known and unknown numbers gives an array with None in it.
    """
    if partial:
        raise NotImplementedError("tf.get_static_value(partial=True) is not in Weft: leave it out")
    found = constant_value(tensor)
    return found if found is None or found is tensor else np.asarray(found)


def _special(name, kind):
    """Returns a function of one number that adds an op in a scope of its name."""
    def function(x, name=None):
        with name_scope(name, public, [x]):
            return op(kind, x=x)
    public = name
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    return function


_KINDS = ("BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 "
          "Dawsn Expint FresnelCos FresnelSin Spence").split()
SPECIAL = {re.sub("(?<=[a-z])(?=[A-Z])", "_", kind).lower(): kind for kind in _KINDS}
globals().update({name: _special(name, kind) for name, kind in SPECIAL.items()})
