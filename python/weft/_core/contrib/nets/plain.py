"""tf.contrib.slim.nets: AlexNet, OverFeat and the VGG networks, whose last layers are convolutions."""
import weft as tf
from weft._core.contrib import layers
from weft._core.contrib.framework import arg_scope
from weft._core.contrib.layer_utils import convert_collection_to_dict
from weft._core.contrib.slim import repeat


def trunc_normal(stddev):
    """Returns an initializer of normal numbers that are at most two standard deviations from 0."""
    return tf.truncated_normal_initializer(0.0, stddev)


def _arg_scope(weight_decay, biases, **first):
    """Returns the arg_scope for convolutions with weight decay, and for the layers that `first` names."""
    with arg_scope([layers.conv2d, layers.fully_connected], activation_fn=tf.nn.relu,
                   weights_regularizer=layers.l2_regularizer(weight_decay), biases_initializer=biases):
        with arg_scope([layers.conv2d], padding="SAME") as scope:
            if not first:
                return scope
            with arg_scope([layers.max_pool2d], **first) as inner:
                return inner


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """Returns the defaults of AlexNet's layers."""
    return _arg_scope(weight_decay, tf.constant_initializer(0.1), padding="VALID")


def overfeat_arg_scope(weight_decay=0.0005):
    """Returns the defaults of OverFeat's layers."""
    with arg_scope([layers.conv2d, layers.fully_connected], activation_fn=tf.nn.relu,
                   weights_regularizer=layers.l2_regularizer(weight_decay), biases_initializer=tf.zeros_initializer()):
        with arg_scope([layers.conv2d], padding="SAME"):
            with arg_scope([layers.max_pool2d], padding="VALID") as scope:
                return scope


def vgg_arg_scope(weight_decay=0.0005):
    """Returns the defaults of the VGG networks' layers."""
    return _arg_scope(weight_decay, tf.zeros_initializer())


def _ended(net, end_points_collection, spatial_squeeze, scope):
    """Returns (logits, {name: output}) of a network whose last layer is a convolution called fc8."""
    end_points = convert_collection_to_dict(end_points_collection)
    if spatial_squeeze:
        net = tf.squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[scope.name + "/fc8"] = net
    return net, end_points


def alexnet_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="alexnet_v2"):
    """Returns AlexNet of "One weird trick for parallelizing convolutional neural networks", for images of 224 x 224."""
    with tf.variable_scope(scope, "alexnet_v2", [inputs]) as sc:
        outputs = sc.name + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=outputs):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool1")
            net = layers.conv2d(net, 192, [5, 5], scope="conv2")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool2")
            net = layers.conv2d(net, 384, [3, 3], scope="conv3")
            net = layers.conv2d(net, 384, [3, 3], scope="conv4")
            net = layers.conv2d(net, 256, [3, 3], scope="conv5")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool5")
            with arg_scope([layers.conv2d], weights_initializer=trunc_normal(0.005), biases_initializer=tf.constant_initializer(0.1)):
                net = layers.conv2d(net, 4096, [5, 5], padding="VALID", scope="fc6")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
                net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                                    biases_initializer=tf.zeros_initializer(), scope="fc8")
            return _ended(net, outputs, spatial_squeeze, sc)


def overfeat(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="overfeat"):
    """Returns OverFeat for images of 231 x 231."""
    with tf.variable_scope(scope, "overfeat", [inputs]) as sc:
        outputs = sc.name + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=outputs):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = layers.max_pool2d(net, [2, 2], scope="pool1")
            net = layers.conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = layers.max_pool2d(net, [2, 2], scope="pool2")
            net = layers.conv2d(net, 512, [3, 3], scope="conv3")
            net = layers.conv2d(net, 1024, [3, 3], scope="conv4")
            net = layers.conv2d(net, 1024, [3, 3], scope="conv5")
            net = layers.max_pool2d(net, [2, 2], scope="pool5")
            with arg_scope([layers.conv2d], weights_initializer=trunc_normal(0.005), biases_initializer=tf.constant_initializer(0.1)):
                net = layers.conv2d(net, 3072, [6, 6], padding="VALID", scope="fc6")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
                net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
                net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                                    biases_initializer=tf.zeros_initializer(), scope="fc8")
            return _ended(net, outputs, spatial_squeeze, sc)


def _vgg(inputs, counts, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, default):
    with tf.variable_scope(scope, default, [inputs]) as sc:
        outputs = sc.name + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=outputs):
            net = inputs
            for i, (count, depth) in enumerate(zip(counts, (64, 128, 256, 512, 512)), 1):
                net = repeat(net, count, layers.conv2d, depth, [3, 3], scope="conv%d" % i)
                net = layers.max_pool2d(net, [2, 2], scope="pool%d" % i)
            net = layers.conv2d(net, 4096, [7, 7], padding="VALID", scope="fc6")
            net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
            net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
            net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
            net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8")
            return _ended(net, outputs, spatial_squeeze, sc)


def vgg_a(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_a"):
    """Returns VGG with 11 layers for images of 224 x 224."""
    return _vgg(inputs, (1, 1, 2, 2, 2), num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, "vgg_a")


def vgg_16(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_16"):
    """Returns VGG with 16 layers for images of 224 x 224."""
    return _vgg(inputs, (2, 2, 3, 3, 3), num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, "vgg_16")


def vgg_19(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_19"):
    """Returns VGG with 19 layers for images of 224 x 224."""
    return _vgg(inputs, (2, 2, 4, 4, 4), num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, "vgg_19")


for _net in (alexnet_v2, overfeat, vgg_a, vgg_16, vgg_19):
    _net.default_image_size = 231 if _net is overfeat else 224
vgg_d, vgg_e = vgg_16, vgg_19
