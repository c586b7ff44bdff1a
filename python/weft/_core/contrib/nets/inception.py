"""tf.contrib.slim.nets.inception: the networks Inception v1 (GoogLeNet), v2 and v3."""
import weft as tf
from weft._core.contrib import layers
from weft._core.contrib.framework import arg_scope


def _normal(stddev):
    return tf.truncated_normal_initializer(0.0, stddev)


def _chain(net, steps):
    """Applies layers in sequence: (scope, channels, kernel) is a convolution; a fourth item is its stride, and makes it
    VALID.
    """
    for scope, channels, kernel, *stride in steps:
        more = dict(stride=stride[0], padding="VALID") if stride else {}
        net = layers.conv2d(net, channels, kernel, scope=scope, **more)
    return net


def _mixed(net, scope, branches):
    """Returns a block: each branch is a list of layers, whose last item may be a fork; the channels of all are one
    tensor's.
    """
    with tf.variable_scope(scope):
        made = []
        for i, steps in enumerate(branches):
            with tf.variable_scope("Branch_%d" % i):
                made.append(_branch(net, steps))
        return tf.concat(made, 3)


def _branch(net, steps):
    for step in steps:
        if callable(step):
            net = step(net)
        elif isinstance(step, list):
            net = tf.concat([_chain(net, [one]) for one in step], 3)
        else:
            net = _chain(net, [step])
    return net


def _max_pool(scope, **kwargs):
    return lambda net: layers.max_pool2d(net, [3, 3], scope=scope, **kwargs)


def _avg_pool(net):
    return layers.avg_pool2d(net, [3, 3], scope="AvgPool_0a_3x3")


def _reduced(net, kernel):
    """Returns a kernel that is no larger than the image."""
    shape = net.get_shape().as_list()
    return kernel if shape[1] is None or shape[2] is None else [min(shape[1], kernel[0]), min(shape[2], kernel[1])]


def _depths(multiplier, least):
    """Returns the function that scales a number of channels."""
    if multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda n: max(int(n * multiplier), least)


class _Ends:
    """The outputs of the layers by name, up to the requested one."""

    def __init__(self, final, known):
        self.points, self.final = {}, final
        if final not in known:
            raise ValueError("Unknown final endpoint %s" % final)

    def build(self, net, steps):
        for name, make in steps:
            net = self.points[name] = make(net)
            if name == self.final:
                break
        return net, self.points


# ---- version 1 ----

_V1 = {"Mixed_3b": (64, 96, 128, 16, 32, 32), "Mixed_3c": (128, 128, 192, 32, 96, 64), "Mixed_4b": (192, 96, 208, 16, 48, 64),
       "Mixed_4c": (160, 112, 224, 24, 64, 64), "Mixed_4d": (128, 128, 256, 24, 64, 64), "Mixed_4e": (112, 144, 288, 32, 64, 64),
       "Mixed_4f": (256, 160, 320, 32, 128, 128), "Mixed_5b": (256, 160, 320, 32, 128, 128),
       "Mixed_5c": (384, 192, 384, 48, 128, 128)}


def _block_v1(name):
    a, b, c, d, e, f = _V1[name]
    last = "Conv2d_0a_3x3" if name == "Mixed_5b" else "Conv2d_0b_3x3"  # the name in checkpoints
    return lambda net: _mixed(net, name, [
        [("Conv2d_0a_1x1", a, 1)], [("Conv2d_0a_1x1", b, 1), ("Conv2d_0b_3x3", c, 3)],
        [("Conv2d_0a_1x1", d, 1), (last, e, 3)], [_max_pool("MaxPool_0a_3x3"), ("Conv2d_0b_1x1", f, 1)]])


def _steps_v1():
    yield "Conv2d_1a_7x7", lambda net: layers.conv2d(net, 64, [7, 7], stride=2, scope="Conv2d_1a_7x7")
    yield "MaxPool_2a_3x3", _max_pool("MaxPool_2a_3x3", stride=2)
    yield "Conv2d_2b_1x1", lambda net: layers.conv2d(net, 64, [1, 1], scope="Conv2d_2b_1x1")
    yield "Conv2d_2c_3x3", lambda net: layers.conv2d(net, 192, [3, 3], scope="Conv2d_2c_3x3")
    yield "MaxPool_3a_3x3", _max_pool("MaxPool_3a_3x3", stride=2)
    for name in _V1:
        if name == "Mixed_4b":
            yield "MaxPool_4a_3x3", _max_pool("MaxPool_4a_3x3", stride=2)
        if name == "Mixed_5b":
            yield "MaxPool_5a_2x2", lambda net: layers.max_pool2d(net, [2, 2], stride=2, scope="MaxPool_5a_2x2")
        yield name, _block_v1(name)


def inception_v1_base(inputs, final_endpoint="Mixed_5c", scope="InceptionV1"):
    """Returns the layers of Inception v1 before its logits.

    Args:
      inputs: images, [batch, height, width, 3].
      final_endpoint: the layer that is the last.
      scope: the variable scope.

    Returns:
      The output of the last layer, and the outputs of all by name.
    """
    steps = list(_steps_v1())
    ends = _Ends(final_endpoint, [name for name, _ in steps])
    with tf.variable_scope(scope, "InceptionV1", [inputs]), \
            arg_scope([layers.conv2d, layers.fully_connected], weights_initializer=_normal(0.01)), \
            arg_scope([layers.conv2d, layers.max_pool2d], stride=1, padding="SAME"):
        return ends.build(inputs, steps)


def _finish(net, ends, num_classes, prediction_fn, spatial_squeeze, scope):
    """Returns the convolution to classes, and the predictions."""
    logits = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope)
    if spatial_squeeze:
        logits = tf.squeeze(logits, [1, 2], name="SpatialSqueeze")
    ends["Logits"] = logits
    ends["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, ends


def inception_v1(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, prediction_fn=layers.softmax,
                 spatial_squeeze=True, reuse=None, scope="InceptionV1"):
    """Returns Inception v1 for images of 224 x 224.

    Args:
      inputs: images, [batch, height, width, 3].
      num_classes: how many classes there are.
      is_training: whether statistics of the batch and dropout are used.
      dropout_keep_prob: the part of the activations that is kept.
      prediction_fn: a function of the logits that makes the predictions.
      spatial_squeeze: whether the logits have no dimensions of height and width.
      reuse: whether the variables are there.
      scope: the variable scope.

    Returns:
      The logits, and the outputs of all layers by name.
    """
    with tf.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as scope, \
            arg_scope([layers.batch_norm, layers.dropout], is_training=is_training):
        net, ends = inception_v1_base(inputs, scope=scope)
        with tf.variable_scope("Logits"):
            net = layers.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")  # TensorFlow uses this name.
            net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
            return _finish(net, ends, num_classes, prediction_fn, spatial_squeeze, "Conv2d_0c_1x1")


inception_v1.default_image_size = 224


# ---- version 2 ----

# 1x1; 1x1 and 3x3; 1x1 and two of 3x3; 1x1 behind a pool.
_V2 = {"Mixed_3b": (64, 64, 64, 64, 96, 32), "Mixed_3c": (64, 64, 96, 64, 96, 64), "Mixed_4b": (224, 64, 96, 96, 128, 128),
       "Mixed_4c": (192, 96, 128, 96, 128, 128), "Mixed_4d": (160, 128, 160, 128, 160, 96), "Mixed_4e": (96, 128, 192, 160, 192, 96),
       "Mixed_5b": (352, 192, 320, 160, 224, 128), "Mixed_5c": (352, 192, 320, 192, 224, 128)}
_V2_HALVED = {"Mixed_4a": (128, 160, 64, 96), "Mixed_5a": (128, 192, 192, 256)}  # blocks that halve height and width
_V2_BEFORE = {"Mixed_4b": "Mixed_4a", "Mixed_5b": "Mixed_5a"}


def _small_normal(scope, channels, kernel, **kwargs):
    """Returns a convolution whose initial weights are small."""
    return lambda net: layers.conv2d(net, channels, kernel, weights_initializer=_normal(0.09), scope=scope, **kwargs)


def _block_v2(name, d):
    a, b, c, e, f, g = map(d, _V2[name])
    pool = _max_pool("MaxPool_0a_3x3") if name == "Mixed_5c" else _avg_pool
    return lambda net: _mixed(net, name, [
        [("Conv2d_0a_1x1", a, 1)], [_small_normal("Conv2d_0a_1x1", b, [1, 1]), ("Conv2d_0b_3x3", c, 3)],
        [_small_normal("Conv2d_0a_1x1", e, [1, 1]), ("Conv2d_0b_3x3", f, 3), ("Conv2d_0c_3x3", f, 3)],
        [pool, lambda net: layers.conv2d(net, g, [1, 1], weights_initializer=_normal(0.1), scope="Conv2d_0b_1x1")]])


def _halving_v2(name, d):
    a, b, c, e = map(d, _V2_HALVED[name])
    return lambda net: _mixed(net, name, [
        [_small_normal("Conv2d_0a_1x1", a, [1, 1]), lambda net: layers.conv2d(net, b, [3, 3], stride=2, scope="Conv2d_1a_3x3")],
        [_small_normal("Conv2d_0a_1x1", c, [1, 1]), ("Conv2d_0b_3x3", e, 3),
         lambda net: layers.conv2d(net, e, [3, 3], stride=2, scope="Conv2d_1a_3x3")], [_max_pool("MaxPool_1a_3x3", stride=2)]])


def _first_v2(d):
    """Returns a separable convolution: each channel of an image gets several depthwise filters."""
    def make(net):
        channels = d(64)
        return layers.separable_conv2d(net, channels, [7, 7], depth_multiplier=min(channels // 3, 8), stride=2,
                                       weights_initializer=_normal(1.0), scope="Conv2d_1a_7x7")
    return make


def _steps_v2(d):
    yield "Conv2d_1a_7x7", _first_v2(d)
    yield "MaxPool_2a_3x3", _max_pool("MaxPool_2a_3x3", stride=2)
    yield "Conv2d_2b_1x1", lambda net: layers.conv2d(net, d(64), [1, 1], weights_initializer=_normal(0.1), scope="Conv2d_2b_1x1")
    yield "Conv2d_2c_3x3", lambda net: layers.conv2d(net, d(192), [3, 3], scope="Conv2d_2c_3x3")
    yield "MaxPool_3a_3x3", _max_pool("MaxPool_3a_3x3", stride=2)
    for name in _V2:
        if name in _V2_BEFORE:
            yield _V2_BEFORE[name], _halving_v2(_V2_BEFORE[name], d)
        yield name, _block_v2(name, d)


def inception_v2_base(inputs, final_endpoint="Mixed_5c", min_depth=16, depth_multiplier=1.0, scope=None):
    """Returns the layers of Inception v2 before its logits.

    Args:
      inputs: images, [batch, height, width, 3].
      final_endpoint: the layer that is the last.
      min_depth: the least number of channels of a layer, if depth_multiplier is below 1.
      depth_multiplier: a factor of the number of channels of every layer.
      scope: the variable scope.

    Returns:
      The output of the last layer, and the outputs of all by name.
    """
    steps = list(_steps_v2(_depths(depth_multiplier, min_depth)))
    ends = _Ends(final_endpoint, [name for name, _ in steps])
    with tf.variable_scope(scope, "InceptionV2", [inputs]), \
            arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d, layers.separable_conv2d], stride=1, padding="SAME"):
        return ends.build(inputs, steps)


def inception_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None, scope="InceptionV2"):
    """Returns Inception v2 for images of 224 x 224.

    Args:
      inputs: images, [batch, height, width, 3].
      num_classes: how many classes there are.
      is_training: whether statistics of the batch and dropout are used.
      dropout_keep_prob: the part of the activations that is kept.
      min_depth: the least number of channels of a layer, if depth_multiplier is below 1.
      depth_multiplier: a factor of the number of channels of every layer.
      prediction_fn: a function of the logits that makes the predictions.
      spatial_squeeze: whether the logits have no dimensions of height and width.
      reuse: whether the variables are there.
      scope: the variable scope.

    Returns:
      The logits, and the outputs of all layers by name.
    """
    with tf.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as scope, \
            arg_scope([layers.batch_norm, layers.dropout], is_training=is_training):
        net, ends = inception_v2_base(inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier)
        with tf.variable_scope("Logits"):
            kernel = _reduced(net, [7, 7])
            net = layers.avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a_%dx%d" % tuple(kernel))
            net = layers.dropout(net, dropout_keep_prob, scope="Dropout_1b")
            return _finish(net, ends, num_classes, prediction_fn, spatial_squeeze, "Conv2d_1c_1x1")


inception_v2.default_image_size = 224


# ---- version 3 ----

def _blocks_35(d):
    """Yields the three blocks on images of 35 x 35."""
    for name, names, pool in (("Mixed_5b", ("Conv2d_0a_1x1", "Conv2d_0b_5x5"), 32), ("Mixed_5c", ("Conv2d_0b_1x1", "Conv_1_0c_5x5"), 64),
                              ("Mixed_5d", ("Conv2d_0a_1x1", "Conv2d_0b_5x5"), 64)):
        yield name, [[("Conv2d_0a_1x1", d(64), 1)], [(names[0], d(48), 1), (names[1], d(64), 5)],
                     [("Conv2d_0a_1x1", d(64), 1), ("Conv2d_0b_3x3", d(96), 3), ("Conv2d_0c_3x3", d(96), 3)],
                     [_avg_pool, ("Conv2d_0b_1x1", d(pool), 1)]]


def _blocks_17(d):
    """Yields the blocks on images of 17 x 17."""
    yield "Mixed_6a", [[("Conv2d_1a_1x1", d(384), 3, 2)],
                       [("Conv2d_0a_1x1", d(64), 1), ("Conv2d_0b_3x3", d(96), 3), ("Conv2d_1a_1x1", d(96), 3, 2)],
                       [_max_pool("MaxPool_1a_3x3", stride=2, padding="VALID")]]
    for name, n in (("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)):
        yield name, [[("Conv2d_0a_1x1", d(192), 1)],
                     [("Conv2d_0a_1x1", d(n), 1), ("Conv2d_0b_1x7", d(n), [1, 7]), ("Conv2d_0c_7x1", d(192), [7, 1])],
                     [("Conv2d_0a_1x1", d(n), 1), ("Conv2d_0b_7x1", d(n), [7, 1]), ("Conv2d_0c_1x7", d(n), [1, 7]),
                      ("Conv2d_0d_7x1", d(n), [7, 1]), ("Conv2d_0e_1x7", d(192), [1, 7])],
                     [_avg_pool, ("Conv2d_0b_1x1", d(192), 1)]]


def _blocks_8(d):
    """Yields the blocks on images of 8 x 8."""
    yield "Mixed_7a", [[("Conv2d_0a_1x1", d(192), 1), ("Conv2d_1a_3x3", d(320), 3, 2)],
                       [("Conv2d_0a_1x1", d(192), 1), ("Conv2d_0b_1x7", d(192), [1, 7]), ("Conv2d_0c_7x1", d(192), [7, 1]),
                        ("Conv2d_1a_3x3", d(192), 3, 2)], [_max_pool("MaxPool_1a_3x3", stride=2, padding="VALID")]]
    for name, second in (("Mixed_7b", "Conv2d_0b_3x1"), ("Mixed_7c", "Conv2d_0c_3x1")):
        yield name, [[("Conv2d_0a_1x1", d(320), 1)],
                     [("Conv2d_0a_1x1", d(384), 1), [("Conv2d_0b_1x3", d(384), [1, 3]), (second, d(384), [3, 1])]],
                     [("Conv2d_0a_1x1", d(448), 1), ("Conv2d_0b_3x3", d(384), 3),
                      [("Conv2d_0c_1x3", d(384), [1, 3]), ("Conv2d_0d_3x1", d(384), [3, 1])]],
                     [_avg_pool, ("Conv2d_0b_1x1", d(192), 1)]]


def _in_same(name, branches):
    def make(net):
        with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"):
            return _mixed(net, name, branches)
    return make


def _steps_v3(d):
    def conv(name, channels, kernel, **kwargs):
        return name, lambda net: layers.conv2d(net, d(channels), kernel, scope=name, **kwargs)
    yield conv("Conv2d_1a_3x3", 32, [3, 3], stride=2)
    yield conv("Conv2d_2a_3x3", 32, [3, 3])
    yield conv("Conv2d_2b_3x3", 64, [3, 3], padding="SAME")
    yield "MaxPool_3a_3x3", _max_pool("MaxPool_3a_3x3", stride=2)
    yield conv("Conv2d_3b_1x1", 80, [1, 1])
    yield conv("Conv2d_4a_3x3", 192, [3, 3])
    yield "MaxPool_5a_3x3", _max_pool("MaxPool_5a_3x3", stride=2)
    for blocks in (_blocks_35, _blocks_17, _blocks_8):
        for name, branches in blocks(d):
            yield name, _in_same(name, branches)


def inception_v3_base(inputs, final_endpoint="Mixed_7c", min_depth=16, depth_multiplier=1.0, scope=None):
    """Returns the layers of Inception v3 before its logits.

    Args:
      inputs: images, [batch, height, width, 3].
      final_endpoint: the layer that is the last.
      min_depth: the least number of channels of a layer, if depth_multiplier is below 1.
      depth_multiplier: a factor of the number of channels of every layer.
      scope: the variable scope.

    Returns:
      The output of the last layer, and the outputs of all by name.
    """
    steps = list(_steps_v3(_depths(depth_multiplier, min_depth)))
    ends = _Ends(final_endpoint, [name for name, _ in steps])
    with tf.variable_scope(scope, "InceptionV3", [inputs]), \
            arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="VALID"):
        return ends.build(inputs, steps)


def _auxiliary(net, num_classes, depth, spatial_squeeze):
    with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"), tf.variable_scope("AuxLogits"):
        net = layers.avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = layers.conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        kernel = _reduced(net, [5, 5])
        net = layers.conv2d(net, depth(768), kernel, weights_initializer=_normal(0.01), padding="VALID",
                            scope="Conv2d_2a_%dx%d" % tuple(kernel))
        net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, weights_initializer=_normal(0.001),
                            scope="Conv2d_2b_1x1")
        return tf.squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


def inception_v3(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None, create_aux_logits=True, scope="InceptionV3"):
    """Returns Inception v3 for images of 299 x 299.

    Args:
      inputs: images, [batch, height, width, 3].
      num_classes: how many classes there are.
      is_training: whether statistics of the batch and dropout are used.
      dropout_keep_prob: the part of the activations that is kept.
      min_depth: the least number of channels of a layer, if depth_multiplier is below 1.
      depth_multiplier: a factor of the number of channels of every layer.
      prediction_fn: a function of the logits that makes the predictions.
      spatial_squeeze: whether the logits have no dimensions of height and width.
      reuse: whether the variables are there.
      create_aux_logits: whether there are logits in the middle, too.
      scope: the variable scope.

    Returns:
      The logits, and the outputs of all layers by name.
    """
    depth = _depths(depth_multiplier, min_depth)
    with tf.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as scope, \
            arg_scope([layers.batch_norm, layers.dropout], is_training=is_training):
        net, ends = inception_v3_base(inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier)
        if create_aux_logits:
            ends["AuxLogits"] = _auxiliary(ends["Mixed_6e"], num_classes, depth, spatial_squeeze)
        with tf.variable_scope("Logits"):
            kernel = _reduced(net, [8, 8])
            net = layers.avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a_%dx%d" % tuple(kernel))
            net = ends["PreLogits"] = layers.dropout(net, dropout_keep_prob, scope="Dropout_1b")
            return _finish(net, ends, num_classes, prediction_fn, spatial_squeeze, "Conv2d_1c_1x1")


inception_v3.default_image_size = 299


# ---- arguments of the layers ----

def _arguments(weight_decay, collection, norm):
    """Returns the defaults of convolutions; without `norm` they do not normalize."""
    if norm is not None:
        averages = {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
        norm = dict(normalizer_fn=layers.batch_norm, normalizer_params={**norm, "variables_collections": averages})
    with arg_scope([layers.conv2d, layers.fully_connected], weights_regularizer=layers.l2_regularizer(weight_decay)), \
            arg_scope([layers.conv2d], weights_initializer=layers.variance_scaling_initializer(), activation_fn=tf.nn.relu,
                      **(norm or {})) as scope:
        return scope


def inception_v1_arg_scope(weight_decay=0.00004, use_batch_norm=True, batch_norm_var_collection="moving_vars"):
    """Returns the defaults of the layers of Inception v1.

    Args:
      weight_decay: the factor of the squares of the weights in the loss.
      use_batch_norm: whether the layers normalize.
      batch_norm_var_collection: the collection of the moving averages.
    """
    norm = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": tf.GraphKeys.UPDATE_OPS}
    return _arguments(weight_decay, batch_norm_var_collection, norm if use_batch_norm else None)


def inception_v2_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars"):
    """Returns the defaults of the layers of Inception v2.

    Args:
      weight_decay: the factor of the squares of the weights in the loss.
      batch_norm_var_collection: the collection of the moving averages.
    """
    return inception_v1_arg_scope(weight_decay, True, batch_norm_var_collection)


def inception_v3_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars", batch_norm_decay=0.9997,
                           batch_norm_epsilon=0.001, updates_collections="update_ops", use_fused_batchnorm=True):
    """Returns the defaults of the layers of Inception v3.

    Args:
      weight_decay: the factor of the squares of the weights in the loss.
      batch_norm_var_collection: the collection of the moving averages.
      batch_norm_decay: how much of a moving average stays.
      batch_norm_epsilon: a number that is added to a variance.
      updates_collections: the collection of the updates of the moving averages.
      use_fused_batchnorm: whether one op normalizes.
    """
    return _arguments(weight_decay, batch_norm_var_collection, {
        "decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "updates_collections": updates_collections,
        "fused": use_fused_batchnorm})
