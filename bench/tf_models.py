"""Models of the bench as TensorFlow 1 programs, for TensorFlow and for Weft; torch_models.py has them for PyTorch.

Each function takes the library and a shape (shapes.py), builds a graph and returns a Model.
"""
import dataclasses
import typing

import shapes

FED = 4  # batches that the steps feed in turn


@dataclasses.dataclass
class Model:
    step: object  # what a step runs
    check: object  # a number that all systems must agree on, usually the loss
    feed: typing.Callable  # number of the step -> feed_dict


def load_shared(tf, session):
    """Gives the variables the initial values that all systems share."""
    variables = tf.trainable_variables()
    session.run([v.initializer for v in variables],
                {v.initializer.inputs[1]: shapes.draw(v.op.name, v.shape.as_list()) for v in variables})


def cycle(feeds):
    return lambda i: feeds[i % len(feeds)]


def mean_xent(tf, logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def sequence_inputs(tf, s):
    x = tf.placeholder(tf.float32, [None, s.steps, s.inputs])
    y = tf.placeholder(tf.int64, [None])
    return x, y, cycle([{x: shapes.uniform(f"x{i}", s.batch, s.steps, s.inputs) - 0.5,
                         y: shapes.classes(f"y{i}", s.classes, s.batch)} for i in range(FED)])


def lstm_trainer(tf, s, outputs_of):
    """outputs_of(cell, x) is the last output."""
    x, y, feed = sequence_inputs(tf, s)
    with tf.variable_scope("lstm"):
        last = outputs_of(tf.nn.rnn_cell.LSTMCell(s.units, name="cell"), x)
    loss = mean_xent(tf, tf.layers.dense(last, s.classes, name="out"), y)
    return Model(tf.train.GradientDescentOptimizer(0.1).minimize(loss), loss, feed)


def lstm(tf, s):
    def outputs_of(cell, x):
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope="rnn")
        return outputs[:, -1]
    return lstm_trainer(tf, s, outputs_of)


def static_lstm(tf, s):
    return lstm_trainer(tf, s, lambda cell, x: tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32,
                                                                scope="rnn")[0][-1])


# ---- convolutions ----

def conv(tf, x, filters, size, stride, name):
    """Pads as the official ResNet does, so that the result does not depend on a library's idea of "SAME"."""
    pad = (size - 1) // 2
    if stride > 1 and pad:
        x = tf.pad(x, [[0, 0], [pad, pad], [pad, pad], [0, 0]])
    return tf.layers.conv2d(x, filters, size, stride, "same" if stride == 1 else "valid", use_bias=False, name=name)


def norm(tf, x, training, name):
    return tf.layers.batch_normalization(x, momentum=0.9, epsilon=1e-3, training=training, name=name)


def block(tf, x, filters, stride, name):
    with tf.variable_scope(name):
        shortcut = x
        if stride > 1:
            shortcut = norm(tf, conv(tf, x, filters, 1, stride, "shortcut"), True, "norm0")
        h = tf.nn.relu(norm(tf, conv(tf, x, filters, 3, stride, "conv1"), True, "norm1"))
        h = norm(tf, conv(tf, h, filters, 3, 1, "conv2"), True, "norm2")
        return tf.nn.relu(h + shortcut)


def resnet(tf, s):
    """The CIFAR form of ResNet: depth = 6 n + 2."""
    x = tf.placeholder(tf.float32, [None, s.size, s.size, 3])
    y = tf.placeholder(tf.int64, [None])
    h = tf.nn.relu(norm(tf, conv(tf, x, s.width, 3, 1, "conv0"), True, "norm0"))
    for stage in range(3):
        for i in range((s.depth - 2) // 6):
            h = block(tf, h, s.width << stage, 2 if stage and not i else 1, f"block{stage}_{i}")
    loss = mean_xent(tf, tf.layers.dense(tf.reduce_mean(h, [1, 2]), 10, name="out"), y)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    return Model(train, loss, cycle([{x: shapes.uniform(f"x{i}", s.batch, s.size, s.size, 3) - 0.5,
                                      y: shapes.classes(f"y{i}", 10, s.batch)} for i in range(FED)]))


def bn_cnn(tf, s):
    """Inference: convolution, batch norm and relu, several times."""
    x = h = tf.placeholder(tf.float32, [None, s.size, s.size, 3])
    for i in range(s.layers):
        h = tf.nn.relu(norm(tf, conv(tf, h, s.channels, 3, 1, f"conv{i}"), False, f"norm{i}"))
    logits = tf.layers.dense(tf.reduce_mean(h, [1, 2]), 10, name="out")
    return Model(logits, tf.reduce_mean(tf.square(logits)),
                 cycle([{x: shapes.uniform(f"x{i}", s.batch, s.size, s.size, 3) - 0.5} for i in range(FED)]))


# ---- attention ----

def layer_norm(tf, x, name):
    with tf.variable_scope(name):
        gamma = tf.get_variable("gamma", [x.shape[-1]], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [x.shape[-1]], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-6)


def gelu(tf, x):
    return 0.5 * x * (1 + tf.tanh(0.7978845608028654 * (x + 0.044715 * tf.pow(x, 3))))


def heads_of(tf, x, s, name):
    h = tf.reshape(tf.layers.dense(x, s.width, name=name), [-1, s.length, s.heads, s.width // s.heads])
    return tf.transpose(h, [0, 2, 1, 3])


def attend(tf, x, s):
    q, k, v = (heads_of(tf, x, s, name) for name in ("query", "key", "value"))
    scores = tf.matmul(q, k, transpose_b=True) * (s.width // s.heads) ** -0.5
    mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
    return tf.layers.dense(tf.reshape(mixed, [-1, s.length, s.width]), s.width, name="mix")


def feed_forward(tf, x, s):
    return tf.layers.dense(gelu(tf, tf.layers.dense(x, 4 * s.width, name="wide")), s.width, name="narrow")


def residual(tf, x, s, part, name):
    """With the norm before the part, or after the sum."""
    if s.norm == "pre":
        return x + part(tf, layer_norm(tf, x, name), s)
    return layer_norm(tf, x + part(tf, x, s), name)


def attention(tf, s):
    if s.norm not in ("pre", "post"):
        raise ValueError(f"norm={s.norm} is neither pre nor post")
    x = h = tf.placeholder(tf.float32, [None, s.length, s.width])
    y = tf.placeholder(tf.float32, [None, s.length, s.width])
    for i in range(s.layers):
        with tf.variable_scope(f"layer{i}"):
            h = residual(tf, h, s, attend, "norm1")
            h = residual(tf, h, s, feed_forward, "norm2")
    loss = tf.reduce_mean(tf.square(h - y))
    return Model(tf.train.AdamOptimizer(1e-3).minimize(loss), loss,
                 cycle([{x: shapes.uniform(f"x{i}", s.batch, s.length, s.width) - 0.5,
                         y: shapes.uniform(f"y{i}", s.batch, s.length, s.width)} for i in range(FED)]))


# ---- the others ----

def word2vec(tf, s):
    """Skip-gram with NCE. Only its expectation is the same in all systems: each draws its own negatives."""
    tf.set_random_seed(1)
    x, y = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None, 1])
    embeddings, weights = (tf.get_variable(f"{name}/table", [s.words, s.width]) for name in ("embeddings", "nce"))
    biases = tf.get_variable("nce/bias", [s.words], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, y, tf.nn.embedding_lookup(embeddings, x), s.negatives, s.words))
    ids = [shapes.zipf(f"ids{i}", 1.2, s.words, 2, s.batch) for i in range(FED)]
    return Model(tf.train.GradientDescentOptimizer(1.0).minimize(loss), loss,
                 cycle([{x: pair[0], y: pair[1][:, None]} for pair in ids]))


def deep_net(tf, s):
    """Many small layers: (the loss, its feeds)."""
    x = h = tf.placeholder(tf.float32, [None, s.units])
    y = tf.placeholder(tf.int64, [None])
    for i in range(s.layers):
        h = h + 0.1 * tf.layers.dense(h, s.units, tf.tanh, name=f"layer{i}")
    loss = mean_xent(tf, tf.layers.dense(h, 10, name="out"), y)
    return loss, cycle([{x: shapes.uniform(f"x{i}", s.batch, s.units) - 0.5,
                         y: shapes.classes(f"y{i}", 10, s.batch)} for i in range(FED)])


def many_vars(tf, s):
    loss, feed = deep_net(tf, s)
    return Model(tf.train.AdamOptimizer(1e-4).minimize(loss), loss, feed)


def while_loop(tf, s):
    x = tf.placeholder(tf.float32, [None, s.units])
    w = tf.get_variable("w", [s.units, s.units])
    _, last = tf.while_loop(lambda i, h: i < s.iterations, lambda i, h: (i + 1, 0.5 * (tf.tanh(tf.matmul(h, w)) + h)),
                            [tf.constant(0), x])
    loss = tf.reduce_mean(tf.square(last - 0.5))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss) if s.gradient else loss
    return Model(step, loss, cycle([{x: shapes.uniform(f"x{i}", s.batch, s.units)} for i in range(FED)]))


MODELS = {"lstm": lstm, "static-lstm": static_lstm, "resnet": resnet, "bn-cnn": bn_cnn, "attention": attention,
          "word2vec": word2vec, "many-vars": many_vars, "while": while_loop}
