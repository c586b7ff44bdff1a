"""Recurrent cells, unrolled and in loops: TensorFlow's variables and values, gradients included."""
import ctypes as C

import numpy as np
import pytest
import tensorflow as tf

import trainlib
import weftlib
from trainlib import Out, reference_variables  # noqa: F401

v1 = tf.compat.v1
lib = weftlib.lib
UNITS, DEPTH, TIME, BATCH = 5, 4, 6, 3


class RnnOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("name", C.c_char_p), ("reuse", C.c_int), ("sequence_length", C.POINTER(Out)), ("initial", C.POINTER(Out)),
                ("time_major", C.c_bool), ("has_forget_bias", C.c_bool), ("forget_bias", C.c_double), ("kernel", C.c_void_p)]


def cell(kind, **kw):
    """TensorFlow 1's cells; TensorFlow 2 behavior, on in these tests, would choose another default initializer."""
    make = v1.nn.rnn_cell.BasicLSTMCell if kind == 0 else v1.nn.rnn_cell.GRUCell
    return make(UNITS, **kw) if kind == 0 else make(UNITS, kernel_initializer=v1.glorot_uniform_initializer())


def states_of(kind, s):
    return list(s) if kind == 0 else [s]


def compare(g, ours, want, got, feeds):
    """Values, and the gradients of their sum by every variable."""
    with g.as_default():
        variables = v1.trainable_variables()
        loss = tf.add_n([tf.reduce_sum(tf.square(t)) for t in want])
        d = tf.gradients(loss, variables)
    sums = [ours.make("sum", ours.make("square", o)) for o in got]
    total = sums[0]
    for s in sums[1:]:
        total = ours.make("add", total, s)
    ours_d = ours.gradients([ours.name(total)], [v.name for v in variables])
    s = weftlib.Session(ours)
    with v1.Session(graph=g) as tfs:
        for v in variables:
            value = np.random.RandomState(len(v.name)).randn(*v.shape).astype(np.float32) * .5
            tfs.run(v.initializer, {v.initializer.inputs[1]: value})
            s.run((), {v.initializer.inputs[1].name: value}, [v.initializer.name])
        for name, a, b in zip(range(99), tfs.run(want + d, feeds), s.run(list(got) + ours_d, feeds)):
            np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-5, err_msg=f"output {name}")


def x_values(*shape):
    return np.random.RandomState(1).randn(*shape).astype(np.float32)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("lengths", [False, True])
def test_static(kind, lengths):
    with tf.Graph().as_default() as g:
        x = [v1.placeholder(tf.float32, [BATCH, DEPTH], name=f"x{i}") for i in range(TIME)]
        n = v1.placeholder(tf.int32, [BATCH], name="n")
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        with v1.variable_scope("", initializer=v1.glorot_uniform_initializer()):
            y, s = v1.nn.static_rnn(cell(kind), x, dtype=tf.float32, sequence_length=n if lengths else None)
    out, state, length = (Out * TIME)(), (Out * 2)(), ours.find("n:0")
    opts = RnnOpts(sequence_length=C.pointer(length)) if lengths else RnnOpts()
    weftlib.check(lib.weft_static_rnn(ours.ptr, kind, C.c_int64(UNITS), TIME, trainlib.outs([ours.find(f"x{i}:0") for i in range(TIME)]),
                                      C.byref(opts), out, state))
    if not lengths:
        trainlib.no_differences(g.as_graph_def(), ours.export(), before, skip=("gradients", "BasicLSTMCellZeroState", "GRUCellZeroState"))
    trainlib.same_collections(g, ours, ["variables", "trainable_variables"])
    feeds = {f"x{i}:0": x_values(BATCH, DEPTH) * (i + 1) for i in range(TIME)}
    if lengths:
        feeds["n:0"] = np.array([2, TIME, 0], np.int32)
    compare(g, ours, y + states_of(kind, s), list(out) + list(state)[:2 - kind], feeds)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("lengths", [None, [2, TIME, 0], [1, 3, 2]])
@pytest.mark.parametrize("major", [False, True])
def test_dynamic(kind, lengths, major):
    shape = [TIME, BATCH, DEPTH] if major else [BATCH, TIME, DEPTH]
    with tf.Graph().as_default() as g:
        x = v1.placeholder(tf.float32, [None if d != DEPTH else d for d in shape], name="x")
        n = v1.placeholder(tf.int64, [None], name="n")
        ours = trainlib.Graph(g)
        with v1.variable_scope("", initializer=v1.glorot_uniform_initializer()):
            y, s = v1.nn.dynamic_rnn(cell(kind), x, sequence_length=n if lengths else None, dtype=tf.float32, time_major=major)
    out, state, length = Out(), (Out * 2)(), ours.find("n:0")
    opts = RnnOpts(time_major=major, **({"sequence_length": C.pointer(length)} if lengths else {}))
    weftlib.check(lib.weft_dynamic_rnn(ours.ptr, kind, C.c_int64(UNITS), ours.find("x:0"), C.byref(opts), C.byref(out), state))
    trainlib.same_collections(g, ours, ["variables", "trainable_variables"])
    feeds = {"x:0": x_values(*shape)}
    if lengths:
        feeds["n:0"] = np.array(lengths, np.int64)
    compare(g, ours, [y] + states_of(kind, s), [out] + list(state)[:2 - kind], feeds)


def test_given_states_and_bias():
    with tf.Graph().as_default() as g:
        x = v1.placeholder(tf.float32, [BATCH, TIME, DEPTH], name="x")
        c, h = (v1.placeholder(tf.float32, [BATCH, UNITS], name=t) for t in "ch")
        ours = trainlib.Graph(g)
        with v1.variable_scope("", initializer=v1.glorot_uniform_initializer()):
            y, s = v1.nn.dynamic_rnn(cell(0, forget_bias=0.), x, initial_state=v1.nn.rnn_cell.LSTMStateTuple(c, h))
    out, state, given = Out(), (Out * 2)(), trainlib.outs([ours.find("c:0"), ours.find("h:0")])
    opts = RnnOpts(has_forget_bias=True, initial=C.cast(given, C.POINTER(Out)))
    weftlib.check(lib.weft_dynamic_rnn(ours.ptr, 0, C.c_int64(UNITS), ours.find("x:0"), C.byref(opts), C.byref(out), state))
    feeds = {"x:0": x_values(BATCH, TIME, DEPTH), "c:0": x_values(BATCH, UNITS), "h:0": x_values(BATCH, UNITS) + 1}
    compare(g, ours, [y] + states_of(0, s), [out] + list(state), feeds)


def test_refusals():
    with tf.Graph().as_default() as g:
        v1.placeholder(tf.float32, [3, None], name="x"), v1.placeholder(tf.float32, [3, 2, None], name="z")
        ours = trainlib.Graph(g)
    out, state = Out(), (Out * 2)()
    for name, words in (("x:0", b"inputs have 3 axes"), ("z:0", b"Expected inputs.shape[-1] to be known")):
        assert lib.weft_dynamic_rnn(ours.ptr, 0, C.c_int64(2), ours.find(name), None, C.byref(out), state)
        assert words in lib.weft_error_message()
        lib.weft_graph_clear_error(ours.ptr)
    assert lib.weft_static_rnn(ours.ptr, 7, C.c_int64(2), 0, None, None, C.byref(out), state)
    assert b"no cell of kind 7" in lib.weft_error_message()
