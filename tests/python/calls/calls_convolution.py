"""Convolutions and pools over one, two and three dimensions, and their gradients."""
import numpy as np

from machine import case

R = np.random.RandomState(3)
ROW, IMAGE, VOLUME = (R.rand(*s).astype(np.float32) for s in ((2, 6, 4), (2, 6, 6, 3), (2, 4, 5, 4, 3)))
ROW_F, IMAGE_F, VOLUME_F = (R.rand(*s).astype(np.float32) for s in ((2, 4, 3), (3, 3, 3, 2), (2, 2, 3, 3, 2)))


@case(tolerance=1e-4)
def volumes(tf):
    return [tf.nn.conv3d(VOLUME, VOLUME_F, [1, 1, 2, 1, 1], "SAME"),
            tf.nn.conv3d(VOLUME, filters=VOLUME_F, strides=[1] * 5, padding="VALID"),
            tf.nn.conv3d_transpose(VOLUME, np.ones((2, 2, 2, 5, 3), np.float32), [2, 8, 10, 8, 5], [1, 2, 2, 2, 1]),
            tf.nn.conv3d_transpose(VOLUME, np.ones((2, 2, 2, 5, 3), np.float32), [2, 8, 10, 8, 5], 2, "SAME", name="up"),
            tf.nn.max_pool3d(VOLUME, 2, 2, "SAME"), tf.nn.max_pool3d(VOLUME, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], "VALID"),
            tf.nn.avg_pool3d(VOLUME, [2, 3, 2], 2, "SAME"), tf.nn.avg_pool3d(VOLUME, 2, [1, 2, 2, 2, 1], "VALID", name="mean"),
            tf.nn.conv3d_backprop_filter(VOLUME, [2, 2, 3, 3, 2], np.ones((2, 4, 5, 4, 2), np.float32), [1] * 5, "SAME"),
            tf.nn.conv3d_backprop_filter_v2(VOLUME, [2, 2, 3, 3, 2], np.ones((2, 4, 5, 4, 2), np.float32), [1] * 5, "SAME")]


@case(nodes=False, tolerance=1e-4)
def gradients_of_volumes(tf):
    x, f = tf.constant(VOLUME), tf.constant(VOLUME_F)
    y = tf.nn.conv3d(x, f, [1, 2, 1, 1, 1], "SAME")
    m, a = tf.nn.max_pool3d(x, 2, 2, "SAME"), tf.nn.avg_pool3d(x, 3, 2, "SAME")
    first = tf.gradients(tf.square(y), [x, f])
    return first + tf.gradients(tf.square(m), x) + tf.gradients(tf.square(a), x) + tf.gradients(tf.reduce_sum(first[0] ** 2), f)


@case
def pools_by_rank(tf):
    return [tf.nn.max_pool_v2(ROW, 2, 2, "SAME"), tf.nn.max_pool_v2(IMAGE, 2, [1, 2], "VALID"), tf.nn.max_pool_v2(VOLUME, 2, 2, "SAME"),
            tf.nn.max_pool_v2(IMAGE, 2, 2, [[0, 0], [1, 1], [1, 0], [0, 0]]), tf.nn.avg_pool_v2(ROW, 2, 2, "SAME"),
            tf.nn.avg_pool_v2(IMAGE, 2, 2, "SAME"), tf.nn.avg_pool_v2(VOLUME, [2, 2, 1], 2, "VALID")]


@case(nodes=False)
def pools(tf):
    return [tf.nn.pool(IMAGE, [2, 2], "MAX", "VALID"), tf.nn.pool(IMAGE, [2, 3], "AVG", "SAME", strides=[2, 2]),
            tf.nn.pool(IMAGE, [2, 2], "MAX", "VALID", dilation_rate=[2, 1]), tf.nn.pool(ROW, [2], "MAX", "SAME"),
            tf.nn.pool(ROW, [3], "AVG", "VALID", dilation_rate=[2]), tf.nn.pool(VOLUME, [2, 2, 2], "AVG", "SAME", strides=[2, 2, 2]),
            tf.nn.pool(VOLUME, [2, 2, 2], "MAX", "VALID", dilations=[1, 2, 3]),
            tf.nn.pool(IMAGE, [2, 2], "MAX", [[0, 0], [1, 1], [1, 1], [0, 0]])]


@case(nodes=False, tolerance=1e-4)
def convolutions(tf):
    return [tf.nn.convolution(IMAGE, IMAGE_F, "SAME"), tf.nn.convolution(IMAGE, IMAGE_F, "VALID", strides=[2, 1]),
            tf.nn.convolution(IMAGE, IMAGE_F, "SAME", dilation_rate=[2, 2]), tf.nn.convolution(ROW, ROW_F, "SAME", dilation_rate=[2]),
            tf.nn.convolution(ROW, ROW_F, "VALID", strides=[2]), tf.nn.convolution(VOLUME, VOLUME_F, "VALID", dilations=[2, 1, 1]),
            tf.nn.convolution(VOLUME, IMAGE_F, "VALID"), tf.nn.convolution(IMAGE, IMAGE_F, "VALID", strides=[2]),
            tf.nn.convolution(IMAGE, IMAGE_F, "VALID", dilation_rate=[2, 1], name="c")]


@case(nodes=False, tolerance=1e-4)
def transposed(tf):
    f2, f1, f3 = np.ones((3, 3, 5, 3), np.float32), np.ones((3, 5, 4), np.float32), np.ones((3, 3, 3, 5, 3), np.float32)
    return [tf.nn.conv_transpose(IMAGE, f2, [2, 12, 12, 5], 2), tf.nn.conv_transpose(ROW, f1, [2, 12, 5], 2),
            tf.nn.conv_transpose(VOLUME, f3, [2, 8, 10, 8, 5], 2), tf.nn.conv1d_transpose(ROW, f1, [2, 12, 5], 2),
            tf.nn.conv1d_transpose(ROW, f1, tf.constant([2, 13, 5]), [2], "VALID"),
            tf.nn.atrous_conv2d_transpose(IMAGE, f2, [2, 6, 6, 5], 2, "SAME"),
            tf.nn.atrous_conv2d_transpose(IMAGE, f2, [2, 6, 6, 5], 1, "SAME"),
            tf.nn.atrous_conv2d_transpose(IMAGE, f2, [2, 10, 10, 5], 2, "VALID"),
            tf.nn.atrous_conv2d_transpose(IMAGE, f2[:2], [2, 6, 6, 5], 3, "SAME", name="t")]


@case(tolerance=1e-4)
def gradients_as_functions(tf):
    two, six = np.ones((2, 6, 6, 2), np.float32), np.ones((2, 6, 6, 6), np.float32)
    return [tf.nn.conv2d_backprop_filter(IMAGE, [3, 3, 3, 2], two, [1, 1, 1, 1], "SAME"),
            tf.nn.conv2d_backprop_input([2, 6, 6, 3], IMAGE_F, two, [1, 1, 1, 1], "SAME"),
            tf.nn.conv2d_backprop_input([2, 6, 6, 3], IMAGE_F, two, [1, 1, 1, 1], [[0, 0], [1, 1], [1, 1], [0, 0]]),
            tf.nn.depthwise_conv2d_backprop_filter(IMAGE, [3, 3, 3, 2], six, [1, 1, 1, 1], "SAME"),
            tf.nn.depthwise_conv2d_native_backprop_filter(IMAGE, [3, 3, 3, 2], six, [1, 1, 1, 1], "SAME", name="f"),
            tf.nn.depthwise_conv2d_backprop_input([2, 6, 6, 3], IMAGE_F, six, [1, 1, 1, 1], "SAME"),
            tf.nn.depthwise_conv2d_native_backprop_input([2, 6, 6, 3], IMAGE_F, six, [1, 1, 1, 1], "SAME", name="i")]


@case(nodes=False)
def space_to_batch(tf):
    def pooled(x, n, padding):
        assert n in (1, 2)
        return tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], padding)
    return [tf.nn.with_space_to_batch(IMAGE, [2, 2], "SAME", pooled, filter_shape=[2, 2]),
            tf.nn.with_space_to_batch(IMAGE, [1, 1], "SAME", pooled, filter_shape=[2, 2]),
            tf.nn.with_space_to_batch(IMAGE, [2, 1], "VALID", pooled),
            tf.nn.with_space_to_batch(IMAGE, [2], "VALID", pooled, spatial_dims=[2])]


@case(tolerance=1e-4)
def rows_and_paddings(tf):
    pairs = [[0, 0], [1, 2], [0, 1], [0, 0]]
    return [tf.nn.conv1d(ROW, ROW_F, 1, "SAME"), tf.nn.conv1d(ROW, ROW_F, [2], "VALID"), tf.nn.conv1d(ROW, ROW_F, 1, "SAME", dilations=2),
            tf.nn.conv2d(IMAGE, IMAGE_F, [1, 1, 1, 1], pairs), tf.nn.conv2d(IMAGE, IMAGE_F, 2, "SAME"),
            tf.nn.depthwise_conv2d_native(IMAGE, IMAGE_F, [1, 1, 1, 1], pairs), tf.nn.max_pool(IMAGE, 3, 2, pairs),
            tf.nn.conv2d_transpose(IMAGE, IMAGE_F[:, :, :, :1] * np.ones([1, 1, 1, 3], np.float32), [2, 5, 7, 3], 1, pairs)]
