"""SyncReplicasOptimizer: TensorFlow's graph node by node, and its steps for a fixed order of arrivals.

All workers of these tests share one session, and so one local step: where it matters it is fed.
"""
import ctypes as C
import threading

import numpy as np
import pytest
import tensorflow as tf

import trainlib
import weftlib
from trainlib import reference_variables  # noqa: F401

v1 = tf.compat.v1
T = v1.train
lib = weftlib.lib
STEPS = 20


class Sync:
    def __init__(self, optimizer, aggregate, replicas, name=None):
        self.optimizer, self.graph, self.ptr = optimizer, optimizer.graph, C.c_void_p()
        weftlib.check(lib.weft_sync_create(C.byref(self.ptr), optimizer.ptr, trainlib.text(name), aggregate, replicas))

    def apply(self, variables, d, step):
        o = trainlib.call("weft_sync_apply", self.ptr, len(variables), trainlib.outs(variables), d, step)
        self.graph.ok()
        return o

    def init_tokens(self, n=-1):
        o = trainlib.call("weft_sync_init_tokens", self.ptr, n)
        self.graph.ok()
        return o

    def get(self, what):
        return self.graph.node_name(trainlib.call("weft_sync_" + what, self.ptr))

    def __del__(self):
        lib.weft_sync_destroy(self.ptr)


def model(dtype=tf.int64, sparse=True, resource=False):
    step = v1.Variable(0, trainable=False, name="global_step", dtype=dtype)
    x, i = v1.placeholder(tf.float32, [2], name="x"), v1.placeholder(tf.int32, [2], name="i")
    w = v1.get_variable("w", [2], initializer=v1.zeros_initializer(), use_resource=resource)
    loss = tf.reduce_sum(tf.square(w * x - 1))
    if sparse:
        e = v1.get_variable("e", [4, 2], initializer=v1.zeros_initializer(), use_resource=resource)
        loss += tf.reduce_sum(tf.gather(e, i) * x)
    return step, tf.identity(loss, name="loss")


def both(aggregate, replicas, dtype=tf.int64, sparse=True, resource=False, device=True, tokens=-1, average=False):
    with tf.Graph().as_default() as g:
        with v1.device(T.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0") if device else None):
            step, loss = model(dtype, sparse, resource)
            ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
            more = {}
            if average:
                more = dict(variable_averages=T.ExponentialMovingAverage(.5), variables_to_average=v1.trainable_variables())
            want = T.SyncReplicasOptimizer(T.GradientDescentOptimizer(.1), replicas_to_aggregate=aggregate,
                                           total_num_replicas=replicas, **more)
            train = want.apply_gradients(want.compute_gradients(loss), global_step=step)
            init = want.get_init_tokens_op(tokens)
            v1.global_variables_initializer()
    if device:
        setter = C.c_void_p()
        weftlib.check(lib.weft_replica_create(C.byref(setter), 2, None, b"/job:worker/task:0", False))
        lib.weft_scope_push_replica(ours.ptr, setter)
    o = trainlib.Optimizer(ours, "GradientDescent", learning_rate=.1)
    s = Sync(o, aggregate, replicas)
    found = (trainlib.Out * 20)()
    variables = found[:lib.weft_variables(ours.ptr, b"trainable_variables", found, 20)]
    if average:
        from test_train_averages import Average
        s.average = Average(ours, .5)
        weftlib.check(lib.weft_sync_average(s.ptr, s.average.ptr, len(variables), trainlib.outs(variables)))
    got = s.apply(variables, o.compute(ours.find("loss:0"), variables), ours.find("global_step:0"))
    assert ours.node_name(got) == train.op.name
    assert ours.node_name(s.init_tokens(tokens)) == init.name
    ours.make("variables_initializer", None, lib.weft_variables(ours.ptr, b"variables", found, 20), found)
    if device:
        lib.weft_scope_pop(ours.ptr)
        lib.weft_replica_destroy(setter)
    return g, ours, before, want, s


@pytest.mark.parametrize("case", [dict(aggregate=2, replicas=3), dict(aggregate=3, replicas=2, tokens=1),
                                  dict(aggregate=2, replicas=2, dtype=tf.int32, tokens=0),
                                  dict(aggregate=1, replicas=1, device=False),
                                  dict(aggregate=2, replicas=2, resource=True),
                                  dict(aggregate=2, replicas=2, average=True)])
def test_nodes(case):
    g, ours, before, want, s = both(**case)
    skip = ("gradients", "boolean_mask") + (("cond", "IsVariableInitialized") if case.get("average") else ())
    different = [d for d in trainlib.node_differences(g.as_graph_def(), ours.export(), before, skip=skip)
                 if not trainlib.is_of_averages(d)]
    assert not different, "\n" + "\n".join(different)
    runner = want.get_chief_queue_runner()
    assert s.get("op") == runner.enqueue_ops[0].name and s.get("queue") == "sync_token_q"
    assert (s.get("close_op"), s.get("cancel_op")) == (runner.close_op.name, runner.cancel_op.name)
    assert s.get("chief_init") == want.chief_init_op.name
    assert s.get("local_init") == want.local_step_init_op.op.name
    assert s.get("ready_for_local_init") == want.ready_for_local_init_op.op.name
    trainlib.same_collections(g, ours, ["variables", "trainable_variables", "local_variables"])


class OnTensorFlow:
    def __init__(self, g, _):
        self.session = v1.Session(graph=g)

    def run(self, target, feeds=None):
        self.session.run(target, feeds)

    def get(self, name, feeds=None):
        return self.session.run(name, feeds)


class OnWeft:
    def __init__(self, _, ours):
        self.session = weftlib.Session(ours)

    def run(self, target, feeds=None):
        self.session.run((), feeds, [target], timeout_ms=20000)

    def get(self, name, feeds=None):
        return self.session.run([name], feeds, timeout_ms=20000)[0]


def batch(i, local_step=None):
    rng = np.random.RandomState(i)
    d = {"x:0": rng.rand(2).astype(np.float32), "i:0": rng.randint(0, 4, 2).astype(np.int32)}
    return d if local_step is None else dict(d, **{"sync_rep_local_step/read:0": np.int64(local_step)})


def play(s, want, aggregate, late):
    """What is seen after each round: enough gradients, some late ones among them, then the chief's turn."""
    s.run("init")
    s.run(want.chief_init_op.name)
    s.run("sync_token_q_EnqueueMany_1")  # enough tokens that nobody waits
    seen = []
    for i in range(STEPS):
        arrivals = [i] * aggregate + [i - 1] * late
        order = np.random.RandomState(i).permutation(len(arrivals))
        tokens = [s.get("Assign_1:0", batch(100 * i + j, arrivals[j])) for j in order]
        s.run("sync_token_q_EnqueueMany")
        seen.append([tokens] + [s.get(n) for n in ("global_step:0", "w:0", "e:0")])
    return seen


@pytest.mark.parametrize("aggregate,replicas,late", [(2, 2, 0), (2, 3, 1), (3, 2, 0), (3, 2, 1), (1, 3, 2)])
def test_steps_with_late_and_backup_workers(aggregate, replicas, late):
    a_step = max(aggregate, replicas)  # as many tokens come back
    spare = STEPS * max(aggregate + late - a_step, 0)
    g, ours, _, want, _ = both(aggregate, replicas, device=False, tokens=a_step + 3 + spare)
    a, b = (play(side(g, ours), want, aggregate, late) for side in (OnTensorFlow, OnWeft))
    for i, (x, y) in enumerate(zip(a, b)):
        for name, u, v in zip(("tokens", "global step", "w", "e"), x, y):
            np.testing.assert_allclose(v, u, rtol=2e-5, err_msg=f"round {i}: {name}")
    assert a[-1][1] == len(a)


def test_two_workers_and_a_chief_at_once():
    """Threads of one session: workers wait for tokens, the chief for gradients; each step has two tokens, all end."""
    g, ours, _, want, sync = both(2, 2, device=False)
    s, steps, ends, tokens = OnWeft(g, ours), 30, [], []
    s.run("init")
    s.run(want.chief_init_op.name)

    def work():  # its own local step is the token it got last
        token, i = 0, 0
        try:
            while True:
                token, i = s.get("sync_token_q_Dequeue:0", batch(i, token)), i + 1
                tokens.append(int(token))
        except weftlib.Error as e:
            ends.append(e.name)

    def lead():
        for _ in range(steps):
            s.run(sync.get("op"))
        s.run(sync.get("close_op"))

    threads = [threading.Thread(target=run) for run in (work, work, lead)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert s.get("global_step:0") == steps and ends == ["OUT_OF_RANGE"] * 2
    assert sorted(tokens) == sorted([i + 1 for i in range(steps)] * 2)
    assert np.isfinite(s.get("w:0")).all() and (s.get("w:0") > .1).all()


def test_refusals():
    with tf.Graph().as_default() as g:
        model()
        ours = trainlib.Graph(g)
    o = trainlib.Optimizer(ours, "GradientDescent", learning_rate=.1)
    with pytest.raises(weftlib.Error, match="at least 1 gradient"):
        Sync(o, 0, 1)
    s, w = Sync(o, 3, 1), ours.find("w:0")
    with pytest.raises(weftlib.Error, match="after apply_gradients"):
        s.init_tokens()
    d = o.compute(ours.find("loss:0"), [w])
    with pytest.raises(weftlib.Error, match="Global step is required to check staleness"):
        s.apply([w], d, trainlib.NONE)
    s.apply([w], d, ours.find("global_step:0"))
    with pytest.raises(weftlib.Error, match=r"Too few tokens to finish the first step: 1 \(given\) vs 2 \(needed\)"):
        s.init_tokens(1)
