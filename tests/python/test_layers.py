"""Layers, losses, metrics, images, cells and old names: values are TensorFlow's, or what the old name stands for."""
import numpy as np
import pytest

import weft
from both import both, oracle

X = np.random.RandomState(0).randn(6, 4).astype(np.float32)
LABELS = np.array([0, 1, 3, 2, 2, 0], np.int32)


def half(tf):
    return tf.constant_initializer(0.5)


def test_layers():
    def program(tf):
        x = tf.placeholder(tf.float32, [6, 4], name="x")
        image = tf.reshape(tf.tile(x, [1, 6]), [6, 2, 4, 3])
        d = tf.layers.dense(x, 3, activation=tf.nn.relu, kernel_initializer=half(tf), name="fc")
        c = tf.layers.conv2d(image, 2, [2, 2], padding="same", kernel_initializer=half(tf))
        p = tf.layers.max_pooling2d(inputs=c, pool_size=[2, 2], strides=2)
        return [d, c, p, tf.layers.flatten(p), tf.layers.dropout(d, 0.4, training=False),
                tf.layers.batch_normalization(d, training=True),
                [v.name for v in tf.global_variables()], len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))]
    both(program, {"x": X}, same_nodes=False, tolerance=1e-4)


def test_separable_convolutions():
    def program(tf):
        x = tf.placeholder(tf.float32, [6, 4], name="x")
        image = tf.reshape(tf.tile(x, [1, 18]), [6, 6, 4, 3])
        deep, point = tf.fill([3, 2, 3, 2], 0.5), tf.fill([1, 1, 6, 2], 0.25)
        wide = tf.nn.depthwise_conv2d(image, deep, [1, 2, 2, 1], "SAME")
        dilated = tf.nn.depthwise_conv2d(image, deep, [1, 1, 1, 1], "SAME", rate=[2, 2])
        both_of = tf.nn.separable_conv2d(image, deep, point, [1, 1, 1, 1], "VALID")
        layer = tf.layers.separable_conv2d(image, 4, [3, 3], depth_multiplier=2, padding="same", activation=tf.nn.relu,
                                           depthwise_initializer=half(tf), pointwise_initializer=half(tf))
        slopes = tf.gradients(tf.reduce_sum(tf.square(layer)), tf.trainable_variables())
        return [wide, dilated, both_of, layer, *slopes, [v.name for v in tf.global_variables()], layer.op.name]
    both(program, {"x": X}, same_nodes=False, tolerance=1e-4)


def test_slim_separable_convolutions():
    import tf_slim

    def program(tf):
        slim = tf.contrib.slim if tf is weft else tf_slim
        x = tf.placeholder(tf.float32, [6, 4], name="x")
        image = tf.reshape(tf.tile(x, [1, 18]), [6, 6, 4, 3])
        with slim.arg_scope([slim.separable_conv2d], weights_initializer=half(tf), stride=2):
            out = slim.separable_conv2d(image, 4, [3, 3], depth_multiplier=2)
            apart = slim.separable_conv2d(out, None, [2, 2], scope="apart")
        return [out, apart, [v.name for v in tf.global_variables()]]
    both(program, {"x": X}, same_nodes=False, tolerance=1e-4)


def test_losses():
    def program(tf):
        x = tf.placeholder(tf.float32, [6, 4], name="x")
        y = tf.one_hot(LABELS, 4)
        losses = tf.losses
        return [losses.sparse_softmax_cross_entropy(labels=LABELS, logits=x), losses.softmax_cross_entropy(y, x),
                losses.sigmoid_cross_entropy(y, x), losses.mean_squared_error(y, x, weights=0.5),
                losses.absolute_difference(y, x), losses.huber_loss(y, x), losses.hinge_loss(y, x),
                losses.get_total_loss(), losses.mean_squared_error(y, x, reduction=losses.Reduction.SUM)]
    both(program, {"x": X}, same_nodes=False)


def test_metrics():
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            labels, predictions = tf.constant([0, 1, 1, 0]), tf.constant([0, 1, 0, 0])
            pairs = [tf.metrics.accuracy(labels, predictions), tf.metrics.mean([1.0, 4.0]),
                     tf.metrics.auc(labels=labels, predictions=tf.constant([0.1, 0.8, 0.3, 0.4]))]
            with tf.Session() as sess:
                sess.run(tf.local_variables_initializer())
                sess.run([u for _, u in pairs])
                found.append(sess.run([v for v, _ in pairs]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


def test_cells():
    def program(tf):
        x = tf.placeholder(tf.float32, [6, 4], name="x")
        made = []
        for kind in (tf.nn.rnn_cell.BasicLSTMCell, tf.nn.rnn_cell.GRUCell):
            with tf.variable_scope(kind.__name__, initializer=half(tf)):
                cell = kind(3)
                out, _ = tf.nn.static_rnn(cell, [x, x, x], dtype=tf.float32)
                made.append(out[-1])
        y = tf.placeholder_with_default(tf.stack([x, x * 2, x - 1], 1), [None, None, 4])
        with tf.variable_scope("dynamic", initializer=half(tf)):
            out, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), y, [1, 2, 3, 3, 2, 1], dtype=tf.float32)
        grad = tf.gradients(tf.reduce_sum(out), [x])[0]
        return made + [out, state.c, state.h, grad]
    ours = both_values(weft, program)
    theirs = both_values(oracle, program)
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def both_values(tf, program):
    with tf.Graph().as_default():
        made = program(tf)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return sess.run(made, {"x:0": X})


def test_images():
    def program(tf):
        x = tf.reshape(tf.placeholder(tf.float32, [6, 4], name="x"), [2, 4, 3])
        return [tf.image.resize_images(x, [4, 4]), tf.image.flip_left_right(x), tf.image.central_crop(x, 0.5),
                tf.image.convert_image_dtype(tf.cast(x, tf.uint8), tf.float32), tf.image.per_image_standardization(x)]
    both(program, {"x": X * 10 + 30}, same_nodes=False, tolerance=1e-4)


def test_images_are_cut_padded_and_colored():
    def program(tf):
        x = tf.placeholder(tf.float32, [7, 5, 3], name="x")
        whole = tf.cast(x * 255, tf.uint8)
        made = [tf.image.resize_image_with_crop_or_pad(x, h, w) for h, w in ((4, 4), (9, 8), (4, 9), (8, 3), (7, 5))]
        for image in (x, whole):
            made += [tf.image.adjust_saturation(image, 1.4), tf.image.adjust_hue(image, 0.1), tf.image.rgb_to_grayscale(image),
                     tf.image.adjust_brightness(image, 0.1), tf.image.adjust_contrast(image, 0.7)]
        return made + [tf.image.decode_png(tf.image.encode_png(whole)), tf.image.grayscale_to_rgb(x[..., :1]), tf.as_dtype(4).name]
    both(program, {"x": np.random.RandomState(0).rand(7, 5, 3)}, same_nodes=False, tolerance=1e-4)


def test_partitioned_variables():
    def program(tf):
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)):
            v = tf.get_variable("v", [7, 2], initializer=tf.ones_initializer())
        return [tf.nn.embedding_lookup(v, [0, 6, 3], partition_strategy="div"), tf.convert_to_tensor(v),
                [p.name for p in v], [p.get_shape().as_list() for p in v]]
    both(program, same_nodes=False)


def test_contrib_and_old_names():
    tf = weft
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(X)
        with tf.contrib.framework.arg_scope([tf.contrib.layers.fully_connected], weights_initializer=half(tf),
                                            activation_fn=None):
            fc = tf.contrib.layers.fully_connected(x, 2, weights_regularizer=tf.contrib.layers.l2_regularizer(0.1))
        sess.run(tf.initialize_all_variables())
        np.testing.assert_allclose(sess.run(fc), np.repeat(X.sum(1, keepdims=True) * 0.5, 2, 1), rtol=1e-5)
        loss, = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        assert abs(sess.run(loss) - 0.1 * 8 * 0.25 / 2) < 1e-6
        assert [v.op.name for v in tf.all_variables()] == ["fully_connected/weights", "fully_connected/biases"]
        np.testing.assert_allclose(sess.run(tf.sub(tf.mul(x, 2.0), x)), X, rtol=1e-6)
        assert sess.run(tf.concat(0, [x, x])).shape == (12, 4)
        assert len(sess.run(tf.unpack(x))) == 6 and sess.run(tf.pack([x, x])).shape == (2, 6, 4)
        y = tf.one_hot(LABELS, 4)
        np.testing.assert_allclose(sess.run(tf.nn.softmax_cross_entropy_with_logits(x, y)),
                                   sess.run(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)))


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="tf.hologram is not in Weft"):
        weft.hologram
    with pytest.raises(AttributeError, match="tf.contrib.layers.hologram is not in Weft"):
        weft.contrib.layers.hologram


def test_flags_take_both_spellings():
    from weft._core.platform import flags
    values = flags._FlagValues()
    flags.DEFINE_string("name", "x", "", flag_values=values)
    flags.DEFINE_bool("on", False, "", flag_values=values)
    flags.DEFINE_integer("n", 1, "", flag_values=values)
    rest = values(["prog", "--name=a b", "-n", "3", "--noon", "left", "--unknown=7", "--on"], known_only=True)
    assert rest == ["prog", "left", "--unknown=7"]
    assert (values.name, values.n, values.on) == ("a b", 3, True)
    values.n = 9
    assert values.n == 9


def test_messages_travel_both_ways():
    config = weft.ConfigProto(allow_soft_placement=True, device_count={"CPU": 2}, device_filters=["/job:ps"],
                              gpu_options=weft.GPUOptions(per_process_gpu_memory_fraction=0.5))
    theirs = oracle.ConfigProto.FromString(config.SerializeToString())
    assert theirs.allow_soft_placement and theirs.device_count["CPU"] == 2 and list(theirs.device_filters) == ["/job:ps"]
    assert weft.ConfigProto.FromString(theirs.SerializeToString()) == config
    assert str(config).strip() == str(theirs).strip()
    with weft.Graph().as_default() as graph:
        weft.add(weft.constant([1.0, 2.0]), 3.0, name="sum")
        def_ = oracle.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    with oracle.Graph().as_default(), oracle.Session() as sess:
        got, = oracle.import_graph_def(def_, return_elements=["sum:0"])
        np.testing.assert_array_equal(sess.run(got), [4.0, 5.0])


@pytest.mark.parametrize("make, words", [
    (lambda tf, x: tf.layers.dense(x, 3), "The last dimension of the inputs to a Dense layer should be defined. Found None"),
    (lambda tf, x: tf.keras.layers.Dense(3)(x), "The last dimension of the inputs to a Dense layer should be defined. Found None"),
    (lambda tf, x: tf.layers.conv2d(x, 3, 3), "The channel dimension of the inputs should be defined"),
    (lambda tf, x: tf.layers.separable_conv2d(x, 3, 3), "The channel dimension of the inputs should be defined")])
def test_layers_say_that_they_need_the_depth_of_an_input_of_unknown_rank(make, words):
    for system in (weft, oracle) if "Dense" in words else (weft,):  # The others are a TypeError without a reason there.
        with system.Graph().as_default(), pytest.raises(ValueError, match=words):
            make(system, system.placeholder(system.float32))
