"""Fifty steps from the same start: every loss, layer and initializer inside a model that learns, on both sides."""
import ctypes as C

import numpy as np
import pytest
import tensorflow as tf

import compare
import test_train_layers as layers
import test_train_losses as losses
import test_train_rnn as rnn
import trainlib
import weftlib
from test_train_layers import SEED, L, Layers, data
from trainlib import Out, reference_variables  # noqa: F401

v1 = tf.compat.v1
lib = weftlib.lib
STEPS, RATE = 50, .05


def initializer(ours):
    variables = (Out * 50)()
    ours.make("variables_initializer", None, lib.weft_variables(ours.ptr, b"variables", variables, 50), variables)


def start(g, tfs, s, given):
    """Both at the initial values, which are TensorFlow's numbers for the seed; or at some that are given to both."""
    if not given:
        return tfs.run("init"), s.run((), targets=["init"])
    for v in g.get_collection("variables"):
        value, to = data(*v.shape, seed=len(v.name)) * .5, v.initializer.inputs[1]
        tfs.run(v.initializer, {to: value}), s.run((), {to.name: value}, [v.initializer.name])


def learn(inputs, theirs, mine, feeds, tol=400., given=False):
    """theirs(tensors) and mine(layers, outs) give a loss each; every variable is compared after every step."""
    with tf.Graph().as_default() as g:
        v1.set_random_seed(SEED)
        x = [v1.placeholder(t, s, name=f"x{i}") for i, (t, s) in enumerate(inputs)]
        ours = trainlib.Graph(g)
        lib.weft_graph_set_seed(ours.ptr, C.c_int64(SEED))
        loss = theirs(*x)
        with v1.control_dependencies(g.get_collection("update_ops")):
            train = v1.train.GradientDescentOptimizer(RATE).minimize(loss, name="train")
        v1.global_variables_initializer()
    o = mine(Layers(ours), *[ours.find(f"x{i}:0") for i in range(len(x))])
    updates = trainlib.names_in(ours.export_meta(), "update_ops")
    got = trainlib.Optimizer(ours, "GradientDescent", learning_rate=RATE).minimize(o, name="train")
    initializer(ours)
    s, names = weftlib.Session(ours), [v.name for v in g.get_collection("variables")]
    with v1.Session(graph=g) as tfs:
        start(g, tfs, s, given)
        for i in range(STEPS):
            fed = feeds(i)
            want, = tfs.run([loss, train], fed)[:1]
            found, = s.run([o], fed, [ours.node_name(got), *updates])
            for n, a, b in zip(["loss"] + names, [want] + tfs.run(names), [found] + s.run(names)):
                d = compare.difference(f"step {i}: {n}", a, b, tol)
                assert d is None, d


def mean_square(l, x):
    return l.g.make("mean", l.g.make("square", x))


def on_both(inputs, theirs, mine, feeds, **kw):
    """The mean square of what the layers give is what is made small."""
    learn(inputs, lambda *x: tf.reduce_mean(tf.square(theirs(*x))), lambda l, *x: mean_square(l, mine(l, *x)), feeds, **kw)


def batches(*shapes):
    def of(i):
        return {f"x{k}:0": data(*s, seed=100 * i + k) for k, s in enumerate(shapes)}
    return of


@pytest.mark.parametrize("kind", losses.KINDS)
def test_losses(kind):
    sparse, unit = kind.startswith("sparse"), kind == "log_loss"
    opts = losses.LossOpts(**losses.KINDS[kind])

    def theirs(x, y):
        p = L.dense(x, 4, activation=tf.sigmoid if unit else None)
        return getattr(v1.losses, kind)(y, p, **losses.KINDS[kind])

    def mine(l, x, y):
        return l.g.make("loss", kind, y, l.dense(x, 4, activation=b"Sigmoid" if unit else None), C.byref(opts))

    def feeds(i):
        rng = np.random.RandomState(i)
        y = rng.randint(0, 4, 5).astype(np.int64) if sparse else (rng.rand(5, 4) > .5).astype(np.float32)
        return {"x0:0": rng.randn(5, 3).astype(np.float32), "x1:0": y}
    learn([(tf.float32, [None, 3]), (tf.int64, [None]) if sparse else (tf.float32, [None, 4])], theirs, mine, feeds)


def test_dense():
    on_both([(tf.float32, [None, 6])], layers.dense_theirs, layers.dense_mine, batches((4, 6)))


def test_convolution_pooling_and_flattening():
    on_both([(tf.float32, [None, 8, 9, 3])], layers.images_theirs, layers.images_mine, batches((2, 8, 9, 3)))


def test_dropout():
    on_both([(tf.float32, [None, 8])], lambda x: L.dropout(L.dense(x, 20), .4, training=True),
            lambda l, x: l.dropout(l.dense(x, 20), .4, training=True), batches((4, 8)))


@pytest.mark.parametrize("shape", [(6, 4, 5, 3), (6, 3)])
def test_batch_normalization(shape):
    def theirs(x, t):
        return tf.square(L.batch_normalization(x, training=True, momentum=.9) - t)

    def mine(l, x, t):
        return l.g.make("square", l.g.make("sub", l.batch_norm(x, training=True, momentum=.9), t))
    rows = (tf.float32, [None, *shape[1:]])
    on_both([rows, rows], theirs, mine, batches(shape, shape))


@pytest.mark.parametrize("name", layers.INITIALIZERS)
def test_initializers(name):
    make, initial = layers.INITIALIZERS[name]
    tol = 4000. if name == "orthogonal" else 400.  # a decomposition to begin with
    on_both([(tf.float32, [None, 6])], lambda x: L.dense(x, 5, kernel_initializer=make()),
            lambda l, x: l.dense(x, 5, kernel=C.pointer(initial)), batches((4, 6)), tol=tol)


@pytest.mark.parametrize("n", [1, 3])
def test_embedding_lookup(n):
    def theirs(ids, t):
        parts = [v1.get_variable(f"p{k}", [4, 2], initializer=v1.random_uniform_initializer(-1., 1.)) for k in range(n)]
        return v1.nn.embedding_lookup(parts, ids) - t

    def mine(l, ids, t):
        shape, uniform = (C.c_int64 * 2)(4, 2), layers.Initial(kind=4, a=-1, b=1)
        parts = [l.g.make("get_variable", f"p{k}", 1, 2, shape, C.byref(uniform), True) for k in range(n)]
        return l.g.make("sub", l.g.make("embedding_lookup", None, n, trainlib.outs(parts), ids, False), t)

    def feeds(i):
        rng = np.random.RandomState(i)
        return {"x0:0": rng.randint(0, 4 * n, 3), "x1:0": rng.randn(3, 2).astype(np.float32)}
    on_both([(tf.int64, [None]), (tf.float32, [None, 2])], theirs, mine, feeds)


def test_a_variable_in_pieces():
    """The default initializer scales by the whole."""
    def theirs(ids, t):
        with v1.variable_scope("s", partitioner=v1.fixed_size_partitioner(3)):
            pieces = v1.get_variable("e", [10, 4])
        return v1.nn.embedding_lookup(pieces, ids, partition_strategy="div") - t

    def mine(l, ids, t):
        pieces = (Out * 3)()
        lib.weft_scope_push_variables(l.g.ptr, b"s", 0, None)
        weftlib.check(lib.weft_get_variable_parts(l.g.ptr, b"e", 1, 2, (C.c_int64 * 2)(10, 4), 0, 3, None, True, pieces))
        lib.weft_scope_pop(l.g.ptr)
        return l.g.make("sub", l.g.make("embedding_lookup", None, 3, pieces, ids, True), t)

    def feeds(i):
        rng = np.random.RandomState(i)
        return {"x0:0": rng.randint(0, 10, 5), "x1:0": rng.randn(5, 4).astype(np.float32)}
    on_both([(tf.int64, [None]), (tf.float32, [None, 4])], theirs, mine, feeds)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("dynamic", [False, True])
def test_recurrent_cells(kind, dynamic):
    shape = (rnn.BATCH, rnn.TIME, rnn.DEPTH)

    def theirs(x):
        with v1.variable_scope("", initializer=v1.glorot_uniform_initializer()):
            if dynamic:
                return v1.nn.dynamic_rnn(rnn.cell(kind), x, dtype=tf.float32)[0]
            return v1.nn.static_rnn(rnn.cell(kind), tf.unstack(x, axis=1), dtype=tf.float32)[0][-1]

    def mine(l, x):
        g, units, state, opts = l.g, C.c_int64(rnn.UNITS), (Out * 2)(), rnn.RnnOpts()
        if dynamic:
            y = Out()
            weftlib.check(lib.weft_dynamic_rnn(g.ptr, kind, units, x, C.byref(opts), C.byref(y), state))
            return y
        parts = g.make("op", "Unpack", None, 1, C.byref(x), f"num={rnn.TIME} axis=1")
        steps, y = [Out(parts.node, i) for i in range(rnn.TIME)], (Out * rnn.TIME)()
        weftlib.check(lib.weft_static_rnn(g.ptr, kind, units, rnn.TIME, trainlib.outs(steps), C.byref(opts), y, state))
        return y[rnn.TIME - 1]
    on_both([(tf.float32, shape)], theirs, mine, batches(shape), given=True)
