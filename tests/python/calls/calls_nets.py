"""Layers, losses, metrics, cells, contrib."""
import numpy as np

from machine import case

X = np.random.RandomState(0).randn(6, 4).astype(np.float32)
IMAGES = np.random.RandomState(1).rand(2, 6, 6, 3).astype(np.float32)
LABELS = np.array([0, 1, 3, 2, 2, 0])
HOT = np.eye(4, dtype=np.float32)[LABELS]


@case
def activations(tf):
    return [tf.nn.relu(X), tf.nn.relu(X, name="r"), tf.nn.sigmoid(X), tf.nn.sigmoid(X, name="s"), tf.nn.softmax(X),
            tf.nn.softmax(X, name="p"), tf.nn.l2_loss(X), tf.nn.bias_add(X, [1.0, 2.0, 3.0, 4.0]),
            tf.nn.bias_add(value=X, bias=[1.0, 2.0, 3.0, 4.0], name="b"),
            tf.nn.xw_plus_b(X, np.ones((4, 2), np.float32), [1.0, 2.0])]


@case
def dropout(tf):
    return [tf.nn.dropout(X, 0.5), tf.nn.dropout(X, keep_prob=0.9), tf.nn.dropout(X, 1.0)]


@case(tolerance=1e-4)
def convolutions(tf):
    w = tf.constant(0.1, shape=[3, 3, 3, 2])
    return [tf.nn.conv2d(IMAGES, w, strides=[1, 1, 1, 1], padding="SAME"),
            tf.nn.conv2d(IMAGES, w, [1, 2, 2, 1], padding="VALID", data_format="NHWC"),
            tf.nn.max_pool(IMAGES, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
            tf.nn.max_pool(IMAGES, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="VALID", data_format="NHWC", name="p")]


@case
def entropies(tf):
    nn = tf.nn
    return [tf.nn.softmax_cross_entropy_with_logits(labels=HOT, logits=X),
            tf.nn.softmax_cross_entropy_with_logits(labels=HOT, logits=X, name="x"),
            nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS, logits=X),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS, logits=X, name="sparse"),
            tf.nn.sigmoid_cross_entropy_with_logits(labels=HOT, logits=X)]


@case(nodes=False)
def old_order(tf):
    """Logits first, as before 1.0."""
    with tf.Session() as sess:
        return sess.run(tf.nn.sigmoid_cross_entropy_with_logits(X, HOT))


@case
def entropies_by_position(tf):
    return [tf.nn.softmax_cross_entropy_with_logits(X, HOT)]


@case
def embeddings(tf):
    table = tf.Variable(X, name="table")
    return [tf.nn.embedding_lookup(table, [1, 0]), tf.nn.embedding_lookup([X[:3], X[3:]], [[0, 5], [2, 3]])]


@case(nodes=False)
def noise_contrastive(tf):
    tf.set_random_seed(3)
    loss = tf.nn.nce_loss(weights=tf.constant(X), biases=tf.zeros([6]), labels=tf.constant([[1], [2]]), inputs=tf.constant(X[:2]),
                          num_sampled=3, num_classes=6)
    return [loss.get_shape().as_list(), loss.dtype]


def half(tf):
    return tf.constant_initializer(0.5)


@case(nodes=False, tolerance=1e-4)
def layers(tf):
    d = tf.layers.dense(inputs=X, units=3, activation=tf.nn.relu, name="fc", kernel_initializer=half(tf))
    e = tf.layers.dense(tf.layers.dense(d, 2, activation=None), units=1, activation=tf.nn.relu)
    c = tf.layers.conv2d(inputs=IMAGES, filters=4, kernel_size=[3, 3], padding="same", activation=tf.nn.relu)
    p = tf.layers.max_pooling2d(inputs=c, pool_size=[2, 2], strides=2)
    c2 = tf.layers.conv2d(p, 2, kernel_size=2, padding="valid", activation=None)
    return [d, e.get_shape(), c.get_shape(), p.get_shape(), c2.get_shape(), tf.layers.dropout(d, 0.4, training=False),
            tf.layers.dropout(inputs=d, rate=0.4, training=False, name="drop"), tf.layers.dropout(d, rate=0.1, training=False)]


@case(nodes=False)
def losses(tf):
    return [tf.losses.sparse_softmax_cross_entropy(labels=LABELS, logits=X), tf.losses.softmax_cross_entropy(HOT, X),
            tf.losses.sparse_softmax_cross_entropy(LABELS, X), tf.losses.softmax_cross_entropy(onehot_labels=HOT, logits=X),
            len(tf.get_collection("losses"))]


@case(nodes=False, tolerance=1e-4)
def metrics(tf):
    hits = tf.metrics.accuracy(labels=LABELS, predictions=np.array([0, 1, 3, 0, 0, 0]))
    plain = tf.metrics.accuracy(LABELS, LABELS)
    area = tf.metrics.auc(labels=LABELS > 1, predictions=np.float32([.1, .4, .8, .7, .2, .3]), num_thresholds=50)
    other = tf.metrics.auc(LABELS > 1, np.float32([.1, .4, .8, .7, .2, .3]))
    older = tf.contrib.metrics.streaming_auc(np.float32([.1, .4, .8, .7, .2, .3]), LABELS > 1)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        return [sess.run([update for _, update in (hits, plain, area, other, older)]),
                sess.run([value for value, _ in (hits, plain, area, other, older)]), [t.name for t in hits]]


@case(nodes=False, tolerance=1e-4)
def cells(tf):
    with tf.variable_scope("s", initializer=half(tf)):
        cell = tf.contrib.rnn.BasicLSTMCell(3, forget_bias=1.0)
        outputs, state = tf.contrib.rnn.static_rnn(cell, [tf.constant(X), tf.constant(X)], dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([outputs, state.c, state.h]), cell.state_size, cell.output_size, outputs[0].get_shape()]


@case(nodes=False, tolerance=1e-4)
def contrib_layers(tf):
    regularizer = tf.contrib.layers.l2_regularizer(0.1)
    w = tf.get_variable("w", [2, 2], initializer=tf.contrib.layers.xavier_initializer(), regularizer=regularizer)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([w, regularizer(tf.constant(X))] + tf.get_collection("regularization_losses"))
    return [values[1], abs(values[2] - 0.05 * (values[0] ** 2).sum()) < 1e-6, values[0].shape,
            tf.contrib.framework.get_or_create_global_step()]


@case(nodes=False, tolerance=1e-4)
def slim(tf):
    x = tf.contrib.slim.layers.conv2d(tf.constant(IMAGES), 4, [3, 3], scope="conv1")
    x = tf.contrib.slim.layers.max_pool2d(x, [2, 2], scope="pool1")
    x = tf.contrib.slim.layers.flatten(x, scope="flat")
    return tf.contrib.slim.layers.fully_connected(x, 3, activation_fn=None, scope="fc")


@case()
def scopes_of_layers_that_were_open_before(tf):
    x = tf.ones([2, 4, 4, 3])
    with tf.variable_scope("a"):
        with tf.variable_scope("d"):
            pass
        tf.layers.batch_normalization(x, name="d")
        tf.layers.BatchNormalization(name="d").apply(x)
    for reuse in (True, tf.AUTO_REUSE):
        with tf.variable_scope("a", reuse=reuse):
            tf.layers.batch_normalization(x, name="d")
    return [v.name for v in tf.global_variables()]
