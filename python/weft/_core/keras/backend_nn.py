"""tf.keras.backend: activations, losses, convolutions, pools, learning phases and padding."""
import numpy as np

import weft as tf
from weft._core.keras.backend_math import concatenate, int_shape, ndim, permute_dimensions, repeat_elements, reshape
from weft._core.keras.session import epsilon, image_data_format, learning_phase


def _small():
    return tf.convert_to_tensor(epsilon(), tf.float32)


def _constant(value, like):
    return tf.convert_to_tensor(value, dtype=like.dtype.base_dtype)


# ---- activations ----

def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """Returns x above the threshold, alpha * (x - threshold) below it, and at most max_value."""
    x = tf.convert_to_tensor(x)
    negative = None
    if alpha != 0.0:
        if max_value is None and threshold == 0:
            return tf.nn.leaky_relu(x, alpha=alpha)
        negative = tf.nn.relu(-x + threshold) if threshold != 0 else tf.nn.relu(-x)
    clip = max_value is not None
    if threshold != 0:
        x = x * tf.cast(tf.greater(x, threshold), x.dtype.base_dtype)
    elif max_value == 6:
        x, clip = tf.nn.relu6(x), False
    else:
        x = tf.nn.relu(x)
    if clip:
        x = tf.clip_by_value(x, _constant(0, x), _constant(max_value, x))
    if alpha != 0.0:
        x -= _constant(alpha, x) * negative
    return x


def elu(x, alpha=1.0):
    made = tf.nn.elu(x)
    return made if alpha == 1 else tf.where(x > 0, made, alpha * made)


def softmax(x, axis=-1):
    return tf.nn.softmax(x, axis=axis)


def softplus(x):
    return tf.nn.softplus(x)


def softsign(x):
    return tf.nn.softsign(x)


def sigmoid(x):
    return tf.sigmoid(x)


def hard_sigmoid(x):
    """Returns 0.2 * x + 0.5, limited to [0, 1]."""
    x = tf.convert_to_tensor(x)
    return tf.clip_by_value(x * _constant(0.2, x) + _constant(0.5, x), _constant(0.0, x), _constant(1.0, x))


def tanh(x):
    return tf.tanh(x)


def dropout(x, level, noise_shape=None, seed=None):
    """Returns x with a random fraction, level, set to zero and the rest scaled up."""
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=np.random.randint(10000000) if seed is None else seed)


def l2_normalize(x, axis=None):
    return tf.nn.l2_normalize(x, axis=axis)


def in_top_k(predictions, targets, k):
    return tf.nn.in_top_k(predictions, targets, k)


# ---- losses ----

def _logits(output, from_logits, op_type):
    """Returns (logits, True) if the output was made from known logits."""
    logits = getattr(output, "_keras_logits", None)
    if logits is not None:
        return logits, True
    if isinstance(output, tf.Tensor) and output.op.type == op_type and not hasattr(output, "_keras_history"):
        return output.op.inputs[0], True
    return output, from_logits


def _clipped(output):
    small = _constant(epsilon(), output)
    return tf.clip_by_value(output, small, 1.0 - small)


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Returns the cross entropy of probabilities, or of logits, with distributions."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target.shape.assert_is_compatible_with(output.shape)
    output, from_logits = _logits(output, from_logits, "Softmax")
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)
    output = output / tf.reduce_sum(output, axis, True)
    return -tf.reduce_sum(target * tf.log(_clipped(output)), axis)


def categorical_focal_crossentropy(target, output, alpha=0.25, gamma=2.0, from_logits=False, axis=-1):
    """Returns the cross entropy with less weight for examples that are classified well."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target.shape.assert_is_compatible_with(output.shape)
    output, from_logits = _logits(output, from_logits, "Softmax")
    if from_logits:
        output = tf.nn.softmax(output, axis=axis)
    output = _clipped(output / tf.reduce_sum(output, axis=axis, keepdims=True))
    factor = tf.multiply(tf.pow(1.0 - output, gamma), alpha)
    return tf.reduce_sum(tf.multiply(factor, -target * tf.log(output)), axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1, ignore_class=None):
    """Returns the cross entropy of probabilities, or of logits, with class numbers."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target = tf.cast(target, "int64")
    output, from_logits = _logits(output, from_logits, "Softmax")
    if not from_logits:
        output = tf.log(_clipped(output))
    output = _class_last(output, axis)
    target_rank, output_rank = ndim(target), ndim(output)
    valid = None if ignore_class is None else tf.not_equal(target, tf.cast(ignore_class, target.dtype))
    flat = output_rank > 2 or (target_rank == 2 and output_rank == 2) if output_rank is not None else False
    shape = tf.shape(output)
    if flat or target_rank != 1:
        target, output = tf.reshape(target, [-1]), tf.reshape(output, [-1, shape[-1]])
    mask = None if valid is None else tf.reshape(valid, [-1])
    if mask is not None:
        target, output = tf.boolean_mask(target, mask), tf.boolean_mask(output, mask)
    made = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)
    if mask is not None:
        made = tf.scatter_nd(tf.where(mask), made, tf.shape(mask, out_type=tf.int64))
        made = tf.reshape(made, shape[:-1])
        made._keras_mask = tf.reshape(valid, shape[:-1])
        return made
    return tf.reshape(made, shape[:-1]) if output_rank is not None and output_rank >= 3 else made


def _class_last(output, axis):
    rank = ndim(output)
    if axis in (-1, rank) or rank is None:
        return output
    axis = axis % rank
    if axis == rank - 1:
        return output
    order = [i for i in range(rank) if i != axis] + [axis]
    return tf.transpose(output, perm=order)


def binary_crossentropy(target, output, from_logits=False):
    """Returns the cross entropy of each output separately."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    output, from_logits = _logits(output, from_logits, "Sigmoid")
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    small, output = epsilon(), _clipped(output)
    made = target * tf.log(output + small)
    made += (1 - target) * tf.log(1 - output + small)
    return -made


def binary_focal_crossentropy(target, output, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False):
    """Returns the binary cross entropy with less weight for examples that are classified well."""
    given = output
    sig, from_logits = _logits(tf.convert_to_tensor(output), from_logits, "Sigmoid")
    if from_logits:
        sig = tf.sigmoid(sig)
    p_t = target * sig + (1 - target) * (1 - sig)
    factor = tf.pow(1.0 - p_t, gamma)
    made = factor * binary_crossentropy(target, given, from_logits=from_logits and not hasattr(given, "_keras_logits"))
    if apply_class_balancing:
        made = (target * alpha + (1 - target) * (1 - alpha)) * made
    return made


def ctc_label_dense_to_sparse(labels, label_lengths):
    """Returns labels in rows, of which the first label_lengths count, as a sparse tensor."""
    rows, columns = tf.shape(labels)[0], tf.shape(labels)[1]
    mask = tf.range(columns)[None, :] < tf.reshape(tf.cast(label_lengths, tf.int32), [-1, 1])
    mask = tf.logical_and(mask, tf.ones([rows, columns], tf.bool))
    where = tf.where(mask)
    return tf.SparseTensor(where, tf.gather_nd(labels, where), tf.cast(tf.shape(labels), tf.int64))


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """Returns the CTC loss of each row of a batch."""
    label_length = tf.cast(tf.squeeze(label_length, axis=-1), tf.int32)
    input_length = tf.cast(tf.squeeze(input_length, axis=-1), tf.int32)
    labels = tf.cast(ctc_label_dense_to_sparse(y_true, label_length), tf.int32)
    y_pred = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + epsilon())
    return tf.expand_dims(tf.nn.ctc_loss(inputs=y_pred, labels=labels, sequence_length=input_length), 1)


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """Returns the labels of the best paths and their log probabilities."""
    shape = tf.shape(y_pred)
    y_pred = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + epsilon())
    input_length = tf.cast(input_length, tf.int32)
    if greedy:
        decoded, log_prob = tf.nn.ctc_greedy_decoder(inputs=y_pred, sequence_length=input_length)
    else:
        decoded, log_prob = tf.nn.ctc_beam_search_decoder(inputs=y_pred, sequence_length=input_length, beam_width=beam_width,
                                                          top_paths=top_paths, merge_repeated=False)
    rows = [tf.SparseTensor(s.indices, s.values, tf.cast(tf.stack([shape[0], shape[1]]), tf.int64)) for s in decoded]
    return [tf.sparse_tensor_to_dense(s, default_value=-1) for s in rows], log_prob


# ---- phases and conditions ----

def switch(condition, then_expression, else_expression):
    """Returns one of two tensors, or of two functions' results, by a condition that may be elementwise."""
    if condition.dtype.base_dtype != tf.bool:
        condition = tf.cast(condition, "bool")
    then_is, else_is = callable(then_expression), callable(else_expression)
    rank = ndim(condition)
    if not rank:
        return tf.cond(condition, then_expression if then_is else lambda: then_expression,
                       else_expression if else_is else lambda: else_expression)
    one = tf.convert_to_tensor(then_expression() if then_is else then_expression)
    other = tf.convert_to_tensor(else_expression() if else_is else else_expression)
    if rank > ndim(one):
        raise ValueError("Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression`. "
                         "ndim(condition)=%s, ndim(then_expression)=%s" % (rank, ndim(one)))
    if rank > 1 or rank != ndim(one):
        wide = tf.reshape(condition, tf.concat([tf.shape(condition), [1] * (ndim(one) - rank)], axis=0))
        condition = tf.logical_and(wide, tf.ones_like(one, dtype=tf.bool))
    return tf.where(condition, one, other)


def in_train_phase(x, alt, training=None):
    """Returns x while training, and alt otherwise; both may be functions."""
    if training is None:
        training = learning_phase()
    if not isinstance(training, tf.Tensor):
        if training == 1 or training is True:
            return x() if callable(x) else x
        if training == 0 or training is False:
            return alt() if callable(alt) else alt
    return switch(training, x, alt)


def in_test_phase(x, alt, training=None):
    """Returns x while not training, and alt otherwise."""
    return in_train_phase(alt, x, training=training)


# ---- normalization ----

def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """Returns (x normalized by the batch, mean, variance)."""
    x = tf.convert_to_tensor(x)
    if ndim(x) == 4 and list(reduction_axes) in ([0, 1, 2], [0, 2, 3]):
        nchw = list(reduction_axes) == [0, 2, 3]
        size = x.shape[1] if nchw else x.shape[-1]
        if beta is None:
            beta = tf.constant(0.0, dtype=x.dtype, shape=[size])
        if gamma is None:
            gamma = tf.constant(1.0, dtype=x.dtype, shape=[size])
        return tuple(tf.nn.fused_batch_norm(x, gamma, beta, epsilon=epsilon, data_format="NCHW" if nchw else "NHWC"))
    mean, var = tf.nn.moments(x, reduction_axes, None, None, False)
    if sorted(reduction_axes) == list(range(ndim(x)))[:-1]:
        return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon), mean, var
    shape = tf.stack([1 if axis in reduction_axes else tf.shape(x)[axis] for axis in range(ndim(x))])
    wide = [None if v is None else tf.reshape(v, shape) for v in (mean, var, beta, gamma)]
    return tf.nn.batch_normalization(x, wide[0], wide[1], wide[2], wide[3], epsilon), mean, var


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """Returns x normalized by a mean and a variance."""
    if ndim(x) == 4 and axis in (1, -1, 3) and x.dtype.base_dtype in (tf.float16, tf.float32, tf.bfloat16):
        flat = [None if v is None else tf.reshape(v, [-1]) if ndim(v) > 1 else v for v in (mean, var, beta, gamma)]
        beta = flat[2] if flat[2] is not None else tf.zeros_like(flat[0])
        gamma = flat[3] if flat[3] is not None else tf.ones_like(flat[0])
        return tf.nn.fused_batch_norm(x, gamma, beta, epsilon=epsilon, mean=flat[0], variance=flat[1],
                                      data_format="NCHW" if axis == 1 else "NHWC", is_training=False)[0]
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


def bias_add(x, bias, data_format=None):
    """Returns x plus a bias for each channel, or for each element of an example."""
    data_format = _format(data_format)
    shape = int_shape(bias)
    if len(shape) not in (1, ndim(x) - 1):
        raise ValueError("Unexpected bias dimensions %d, expect to be 1 or %d dimensions" % (len(shape), ndim(x) - 1))
    if len(shape) == 1:
        if data_format == "channels_first":
            return tf.nn.bias_add(x, bias, data_format="NCHW") if ndim(x) == 4 else x + reshape(
                bias, (1, shape[0]) + (1,) * (ndim(x) - 2))
        return tf.nn.bias_add(x, bias)
    if data_format == "channels_first":
        return x + reshape(bias, (1, shape[-1]) + shape[:-1])
    return x + reshape(bias, (1,) + shape)


# ---- convolutions ----

def _format(data_format):
    data_format = image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Unknown data_format: " + str(data_format))
    return data_format


def _padding(padding):
    if padding not in ("same", "valid"):
        raise ValueError("Invalid padding: " + str(padding))
    return padding.upper()


def _last(x, data_format):
    """Returns x with its channels last, the layout in which CPUs compute convolutions."""
    if data_format == "channels_last":
        return x
    return tf.transpose(x, [0] + list(range(2, ndim(x))) + [1])


def _back(x, data_format):
    if data_format == "channels_last":
        return x
    rank = ndim(x)
    return tf.transpose(x, [0, rank - 1] + list(range(1, rank - 1)))


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Returns a convolution along one axis; padding may be causal."""
    data_format = _format(data_format)
    if padding == "causal":
        left = dilation_rate * (kernel.shape.as_list()[0] - 1)
        x = tf.pad(x, [[0, 0], [left, 0], [0, 0]] if data_format == "channels_last" else [[0, 0], [0, 0], [left, 0]])
        padding = "valid"
    one = [part[0] if isinstance(part, (list, tuple)) else part for part in (strides, dilation_rate)]
    made = tf.nn.convolution(_last(x, data_format), kernel, _padding(padding), [one[0]], [one[1]])
    return _back(made, data_format)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    data_format = _format(data_format)
    made = tf.nn.convolution(_last(x, data_format), kernel, _padding(padding), list(strides), list(dilation_rate))
    return _back(made, data_format)


def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)):
    data_format = _format(data_format)
    made = tf.nn.convolution(_last(x, data_format), kernel, _padding(padding), list(strides), list(dilation_rate))
    return _back(made, data_format)


def conv2d_transpose(x, kernel, output_shape, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """Returns the transpose of conv2d, which enlarges images."""
    data_format = _format(data_format)
    shape = list(output_shape) if isinstance(output_shape, (tuple, list)) else tf.unstack(output_shape)
    if shape[0] is None:
        shape[0] = tf.shape(x)[0]
    if data_format == "channels_first":
        shape = [shape[0], shape[2], shape[3], shape[1]]
    whole = shape if all(isinstance(n, int) for n in shape) else tf.stack(shape)
    made = tf.nn.conv2d_transpose(_last(x, data_format), kernel, whole, [1] + list(strides) + [1], padding=_padding(padding),
                                  dilations=[1] + list(dilation_rate) + [1])
    return _back(made, data_format)


def depthwise_conv2d(x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    data_format = _format(data_format)
    made = tf.nn.depthwise_conv2d(_last(x, data_format), depthwise_kernel, [1] + list(strides) + [1], _padding(padding),
                                  rate=list(dilation_rate))
    return _back(made, data_format)


def separable_conv2d(x, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    data_format = _format(data_format)
    strides = (strides, strides) if isinstance(strides, int) else tuple(strides)
    if len(strides) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    made = tf.nn.separable_conv2d(_last(x, data_format), depthwise_kernel, pointwise_kernel, [1] + list(strides) + [1],
                                  _padding(padding), rate=list(dilation_rate))
    return _back(made, data_format)


def _pool(x, pool_size, strides, padding, data_format, pool_mode):
    data_format = _format(data_format)
    if pool_mode not in ("max", "avg"):
        raise ValueError("Invalid pooling mode: " + str(pool_mode))
    if len(pool_size) != len(strides) or len(pool_size) != ndim(x) - 2:
        raise ValueError("`pool_size` and `strides` must be tuples of %d integers." % (ndim(x) - 2))
    kind = getattr(tf.nn, pool_mode + ("_pool" if len(pool_size) == 2 else "_pool3d"))
    made = kind(_last(x, data_format), [1] + list(pool_size) + [1], [1] + list(strides) + [1],
                padding=_padding(padding))
    return _back(made, data_format)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    return _pool(x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    return _pool(x, pool_size, strides, padding, data_format, pool_mode)


def _local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format):
    data_format = _format(data_format)
    shape, first = int_shape(kernel), data_format == "channels_first"
    features, filters = shape[1], shape[-1]
    rank = len(output_shape)
    rows = []
    for position in np.ndindex(*output_shape):
        cut = [slice(p * s, p * s + k) for p, s, k in zip(position, strides, kernel_size)]
        where = (slice(None), slice(None), *cut) if first else (slice(None), *cut, slice(None))
        rows.append(reshape(inputs[where], (1, -1, features)))
    made = tf.matmul(concatenate(rows, axis=0), kernel)
    made = reshape(made, tuple(output_shape) + (-1, filters))
    order = [rank, rank + 1] + list(range(rank)) if first else [rank] + list(range(rank)) + [rank + 1]
    return permute_dimensions(made, order)


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """Returns a convolution with a different kernel at each position."""
    return _local_conv(inputs, kernel, kernel_size, strides, (int_shape(kernel)[0],), data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """Returns a convolution with a different kernel at each position."""
    return _local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


# ---- images ----

def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Pads the height and the width with zeros."""
    assert len(padding) == 2 and all(len(p) == 2 for p in padding)
    sides = [list(p) for p in padding]
    first = _format(data_format) == "channels_first"
    return tf.pad(x, [[0, 0], [0, 0]] + sides if first else [[0, 0]] + sides + [[0, 0]])


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Pads the depth, the height and the width with zeros."""
    assert len(padding) == 3 and all(len(p) == 2 for p in padding)
    sides = [list(p) for p in padding]
    first = _format(data_format) == "channels_first"
    return tf.pad(x, [[0, 0], [0, 0]] + sides if first else [[0, 0]] + sides + [[0, 0]])


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Enlarges images by whole factors."""
    rows, cols = (2, 3) if _format(data_format) == "channels_first" else (1, 2)
    known = int_shape(x)
    if known[rows] is not None and known[cols] is not None:
        size = tf.constant([known[rows] * height_factor, known[cols] * width_factor], tf.int32)
    else:
        size = tf.shape(x)[rows:cols + 1] * tf.constant([height_factor, width_factor], tf.int32)
    resizers = {"nearest": tf.compat.v1.image.resize_nearest_neighbor, "bilinear": tf.compat.v1.image.resize_bilinear}
    if interpolation not in resizers:
        raise ValueError("`interpolation` argument should be one of: \"nearest\" or \"bilinear\". Got: %r" % (interpolation,))
    x = _last(x, data_format)
    with tf.name_scope("resize"):
        made = resizers[interpolation](x, size, half_pixel_centers=True)
    if known[rows] is not None and known[cols] is not None:
        made.set_shape([known[0], known[rows] * height_factor, known[cols] * width_factor, known[1] if rows == 2 else known[3]])
    return _back(made, data_format)


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Enlarges volumes by whole factors."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Invalid data_format: " + str(data_format))
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = repeat_elements(x, factor, axis=first + axis)
    return x


