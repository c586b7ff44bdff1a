"""rows.py - sparse updates with many indices, repeated ones too, on the GPU and on the CPU.

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


failed = 0
for kind in ("Adagrad", "Momentum"):
    for dtype in (tf.int32, tf.int64):
        for rows in (100, 9000, 70000):
            for repeated in (False, True):
                there, here = updated(kind, dtype, True, rows, repeated), updated(kind, dtype, False, rows, repeated)
                same = all(np.allclose(x, y, rtol=1e-4, atol=1e-5) for x, y in zip(there, here))
                failed += not same
                print(kind, dtype.name, rows, "repeated" if repeated else "distinct", "same" if same else "DIFFERENT")
sys.exit(failed > 0)
