"""A program of 2017 in Python 2: letters from letters, two LSTMs with dropout, states carried from batch to batch."""
import argparse
import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import legacy_seq2seq
from tensorflow.contrib import rnn

TEXT = "the cat sat on the mat. the dog sat on the log. " * 30


class Model():
    def __init__(self, args, training=True):
        batch, length = (args.batch, args.length) if training else (1, 1)
        cells = []
        for _ in xrange(args.layers):
            cell = rnn.BasicLSTMCell(args.units)
            if training and args.keep < 1.0:
                cell = rnn.DropoutWrapper(cell, output_keep_prob=args.keep)
            cells.append(cell)
        self.cell = rnn.MultiRNNCell(cells, state_is_tuple=True)
        self.x = tf.placeholder(tf.int32, [batch, length])
        self.y = tf.placeholder(tf.int32, [batch, length])
        self.start = self.cell.zero_state(batch, tf.float32)
        with tf.variable_scope('rnnlm'):
            w = tf.get_variable("softmax_w", [args.units, args.letters])
            b = tf.get_variable("softmax_b", [args.letters])
        table = tf.get_variable("embedding", [args.letters, args.units])
        outputs, self.last = tf.nn.dynamic_rnn(self.cell, tf.nn.embedding_lookup(table, self.x), initial_state=self.start)
        logits = tf.matmul(tf.reshape(outputs, [-1, args.units]), w) + b
        self.probs = tf.nn.softmax(logits)
        loss = legacy_seq2seq.sequence_loss_by_example([logits], [tf.reshape(self.y, [-1])], [tf.ones([batch * length])])
        self.cost = tf.reduce_sum(loss) / batch / length
        self.rate = tf.Variable(0.0, trainable=False)
        weights = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.cost, weights, colocate_gradients_with_ops=True), 5.)
        self.train_op = tf.train.AdamOptimizer(self.rate).apply_gradients(zip(grads, weights))
        tf.summary.histogram('logits', logits)
        tf.summary.scalar('train_loss', self.cost)

    def sample(self, sess, letters, index, count=20, said='the '):
        state = sess.run(self.cell.zero_state(1, tf.float32))
        for letter in said[:-1]:
            state = sess.run([self.last], {self.x: [[index[letter]]], self.start: state})[0]
        for _ in range(count):
            probs, state = sess.run([self.probs, self.last], {self.x: [[index[said[-1]]]], self.start: state})
            said += letters[int(np.argmax(probs[0]))]
        return said


def train(args, ids, folder):
    model = Model(args)
    count = ids.size / (args.batch * args.length)
    ids = ids[:count * args.batch * args.length]
    xs = np.split(ids.reshape(args.batch, -1), count, 1)
    ys = np.split(np.roll(ids, -1).reshape(args.batch, -1), count, 1)
    with tf.Session() as sess:
        summaries = tf.summary.merge_all()
        writer = tf.summary.FileWriter(folder)
        writer.add_graph(sess.graph)
        sess.run(tf.global_variables_initializer())
        for epoch in range(6):
            sess.run(tf.assign(model.rate, 0.02 * (0.97 ** epoch)))
            state = sess.run(model.start)
            for i in range(count):
                feed = {model.x: xs[i], model.y: ys[i]}
                for at, (c, h) in enumerate(model.start):
                    feed[c] = state[at].c
                    feed[h] = state[at].h
                summary, cost, state, _ = sess.run([summaries, model.cost, model.last, model.train_op], feed)
                writer.add_summary(summary, epoch * count + i)
            print "epoch {}, train_loss = {:.3f}".format(epoch, cost)
        tf.train.Saver(tf.global_variables()).save(sess, os.path.join(folder, 'model.ckpt'), global_step=epoch)


def main():
    parser = argparse.ArgumentParser()
    for name, value in dict(units=24, layers=2, batch=10, length=12, keep=0.9).iteritems():
        parser.add_argument('--' + name, type=type(value), default=value)
    args = parser.parse_args()
    letters = sorted(set(TEXT))
    index = dict(zip(letters, range(len(letters))))
    args.letters = len(letters)
    tf.set_random_seed(1)
    train(args, np.array(map(index.get, TEXT)), 'letters')
    tf.reset_default_graph()
    model = Model(args, training=False)
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        found = tf.train.get_checkpoint_state('letters')
        if found and found.model_checkpoint_path:
            tf.train.Saver(tf.global_variables()).restore(sess, found.model_checkpoint_path)
            print model.sample(sess, letters, index)


main()
