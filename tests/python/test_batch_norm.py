"""Batch normalization: the nodes, the values over several steps and the moving statistics, here and in TensorFlow."""
import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import weft
from both import SAME, both_raise, compare

IMAGES = np.random.RandomState(3).normal(2., 3., (4, 5, 5, 3)).astype(np.float32)
VALUE = {"value", "_has_manual_control_dependencies", "_class", "_output_shapes", "allowed_devices"}


def shown(node):
    attrs = {k: v.SerializeToString() for k, v in node.attr.items() if k not in VALUE}
    data = [i for i in node.input if i[0] != "^"]
    return [node.name, node.op if "Fused" in node.op else SAME.get(node.op, node.op), data,
            sorted(i for i in node.input if i[0] == "^"), attrs]


def built(tf, program, ordered=True):
    with tf.Graph().as_default() as graph:
        said = program(tf)
        nodes = [shown(n) for n in graph.as_graph_def().node]
        updates = [u.name for u in tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
        lists = [[v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]]
        losses = [x.name for x in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]
    return nodes if ordered else sorted(nodes, key=lambda n: n[0]), updates, lists, losses, said


def same_graph(program, ordered=True):
    ours, theirs = built(weft, program, ordered), built(oracle, program, ordered)
    for a, b in zip(ours[0], theirs[0]):
        assert a == b
    assert len(ours[0]) == len(theirs[0])
    assert ours[1:] == theirs[1:]


def flag(tf):
    return tf.placeholder(tf.bool, [], name="t")


FORMS = {
    "images": ([None, 5, 5, 3], {}), "images_of_known_size": ([4, 5, 5, 3], {}), "channels_first": ([None, 3, 5, 5], {"axis": 1}),
    "volumes": ([2, 3, 3, 3, 2], {}), "volumes_channels_first": ([2, 3, 4, 4, 4], {"axis": 1}),
    "rows": ([None, 3], {}), "sequences": ([2, 4, 3], {}), "unfused": ([None, 5, 5, 3], {"fused": False}),
    "third_axis": ([2, 5, 4, 3], {"axis": 2}), "third_axis_fused": ([2, 5, 4, 3], {"axis": 2, "fused": True}),
    "two_axes": ([2, 4, 5, 3], {"axis": [1, 3]}), "axis_in_a_list": ([2, 5, 5, 3], {"axis": [-1]}),
    "plain": ([None, 5, 5, 3], {"center": False, "scale": False}), "no_scale": ([None, 5, 5, 3], {"scale": False}),
    "rows_plain": ([None, 3], {"center": False, "scale": False}), "rows_fused": ([None, 3], {"fused": True}),
    "frozen": ([2, 5, 5, 3], {"trainable": False}), "small_epsilon": ([2, 5, 5, 3], {"epsilon": 1e-9, "momentum": .5}),
}


CASES = [(form, "on", False) for form in sorted(FORMS)] + [
    (form, training, False) for form in ("images", "rows", "third_axis", "plain") for training in ("off", "fed", "constant")] + [
    (form, training, True) for form in ("images", "unfused", "third_axis") for training in ("on", "off", "fed")]


@pytest.mark.parametrize("form,training,resource", CASES)
def test_the_layer_builds_the_same_nodes(form, training, resource):
    shape, more = FORMS[form]

    def program(tf):
        tf.get_variable_scope().set_use_resource(resource)
        x = tf.placeholder(tf.float32, shape, name="x")
        on = {"on": True, "off": False, "fed": None, "constant": tf.constant(True)}[training]
        y = tf.layers.batch_normalization(x, training=flag(tf) if training == "fed" else on, **more)
        return y.name, y.shape.as_list()
    same_graph(program, ordered=training != "fed")


@pytest.mark.parametrize("shape", [[2, 5, 5, 3], [4, 3]], ids=["images", "rows"])
@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16"])
@pytest.mark.parametrize("training", [True, False])
def test_other_types(shape, dtype, training):
    def program(tf):
        y = tf.layers.batch_normalization(tf.placeholder(getattr(tf, dtype), shape, name="x"), training=training)
        return y.name, y.dtype.name, [v.dtype.base_dtype.name for v in tf.global_variables()]
    same_graph(program)


def test_names_reuse_and_regularizers():
    def program(tf):
        x = tf.placeholder(tf.float32, [2, 5, 5, 3], name="x")
        tf.layers.batch_normalization(x, training=True, name="a", gamma_regularizer=tf.reduce_sum,
                                      beta_initializer=tf.constant_initializer(.5))
        tf.layers.batch_normalization(x, training=True, name="a", reuse=True)
        tf.layers.batch_normalization(x, training=True)
        tf.layers.batch_normalization(x)
    same_graph(program)


def test_the_fused_function():
    def program(tf):
        x, one, zero = tf.placeholder(tf.float32, [2, 5, 5, 3], name="x"), tf.ones([3]), tf.zeros([3])
        tf.nn.fused_batch_norm(x, one, zero)
        tf.nn.fused_batch_norm(x, one, zero, mean=zero, variance=one, is_training=False, name="given")
        tf.nn.fused_batch_norm(x, one, zero, mean=zero, variance=one, exponential_avg_factor=.5, epsilon=1e-9)
    same_graph(program)
    both_raise(lambda tf: tf.nn.fused_batch_norm(tf.ones([2, 5, 5, 3]), tf.ones([3]), tf.ones([3]), is_training=False))
    both_raise(lambda tf: tf.layers.batch_normalization(tf.placeholder(tf.float32)))
    both_raise(lambda tf: tf.layers.batch_normalization(tf.placeholder(tf.float32, [None, None])))


def trained(tf, make, data, steps=4, **feeds):
    """What all variables and the output are after some steps, and a gradient."""
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        x = tf.placeholder(tf.float32, [None] + list(data.shape[1:]), name="x")
        y = make(tf, x)
        loss = tf.reduce_mean(tf.square(y - 1.) * tf.cos(x))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.MomentumOptimizer(.1, .9).minimize(loss)
        slope = tf.gradients(loss, x)[0]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(steps):
                sess.run(train, {"x:0": data + i, **{k + ":0": v for k, v in feeds.items()}})
            return sess.run([y, slope] + tf.global_variables(), {"x:0": data, **{k + ":0": v for k, v in feeds.items()}})


@pytest.mark.parametrize("make", [
    lambda tf, x: tf.layers.batch_normalization(x, training=True, momentum=.7),
    lambda tf, x: tf.layers.batch_normalization(x, training=False),
    lambda tf, x: tf.layers.batch_normalization(x, training=True, momentum=.7, fused=False),
    lambda tf, x: tf.layers.batch_normalization(tf.layers.conv2d(
        x, 3, 3, padding="same", kernel_initializer=tf.random_normal_initializer(seed=1)), training=True),
    lambda tf, x: x + tf.reshape(tf.layers.batch_normalization(x[:, 0, 0], training=True), [-1, 1, 1, 3]),
], ids=["fused", "inference", "unfused", "convolution", "rows"])
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_training_computes_the_same(make, resource):
    def program(tf, x):
        tf.get_variable_scope().set_use_resource(resource)
        return make(tf, x)
    compare(trained(weft, program, IMAGES), trained(oracle, program, IMAGES), 2e-4)


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("more", [{}, {"fused": False}, {"axis": 2}], ids=["fused", "unfused", "third_axis"])
def test_a_fed_value_says_whether_it_is_training(on, more):
    def make(tf, x):
        return tf.layers.batch_normalization(tf.reshape(x, [-1, 5, 5, 3]), training=flag(tf), momentum=.6, **more)
    compare(trained(weft, make, IMAGES, t=on), trained(oracle, make, IMAGES, t=on), 2e-4)


def test_checkpoints_hold_the_same_statistics(tmp_path):
    def statistics(tf, path):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, IMAGES.shape, name="x")
            y = tf.layers.batch_normalization(x, training=True, momentum=.5)
            saver = tf.train.Saver()
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                sess.run([y, tf.get_collection(tf.GraphKeys.UPDATE_OPS)], {x: IMAGES})
                saved = saver.save(sess, path)
        reader = oracle.train.load_checkpoint(saved)
        return {k: reader.get_tensor(k) for k in sorted(reader.get_variable_to_shape_map())}
    ours, theirs = statistics(weft, str(tmp_path / "ours")), statistics(oracle, str(tmp_path / "theirs"))
    compare(ours, theirs)
    n = IMAGES.size // 3
    np.testing.assert_allclose(ours["batch_normalization/moving_variance"],
                               .5 + .5 * IMAGES.reshape(-1, 3).var(0) * n / (n - 1), rtol=1e-5)


@pytest.mark.parametrize("kind", ["layers", "keras"])
def test_a_layer_is_used_again(kind):
    def program(tf):
        x = tf.placeholder(tf.float32, [2, 5, 5, 3], name="x")
        layer = (tf.layers if kind == "layers" else tf.keras.layers).BatchNormalization(momentum=.5)
        layer(x, training=True)
        layer(x, training=False)
        layer(x, training=True)
        return [[v.name for v in layer.weights], [v.name for v in layer.trainable_weights],
                [v.name for v in layer.non_trainable_variables], [u.name for u in layer.updates], layer.gamma.name,
                layer.moving_variance.name, layer.built]
    same_graph(program)


def test_the_keras_layer_follows_the_learning_phase():
    def program(tf):
        x = tf.placeholder(tf.float32, [2, 5, 5, 3], name="x")
        layer = tf.keras.layers.BatchNormalization()
        return [layer(x).name, [u.name for u in layer.updates]]
    same_graph(program, ordered=False)


@pytest.mark.parametrize("given", [
    lambda tf: dict(renorm=True, momentum=0.5), lambda tf: dict(virtual_batch_size=2),
    lambda tf: dict(renorm=True, renorm_clipping={"rmax": 1.5, "rmin": 0.5, "dmax": 0.1}, renorm_momentum=0.8),
    lambda tf: dict(adjustment=lambda shape: (tf.ones([1, 3]) * 2.0, tf.ones([1, 3]) * 0.5))])
def test_rare_options_compute_the_same(given):
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.constant(np.random.RandomState(4).randn(4, 3).astype(np.float32))
            layer = tf.layers.BatchNormalization(**given(tf))
            out, later = layer(x, training=True), layer(x, training=False)
            slope = tf.gradients(tf.reduce_sum(tf.square(out)), x)[0]
            sess.run(tf.global_variables_initializer())
            values = [sess.run([out, slope])]
            for _ in range(2):
                sess.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
            values.append(sess.run([out, later, layer.weights]))
            found.append((values, [v.name for v in layer.weights]))
    compare(found[0][0], found[1][0], 1e-4)
    assert found[0][1] == found[1][1]



def contrib(shape, **more):
    """The moving variance after one step of contrib's layer, which TensorFlow 2 does not have."""
    data = IMAGES.reshape(-1, 3)[:8].reshape(shape)
    with weft.Graph().as_default() as graph:
        y = weft.contrib.layers.batch_norm(weft.constant(data), decay=0., scale=True, **more)
        updates = weft.get_collection(weft.GraphKeys.UPDATE_OPS)
        found = {v.op.name: v for v in weft.global_variables()}
        ops = {n.op for n in graph.as_graph_def().node}
        with weft.Session() as sess:
            sess.run(weft.global_variables_initializer())
            out, _ = sess.run([y, updates])
            return out, sess.run(found["BatchNorm/moving_variance"]), "FusedBatchNormV3" in ops, data.reshape(-1, 3)


@pytest.mark.parametrize("shape,more,fused", [((2, 2, 2, 3), {}, True), ((8, 3), {}, True), ((8, 3), {"fused": False}, False),
                                              ((2, 2, 2, 3), {"fused": False}, False), ((2, 4, 3), {}, False)])
def test_contrib_fuses_images_and_rows(shape, more, fused):
    out, variance, has, rows = contrib(shape, **more)
    assert has == fused
    assert out.shape == shape
    np.testing.assert_allclose(out.reshape(-1, 3), (rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-3), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(variance, rows.var(0) * (8 / 7 if fused else 1), rtol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_second_derivatives(training):
    def derivatives(tf):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, IMAGES.shape, name="x")
            y = tf.layers.batch_normalization(x, training=training)
            over = [x] + tf.trainable_variables()
            first = tf.gradients(tf.reduce_sum(tf.sin(y) * y), over)
            second = tf.gradients(tf.add_n([tf.reduce_sum(tf.square(f)) for f in first]), over)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                return sess.run(first + second, {x: IMAGES})
    for a, b in zip(derivatives(weft), derivatives(oracle), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5 * np.abs(b).max())
