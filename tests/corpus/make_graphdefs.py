#!/usr/bin/env python3
"""Writes tests/corpus/tests.graphdef: GraphDefs as TensorFlow 1.x programs make them, small enough to mutate.

Run with TensorFlow 2.15.1; the files are committed, so that tests need no TensorFlow."""
import pathlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
OUT = pathlib.Path(__file__).parent / "tests.graphdef"


def softmax():
    x, y = tf.placeholder(tf.float32, [None, 8], "x"), tf.placeholder(tf.int32, [None], "y")
    w, b = tf.Variable(tf.zeros([8, 3]), name="w"), tf.Variable(tf.zeros([3]), name="b")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(x, w) + b))
    tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    tf.global_variables_initializer()


def mlp_adam():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        step = tf.train.get_or_create_global_step()
        x, y = tf.placeholder(tf.float32, [None, 8], "x"), tf.placeholder(tf.float32, [None, 3], "y")
        h = tf.layers.dense(x, 5, tf.nn.relu)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=tf.layers.dense(h, 3)))
        tf.train.AdamOptimizer().minimize(loss, global_step=step)


def cnn():
    x, train = tf.placeholder(tf.float32, [None, 8, 8, 1], "x"), tf.placeholder(tf.bool, [], "train")
    h = tf.layers.batch_normalization(tf.layers.conv2d(x, 2, 3, padding="same"), training=train)
    h = tf.layers.dropout(tf.layers.max_pooling2d(tf.nn.relu(h), 2, 2), training=train)
    tf.reduce_sum(tf.layers.dense(tf.layers.flatten(h), 3), name="loss")


def loop():
    x, k = tf.placeholder(tf.float32, [None, 3], "x"), tf.Variable(tf.ones([3, 3]), name="k")
    n = tf.shape(x)[0]
    source = tf.TensorArray(tf.float32, n).unstack(x)
    body = lambda i, h: (i + 1, tf.tanh(tf.matmul(tf.reshape(source.read(i), [1, 3]) + h, k)))
    _, h = tf.while_loop(lambda i, h: i < n, body, [0, tf.zeros([1, 3])])
    tf.gradients(tf.cond(tf.reduce_sum(h) > 0., lambda: h * 2., lambda: h), [k])


def pipeline():
    names = tf.train.string_input_producer(["a", "b"], num_epochs=2)
    _, value = tf.TFRecordReader().read(names)
    parsed = tf.parse_single_example(value, {"x": tf.FixedLenFeature([4], tf.float32), "y": tf.VarLenFeature(tf.int64)})
    tf.train.shuffle_batch([parsed["x"]], 2, 10, 4)


def saver():
    tf.Variable(tf.zeros([2]), name="a")
    tf.Variable(np.zeros([2], np.float64), name="b", use_resource=True)
    tf.train.Saver(sharded=True)


def functions():
    data = tf.data.Dataset.range(5).map(lambda x: x * 2).batch(2)
    tf.data.make_one_shot_iterator(data).get_next()


def every_attr():
    tf.constant([b"a", b"\xff"])
    tf.constant([1, 2, 3], tf.int64)
    tf.constant(1.5, shape=[3, 3])
    tf.constant([True, False])
    tf.constant(np.array([1 + 2j], np.complex64))
    tf.strings.split(["a b"])
    tf.quantization.fake_quant_with_min_max_args(tf.constant([1.]))
    tf.reshape(tf.constant([[1., 2.]]), [-1])[0:1]


GRAPHS = (softmax, mlp_adam, cnn, loop, pipeline, saver, functions, every_attr)

if __name__ == "__main__":
    for make in GRAPHS:
        with tf.Graph().as_default() as g:
            make()
            data = g.as_graph_def().SerializeToString(deterministic=True)
            (OUT / make.__name__).write_bytes(data)
            print(make.__name__, len(data), "bytes,", len(g.get_operations()), "nodes")
