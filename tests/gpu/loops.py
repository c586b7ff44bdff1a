"""loops.py - steps with loops, with and without the GPU: which loops are unrolled, and whether the numbers agree.

    python3 -m weft tests/gpu/loops.py    with the package on PYTHONPATH; WEFT_CUDA_PLUGIN=simulated needs no card
"""
import numpy as np
import tensorflow as tf


def language_model(make_cell):
    x, y = tf.placeholder(tf.int32, [4, 5]), tf.placeholder(tf.int32, [4, 5])
    with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3)):
        words = tf.nn.embedding_lookup(tf.get_variable("words", [20, 6]), x)
        out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell([make_cell(), make_cell()]), words, dtype=tf.float32)
        logits = tf.reshape(tf.layers.dense(tf.reshape(out, [-1, 6]), 20), [4, 5, 20])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    v = tf.trainable_variables()
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(zip(
        tf.clip_by_global_norm(tf.gradients(loss, v), 5.0)[0], v))
    rng = np.random.RandomState(0)
    return [loss, train], {x: rng.randint(0, 20, (4, 5)), y: rng.randint(0, 20, (4, 5))}


def lstm():
    return language_model(lambda: tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(6), 0.5, seed=5))


def gru():
    return language_model(lambda: tf.nn.rnn_cell.GRUCell(6))


def nested():
    x = tf.placeholder(tf.float32, [3])
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())

    def inner(a):
        return tf.while_loop(lambda j, b: j < 3, lambda j, b: (j + 1, tf.sin(b * w) + a), [0, a])[1]
    out = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, inner(a) * 0.5), [0, x])[1]
    loss = tf.reduce_sum(out)
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)], {x: [0.1, 0.2, 0.3]}


def trains_inside():
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource=True)

    def body(i, _):
        loss = tf.reduce_sum(tf.square(w - [1.0, 2.0, 3.0]))
        with tf.control_dependencies([w.assign_sub(0.1 * tf.gradients(loss, w)[0])]):
            return i + 1, tf.identity(loss)
    loss = tf.while_loop(lambda i, _: i < 5, body, [0, 0.0], parallel_iterations=1)[1]
    return [loss], {}


def reads_one_row_often():
    x = tf.placeholder(tf.float32, [4, 2])
    rows = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    sums = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a + rows.read(i) * rows.read(0)),
                         [0, tf.zeros([2])])[1]
    return [sums, tf.gradients(sums, x)[0]], {x: np.arange(8.0).reshape(4, 2)}


def zero_rounds():
    x = tf.placeholder(tf.float32, [2])
    return [tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * 2), [0, x])[1]], {x: [1.0, 2.0]}


def until_small():
    x = tf.placeholder(tf.float32, [2])
    return [tf.while_loop(lambda a: tf.reduce_sum(a) > 1.0, lambda a: a * 0.5, [x])[0]], {x: [3.0, 4.0]}


def unknown_length():
    x = tf.placeholder(tf.float32, [None, 2])
    return [tf.while_loop(lambda i, a: i < tf.shape(x)[0], lambda i, a: (i + 1, a + x[i]), [0, tf.zeros([2])])[1]], {
        x: np.ones((3, 2))}


def lengths_are_fed():
    x, n, training = tf.placeholder(tf.float32, [None, 6, 3]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    cells = [tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=i)) for i in (1, 2)]
    out, last = tf.nn.bidirectional_dynamic_rnn(*cells, x * w, sequence_length=n, dtype=tf.float32)
    h = tf.cond(training, lambda: last[0] * 2.0, lambda: last[0] + last[1])
    loss = tf.reduce_sum(tf.square(tf.concat(out, 2))) + tf.reduce_sum(h)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [out[0], loss, train], {x: np.linspace(-1, 1, 54).reshape(3, 6, 3), n: [4, 2, 3], training: True}


def a_branch_is_fed():
    x, training = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    y = tf.cond(training, lambda: x * w, lambda: x + w)
    return [y, tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))], {x: [3.0, 4.0], training: False}


def a_loop_drops_out():
    x = tf.placeholder(tf.float32, [4, 5, 3])
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.ones_initializer())
    out, _ = tf.nn.dynamic_rnn(cell, x * w, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(tf.nn.dropout(tf.nn.relu(tf.reshape(out, [20, 4])), 0.5, seed=3) - 1.0))
    return [loss, tf.train.GradientDescentOptimizer(1.0).minimize(loss)], {x: np.linspace(-1, 1, 60).reshape(4, 5, 3)}


def a_batch_is_unknown():
    """Plans are made for the sizes that come twice.  The gradient of the dropout waits for a constant."""
    x = tf.placeholder(tf.float32, [None, 20])
    w = tf.get_variable("w", [20, 30], initializer=tf.random_normal_initializer(0, 0.1, seed=1))
    h = tf.nn.dropout(tf.nn.relu(tf.matmul(x, w)), 0.5, seed=2)
    loss = tf.reduce_mean(tf.square(h - 1.0))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    rng = np.random.RandomState(0)
    return [loss, train], [{x: rng.rand(n, 20)} for n in (16, 16, 16, 7, 16, 16, 7, 7, 3, 16)]


def run(model, gpus):
    tf.reset_default_graph()
    fetches, feed = model()
    feeds = feed if isinstance(feed, list) else [feed] * 3
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True, device_count={} if gpus else {"GPU": 0})) as s:
        s.run(tf.global_variables_initializer())
        got = [[v for v in s.run(fetches, feed) if v is not None] for feed in feeds]
        got.append(s.run(tf.global_variables()))
        meta = tf.RunMetadata()
        s.run(fetches, feeds[-1], options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=meta)
        loops = any("Merge" in n.timeline_label for d in meta.step_stats.dev_stats for n in d.node_stats)
    return np.concatenate([np.ravel(v) for step in got for v in step]), loops


for model in (lstm, gru, nested, trains_inside, reads_one_row_often, zero_rounds, until_small, unknown_length,
              lengths_are_fed, a_branch_is_fed, a_loop_drops_out, a_batch_is_unknown):
    there, loops = run(model, True)
    here, _ = run(model, False)
    equal = "same" if (there == here).all() else "near" if np.allclose(there, here, rtol=1e-5) else "DIFFERENT: %s, %s" % (there, here)
    print(model.__name__, "loops" if loops else "unrolled", equal)
