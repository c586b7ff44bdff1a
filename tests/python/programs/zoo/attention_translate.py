"""Learns to write the words of a number backwards: an encoder in both directions, attention, and beam search by hand.

programs/attention_translate.py is the same model with tf.contrib.seq2seq, which TensorFlow 2 lacks; it prints the same lines.
"""
from __future__ import print_function

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("num_units", 24, "Size of the cells.")
flags.DEFINE_integer("batch_size", 32, "Rows in a batch.")
flags.DEFINE_integer("num_steps", 220, "Steps of training.")
flags.DEFINE_integer("beam_width", 3, "Beams in inference.")
flags.DEFINE_string("train_dir", "translate", "Where checkpoints go.")
FLAGS = flags.FLAGS

PAD, GO, EOS, SYMBOLS, PENALTY = 0, 1, 2, 9, 0.6


def initializer(shape, dtype=None, partition_info=None):
    return tf.constant(np.random.RandomState(sum(shape)).uniform(-0.3, 0.3, shape), tf.float32)


class AttentiveCell(tf.nn.rnn_cell.RNNCell):
    """An LSTM with Bahdanau's attention, whose vector is normalized; its input has what it read last."""

    def __init__(self, units, memory, lengths, dropout):
        super(AttentiveCell, self).__init__()
        self.units = units
        mask = tf.sequence_mask(lengths, tf.shape(memory)[1], tf.float32)
        self.values = memory * tf.expand_dims(mask, 2)
        self.outside = tf.log(mask)
        self.keys = tf.layers.dense(self.values, units, use_bias=False, name="memory_layer")
        self.v = tf.get_variable("attention_v", [units])
        self.g = tf.get_variable("attention_g", [], initializer=tf.constant_initializer((1.0 / units) ** 0.5))
        self.b = tf.get_variable("attention_b", [units], initializer=tf.zeros_initializer())
        self.cell = tf.nn.rnn_cell.LSTMCell(units)
        if dropout:
            self.cell = tf.nn.rnn_cell.DropoutWrapper(self.cell, output_keep_prob=0.95, seed=3)

    @property
    def state_size(self):
        return (self.cell.state_size, self.units)

    @property
    def output_size(self):
        return self.units

    def attend(self, output):
        query = tf.layers.dense(output, self.units, use_bias=False, name="query_layer")
        v = self.g * self.v * tf.rsqrt(tf.reduce_sum(tf.square(self.v)))
        score = tf.reduce_sum(v * tf.tanh(self.keys + tf.expand_dims(query, 1) + self.b), 2)
        alignments = tf.nn.softmax(score + self.outside)
        context = tf.reduce_sum(tf.expand_dims(alignments, 2) * self.values, 1)
        return tf.layers.dense(tf.concat([output, context], 1), self.units, use_bias=False, name="attention_layer"), alignments

    def call(self, inputs, state):
        before, attention = state
        output, after = self.cell(tf.concat([inputs, attention], 1), before)
        attention, self.alignments = self.attend(output)
        return attention, (after, attention)


class Model(object):
    def __init__(self, mode):
        self.mode = mode
        self.source = tf.placeholder(tf.int32, [None, None], name="source")
        self.source_len = tf.placeholder(tf.int32, [None], name="source_len")
        self.batch_size = tf.shape(self.source)[0]
        self.limit = tf.reduce_max(self.source_len) * 2
        with tf.variable_scope("model", initializer=initializer):
            self.embedding = tf.get_variable("embedding", [SYMBOLS, 8])
            memory, state = self.encode()
            with tf.variable_scope("decoder"):
                {"train": self.build_loss, "greedy": self.build_greedy, "beam": self.build_beams}[mode](memory, state)
        self.saver = tf.train.Saver(tf.global_variables())

    def encode(self):
        with tf.variable_scope("encoder"):
            inputs = tf.nn.embedding_lookup(self.embedding, self.source)
            fw = tf.nn.rnn_cell.LSTMCell(FLAGS.num_units // 2)
            bw = tf.nn.rnn_cell.LSTMCell(FLAGS.num_units // 2)
            outputs, states = tf.nn.bidirectional_dynamic_rnn(fw, bw, inputs, self.source_len, dtype=tf.float32)
            c = tf.concat([s.c for s in states], 1)
            h = tf.concat([s.h for s in states], 1)
            return tf.concat(outputs, 2), tf.nn.rnn_cell.LSTMStateTuple(c, h)

    def build_loss(self, memory, state):
        self.target = tf.placeholder(tf.int32, [None, None], name="target")
        self.target_len = tf.placeholder(tf.int32, [None], name="target_len")
        cell = AttentiveCell(FLAGS.num_units, memory, self.source_len, True)
        inputs = tf.concat([tf.fill([self.batch_size, 1], GO), self.target[:, :-1]], 1)
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(self.embedding, inputs), self.target_len,
                                       initial_state=(state, tf.zeros([self.batch_size, FLAGS.num_units])),
                                       parallel_iterations=1)  # so that the dropout of the steps is drawn in order
        logits = tf.layers.dense(outputs, SYMBOLS, use_bias=False, name="projection")
        weights = tf.sequence_mask(self.target_len, tf.shape(logits)[1], dtype=tf.float32)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.target, logits=logits)
        self.loss = tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)
        params = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.loss, params), 5.0)
        self.global_step = tf.train.get_or_create_global_step()
        self.train_op = tf.train.AdamOptimizer(0.01).apply_gradients(zip(gradients, params), global_step=self.global_step)

    def build_greedy(self, memory, state):
        cell = AttentiveCell(FLAGS.num_units, memory, self.source_len, False)
        projection = tf.layers.Dense(SYMBOLS, use_bias=False, name="projection", _scope="projection")
        written = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        read = tf.TensorArray(tf.float32, 0, dynamic_size=True)

        def step(time, ids, finished, state, attention, written, read):
            with tf.variable_scope("rnn"):
                output, (state, attention) = cell(tf.nn.embedding_lookup(self.embedding, ids), (state, attention))
            ids = tf.argmax(projection(output), 1, output_type=tf.int32)
            return (time + 1, ids, tf.logical_or(finished, tf.equal(ids, EOS)), state, attention, written.write(time, ids),
                    read.write(time, cell.alignments))
        done = tf.while_loop(
            lambda time, ids, finished, *rest: tf.logical_and(time < self.limit, tf.logical_not(tf.reduce_all(finished))), step,
            (0, tf.fill([self.batch_size], GO), tf.fill([self.batch_size], False), state,
             tf.zeros([self.batch_size, FLAGS.num_units]), written, read), back_prop=False)
        self.ids, self.alignments = tf.transpose(done[5].stack()), done[6].stack()

    def build_beams(self, memory, state):
        width, units = FLAGS.beam_width, FLAGS.num_units
        rows = self.batch_size

        def tile(x):
            tiled = tf.tile(tf.expand_dims(x, 1), [1, width] + [1] * (x.shape.ndims - 1))
            return tf.reshape(tiled, tf.concat([[rows * width], tf.shape(x)[1:]], 0))

        def pick(x, places):
            return tf.reshape(tf.gather(tf.reshape(x, tf.concat([[-1], tf.shape(x)[2:]], 0)), places), tf.shape(x))
        state = tf.nn.rnn_cell.LSTMStateTuple(*[tf.reshape(tile(x), [-1, units]) for x in state])
        cell = AttentiveCell(units, tf.reshape(tile(memory), [rows * width, -1, units]), tile(self.source_len), False)
        projection = tf.layers.Dense(SYMBOLS, use_bias=False, name="projection", _scope="projection")
        first = tf.one_hot(tf.zeros([rows], tf.int32), width)  # at the start the beams are equal: only one counts
        ended_row = np.full([SYMBOLS], np.finfo(np.float32).min, np.float32)
        ended_row[EOS] = 0.0

        def step(time, ids, written, total, finished, lengths, state, attention):
            with tf.variable_scope("rnn"):
                inputs = tf.nn.embedding_lookup(self.embedding, tf.reshape(ids, [-1]))
                output, (state, attention) = cell(inputs, (state, attention))
            probs = tf.nn.log_softmax(tf.reshape(projection(output), [rows, width, SYMBOLS]))
            mask = tf.tile(tf.expand_dims(finished, 2), [1, 1, SYMBOLS])
            probs = tf.where(mask, tf.zeros_like(probs) + ended_row, probs) + tf.expand_dims(total, 2)
            counts = tf.cast(tf.expand_dims(tf.logical_not(finished), 2), tf.float32) * (np.arange(SYMBOLS) != EOS)
            penalty = (5.0 + tf.expand_dims(lengths, 2) + counts) ** PENALTY / 6.0 ** PENALTY
            _, best = tf.nn.top_k(tf.reshape(probs / penalty, [rows, -1]), width)
            ids, parents = tf.mod(best, SYMBOLS), tf.floordiv(best, SYMBOLS)
            offset = tf.expand_dims(tf.range(rows) * width, 1)
            places = tf.reshape(parents + offset, [-1])
            total = tf.gather(tf.reshape(probs, [-1]), best + offset * SYMBOLS)
            was = pick(finished, places)
            lengths = pick(lengths, places) + tf.cast(tf.logical_not(was), tf.float32)
            written = tf.concat([pick(written, places), tf.expand_dims(ids, 2)], 2)
            state = tf.nn.rnn_cell.LSTMStateTuple(*[tf.gather(x, places) for x in state])
            return time + 1, ids, written, total, tf.logical_or(was, tf.equal(ids, EOS)), lengths, state, tf.gather(attention, places)
        start = (tf.constant(0), tf.fill([rows, width], GO), tf.zeros([rows, width, 0], tf.int32), tf.log(first),
                 tf.equal(first, 0.0), tf.zeros([rows, width]), state, tf.zeros([rows * width, units]))
        unknown, vectors = tf.TensorShape([None, None]), tf.TensorShape([None, units])
        done = tf.while_loop(
            lambda time, ids, written, total, finished, *rest: tf.logical_and(time < self.limit, tf.logical_not(tf.reduce_all(finished))),
            step, start, back_prop=False,
            shape_invariants=(tf.TensorShape([]), unknown, tf.TensorShape([None, None, None]), unknown, unknown, unknown,
                              tf.nn.rnn_cell.LSTMStateTuple(vectors, vectors), vectors))
        self.ids = tf.transpose(done[2], [0, 2, 1])


def batch(rng, rows):
    lengths = rng.randint(2, 6, rows)
    source = np.zeros((rows, lengths.max()), np.int32)
    target = np.zeros((rows, lengths.max() + 1), np.int32)
    for i, n in enumerate(lengths):
        source[i, :n] = rng.randint(3, SYMBOLS, n)
        target[i, :n + 1] = list(source[i, :n][::-1]) + [EOS]
    return source, lengths, target, lengths + 1


def until_eos(ids):
    ids = list(ids)
    return ids[:ids.index(EOS)] if EOS in ids else ids


def main(_):
    rng = np.random.RandomState(1)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        model = Model("train")
        sess.run(tf.global_variables_initializer())
        for step in range(FLAGS.num_steps):
            source, source_len, target, target_len = batch(rng, FLAGS.batch_size)
            feed = {model.source: source, model.source_len: source_len, model.target: target, model.target_len: target_len}
            loss, _ = sess.run([model.loss, model.train_op], feed)
            if step % 20 == 0:
                print("step %d loss %.3f" % (step, loss))
        path = model.saver.save(sess, FLAGS.train_dir + "/model", global_step=model.global_step)
        print("saved", path, len(tf.trainable_variables()), "variables")
    source, source_len, target, _ = batch(rng, 50)
    for mode in ("greedy", "beam"):
        with tf.Graph().as_default(), tf.Session() as sess:
            model = Model(mode)
            model.saver.restore(sess, tf.train.latest_checkpoint(FLAGS.train_dir))
            feed = {model.source: source, model.source_len: source_len}
            ids = sess.run(model.ids, feed)
            if mode == "greedy":
                print("alignments", sess.run(model.alignments, feed).shape[1:])
            best = ids[:, :, 0] if mode == "beam" else ids
            right = sum(until_eos(best[i]) == until_eos(target[i]) for i in range(50))
            print("%s: %d of 50 right" % (mode, right))
            for i in range(5):
                print(source[i, :source_len[i]], "->", until_eos(best[i].tolist()))


if __name__ == "__main__":
    tf.app.run()
