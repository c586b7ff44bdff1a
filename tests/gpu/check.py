"""check.py - the same programs with and without the GPU: every value of the graph, then training.

    python3 tests/gpu/check.py        with the package on PYTHONPATH, on a machine with a card

Each model is run twice from the same numbers, once with all devices and once with device_count={"GPU": 0}.  First
every float tensor of a training step is fetched and compared; then a few hundred steps are trained, long enough for steps
to be captured as a CUDA graph and launched again, and losses and variables are compared.
"""
import sys

import numpy as np

import weft as tf

rng = np.random.RandomState(1)


def linear():
    x, y = tf.placeholder(tf.float32, [None], "x"), tf.placeholder(tf.float32, [None], "y")
    w, b = tf.Variable(0.0, name="w"), tf.Variable(0.0, name="b")
    loss = tf.reduce_mean(tf.square(w * x + b - y))
    xs = ((np.arange(100) - 50) / 33).astype(np.float32)
    return loss, tf.train.GradientDescentOptimizer(0.02).minimize(loss), {x: xs, y: 2 * xs + 10}


def dense(x, n_in, n_out, seed):
    w = tf.Variable(np.random.RandomState(seed).normal(0, 0.1, (n_in, n_out)).astype(np.float32))
    return tf.matmul(x, w) + tf.Variable(np.zeros(n_out, np.float32)), w


def mlp():
    x, y = tf.placeholder(tf.float32, [None, 784], "x"), tf.placeholder(tf.int64, [None], "y")
    h, w1 = dense(x, 784, 50, 1)
    logits, w2 = dense(tf.nn.relu(h), 50, 10, 2)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    loss += 1e-4 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))
    rate = tf.train.exponential_decay(0.1, step, 20, 0.99)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    average = tf.train.ExponentialMovingAverage(0.99, step)
    with tf.control_dependencies([train]):
        train = average.apply(tf.trainable_variables())
    return loss, train, {x: rng.rand(64, 784).astype(np.float32), y: rng.randint(0, 10, 64)}


def cnn():
    x, y = tf.placeholder(tf.float32, [None, 784], "x"), tf.placeholder(tf.int64, [None], "y")
    h = tf.reshape(x, [-1, 28, 28, 1])
    for i, (n_in, n_out) in enumerate([(1, 8), (8, 16)]):
        f = tf.Variable(np.random.RandomState(i).normal(0, 0.1, (5, 5, n_in, n_out)).astype(np.float32))
        b = tf.Variable(np.full(n_out, 0.1, np.float32))
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, f, [1, 1, 1, 1], "SAME"), b))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h, _ = dense(tf.reshape(h, [-1, 7 * 7 * 16]), 7 * 7 * 16, 32, 3)
    logits, _ = dense(tf.nn.relu(h), 32, 10, 4)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    return loss, train, {x: rng.rand(32, 784).astype(np.float32), y: rng.randint(0, 10, 32)}


def rnn():
    """Words, their rows of a table, a loop over them: tensor arrays, stacks, and a gradient of slices."""
    x, y = tf.placeholder(tf.int32, [None, 7], "x"), tf.placeholder(tf.int64, [None], "y")
    table = tf.Variable(np.random.RandomState(5).normal(0, 0.5, (30, 12)).astype(np.float32))
    cell = tf.nn.rnn_cell.LSTMCell(16, initializer=tf.constant_initializer(0.05))
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, x), dtype=tf.float32,
                                   sequence_length=tf.reduce_sum(tf.sign(x), 1))
    logits, _ = dense(tf.reduce_mean(outputs, 1), 16, 5, 6)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(1e-2).minimize(loss)
    return loss, train, {x: rng.randint(0, 30, (8, 7)), y: rng.randint(0, 5, 8)}


def table():
    """Rows of a table that are updated many times in a step, in the order of their indices."""
    x = tf.placeholder(tf.int32, [None], "x")
    rows, slots = (tf.get_variable(n, [40, 9], initializer=tf.constant_initializer(v), use_resource=True)
                   for n, v in (("rows", 0.5), ("slots", 0.1)))
    loss = tf.reduce_mean(tf.square(tf.gather(rows, x) - tf.expand_dims(tf.cast(x, tf.float32), 1)))
    gradient = tf.gradients(loss, rows)[0]
    train = tf.raw_ops.ResourceSparseApplyAdagrad(var=rows.handle, accum=slots.handle, lr=0.1,
                                                  grad=gradient.values, indices=gradient.indices)
    return loss, train, {x: rng.randint(0, 40, 700)}


def session(gpus):
    return tf.Session(config=tf.ConfigProto(allow_soft_placement=True, device_count={} if gpus else {"GPU": 0}))


def far(a, b, tolerance):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return True
    return not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def compare_values(name, feed):
    """Every float output of the graph that can be fetched, in the order of the nodes."""
    graph = tf.get_default_graph()
    skip = ("Assign", "Apply", "Placeholder", "Save", "Restore", "NoOp")
    with session(True) as gpu, session(False) as cpu:
        for s in (gpu, cpu):
            s.run(tf.global_variables_initializer())
        bad = 0
        for op in graph.get_operations():
            if op.type.startswith(skip) or "init" in op.name.lower() or "cond" in op.name or "Initializer" in op.name:
                continue
            for t in op.outputs:
                if t.dtype.base_dtype not in (tf.float32, tf.int32, tf.int64):
                    continue
                try:
                    want = cpu.run(t, feed)
                except (tf.errors.OpError, ValueError):  # inside of a loop, or not computed in this run
                    continue
                try:
                    got = gpu.run(t, feed)
                except tf.errors.OpError as e:
                    got = None
                    print("%s: %s (%s): %s" % (name, t.name, op.type, str(e).splitlines()[0]))
                if got is None or far(got, want, 2e-3):
                    bad += 1
                    if bad < 6 and got is not None:
                        print("%s: %s (%s) differs: %s, want %s" % (name, t.name, op.type, np.ravel(got)[:4],
                                                                    np.ravel(want)[:4]))
    return bad


def train(gpus, loss, step, feed, n):
    with session(gpus) as s:
        s.run(tf.global_variables_initializer())
        losses = []
        for _ in range(n):
            s.run(step, feed)
            losses.append(s.run(loss, feed))
        return losses, s.run(tf.trainable_variables())


def main():
    bad = 0
    for model in (linear, mlp, cnn, rnn, table):
        tf.reset_default_graph()
        loss, step, feed = model()
        bad += compare_values(model.__name__, feed)
        n = 20 if model in (cnn, rnn) else 200
        gpu, cpu = train(True, loss, step, feed, n), train(False, loss, step, feed, n)
        off = far(gpu[0], cpu[0], 2e-2) or any(far(a, b, 5e-2) for a, b in zip(gpu[1], cpu[1]))
        print("%s: loss %.5f on the GPU, %.5f on the CPU%s" % (model.__name__, gpu[0][-1], cpu[0][-1],
                                                               ": DIFFERENT" if off else ""))
        bad += off
    print("check: %d differences" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
