"""Convolutions over words for sentence classification (after the 2015 text CNN), with checkpoints and summaries."""
import os
import re

import numpy as np
import tensorflow as tf

tf.flags.DEFINE_integer("embedding_dim", 12, "Dimensionality of word embedding")
tf.flags.DEFINE_string("filter_sizes", "2,3", "Comma-separated filter sizes")
tf.flags.DEFINE_integer("num_filters", 6, "Number of filters per filter size")
tf.flags.DEFINE_float("dropout_keep_prob", 0.8, "Dropout keep probability")
tf.flags.DEFINE_float("l2_reg_lambda", 0.01, "L2 regularization lambda")
tf.flags.DEFINE_integer("evaluate_every", 10, "Evaluate after this many steps")
tf.flags.DEFINE_boolean("allow_soft_placement", True, "Allow device soft device placement")
tf.flags.DEFINE_boolean("log_device_placement", False, "Log placement of ops on devices")
FLAGS = tf.flags.FLAGS

GOOD = "a fine warm film|great fun and great heart|truly fine acting|warm funny and smart|a great smart story"
BAD = "a dull cold film|bad jokes and bad pace|truly poor acting|cold slow and flat|a poor flat story"


def clean_str(string):
    return re.sub(r"\s{2,}", " ", re.sub(r"[^a-z]", " ", string)).strip().lower()


def load():
    texts = [clean_str(s) for s in (GOOD + "|" + BAD).split("|")]
    words = sorted({w for t in texts for w in t.split()})
    index = {w: i + 1 for i, w in enumerate(words)}
    length = max(len(t.split()) for t in texts)
    x = np.array([[index[w] for w in t.split()] + [0] * (length - len(t.split())) for t in texts])
    y = np.array([[0, 1]] * 5 + [[1, 0]] * 5)
    return x, y, len(words) + 1


class TextCNN(object):
    def __init__(self, sequence_length, num_classes, vocab_size, embedding_size, filter_sizes, num_filters, l2):
        self.input_x = tf.placeholder(tf.int32, [None, sequence_length], name="input_x")
        self.input_y = tf.placeholder(tf.float32, [None, num_classes], name="input_y")
        self.dropout_keep_prob = tf.placeholder(tf.float32, name="dropout_keep_prob")
        l2_loss = tf.constant(0.0)
        with tf.device("/cpu:0"), tf.name_scope("embedding"):
            self.W = tf.Variable(tf.random_uniform([vocab_size, embedding_size], -1.0, 1.0, seed=3), name="W")
            chars = tf.nn.embedding_lookup(self.W, self.input_x)
            expanded = tf.expand_dims(chars, -1)
        pooled = []
        for i, size in enumerate(filter_sizes):
            with tf.name_scope("conv-maxpool-%s" % size):
                W = tf.Variable(tf.truncated_normal([size, embedding_size, 1, num_filters], stddev=0.1, seed=i), name="W")
                b = tf.Variable(tf.constant(0.1, shape=[num_filters]), name="b")
                conv = tf.nn.conv2d(expanded, W, strides=[1, 1, 1, 1], padding="VALID", name="conv")
                h = tf.nn.relu(tf.nn.bias_add(conv, b), name="relu")
                pooled.append(tf.nn.max_pool(h, ksize=[1, sequence_length - size + 1, 1, 1], strides=[1, 1, 1, 1],
                                             padding="VALID", name="pool"))
        total = num_filters * len(filter_sizes)
        flat = tf.reshape(tf.concat(pooled, 3), [-1, total])
        with tf.name_scope("dropout"):
            drop = tf.nn.dropout(flat, self.dropout_keep_prob, seed=5)
        with tf.name_scope("output"):
            W = tf.get_variable("W", shape=[total, num_classes], initializer=tf.glorot_uniform_initializer(seed=7))
            b = tf.Variable(tf.constant(0.1, shape=[num_classes]), name="b")
            l2_loss += tf.nn.l2_loss(W)
            l2_loss += tf.nn.l2_loss(b)
            self.scores = tf.nn.xw_plus_b(drop, W, b, name="scores")
            self.predictions = tf.argmax(self.scores, 1, name="predictions")
        with tf.name_scope("loss"):
            losses = tf.nn.softmax_cross_entropy_with_logits(logits=self.scores, labels=self.input_y)
            self.loss = tf.reduce_mean(losses) + l2 * l2_loss
        with tf.name_scope("accuracy"):
            correct = tf.equal(self.predictions, tf.argmax(self.input_y, 1))
            self.accuracy = tf.reduce_mean(tf.cast(correct, "float"), name="accuracy")


def main(argv=None):
    x, y, vocabulary = load()
    with tf.Graph().as_default():
        conf = tf.ConfigProto(allow_soft_placement=FLAGS.allow_soft_placement,
                              log_device_placement=FLAGS.log_device_placement)
        sess = tf.Session(config=conf)
        with sess.as_default():
            cnn = TextCNN(x.shape[1], 2, vocabulary, FLAGS.embedding_dim,
                          list(map(int, FLAGS.filter_sizes.split(","))), FLAGS.num_filters, FLAGS.l2_reg_lambda)
            global_step = tf.Variable(0, name="global_step", trainable=False)
            optimizer = tf.train.AdamOptimizer(1e-2)
            grads_and_vars = optimizer.compute_gradients(cnn.loss)
            train_op = optimizer.apply_gradients(grads_and_vars, global_step=global_step)
            grad_summaries = []
            for g, v in grads_and_vars:
                if g is not None:
                    g = g.values if isinstance(g, tf.IndexedSlices) else g
                    grad_summaries.append(tf.summary.histogram("{}/grad/hist".format(v.op.name), g))
                    grad_summaries.append(tf.summary.scalar("{}/grad/sparsity".format(v.op.name), tf.nn.zero_fraction(g)))
            merged = tf.summary.merge(grad_summaries + [tf.summary.scalar("loss", cnn.loss)])
            writer = tf.summary.FileWriter(os.path.join("runs", "train"), sess.graph)
            saver = tf.train.Saver(tf.global_variables(), max_to_keep=2)
            sess.run(tf.global_variables_initializer())
            for _ in range(30):
                feed = {cnn.input_x: x, cnn.input_y: y, cnn.dropout_keep_prob: FLAGS.dropout_keep_prob}
                _, step, summary, loss, accuracy = sess.run([train_op, global_step, merged, cnn.loss, cnn.accuracy], feed)
                writer.add_summary(summary, step)
                current = tf.train.global_step(sess, global_step)
                if current % FLAGS.evaluate_every == 0:
                    feed[cnn.dropout_keep_prob] = 1.0
                    loss, accuracy = sess.run([cnn.loss, cnn.accuracy], feed)
                    print("step {}, loss {:.5f}, acc {:.2f}".format(step, loss, accuracy))
                    path = saver.save(sess, os.path.join("checkpoints", "model"), global_step=current)
                    print("Saved model checkpoint to {}".format(path))
        file = tf.train.latest_checkpoint("checkpoints")
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph("{}.meta".format(file))
        saver.restore(sess, file)
        input_x = graph.get_operation_by_name("input_x").outputs[0]
        keep = graph.get_operation_by_name("dropout_keep_prob").outputs[0]
        predictions = graph.get_operation_by_name("output/predictions").outputs[0]
        print("predicted", sess.run(predictions, {input_x: x, keep: 1.0}).tolist())


if __name__ == "__main__":
    tf.app.run()
