"""Learning rate schedules, clipping and the lists of variables: TensorFlow's nodes and values."""
import ctypes as C

import numpy as np
import pytest
import tensorflow as tf

import compare
import trainlib
import weftlib
from trainlib import reference_variables  # noqa: F401

v1 = tf.compat.v1
T = v1.train
DECAYS = {
    "exponential": (lambda s: T.exponential_decay(.1, s, 10, .9), "exponential_decay", (.1, ..., 10., .9, False)),
    "staircase": (lambda s: T.exponential_decay(.1, s, 7, .5, staircase=True, name="mine"), "exponential_decay",
                  (.1, ..., 7., .5, True)),
    "natural": (lambda s: T.natural_exp_decay(.1, s, 10, .9), "natural_exp_decay", (.1, ..., 10., .9, False)),
    "natural_staircase": (lambda s: T.natural_exp_decay(.1, s, 3, .9, staircase=True), "natural_exp_decay",
                          (.1, ..., 3., .9, True)),
    "inverse": (lambda s: T.inverse_time_decay(.1, s, 10, .9), "inverse_time_decay", (.1, ..., 10., .9, False)),
    "inverse_staircase": (lambda s: T.inverse_time_decay(.1, s, 3, .9, staircase=True), "inverse_time_decay",
                          (.1, ..., 3., .9, True)),
    "polynomial": (lambda s: T.polynomial_decay(.1, s, 30, power=2.), "polynomial_decay",
                   (.1, ..., 30., .0001, 2., False)),
    "polynomial_cycle": (lambda s: T.polynomial_decay(.1, s, 12, cycle=True), "polynomial_decay",
                         (.1, ..., 12., .0001, 1., True)),
    "linear_cosine": (lambda s: T.linear_cosine_decay(.1, s, 30, num_periods=1.5, alpha=.1, beta=.01),
                      "linear_cosine_decay", (.1, ..., 30., 1.5, .1, .01)),
    "cosine": (lambda s: T.cosine_decay(.1, s, 30, alpha=.2), "cosine_decay", (.1, ..., 30., .2)),
}


def follow(g, ours, want, got, steps=50):
    s = weftlib.Session(ours)
    with v1.Session(graph=g) as tfs:
        for i in range(steps):
            feed = {"step/read:0": i}
            d = compare.difference(f"step {i}", tfs.run(want, feed),
                                   s.run([got], {"step/read:0": np.array(i, g.get_tensor_by_name("step/read:0").dtype.as_numpy_dtype)})[0])
            assert d is None, d


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("name", DECAYS)
def test_decays(name, dtype):
    build, function, args = DECAYS[name]
    with tf.Graph().as_default() as g:
        step = v1.Variable(0, trainable=False, name="step", dtype=dtype)
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        want = build(step)
    given = [ours.find("step:0") if a is ... else a for a in args]
    got = ours.make(function, "mine" if name == "staircase" else None, *given)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    assert ours.name(got) == want.name
    follow(g, ours, want, got)


@pytest.mark.parametrize("t_mul", [1., 2., 1.5])
def test_cosine_decay_restarts(t_mul):
    """The values only: which way a cycle is found is decided while building, where TensorFlow builds a cond."""
    with tf.Graph().as_default() as g:
        step = v1.Variable(0, trainable=False, name="step", dtype=tf.int64)
        ours = trainlib.Graph(g)
        want = T.cosine_decay_restarts(.1, step, 7, t_mul=t_mul, m_mul=.8, alpha=.05)
    got = ours.make("cosine_decay_restarts", None, .1, ours.find("step:0"), 7., t_mul, .8, .05)
    assert ours.name(got) == want.name
    follow(g, ours, want, got, 60)


def test_noisy_linear_cosine_decay():
    with tf.Graph().as_default() as g:
        v1.set_random_seed(5)
        step = v1.Variable(0, trainable=False, name="step", dtype=tf.int64)
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        want = T.noisy_linear_cosine_decay(.1, step, 30, initial_variance=.5, variance_decay=.4)
    weftlib.lib.weft_graph_set_seed(ours.ptr, C.c_int64(5))
    got = ours.make("noisy_linear_cosine_decay", None, .1, ours.find("step:0"), 30., .5, .4, .5, 0., .001)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    follow(g, ours, want, got)


def test_piecewise_constant():
    """The values only: a row of Selects stands for TensorFlow's nested conds."""
    with tf.Graph().as_default() as g:
        step = v1.Variable(0, trainable=False, name="step", dtype=tf.int64)
        ours = trainlib.Graph(g)
        want = T.piecewise_constant(step, [np.int64(10), np.int64(20)], [1., .5, .1])
    got = ours.make("piecewise_constant", None, ours.find("step:0"), 2, (C.c_double * 2)(10, 20), (C.c_double * 3)(1, .5, .1))
    follow(g, ours, want, got)


def values(g, ours, names):
    with v1.Session(graph=g) as tfs:
        for name, a, b in zip(names, tfs.run(names), weftlib.Session(ours).run(names)):
            d = compare.difference(name, a, b)
            assert d is None, d


@pytest.mark.parametrize("limit", [.5, 2., 100.])
def test_clipping(limit):
    with tf.Graph().as_default() as g:
        x = tf.constant([[1., -2., 3.], [0., 4., -5.]], name="x")
        rows = tf.constant([[3., 4., 0.]], name="rows")
        tf.constant([1], name="at")
        low, high = tf.constant(-1., name="low"), tf.constant(2., name="high")
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        v1.clip_by_value(x, low, high)
        v1.clip_by_norm(x, limit)
        v1.clip_by_average_norm(x, limit)
        v1.clip_by_global_norm([x, None, tf.IndexedSlices(rows, g.get_tensor_by_name("at:0"))], limit)
        v1.global_norm([x], name="alone")
    x, none = ours.find("x:0"), trainlib.NONE
    ours.make("clip_by_value", None, x, ours.find("low:0"), ours.find("high:0"))
    ours.make("clip_by_norm", None, x, limit)
    ours.make("clip_by_average_norm", None, x, limit)
    dense = trainlib.Gradient(x, none, none, none)
    slices = trainlib.Gradient(none, ours.find("at:0"), ours.find("rows:0"), none)
    d = (trainlib.Gradient * 3)(dense, trainlib.Gradient(none, none, none, none), slices)
    clipped, norm = (trainlib.Gradient * 3)(), trainlib.Out()
    weftlib.check(weftlib.lib.weft_clip_by_global_norm(ours.ptr, None, 3, d, C.c_double(limit), None, clipped, C.byref(norm)))
    ours.make("global_norm", "alone", 1, d)
    assert clipped[1].dense.node < 0 and clipped[2].indices.node == slices.indices.node
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    values(g, ours, ["clip_by_value:0", "clip_by_norm:0", "clip_by_average_norm:0", "alone/global_norm:0",
                     "clip_by_global_norm/clip_by_global_norm/_0:0", "clip_by_global_norm/clip_by_global_norm/_2:0"])


def test_global_step_and_lists():
    with tf.Graph().as_default() as g:
        v1.get_variable("a", [2])
        v1.Variable(0., name="b", trainable=False, collections=["local_variables"])
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        with v1.name_scope("inside"):
            v1.train.get_or_create_global_step()
        v1.global_variables_initializer()
    weftlib.lib.weft_scope_push_name(ours.ptr, b"inside")
    assert ours.make("global_step").node < 0
    made = ours.make("global_step_make")
    assert ours.make("global_step").node == made.node == ours.make("global_step_make").node
    weftlib.lib.weft_scope_pop(ours.ptr)
    found = (trainlib.Out * 10)()
    assert weftlib.lib.weft_variables(ours.ptr, b"local_variables", found, 10) == 1
    assert ours.node_name(ours.make("variable_initializer", found[0])) == "b/Assign"
    n = weftlib.lib.weft_variables(ours.ptr, b"variables", found, 10)
    assert [ours.node_name(found[i]) for i in range(n)] == ["a", "global_step"]
    report = ours.make("report_uninitialized", None, n, found)
    init = ours.make("variables_initializer", None, n, found)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before, skip=("report_uninitialized_variables",))
    s = weftlib.Session(ours)
    assert list(s.run([report])[0]) == [b"a", b"global_step"]
    s.run((), targets=[ours.node_name(init)])
    assert list(s.run([report])[0]) == []
