"""Loops that become straight plans when a request runs again: the values of the loop, its errors and its random numbers.

The first run of a request runs its loop, iteration by iteration; when it runs again, its loops are unrolled.
"""
import numpy as np
import pytest

import weft as tf

X = np.random.RandomState(0).randn(8, 12, 6).astype(np.float32)  # batch, time, depth


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def nodes_of_a_run(session, fetches, feed=None):
    metadata = tf.RunMetadata()
    session.run(fetches, feed, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    return [stats.node_name for device in metadata.step_stats.dev_stats for stats in device.node_stats]


def loops_in(session, fetches, feed=None):
    """Whether a run computes the condition of a loop."""
    return any("while/Less" in name for name in nodes_of_a_run(session, fetches, feed))


def lstm(x, units=5, dtype=tf.float32, **options):
    cell = tf.nn.rnn_cell.LSTMCell(units, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3))
    out, state = tf.nn.dynamic_rnn(cell, x, dtype=dtype, **options)
    loss = tf.reduce_mean(tf.square(out)) + tf.reduce_mean(state.c)
    return [loss, *tf.gradients(loss, tf.trainable_variables())]


def assert_near(got, wanted, tolerance):
    for a, b in zip(got, wanted):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


def test_a_recurrent_layer_of_any_batch_is_unrolled():
    x = tf.placeholder(tf.float32, [None, 12, 6])
    fetches = lstm(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert loops_in(session, fetches, {x: X})
        first = session.run(fetches, {x: X})
        assert not loops_in(session, fetches, {x: X})
        assert_near(session.run(fetches, {x: X}), first, 2e-6)
        other = session.run(fetches, {x: X[:3]})
        assert_near(session.run(fetches, {x: X[:3]}), other, 2e-6)
        assert_near(session.run(fetches, {x: X}), first, 2e-6)


def test_the_error_of_an_unrolled_gradient_is_at_most_that_of_the_loop():
    """Against doubles: the sum over the steps is one product, so it rounds no more often than the loop's sums."""
    errors = []
    with tf.Session() as session:
        single, double = [], []
        with tf.variable_scope("single"):
            single = lstm(tf.constant(np.tile(X, (4, 4, 1))), 32)
        n = len(tf.trainable_variables())
        with tf.variable_scope("double"):
            double = lstm(tf.constant(np.tile(X, (4, 4, 1)).astype(np.float64)), 32, tf.float64)[:1]
        variables = tf.trainable_variables()
        double += tf.gradients(double[0], variables[n:])
        session.run(tf.global_variables_initializer())
        for ours, theirs in zip(variables[:n], variables[n:]):
            theirs.load(session.run(ours).astype(np.float64), session)
        single = [single[0], *tf.gradients(single[0], variables[:n])]
        exact = session.run(double)
        for _ in range(3):
            got = session.run(single)
            errors.append([np.sqrt(np.mean((a - b) ** 2) / np.mean(b ** 2)) for a, b in zip(got, exact)])
    assert all(last <= 1.5 * first + 1e-7 for first, last in zip(errors[0], errors[-1])), errors


def test_gradients_of_weights_do_not_begin_with_zeros_once_unrolled():
    """The product of all steps is the gradient: nothing is added to it, so it can be fused with the update."""
    x = tf.placeholder(tf.float32, [None, 12, 6])
    loss, *gradients = lstm(x)
    weights = tf.trainable_variables()
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(zip(gradients, weights))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            before, slopes = session.run(weights), session.run(gradients, {x: X[:3]})
            nodes = nodes_of_a_run(session, train, {x: X[:3]})
            assert_near(session.run(weights), [w - 0.5 * g for w, g in zip(before, slopes)], 2e-6)
        sizes = {tuple(w.shape.as_list()) for w in weights}
        graph = tf.get_default_graph()
        zeros = [n for n in nodes if "zeros_like" in n and tuple(graph.get_tensor_by_name(n + ":0").shape.as_list()) in sizes]
        assert nodes and not zeros


def test_lengths_decide_how_often_a_loop_iterates():
    x, lengths = tf.placeholder(tf.float32, [None, None, 6]), tf.placeholder(tf.int32, [None])
    fetches = lstm(x, sequence_length=lengths)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = {}
        for most in (3, 12, 7, 3, 12, 7, 3, 12, 7):
            feed = {x: X, lengths: [1, 2, most, 1, most, 2, 3, 1]}
            got = session.run(fetches, feed)
            assert_near(got, wanted.setdefault(most, got), 2e-6)
        assert not loops_in(session, fetches, {x: X, lengths: [1, 2, 7, 1, 7, 2, 3, 1]})


def test_a_fed_flag_decides_a_branch():
    training, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [None, 6])
    y = tf.cond(training, lambda: tf.tanh(x) * 2 + 1, lambda: x)
    with tf.Session() as session:
        for flag in (True, False) * 3:
            got = session.run(y, {training: flag, x: X[0]})
            np.testing.assert_allclose(got, np.tanh(X[0]) * 2 + 1 if flag else X[0], rtol=1e-5)


def test_a_loop_that_changes_a_variable_does_so_once_per_iteration():
    v = tf.get_variable("v", [], tf.float32, tf.zeros_initializer())

    def body(i, total):
        with tf.control_dependencies([total]):
            return i + 1, total + tf.assign_add(v, 1.0)
    _, total = tf.while_loop(lambda i, t: i < 5, body, [0, 0.0], parallel_iterations=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for run in range(4):
            assert session.run(total) == sum(range(5 * run + 1, 5 * run + 6))
        assert session.run(v) == 20


def test_random_numbers_go_on():
    """Those of a session in which all runs iterate: another session draws the same, whatever its plans are."""
    tf.set_random_seed(5)
    _, drawn = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.concat([a[1:], tf.random_uniform([1])], 0)),
                             [0, tf.zeros([4])], parallel_iterations=1)
    many = [drawn + i for i in range(5)]  # requests that run once
    with tf.Session() as session:
        once = [session.run(each) - i for i, each in enumerate(many)]
    with tf.Session() as session:
        again = [session.run(drawn) for _ in range(5)]
    np.testing.assert_allclose(again, once, atol=1e-6)


def test_an_error_in_an_iteration_names_its_node():
    x = tf.placeholder(tf.float32, [None])
    checked = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.check_numerics(tf.log(a), "not a number", name="ok")),
                            [0, x])[1]
    with tf.Session() as session:
        for _ in range(4):
            with pytest.raises(tf.errors.InvalidArgumentError, match="ok"):
                session.run(checked, {x: [1.5]})


def test_what_depends_on_data_keeps_its_loop():
    x = tf.placeholder(tf.float32, [])
    halved = tf.while_loop(lambda a: a > 1, lambda a: a / 2, [x])
    with tf.Session() as session:
        for value in (9.0, 5.0, 9.0, 9.0, 5.0, 5.0):
            assert session.run(halved, {x: value}) == {9.0: 0.5625, 5.0: 0.625}[value]


def test_a_loop_that_is_too_long_to_unroll_iterates():
    count = tf.while_loop(lambda i, a: i < 30000, lambda i, a: (i + 1, a + 1.0), [0, 0.0])[1]
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(count) == 30000
