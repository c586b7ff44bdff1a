"""gpu_loops.py [SECONDS] [MODEL...] - steps with loops on one card: steps a second, with the loops unrolled and as they are.

The models are a language model (2 LSTM layers of 650 units through dynamic_rnn, 35 words, batch 20, clipped gradients,
gradient descent), the same with GRU cells, and a while_loop around 100 training steps of a small network.  Each is
trained twice from the same numbers.  The second time, WEFT_GPU_NO_REPLAY=1 keeps the loops; it also waits for every kernel,
so that column is no fair speed.  The losses must agree.
"""
import os
import sys
import time

import numpy as np

import weft as tf

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
BATCH, STEPS, UNITS, WORDS, ROUNDS = 20, 35, 650, 10000, 100


def language_model(cell):
    x, y = (tf.placeholder(tf.int32, [BATCH, STEPS], name) for name in "xy")
    with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.05, 0.05, seed=1)):
        words = tf.nn.embedding_lookup(tf.get_variable("words", [WORDS, UNITS]), x)
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell([cell(UNITS) for _ in range(2)]), words,
                                       dtype=tf.float32)
        logits = tf.layers.dense(tf.reshape(outputs, [-1, UNITS]), WORDS)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, [-1]), logits=logits))
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    train = tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(gradients, variables))
    rng = np.random.RandomState(0)
    return loss, train, {x: rng.randint(0, WORDS, (BATCH, STEPS)), y: rng.randint(0, WORDS, (BATCH, STEPS))}, 1


def lstm():
    return language_model(tf.nn.rnn_cell.BasicLSTMCell)


def gru():
    return language_model(tf.nn.rnn_cell.GRUCell)


def train_in_loop():
    rng = np.random.RandomState(0)
    x, y = tf.constant(rng.rand(100, 784).astype(np.float32)), tf.constant(rng.randint(0, 10, 100))
    w = [tf.get_variable("w%d" % i, s, initializer=tf.random_normal_initializer(0, 0.05, seed=i), use_resource=True)
         for i, s in enumerate([(784, 50), (50, 10)])]

    def body(i, _):
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=y, logits=tf.matmul(tf.nn.relu(tf.matmul(x, w[0])), w[1])))
        updates = [v.assign_sub(0.1 * g) for v, g in zip(w, tf.gradients(loss, w))]
        with tf.control_dependencies(updates):
            return i + 1, tf.identity(loss)
    _, loss = tf.while_loop(lambda i, _: i < ROUNDS, body, [0, 0.0], parallel_iterations=1)
    return loss, loss.op, {}, ROUNDS


def measure(model):
    tf.reset_default_graph()
    loss, train, feed, steps = model()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as s:
        s.run(tf.global_variables_initializer())
        losses = [float(s.run([loss, train], feed)[0]) for _ in range(6)]
        for _ in range(3):  # this request is another plan: it runs, is captured and is launched
            s.run(train, feed)
        start, n = time.time(), 0
        while time.time() - start < SECONDS:
            s.run(train, feed)
            n += 1
        return losses, n * steps / (time.time() - start)


def compare(models):
    """Trains each model (those named on the command line, or all) twice, prints a line, and returns 1 if losses differ."""
    failed = False
    for name in sys.argv[2:] or models:
        os.environ.pop("WEFT_GPU_NO_REPLAY", None)
        start = time.time()
        losses, rate = measure(models[name])
        spent = time.time() - start - SECONDS
        os.environ["WEFT_GPU_NO_REPLAY"] = "1"
        expected, slow = measure(models[name])
        same = np.allclose(losses, expected, rtol=1e-3 if os.environ.get("WEFT_BF16") == "1" else 1e-4)
        failed = failed or not same
        print("%-14s %9.1f steps/s  %9.1f iteration by iteration  %5.1f s for the first steps  losses %s" % (
            name, rate, slow, spent, "agree" if same else "DIFFER: %s, %s" % (losses, expected)), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(compare({"lstm": lstm, "gru": gru, "train_in_loop": train_in_loop}))
