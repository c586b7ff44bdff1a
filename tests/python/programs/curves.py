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


def main(_):
    for part in (softmax, mlp, cnn, lambda: recurrent("BasicLSTMCell", 6), lambda: recurrent("GRUCell", 6), queue):
        tf.reset_default_graph()
        tf.set_random_seed(1234)
        part()
    print("done in", os.path.basename(os.getcwd()))


if __name__ == "__main__":
    tf.app.run()
