"""Variables that somebody else reads, or whose shape changes, while steps are captured as CUDA graphs and launched.

A step's first runs on a GPU queue its kernels one by one; then they are captured.  Prints a line for each check.
"""
import threading

import numpy as np
import tensorflow as tf

RUNS = 12


def kernels(x):
    """Enough kernels for a GPU segment."""
    return tf.reduce_sum(tf.tanh(x * 0.5 + 1.0) - x / 3.0)


def kept_by_its_own_step():
    """The step fetches the value from before its own update, so the update needs another buffer in each run."""
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        v = tf.get_variable("v", initializer=tf.zeros([512]), use_resource=True)
        before = tf.identity(v.read_value())
        with tf.control_dependencies([before, kernels(before)]):
            update = tf.assign_add(v, tf.ones([512])).op
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(RUNS):
                value, _, _ = sess.run([before, kernels(before), update])
                np.testing.assert_array_equal(value, np.full(512, i, np.float32))
            np.testing.assert_array_equal(sess.run(v), np.full(512, RUNS, np.float32))


def of_another_shape():
    """Six numbers in the same buffer, first as 2 x 3 and then as 3 x 2."""
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        v = tf.Variable(np.zeros([2, 3], np.float32), validate_shape=False, trainable=False)
        given = tf.placeholder(tf.float32)
        assign = tf.assign(v, given, validate_shape=False)
        total = tf.reduce_sum(tf.exp(v * 0.5) + tf.ones_like(v), 0)
        with tf.Session() as sess:
            for shape in ([2, 3], [3, 2], [2, 3]):
                value = np.arange(6, dtype=np.float32).reshape(shape)
                sess.run(assign, {given: value})
                for _ in range(RUNS):
                    np.testing.assert_allclose(sess.run(total), (np.exp(value * 0.5) + 1).sum(0), rtol=1e-5)


def of_a_size_that_depends_on_data():
    """The feeds have one shape, but the CPU finds another number of rows in each run, which a GPU kernel reads."""
    with tf.Graph().as_default():
        mask, x = tf.placeholder(tf.bool, [8]), tf.placeholder(tf.float32, [4])
        with tf.device("/cpu:0"):
            found = tf.shape(tf.where(mask))[0]
        with tf.device("/gpu:0"):
            total = tf.reduce_sum(tf.tanh(tf.fill([found], 2.0)) * 3.0) + kernels(x)
            kept = kernels(x)
        with tf.Session() as sess:
            for count in (3, 3, 3, 3, 3, 5, 2, 3, 8, 8, 8, 1):
                sum_, base = sess.run([total, kept], {mask: np.arange(8) < count, x: np.ones(4)})
                np.testing.assert_allclose(sum_ - base, count * 3 * np.tanh(2.0), rtol=1e-5)


def read_by_another_thread():
    """A new shape of the feed is a new capture; another thread reads the variable all the time."""
    with tf.Graph().as_default(), tf.device("/gpu:0"):
        v = tf.Variable(tf.zeros([64]))
        x = tf.placeholder(tf.float32, [None])
        with tf.control_dependencies([kernels(x)]):
            update = tf.assign_add(v, tf.ones([64]) + 0.0 * tf.reduce_sum(x)).op
        over, read = threading.Event(), []
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())

            def read_all_the_time():
                while not over.is_set():
                    read.append(sess.run(v))

            reader = threading.Thread(target=read_all_the_time)
            reader.start()
            try:
                for n in range(1, 41):
                    for _ in range(8):
                        sess.run(update, {x: np.ones(n, np.float32)})
            finally:
                over.set()
                reader.join()
            np.testing.assert_array_equal(sess.run(v), np.full(64, 320, np.float32))
            assert all((r == r[0]).all() for r in read) and all(a[0] <= b[0] for a, b in zip(read, read[1:]))


kept_by_its_own_step()
print("kept by its own step: right")
of_another_shape()
print("of another shape: right")
read_by_another_thread()
print("read by another thread: right")
of_a_size_that_depends_on_data()
print("of a size that depends on data: right")
