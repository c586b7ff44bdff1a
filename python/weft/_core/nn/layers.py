"""tf.layers: variables in a scope called as the layer, and the ops between them."""
import contextlib

from weft._core.framework.absent import where
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, Tensor, get_default_graph, name_scope
from weft._core.nn import nn
from weft._core.nn.base_layer import unique_name
from weft._core.nn.batch_norm_layer import BatchNormalization
from weft._core.ops import array_ops, init_ops, math_ops
from weft._core.ops.control_flow import smart_cond
from weft._core.ops.variable_scope import get_variable, variable_scope

HERE = object()  # as a layer's name: its caller has opened the scopes


def _layer_scope(name, default, inputs, reuse):
    if name is HERE:
        return contextlib.nullcontext()
    if name is None:
        unique_name(default)  # Keras counts these layers, too
    return variable_scope(name, default, [inputs], reuse=reuse)


def _name_scope(name, default, inputs):
    """Of a layer without variables."""
    if name is HERE:
        return contextlib.nullcontext()
    if name is None:
        unique_name(default)
    return name_scope(name, default, [inputs])


def _finish(out, activation, activity_regularizer):
    out = out if activation is None else activation(out)
    if activity_regularizer is not None:
        get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, activity_regularizer(out))
    return out


def _bias(units, x, initializer, regularizer, trainable, constraint):
    return get_variable("bias", [units], x.dtype.base_dtype, initializer, regularizer, trainable, constraint=constraint)


def dense(inputs, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(),
          kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
          bias_constraint=None, trainable=True, name=None, reuse=None):
    with _layer_scope(name, "dense", inputs, reuse):
        x = convert_to_tensor(inputs)
        depth = x.shape.as_list()[-1]
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        w = get_variable("kernel", [depth, units], x.dtype.base_dtype, kernel_initializer, kernel_regularizer, trainable,
                         constraint=kernel_constraint)
        b = _bias(units, x, bias_initializer, bias_regularizer, trainable, bias_constraint) if use_bias else None
        out = math_ops.matmul(x, w) if x.shape.ndims == 2 else math_ops.tensordot(x, w, 1)
        return _finish(out if b is None else nn.bias_add(out, b), activation, activity_regularizer)


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def _format(data_format):
    """TensorFlow's name of the layout, and where two numbers for height and width go in four."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("The `data_format` argument must be one of \"channels_first\", \"channels_last\". Received: %s" % data_format)
    first = data_format == "channels_first"
    return ("NCHW", lambda two: [1, 1] + two) if first else ("NHWC", lambda two: [1] + two + [1])


def conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1),
           activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(),
           kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
           bias_constraint=None, trainable=True, name=None, reuse=None):
    with _layer_scope(name, "conv2d", inputs, reuse):
        x = convert_to_tensor(inputs)
        k, s, r = _pair(kernel_size), _pair(strides), _pair(dilation_rate)
        form, of = _format(data_format)
        depth = x.shape.as_list()[form.index("C")]
        w = get_variable("kernel", k + [depth, filters], x.dtype.base_dtype, kernel_initializer, kernel_regularizer, trainable,
                         constraint=kernel_constraint)
        b = _bias(filters, x, bias_initializer, bias_regularizer, trainable, bias_constraint) if use_bias else None
        out = nn.conv2d(x, w, of(s), padding.upper(), data_format=form, dilations=of(r))
        return _finish(out if b is None else nn.bias_add(out, b, data_format=form), activation, activity_regularizer)


def separable_conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     dilation_rate=(1, 1), depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                     pointwise_initializer=None, bias_initializer=init_ops.Zeros(), depthwise_regularizer=None,
                     pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
                     pointwise_constraint=None, bias_constraint=None, trainable=True, name=None, reuse=None):
    if data_format != "channels_last":
        raise NotImplementedError("tf.layers.separable_conv2d(data_format=%r): Weft computes channels_last" % data_format)
    with _layer_scope(name, "separable_conv2d", inputs, reuse):
        x = convert_to_tensor(inputs)
        depth, dtype = x.shape.as_list()[-1], x.dtype.base_dtype
        deep = get_variable("depthwise_kernel", _pair(kernel_size) + [depth, depth_multiplier], dtype, depthwise_initializer,
                            depthwise_regularizer, trainable, constraint=depthwise_constraint)
        point = get_variable("pointwise_kernel", [1, 1, depth * depth_multiplier, filters], dtype, pointwise_initializer,
                             pointwise_regularizer, trainable, constraint=pointwise_constraint)
        b = _bias(filters, x, bias_initializer, bias_regularizer, trainable, bias_constraint) if use_bias else None
        out = nn.separable_conv2d(x, deep, point, [1] + _pair(strides) + [1], padding.upper(), rate=_pair(dilation_rate))
        return _finish(out if b is None else nn.bias_add(out, b), activation, activity_regularizer)


def conv2d_transpose(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(),
                     kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                     bias_constraint=None, trainable=True, name=None, reuse=None):
    if data_format != "channels_last":
        raise NotImplementedError("tf.layers.conv2d_transpose(data_format=%r) is not in Weft%s: transpose the images to "
                                  "channels_last" % (data_format, where()))
    with _layer_scope(name, "conv2d_transpose", inputs, reuse):
        x = convert_to_tensor(inputs)
        k, s, dims = _pair(kernel_size), _pair(strides), x.shape.as_list()
        w = get_variable("kernel", k + [filters, dims[-1]], x.dtype.base_dtype, kernel_initializer, kernel_regularizer, trainable,
                         constraint=kernel_constraint)
        more = [max(a - b, 0) if padding.lower() == "valid" else 0 for a, b in zip(k, s)]
        size = [dims[i + 1] * s[i] + more[i] for i in (0, 1)]
        out = nn.conv2d_transpose(x, w, array_ops.stack([array_ops.shape(x)[0]] + size + [filters]), [1] + s + [1], padding.upper())
        out.set_shape([dims[0]] + size + [filters])
        if use_bias:
            out = nn.bias_add(out, _bias(filters, x, bias_initializer, bias_regularizer, trainable, bias_constraint))
        return _finish(out, activation, activity_regularizer)


def max_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    with _name_scope(name, "max_pooling2d", inputs):
        form, of = _format(data_format)
        return nn.max_pool(inputs, of(_pair(pool_size)), of(_pair(strides)), padding.upper(), data_format=form)


def average_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    with _name_scope(name, "average_pooling2d", inputs):
        form, of = _format(data_format)
        return nn.avg_pool(inputs, of(_pair(pool_size)), of(_pair(strides)), padding.upper(), data_format=form)


def flatten(inputs, name=None, data_format="channels_last"):
    with _name_scope(name, "flatten", inputs):
        x = convert_to_tensor(inputs)
        if _format(data_format)[0] == "NCHW" and (x.shape.ndims or 0) > 2:
            x = array_ops.transpose(x, [0, *range(2, x.shape.ndims), 1])
        dims = x.shape.as_list()
        rest = None if None in dims[1:] else math_product(dims[1:])
        if rest is not None:
            return array_ops.reshape(x, [-1 if dims[0] is None else dims[0], rest])
        return array_ops.reshape(x, array_ops.stack([array_ops.shape(x)[0], -1]))


def math_product(dims):
    out = 1
    for d in dims:
        out *= d
    return out


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    inputs = convert_to_tensor(inputs)
    with _name_scope(name, "dropout", inputs):
        def dropped():
            return nn.dropout(inputs, rate=rate, noise_shape=_noise_shape(inputs, noise_shape), seed=seed)
        return smart_cond(training, dropped, lambda: array_ops.identity(inputs))


def _noise_shape(inputs, given):
    """A None in the shape stands for the size of the inputs there."""
    if given is None or isinstance(given, Tensor):
        return given
    have = array_ops.shape(inputs)
    return convert_to_tensor([have[i] if n is None else n for i, n in enumerate(given)])


def batch_normalization(inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                        beta_initializer=init_ops.Zeros(), gamma_initializer=init_ops.Ones(),
                        moving_mean_initializer=init_ops.Zeros(), moving_variance_initializer=init_ops.Ones(),
                        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                        training=False, trainable=True, name=None, reuse=None, renorm=False, renorm_clipping=None,
                        renorm_momentum=0.99, fused=None, virtual_batch_size=None, adjustment=None):
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
        renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _reuse=reuse,
        _scope=name)
    return layer(inputs, training=training)
