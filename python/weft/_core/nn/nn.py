"""tf.nn: activations, losses of logits, dropout, convolutions and embeddings."""
import numpy as np

from weft._core.framework import dtypes, library, wrap
from weft._core.framework.build import constant, convert_to_tensor, either, is_number, is_tensor, op
from weft._core.framework.errors import InvalidArgumentError
from weft._core.framework.graph import Tensor, get_default_graph, name_scope
from weft._core.nn.pooling import silu
from weft._core.ops import array_ops, control_flow, math_ops, random_ops
from weft._core.ops.sparse import SparseTensor
from weft._core.ops.variables import Variable

wrap.functions("""
relu Relu features
relu6_op Relu6 features
elu Elu features
selu Selu features
softplus Softplus features
softsign Softsign features
l2_loss L2Loss t
lrn LRN input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5 | local_response_normalization
""", globals())

sigmoid, tanh = math_ops.sigmoid, math_ops.tanh


def relu6(features, name=None):
    with name_scope(name, "Relu6", [features]) as scope:
        return relu6_op(convert_to_tensor(features, name="features"), name=scope)  # noqa: F821


def leaky_relu(features, alpha=0.2, name=None):
    with name_scope(name, "LeakyRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        return op("LeakyRelu", scope, features=features, alpha=alpha)


def crelu(features, name=None, axis=-1):
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return relu(array_ops.concat([features, -features], axis, name=scope))  # noqa: F821


swish = silu


def _last_axis(fn_kind, logits, axis, name):
    """Applies softmax along an axis; the op works on the last axis, so other axes are moved there and back."""
    logits = convert_to_tensor(logits)
    rank = logits.shape.ndims
    if axis in (-1, None):
        return op(fn_kind, name, logits=logits)
    if rank is None:
        raise TypeError("unsupported operand type(s) for -: 'NoneType' and 'int': %s along axis %s needs the rank of %s; give it a "
                        "shape with set_shape, or use axis -1" % (fn_kind, axis, logits.name))
    if axis == rank - 1:
        return op(fn_kind, name, logits=logits)
    if not -rank <= axis < rank:
        raise InvalidArgumentError(None, None, "`dim` must be in the range [%d, %d) where %d is the number of dimensions in the "
                                   "input. Received: dim=%s" % (-rank, rank, rank, axis))
    axis %= rank
    array_ops.rank(logits)
    count = array_ops.rank(logits)
    swapped = array_ops.transpose(logits, _with_last_swapped(axis, count))
    return array_ops.transpose(op(fn_kind, logits=swapped), _with_last_swapped(axis, count), name=name)


def _with_last_swapped(axis, rank):
    """Returns the axes 0..rank-1 with the given one and the last one in each other's place."""
    last = op("Sub", "Sub", x=rank, y=1)
    return array_ops.concat([math_ops.range(axis), [last], math_ops.range(axis + 1, last), [axis]], 0)


def softmax(logits, axis=None, name=None, dim=None):
    return _last_axis("Softmax", logits, either("axis", axis, "dim", dim), name)


def log_softmax(logits, axis=None, name=None, dim=None):
    return _last_axis("LogSoftmax", logits, either("axis", axis, "dim", dim), name)


def _flat_outer(x):
    """Returns (..., n) reshaped to (rows, n)."""
    if x.shape.ndims == 2:
        return x
    last = x.shape.as_list()[-1] if x.shape.ndims else None
    return array_ops.reshape(x, [-1, last if last is not None else array_ops.shape(x)[-1]])


def _cross_entropy(labels, logits, dim, scope):
    """Returns the loss with TensorFlow's nodes: both inputs as matrices, and the loss reshaped to the original shape.
    """
    rank, known = array_ops.rank(logits), logits.shape
    if dim != -1:
        logits, labels = _axis_last(logits, dim, rank), _axis_last(labels, dim, rank)
    shape = array_ops.shape(logits)
    flat, flat_labels = _rows(logits), _rows(labels)
    cost = op("SoftmaxCrossEntropyWithLogits", scope, features=flat, labels=flat_labels)[0]
    size = op("Sub", "Sub", x=rank, y=1)
    made = array_ops.reshape(cost, array_ops.slice(shape, [0], [size]))
    if known.ndims:
        left = known.as_list()
        del left[dim]
        made.set_shape(left)
    return made


def _axis_last(x, axis, rank):
    """Returns x with the given axis moved to the end."""
    axis = axis + x.shape.ndims if axis < 0 else axis
    return array_ops.transpose(x, array_ops.concat([math_ops.range(axis), math_ops.range(axis + 1, rank), [axis]], 0))


def _like_logits(labels, logits):
    """Returns labels of any numeric type in the type of the logits."""
    if isinstance(labels, Tensor) or hasattr(labels, "_ref"):
        return math_ops.cast(labels, logits.dtype.base_dtype)
    return convert_to_tensor(labels, name="labels", dtype=logits.dtype.base_dtype)


def _rows(x):
    """Returns (..., n) reshaped to (rows, n)."""
    rank = array_ops.rank(x)
    size = array_ops.slice(array_ops.shape(x), [op("Sub", "Sub", x=rank, y=1)], [1])
    made = array_ops.reshape(x, array_ops.concat([[-1], size], 0))
    dims = x.shape.as_list() if x.shape.ndims else [None]
    if None not in dims[:-1]:
        made.set_shape([int(np.prod(dims[:-1])), dims[-1]])
    return made


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    dim = either("axis", axis, "dim", dim)
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = _like_logits(labels, logits)
        return _cross_entropy(labels, logits, -1 if dim is None else dim, scope)


def softmax_cross_entropy_with_logits(*args, **kwargs):
    """Returns the loss for labels=, logits=, dim=-1, name=None, axis=None.

    Positional arguments are in the order before 1.0: logits, labels.
    """
    order = ("logits", "labels", "dim", "name")
    given = dict(zip(order, args))
    given.update(kwargs)
    given.pop("_sentinel", None)
    if "labels" not in given or "logits" not in given:
        raise ValueError("Both labels and logits must be provided.")
    dim = either("axis", given.get("axis"), "dim", given.get("dim", -1))  # In TensorFlow too, axis needs dim=None.
    with name_scope(given.get("name"), "softmax_cross_entropy_with_logits_sg", [given["logits"]]) as scope:
        logits = convert_to_tensor(given["logits"], name="logits")
        labels = array_ops.stop_gradient(given["labels"], name="labels_stop_gradient")
        labels = _like_logits(labels, logits)
        return _cross_entropy(labels, logits, -1 if dim is None else dim, scope)


def sparse_softmax_cross_entropy_with_logits(*args, **kwargs):
    order = ("logits", "labels", "name")
    given = dict(zip(order, args))
    given.update(kwargs)
    given.pop("_sentinel", None)
    if given.get("labels") is None or given.get("logits") is None:
        raise ValueError("Both labels and logits must be provided.")
    labels, logits = given["labels"], given["logits"]
    with name_scope(given.get("name"), "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        if logits.shape.ndims == 0:
            raise ValueError("Logits cannot be scalars - received shape %s." % logits.shape)
        if labels.shape.ndims is not None and logits.shape.ndims is not None and labels.shape.ndims != logits.shape.ndims - 1:
            raise ValueError("`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape=%s of rank %s and "
                             "logits.shape=%s of rank %s" % (labels.shape, labels.shape.ndims, logits.shape, logits.shape.ndims))
        if logits.shape.ndims is not None and not labels.shape.is_compatible_with(logits.shape[:-1]):
            raise ValueError("`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape=%s "
                             "and logits.shape=%s" % (labels.shape, logits.shape))
        static = array_ops.shape(labels)
        if logits.shape.ndims == 2:
            return op("SparseSoftmaxCrossEntropyWithLogits", given.get("name"), features=logits, labels=labels)[0]
        flat = op("SparseSoftmaxCrossEntropyWithLogits", features=_flat_outer(logits),
                  labels=array_ops.reshape(labels, [-1]))[0]
        return array_ops.reshape(flat, static)


def _check_shapes_equal(logits, labels):
    """Raises ValueError for different shapes, even if they broadcast: a column and a row would make a matrix of losses.
    """
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError("`logits` and `labels` must have the same shape, received (%s vs %s)." % (logits.shape, labels.shape))


def sigmoid_cross_entropy_with_logits(*args, **kwargs):
    order = ("logits", "labels", "name")
    given = dict(zip(order, args))
    given.update(kwargs)
    given.pop("_sentinel", None)
    if given.get("labels") is None or given.get("logits") is None:
        raise ValueError("Both labels and logits must be provided.")
    with name_scope(given.get("name"), "logistic_loss", [given["logits"], given["labels"]]) as scope:
        logits = convert_to_tensor(given["logits"], name="logits")
        labels = convert_to_tensor(given["labels"], logits.dtype.base_dtype, name="labels")
        _check_shapes_equal(logits, labels)
        zeros = array_ops.zeros_like(logits)
        positive = op("GreaterEqual", x=logits, y=zeros)
        high = op("Select", condition=positive, t=logits, e=zeros)
        minus = op("Select", condition=positive, t=math_ops.negative(logits), e=logits)
        return op("Add", scope, x=high - logits * labels, y=math_ops.log1p(math_ops.exp(minus)))


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    labels = either("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, logits.dtype.base_dtype, name="labels")
        _check_shapes_equal(logits, labels)
        weight = 1 + (pos_weight - 1) * labels
        return op("Add", scope, x=(1 - labels) * logits,
                  y=weight * (math_ops.log1p(math_ops.exp(-math_ops.abs(logits))) + relu(-logits)))  # noqa: F821


def in_top_k(predictions, targets, k, name=None):
    """Returns whether each target is among the k highest predictions of its row.

    Args:
      predictions: a matrix of floating-point numbers.
      targets: the column of each row's target.
      k: how many to look at.
      name: a name for the operation.
    """
    with name_scope(name, "in_top_k"):
        return op("InTopKV2", name, predictions=predictions, targets=targets, k=k)


def xw_plus_b(x, weights, biases, name=None):
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x, weights = convert_to_tensor(x, name="x"), convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(math_ops.matmul(x, weights), biases, name=scope)


def relu_layer(x, weights, biases, name=None):
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return relu(bias_add(math_ops.matmul(x, weights), biases), name=scope)  # noqa: F821


def bias_add(value, bias, data_format=None, name=None):
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, value.dtype.base_dtype, name="bias")
        return op("BiasAdd", scope, value=value, bias=bias, data_format=data_format or "NHWC")


def _noise_shape(x, given):
    """Returns the shape that is drawn; None means the dimension of x."""
    if isinstance(given, Tensor) or x.shape.ndims is None:
        return given
    dims = [getattr(d, "value", d) if d is not None else None for d in given]
    if len(dims) != x.shape.ndims or not any(d is None for d in dims):
        return given
    return [have if d is None else d for d, have in zip(dims, x.shape.as_list())]


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    if isinstance(keep_prob, str):
        raise ValueError("`keep_prob` must be a floating point number or Tensor. Received: keep_prob=%s" % keep_prob)
    rate = either("rate", rate, "keep_prob", None if keep_prob is None else 1 - keep_prob)
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("dropout: x must be a tensor of floating-point numbers, since it is scaled, got %s" % x.dtype.name)
        if is_number(rate):
            if not 0 <= rate < 1:
                raise ValueError("`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate=%s" % rate)
            if rate == 0:
                random_ops.own_seed(seed)  # As in TensorFlow, an op seed is used up although nothing is drawn.
                return x
            kept = op("Mul", x=x, y=constant(1 / (1 - rate), x.dtype.base_dtype))
        else:
            rate = convert_to_tensor(rate, x.dtype.base_dtype, name="rate")
            kept = op("RealDiv", x=x, y=op("Sub", x=constant(1, x.dtype.base_dtype), y=rate))
        shape = array_ops.shape(x) if noise_shape is None else _noise_shape(x, noise_shape)
        drawn = random_ops.random_uniform(shape, seed=seed, dtype=x.dtype.base_dtype)
        made = op("SelectV2", condition=op("GreaterEqual", x=drawn, y=rate), t=kept, e=constant(0, x.dtype.base_dtype))
        made.set_shape(x.shape)
        return made


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = x if hasattr(x, "handle") else convert_to_tensor(x, name="x")
        half = x.dtype.base_dtype == dtypes.float16
        y = math_ops.cast(x, dtypes.float32) if half else x  # Sums in half precision are too coarse.
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = math_ops.reduce_mean(math_ops.squared_difference(y, array_ops.stop_gradient(mean)), axes,
                                        keepdims=True, name="variance")
        if not keep:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        return tuple(math_ops.cast(v, dtypes.float16) if half else v for v in (mean, variance))


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        inverse = math_ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        return x * inverse + ((offset - mean * inverse) if offset is not None else -mean * inverse)


def batch_norm_with_global_normalization(t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
                                         scale_after_normalization=None, name=None, input=None, mean=None, variance=None):
    t, m, v = either("input", input, "t", t), either("mean", mean, "m", m), either("variance", variance, "v", v)
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True,
                     name=None, exponential_avg_factor=1.0):
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError("Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
                         "`exponential_avg_factor` != 1.0. Received: `mean` %r and `variance` %r" % (mean, variance))
    x, scale = convert_to_tensor(x, name="input"), convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    mean = constant([], dtypes.float32) if mean is None else mean
    variance = constant([], dtypes.float32) if variance is None else variance
    made = op("FusedBatchNormV3", name, x=x, scale=scale, offset=offset, mean=mean, variance=variance,
              epsilon=epsilon, exponential_avg_factor=exponential_avg_factor, data_format=data_format,
              is_training=is_training)
    return made[0], made[1], made[2]


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    axis = either("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_complex:
            squares = math_ops.reduce_sum(math_ops.square(x), axis, keepdims=True)
            return op("Mul", scope, x=x, y=math_ops.rsqrt(math_ops.maximum(squares, epsilon)))
        squares = math_ops.square(math_ops.real(x)) + math_ops.square(math_ops.imag(x))
        scale = math_ops.rsqrt(math_ops.maximum(math_ops.reduce_sum(squares, axis, keepdims=True), epsilon))
        return math_ops.complex(math_ops.multiply(math_ops.real(x), scale), math_ops.multiply(math_ops.imag(x), scale), name=scope)


def zero_fraction(value, name=None):
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        total = array_ops.size(value, out_type=dtypes.int64)
        found = control_flow.cond(total <= dtypes.int32.max, lambda: math_ops.cast(_nonzero(value, dtypes.int32), dtypes.int64),
                                  lambda: _nonzero(value, dtypes.int64))
        with name_scope("counts_to_fraction"):
            zeros = total - found
            fraction = math_ops.cast(zeros, dtypes.float32) / math_ops.cast(total, dtypes.float32)
        return op("Identity", "fraction", input=fraction)


def _nonzero(value, kind):
    """Returns how many elements are not 0, counted in a type that can hold their number."""
    with name_scope("count_nonzero"):
        other = math_ops.not_equal(value, array_ops.zeros([], value.dtype.base_dtype))
        return math_ops.reduce_sum(math_ops.cast(other, kind), name="nonzero_count")


# ---- convolutions and pools ----

def _four(value, name, channels_last=True):
    if is_number(value):
        return [1, value, value, 1] if channels_last else [1, 1, value, value]
    value = list(value)
    if len(value) == 4:
        return value
    value = value * (2 if len(value) == 1 else 1)
    return [1, *value, 1] if channels_last else [1, 1, *value]


def padded(padding):
    """Returns the attributes of a padding: a name, or a list of pairs for all dimensions."""
    if isinstance(padding, (list, tuple)):
        return {"padding": "EXPLICIT", "explicit_paddings": [int(n) for pair in padding for n in pair]}
    return {"padding": padding}


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC",
           dilations=(1, 1, 1, 1), name=None, filters=None):
    filter = either("filters", filters, "filter", filter)
    return op("Conv2D", name, input=input, filter=filter, strides=_four(strides, "strides", data_format != "NCHW"),
              use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format or "NHWC",
              dilations=list(_four(dilations, "dilations", data_format != "NCHW")), **padded(padding))


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME",
                     data_format="NHWC", name=None, input=None, filters=None, dilations=None):
    value, filter = either("input", input, "value", value), either("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return op("Conv2DBackpropInput", scope, input_sizes=output_shape,
                  filter=filter, out_backprop=value, strides=_four(strides, "strides", data_format != "NCHW"), data_format=data_format,
                  dilations=[1, 1, 1, 1] if dilations is None else _four(dilations, "dilations", data_format != "NCHW"),
                  **padded(padding))


def depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1),
                            name=None):
    return op("DepthwiseConv2dNative", name, input=input, filter=filter, strides=list(strides), data_format=data_format or "NHWC",
              dilations=list(dilations), **padded(padding))


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input, filter = convert_to_tensor(input, name="tensor_in"), convert_to_tensor(filter, name="filter_in")
        rates = _rates(filter, rate if dilations is None else dilations, data_format)
        return depthwise_conv2d_native(input, filter, strides, padding, data_format, rates, scope)


def _rates(filter, rate, data_format):
    """Returns two rates as four dilations.

    The two extra nodes are TensorFlow's; later seeds depend on the number of nodes.
    """
    rate = [1, 1] if rate is None else [rate, rate] if isinstance(rate, int) else list(rate)
    array_ops.shape(filter)
    convert_to_tensor(rate, dtypes.int32, name="dilation_rate")
    return [1, 1] + rate if data_format == "NCHW" else [1] + rate + [1]


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None,
                     data_format=None, dilations=None):
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        for size in pointwise_filter.shape.with_rank(4)[:2]:
            size.assert_is_compatible_with(1)
        rates = _rates(depthwise_filter, rate if dilations is None else dilations, data_format)
        deep = depthwise_conv2d_native(input, depthwise_filter, strides, padding, data_format, rates, "depthwise")
        return op("Conv2D", scope, input=deep, filter=pointwise_filter, strides=[1, 1, 1, 1], padding="VALID",
                  data_format=data_format or "NHWC")


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format="NWC", name=None,
           input=None, dilations=None):
    """Returns a one-dimensional convolution, computed as one of images that are one row high."""
    value = either("input", input, "value", value)
    if data_format not in (None, "NHWC", "NCHW", "NWC", "NCW"):
        raise ValueError("data_format must be \"NWC\" or \"NCW\". Received: data_format=%s" % (data_format,))
    first = bool(data_format) and data_format.startswith("NC")
    at = 2 if first else 1
    with name_scope(name, "conv1d", [value, filters]) as scope:
        steps, gaps = (_with_row_and_batch(v, first) for v in (stride, 1 if dilations is None else dilations))
        image, kernel = op("ExpandDims", input=value, dim=at), op("ExpandDims", input=filters, dim=0)
        out = op("Conv2D", scope, input=image, filter=kernel, strides=steps, use_cudnn_on_gpu=use_cudnn_on_gpu is not False,
                 data_format="NCHW" if first else "NHWC", dilations=gaps, **padded(padding))
        return op("Squeeze", input=out, squeeze_dims=[at])


def _with_row_and_batch(value, first):
    """Returns the size along a row, given alone or with those of batch and channels, as four sizes of an image."""
    value = [value] if is_number(value) else list(value)
    value = value if len(value) == 3 else [1, 1, value[0]] if first else [1, value[0], 1]
    return [value[0], value[1], 1, value[2]] if first else [value[0], 1, value[1], value[2]]


def atrous_conv2d(value, filters, rate, padding, name=None):
    if rate != 1:  # TensorFlow's result is the last of several nodes.
        with name_scope(name, "convolution", [value, filters]):
            return conv2d(value, filters, [1, 1, 1, 1], padding, dilations=[1, rate, rate, 1], name="BatchToSpaceND")
    return conv2d(value, filters, [1, 1, 1, 1], padding, name=name or "convolution")


def max_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):
    value = either("input", input, "value", value)
    last = data_format != "NCHW"
    return op("MaxPool", name, input=value, ksize=_four(ksize, "ksize", last), strides=_four(strides, "strides", last),
              data_format=data_format, **padded(padding))


def avg_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):
    value = either("input", input, "value", value)
    last = data_format != "NCHW"
    return op("AvgPool", name, value=value, ksize=_four(ksize, "ksize", last), strides=_four(strides, "strides", last),
              padding=padding, data_format=data_format)


def top_k(input, k=1, sorted=True, name=None, index_type=dtypes.int32):
    return op("TopKV2", name, input=input, k=k, sorted=sorted, index_type=index_type)


# ---- embeddings ----

def _pieces(params):
    from weft._core.ops.partitioned import PartitionedVariable
    if isinstance(params, PartitionedVariable):
        return list(params)
    return list(params) if isinstance(params, (list, tuple)) else [params]


def _table(part, name):
    """Returns a part of a table: a variable from which the library gathers directly, or a tensor."""
    plain = isinstance(part, Variable) and part.graph.outer is None and getattr(part, "_caching_device", None) is None
    return part._ref() if plain and get_default_graph().outer is None else convert_to_tensor(part, name=name)


def _checked_pieces(params, strategy):
    parts = _pieces(params)
    if not parts:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    if len(parts) > 1 and strategy not in ("mod", "div"):
        raise ValueError("Unrecognized partition strategy: %s. Must be one of either `mod` or `div`." % strategy)
    return parts


def _limit(max_norm, parts, tables):
    """Returns max_norm, the largest norm of a row, as an operand with the type of the table."""
    return None if max_norm is None else library.operand(max_norm, parts[0] if is_tensor(parts[0]) else tables[0])


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    parts = _checked_pieces(params, partition_strategy)
    with name_scope(name, "embedding_lookup", parts + [ids]) as scope:
        tables = [_table(p, "params_%d" % i) for i, p in enumerate(parts)]
        ids = convert_to_tensor(ids, name="ids")
        return library.helper("embedding_lookup", scope, [ids, _limit(max_norm, parts, tables), *tables], flag=partition_strategy == "div")


def embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None,
                            max_norm=None, allow_fast_lookup=False):
    sp_ids, sp_weights = _sparse_ids(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", _pieces(params) + [sp_ids.values]) as scope:
        parts = _checked_pieces(params, partition_strategy)
        tables = [_table(p, "params_%d" % i if len(parts) > 1 else "params") for i, p in enumerate(parts)]
        return _combined("embedding_lookup_sparse", scope, tables, [sp_ids.indices, sp_ids.values], sp_weights, [],
                         _limit(max_norm, parts, tables), partition_strategy, combiner, allow_fast_lookup)


def _sparse_ids(ids, weights):
    """Returns ids and weights as sparse tensors; they may be ragged."""
    ids, weights = (v.to_sparse() if hasattr(v, "nested_row_splits") else v for v in (ids, weights))
    if not isinstance(ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor, got %s" % type(ids))
    if weights is not None and not isinstance(weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor, got %s" % type(weights))
    if weights is not None:
        for part in ("values", "indices", "dense_shape"):
            getattr(ids, part).shape.assert_is_compatible_with(getattr(weights, part).shape)
    return ids, weights


def _combined(kind, scope, tables, ids, weights, rest, limit, strategy, combiner, fast):
    """Returns the rows that the library looks up and combines."""
    operands = [*ids, None if weights is None else weights.values, *rest, limit, float(bool(fast)), *tables]
    return library.helper(kind, scope, operands, flag=strategy == "div", method=combiner)


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None, name=None,
                                 partition_strategy="div", max_norm=None, allow_fast_lookup=False):
    """Works as embedding_lookup_sparse, but rows with missing or invalid ids get the embedding of the default id, or
    zeros.

    Args:
      embedding_weights: the table, or a list of its partitions.
      sparse_ids: a SparseTensor of ids; negative ones are dropped.
      sparse_weights: a SparseTensor of weights or None; entries without a positive weight are dropped, unless
        they are summed.
      combiner: 'mean', 'sqrtn' or 'sum'.
      default_id: the id for empty rows; None gives a row of zeros.
      name: a name for the operation.
      partition_strategy: 'div' or 'mod'.
      max_norm: the largest norm of a row, or None.
      allow_fast_lookup: whether equal ids of weighted rows may be looked up one by one.
    """
    if embedding_weights is None or isinstance(embedding_weights, (list, tuple)) and not embedding_weights:
        raise ValueError("Missing embedding_weights %s." % (embedding_weights,))
    ids, weights = _sparse_ids(sparse_ids, sparse_weights)
    parts = _checked_pieces(embedding_weights, partition_strategy)
    tables = [_table(p, None) for p in parts]
    with name_scope(name, "embedding_lookup", [sparse_ids, sparse_weights]) as scope:
        default = None if default_id is None else library.operand(default_id, ids.values)
        return _combined("safe_embedding_lookup_sparse", scope, tables, [ids.indices, ids.values, ids.dense_shape],
                         weights, [default], _limit(max_norm, parts, tables), partition_strategy, combiner, allow_fast_lookup)


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, partition_strategy="mod", name="nce_loss"):
    from weft._core.nn.sampled import nce_loss as made
    return made(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                remove_accidental_hits, partition_strategy, name)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None):
    from weft._core.nn.sampled import sampled_softmax_loss as made
    return made(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                remove_accidental_hits, partition_strategy, name, seed)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input, targets = convert_to_tensor(log_input, name="log_input"), convert_to_tensor(targets, name="targets")
        if not log_input.shape.is_compatible_with(targets.shape):
            raise ValueError("`log_input` and `targets` must have the same shape, received (%s vs %s)." % (
                log_input.shape, targets.shape))
        loss = math_ops.exp(log_input) - log_input * targets
        if compute_full_loss:
            stirling = targets * math_ops.log(targets) - targets + 0.5 * math_ops.log(2 * np.pi * targets)
            loss = loss + array_ops.where(math_ops.logical_and(targets >= 0, targets <= 1), array_ops.zeros_like(targets), stirling)
        return loss


def ctc_loss(labels=None, inputs=None, sequence_length=None, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
             ignore_longer_outputs_than_inputs=False, time_major=True, logits=None):
    inputs = either("logits", logits, "inputs", inputs)
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    return op("CTCLoss", None, inputs=inputs, labels_indices=labels.indices, labels_values=labels.values,
              sequence_length=sequence_length, preprocess_collapse_repeated=preprocess_collapse_repeated,
              ctc_merge_repeated=ctc_merge_repeated,
              ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)[0]


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    indices, values, shape, score = op(
        "CTCGreedyDecoder", None, inputs=inputs, sequence_length=sequence_length, merge_repeated=merge_repeated,
        blank_index=-1 if blank_index is None else blank_index)
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    *parts, scores = op("CTCBeamSearchDecoder", None, inputs=inputs, sequence_length=sequence_length, beam_width=beam_width,
                        top_paths=top_paths, merge_repeated=merge_repeated)
    return [SparseTensor(*path) for path in zip(*parts)], scores
