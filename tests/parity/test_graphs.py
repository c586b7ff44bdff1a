"""Whole graphs that TensorFlow made, step by step: Weft must fetch the same numbers."""
import numpy as np
import pytest
import tensorflow as tf

import compare
import weftlib

v1 = tf.compat.v1
STEPS = 5


def train_both(build, feeds, steps=STEPS, tol=20.0, threads=0):
    """build() makes a graph and returns (init op, train op, {name: fetch}); feeds(step) gives a dict by tensor name."""
    with tf.Graph().as_default() as g:
        v1.set_random_seed(7)
        init, train, fetches = build()
        names = list(fetches)
        with v1.Session(config=v1.ConfigProto(intra_op_parallelism_threads=1)) as s:
            s.run(init)
            want = [s.run(dict(fetches, train=train), feeds(i)) for i in range(steps)]
        graph_def = g.as_graph_def()
        fetch_names = [fetches[n].name for n in names]
        init_name, train_name = init.name, train.name
    ours = weftlib.Session(weftlib.Graph(graph_def), intra=threads)
    ours.run((), targets=[init_name])
    for i in range(steps):
        got = ours.run(fetch_names, feeds(i), targets=[train_name])
        for name, value in zip(names, got):
            d = compare.difference(f"step {i}: {name}", want[i][name], value, tol)
            assert d is None, d


def batch(i, n=20, size=784, classes=10):
    rng = np.random.RandomState(i)
    return rng.rand(n, size).astype(np.float32), rng.randint(0, classes, n).astype(np.int64)


def feed_batch(i):
    x, y = batch(i)
    return {"x:0": x, "y:0": y}


@pytest.mark.parametrize("resource", [False, True])
def test_the_line_of_the_first_seed_is_fitted(resource):
    def build():
        x = v1.placeholder(tf.float32, name="x")
        y = v1.placeholder(tf.float32, name="y")
        w = v1.get_variable("weight", [], tf.float32, v1.random_normal_initializer(), use_resource=resource)
        b = v1.get_variable("bias", [], tf.float32, v1.random_normal_initializer(), use_resource=resource)
        step = v1.get_variable("global_step", [], tf.int64, v1.zeros_initializer(), trainable=False, use_resource=resource)
        loss = tf.square(y - tf.multiply(x, w) - b)
        train = v1.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
        with tf.control_dependencies([train]):
            out = {"w": tf.identity(w), "b": tf.identity(b), "loss": loss}
        return v1.global_variables_initializer(), train, out

    def feeds(i):
        x = np.float32(np.random.RandomState(i).randn())
        return {"x:0": x, "y:0": np.float32(2 * x + 10)}

    train_both(build, feeds, steps=30)


def dense(x, name, size, activation=None, resource=False):
    with v1.variable_scope(name):
        w = v1.get_variable("weights", [x.shape[1], size], initializer=v1.truncated_normal_initializer(stddev=0.1),
                            use_resource=resource)
        b = v1.get_variable("biases", [size], initializer=v1.constant_initializer(0.0), use_resource=resource)
        y = tf.matmul(x, w) + b
        return (activation(y) if activation else y), w


OPTIMIZERS = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: v1.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.01),
    "adagrad_da": lambda: v1.train.AdagradDAOptimizer(0.01, v1.train.get_or_create_global_step()),
    "adadelta": lambda: v1.train.AdadeltaOptimizer(1.0),
    "adam": lambda: v1.train.AdamOptimizer(0.01),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.01, centered=True),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.05, l1_regularization_strength=0.001),
    "proximal": lambda: v1.train.ProximalAdagradOptimizer(0.05, l2_regularization_strength=0.01),
}


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
def test_softmax_trains_with_every_optimizer(optimizer, resource):
    def build():
        x = v1.placeholder(tf.float32, [None, 784], name="x")
        y = v1.placeholder(tf.int64, [None], name="y")
        logits, w = dense(x, "out", 10, resource=resource)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        opt = OPTIMIZERS[optimizer]()
        train = opt.minimize(loss, global_step=v1.train.get_or_create_global_step())
        return v1.global_variables_initializer(), train, {"loss": loss}

    train_both(build, feed_batch)


def test_the_mlp_with_l2_decay_and_averages_trains():
    def build():
        x = v1.placeholder(tf.float32, [None, 784], name="x")
        y = v1.placeholder(tf.int64, [None], name="y")
        h, w1 = dense(x, "layer1", 50, tf.nn.relu)
        logits, w2 = dense(h, "layer2", 10)
        step = v1.get_variable("global_step", [], initializer=v1.constant_initializer(0), trainable=False)
        averages = tf.train.ExponentialMovingAverage(0.99, step)
        averages_op = averages.apply(v1.trainable_variables())
        entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=tf.argmax(tf.one_hot(y, 10), 1))
        loss = tf.reduce_mean(entropy) + 1e-4 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))
        rate = v1.train.exponential_decay(0.8, step, 600 / 100, 0.99, staircase=True)
        train = v1.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
        with tf.control_dependencies([train, averages_op]):
            both = tf.no_op(name="train")
        return v1.global_variables_initializer(), both, {"loss": loss, "accuracy": accuracy, "rate": rate}

    train_both(build, feed_batch)


def test_a_cnn_with_dropout_and_batch_norm_trains():
    def build():
        x = v1.placeholder(tf.float32, [None, 784], name="x")
        y = v1.placeholder(tf.int64, [None], name="y")
        h = tf.reshape(x, [-1, 28, 28, 1])
        for i, filters in enumerate((4, 8)):
            w = v1.get_variable(f"w{i}", [5, 5, h.shape[3], filters], initializer=v1.truncated_normal_initializer(stddev=0.1))
            h = tf.nn.conv2d(h, w, [1, 1, 1, 1], "SAME")
            h = v1.layers.batch_normalization(h, training=True, name=f"bn{i}")
            h = tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "SAME")
        h, _ = dense(tf.reshape(h, [-1, 7 * 7 * 8]), "fc", 32, tf.nn.relu)
        h = tf.nn.dropout(h, rate=0.4, seed=11)
        logits, _ = dense(h, "out", 10)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train = v1.train.AdamOptimizer(1e-3).minimize(loss)
        return v1.global_variables_initializer(), train, {"loss": loss}

    train_both(build, feed_batch, steps=3, tol=100.0)


def lstm_cell(x, h, c, size):
    with v1.variable_scope("cell", reuse=v1.AUTO_REUSE):
        w = v1.get_variable("w", [int(x.shape[1]) + size, 4 * size], initializer=v1.truncated_normal_initializer(stddev=0.1))
        b = v1.get_variable("b", [4 * size], initializer=v1.zeros_initializer())
    i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), w) + b, 4, 1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return tf.tanh(c) * tf.sigmoid(o), c


def sequence_loss(h, y):
    logits, _ = dense(h, "out", 10)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


def test_an_lstm_unrolled_by_hand_trains():
    def build():
        x = v1.placeholder(tf.float32, [20, 784], name="x")
        y = v1.placeholder(tf.int64, [20], name="y")
        h = c = tf.zeros([20, 16])
        for part in tf.split(x, 14, 1):
            h, c = lstm_cell(part, h, c, 16)
        loss = sequence_loss(h, y)
        train = v1.train.AdagradOptimizer(0.1).minimize(loss)
        return v1.global_variables_initializer(), train, {"loss": loss, "h": h}

    train_both(build, feed_batch)


def test_an_lstm_in_a_while_loop_trains():
    def build():
        x = v1.placeholder(tf.float32, [20, 784], name="x")
        y = v1.placeholder(tf.int64, [20], name="y")
        parts = tf.TensorArray(tf.float32, 14).unstack(tf.transpose(tf.reshape(x, [20, 14, 56]), [1, 0, 2]))
        lstm_cell(tf.zeros([20, 56]), tf.zeros([20, 16]), tf.zeros([20, 16]), 16)  # the variables live outside the loop
        outputs = tf.TensorArray(tf.float32, 14)

        def body(t, h, c, out):
            part = parts.read(t)
            part.set_shape([20, 56])
            h, c = lstm_cell(part, h, c, 16)
            return t + 1, h, c, out.write(t, h)

        zero = tf.zeros([20, 16])
        _, h, c, out = tf.while_loop(lambda t, *_: t < 14, body, [0, zero, zero, outputs])
        loss = sequence_loss(h, y) + 0.01 * tf.reduce_sum(tf.square(out.stack()))
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        return v1.global_variables_initializer(), train, {"loss": loss, "h": h}

    train_both(build, feed_batch)


def test_nested_loops_and_branches_give_tensorflows_values():
    def build():
        x = v1.placeholder(tf.float32, [20, 784], name="x")
        v1.placeholder(tf.int64, [20], name="y")
        n = tf.cast(tf.reduce_sum(x) / 1000, tf.int32)

        def inner(j, v):
            return j + 1, tf.cond(tf.reduce_sum(v) > 3.0, lambda: v * 0.5, lambda: v + tf.reduce_mean(x))

        def outer(i, v):
            return i + 1, tf.while_loop(lambda j, v: j < i, inner, [0, v])[1]

        w = v1.get_variable("w", [3], initializer=v1.ones_initializer())
        _, v = tf.while_loop(lambda i, v: i < n, outer, [0, w * 1.5])
        picked = tf.case([(tf.reduce_sum(v) > 100.0, lambda: v), (tf.reduce_sum(v) > 1.0, lambda: v * v)], default=lambda: -v)
        loss = tf.reduce_sum(picked)
        train = v1.train.GradientDescentOptimizer(0.01).minimize(loss)
        return v1.global_variables_initializer(), train, {"loss": loss, "v": v, "picked": picked}

    train_both(build, feed_batch)


def test_embeddings_train_with_sparse_updates():
    def build():
        v1.placeholder(tf.float32, [20, 784], name="x")
        y = v1.placeholder(tf.int64, [20], name="y")
        table = v1.get_variable("table", [10, 8], initializer=v1.truncated_normal_initializer())
        rows = tf.nn.embedding_lookup(table, y)
        again = tf.gather(table, (y + 1) % 10)
        loss = tf.reduce_sum(tf.square(rows - 1.0)) + tf.reduce_sum(tf.square(again))
        train = v1.train.AdamOptimizer(0.1).minimize(loss)
        return v1.global_variables_initializer(), train, {"loss": loss}

    train_both(build, feed_batch)


def test_an_exported_graph_is_imported_and_run_by_tensorflow():
    with tf.Graph().as_default() as g:
        x = v1.placeholder(tf.float32, [None, 784], name="x")
        logits, _ = dense(x, "out", 10)
        tf.nn.softmax(logits, name="probability")
        init = v1.global_variables_initializer()
        ours = weftlib.Graph(g.as_graph_def()).export()
        theirs = g.as_graph_def()
    assert sorted(n.name for n in ours.node) == sorted(n.name for n in theirs.node)
    by_name = {n.name: n for n in ours.node}
    for n in theirs.node:
        mine = by_name[n.name]
        assert (mine.op, list(mine.input), mine.device) == (n.op, list(n.input), n.device)
        assert sorted(mine.attr) == sorted(n.attr)
    with tf.Graph().as_default():
        tf.import_graph_def(ours, name="")
        with v1.Session() as s:
            s.run(init.name)
            assert s.run("probability:0", {"x:0": batch(0)[0]}).shape == (20, 10)
