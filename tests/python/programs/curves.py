"""Small trainings, each printing its losses: the same file runs under `weft run` and on TensorFlow."""
import os

import numpy as np
import tensorflow as tf

RANDOM = np.random.RandomState(4)
X = RANDOM.rand(20, 8, 8, 1).astype(np.float32)
Y = (X.sum(axis=(1, 2, 3)) > 32).astype(np.int64)


def weights(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def train(name, loss, optimizer, feeds, steps=12):
    step = tf.Variable(0, trainable=False, name="step")
    op = optimizer.minimize(loss, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            _, value = sess.run([op, loss], feed_dict=feeds)
            print(name, "%.5f" % value)
        print(name, "steps", sess.run(step))


def placeholders():
    return tf.placeholder(tf.float32, [None, 8, 8, 1], name="x"), tf.placeholder(tf.int64, [None], name="y")


def cross_entropy(logits, y):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


def softmax():
    x, y = placeholders()
    logits = tf.matmul(tf.reshape(x, [-1, 64]), weights([64, 2])) + tf.Variable(tf.zeros([2]))
    train("softmax", cross_entropy(logits, y), tf.train.AdagradOptimizer(0.1), {x: X, y: Y})


def mlp():
    x, y = placeholders()
    h = tf.nn.relu(tf.nn.xw_plus_b(tf.reshape(x, [-1, 64]), weights([64, 16]), tf.Variable(tf.constant(0.1, shape=[16]))))
    h = tf.nn.dropout(h, 0.7)
    loss = cross_entropy(tf.matmul(h, weights([16, 2])), y)
    loss = loss + 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    rate = tf.train.exponential_decay(0.5, 0, 10, 0.9)
    train("mlp", loss, tf.train.MomentumOptimizer(rate, 0.9), {x: X, y: Y})


def cnn():
    x, y = placeholders()
    h = tf.nn.relu(tf.nn.conv2d(x, weights([3, 3, 1, 4]), [1, 1, 1, 1], "SAME"))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.relu(tf.nn.conv2d(h, weights([3, 3, 4, 8]), strides=[1, 1, 1, 1], padding="SAME"))
    h = tf.reshape(tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"), [-1, 32])
    train("cnn", cross_entropy(tf.matmul(h, weights([32, 2])), y), tf.train.AdamOptimizer(0.01), {x: X, y: Y})


def recurrent(kind, units):
    x, y = placeholders()
    with tf.variable_scope("cell", initializer=tf.truncated_normal_initializer(stddev=0.3, seed=5)):
        cell = getattr(tf.nn.rnn_cell, kind)(units)
        out, _ = tf.nn.dynamic_rnn(cell, tf.reshape(x, [-1, 8, 8]), dtype=tf.float32)
    w = tf.Variable(tf.truncated_normal([units, 2], stddev=0.3, seed=6))
    train(kind, cross_entropy(tf.matmul(out[:, -1], w), y), tf.train.RMSPropOptimizer(0.02), {x: X, y: Y})


def queue():
    with tf.python_io.TFRecordWriter("rows.tfrecords") as out:
        for row, label in zip(X, Y):
            out.write(tf.train.Example(features=tf.train.Features(feature={
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=row.ravel())),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))})).SerializeToString())
    names = tf.train.string_input_producer(["rows.tfrecords"], shuffle=False)
    _, record = tf.TFRecordReader().read(names)
    row = tf.parse_single_example(record, features={"x": tf.FixedLenFeature([64], tf.float32),
                                                    "y": tf.FixedLenFeature([], tf.int64)})
    x, y = tf.train.batch([row["x"], row["y"]], batch_size=5, num_threads=1)
    loss = cross_entropy(tf.matmul(x, weights([64, 2])), y)
    op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        for _ in range(8):
            print("queue", "%.5f" % sess.run([loss, op])[0])
        coord.request_stop()
        coord.join(threads)


def steps(name, fetches, loss, feeds=None, count=8):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(count):
            print(name, "%.5f" % sess.run([loss, fetches], feeds)[0])


def line():
    """The first document's: y = 2 x + 10, one point at a time."""
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    w = tf.get_variable("weight", [1], tf.float32, initializer=tf.random_normal_initializer())
    b = tf.get_variable("biase", [1], tf.float32, initializer=tf.random_normal_initializer())
    step = tf.Variable(0, name="global_step", trainable=False)
    loss = tf.square(y - (tf.multiply(x, w) + b))
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    train_op = optimizer.apply_gradients(optimizer.compute_gradients(loss), global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for at in RANDOM.uniform(-1, 1, 20):
            print("line", "%.5f" % sess.run([loss, train_op], {x: [at], y: [2 * at + 10]})[0][0])


def averaged():
    """The fifth document's: layers in scopes, regularised, a rate that decays, averages of the weights."""
    x, y = placeholders()

    def layer(scope, given, width):
        with tf.variable_scope(scope):
            w = tf.get_variable("weights", [given.get_shape()[1], width], initializer=tf.truncated_normal_initializer(stddev=0.1))
            tf.add_to_collection("losses", 0.0001 * tf.nn.l2_loss(w))
            return tf.matmul(given, w) + tf.get_variable("biases", [width], initializer=tf.constant_initializer(0.0))
    logits = layer("layer2", tf.nn.relu(layer("layer1", tf.reshape(x, [-1, 64]), 20)), 2)
    step = tf.train.get_or_create_global_step()
    averages = tf.train.ExponentialMovingAverage(0.99, step)
    loss = cross_entropy(logits, y) + tf.add_n(tf.get_collection("losses"))
    rate = tf.train.exponential_decay(0.8, step, 3, 0.99)
    train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    with tf.control_dependencies([train_op]):  # the document has them side by side, in an order that differs from run to run
        averaging = averages.apply(tf.trainable_variables())
    with tf.control_dependencies([train_op, averaging]):
        both = tf.no_op(name="train")
    shadow = tf.reduce_sum(tf.abs(averages.average(tf.trainable_variables()[0])))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(10):
            print("averaged", "%.5f" % sess.run([loss, both], {x: X, y: Y})[0])
        print("averaged", "%.4f" % sess.run(shadow))


def towers():
    """The fifth document's, on two devices: the mean of the towers' gradients, and a histogram of each."""
    images, labels = tf.constant(X), tf.constant(Y)
    optimizer, found = tf.train.GradientDescentOptimizer(0.5), []
    for i in range(2):
        with tf.device("/cpu:0"), tf.name_scope("TOWER_%d" % i):
            with tf.variable_scope(tf.get_variable_scope(), reuse=i > 0):
                w = tf.get_variable("w", [64, 2], initializer=tf.truncated_normal_initializer(stddev=0.1))
                half = slice(10 * i, 10 * i + 10)
                loss = cross_entropy(tf.matmul(tf.reshape(images[half], [-1, 64]), w), labels[half])
                found.append(optimizer.compute_gradients(loss))
    mean = [(tf.reduce_mean(tf.concat([tf.expand_dims(g, 0) for g, _ in pairs], 0), 0), pairs[0][1]) for pairs in zip(*found)]
    steps("towers", optimizer.apply_gradients(mean), loss)


def adversaries():
    """Two networks against each other, each with its own optimizer and its own variables."""
    def make(z, reuse=None):
        with tf.variable_scope("make", reuse=reuse):
            h = tf.reshape(tf.nn.relu(tf.matmul(z, tf.get_variable("w", [5, 32], initializer=start(1)))), [-1, 4, 4, 2])
            return tf.tanh(tf.nn.conv2d_transpose(h, tf.get_variable("k", [3, 3, 1, 2], initializer=start(2)), [20, 8, 8, 1], [1, 2, 2, 1]))

    def judge(image, reuse=None):
        with tf.variable_scope("judge", reuse=reuse):
            h = tf.nn.leaky_relu(tf.nn.conv2d(image, tf.get_variable("k", [3, 3, 1, 4], initializer=start(3)), [1, 2, 2, 1], "SAME"))
            return tf.matmul(tf.reshape(h, [-1, 64]), tf.get_variable("w", [64, 1], initializer=start(4)))

    def start(seed):
        return tf.truncated_normal_initializer(stddev=0.2, seed=seed)
    x, z = tf.placeholder(tf.float32, [20, 8, 8, 1]), tf.placeholder(tf.float32, [20, 5])
    made = make(z)
    real, fake = judge(x), judge(made, True)
    xent = tf.nn.sigmoid_cross_entropy_with_logits
    good = tf.reduce_mean(xent(logits=real, labels=tf.ones_like(real)) + xent(logits=fake, labels=tf.zeros_like(fake)))
    bad = tf.reduce_mean(xent(logits=fake, labels=tf.ones_like(fake)))
    mine = {s: [v for v in tf.trainable_variables() if v.name.startswith(s)] for s in ("make", "judge")}
    ops = [tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(good, var_list=mine["judge"]),
           tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(bad, var_list=mine["make"])]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(6):
            for op, loss in zip(ops, (good, bad)):
                print("adversaries", "%.5f" % sess.run([loss, op], {x: X, z: RANDOM.randn(20, 5)})[0])


def sampled():
    """Words near each other, told from words drawn at random."""
    centre, near = RANDOM.randint(0, 12, 16), RANDOM.randint(0, 12, (16, 1))
    table = tf.Variable(tf.random_uniform([12, 6], -1.0, 1.0, seed=3))
    w, b = tf.Variable(tf.truncated_normal([12, 6], stddev=0.4, seed=4)), tf.Variable(tf.zeros([12]))
    chosen = (tf.constant([1, 5, 7], tf.int64), tf.constant([[0.3]] * 16), tf.constant([0.3, 0.2, 0.1]))
    loss = tf.reduce_mean(tf.nn.nce_loss(w, b, tf.constant(near, tf.int64), tf.nn.embedding_lookup(table, centre), 3, 12,
                                         sampled_values=chosen))
    steps("sampled", tf.train.GradientDescentOptimizer(1.0).minimize(loss), loss)


def main(_):
    for part in (softmax, mlp, cnn, lambda: recurrent("BasicLSTMCell", 6), lambda: recurrent("GRUCell", 6), queue, line, averaged,
                 towers, adversaries, sampled):
        tf.reset_default_graph()
        tf.set_random_seed(1234)
        part()
    print("done in", os.path.basename(os.getcwd()))


if __name__ == "__main__":
    tf.app.run()
