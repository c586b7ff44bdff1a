"""ExponentialMovingAverage: TensorFlow's nodes (its initial conds aside), names and values."""
import ctypes as C

import numpy as np
import pytest
import tensorflow as tf

import trainlib
import weftlib
from trainlib import reference_variables  # noqa: F401

v1 = tf.compat.v1
# Both begin with the variable's value or what it will be: TensorFlow's cond guards against its own initializer twice.
CONDS = ("cond", "IsVariableInitialized", "VarIsInitializedOp")


class Average:
    def __init__(self, graph, decay, updates=trainlib.NONE, zero_debias=False, name=None):
        self.graph, self.ptr = graph, C.c_void_p()
        weftlib.check(weftlib.lib.weft_average_create(C.byref(self.ptr), graph.ptr, trainlib.text(name),
                                                      C.c_double(decay), updates, zero_debias))

    def apply(self, *values):
        o = trainlib.call("weft_average_apply", self.ptr, len(values), trainlib.outs(values))
        self.graph.ok()
        return o

    def name(self, value):
        return trainlib.call("weft_average_name", self.ptr, value, result=C.c_char_p).decode()

    def of(self, value):
        return trainlib.call("weft_average_of", self.ptr, value)

    def to_restore(self):
        v, n = (trainlib.Out * 50)(), (C.c_char_p * 50)()
        count = weftlib.lib.weft_average_to_restore(self.ptr, v, n, 50)
        return {n[i].decode(): self.graph.node_name(v[i]) for i in range(count)}

    def __del__(self):
        weftlib.lib.weft_average_destroy(self.ptr)


def model(resource):
    w = v1.get_variable("w", [2], initializer=v1.constant_initializer([1., 2.]), use_resource=resource)
    b = v1.Variable(0., name="b", use_resource=resource, trainable=False)
    step = v1.train.get_or_create_global_step()
    tf.group(v1.assign_add(w, [1., .5]), v1.assign_add(b, 2.), v1.assign_add(step, 1), name="move")
    return w, b, step


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("debias", [False, True])
def test_nodes_and_values(resource, counted, debias):
    with tf.Graph().as_default() as g:
        w, b, step = model(resource)
        t = tf.reduce_sum(w, name="t")
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        ema = v1.train.ExponentialMovingAverage(.9, step if counted else None, debias)
        first = ema.apply([w, b])
        second = ema.apply([t])
        v1.global_variables_initializer()
        to_restore = {k: v.op.name for k, v in ema.variables_to_restore().items()}
    a = Average(ours, .9, ours.find("global_step:0") if counted else trainlib.NONE, debias)
    ow, ob, ot = (ours.find(n) for n in ("w:0", "b:0", "t:0"))
    assert a.name(ow) == "w/ExponentialMovingAverage" and a.of(ow).node < 0
    assert ours.node_name(a.apply(ow, ob)) == first.name
    assert ours.node_name(a.apply(ot)) == second.name
    variables = (trainlib.Out * 50)()
    ours.make("variables_initializer", None, weftlib.lib.weft_variables(ours.ptr, b"variables", variables, 50), variables)
    different = [d for d in trainlib.node_differences(g.as_graph_def(), ours.export(), before, skip=("gradients",) + CONDS)
                 if not trainlib.is_of_averages(d)]
    assert not different, "\n" + "\n".join(different)
    assert a.name(ow) == ema.average_name(w) and a.name(ot) == ema.average_name(t)
    assert a.to_restore() == to_restore
    want, got = v1.train.export_meta_graph(graph=g), ours.export_meta()
    for name in ("variables", "moving_average_variables"):
        assert trainlib.names_in(got, name) == trainlib.names_in(want, name)
    s = weftlib.Session(ours)
    names = [ema.average(x).op.name for x in (w, b, t)]
    with v1.Session(graph=g) as tfs:
        tfs.run("init"), s.run((), targets=["init"])
        for i in range(50):
            for target in ("move", first.name, second.name):
                tfs.run(target), s.run((), targets=[target])
            for n in names:
                read = n + ("/Read/ReadVariableOp:0" if resource and not n.startswith("t/") else ":0")
                np.testing.assert_allclose(s.run([read])[0], tfs.run(read), rtol=2e-5, err_msg=f"step {i}: {n}")


def test_an_average_begins_with_a_restored_value():
    """A variable that is initialized already gives its own value."""
    with tf.Graph().as_default() as g:
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(1.))
        v1.assign(w, 7., name="restore")
        ours = trainlib.Graph(g)
    a = Average(ours, .5)
    a.apply(ours.find("w:0"))
    s = weftlib.Session(ours)
    s.run((), targets=["restore"])
    s.run((), targets=["w/ExponentialMovingAverage/Assign"])
    assert s.run(["w/ExponentialMovingAverage:0"])[0] == 7


def test_a_second_call_updates_the_same_average():
    with tf.Graph().as_default() as g:
        v1.get_variable("w", [], initializer=v1.ones_initializer())
        ours = trainlib.Graph(g)
    a = Average(ours, .5)
    updates = [a.apply(ours.find("w:0")) for _ in range(2)]
    assert updates[0] != updates[1]
