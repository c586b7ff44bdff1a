"""Writes a sorted copy of a row of digits: an encoder, attention and beam search, all written by hand in a loop.

programs/beam_search.py is the same model with tf.contrib.seq2seq, which TensorFlow 2 lacks; it prints the same lines.
"""
from __future__ import print_function

import numpy as np
import tensorflow as tf

PAD, GO, EOS, SYMBOLS, UNITS, WIDTH, PENALTY = 0, 1, 2, 8, 20, 3, 0.6


def initializer(shape, dtype=None, partition_info=None):
    return tf.constant(np.random.RandomState(sum(shape)).uniform(-0.3, 0.3, shape), tf.float32)


class AttentiveCell(tf.nn.rnn_cell.RNNCell):
    """An LSTM that reads the memory with its output (Luong's product), and whose input has what it read last."""

    def __init__(self, memory, lengths):
        super(AttentiveCell, self).__init__()
        mask = tf.sequence_mask(lengths, tf.shape(memory)[1], tf.float32)
        self.values = memory * tf.expand_dims(mask, 2)
        self.outside = tf.log(mask)
        self.keys = tf.layers.dense(self.values, UNITS, use_bias=False, name="memory_layer")
        self.cell = tf.nn.rnn_cell.LSTMCell(UNITS)

    @property
    def state_size(self):
        return (self.cell.state_size, UNITS)

    @property
    def output_size(self):
        return UNITS

    def call(self, inputs, state):
        before, attention = state
        output, after = self.cell(tf.concat([inputs, attention], 1), before)
        score = tf.reduce_sum(self.keys * tf.expand_dims(output, 1), 2) + self.outside
        context = tf.reduce_sum(tf.expand_dims(tf.nn.softmax(score), 2) * self.values, 1)
        attention = tf.layers.dense(tf.concat([output, context], 1), UNITS, use_bias=False, name="attention_layer")
        return attention, (after, attention)


class Model(object):
    def __init__(self, training):
        self.source = tf.placeholder(tf.int32, [None, None], name="source")
        self.source_len = tf.placeholder(tf.int32, [None], name="source_len")
        self.rows = tf.shape(self.source)[0]
        with tf.variable_scope("model", initializer=initializer, reuse=not training):
            self.embedding = tf.get_variable("embedding", [SYMBOLS, 6])
            inputs = tf.nn.embedding_lookup(self.embedding, self.source)
            memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(UNITS), inputs, self.source_len, dtype=tf.float32)
            with tf.variable_scope("decoder"):
                if training:
                    self.train(memory, state)
                else:
                    self.search(memory, state)

    def train(self, memory, state):
        self.target = tf.placeholder(tf.int32, [None, None], name="target")
        self.target_len = tf.placeholder(tf.int32, [None], name="target_len")
        cell = AttentiveCell(memory, self.source_len)
        inputs = tf.concat([tf.fill([self.rows, 1], GO), self.target[:, :-1]], 1)
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(self.embedding, inputs), self.target_len,
                                       initial_state=(state, tf.zeros([self.rows, UNITS])))
        logits = tf.layers.dense(outputs, SYMBOLS, use_bias=False, name="projection")
        weights = tf.sequence_mask(self.target_len, tf.shape(logits)[1], dtype=tf.float32)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.target, logits=logits)
        self.loss = tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)
        params = tf.trainable_variables()
        gradients, self.norm = tf.clip_by_global_norm(tf.gradients(self.loss, params), 5.0)
        self.train_op = tf.train.AdamOptimizer(0.02).apply_gradients(zip(gradients, params))

    def search(self, memory, state):
        def tile(x):
            return tf.reshape(tf.tile(tf.expand_dims(x, 1), [1, WIDTH] + [1] * (x.shape.ndims - 1)),
                              tf.concat([[self.rows * WIDTH], tf.shape(x)[1:]], 0))
        lengths = tile(self.source_len)
        state = tf.nn.rnn_cell.LSTMStateTuple(tf.reshape(tile(state.c), [-1, UNITS]), tf.reshape(tile(state.h), [-1, UNITS]))
        cell = AttentiveCell(tf.reshape(tile(memory), [self.rows * WIDTH, -1, UNITS]), lengths)
        projection = tf.layers.Dense(SYMBOLS, use_bias=False, name="projection", _scope="projection")
        first = tf.one_hot(tf.zeros([self.rows], tf.int32), WIDTH)  # at the start the beams are equal: only one counts
        limit = 2 * tf.reduce_max(self.source_len)
        ended_row = np.full([SYMBOLS], np.finfo(np.float32).min, np.float32)
        ended_row[EOS] = 0.0

        def pick(x, places):
            return tf.reshape(tf.gather(tf.reshape(x, tf.concat([[-1], tf.shape(x)[2:]], 0)), places), tf.shape(x))

        def step(time, ids, written, origins, total, finished, lengths, state, attention, scores):
            inputs = tf.nn.embedding_lookup(self.embedding, tf.reshape(ids, [-1]))
            with tf.variable_scope("rnn"):
                output, (state, attention) = cell(inputs, (state, attention))
            probs = tf.nn.log_softmax(tf.reshape(projection(output), [self.rows, WIDTH, SYMBOLS]))
            mask = tf.tile(tf.expand_dims(finished, 2), [1, 1, SYMBOLS])
            probs = tf.where(mask, tf.zeros_like(probs) + ended_row, probs) + tf.expand_dims(total, 2)
            counts = tf.cast(tf.expand_dims(tf.logical_not(finished), 2), tf.float32) * (np.arange(SYMBOLS) != EOS)
            penalty = (5.0 + tf.expand_dims(lengths, 2) + counts) ** PENALTY / 6.0 ** PENALTY
            scores, best = tf.nn.top_k(tf.reshape(probs / penalty, [self.rows, -1]), WIDTH)
            ids, parents = tf.mod(best, SYMBOLS), tf.floordiv(best, SYMBOLS)
            offset = tf.expand_dims(tf.range(self.rows) * WIDTH, 1)
            places = tf.reshape(parents + offset, [-1])
            total = tf.gather(tf.reshape(probs, [-1]), best + offset * SYMBOLS)
            was = pick(finished, places)
            lengths = pick(lengths, places) + tf.cast(tf.logical_not(was), tf.float32)
            written = tf.concat([written, tf.expand_dims(ids, 2)], 2)
            origins = tf.concat([origins, tf.expand_dims(parents, 2)], 2)
            state = tf.nn.rnn_cell.LSTMStateTuple(*[tf.gather(x, places) for x in state])
            return (time + 1, ids, written, origins, total, tf.logical_or(was, tf.equal(ids, EOS)), lengths, state,
                    tf.gather(attention, places), scores)

        nothing = tf.zeros([self.rows, WIDTH, 0], tf.int32)
        start = (tf.constant(0), tf.fill([self.rows, WIDTH], GO), nothing, nothing, tf.log(first),
                 tf.equal(first, 0.0), tf.zeros([self.rows, WIDTH]), state, tf.zeros([self.rows * WIDTH, UNITS]),
                 tf.zeros([self.rows, WIDTH]))
        unknown, steps = tf.TensorShape([None, None]), tf.TensorShape([None, None, None])
        shapes = (tf.TensorShape([]), unknown, steps, steps, unknown, unknown, unknown,
                  tf.nn.rnn_cell.LSTMStateTuple(*[tf.TensorShape([None, UNITS])] * 2), tf.TensorShape([None, UNITS]), unknown)
        done = tf.while_loop(lambda time, ids, written, origins, total, finished, *rest: tf.logical_and(
            time < limit, tf.logical_not(tf.reduce_all(finished))), step, start, shape_invariants=shapes, back_prop=False)
        self.found = done[2], done[3], done[6], done[-1]


def batch(rng, rows):
    lengths = rng.randint(2, 6, rows)
    source = np.zeros((rows, lengths.max()), np.int32)
    target = np.zeros((rows, lengths.max() + 1), np.int32)
    for i, n in enumerate(lengths):
        source[i, :n] = rng.randint(3, SYMBOLS, n)
        target[i, :n + 1] = sorted(source[i, :n]) + [EOS]
    return source, lengths, target, lengths + 1


def until_eos(ids):
    ids = list(ids)
    return ids[:ids.index(EOS)] if EOS in ids else ids


def backtrace(written, origins, lengths):
    """The sequence of each beam, from the last step of the longest beam of its row back through the parents."""
    found = [[[] for _ in row] for row in written]
    for i, longest in enumerate(lengths.max(1).astype(int)):
        for beam in range(WIDTH):
            at = beam
            for t in reversed(range(longest)):
                found[i][beam].insert(0, written[i, at, t])
                at = origins[i, at, t]
    return found


def main(_):
    rng = np.random.RandomState(1)
    model, searcher = Model(True), Model(False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(161):
            source, source_len, target, target_len = batch(rng, 32)
            loss, norm, _ = sess.run([model.loss, model.norm, model.train_op], {
                model.source: source, model.source_len: source_len, model.target: target, model.target_len: target_len})
            if step % 40 == 0:
                print("step %d loss %.3f" % (step, loss), "norm %.3f" % norm if step == 0 else "")
        source, source_len, target, _ = batch(rng, 20)
        written, origins, lengths, scores = sess.run(searcher.found, {
            searcher.source: source, searcher.source_len: source_len})
    ids = backtrace(written, origins, lengths)
    print("right:", sum(until_eos(ids[i][0]) == until_eos(target[i]) for i in range(20)), "of 20")
    for i in range(8):
        print(source[i, :source_len[i]], "->", *["%s (%.2f)" % (until_eos(b), s) for b, s in zip(ids[i], scores[i])])
    print(sum(int(np.prod(v.shape.as_list())) for v in tf.trainable_variables()), "parameters")


if __name__ == "__main__":
    tf.app.run()
