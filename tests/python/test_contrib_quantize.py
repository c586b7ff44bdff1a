"""tf.contrib.quantize against the same network with TensorFlow's fake quantization, written out."""
import numpy as np
import pytest

import weft as tf
from both import oracle

X = np.random.RandomState(0).rand(4, 8, 8, 3).astype(np.float32)
EPSILON = 0.001


def network(x, training):
    slim = tf.contrib.slim
    given = dict(normalizer_fn=slim.batch_norm, normalizer_params=dict(is_training=training, scale=True, decay=0.8))
    a = slim.conv2d(x, 4, 3, activation_fn=tf.nn.relu6, scope="c1", **given)
    b = slim.separable_conv2d(a, None, 3, depth_multiplier=1, scope="c2", **given)
    a = tf.add(a, slim.conv2d(b, 4, 1, activation_fn=None, scope="c3", **given), name="sum")
    a = slim.fully_connected(slim.flatten(a), 6, scope="f1", **given)
    return slim.fully_connected(a, 5, activation_fn=None, scope="logits")


def train(steps, folder, rewrite):
    """Trains a few steps; (losses, {variable: value})."""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.set_random_seed(3)
        loss = tf.losses.sparse_softmax_cross_entropy([0, 1, 2, 3], network(tf.constant(X), True))
        rewrite(graph)
        step = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        sess.run(tf.global_variables_initializer())
        losses = [sess.run(step) for _ in range(steps)]
        tf.train.Saver().save(sess, folder + "/model")
        return losses, {v.op.name: sess.run(v) for v in tf.global_variables()}


def evaluated(folder, rewrite):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        out = network(tf.constant(X), False)
        rewrite(graph)
        tf.train.Saver().restore(sess, folder + "/model")
        return sess.run(out)


def by_hand(v, bits=8):
    """The evaluation with TensorFlow: folded weights, and roundings with the ranges that were trained."""
    fake = oracle.quantization.fake_quant_with_min_max_vars
    with oracle.Graph().as_default(), oracle.Session() as sess:
        def rounded(x, scope, **given):
            return fake(x, v[scope + "/min"], v[scope + "/max"], num_bits=bits, **given)

        def folded(scope, weights, depthwise=False):
            scale = v[scope + "/BatchNorm/gamma"] / np.sqrt(v[scope + "/BatchNorm/moving_variance"] + EPSILON)
            shift = v[scope + "/BatchNorm/beta"] - v[scope + "/BatchNorm/moving_mean"] * scale
            by = scale[:, None] if depthwise else scale
            return rounded((v[scope + "/" + weights] * by).astype(np.float32), scope + "/weights_quant", narrow_range=True), shift
        w, shift = folded("c1", "weights")
        a = rounded(oracle.nn.relu6(oracle.nn.conv2d(X, w, 1, "SAME") + shift), "c1/act_quant")
        w, shift = folded("c2", "depthwise_weights", True)
        b = rounded(oracle.nn.relu(oracle.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], "SAME") + shift), "c2/act_quant")
        w, shift = folded("c3", "weights")
        b = rounded(oracle.nn.conv2d(b, w, 1, "SAME") + shift, "c3/conv_quant")
        a = rounded(a + b, "add_quant")
        w, shift = folded("f1", "weights")
        a = rounded(oracle.nn.relu(oracle.matmul(oracle.reshape(a, [4, -1]), w) + shift), "f1/act_quant")
        w = rounded(v["logits/weights"], "logits/weights_quant", narrow_range=True)
        return sess.run(oracle.matmul(a, w) + v["logits/biases"])  # only what reads the last output would get it rounded


@pytest.mark.parametrize("bits, symmetric", [(8, False), (4, False), (8, True)])
def test_an_evaluation_is_the_network_with_folded_and_rounded_weights(tmp_path, bits, symmetric):
    q, given = tf.contrib.quantize, dict(weight_bits=bits, activation_bits=bits, symmetric=symmetric)
    losses, variables = train(12, str(tmp_path), lambda g: q.experimental_create_training_graph(g, **given))
    assert losses[-1] < losses[0]
    for scope in ("c1/weights_quant", "logits/act_quant"):
        assert variables[scope + "/min"] <= 0 <= variables[scope + "/max"]
        if symmetric and "weights" in scope:
            assert variables[scope + "/min"] == -variables[scope + "/max"]
    default = given == dict(weight_bits=8, activation_bits=8, symmetric=False)
    found = evaluated(str(tmp_path), q.create_eval_graph if default else lambda g: q.experimental_create_eval_graph(g, **given))
    np.testing.assert_allclose(found, by_hand(variables, bits), rtol=1e-4, atol=1e-4)


def test_the_range_of_activations_is_a_moving_average_and_that_of_weights_the_last():
    rng = np.random.RandomState(1)
    batches = [rng.randn(5, 3).astype(np.float32) * (1 + i) for i in range(4)]
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.layers.dense(x, 2, name="d")
        out = tf.multiply(y, 1.0)
        tf.contrib.quantize.create_training_graph(graph)
        sess.run(tf.global_variables_initializer())
        v = {k.op.name: k for k in tf.global_variables()}
        kernel, biased = sess.run(v["d/kernel"]), 0.0
        limits = [min(kernel.min(), 0), max(kernel.max(), 0)]
        with oracle.Graph().as_default(), oracle.Session() as theirs:
            w = theirs.run(oracle.quantization.fake_quant_with_min_max_vars(kernel, *limits, narrow_range=True))
        for i, batch in enumerate(batches):
            got = sess.run(out, {x: batch})
            whole = batch @ w
            biased = 0.999 * biased + 0.001 * max(whole.max(), 0)
            np.testing.assert_allclose(sess.run(v["d/act_quant/max"]), biased / (1 - 0.999**(i + 1)), rtol=1e-3)
            assert len(np.unique(got)) <= 256 and np.abs(got - np.clip(whole, got.min(), got.max())).max() < 0.3
        np.testing.assert_allclose(sess.run([v["d/weights_quant/min"], v["d/weights_quant/max"]]), limits, rtol=1e-6)


def test_before_quant_delay_the_network_is_the_plain_one(tmp_path):
    """Folding does not change the output, and its loss is the same; only the gradient through the statistics is left out."""
    plain, _ = train(1, str(tmp_path), lambda g: None)
    folded, _ = train(1, str(tmp_path), lambda g: tf.contrib.quantize.create_training_graph(g, quant_delay=100))
    now, _ = train(1, str(tmp_path), lambda g: tf.contrib.quantize.create_training_graph(g))
    np.testing.assert_allclose(folded, plain, rtol=1e-5)
    assert abs(now[0] - plain[0]) > 1e-4


def test_frozen_statistics_stay_and_are_used(tmp_path):
    def rewrite(graph):
        tf.contrib.quantize.experimental_create_training_graph(graph, quant_delay=100, freeze_bn_delay=2)
    _, two = train(2, str(tmp_path), rewrite)
    losses, four = train(4, str(tmp_path), rewrite)
    for name in two:
        if "moving_" in name:
            np.testing.assert_array_equal(two[name], four[name])
    with tf.Graph().as_default(), tf.Session() as sess:  # the loss of the next step, computed with the moving statistics
        loss = tf.losses.sparse_softmax_cross_entropy([0, 1, 2, 3], network(tf.constant(X), False))
        sess.run(tf.global_variables_initializer())
        train(2, str(tmp_path), rewrite)
        tf.train.Saver(tf.model_variables()).restore(sess, str(tmp_path) + "/model")
        np.testing.assert_allclose(sess.run(loss), losses[2], rtol=1e-4)


def test_a_scope_and_what_is_refused():
    q = tf.contrib.quantize
    with tf.Graph().as_default() as graph:
        x = tf.ones([2, 3])
        y = tf.layers.dense(tf.layers.dense(x, 4, name="a"), 4, name="b")
        q.experimental_create_training_graph(graph, scope="b")
        assert {v.op.name.partition("/")[0] for v in tf.global_variables() if "quant" in v.name} == {"b"}
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        with pytest.raises(ValueError, match="Training op found in graph"):
            q.create_training_graph(graph)
        with pytest.raises(ValueError, match="weight_bits"):
            q.experimental_create_eval_graph(graph, weight_bits=1)
    with tf.Graph().as_default() as graph:
        tf.layers.batch_normalization(tf.layers.conv2d(X, 4, 3, use_bias=False), training=True, fused=False)
        with pytest.raises(NotImplementedError, match="fused=True"):
            q.create_training_graph(graph)
