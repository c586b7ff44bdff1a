"""rows.py - sparse updates with many indices, repeated ones too, on the GPU and on the CPU; optimizers of embeddings.

An optimizer makes the ids of a batch distinct.  Where only its updates see them, a GPU pads them (unroll_distinct.c); where
the program reads them too, it must not.

    python3 tests/gpu/rows.py    with the package on PYTHONPATH, on a machine with a card
"""
import sys

import numpy as np

import weft as tf


def updated(kind, dtype, gpus, rows, repeated):
    tf.reset_default_graph()
    rng = np.random.RandomState(0)
    ids = rng.randint(0, 3000, rows) if repeated else rng.permutation(2 * rows)[:rows]
    n = max(ids) + 1
    v, a = (tf.get_variable(name, [n, 5], initializer=tf.ones_initializer()) for name in "va")
    grad, indices = tf.constant(rng.rand(rows, 5).astype(np.float32)), tf.constant(ids, dtype)
    if kind == "Adagrad":
        op = tf.raw_ops.SparseApplyAdagrad(var=v, accum=a, lr=0.1, grad=grad, indices=indices)
    else:
        op = tf.raw_ops.SparseApplyMomentum(var=v, accum=a, lr=0.1, grad=grad, indices=indices, momentum=0.9)
    with tf.Session(config=tf.ConfigProto(device_count={} if gpus else {"GPU": 0}, allow_soft_placement=True)) as s:
        s.run(tf.global_variables_initializer())
        for _ in range(4):
            s.run(op.op)
        return s.run([v, a])


OPTIMIZERS = {
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1), "Adam": lambda: tf.train.AdamOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9), "RMSProp": lambda: tf.train.RMSPropOptimizer(0.1),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1), "Adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
}


def trained(optimizer, dtype, gpus, resource, shape, reads):
    """The table after six steps, and what the steps read of the distinct ids."""
    tf.reset_default_graph()
    rng = np.random.RandomState(0)
    x, y = tf.placeholder(dtype, shape), tf.placeholder(tf.float32, [None])
    table = tf.get_variable("table", [500, 6], initializer=tf.ones_initializer(), use_resource=resource)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(tf.nn.embedding_lookup(table, x), [1, 2]) - y))
    train = OPTIMIZERS[optimizer]().minimize(loss)
    unique = [op for op in tf.get_default_graph().get_operations() if op.type == "Unique"][0]
    seen = {"": [], "ids": [unique.outputs[0]], "numbers": [unique.outputs[1]], "count": [tf.size(unique.outputs[0])],
            "greatest": [tf.reduce_max(unique.outputs[0])]}[reads]
    ids, values = rng.randint(0, 500, (64, 7)), rng.rand(64)
    with tf.Session(config=tf.ConfigProto(device_count={} if gpus else {"GPU": 0}, allow_soft_placement=True)) as s:
        s.run(tf.global_variables_initializer())
        for _ in range(6):
            got = s.run([train, *seen], {x: ids, y: values})[1:]
        return [s.run(table), *got]


def joined(gpus):
    """More tensors than a mask of inputs has bits: the axis is the last."""
    tf.reset_default_graph()
    parts = [tf.placeholder(tf.float32, [3, 1 + i % 4]) for i in range(90)]
    whole = tf.concat([tf.exp(p) for p in parts], 1) * 2.0
    with tf.Session(config=tf.ConfigProto(device_count={} if gpus else {"GPU": 0}, allow_soft_placement=True)) as s:
        return [s.run(whole, {p: np.full(p.shape.as_list(), i / 100.0) for i, p in enumerate(parts)}) for _ in range(5)]


failed = 0


def check(name, there, here):
    global failed
    same = all(x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-5) for x, y in zip(there, here))
    failed += not same
    print(name, "same" if same else "DIFFERENT")


check("concat of 90", joined(True), joined(False))
for optimizer in OPTIMIZERS:
    for case in ((tf.int32, False, [None, 7], ""), (tf.int64, True, [64, 7], "")):
        check("%s %s" % (optimizer, case), trained(optimizer, case[0], True, *case[1:]), trained(optimizer, case[0], False, *case[1:]))
for reads in ("ids", "numbers", "count", "greatest"):
    check("Adagrad, the step reads the " + reads, trained("Adagrad", tf.int64, True, False, [None, 7], reads),
          trained("Adagrad", tf.int64, False, False, [None, 7], reads))
for kind in ("Adagrad", "Momentum"):
    for dtype in (tf.int32, tf.int64):
        for rows in (100, 9000, 70000):
            for repeated in (False, True):
                check("%s %s %d %s" % (kind, dtype.name, rows, "repeated" if repeated else "distinct"),
                      updated(kind, dtype, True, rows, repeated), updated(kind, dtype, False, rows, repeated))
sys.exit(failed > 0)
