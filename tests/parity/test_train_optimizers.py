"""Every optimizer against TensorFlow's: the same nodes, slots and collections, and the same values over 50 steps."""
import numpy as np
import pytest
import tensorflow as tf

import trainlib
import weftlib
from trainlib import reference_variables  # noqa: F401

v1 = tf.compat.v1
T = v1.train
RATE = {"learning_rate": .1}
KINDS = {
    "GradientDescent": (T.GradientDescentOptimizer, RATE),
    "Momentum": (T.MomentumOptimizer, {**RATE, "momentum": .9}),
    "Nesterov": (T.MomentumOptimizer, {**RATE, "momentum": .9, "use_nesterov": True}),
    "Adam": (T.AdamOptimizer, {}),
    "AdamOther": (T.AdamOptimizer, {"learning_rate": .01, "beta1": .8, "beta2": .95, "epsilon": .1}),
    "Adagrad": (T.AdagradOptimizer, {**RATE, "initial_accumulator_value": .2}),
    "RMSProp": (T.RMSPropOptimizer, {"learning_rate": .01, "momentum": .5}),
    "RMSPropCentered": (T.RMSPropOptimizer, {"learning_rate": .01, "centered": True}),
    "Adadelta": (T.AdadeltaOptimizer, {}),
    "Ftrl": (T.FtrlOptimizer, {**RATE, "l1_regularization_strength": .01, "l2_regularization_strength": .02}),
    "FtrlShrunk": (T.FtrlOptimizer, {**RATE, "l2_shrinkage_regularization_strength": .1}),
    "ProximalGradientDescent": (T.ProximalGradientDescentOptimizer, {**RATE, "l1_regularization_strength": .01}),
    "ProximalAdagrad": (T.ProximalAdagradOptimizer, {**RATE, "l2_regularization_strength": .01}),
    "AdagradDA": (T.AdagradDAOptimizer, {**RATE, "l1_regularization_strength": .001}),
}


def kind_of(optimizer):
    return type(optimizer).__name__.replace("Optimizer", "")


def forward(resource=False, sparse=True, dtype=tf.float32):
    x = v1.placeholder(dtype, [2], name="x")
    w = v1.get_variable("w", [2], dtype, initializer=v1.constant_initializer([.5, -.5], dtype), use_resource=resource)
    loss = tf.reduce_sum(tf.square(w * x - 1))
    if sparse:
        e = v1.get_variable("sub/e", [4, 2], dtype, initializer=v1.constant_initializer(.3, dtype), use_resource=resource)
        i = v1.placeholder(tf.int32, [3], name="i")
        loss += tf.reduce_sum(tf.square(tf.gather(e, i) * x - 1))
    v1.train.get_or_create_global_step()
    return tf.identity(loss, name="loss")


def feeds(sparse):
    def of(i):
        rng = np.random.RandomState(i)
        d = {"x:0": rng.rand(2).astype(np.float32)}
        if sparse:
            d["i:0"] = rng.randint(0, 4, 3).astype(np.int32)
        return d
    return of


def both(name, resource, sparse=True, **model):
    """TensorFlow's graph and ours after minimize; the name of the train op."""
    cls, params = KINDS[name]
    with tf.Graph().as_default() as g:
        loss = forward(resource, sparse, **model)
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        step = v1.train.get_global_step()
        more = {"global_step": step} if name == "AdagradDA" else {}
        optimizer = cls(**params, **more)
        train = optimizer.minimize(loss, global_step=step)
        v1.global_variables_initializer()
    our_step = ours.find("global_step:0")
    o = trainlib.Optimizer(ours, kind_of(optimizer), **params, **({"global_step": our_step} if more else {}))
    got = o.minimize(ours.find("loss:0"), our_step)
    assert ours.node_name(got) == train.name
    variables = (weftlib.Out * 100)()
    n = weftlib.lib.weft_variables(ours.ptr, b"variables", variables, 100)
    ours.make("variables_initializer", None, n, variables)
    return g, ours, before, train.name, o, optimizer


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_nodes_and_values(name, resource):
    g, ours, before, train, o, optimizer = both(name, resource)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    trainlib.same_collections(g, ours, ["variables", "trainable_variables", "train_op"])
    with g.as_default():
        fetches = [v.name if not resource else f"{v.op.name}/Read/ReadVariableOp:0" for v in v1.global_variables()
                   if v.name != "global_step:0"] + ["global_step:0"]
        variable = next(v for v in v1.trainable_variables())
        found = (weftlib.Out * 20)()
        kept = found[:weftlib.lib.weft_optimizer_variables(o.ptr, found, 20)]
        assert sorted(ours.node_name(v) for v in kept) == sorted(v.op.name for v in optimizer.variables())
        for slot in optimizer.get_slot_names():
            got = o.slot(ours.find(variable.op.name + ":0"), slot)
            assert ours.node_name(got) == optimizer.get_slot(variable, slot).op.name
    trainlib.same_values(g, ours, "init", train, fetches, feeds(True))


def test_doubles_cast_the_parameters():
    g, ours, before, train, *_ = both("Adam", False, sparse=False, dtype=tf.float64)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)


def test_slots_follow_their_variables_to_the_ps():
    def model():
        step = v1.Variable(0, trainable=False, name="gs")
        w, b = v1.Variable(tf.zeros([2]), name="w"), v1.Variable(tf.zeros([2, 2]), name="scope/b")
        return step, tf.reduce_sum(w * b, name="loss")
    with tf.Graph().as_default() as g:
        with v1.device(T.replica_device_setter(ps_tasks=2)):
            step, loss = model()
            ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
            with v1.name_scope("train"):
                T.AdamOptimizer(T.exponential_decay(.1, step, 100, .9)).minimize(loss, global_step=step)
    lib = weftlib.lib
    setter = weftlib.C.c_void_p()
    weftlib.check(lib.weft_replica_create(weftlib.C.byref(setter), 2, None, None, False))
    lib.weft_scope_push_replica(ours.ptr, setter)
    lib.weft_scope_push_name(ours.ptr, b"train")
    rate = ours.make("exponential_decay", None, .1, ours.find("gs:0"), 100., .9, False)
    o = trainlib.Optimizer(ours, "Adam", learning_rate=rate)
    o.minimize(ours.find("loss:0"), ours.find("gs:0"))
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    lib.weft_replica_destroy(setter)


def test_two_optimizers_without_a_step():
    """Slots are numbered on; gates and colocation are passed through; compute and apply stand apart."""
    with tf.Graph().as_default() as g:
        w, b = v1.Variable(tf.ones([2]), name="w"), v1.Variable(tf.ones([2]), name="b")
        loss = tf.reduce_sum(w * b, name="loss")
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        T.AdamOptimizer().minimize(loss)
        second = T.AdamOptimizer()
        second.apply_gradients(second.compute_gradients(loss, [w], gate_gradients=second.GATE_NONE,
                                                        colocate_gradients_with_ops=True), name="again")
        T.MomentumOptimizer(.1, .5, name="Mine").minimize(loss, gate_gradients=2, var_list=[b])
    w, b, loss = ours.find("w:0"), ours.find("b:0"), ours.find("loss:0")
    trainlib.Optimizer(ours, "Adam").minimize(loss)
    o = trainlib.Optimizer(ours, "Adam")
    o.apply([w], o.compute(loss, [w], gate=1, colocate=True), name="again")
    trainlib.Optimizer(ours, "Momentum", "Mine", learning_rate=.1, momentum=.5).minimize(loss, variables=[b], gate=2)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)


def test_refusals_name_what_is_wrong():
    with tf.Graph().as_default() as g:
        forward()
        ours = trainlib.Graph(g)
    loss, w = ours.find("loss:0"), ours.find("w:0")
    with pytest.raises(weftlib.Error, match="unknown optimizer 'Sgd'; known are 'GradientDescent', "):
        trainlib.Optimizer(ours, "Sgd")
    with pytest.raises(weftlib.Error, match="Adam: unknown parameter 'momentum'; known are 'learning_rate', "):
        trainlib.Optimizer(ours, "Adam", momentum=.9)
    with pytest.raises(weftlib.Error, match="GradientDescent needs 'learning_rate'"):
        trainlib.Optimizer(ours, "GradientDescent").minimize(loss)
    o = trainlib.Optimizer(ours, "Adam")
    with pytest.raises(weftlib.Error, match=r"'x' \(op: Placeholder\) is not a variable"):
        o.minimize(loss, variables=[ours.find("x:0")])
    nothing = trainlib.Gradient(trainlib.NONE, trainlib.NONE, trainlib.NONE, trainlib.NONE)
    with pytest.raises(weftlib.Error, match="No gradients provided for any variable"):
        o.apply([w], (trainlib.Gradient * 1)(nothing))
