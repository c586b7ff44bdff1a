"""tf.nn's pooling and convolution functions that choose the op by the rank of their input, and windows in one dimension."""
from weft._core.framework import dtypes
from weft._core.framework.build import constant, convert_to_tensor, either, op
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.special_math import divide_no_nan, identity_n


def _sizes(value, n, channels_first, what):
    """Returns a number or a list as the sizes of all dimensions, with 1 for batch and channels."""
    value = [value] if isinstance(value, int) else list(value)
    if len(value) == 1:
        value = value * n
    if len(value) == n + 2:
        return value
    if len(value) != n:
        raise ValueError("%s should be of length 1, %d or %d. Received: %s=%s of length %d" % (what, n, n + 2, what, value, len(value)))
    return [1, 1, *value] if channels_first else [1, *value, 1]


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """Returns the maximum of each window of an image.

    Args:
      input: images, a tensor of four dimensions.
      ksize: the size of a window: one number, two, or four.
      strides: the distance of windows, likewise.
      padding: 'SAME' or 'VALID'.
      data_format: 'NHWC' or 'NCHW'.
      name: a name for the operation.
    """
    with name_scope(name, "MaxPool2d", [input]) as scope:
        first = data_format.startswith("NC")
        return op("MaxPool", scope, input=input, ksize=_sizes(ksize, 2, first, "ksize"), strides=_sizes(strides, 2, first, "strides"),
                  padding=padding, data_format=data_format)


def avg_pool2d(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """Returns the mean of each window of an image.

    Args:
      value: images, a tensor of four dimensions.
      ksize: the size of a window: one number, two, or four.
      strides: the distance of windows, likewise.
      padding: 'SAME' or 'VALID'.
      data_format: 'NHWC' or 'NCHW'.
      name: a name for the operation.
      input: another name of `value`.
    """
    with name_scope(name, "AvgPool", [value]) as scope:
        first = (data_format or "NHWC").startswith("NC")
        return op("AvgPool", scope, value=either("input", input, "value", value), ksize=_sizes(ksize, 2, first, "ksize"),
                  strides=_sizes(strides, 2, first, "strides"), padding=padding, data_format=data_format)


def _pool1d(kind, argument, public, title):
    def pool(input, ksize, strides, padding, data_format="NWC", name=None):
        with name_scope(name, title, [input]) as scope:
            first = (data_format or "NWC").startswith("NC")
            at = 2 if first else 1
            ksize_ = [1, *_sizes(ksize, 1, first, "ksize")]
            strides_ = [1, *_sizes(strides, 1, first, "strides")]
            ksize_, strides_ = _with_row(ksize_[1:], at), _with_row(strides_[1:], at)
            rows = array_ops.expand_dims(input, at)
            made = op(kind, scope, **{argument: rows}, ksize=ksize_, strides=strides_, padding=padding,
                      data_format="NCHW" if first else "NHWC")
            return array_ops.squeeze(made, [at])
    pool.__name__ = pool.__qualname__ = public
    pool.__module__ = __name__
    pool.__doc__ = """The %s of each window of a row.

    Args:
      input: rows, a tensor of three dimensions.
      ksize: the length of a window: one number or three.
      strides: the distance of windows, likewise.
      padding: 'SAME' or 'VALID'.
      data_format: 'NWC' or 'NCW'.
      name: a name for the operation.
    """ % ("maximum" if kind == "MaxPool" else "mean")
    return pool


def _with_row(sizes, at):
    return [*sizes[:at], 1, *sizes[at:]]


max_pool1d = _pool1d("MaxPool", "input", "max_pool1d", "MaxPool1d")
avg_pool1d = _pool1d("AvgPool", "value", "avg_pool1d", "AvgPool1D")


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", Targmax=None, name=None, output_dtype=None,
                         include_batch_in_index=False):
    """Returns the maximum of each window of an image, and its flat index.

    Args:
      input: images, a tensor of four dimensions.
      ksize: four numbers.
      strides: four numbers.
      padding: 'SAME' or 'VALID'.
      data_format: 'NHWC'.
      Targmax: the type of the indices, tf.int64 or tf.int32.
      name: a name for the operation.
      output_dtype: another name of `Targmax`.
      include_batch_in_index: whether an index counts the images before it too.
    """
    if data_format != "NHWC":
        raise ValueError("`data_format` values other than 'NHWC' are not supported. Received: data_format=%s" % data_format)
    if Targmax is not None and output_dtype is not None:
        raise ValueError("Cannot specify both 'Targmax' and 'output_dtype'.")
    return op("MaxPoolWithArgmax", name, input=input, ksize=list(ksize), strides=list(strides), padding=padding,
              Targmax=Targmax or output_dtype or dtypes.int64, include_batch_in_index=include_batch_in_index)


def _fractional_pool(kind, name_of, what):
    def pool(value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0, name=None):
        return op(kind, name, value=value, pooling_ratio=list(pooling_ratio), pseudo_random=pseudo_random, overlapping=overlapping,
                  deterministic=deterministic, seed=seed, seed2=seed2)
    pool.__name__ = pool.__qualname__ = name_of
    pool.__doc__ = """The %s of windows of random sizes: (output, borders of the rows, borders of the columns)

    Args:
      value: images, a tensor of four dimensions.
      pooling_ratio: four numbers, how many times smaller each dimension becomes; the first and the last are 1.
      pseudo_random: whether the sizes follow from one random number rather than from a random order.
      overlapping: whether a window includes the border of the next one.
      deterministic: whether every run has the same windows.
      seed: a number that the windows follow from, if deterministic.
      seed2: another such number.
      name: a name for the operation.
    """ % what
    return pool


fractional_max_pool = _fractional_pool("FractionalMaxPool", "fractional_max_pool", "maximum")
fractional_avg_pool = _fractional_pool("FractionalAvgPool", "fractional_avg_pool", "mean")


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """Returns the values from which mean and variance are computed: the count, the sum, the sum of squares, and the
    shift.

    Args:
      x: a tensor of numbers.
      axes: the dimensions to sum over.
      shift: a value near the mean that is subtracted first, or None.
      keep_dims: an old name of `keepdims`.
      name: a name for the operation.
      keepdims: whether summed dimensions stay, with length 1.
    """
    keep, axes = bool(either("keepdims", keepdims, "keep_dims", keep_dims)), list(set(axes))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        if x.shape.is_fully_defined():
            counts = 1
            for d in axes:
                counts *= x.shape[d].value
            counts = constant(counts, dtype=x.dtype.base_dtype)
        else:
            sizes = array_ops.gather(math_ops.cast(array_ops.shape(x), x.dtype.base_dtype), axes)
            counts = math_ops.reduce_prod(sizes, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            sums, squares = x - shift, math_ops.squared_difference(x, shift)
        else:
            sums, squares = x, math_ops.square(x)
        sums = math_ops.reduce_sum(sums, axes, keepdims=keep, name="mean_ss")
        squares = math_ops.reduce_sum(squares, axes, keepdims=keep, name="var_ss")
        return counts, sums, squares, shift


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """Returns the mean and variance from the results of `sufficient_statistics`.

    Args:
      counts: the number of elements.
      mean_ss: their sum, after the shift.
      variance_ss: the sum of their squares, after the shift.
      shift: the shift, or None.
      name: a name for the operation.
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = math_ops.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = math_ops.multiply(mean_ss, divisor, name="shifted_mean")
            mean = math_ops.add(shifted, shift, name="mean")
        else:
            shifted = math_ops.multiply(mean_ss, divisor, name="mean")
            mean = shifted
        variance = math_ops.subtract(math_ops.multiply(variance_ss, divisor), math_ops.square(shifted), name="variance")
    return mean, variance


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """Returns the mean and variance of weighted elements.

    Args:
      x: a tensor of numbers.
      axes: the dimensions to reduce.
      frequency_weights: the weights, which broadcast against x.
      name: a name for the operation.
      keep_dims: an old name of `keepdims`.
      keepdims: whether reduced dimensions stay, with length 1.
    """
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x, weights = convert_to_tensor(x, name="x"), convert_to_tensor(frequency_weights, name="frequency_weights")
        if weights.dtype.base_dtype != x.dtype.base_dtype:
            weights = math_ops.cast(weights, x.dtype.base_dtype)
        weighted = math_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        # The weights are summed in the shape of x, because a broadcast weight counts for several elements.
        total = math_ops.reduce_sum(weights + array_ops.zeros_like(x), axes, name="sum_of_weights", keepdims=True)
        mean = divide_no_nan(weighted, total)
        variance = divide_no_nan(math_ops.reduce_sum(weights * math_ops.squared_difference(x, mean), axes, keepdims=True), total)
        if not keep:
            mean, variance = array_ops.squeeze(mean, axis=axes), array_ops.squeeze(variance, axis=axes)
        return mean, variance


def silu(features, beta=1.0):
    """Returns features * sigmoid(beta * features), also called swish.

    Args:
      features: a tensor of floating-point numbers.
      beta: the factor inside of the sigmoid.
    """
    features = convert_to_tensor(features, name="features")
    beta = math_ops.cast(convert_to_tensor(beta, name="beta"), features.dtype.base_dtype)
    made = features * math_ops.sigmoid(beta * features)
    array_ops.identity(made)  # The nodes are those of TensorFlow, whose function has a gradient of its own.
    return identity_n([made, features, beta])[0]
