"""tf.contrib.slim.nets: residual networks, whose units normalize after (v1) or before (v2) their convolutions."""
import collections

import weft as tf
from weft._core.contrib import layers
from weft._core.contrib.framework import add_arg_scope, arg_scope
from weft._core.contrib.layer_utils import collect_named_outputs, convert_collection_to_dict, last_dimension


class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """A block of units: its scope, the function that makes a unit, and a dict of arguments for each unit."""


def subsample(inputs, factor, scope=None):
    """Returns every factor-th row and column."""
    return inputs if factor == 1 else layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs, num_outputs, kernel_size, stride, rate=1, scope=None):
    """Returns a convolution with a stride whose padding does not depend on the size of the image."""
    if stride == 1:
        return layers.conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    pad_total = kernel_size + (kernel_size - 1) * (rate - 1) - 1
    before = pad_total // 2
    after = pad_total - before
    inputs = tf.pad(inputs, [[0, 0], [before, after], [before, after], [0, 0]])
    return layers.conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net, blocks, output_stride=None, outputs_collections=None):
    """Returns the blocks one after the other; once their strides reach output_stride, further ones become rates."""
    current_stride, rate = 1, 1
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [net]) as sc:
            for i, unit in enumerate(block.args):
                if output_stride is not None and current_stride > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with tf.variable_scope("unit_%d" % (i + 1), values=[net]):
                    if output_stride is not None and current_stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **dict(unit, stride=1))
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current_stride *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and current_stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(weight_decay=0.0001, batch_norm_decay=0.997, batch_norm_epsilon=1e-5, batch_norm_scale=True):
    """Returns the defaults of the layers of residual networks."""
    norm = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
            "updates_collections": tf.GraphKeys.UPDATE_OPS}
    with arg_scope([layers.conv2d], weights_regularizer=layers.l2_regularizer(weight_decay),
                   weights_initializer=layers.variance_scaling_initializer(), activation_fn=tf.nn.relu,
                   normalizer_fn=layers.batch_norm, normalizer_params=norm):
        with arg_scope([layers.batch_norm], **norm):
            with arg_scope([layers.max_pool2d], padding="SAME") as scope:
                return scope


@add_arg_scope
def bottleneck_v1(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """Returns a unit of convolutions of 1 x 1, 3 x 3 and 1 x 1, added to its input."""
    with tf.variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        depth_in = last_dimension(inputs.get_shape(), min_rank=4)
        if depth == depth_in:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        residual = layers.conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, sc.name, tf.nn.relu(shortcut + residual))


@add_arg_scope
def bottleneck_v2(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """Returns a unit that normalizes first; the sum with its input is neither normalized nor cut at 0."""
    with tf.variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        depth_in = last_dimension(inputs.get_shape(), min_rank=4)
        preact = layers.batch_norm(inputs, activation_fn=tf.nn.relu, scope="preact")
        if depth == depth_in:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(preact, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None, scope="shortcut")
        residual = layers.conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, sc.name, shortcut + residual)


for _unit in (bottleneck_v1, bottleneck_v2):
    _unit.__name__ = _unit.__qualname__ = "bottleneck"


def _root(net, output_stride, first):
    """Returns the convolution and pooling before the blocks, and the remaining output stride."""
    if output_stride is not None:
        if output_stride % 4 != 0:
            raise ValueError("The output_stride needs to be a multiple of 4.")
        output_stride /= 4
    with arg_scope([layers.conv2d], **first):
        net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
    return layers.max_pool2d(net, [3, 3], stride=2, scope="pool1"), output_stride


def _resnet(version, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope):
    bottleneck = bottleneck_v1 if version == 1 else bottleneck_v2
    with tf.variable_scope(scope, "resnet_v%d" % version, [inputs], reuse=reuse) as sc:
        end_points_collection = sc.original_name_scope + "_end_points"
        with arg_scope([layers.conv2d, bottleneck, stack_blocks_dense], outputs_collections=end_points_collection):
            with arg_scope([layers.batch_norm], is_training=is_training):
                net = inputs
                if include_root_block:
                    net, output_stride = _root(net, output_stride, {} if version == 1 else
                                               {"activation_fn": None, "normalizer_fn": None})
                net = stack_blocks_dense(net, blocks, output_stride)
                if version == 2:
                    net = layers.batch_norm(net, activation_fn=tf.nn.relu, scope="postnorm")
                if global_pool:
                    net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
                if num_classes is not None:
                    net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
                end_points = convert_collection_to_dict(end_points_collection)
                if num_classes is not None:
                    end_points["predictions"] = layers.softmax(net, scope="predictions")
                return net, end_points


def resnet_v1(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None, include_root_block=True,
              reuse=None, scope=None):
    """Returns a residual network of the first kind, of the blocks given: (output, {name: output})."""
    return _resnet(1, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope)


def resnet_v2(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None, include_root_block=True,
              reuse=None, scope=None):
    """Returns a residual network of the second kind, of the blocks given: (output, {name: output})."""
    return _resnet(2, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope)


def _block(unit, scope, base_depth, num_units, stride):
    one = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    return Block(scope, unit, [dict(one, stride=1)] * (num_units - 1) + [dict(one, stride=stride)])


def resnet_v1_block(scope, base_depth, num_units, stride):
    """Returns a block of units of the first kind; the last has the stride."""
    return _block(bottleneck_v1, scope, base_depth, num_units, stride)


def resnet_v2_block(scope, base_depth, num_units, stride):
    """Returns a block of units of the second kind; the last has the stride."""
    return _block(bottleneck_v2, scope, base_depth, num_units, stride)


def _network(version, layer_count, counts):
    block, resnet = (resnet_v1_block, resnet_v1) if version == 1 else (resnet_v2_block, resnet_v2)
    name = "resnet_v%d_%d" % (version, layer_count)

    def network(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None, scope=name):
        blocks = [block("block%d" % i, 32 << i, count, 2 if i < 4 else 1) for i, count in enumerate(counts, 1)]
        return resnet(inputs, blocks, num_classes, is_training, global_pool=global_pool, output_stride=output_stride,
                      include_root_block=True, reuse=reuse, scope=scope)
    network.__name__ = network.__qualname__ = name
    network.__doc__ = "A residual network of %d layers; images of 224 x 224." % layer_count
    network.default_image_size = 224
    return network


_COUNTS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = (_network(1, n, c) for n, c in _COUNTS.items())
resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = (_network(2, n, c) for n, c in _COUNTS.items())
