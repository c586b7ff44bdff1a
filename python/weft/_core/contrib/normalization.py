"""Layers of tf.contrib.layers that normalize over a layer, an instance or groups of channels, or to unit length."""
import weft as tf
from weft._core.contrib.framework import add_arg_scope
from weft._core.contrib.layers import _collect, _variable


def _checked(inputs, what="rank"):
    x = tf.convert_to_tensor(inputs)
    if x.shape.ndims is None:
        raise ValueError("Inputs %s has undefined rank." % x.name)
    return x


def _params(shape, x, center, scale, given, trainable, collections):
    """Returns (beta, gamma), each None if it is not wanted."""
    made = []
    for name, wanted, start in (("beta", center, tf.zeros_initializer()), ("gamma", scale, tf.ones_initializer())):
        made.append(_variable(name, shape, x.dtype.base_dtype, (given or {}).get(name, start), None, trainable, collections)
                    if wanted else None)
    return made


def _finished(out, x, activation_fn, collections, sc):
    out.set_shape(x.shape)
    return _collect(collections, sc.name, out if activation_fn is None else activation_fn(out))


@add_arg_scope
def layer_norm(inputs, center=True, scale=True, activation_fn=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, begin_norm_axis=1, begin_params_axis=-1, scope=None):
    """Returns each example with mean zero and variance one, times gamma plus beta (Ba, Kiros and Hinton)."""
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        x = _checked(inputs)
        rank = x.shape.ndims
        begin_norm_axis = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError("begin_params_axis (%d) and begin_norm_axis (%d) must be < rank(inputs) (%d)" % (
                begin_params_axis, begin_norm_axis, rank))
        shape = x.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError("Inputs %s: shape(inputs)[%s:] is not fully defined: %s" % (x.name, begin_params_axis, x.shape))
        beta, gamma = _params(shape.as_list(), x, center, scale, None, trainable, variables_collections)
        mean, variance = tf.nn.moments(x, list(range(begin_norm_axis, rank)), keep_dims=True)
        epsilon = 1e-3 if x.dtype.base_dtype == tf.float16 else 1e-12
        return _finished(tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon), x, activation_fn,
                         outputs_collections, sc)


def _form(data_format):
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    return data_format


@add_arg_scope
def instance_norm(inputs, center=True, scale=True, epsilon=1e-6, activation_fn=None, param_initializers=None, reuse=None,
                  variables_collections=None, outputs_collections=None, trainable=True, data_format="NHWC", scope=None):
    """Returns each channel of each image with mean zero and variance one, times gamma plus beta."""
    x = _checked(inputs)
    rank, first = x.shape.ndims, _form(data_format) == "NCHW"
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        axis = 1 if first else rank - 1
        channels = x.shape.as_list()[axis]
        if channels is None:
            raise ValueError("Inputs %s has undefined channels dimension %s." % (x.name, x.shape))
        beta, gamma = _params([channels], x, center, scale, param_initializers, trainable, variables_collections)
        if first:
            wide = [1, channels] + [1] * (rank - 2)
            beta, gamma = (None if p is None else tf.reshape(p, wide) for p in (beta, gamma))
        mean, variance = tf.nn.moments(x, [i for i in range(1, rank) if i != axis], keep_dims=True)
        return _finished(tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon, name="instancenorm"), x, activation_fn,
                         outputs_collections, sc)


def _group_axes(x, channels_axis, reduction_axes, groups):
    """Returns (the axis of the channels, the axes to reduce once the channels are split in two axes)"""
    rank, axis = x.shape.ndims, channels_axis
    if axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    axis = axis + rank if axis < 0 else axis
    axes = [a + rank if a < 0 else a for a in reduction_axes]
    for a in axes:
        if a > rank:
            raise ValueError("Axis is out of bounds.")
        if a == axis:
            raise ValueError("reduction_axes must be mutually exclusive with channels_axis")
        if a < rank and x.shape.as_list()[a] is None:
            raise ValueError("Inputs %s has undefined dimensions %d." % (x.name, a))
    channels = x.shape.as_list()[axis]
    if channels is None:
        raise ValueError("Inputs %s has undefined channel dimension: %d." % (x.name, axis))
    if groups > channels:
        raise ValueError("Invalid groups %d for %d channels." % (groups, channels))
    if channels % groups:
        raise ValueError("%d channels is not commensurate with %d groups." % (channels, groups))
    return axis, [a + 1 if a > axis else a for a in axes] + [axis + 1]


@add_arg_scope
def group_norm(inputs, groups=32, channels_axis=-1, reduction_axes=(-3, -2), center=True, scale=True, epsilon=1e-6,
               activation_fn=None, param_initializers=None, reuse=None, variables_collections=None, outputs_collections=None,
               trainable=True, scope=None, mean_close_to_zero=False):
    """Normalizes groups of channels to mean zero and variance one, times gamma plus beta (Wu and He)."""
    x = _checked(inputs)
    axis, axes = _group_axes(x, channels_axis, reduction_axes, groups)
    with tf.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        known, sizes = x.shape.as_list(), tf.unstack(tf.shape(x), x.shape.ndims)
        sizes = [s if k is None else k for k, s in zip(known, sizes)]
        split = sizes[:axis] + [groups, known[axis] // groups] + sizes[axis + 1:]
        wide = [1] * axis + [groups, known[axis] // groups] + [1] * (x.shape.ndims - axis - 1)
        beta, gamma = _params([known[axis]], x, center, scale, param_initializers, trainable, variables_collections)
        beta, gamma = (None if p is None else tf.reshape(p, wide) for p in (beta, gamma))
        parts = tf.reshape(x, split)
        if mean_close_to_zero:
            counts, sums, squares, shift = tf.nn.sufficient_statistics(parts, axes, keep_dims=True)
            mean, variance = tf.nn.normalize_moments(counts, sums, squares, shift)
        else:
            mean, variance = tf.nn.moments(parts, axes, keep_dims=True)
        out = tf.reshape(tf.nn.batch_normalization(parts, mean, variance, beta, gamma, epsilon), sizes)
        return _finished(out, x, activation_fn, outputs_collections, sc)


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """Divides vectors along an axis by their length."""
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        x = _checked(inputs)
        if dim < 0 or dim >= x.shape.ndims:
            raise ValueError("dim must be positive but smaller than the input rank.")
        return tf.div(x, tf.sqrt(epsilon + tf.reduce_sum(tf.square(x), dim, keepdims=True)))


def poincare_normalize(x, axis=1, epsilon=1e-5, name=None):
    """Moves vectors along an axis into the open ball of radius one."""
    with tf.name_scope(name, "poincare_normalize", [x]):
        x = tf.convert_to_tensor(x, name="x")
        length = tf.reduce_sum(tf.square(x), axis, keepdims=True)
        return tf.multiply(x, tf.minimum(tf.rsqrt(length) * (1.0 - epsilon), 1.0))
