"""tf.debugging.enable_check_numerics: the same checks are added as in TensorFlow, and they say the same."""
import contextlib
import threading

import numpy as np
import pytest

from both import both, compare, oracle, weft as ours


@contextlib.contextmanager
def checks(tf, **limits):
    tf.debugging.enable_check_numerics(**limits)
    try:
        yield
    finally:
        tf.debugging.disable_check_numerics()


def checked(program):
    def run(tf):
        with checks(tf):
            return program(tf)
    return run


def moves(tf):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    y = tf.log(x, name="l")
    return [tf.concat([y, y], 0)[0], tf.transpose(tf.expand_dims(y, 0)), tf.reshape(x, [-1]), tf.identity(x), tf.squeeze(y),
            tf.maximum(y, y), tf.minimum(x, y), tf.slice(y, [0, 0], [1, 1]), *tf.unstack(y)]


def computes(tf):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    return [tf.nn.moments(x, [0])[1], tf.cast(x, tf.float16), tf.cast(x, tf.complex64), tf.cast(x, tf.int32), tf.stack([x, x]),
            *tf.split(x, 2), tf.stop_gradient(x), tf.zeros([2]), tf.zeros_like(x),
            tf.fill([2], 3.0), tf.gather(x, [1]), tf.pad(x, [[1, 1], [0, 0]]),
            tf.nn.fused_batch_norm(tf.ones([1, 2, 2, 3]), tf.ones([3]), tf.zeros([3]))[0], tf.cumsum(x), tf.tile(x, [1, 2])]


def variables(tf):
    v = tf.get_variable("v", [3], use_resource=True)
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
    return [v * 2.0, w.assign_add([1.0, 1.0])]


def flow(tf):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    return [tf.cond(tf.constant(True), lambda: x + 1, lambda: x - 1), tf.while_loop(lambda a: a < 10.0, lambda a: a * 2.0, [1.0])]


@pytest.mark.parametrize("program", [moves, computes, variables, flow])
def test_the_same_ops_are_checked(program):
    both(checked(program), {} if program is variables else {"x": [[1.0, 2.0], [3.0, 4.0]]}, in_order=program is not flow)


def said(tf, program, feeds):
    """The value of a program's tensor, or what the error says of the op before the stack, and after it."""
    with tf.Graph().as_default(), tf.Session() as sess:
        made = checked(program)(tf)
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        try:
            return sess.run(made, {k + ":0": v for k, v in feeds.items()})
        except tf.errors.InvalidArgumentError as e:
            text = str(e)
            return text[text.index("!!!"):text.index("\n  Stack trace")], text[text.index(" : Tensor had"):].split("\n")[0]


def log_of(shape):
    return lambda tf: tf.log(tf.placeholder(tf.float32, shape, name="x"), name="made")


def quotient(tf):
    return tf.split(tf.placeholder(tf.float32, [2], name="x") / tf.constant([0.0, 2.0]), 2)[1] + 1.0


def of_a_gradient(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    return tf.gradients(tf.sqrt(tf.reshape(x, [])), x)[0]


def in_a_data_set(tf):
    data = tf.data.Dataset.from_tensors(tf.constant([0.0, 1.0])).map(lambda x: tf.log(x, name="made"))
    iterator = tf.data.make_initializable_iterator(data)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


@pytest.mark.parametrize("program, x", [
    (log_of([None, 2]), [[1.0, 2.0]]), (log_of([None, 2]), [[0.0, 2.0]]), (log_of(None), [-1.0, 0.0]), (log_of([2]), [np.nan, 1.0]),
    (log_of([]), np.inf), (quotient, [1.0, 2.0]), (quotient, [-1.0, 2.0]), (quotient, [0.0, 2.0]), (of_a_gradient, 4.0),
])
def test_the_error_says_what_tensorflows_says(program, x):
    compare(*(said(tf, program, {"x": x}) for tf in (ours, oracle)))


@pytest.mark.parametrize("program", [of_a_gradient, in_a_data_set])
def test_gradients_and_functions_are_checked(program):
    found = [said(tf, program, {"x": 0.0} if program is of_a_gradient else {}) for tf in (ours, oracle)]
    assert [f[0].split("\n")[0] for f in found] == ['!!! Detected Infinity or NaN in output 0 of graph op "%s" (# of outputs: 1) !!!' % (
        "SqrtGrad" if program is of_a_gradient else "Log")] * 2
    assert found[0][1] == found[1][1]


def a_model(tf):
    """Losses, clipping, a cell and an optimizer, which the library makes; and variables that ops change through references."""
    x = tf.reshape(tf.range(12.0), [2, 2, 3]) / 12
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4, initializer=tf.ones_initializer()), x, dtype=tf.float32)
    w = tf.Variable(tf.ones([4, 1]))
    loss = tf.losses.mean_squared_error(tf.ones([2, 1]), tf.matmul(outputs[:, -1], w))
    with tf.control_dependencies([tf.train.AdamOptimizer(0.1).minimize(loss)]):
        return tf.cond(tf.constant(True), lambda: tf.clip_by_norm(w, 1.0), lambda: w + 0.0)


def test_checks_leave_values_alone():
    values = []
    for program in (a_model, checked(a_model)):
        with ours.Graph().as_default(), ours.Session() as sess:
            made = program(ours)
            sess.run(ours.global_variables_initializer())
            values.append([sess.run(made) for _ in range(3)])
    compare(*values, tolerance=0)


def test_a_step_that_becomes_infinite_fails():
    with ours.Graph().as_default(), ours.Session() as sess, checks(ours):
        w = ours.Variable([1.0])
        train = ours.train.GradientDescentOptimizer(1e30).minimize(ours.reduce_sum(ours.exp(w * w)))
        sess.run(ours.global_variables_initializer())
        with pytest.raises(ours.errors.InvalidArgumentError, match="Detected Infinity or NaN in output 0 of graph op"):
            for _ in range(3):
                sess.run(train)


def types(tf):
    with tf.Graph().as_default() as graph:
        tf.log(tf.constant(1.0))
        return [n.op for n in graph.as_graph_def().node]


def test_only_the_thread_that_asks_is_checked():
    for tf in (ours, oracle):
        seen = []
        with checks(tf):
            thread = threading.Thread(target=lambda tf=tf, seen=seen: seen.extend(types(tf)))
            thread.start()
            thread.join()
            assert types(tf) == ["Const", "CheckNumericsV2", "Log", "CheckNumericsV2"]
        assert seen == types(tf) == ["Const", "Log"]


def message(tf, **limits):
    with tf.Graph().as_default() as graph:
        tf.debugging.enable_check_numerics(**limits)
        tf.log(tf.constant(1.0))
        return graph.as_graph_def().node[-1].attr["message"].s.decode().split("user code):\n")[1]


def test_limits_of_the_stack_hold_until_checks_end():
    for tf in (ours, oracle):
        tf.debugging.disable_check_numerics()
        try:
            text = message(tf, stack_height_limit=2, path_length_limit=5)
            lines = text.split("\n")
            assert lines[0].startswith("    + ... (Omitted ") and lines[0].endswith(" frames)")
            assert len([line for line in lines if " (L" in line]) == 2
            assert all(len(line.split(" (L")[0]) == len("    + ...") + 5 for line in lines if " (L" in line)
            assert message(tf, stack_height_limit=1).count(" (L") == 2
        finally:
            tf.debugging.disable_check_numerics()
