"""Branches and loops as TensorFlow's Python makes them: the same numbers, whatever the threads do."""
import numpy as np
import pytest
import tensorflow as tf

import weftlib
from scenarios import PLAIN, collector, compare

v1 = tf.compat.v1
raw = tf.raw_ops
F, I, B = np.float32, np.int32, np.bool_
SCENARIOS = {}
scenario = collector(SCENARIOS)


@scenario([F(3), B(True)], [F(3), B(False)])
def cond(x, p):
    return [v1.cond(p, lambda: x * 2, lambda: x + 1)]


@scenario([F(3), B(True)], [F(3), B(False)])
def cond_with_gradient(x, p):
    y = v1.cond(p, lambda: tf.square(x), lambda: x * x * x)
    return [y, tf.gradients(y, x)[0]]


@scenario([F(1), B(True), B(True)], [F(1), B(True), B(False)], [F(1), B(False), B(True)], [F(1), B(False), B(False)])
def cond_in_cond(x, p, q):
    y = v1.cond(p, lambda: v1.cond(q, lambda: x + 1, lambda: x + 2), lambda: v1.cond(q, lambda: x + 4, lambda: x + 8))
    return [y, tf.gradients(y, x)[0]]


@scenario([F(5)], [F(-5)])
def case(x):
    return [v1.case([(x > 3, lambda: x), (x > 0, lambda: -x)], default=lambda: tf.constant(0.0))]


@scenario([I(0)], [I(7)], [I(20)])
def while_loop(n):
    return [v1.while_loop(lambda i: i < 10, lambda i: i + 1, [n])]


@scenario([I(0)], [I(1)], [I(12)])
def while_of_many(n):
    i, a, b = v1.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b),
                            [tf.constant(0), tf.constant(0), tf.constant(1)])
    return [i, a, b]


@scenario([I(5)], [I(0)])
def one_iteration_at_a_time(n):
    return [v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)), [0, 0.0],
                          parallel_iterations=1)[1]]


@scenario([I(4), I(3)], [I(0), I(3)], [I(3), I(0)])
def nested_while(n, m):
    def outer(i, s):
        _, s = v1.while_loop(lambda j, s: j < m, lambda j, s: (j + 1, s * 2 + i * j), [0, s])
        return i + 1, s
    return v1.while_loop(lambda i, s: i < n, outer, [0, 1])


@scenario([I(2), I(3), I(4)])
def three_deep(a, b, c):
    def count(n, body, s):
        return v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, body(s)), [0, s])[1]
    return [count(a, lambda s: count(b, lambda s: count(c, lambda s: s + 1, s), s), tf.constant(0))]


@scenario([B(True), I(5)], [B(False), I(5)])
def while_in_cond(p, n):
    loop = lambda: v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])[1]
    return [v1.cond(p, loop, lambda: tf.constant(-1))]


@scenario([I(10)])
def cond_in_while(n):
    def body(i, s):
        return i + 1, v1.cond(tf.equal(i % 3, 0), lambda: s + i, lambda: s - 1)
    return v1.while_loop(lambda i, s: i < n, body, [0, 0])


@scenario([I(10)])
def cond_around_while_in_while(n):
    def body(i, s):
        inner = lambda: v1.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), [0, s])[1]
        return i + 1, v1.cond(i % 2 > 0, inner, lambda: s * 2)
    return v1.while_loop(lambda i, s: i < n, body, [0, 1])


@scenario([np.ones([2, 3], F), I(4)], [np.ones([5, 1], F), I(0)])
def shapes_change_between_runs(x, n):
    i = tf.constant(0)
    return v1.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.tanh(x) + 0.5), [i, x])


@scenario([np.ones([1, 2], F), I(3)])
def shapes_grow_in_the_loop(x, n):
    shape = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    return v1.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.concat([x, x], 0)),
                         [tf.constant(0), tf.ensure_shape(x, [None, 2])], shape)


@scenario([F(1.5), I(4)], [F(1.5), I(0)])
def while_with_gradient(x, n):
    _, y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * tf.sin(y) + x), [tf.constant(0), x])
    return [y, tf.gradients(y, x)[0]]


@scenario([np.array([[1, 2], [3, 4]], F), I(5)])
def while_of_matmul_with_gradient(w, n):
    y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w) * 0.1)), [0, w])[1]
    return [y, tf.gradients(tf.reduce_sum(y), w)[0]]


@scenario([F(0.5), I(3), I(2)])
def nested_while_with_gradient(x, n, m):
    def outer(i, y):
        y = v1.while_loop(lambda j, y: j < m, lambda j, y: (j + 1, y * x + tf.cos(y)), [0, y])[1]
        return i + 1, y
    y = v1.while_loop(lambda i, y: i < n, outer, [0, x])[1]
    return [y, tf.gradients(y, x)[0]]


@scenario([F(0.7), I(6)])
def cond_in_while_with_gradient(x, n):
    def body(i, y):
        return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: tf.sin(y))
    y = v1.while_loop(lambda i, y: i < n, body, [0, x])[1]
    return [y, tf.gradients(y, x)[0]]


@scenario([I(5)])
def tensor_array(n):
    ta = tf.TensorArray(tf.float32, n, clear_after_read=False)
    _, ta = v1.while_loop(lambda i, ta: i < n, lambda i, ta: (i + 1, ta.write(i, tf.cast(i * i, tf.float32))), [0, ta])
    return [ta.stack(), ta.read(2)]


@scenario([np.arange(6, dtype=F)])
def tensor_array_with_gradient(x):
    ta = tf.TensorArray(tf.float32, 6).unstack(x)
    _, s = v1.while_loop(lambda i, s: i < 6, lambda i, s: (i + 1, s * 0.5 + tf.square(ta.read(i))), [0, 0.0])
    return [s, tf.gradients(s, x)[0]]


@scenario([np.arange(12, dtype=F).reshape(4, 3)])
def map_and_scan(x):
    return [v1.map_fn(lambda r: r * 2 + 1, x), v1.scan(lambda a, r: a + r, x), v1.foldl(lambda a, r: a * 0.5 + r, x)]


@scenario([np.random.RandomState(0).rand(2, 5, 3).astype(F)])
def dynamic_rnn(x):
    w = tf.constant(np.random.RandomState(1).rand(7, 4).astype(F))
    steps = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))

    def body(t, h, ta):
        h = tf.tanh(tf.matmul(tf.concat([steps.read(t), h], 1), w))
        return t + 1, h, ta.write(t, h)
    _, h, ta = v1.while_loop(lambda t, h, ta: t < 5, body, [0, tf.zeros([2, 4]), tf.TensorArray(tf.float32, 5)])
    return [h, ta.stack(), tf.gradients(tf.reduce_sum(h), x)[0]]


@scenario([B(True)], [B(False)])
def ref_variable_in_cond(p):
    v = v1.get_variable("v", initializer=2.0, use_resource=False)
    v1.group(v.initializer, name="init")
    y = v1.cond(p, lambda: v1.assign_add(v, 3.0) * 1.0, lambda: v * 10.0)
    return [y]


@scenario([I(4)])
def ref_variable_in_while(n):
    v = v1.get_variable("v", initializer=1.0, use_resource=False)
    v1.group(v.initializer, name="init")

    def body(i, s):
        with tf.control_dependencies([v1.assign_add(v, 1.0)]):
            return i + 1, s + tf.cast(i, tf.float32)
    s = v1.while_loop(lambda i, s: i < n, body, [0, 0.0], parallel_iterations=1)[1]
    with tf.control_dependencies([s]):
        return [s, raw.Identity(input=v._ref())]  # not v's own read: nothing orders that after the loop


@scenario([I(4)])
def resource_variable_in_while(n):
    v = v1.get_variable("v", initializer=1.0, use_resource=True)
    v1.group(v.initializer, name="init")

    def body(i, s):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1, s + v.read_value()
    return [v1.while_loop(lambda i, s: i < n, body, [0, 0.0], parallel_iterations=1)[1]]


@scenario([B(True)], [B(False)])
def moving_average(p):
    v = v1.get_variable("v", initializer=2.0, use_resource=False)
    ema = tf.train.ExponentialMovingAverage(0.9)
    update = ema.apply([v])
    v1.group(v1.global_variables_initializer(), name="init")
    with tf.control_dependencies([update]):
        return [v1.cond(p, lambda: ema.average(v) * 1.0, lambda: v + 0.0)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", SCENARIOS)
def test_same_values(name, threads):
    fn, rows = SCENARIOS[name]
    compare(fn, rows, threads, 3, lambda v: [None] * np.ndim(v))


def error_of(run):
    try:
        run()
    except weftlib.Error as e:
        return e.code, e.message
    except tf.errors.OpError as e:
        return e.error_code, e.message
    return 0, ""


def switched(taken):
    return raw.Switch(data=tf.constant(3.0), pred=tf.constant(taken))


ERRORS = {
    "a dead fetch": lambda: switched(True)[0],
    "a merge of dead inputs": lambda: raw.Merge(inputs=[switched(True)[0] + 1.0, switched(False)[1] * 2.0])[0],
    "frames mixed up": lambda: raw.Enter(data=v1.placeholder_with_default(1.0, []), frame_name="f")
    + v1.placeholder_with_default(2.0, []),
    "an exit from nowhere": lambda: raw.Exit(data=v1.placeholder_with_default(1.0, [])),
    "a predicate that is no scalar": lambda: raw.Switch(data=1.0, pred=v1.placeholder_with_default([True], None))[1],
    "an error in a loop": lambda: v1.while_loop(
        lambda i: i < 10, lambda i: i + v1.Print(tf.gather([1, 1, 1], i), []), [0]),
}
WORDS = {"a dead fetch": "does not have value", "a merge of dead inputs": "does not have value",
         "frames mixed up": "has inputs from different frames", "an exit from nowhere": "Invalid Exit op",
         "a predicate that is no scalar": "must be a scalar", "an error in a loop": "is not in [0, 3)"}


@pytest.mark.parametrize("what", ERRORS)
def test_same_errors(what):
    graph = tf.Graph()
    with graph.as_default():
        fetch = ERRORS[what]().name
    want, message = error_of(lambda: v1.Session(graph=graph, config=PLAIN).run(fetch))
    ours = weftlib.Session(weftlib.Graph(graph.as_graph_def()))
    for _ in range(3):
        code, said = error_of(lambda: ours.run([fetch]))
        assert code == want and code != 0
        assert WORDS[what] in message and WORDS[what] in said
