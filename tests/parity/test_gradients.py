"""Gradients of whole graphs that TensorFlow built: TensorFlow's numbers and ours, through cond and while_loop too."""
import numpy as np
import pytest
import tensorflow as tf

import compare
import weftlib

v1 = tf.compat.v1
v1.disable_eager_execution()
v1.disable_v2_behavior()


def ph(name, *shape, dtype=tf.float32):
    return v1.placeholder(dtype, shape, name=name)


def rand(*shape):
    return np.random.RandomState(sum(shape) + 7).uniform(-1, 1, shape).astype(np.float32)


def dense_layers():
    x, w, b = ph("x", None, 4), ph("w", 4, 3), ph("b", 3)
    y = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w) + b)) * 2. - tf.tanh(x[:, :3]))
    return [y], [x, w, b], {x: rand(5, 4), w: rand(4, 3), b: rand(3)}


def several_paths():
    x, w = ph("x", 2, 3), ph("w", None, 3)
    y = x * w + x
    return [tf.reduce_sum(y), y * x, x], [x, w, y], {x: rand(2, 3), w: rand(1, 3)}


def unconnected():
    x, w = ph("x", 2), ph("w", 2)
    return [x * 2.], [x, w], {x: rand(2), w: rand(2)}


def stopped():
    x = ph("x", 3)
    return [tf.stop_gradient(tf.exp(x)) * x + tf.cast(tf.cast(x, tf.int32), tf.float32)], [x], {x: rand(3)}


def slices_alone():
    p = ph("p", 5, 3)
    return [tf.gather(p, [1, 2, 1]) * tf.gather(p, [0, 0, 4])], [p], {p: rand(5, 3)}


def slices_and_dense():
    p = ph("p", 5, 3)
    return [tf.reduce_sum(tf.gather(p, [1, 2])) + tf.reduce_sum(tf.square(p))], [p], {p: rand(5, 3)}


def slices_through_an_op():
    p = ph("p", 5, 3)
    return [tf.gather(p * 2., [1, 2, 1])], [p], {p: rand(5, 3)}


def split_and_concat():
    x = ph("x", 2, 6)
    a, _, c = tf.split(x, 3, 1)
    return [tf.concat([a * a, c], 0)], [x], {x: rand(2, 6)}


def cond_both(pred):
    x, p = ph("x", 3), ph("p", dtype=tf.bool)
    return [tf.cond(p, lambda: x * 2., lambda: tf.square(x) + 1.)], [x], {x: rand(3), p: np.array(pred)}


def cond_one_side(pred):
    x, w, p = ph("x", None), ph("w", None), ph("p", dtype=tf.bool)
    y = tf.cond(p, lambda: x * w, lambda: x)
    return [y * y], [x, w], {x: rand(3), w: rand(3), p: np.array(pred)}


def cond_in_cond(pred):
    x, p = ph("x", 3), ph("p", dtype=tf.bool)
    inner = lambda: tf.cond(x[0] > 0., lambda: tf.sin(x), lambda: x * x * x)
    return [tf.cond(p, inner, lambda: tf.exp(x)) * x], [x], {x: rand(3), p: np.array(pred)}


def while_power(turns):
    x, n = ph("x", 3), ph("n", dtype=tf.int32)
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), [0, tf.ones([3])])
    return [y], [x], {x: rand(3), n: np.array(turns, np.int32)}


def while_state(turns):
    """Two variables that feed one another, an invariant matrix, a loop in which shapes are not known."""
    x, w, n = ph("x", None, 3), ph("w", 3, 3), ph("n", dtype=tf.int32)
    body = lambda i, h, c: (i + 1, tf.tanh(tf.matmul(h, w) + c), c * 0.5 + h)
    _, h, c = tf.while_loop(lambda i, *_: i < n, body, [0, x, tf.zeros_like(x)])
    return [tf.reduce_sum(h * c)], [x, w], {x: rand(2, 3), w: rand(3, 3), n: np.array(turns, np.int32)}


def while_unused_exit():
    x = ph("x", 3)
    _, a, b = tf.while_loop(lambda i, *_: i < 4, lambda i, a, b: (i + 1, tf.sin(b), a * x), [0, x, x * 2.])
    return [b], [x], {x: rand(3)}


def while_forgets():
    """A variable that the body sets without reading it."""
    x = ph("x", 3)
    _, a, b = tf.while_loop(lambda i, *_: i < 3, lambda i, a, b: (i + 1, x * x, b + a), [0, x, x])
    return [a + b], [x], {x: rand(3)}


def while_condition_on_value():
    x = ph("x")
    y, = tf.while_loop(lambda a: a < 100., lambda a: [a * x], [x])
    return [y], [x], {x: np.array(1.7, np.float32)}


def while_with_cond():
    x, n = ph("x", 3), ph("n", dtype=tf.int32)
    step = lambda i, a: tf.cond(tf.equal(i % 2, 0), lambda: a * x, lambda: tf.sin(a) + x)
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, step(i, a)), [0, tf.ones([3])])
    return [y], [x], {x: rand(3), n: np.array(5, np.int32)}


def while_in_cond(pred):
    x, p = ph("x", 3), ph("p", dtype=tf.bool)
    loop = lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]
    return [tf.cond(p, loop, lambda: x * 3.)], [x], {x: rand(3), p: np.array(pred)}


def while_in_cond_unused(pred):
    x, p = ph("x", 3), ph("p", dtype=tf.bool)
    turn = lambda i, a, b: (i + 1, tf.sin(b), a * x)
    loop = lambda: tf.while_loop(lambda i, *_: i < 3, turn, [0, x, x])[2]
    return [tf.cond(p, loop, lambda: x * 3.)], [x], {x: rand(3), p: np.array(pred)}


def while_in_cond_in_while():
    x = ph("x", 3)

    def inner(a):
        turn = lambda j, b, c: (j + 1, tf.sin(c) * x, b + a)
        return tf.while_loop(lambda j, *_: j < 2, turn, [0, a, x])[2]

    step = lambda i, a: tf.cond(tf.equal(i % 2, 0), lambda: inner(a), lambda: a * x + 1.)
    _, y = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, step(i, a)), [0, tf.identity(x)])
    return [y], [x], {x: rand(3)}


def cond_in_cond_in_while():
    x, n = ph("x", 3), ph("n", dtype=tf.int32)

    def step(i, a):
        deep = lambda: tf.cond(tf.equal(i % 3, 0), lambda: a * x, lambda: tf.zeros([3]) + tf.exp(-a))
        return tf.cond(tf.equal(i % 2, 0), deep, lambda: tf.sin(a) * 2.)

    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, step(i, a)), [0, tf.identity(x)])
    return [y], [x], {x: rand(3), n: np.array(7, np.int32)}


def while_in_while(outer, inner):
    x, n, m = ph("x", 3), ph("n", dtype=tf.int32), ph("m", dtype=tf.int32)

    def body(i, a):
        _, b = tf.while_loop(lambda j, b: j < m + i, lambda j, b: (j + 1, tf.sin(b) * x + a), [0, a])
        return i + 1, b * a

    _, y = tf.while_loop(lambda i, a: i < n, body, [0, tf.identity(x)])
    feeds = {x: rand(3), n: np.array(outer, np.int32), m: np.array(inner, np.int32)}
    return [y], [x], feeds


def while_gather():
    """An embedding read in every turn: slices added up over the turns."""
    p, ids = ph("p", 5, 3), ph("ids", None, dtype=tf.int32)
    body = lambda i, a: (i + 1, a * 0.5 + tf.gather(p, ids[i]))
    _, y = tf.while_loop(lambda i, a: i < tf.size(ids), body, [0, tf.zeros([3])])
    return [y * y], [p], {p: rand(5, 3), ids: np.array([1, 4, 1], np.int32)}


def while_arrays():
    """What dynamic_rnn does: read a TensorArray, write another."""
    x, w = ph("x", None, 3), ph("w", 3)
    n = tf.shape(x)[0]
    source = tf.TensorArray(tf.float32, n, element_shape=[3]).unstack(x)
    def body(i, h, out):
        row = source.read(i)
        return i + 1, tf.tanh(h * w + row), out.write(i, h * row)

    _, h, out = tf.while_loop(lambda i, *_: i < n, body, [0, tf.zeros([3]), tf.TensorArray(tf.float32, n)])
    return [tf.reduce_sum(out.stack()) + tf.reduce_sum(h)], [x, w], {x: rand(4, 3), w: rand(3)}


def lstm_by_while():
    x, k = ph("x", None, 2, 3), ph("k", 7, 16)
    n = tf.shape(x)[0]
    source = tf.TensorArray(tf.float32, n).unstack(x)

    def body(t, c, h):
        i, j, f, o = tf.split(tf.matmul(tf.concat([tf.reshape(source.read(t), [2, 3]), h], 1), k), 4, 1)
        c = c * tf.sigmoid(f + 1.) + tf.sigmoid(i) * tf.tanh(j)
        return t + 1, c, tf.tanh(c) * tf.sigmoid(o)

    _, c, h = tf.while_loop(lambda t, *_: t < n, body, [0, tf.zeros([2, 4]), tf.zeros([2, 4])])
    return [tf.reduce_mean(h * c)], [x, k], {x: rand(5, 2, 3), k: rand(7, 16)}


def variable(name, *shape, resource=False):
    return v1.get_variable(name, initializer=rand(*shape), use_resource=resource)


def dynamic_rnn():
    """TF's own: sequences of different lengths, a cond in every turn, variables as invariants."""
    x, n = ph("x", 3, None, 4), ph("n", 3, dtype=tf.int32)
    cell = v1.nn.rnn_cell.BasicLSTMCell(5)
    with v1.variable_scope("rnn", initializer=v1.constant_initializer(0.1)):
        out, state = v1.nn.dynamic_rnn(cell, x, sequence_length=n, dtype=tf.float32)
    ys = [tf.reduce_sum(out * out) + tf.reduce_sum(state.c)]
    return ys, [x] + v1.trainable_variables(), {x: rand(3, 6, 4), n: np.array([6, 2, 4], np.int32)}


def variables(resource):
    w, b = variable("w", 4, 3, resource=resource), variable("b", 3, resource=resource)
    x = ph("x", None, 4)
    y = tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(x[:, :3]), logits=tf.matmul(x, w) + b)
    return [y], [w, b], {x: rand(5, 4)}


def embedding(resource):
    p = variable("p", 7, 3, resource=resource)
    ids = ph("ids", None, dtype=tf.int32)
    return [tf.square(tf.nn.embedding_lookup(p, ids))], [p], {ids: np.array([1, 6, 1, 0], np.int32)}


def variable_in_cond(resource, pred):
    w, p = variable("w", 3, resource=resource), ph("p", dtype=tf.bool)
    return [tf.cond(p, lambda: w * w, lambda: tf.ones([3])) + w], [w], {p: np.array(pred)}


def variable_in_while(resource):
    w = variable("w", 3, 3, resource=resource)
    x = ph("x", 1, 3)
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w))), [0, x])
    return [y], [w, x], {x: rand(1, 3)}


def convolutions():
    x, k, g = ph("x", 2, 8, 8, 3), variable("k", 3, 3, 3, 4), variable("g", 4)
    h = tf.nn.bias_add(tf.nn.conv2d(x, k, 1, "SAME"), g)
    h, _, _ = v1.nn.fused_batch_norm(h, g, g, is_training=True)
    h = tf.nn.avg_pool2d(tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "VALID"), 2, 2, "SAME")
    return [tf.reduce_sum(tf.sigmoid(h) * h)], [x, k, g], {x: rand(2, 8, 8, 3)}


GRAPHS = [(dense_layers,), (several_paths,), (unconnected,), (stopped,), (slices_alone,), (slices_and_dense,),
          (slices_through_an_op,), (split_and_concat,), (cond_both, True), (cond_both, False), (cond_one_side, True),
          (cond_one_side, False), (cond_in_cond, True), (cond_in_cond, False), (while_power, 0), (while_power, 1),
          (while_power, 20), (while_state, 0), (while_state, 6), (while_unused_exit,), (while_forgets,),
          (while_condition_on_value,), (while_with_cond,), (while_in_cond, True), (while_in_cond, False), (while_in_cond_unused, True),
          (while_in_cond_unused, False), (while_in_cond_in_while,), (cond_in_cond_in_while,),
          (while_in_while, 3, 2), (while_in_while, 0, 2), (while_in_while, 2, 0), (while_gather,), (while_arrays,),
          (lstm_by_while,), (dynamic_rnn,), (variables, False), (variables, True), (embedding, False), (embedding, True),
          (variable_in_cond, False, True), (variable_in_cond, False, False), (variable_in_cond, True, True),
          (variable_in_while, False), (variable_in_while, True), (convolutions,)]


def name_of(graph):
    return "_".join([graph[0].__name__] + [str(a) for a in graph[1:]])


def tensorflows(graph):
    """Names of ys and xs, feeds by name, the GraphDef, and TensorFlow's gradients (None where there is none)."""
    with tf.Graph().as_default() as g:
        ys, xs, feeds = graph[0](*graph[1:])
        v1.global_variables_initializer()
        xs = [getattr(x, "handle", None) if isinstance(x, v1.Variable) and x.dtype._is_ref_dtype is False
              else getattr(x, "_variable", x) for x in xs]
        graph_def = g.as_graph_def()
        dense = [None if d is None else tf.convert_to_tensor(d) for d in tf.gradients(ys, xs)]
        with v1.Session() as s:
            s.run("init")
            values = iter(s.run([d for d in dense if d is not None], feeds))
        want = [None if d is None else next(values) for d in dense]
        return graph_def, [y.name for y in ys], [x.name for x in xs], {t.name: v for t, v in feeds.items()}, want


@pytest.mark.parametrize("graph", GRAPHS, ids=name_of)
def test_gradients_are_tensorflows(graph):
    graph_def, ys, xs, feeds, want = tensorflows(graph)
    g = weftlib.Graph(graph_def)
    ours = g.gradients(ys, xs)
    assert [d is None for d in ours] == [d is None for d in want]
    session = weftlib.Session(g)
    session.run((), targets=["init"])
    got = session.run([d for d in ours if d is not None], feeds, timeout_ms=20000)
    for x, w, v in zip([x for x, d in zip(xs, want) if d is not None], [w for w in want if w is not None], got):
        difference = compare.difference(x, w, v)
        assert not difference, difference


@pytest.mark.parametrize("graph", GRAPHS, ids=name_of)
def test_tensorflow_runs_the_gradients_we_build(graph):
    """What we add to a graph is a graph TensorFlow takes, loops included."""
    graph_def, ys, xs, feeds, want = tensorflows(graph)
    g = weftlib.Graph(graph_def)
    names = [o and f"{g.node_name(o)}:{o.slot}" for o in g.gradients(ys, xs)]
    with tf.Graph().as_default():
        tf.import_graph_def(g.export(), name="")
        with v1.Session() as s:
            s.run("init")
            got = iter(s.run([n for n in names if n], feeds))
    for x, w in zip(xs, want):
        difference = None if w is None else compare.difference(x, w, next(got))
        assert not difference, difference


def test_an_op_without_a_gradient_is_named():
    with tf.Graph().as_default() as g:
        x = ph("x", 3)
        y = tf.raw_ops.Bucketize(input=x, boundaries=[1.], name="in_the_way")
        y = tf.raw_ops.Unique(x=x, name="in_the_way")[0]
        graph_def = g.as_graph_def()
    ours = weftlib.Graph(graph_def)
    with pytest.raises(weftlib.Error, match=r"No gradient defined for operation'in_the_way_1' \(op type: Unique\)"):
        ours.gradients([y.name], [x.name])
    assert len(ours.export().node) == len(graph_def.node)


def test_a_second_derivative_through_a_loop_is_refused():
    graph_def, ys, xs, _, _ = tensorflows((while_power, 3))
    g = weftlib.Graph(graph_def)
    first = g.gradients(ys, xs)
    with pytest.raises(weftlib.Error, match="Second-order gradient for while loops not supported"):
        g.gradients([f"{g.node_name(first[0])}:0"], xs)
