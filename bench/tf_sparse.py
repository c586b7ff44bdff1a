"""Models with large embedding tables, as TensorFlow 1 programs: DLRM, DeepFM, Wide & Deep on columns like Criteo's.

13 dense and (unless the shape says otherwise) 26 categorical columns, synthetic, with ids of a zipf distribution. Each
categorical column has a table of its own, of `rows` rows. torch_sparse.py has the models for PyTorch.
"""
import shapes
from tf_models import FED, Model, cycle

DENSE = 13


def batch_of(s, i):
    """Dense values, ids and clicks of batch i."""
    dense = shapes.uniform(f"dense{i}", s.batch, DENSE)
    ids = shapes.zipf(f"ids{i}", s.zipf, s.rows, s.batch, s.columns)
    return dense, ids, shapes.classes(f"click{i}", 2, s.batch, 1).astype("float32")


def inputs(tf, s, first=0):
    """first: the batch that is fed first; workers of a cluster feed different ones."""
    dense = tf.placeholder(tf.float32, [None, DENSE])
    ids = tf.placeholder(tf.int64, [None, s.columns])
    clicks = tf.placeholder(tf.float32, [None, 1])
    feeds = [dict(zip((dense, ids, clicks), batch_of(s, first + i))) for i in range(FED)]
    return dense, ids, clicks, cycle(feeds)


def lookups(tf, ids, s, name, dim_of):
    """For each column, the rows of its table; the table has dim_of(column) columns."""
    found = []
    for column in range(s.columns):
        table = tf.get_variable(f"{name}{column}/table", [s.rows, dim_of(column)],
                                initializer=tf.random_uniform_initializer(-0.05, 0.05, seed=column))
        found.append(tf.nn.embedding_lookup(table, ids[:, column]))
    return found


def layers(tf, h, units, name, last=None):
    """Dense layers with relu; the last one with the activation `last`."""
    for i, n in enumerate(units):
        activation = last if i + 1 == len(units) else tf.nn.relu
        h = tf.layers.dense(h, n, activation, name=f"{name}{i}", kernel_initializer=tf.glorot_uniform_initializer(seed=i))
    return h


def train(tf, s, logits, clicks, feed):
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=clicks, logits=logits))
    optimizers = {"adagrad": tf.train.AdagradOptimizer, "adam": tf.train.AdamOptimizer}
    optimizer = optimizers[s.optimizer](0.01 if s.optimizer == "adagrad" else 0.001)
    return Model(optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step()), loss, feed)


def dlrm(tf, s, first=0):
    """Dot products of all pairs of embeddings, and of them with the dense columns' layers."""
    dense, ids, clicks, feed = inputs(tf, s, first)
    bottom = layers(tf, dense, [512, 256, 64, s.dim], "bottom", tf.nn.relu)
    vectors = tf.stack([bottom, *lookups(tf, ids, s, "column", lambda column: s.dim)], axis=1)
    n = s.columns + 1
    pairs = [i * n + j for i in range(n) for j in range(i)]
    dots = tf.reshape(tf.matmul(vectors, vectors, transpose_b=True), [-1, n * n])
    joined = tf.concat([bottom, tf.gather(dots, pairs, axis=1)], axis=1)
    return train(tf, s, layers(tf, joined, [512, 256, 1], "top"), clicks, feed)


def deepfm(tf, s, first=0):
    """A factorization machine and a network on the same embeddings."""
    dense, ids, clicks, feed = inputs(tf, s, first)
    linear = tf.add_n(lookups(tf, ids, s, "linear", lambda column: 1))
    found = lookups(tf, ids, s, "column", lambda column: s.dim)
    vectors = tf.stack(found, axis=1)
    total = tf.square(tf.reduce_sum(vectors, axis=1)) - tf.reduce_sum(tf.square(vectors), axis=1)
    deep = layers(tf, tf.concat([dense, *found], axis=1), [1024, 256, 32], "deep", tf.nn.relu)
    joined = tf.concat([linear, 0.5 * total, deep], axis=1)
    return train(tf, s, layers(tf, joined, [128, 64, 1], "final"), clicks, feed)


def wide_deep(tf, s, first=0):
    """A linear model and a network; one half of the columns has `dim` values in a row, the other twice as many."""
    dense, ids, clicks, feed = inputs(tf, s, first)
    wide = tf.add_n(lookups(tf, ids, s, "linear", lambda column: 1))
    found = lookups(tf, ids, s, "column", lambda column: s.dim * (1 + column % 2))
    deep = layers(tf, tf.concat([dense, *found], axis=1), [1024, 512, 256, 1], "deep")
    return train(tf, s, wide + deep, clicks, feed)


MODELS = {"dlrm": dlrm, "deepfm": deepfm, "wide-deep": wide_deep}
