"""Products with one second operand, which is prepared once for all of them (exec/passes/share_operands.h)."""
import numpy as np
import pytest

import weft as tf

ROWS, UNITS, PRODUCTS = 24, 96, 10


def has_matrix_unit():
    with open("/proc/cpuinfo") as info:
        return "amx_bf16" in info.read().split()


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def labels_of_a_run(session, fetches, feed):
    metadata = tf.RunMetadata()
    session.run(fetches, feed, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    return [stats.timeline_label for device in metadata.step_stats.dev_stats for stats in device.node_stats]


def inputs(n=PRODUCTS):
    x = tf.placeholder(tf.float32, [n, ROWS, UNITS])
    return x, {x: np.random.RandomState(1).randn(n, ROWS, UNITS).astype(np.float32)}


def weights(name="w", columns=UNITS + 33):
    return tf.get_variable(name, [UNITS, columns], initializer=tf.random_normal_initializer(seed=2))


def test_shared_products_are_those_of_single_ones():
    x, feed = inputs()
    w, v = weights(), weights("v", 140)
    forward = [tf.matmul(x[i], w) for i in range(PRODUCTS)]
    back = [tf.matmul(y, w, transpose_b=True) for y in forward] + [tf.matmul(x[i], v) for i in range(PRODUCTS)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        alone = [session.run(y, feed) for y in forward + back]
        for _ in range(3):
            for got, wanted in zip(session.run(forward + back, feed), alone):
                np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())
        prepared = sum("_PrepareOperand" in label for label in labels_of_a_run(session, forward + back, feed))
        assert prepared == (3 if has_matrix_unit() else 0)


def test_a_variable_that_changes_between_products_is_read_again():
    x, feed = inputs()
    w = weights()
    before = [tf.matmul(x[i], w) for i in range(5)]
    with tf.control_dependencies(before):
        change = tf.assign_add(w, tf.ones_like(w))
    with tf.control_dependencies([change]):
        after = [tf.matmul(x[i], w) for i in range(5, PRODUCTS)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            old = session.run(w)
            got = session.run(before + after, feed)
            for i, (y, given) in enumerate(zip(got, feed[x])):
                wanted = given.astype(np.float64) @ (old + (i >= 5))
                np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


def test_infinities_spread_as_in_single_products():
    x, feed = inputs()
    feed[x][3, 5, 7] = np.inf
    w = weights()
    products = [tf.matmul(x[i], w) for i in range(PRODUCTS)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        alone = [session.run(y, feed) for y in products]
        for got, wanted in zip(session.run(products, feed), alone):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("batch", [None, 16])
def test_the_gradient_of_an_unrolled_cell_is_one_product(batch):
    x = tf.placeholder(tf.float32, [batch, 8, 12])
    cell = tf.nn.rnn_cell.LSTMCell(32)
    out, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    train = tf.train.GradientDescentOptimizer(0.0).minimize(tf.reduce_mean(tf.square(out[-1])))
    gradients = tf.gradients(tf.reduce_mean(tf.square(out[-1])), tf.trainable_variables())
    given = {x: np.random.RandomState(3).randn(16, 8, 12).astype(np.float32)}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(gradients, given)
        for _ in range(3):
            for got, wanted in zip(session.run(gradients, given), first):
                np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())
        for _ in range(3):
            session.run(train, given)
        products = [label for label in labels_of_a_run(session, train, given) if "= MatMul(" in label]
        assert len(products) <= 2 * 8 + 2, products  # forward, back, and one for the kernel
