"""gpu_wild.py [SECONDS] [MODEL...] - training steps of models that nobody tuned, fed, on one card: steps a second.

Each is written as programs of TensorFlow 1 write it.  gpu_wild_rivals.py has the same models on PyTorch.  With --check the
losses of six steps are compared with those of WEFT_GPU_NO_REPLAY=1, kernel by kernel.  --trace FOLDER writes the RunMetadata
of a step of each, for `weft trace`.
"""
import os
import sys
import time

import numpy as np

import weft as tf

adam = tf.train.AdamOptimizer


def dense(x, units, activation=None, name=None):
    return tf.layers.dense(x, units, activation, name=name)


def xent(labels, logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def sigmoid_xent(labels, logits):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def updated(optimizer, loss, variables=None, scope=None):
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)):
        return optimizer.minimize(loss, var_list=variables)


def text(rng):
    """A classifier of texts: embeddings and a bidirectional LSTM over the words that each text has."""
    x, n, y = tf.placeholder(tf.int32, [None, 80]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    words = tf.nn.embedding_lookup(tf.get_variable("words", [20000, 128]), x)
    cells = [tf.nn.rnn_cell.LSTMCell(128) for _ in range(2)]
    _, (a, b) = tf.nn.bidirectional_dynamic_rnn(*cells, words, sequence_length=n, dtype=tf.float32)
    loss = xent(y, dense(tf.concat([a.h, b.h], 1), 2))
    return loss, adam(1e-3).minimize(loss), {x: rng.randint(0, 20000, (64, 80)), n: rng.randint(20, 81, 64),
                                             y: rng.randint(0, 2, 64)}


def conv_norm(x, filters, size=3, strides=1):
    x = tf.layers.conv2d(x, filters, size, strides, padding="same", use_bias=False)
    return tf.nn.relu(tf.layers.batch_normalization(x, training=True))


def unet(rng):
    x, y = tf.placeholder(tf.float32, [None, 128, 128, 3]), tf.placeholder(tf.float32, [None, 128, 128, 1])
    h, skips = x, []
    for filters in (32, 64, 128):
        h = conv_norm(conv_norm(h, filters), filters)
        skips.append(h)
        h = tf.layers.max_pooling2d(h, 2, 2)
    h = conv_norm(conv_norm(h, 256), 256)
    for filters, skip in zip((128, 64, 32), skips[::-1]):
        h = tf.concat([tf.layers.conv2d_transpose(h, filters, 2, 2), skip], -1)
        h = conv_norm(conv_norm(h, filters), filters)
    loss = sigmoid_xent(y, tf.layers.conv2d(h, 1, 1))
    return loss, updated(adam(1e-3), loss), {x: rng.rand(8, 128, 128, 3), y: rng.randint(0, 2, (8, 128, 128, 1))}


def mobilenet(rng):
    x, y = tf.placeholder(tf.float32, [None, 128, 128, 3]), tf.placeholder(tf.int32, [None])
    h = conv_norm(x, 32, strides=2)
    for i, (filters, strides) in enumerate([(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 +
                                           [(1024, 2), (1024, 1)]):
        w = tf.get_variable("depthwise_%d" % i, [3, 3, h.shape[-1].value, 1])
        h = tf.nn.depthwise_conv2d(h, w, [1, strides, strides, 1], "SAME")
        h = conv_norm(tf.nn.relu6(tf.layers.batch_normalization(h, training=True)), filters, 1)
    loss = xent(y, dense(tf.reduce_mean(h, [1, 2]), 1000))
    return loss, updated(tf.train.MomentumOptimizer(0.01, 0.9), loss), {x: rng.rand(32, 128, 128, 3),
                                                                      y: rng.randint(0, 1000, 32)}


def vae(rng):
    x = tf.placeholder(tf.float32, [None, 784])
    h = dense(x, 512, tf.nn.elu)
    mean, log_variance = dense(h, 20), dense(h, 20)
    z = mean + tf.exp(log_variance / 2) * tf.random_normal(tf.shape(mean))
    logits = dense(dense(z, 512, tf.nn.elu), 784)
    data = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    prior = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
    loss = tf.reduce_mean(data + prior)
    return loss, adam(1e-3).minimize(loss), {x: rng.rand(128, 784)}


def generator(z):
    h = tf.reshape(dense(z, 4 * 4 * 256), [-1, 4, 4, 256])
    for filters in (128, 64):
        h = tf.nn.relu(tf.layers.batch_normalization(h, training=True))
        h = tf.layers.conv2d_transpose(h, filters, 5, 2, padding="same")
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=True))
    return tf.nn.tanh(tf.layers.conv2d_transpose(h, 3, 5, 2, padding="same"))


def critic(x, norm):
    h = x
    for i, filters in enumerate((64, 128, 256)):
        h = tf.layers.conv2d(h, filters, 5, 2, padding="same")
        if norm and i:
            h = tf.layers.batch_normalization(h, training=True)
        h = tf.nn.leaky_relu(h)
    return dense(tf.layers.flatten(h), 1)


def pair(x, norm):
    with tf.variable_scope("g"):
        made = generator(tf.random_normal([64, 100]))
    with tf.variable_scope("d"):
        real = critic(x, norm)
    with tf.variable_scope("d", reuse=True):
        fake = critic(made, norm)
    return made, real, fake, tf.trainable_variables("g"), tf.trainable_variables("d")


def dcgan(rng):
    x = tf.placeholder(tf.float32, [64, 32, 32, 3])
    _, real, fake, g, d = pair(x, True)
    d_loss = sigmoid_xent(tf.ones_like(real), real) + sigmoid_xent(tf.zeros_like(fake), fake)
    g_loss = sigmoid_xent(tf.ones_like(fake), fake)
    train = tf.group(updated(adam(2e-4, 0.5), d_loss, d, "d"), updated(adam(2e-4, 0.5), g_loss, g, "g"))
    return d_loss, train, {x: rng.rand(64, 32, 32, 3)}


def wgan(rng):
    """The critic's step of a WGAN with a gradient penalty: the gradient of a gradient."""
    x = tf.placeholder(tf.float32, [64, 32, 32, 3])
    made, real, fake, _, d = pair(x, False)
    between = x + tf.random_uniform([64, 1, 1, 1]) * (made - x)
    with tf.variable_scope("d", reuse=True):
        slopes = tf.gradients(critic(between, False), between)[0]
    norm = tf.sqrt(tf.reduce_sum(tf.square(slopes), [1, 2, 3]))
    loss = tf.reduce_mean(fake) - tf.reduce_mean(real) + 10 * tf.reduce_mean(tf.square(norm - 1))
    return loss, adam(1e-4, 0.5, 0.9).minimize(loss, var_list=d), {x: rng.rand(64, 32, 32, 3)}


def normed(x, name):
    with tf.variable_scope(name):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        scale = tf.get_variable("scale", [x.shape[-1].value], initializer=tf.ones_initializer())
        offset = tf.get_variable("offset", [x.shape[-1].value], initializer=tf.zeros_initializer())
        return scale * (x - mean) * tf.rsqrt(variance + 1e-6) + offset


def lm(rng, texts=16, length=128, width=512, heads=8, words=10000):
    """A language model of transformers: norms before the layers, a causal mask, a softmax over 10,000 words."""
    x, y = tf.placeholder(tf.int32, [None, length]), tf.placeholder(tf.int32, [None, length])
    table = tf.get_variable("words", [words, width], initializer=tf.random_normal_initializer(0, 0.02))
    h = tf.gather(table, x) * width ** 0.5 + tf.get_variable("positions", [length, width])
    causal = tf.matrix_band_part(tf.ones([length, length]), -1, 0)
    for i in range(6):
        with tf.variable_scope("layer_%d" % i):
            q, k, v = (tf.transpose(tf.reshape(t, [-1, length, heads, width // heads]), [0, 2, 1, 3])
                       for t in tf.split(dense(normed(h, "a"), 3 * width, name="qkv"), 3, axis=-1))
            scores = tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5
            weights = tf.nn.softmax(scores * causal - 1e10 * (1 - causal))
            mixed = tf.reshape(tf.transpose(tf.matmul(tf.nn.dropout(weights, 0.9), v), [0, 2, 1, 3]), [-1, length, width])
            h += tf.nn.dropout(dense(mixed, width, name="out"), 0.9)
            h += tf.nn.dropout(dense(dense(normed(h, "b"), 4 * width, tf.nn.relu, "wide"), width, name="narrow"), 0.9)
    logits = tf.matmul(tf.reshape(normed(h, "last"), [-1, width]), table, transpose_b=True)
    loss = xent(tf.reshape(y, [-1]), logits)
    return loss, adam(1e-4).minimize(loss), {x: rng.randint(0, words, (texts, length)), y: rng.randint(0, words, (texts, length))}


def deepfm(rng, fields=39, rows=1000000, width=10):
    x, y = tf.placeholder(tf.int32, [None, fields]), tf.placeholder(tf.float32, [None, 1])
    values = tf.placeholder(tf.float32, [None, fields])
    first = tf.get_variable("first", [rows, 1], initializer=tf.random_normal_initializer(0, 0.01))
    second = tf.get_variable("second", [rows, width], initializer=tf.random_normal_initializer(0, 0.01))
    linear = tf.reduce_sum(tf.squeeze(tf.nn.embedding_lookup(first, x), 2) * values, 1, keepdims=True)
    factors = tf.nn.embedding_lookup(second, x) * tf.expand_dims(values, 2)
    pairs = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(factors, 1)) - tf.reduce_sum(tf.square(factors), 1), 1, keepdims=True)
    h = tf.reshape(factors, [-1, fields * width])
    for _ in range(3):
        h = tf.nn.dropout(dense(h, 400, tf.nn.relu), 0.8)
    loss = sigmoid_xent(y, linear + pairs + dense(h, 1)) + 1e-5 * tf.nn.l2_loss(factors)
    return loss, tf.train.AdagradOptimizer(0.01).minimize(loss), {
        x: rng.randint(0, rows, (2048, fields)), values: rng.rand(2048, fields), y: rng.randint(0, 2, (2048, 1))}


def video(rng):
    x, y = tf.placeholder(tf.float32, [None, 16, 64, 64, 3]), tf.placeholder(tf.int32, [None])
    h = x
    for filters, pool in ((32, (1, 2, 2)), (64, 2), (128, 2), (128, 2)):
        h = tf.layers.max_pooling3d(tf.layers.conv3d(h, filters, 3, padding="same", activation=tf.nn.relu), pool, pool)
    h = tf.nn.dropout(dense(tf.layers.flatten(h), 512, tf.nn.relu), 0.5)
    loss = xent(y, dense(h, 101))
    return loss, adam(1e-4).minimize(loss), {x: rng.rand(8, 16, 64, 64, 3), y: rng.randint(0, 101, 8)}


def speech(rng, texts=16, frames=200):
    """Convolutions, a bidirectional LSTM and CTC."""
    x, labels = tf.placeholder(tf.float32, [None, frames, 80, 1]), tf.sparse_placeholder(tf.int32)
    n = tf.placeholder(tf.int32, [None])
    h = tf.layers.conv2d(x, 32, [11, 21], [2, 2], padding="same", activation=tf.nn.relu)
    h = tf.layers.conv2d(h, 32, [11, 11], [1, 2], padding="same", activation=tf.nn.relu)
    h = tf.reshape(h, [-1, frames // 2, 20 * 32])
    cells = [tf.nn.rnn_cell.LSTMCell(256) for _ in range(2)]
    both, _ = tf.nn.bidirectional_dynamic_rnn(*cells, h, sequence_length=n, dtype=tf.float32)
    loss = tf.reduce_mean(tf.nn.ctc_loss(labels, dense(tf.concat(both, 2), 29), n, time_major=False))
    gradients, variables = zip(*adam(1e-4).compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    where = np.array([(i, j) for i in range(texts) for j in range(20)])
    return loss, adam(1e-4).apply_gradients(zip(gradients, variables)), {
        x: rng.rand(texts, frames, 80, 1), n: np.full(texts, frames // 2),
        labels: tf.SparseTensorValue(where, rng.randint(0, 28, len(where)), [texts, 20])}


def translate(rng, texts=64, length=30, width=256, words=8000):
    """An encoder and a decoder that attends to it: dynamic_rnn with lengths, and a while_loop with TensorArrays."""
    x, n, y = (tf.placeholder(tf.int32, s) for s in ([None, length], [None], [None, length]))
    table = tf.get_variable("words", [words, width])
    states, last = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(width), tf.nn.embedding_lookup(table, x), n, dtype=tf.float32)
    keys = tf.layers.dense(states, width, use_bias=False)
    shifted = tf.concat([tf.zeros_like(y[:, :1]), y[:, :-1]], 1)
    inputs = tf.TensorArray(tf.float32, length).unstack(tf.transpose(tf.nn.embedding_lookup(table, shifted), [1, 0, 2]))
    cell = tf.nn.rnn_cell.GRUCell(width, name="decoder")
    score = tf.get_variable("score", [width])
    query = tf.layers.Dense(width, use_bias=False)
    query.build([None, width])
    cell.build([None, 2 * width])
    mask = tf.log(tf.sequence_mask(n, length, tf.float32) + 1e-9)

    def body(t, state, outputs):
        e = tf.reduce_sum(score * tf.tanh(keys + tf.expand_dims(query(state), 1)), 2) + mask
        context = tf.reduce_sum(tf.expand_dims(tf.nn.softmax(e), 2) * states, 1)
        out, state = cell(tf.concat([inputs.read(t), context], 1), state)
        return t + 1, state, outputs.write(t, out)
    _, _, outputs = tf.while_loop(lambda t, *_: t < length, body, [0, last, tf.TensorArray(tf.float32, length)])
    logits = dense(tf.reshape(tf.transpose(outputs.stack(), [1, 0, 2]), [-1, width]), words)
    loss = xent(tf.reshape(y, [-1]), logits)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    return loss, adam(1e-3).apply_gradients(zip(gradients, variables)), {
        x: rng.randint(0, words, (texts, length)), n: rng.randint(10, length + 1, texts), y: rng.randint(0, words, (texts, length))}


MODELS = {f.__name__: f for f in (text, unet, mobilenet, vae, dcgan, wgan, lm, deepfm, video, speech, translate)}


def prepared(model):
    tf.reset_default_graph()
    tf.set_random_seed(1)
    loss, train, feed = model(np.random.RandomState(0))
    # As a program's input pipeline would give them: arrays of the placeholder's type.
    return loss, train, {k: v if isinstance(v, tf.SparseTensorValue) else np.asarray(v, k.dtype.as_numpy_dtype)
                         for k, v in feed.items()}


def measure(name, seconds, trace=None):
    start = time.time()
    loss, train, feed = prepared(MODELS[name])
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as s:
        s.run(tf.global_variables_initializer())
        losses = [float(s.run([loss, train], feed)[0]) for _ in range(6)]
        for _ in range(4):  # this request is another plan: it runs, is captured and is launched
            s.run(train, feed)
        first = time.time() - start
        start, n = time.time(), 0
        while time.time() - start < seconds:
            s.run(train, feed)
            n += 1
        rate = n / (time.time() - start)
        if trace:
            data = tf.RunMetadata()
            for _ in range(2):
                s.run(train, feed, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), data)
            with open(os.path.join(trace, name), "wb") as f:
                f.write(data.SerializeToString())
    return losses, rate, first


def main(args):
    check = "--check" in args and not args.remove("--check")
    trace = args.pop(args.index("--trace") + 1) if "--trace" in args else None
    if trace:
        args.remove("--trace")
        os.makedirs(trace, exist_ok=True)
    seconds, failed = float(args[0]) if args else 2.0, False
    for name in args[1:] or MODELS:
        losses, rate, first = measure(name, seconds, trace)
        verdict = ""
        if check:
            os.environ["WEFT_GPU_NO_REPLAY"] = "1"
            expected, slow, _ = measure(name, 0.2)
            del os.environ["WEFT_GPU_NO_REPLAY"]
            same = np.allclose(losses, expected, rtol=2e-3)
            failed = failed or not same
            verdict = "  %8.1f kernel by kernel  losses %s" % (slow, "agree" if same else "DIFFER %s %s" % (losses, expected))
        print("%-12s %9.1f steps/s  %5.1f s for the first steps%s" % (name, rate, first, verdict), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
