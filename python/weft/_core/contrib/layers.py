"""tf.contrib.layers: regularizers, initializers and layers."""
import contextlib
import functools
import math
import re

from weft._core.contrib import layer_utils
from weft._core.contrib.framework import add_arg_scope, model_variable
from weft._core.framework.absent import where
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.graph import GraphKeys, get_default_graph, name_scope
from weft._core.nn import feature_column, layers as core, nn
from weft._core.nn.batch_norm import batch_norm_here
from weft._core.nn.batch_norm_layer import whole_variables
from weft._core.ops import array_ops, init_ops, math_ops, random_ops
from weft._core.ops.variable_scope import no_regularizer, variable_scope


def _checked(scale):
    import numbers
    if isinstance(scale, numbers.Integral):
        raise ValueError("scale cannot be an integer: %s" % scale)
    if scale < 0.:
        raise ValueError("Setting a scale less than 0 on a regularizer: %g" % scale)


def l2_regularizer(scale, scope=None):
    _checked(scale)
    if scale == 0.:
        return lambda _: None

    def l2(weights):
        with name_scope(scope, "l2_regularizer", [weights]) as name:
            x = convert_to_tensor(weights)
            return op("Mul", name, x=constant(scale, x.dtype.base_dtype, name="scale"), y=nn.l2_loss(x))
    return l2


def l1_regularizer(scale, scope=None):
    _checked(scale)
    if scale == 0.:
        return lambda _: None

    def l1(weights):
        with name_scope(scope, "l1_regularizer", [weights]) as name:
            x = convert_to_tensor(weights)
            return op("Mul", name, x=constant(scale, x.dtype.base_dtype, name="scale"),
                      y=math_ops.reduce_sum(math_ops.abs(x)))
    return l1


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope or "l1_l2_regularizer")


def sum_regularizer(regularizer_list, scope=None):
    regularizer_list = [fn for fn in regularizer_list if fn is not None]
    if not regularizer_list:
        return None

    def total(weights):
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            found = [r for r in (fn(weights) for fn in regularizer_list) if r is not None]
            return math_ops.add_n(found, name=name) if found else None
    return total


def apply_regularization(regularizer, weights_list=None):
    weights_list = weights_list or get_default_graph().get_collection(GraphKeys.WEIGHTS)
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        found = [r for r in (regularizer(w) for w in weights_list)]
        found = [constant(0.0) if r is None else r for r in found]
        for r in found:
            if r.shape.ndims != 0:
                raise ValueError("regularizer must return a scalar Tensor instead of a Tensor with rank %s." % r.shape.ndims)
        made = math_ops.add_n(found, name=scope)
        get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, made)
        return made


def xavier_initializer(uniform=True, seed=None, dtype=init_ops.dtypes.float32):
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=init_ops.dtypes.float32):
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]" % mode)

    def _initializer(shape, dtype=dtype, partition_info=None):
        """Draws initial values with contrib's standard deviation, which differs from that of
        tf.variance_scaling_initializer.
        """
        if not dtype.is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        fan_in, fan_out = init_ops.fans(shape) if shape else (1, 1)
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_ops.random_uniform(shape, -limit, limit, dtype, seed=seed)
        return random_ops.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)
    return _initializer


def _variable(name, shape, dtype, initializer, regularizer, trainable, collections):
    """Returns a model variable, in the collections asked for: a list, or by name.

    An arg_scope of model_variable sets its device.
    """
    more = (collections or {}).get(name, []) if isinstance(collections, (dict, type(None))) else collections
    return model_variable(name, shape, dtype, initializer, regularizer, trainable, collections=list(more or []))


_OF_LAYERS = {"weights": "kernel", "biases": "bias", "depthwise_weights": "depthwise_kernel", "pointwise_weights": "pointwise_kernel"}


def _weight(name, shape, dtype, initializer, regularizer, trainable, collections):
    """Returns a variable of a layer that TensorFlow makes with tf.layers, whose name for it is in that of its loss."""
    if regularizer is None:
        return _variable(name, shape, dtype, initializer, None, trainable, collections)
    graph = get_default_graph()
    before = len(graph._variable_store)
    made = _variable(name, shape, dtype, initializer, no_regularizer, trainable, collections)
    if len(graph._variable_store) > before:  # A new variable was made, rather than an existing one shared.
        with name_scope(_OF_LAYERS[name] + "/Regularizer"):
            loss = regularizer(made)
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _bias(size, dtype, normalizer_fn, initializer, regularizer, trainable, collections):
    """Returns the biases of a layer, made before its operations, or None where there are none, or a normalizer in their
    place.
    """
    if normalizer_fn is not None or initializer is None:
        return None
    return _weight("biases", [size], dtype, initializer, regularizer, trainable, collections)


def _collect(collections, name, out):
    """Returns the layer's output after adding it to the requested collections under the layer's name."""
    return layer_utils.collect_named_outputs(collections, name, out)


def _finish(out, normalizer_fn, normalizer_params, activation_fn):
    if normalizer_fn is not None:
        out = normalizer_fn(out, **(normalizer_params or {}))
    return out if activation_fn is None else activation_fn(out)


@add_arg_scope
def fully_connected(inputs, num_outputs, activation_fn=nn.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=xavier_initializer(), weights_regularizer=None,
                    biases_initializer=init_ops.Zeros(), biases_regularizer=None, reuse=None, variables_collections=None,
                    outputs_collections=None, trainable=True, scope=None):
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse) as sc:
        x = convert_to_tensor(inputs)
        if x.shape.ndims is None or x.shape.ndims < 2:
            raise ValueError("Input 0 of layer %s is incompatible with the layer: rank of x must be at least 2 not: %s" % (
                sc.name, x.shape.ndims))
        depth = x.shape.as_list()[-1]
        kind = x.dtype.base_dtype
        w = _weight("weights", [depth, num_outputs], kind, weights_initializer, weights_regularizer, trainable, variables_collections)
        b = _bias(num_outputs, kind, normalizer_fn, biases_initializer, biases_regularizer, trainable, variables_collections)
        if x.shape.ndims > 2:
            out = math_ops.tensordot(x, w, 1)
        else:
            out = math_ops.matmul(x, w)
        if b is not None:
            out = nn.bias_add(out, b)
        return _collect(outputs_collections, sc.name, _finish(out, normalizer_fn, normalizer_params, activation_fn))


# As in TensorFlow, these are partial functions; stack() and repeat() name their scopes after the function.
linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn.relu6)


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def _format(data_format):
    """Returns TensorFlow's name of the layout, and where height and width are among four numbers."""
    if data_format not in (None, "NHWC", "NCHW", "channels_last", "channels_first"):
        raise ValueError("data_format has to be either NCHW or NHWC, not %r" % (data_format,))
    if data_format in ("NCHW", "channels_first"):
        return "NCHW", lambda two: [1, 1] + two
    return "NHWC", lambda two: [1] + two + [1]


@add_arg_scope
def convolution2d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=nn.relu,
           normalizer_fn=None, normalizer_params=None, weights_initializer=xavier_initializer(), weights_regularizer=None,
           biases_initializer=init_ops.Zeros(), biases_regularizer=None, reuse=None, variables_collections=None,
           outputs_collections=None, trainable=True, scope=None):
    with variable_scope(scope, "Conv", [inputs], reuse=reuse) as sc:
        x = convert_to_tensor(inputs)
        if x.shape.ndims != 4:
            raise ValueError("Convolution expects input with rank 4, got %s" % x.shape.ndims)
        k, s, r = _pair(kernel_size), _pair(stride), _pair(rate)
        form, of = _format(data_format)
        kind = x.dtype.base_dtype
        w = _weight("weights", k + [x.shape.as_list()[form.index("C")], num_outputs], kind, weights_initializer,
                    weights_regularizer, trainable, variables_collections)
        b = _bias(num_outputs, kind, normalizer_fn, biases_initializer, biases_regularizer, trainable, variables_collections)
        out = nn.conv2d(x, w, of(s), padding.upper(), data_format=form, dilations=of(r))
        if b is not None:
            out = nn.bias_add(out, b, data_format=form)
        return _collect(outputs_collections, sc.name, _finish(out, normalizer_fn, normalizer_params, activation_fn))


conv2d = convolution2d  # The scopes that repeat() and stack() make have the name of the function.


@add_arg_scope
def convolution2d_transpose(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format="NHWC", activation_fn=nn.relu,
                     normalizer_fn=None, normalizer_params=None, weights_initializer=xavier_initializer(),
                     weights_regularizer=None, biases_initializer=init_ops.Zeros(), biases_regularizer=None, reuse=None,
                     variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    _format(data_format)
    if data_format != "NHWC":
        raise NotImplementedError("tf.contrib.layers.conv2d_transpose(data_format=%r) is not in Weft%s: transpose the images to "
                                  "NHWC" % (data_format, where()))
    with variable_scope(scope, "Conv2d_transpose", [inputs], reuse=reuse) as sc:
        x = convert_to_tensor(inputs)
        k, s, dims = _pair(kernel_size), _pair(stride), x.shape.as_list()
        kind = x.dtype.base_dtype
        w = _weight("weights", k + [num_outputs, dims[3]], kind, weights_initializer, weights_regularizer, trainable,
                    variables_collections)
        b = _bias(num_outputs, kind, normalizer_fn, biases_initializer, biases_regularizer, trainable, variables_collections)
        more = [max(a - b, 0) if padding.upper() == "VALID" else 0 for a, b in zip(k, s)]
        sizes = [array_ops.shape(x)[i] if dims[i] is None else dims[i] for i in range(3)]
        out = nn.conv2d_transpose(x, w, array_ops.stack(
            [sizes[0]] + [sizes[i + 1] * s[i] + more[i] for i in (0, 1)] + [num_outputs]), [1] + s + [1], padding.upper())
        size = [None if dims[i + 1] is None else dims[i + 1] * s[i] + more[i] for i in (0, 1)]
        out.set_shape([dims[0]] + size + [num_outputs])
        if b is not None:
            out = nn.bias_add(out, b)
        return _collect(outputs_collections, sc.name, _finish(out, normalizer_fn, normalizer_params, activation_fn))


conv2d_transpose = convolution2d_transpose


@add_arg_scope
def separable_convolution2d(inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME", data_format="NHWC",
                     rate=1, activation_fn=nn.relu, normalizer_fn=None, normalizer_params=None,
                     weights_initializer=xavier_initializer(), pointwise_initializer=None, weights_regularizer=None,
                     biases_initializer=init_ops.Zeros(), biases_regularizer=None, reuse=None, variables_collections=None,
                     outputs_collections=None, trainable=True, scope=None):
    """Returns each channel by itself, then (unless num_outputs is None) a mix of them."""
    _format(data_format)
    if data_format != "NHWC":
        raise NotImplementedError("tf.contrib.layers.separable_conv2d(data_format=%r) is not in Weft%s: transpose the images to "
                                  "NHWC" % (data_format, where()))
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse) as sc:
        x = convert_to_tensor(inputs)
        depth, kind, s = x.shape.as_list()[3], x.dtype.base_dtype, _pair(stride)
        make = _variable if num_outputs is None else _weight
        deep = make("depthwise_weights", _pair(kernel_size) + [depth, depth_multiplier], kind, weights_initializer,
                    weights_regularizer, trainable, variables_collections)
        given = (normalizer_fn, biases_initializer, biases_regularizer, trainable, variables_collections)
        if num_outputs is None:
            out = nn.depthwise_conv2d(x, deep, [1] + s + [1], padding, rate=_pair(rate))
            bias = None
            if normalizer_fn is None and biases_initializer is not None:
                bias = _variable("biases", [depth * depth_multiplier], kind, *given[1:])
        else:
            point = _weight("pointwise_weights", [1, 1, depth * depth_multiplier, num_outputs], kind,
                            pointwise_initializer or weights_initializer, weights_regularizer, trainable, variables_collections)
            bias = _bias(num_outputs, kind, *given)
            out = nn.separable_conv2d(x, deep, point, [1] + s + [1], padding.upper(), rate=_pair(rate))
        if bias is not None:
            out = nn.bias_add(out, bias)
        return _collect(outputs_collections, sc.name, _finish(out, normalizer_fn, normalizer_params, activation_fn))


separable_conv2d = separable_convolution2d


def one_hot_encoding(labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None):
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = math_ops.cast(convert_to_tensor(labels), init_ops.dtypes.int64)
        return _collect(outputs_collections, sc, array_ops.one_hot(labels, num_classes, on_value=on_value, off_value=off_value))


@add_arg_scope
def max_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None):
    (form, of), k, s = _format(data_format), _pair(kernel_size), _pair(stride)
    with name_scope(scope, "MaxPool2D", [inputs]) as sc:
        return _collect(outputs_collections, sc, nn.max_pool(inputs, of(k), of(s), padding.upper(), data_format=form))


@add_arg_scope
def avg_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None):
    (form, of), k, s = _format(data_format), _pair(kernel_size), _pair(stride)
    with name_scope(scope, "AvgPool2D", [inputs]) as sc:
        return _collect(outputs_collections, sc, nn.avg_pool(inputs, of(k), of(s), padding.upper(), data_format=form))


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    with name_scope(scope, "Flatten", [inputs]) as sc:
        return _collect(outputs_collections, sc, core.flatten(inputs))


@add_arg_scope
def dropout(inputs, keep_prob=0.5, noise_shape=None, is_training=True, outputs_collections=None, scope=None, seed=None):
    with name_scope(scope, "Dropout", [inputs]) as sc:
        return _collect(outputs_collections, sc, core.dropout(inputs, 1 - keep_prob, noise_shape, seed, is_training))


@add_arg_scope
def softmax(logits, scope=None):
    logits = convert_to_tensor(logits)
    if logits.shape.ndims is None:
        raise ValueError("the rank of logits must be known")
    with name_scope(scope, "softmax", [logits]):
        classes = logits.shape.as_list()[-1]
        rows = nn.softmax(array_ops.reshape(logits, [-1, array_ops.shape(logits)[-1] if classes is None else classes]))
        made = array_ops.reshape(rows, array_ops.shape(logits))
        made.set_shape(logits.shape)
        return made


def _flat_batch_norm(inputs, axis, *args):
    """Normalizes rows as images of one pixel, which the fused op accepts."""
    x = convert_to_tensor(inputs)
    depth = x.shape.as_list()[-1]
    if depth is None:
        raise ValueError("`C` dimension must be known but is None")
    images = array_ops.reshape(x, [-1, depth, 1, 1] if axis == 1 else [-1, 1, 1, depth])
    out, updates = batch_norm_here(images, *args[:6], axis, *args[6:])
    out = array_ops.reshape(out, array_ops.shape(x))
    out.set_shape(x.shape)
    return out, updates


@add_arg_scope
def batch_norm(inputs, decay=0.999, center=True, scale=False, epsilon=0.001, activation_fn=None, param_initializers=None,
               param_regularizers=None, updates_collections=GraphKeys.UPDATE_OPS, is_training=True, reuse=None,
               variables_collections=None, outputs_collections=None, trainable=True, batch_weights=None, fused=None,
               data_format="NHWC", zero_debias_moving_mean=False, scope=None, renorm=False, renorm_clipping=None,
               renorm_decay=0.99, adjustment=None):
    asked = {"batch_weights": batch_weights is not None, "renorm": renorm,
             "adjustment": adjustment is not None}
    for key in (k for k, given in asked.items() if given):
        raise NotImplementedError("tf.contrib.layers.batch_norm(%s=...) is not in Weft%s: leave it out" % (key, where()))
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC: %s" % data_format)
    start, kept = param_initializers or {}, param_regularizers or {}

    def make(key, shape, dtype, default, learnt):
        with whole_variables() if key.startswith("moving_") else contextlib.nullcontext():
            return _variable(key, shape, dtype, start.get(key, default), kept.get(key), learnt, variables_collections)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
        axis, given = 1 if data_format == "NCHW" else -1, (decay, epsilon, center, scale, is_training, trainable)
        if convert_to_tensor(inputs).shape.ndims == 2 and fused in (None, True):
            out, updates = _flat_batch_norm(inputs, axis, *given, make, fused, zero_debias_moving_mean)
        else:
            out, updates = batch_norm_here(inputs, *given, axis, make, fused, zero_debias_moving_mean)
        if zero_debias_moving_mean and fused is False:
            # TensorFlow's older formula adds its variables to those of the model.
            _of_model(sc.name + "/" + sc.name + "/moving_mean/")
        if fused in (None, True) or zero_debias_moving_mean:
            # These are tensors, as in TensorFlow's collection.
            updates = [u.outputs[0] if u.outputs else u for u in updates]
        if updates_collections is None:
            with get_default_graph().control_dependencies(updates):
                out = array_ops.identity(out)
        else:
            for u in updates:
                get_default_graph().add_to_collections(updates_collections, u)
        return _collect(outputs_collections, sc.original_name_scope, out if activation_fn is None else activation_fn(out))


def _of_model(scope):
    """Adds the variables of a scope to those of the model."""
    graph = get_default_graph()
    for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, re.escape(scope)):
        if v not in graph.get_collection(GraphKeys.MODEL_VARIABLES):
            graph.add_to_collection(GraphKeys.MODEL_VARIABLES, v)


# ---- feature columns by their older names ----

def real_valued_column(column_name, dimension=1, default_value=None, dtype=init_ops.dtypes.float32, normalizer=None):
    return feature_column.numeric_column(column_name, (dimension,), default_value, dtype, normalizer)


def _combined(column, combiner):
    """Returns a column whose values in one row a linear model combines in this way."""
    if combiner not in ("sum", "mean", "sqrtn"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum', given %r" % combiner)
    column._combiner = combiner
    return column


def sparse_column_with_hash_bucket(column_name, hash_bucket_size, combiner="sum", dtype=init_ops.dtypes.string,
                                   hash_keys=None):
    if hash_keys is not None:
        raise NotImplementedError("tf.contrib.layers.sparse_column_with_hash_bucket(hash_keys=...) is not in Weft: leave it out")
    return _combined(feature_column.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype), combiner)


def sparse_column_with_keys(column_name, keys, default_value=-1, combiner="sum", dtype=init_ops.dtypes.string):
    return _combined(feature_column.categorical_column_with_vocabulary_list(column_name, keys, dtype, default_value), combiner)


def sparse_column_with_integerized_feature(column_name, bucket_size, combiner="sum", dtype=init_ops.dtypes.int64):
    if not init_ops.dtypes.as_dtype(dtype).is_integer:
        raise ValueError("dtype must be an integer. dtype: %s, column_name: %s" % (dtype, column_name))
    if dtype != init_ops.dtypes.int64:
        raise NotImplementedError("tf.contrib.layers.sparse_column_with_integerized_feature(dtype=%s) is not in Weft: cast the "
                                  "feature to int64" % dtype)
    return _combined(feature_column.categorical_column_with_identity(column_name, bucket_size), combiner)


bucketized_column = feature_column.bucketized_column


def crossed_column(columns, hash_bucket_size, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                   hash_key=None):
    for key, given in (("ckpt_to_load_from", ckpt_to_load_from), ("tensor_name_in_ckpt", tensor_name_in_ckpt)):
        if given is not None:
            raise NotImplementedError("tf.contrib.layers.crossed_column(%s=...) is not in Weft: leave it out, and load the "
                                      "weights with tf.train.init_from_checkpoint" % key)
    if not columns or len(columns) < 2:
        raise ValueError("columns must have at least 2 elements, got %s" % (columns,))
    if hash_bucket_size < 2:
        raise ValueError("hash_bucket_size must be at least 2, got %s" % hash_bucket_size)
    columns = tuple(sorted(columns, key=lambda c: c.name))
    return _combined(feature_column.CrossedColumn(columns, hash_bucket_size, hash_key), combiner)


def embedding_column(sparse_id_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True):
    return feature_column.embedding_column(sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from,
                                           tensor_name_in_ckpt, max_norm, trainable)


def one_hot_column(sparse_id_column):
    return feature_column.indicator_column(sparse_id_column)
