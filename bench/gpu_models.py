"""gpu_models.py [SECONDS] [MODEL...] - training steps of large models on one card: steps a second.

The models are BERT-base with a classifier (12 layers of 768, 32 texts of 128 words, dropout, clipped gradients, AdamW) and a
DLRM (26 tables of 400,000 x 16, batches of 2048, Adagrad).  They are written as programs of TensorFlow 1 write them.  Each is
trained a second time with WEFT_GPU_NO_REPLAY=1, kernel by kernel; the losses must agree.  gpu_rivals.py has them on PyTorch.
"""
import math
import sys

import numpy as np

import weft as tf
from gpu_loops import compare

VOCAB, WIDTH, LAYERS, HEADS, TEXTS, LENGTH = 30522, 768, 12, 12, 32, 128
TABLES, ROWS, COLUMNS, BATCH = 26, 400000, 16, 2048


def initializer():
    return tf.truncated_normal_initializer(stddev=0.02)


def gelu(x):
    return x * 0.5 * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3))))


def normed(x):
    return tf.contrib.layers.layer_norm(x, begin_norm_axis=-1, begin_params_axis=-1)


def dropped(x):
    return tf.nn.dropout(x, 0.9)


def dense(x, units, activation=None, name=None):
    return tf.layers.dense(x, units, activation, kernel_initializer=initializer(), name=name)


def attention(x, adder):
    def heads(name):
        rows = tf.reshape(dense(x, WIDTH, name=name), [TEXTS, LENGTH, HEADS, WIDTH // HEADS])
        return tf.transpose(rows, [0, 2, 1, 3])
    query, key, value = heads("query"), heads("key"), heads("value")
    scores = tf.multiply(tf.matmul(query, key, transpose_b=True), 1.0 / math.sqrt(WIDTH // HEADS)) + adder
    context = tf.matmul(dropped(tf.nn.softmax(scores)), value)
    return tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [TEXTS * LENGTH, WIDTH])


def embeddings(ids, segments):
    words = tf.get_variable("words", [VOCAB, WIDTH], initializer=initializer())
    types = tf.get_variable("types", [2, WIDTH], initializer=initializer())
    positions = tf.get_variable("positions", [512, WIDTH], initializer=initializer())
    x = tf.gather(words, tf.reshape(ids, [-1])) + tf.matmul(tf.one_hot(tf.reshape(segments, [-1]), 2), types)
    x = tf.reshape(x, [TEXTS, LENGTH, WIDTH]) + tf.reshape(tf.slice(positions, [0, 0], [LENGTH, -1]), [1, LENGTH, WIDTH])
    return tf.reshape(dropped(normed(x)), [TEXTS * LENGTH, WIDTH])


def encoder(ids, mask, segments):
    with tf.variable_scope("embeddings"):
        x = embeddings(ids, segments)
    adder = (1.0 - tf.cast(tf.reshape(mask, [TEXTS, 1, 1, LENGTH]), tf.float32)) * -10000.0
    for i in range(LAYERS):
        with tf.variable_scope("layer_%d" % i):
            a = normed(dropped(dense(attention(x, adder), WIDTH, name="output")) + x)
            x = normed(dropped(dense(dense(a, 4 * WIDTH, gelu, "wide"), WIDTH, name="narrow")) + a)
    first = tf.squeeze(tf.reshape(x, [TEXTS, LENGTH, WIDTH])[:, 0:1, :], axis=1)
    return dense(first, WIDTH, tf.tanh, "pooler")


def adamw(gradients, variables, rate):
    """The update of BERT's optimizer, op by op."""
    updates = []
    for i, (g, p) in enumerate(zip(gradients, variables)):
        m, v = (tf.get_variable("%s_%d" % (name, i), p.shape.as_list(), trainable=False,
                                initializer=tf.zeros_initializer()) for name in "mv")
        next_m = tf.multiply(0.9, m) + tf.multiply(0.1, g)
        next_v = tf.multiply(0.999, v) + tf.multiply(0.001, tf.square(g))
        update = next_m / (tf.sqrt(next_v) + 1e-6)
        if len(p.shape) > 1:
            update += 0.01 * p
        updates += [p.assign(p - rate * update), m.assign(next_m), v.assign(next_v)]
    return tf.group(*updates)


def bert():
    tf.set_random_seed(1)
    ids, mask, segments = (tf.placeholder(tf.int32, [TEXTS, LENGTH], name) for name in ("ids", "mask", "segments"))
    labels = tf.placeholder(tf.int32, [TEXTS], "labels")
    pooled = dropped(encoder(ids, mask, segments))
    weights = tf.get_variable("classes", [2, WIDTH], initializer=initializer())
    logits = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), tf.get_variable("class_bias", [2]))
    chosen = tf.one_hot(labels, 2) * tf.nn.log_softmax(logits)
    loss = tf.reduce_mean(-tf.reduce_sum(chosen, axis=-1))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(2e-5, step, 10000, 0.0)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    with tf.control_dependencies([adamw(gradients, variables, rate)]):
        train = tf.assign_add(step, 1).op
    rng = np.random.RandomState(0)
    lengths = rng.randint(LENGTH // 2, LENGTH + 1, (TEXTS, 1))
    return loss, train, {ids: rng.randint(0, VOCAB, (TEXTS, LENGTH)), mask: np.arange(LENGTH)[None] < lengths,
                         segments: np.arange(LENGTH)[None] + 0 * lengths > LENGTH // 2, labels: rng.randint(0, 2, TEXTS)}, 1


def layers_of(x, sizes):
    for units in sizes:
        x = tf.layers.dense(x, units, tf.nn.relu)
    return x


def dlrm():
    tf.set_random_seed(1)
    numbers = tf.placeholder(tf.float32, [BATCH, 13], "numbers")
    classes = tf.placeholder(tf.int32, [TABLES, BATCH], "classes")
    labels = tf.placeholder(tf.float32, [BATCH], "labels")
    tables = [tf.get_variable("table_%d" % i, [ROWS, COLUMNS], initializer=tf.random_uniform_initializer(-0.05, 0.05))
              for i in range(TABLES)]
    parts = [layers_of(numbers, [512, 256, COLUMNS])]
    parts += [tf.nn.embedding_lookup(t, c) for t, c in zip(tables, tf.unstack(classes))]
    rows = tf.stack(parts, axis=1)
    below = np.flatnonzero(np.tril(np.ones((TABLES + 1, TABLES + 1)), -1))
    pairs = tf.gather(tf.reshape(tf.matmul(rows, rows, transpose_b=True), [BATCH, (TABLES + 1) ** 2]), below, axis=1)
    hidden = layers_of(tf.concat([parts[0], pairs], 1), [512, 256])
    logits = tf.squeeze(tf.layers.dense(hidden, 1), 1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.AdagradOptimizer(0.01).minimize(loss)
    rng = np.random.RandomState(0)
    return loss, train, {numbers: rng.rand(BATCH, 13), classes: rng.randint(0, ROWS, (TABLES, BATCH)),
                         labels: rng.randint(0, 2, BATCH)}, 1


if __name__ == "__main__":
    sys.exit(compare({"bert": bert, "dlrm": dlrm}))
