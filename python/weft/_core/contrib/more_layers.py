"""Layers of tf.contrib.layers in addition to those of layers.py: convolutions and pools of any rank, and small layers.
"""
import functools

import weft as tf
from weft._core.contrib.framework import add_arg_scope
from weft._core.contrib.layers import _bias, _collect, _finish, _variable, _weight, conv2d, fully_connected, xavier_initializer

_FORMS = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def _several(value, n):
    return [value] * n if isinstance(value, int) else list(value)


def _check_form(data_format, rank):
    data_format = data_format or _FORMS[rank][0]
    if data_format not in _FORMS[rank]:
        raise ValueError("data_format has to be either %s or %s." % _FORMS[rank][::-1])
    return data_format


@add_arg_scope
def convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=tf.nn.relu,
                normalizer_fn=None, normalizer_params=None, weights_initializer=xavier_initializer(), weights_regularizer=None,
                biases_initializer=tf.zeros_initializer(), biases_regularizer=None, reuse=None, variables_collections=None,
                outputs_collections=None, trainable=True, scope=None, conv_dims=None):
    """Returns a convolution of sequences, images or volumes, by the rank of the inputs."""
    x = tf.convert_to_tensor(inputs)
    rank = x.shape.ndims
    if conv_dims is not None and conv_dims + 2 != rank:
        raise ValueError("Convolution expects input with rank %d, got %d" % (conv_dims + 2, rank))
    if rank not in _FORMS:
        raise ValueError("Convolution not supported for input with rank %s" % rank)
    given = dict(activation_fn=activation_fn, normalizer_fn=normalizer_fn, normalizer_params=normalizer_params,
                 weights_initializer=weights_initializer, weights_regularizer=weights_regularizer,
                 biases_initializer=biases_initializer, biases_regularizer=biases_regularizer, reuse=reuse,
                 variables_collections=variables_collections, outputs_collections=outputs_collections, trainable=trainable,
                 scope=scope)
    if rank == 4:
        return conv2d(x, num_outputs, kernel_size, stride, padding, data_format, rate, **given)
    return _conv(x, num_outputs, kernel_size, stride, padding, data_format, rate, **given)


def _conv(x, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn, normalizer_fn, normalizer_params,
          weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
          outputs_collections, trainable, scope):
    form, n = _check_form(data_format, x.shape.ndims), x.shape.ndims - 2
    with tf.variable_scope(scope, "Conv", [x], reuse=reuse) as sc:
        kind = x.dtype.base_dtype
        shape = _several(kernel_size, n) + [x.shape.as_list()[form.index("C")], num_outputs]
        w = _weight("weights", shape, kind, weights_initializer, weights_regularizer, trainable, variables_collections)
        b = _bias(num_outputs, kind, normalizer_fn, biases_initializer, biases_regularizer, trainable, variables_collections)
        out = tf.nn.convolution(x, w, padding.upper(), _several(stride, n), _several(rate, n), data_format=form)
        if b is not None:
            out = _biased(out, b, form)
        return _collect(outputs_collections, sc.name, _finish(out, normalizer_fn, normalizer_params, activation_fn))


def _biased(x, b, form):
    """Returns x + b along the channels."""
    if form.endswith("C"):
        return tf.nn.bias_add(x, b)
    return x + tf.reshape(b, [1, -1] + [1] * (x.shape.ndims - 2))


@add_arg_scope
def convolution1d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=tf.nn.relu,
                  normalizer_fn=None, normalizer_params=None, weights_initializer=xavier_initializer(), weights_regularizer=None,
                  biases_initializer=tf.zeros_initializer(), biases_regularizer=None, reuse=None, variables_collections=None,
                  outputs_collections=None, trainable=True, scope=None):
    """Returns a convolution of sequences."""
    return convolution(inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn, normalizer_fn,
                       normalizer_params, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse,
                       variables_collections, outputs_collections, trainable, scope, conv_dims=1)


@add_arg_scope
def convolution3d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=tf.nn.relu,
                  normalizer_fn=None, normalizer_params=None, weights_initializer=xavier_initializer(), weights_regularizer=None,
                  biases_initializer=tf.zeros_initializer(), biases_regularizer=None, reuse=None, variables_collections=None,
                  outputs_collections=None, trainable=True, scope=None):
    """Returns a convolution of volumes."""
    return convolution(inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn, normalizer_fn,
                       normalizer_params, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer, reuse,
                       variables_collections, outputs_collections, trainable, scope, conv_dims=3)


conv1d, conv3d = convolution1d, convolution3d


@add_arg_scope
def convolution3d_transpose(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format="NDHWC",
                            activation_fn=tf.nn.relu, normalizer_fn=None, normalizer_params=None,
                            weights_initializer=xavier_initializer(), weights_regularizer=None,
                            biases_initializer=tf.zeros_initializer(), biases_regularizer=None, reuse=None,
                            variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """Returns a transposed convolution of volumes: it enlarges them."""
    if data_format != "NDHWC":
        raise NotImplementedError("tf.contrib.layers.conv3d_transpose(data_format=%r) is not in Weft: transpose the volumes to "
                                  "NDHWC" % data_format)
    with tf.variable_scope(scope, "Conv3d_transpose", [inputs], reuse=reuse) as sc:
        x = tf.convert_to_tensor(inputs)
        k, s, dims, kind = _several(kernel_size, 3), _several(stride, 3), x.shape.as_list(), x.dtype.base_dtype
        w = _weight("weights", k + [num_outputs, dims[4]], kind, weights_initializer, weights_regularizer, trainable,
                    variables_collections)
        b = _bias(num_outputs, kind, normalizer_fn, biases_initializer, biases_regularizer, trainable, variables_collections)
        more = [max(a - b, 0) if padding.upper() == "VALID" else 0 for a, b in zip(k, s)]
        sizes = [dims[i + 1] * s[i] + more[i] for i in range(3)]
        out = tf.nn.conv3d_transpose(x, w, tf.stack([tf.shape(x)[0]] + sizes + [num_outputs]), [1] + s + [1], padding.upper())
        out.set_shape([dims[0]] + sizes + [num_outputs])
        if b is not None:
            out = tf.nn.bias_add(out, b)
        return _collect(outputs_collections, sc.name, _finish(out, normalizer_fn, normalizer_params, activation_fn))


conv3d_transpose = convolution3d_transpose


@add_arg_scope
def convolution2d_in_plane(inputs, kernel_size, stride=1, padding="SAME", activation_fn=tf.nn.relu, normalizer_fn=None,
                           normalizer_params=None, weights_initializer=xavier_initializer(), weights_regularizer=None,
                           biases_initializer=tf.zeros_initializer(), biases_regularizer=None, reuse=None,
                           variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """Returns the same convolution of each channel by itself."""
    with tf.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        x = tf.convert_to_tensor(inputs)
        (height, width), s, channels = _several(kernel_size, 2), _several(stride, 2), x.shape.as_list()[3]
        w = _variable("weights", [height, width, 1, 1], x.dtype.base_dtype, weights_initializer, weights_regularizer, trainable,
                      variables_collections)
        out = tf.nn.depthwise_conv2d(x, tf.tile(w, [1, 1, channels, 1]), [1] + s + [1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            out = tf.nn.bias_add(out, _variable("biases", [channels], x.dtype.base_dtype, biases_initializer, biases_regularizer,
                                                trainable, variables_collections))
        return _collect(outputs_collections, sc.name, _finish(out, normalizer_fn, normalizer_params, activation_fn))


conv2d_in_plane = convolution2d_in_plane


def _pool3d(kind, title, inputs, kernel_size, stride, padding, data_format, outputs_collections, scope):
    form = _check_form(data_format, 5)
    k, s = _several(kernel_size, 3), _several(stride, 3)
    first = form == "NCDHW"
    with tf.name_scope(scope, title, [inputs]) as sc:
        x = tf.transpose(inputs, [0, 2, 3, 4, 1]) if first else inputs  # TensorFlow's CPU kernel requires NDHWC, too.
        out = kind(x, [1] + k + [1], [1] + s + [1], padding)
        return _collect(outputs_collections, sc, tf.transpose(out, [0, 4, 1, 2, 3]) if first else out)


@add_arg_scope
def max_pool3d(inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None, scope=None):
    """Returns the largest value of each window of a volume."""
    return _pool3d(tf.nn.max_pool3d, "MaxPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def avg_pool3d(inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None, scope=None):
    """Returns the mean of each window of a volume."""
    return _pool3d(tf.nn.avg_pool3d, "AvgPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def pool(inputs, kernel_size, pooling_type, padding="VALID", data_format=None, dilation_rate=1, stride=1,
         outputs_collections=None, scope=None):
    """Returns the largest value or the mean of each window, by the rank of the inputs."""
    with tf.name_scope(scope, "%s_pool" % pooling_type.lower(), [inputs]) as sc:
        x = tf.convert_to_tensor(inputs)
        n = x.shape.ndims - 2
        made = tf.nn.pool(x, _several(kernel_size, n), pooling_type, padding, _several(dilation_rate, n), _several(stride, n),
                          name=sc, data_format=data_format)
        return _collect(outputs_collections, sc, made)


# ---- small layers ----

@add_arg_scope
def bias_add(inputs, activation_fn=None, initializer=tf.zeros_initializer(), regularizer=None, reuse=None,
             variables_collections=None, outputs_collections=None, trainable=True, data_format="NHWC", scope=None):
    """Adds a bias to each channel."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        x = tf.convert_to_tensor(inputs)
        rank = x.shape.ndims
        if rank != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = x.shape.as_list()[1 if data_format == "NCHW" else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        b = _variable("biases", [channels], x.dtype.base_dtype, initializer, regularizer, trainable, variables_collections)
        out = tf.nn.bias_add(x, b, data_format=data_format)
        return _collect(outputs_collections, sc.name, out if activation_fn is None else activation_fn(out))


@add_arg_scope
def spatial_softmax(features, temperature=None, name=None, variables_collections=None, trainable=True, data_format="NHWC"):
    """Returns the mean place of each channel of an image, as (x, y) between -1 and 1."""
    with tf.variable_scope(name, "spatial_softmax"):
        x = tf.convert_to_tensor(features)
        if data_format not in ("NHWC", "NCHW"):
            raise ValueError("data_format has to be either NCHW or NHWC.")
        x = x if data_format == "NCHW" else tf.transpose(x, [0, 3, 1, 2])
        channels, height, width = x.shape.as_list()[1:]
        height, width = (tf.shape(x)[i + 2] if n is None else n for i, n in enumerate((height, width)))
        if temperature is None:
            temperature = _variable("temperature", (), tf.float32, tf.ones_initializer(), None, trainable, variables_collections)
        rows, columns = tf.meshgrid(tf.lin_space(-1.0, 1.0, num=height), tf.lin_space(-1.0, 1.0, num=width), indexing="ij")
        share = tf.nn.softmax(tf.reshape(x, [-1, height * width]) / temperature)
        means = [tf.reduce_sum(tf.reshape(place, [height * width]) * share, [1], keepdims=True) for place in (rows, columns)]
        found = tf.reshape(tf.concat(means, 1), [-1, channels * 2])
        found.set_shape([None, channels * 2])
        return found


def maxout(inputs, num_units, axis=-1, scope=None):
    """Returns the largest of each group of channels."""
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        x = tf.convert_to_tensor(inputs)
        known = x.shape.as_list()
        at = axis % len(known)
        if known[at] % num_units:
            raise ValueError("number of features(%d) is not a multiple of num_units(%d)" % (known[at], num_units))
        sizes = [tf.shape(x)[i] if n is None else n for i, n in enumerate(known)]
        made = tf.reduce_max(tf.reshape(x, sizes[:at] + [num_units, known[at] // num_units] + sizes[at + 1:]), at + 1)
        made.set_shape(known[:at] + [num_units] + known[at + 1:])
        return made


elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)


@add_arg_scope
def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    """Returns the elements that are not eos_token, as a SparseTensor."""
    with tf.variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = tf.convert_to_tensor(tensor)
        places = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        made = tf.SparseTensor(places, tf.gather_nd(tensor, places), tf.shape(tensor, out_type=tf.int64))
        if outputs_collections:
            tf.add_to_collections(outputs_collections, made)
        return made if sc is not None else None


def images_to_sequence(inputs, data_format="NHWC", outputs_collections=None, scope=None):
    """Returns images as sequences of columns: (width, images * height, channels)."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        x = tf.convert_to_tensor(inputs)
        x = tf.transpose(x, [0, 2, 3, 1]) if data_format == "NCHW" else x
        known = x.shape.as_list()
        out = tf.transpose(tf.reshape(x, [-1, known[2], known[3]]), [1, 0, 2])
        return _collect(outputs_collections, sc, out)


def sequence_to_images(inputs, height, output_data_format="channels_last", outputs_collections=None, scope=None):
    """Returns the images of sequences of columns."""
    with tf.name_scope(scope, "SequenceToImages", [inputs]) as sc:
        x = tf.convert_to_tensor(inputs)
        width, rows, depth = x.shape.as_list()
        images = -1 if rows is None else rows // height
        out = tf.reshape(tf.transpose(x, [1, 0, 2]), [images, height, width, depth])
        out = tf.transpose(out, [0, 3, 1, 2]) if output_data_format == "channels_first" else out
        return _collect(outputs_collections, sc, out)


def scale_gradient(inputs, gradient_multiplier):
    """Returns the inputs unchanged, with their gradient multiplied."""
    x = tf.convert_to_tensor(inputs)
    return gradient_multiplier * x + tf.stop_gradient((1 - gradient_multiplier) * x)


# ---- layers from before 1.0 ----

def legacy_fully_connected(x, num_output_units, activation_fn=None, weight_init=xavier_initializer(),
                           bias_init=tf.zeros_initializer(), name=None, weight_collections=(tf.GraphKeys.WEIGHTS,),
                           bias_collections=(tf.GraphKeys.BIASES,), output_collections=(tf.GraphKeys.ACTIVATIONS,), trainable=True,
                           weight_regularizer=None, bias_regularizer=None):
    """Returns activation_fn(x * weights + bias), and adds each part to its collections."""
    with tf.variable_scope(name, "fully_connected", [x]):
        x = tf.convert_to_tensor(x)
        known, kind = x.shape.as_list(), x.dtype.base_dtype
        if known[-1] is None:
            raise ValueError("last dimension of x must be known but is None")
        base = [tf.GraphKeys.GLOBAL_VARIABLES]
        w = tf.get_variable("weights", [known[-1], num_output_units], kind, weight_init, weight_regularizer, trainable,
                            collections=base + list(weight_collections or ()))
        flat = x if len(known) <= 2 else tf.reshape(x, [-1, known[-1]])
        y = tf.matmul(flat, w)
        if bias_init is not None:
            b = tf.get_variable("bias", [num_output_units], kind, bias_init, bias_regularizer, trainable,
                                collections=base + list(bias_collections or ()))
            y = tf.nn.bias_add(y, b)
        if len(known) > 2:
            y = tf.reshape(y, tf.concat([tf.shape(x)[:-1], [num_output_units]], 0))
            y.set_shape(known[:-1] + [num_output_units])
        y = y if activation_fn is None else activation_fn(y)
        tf.add_to_collections(list(output_collections or ()), y)
        return y


def legacy_linear(x, num_output_units, **kwargs):
    """Calls legacy_fully_connected without an activation."""
    return legacy_fully_connected(x, num_output_units, activation_fn=None, **kwargs)


def legacy_relu(x, num_output_units, **kwargs):
    """Calls legacy_fully_connected with relu."""
    return legacy_fully_connected(x, num_output_units, activation_fn=tf.nn.relu, **kwargs)
