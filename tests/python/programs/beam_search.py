"""Writes a sorted copy of a row of digits: an encoder, attention and beam search by tf.contrib.seq2seq.

zoo/beam_search.py is the same model without contrib; it prints the same lines.
"""
from __future__ import print_function

import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq
from tensorflow.python.layers.core import Dense

PAD, GO, EOS, SYMBOLS, UNITS, WIDTH, PENALTY = 0, 1, 2, 8, 20, 3, 0.6


def initializer(shape, dtype=None, partition_info=None):
    return tf.constant(np.random.RandomState(sum(shape)).uniform(-0.3, 0.3, shape), tf.float32)


class Model(object):
    def __init__(self, training):
        self.source = tf.placeholder(tf.int32, [None, None], name="source")
        self.source_len = tf.placeholder(tf.int32, [None], name="source_len")
        self.rows = tf.shape(self.source)[0]
        with tf.variable_scope("model", initializer=initializer, reuse=not training):
            self.embedding = tf.get_variable("embedding", [SYMBOLS, 6])
            inputs = tf.nn.embedding_lookup(self.embedding, self.source)
            memory, state = tf.nn.dynamic_rnn(tf.contrib.rnn.LSTMCell(UNITS), inputs, self.source_len, dtype=tf.float32)
            self.projection = Dense(SYMBOLS, use_bias=False, name="projection")
            if training:
                self.train(memory, state)
            else:
                self.search(memory, state)

    def attentive(self, memory, lengths, state, rows):
        mechanism = seq2seq.LuongAttention(UNITS, memory, memory_sequence_length=lengths)
        cell = seq2seq.AttentionWrapper(tf.contrib.rnn.LSTMCell(UNITS), mechanism, attention_layer_size=UNITS)
        return cell, cell.zero_state(rows, tf.float32).clone(cell_state=state)

    def train(self, memory, state):
        self.target = tf.placeholder(tf.int32, [None, None], name="target")
        self.target_len = tf.placeholder(tf.int32, [None], name="target_len")
        inputs = tf.concat([tf.fill([self.rows, 1], GO), self.target[:, :-1]], 1)
        helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(self.embedding, inputs), self.target_len)
        cell, start = self.attentive(memory, self.source_len, state, self.rows)
        decoder = seq2seq.BasicDecoder(cell, helper, start, output_layer=self.projection)
        outputs, _, _ = seq2seq.dynamic_decode(decoder, impute_finished=True)
        weights = tf.sequence_mask(self.target_len, tf.shape(outputs.rnn_output)[1], dtype=tf.float32)
        self.loss = seq2seq.sequence_loss(outputs.rnn_output, self.target, weights)
        params = tf.trainable_variables()
        gradients, self.norm = tf.clip_by_global_norm(tf.gradients(self.loss, params), 5.0)
        self.train_op = tf.train.AdamOptimizer(0.02).apply_gradients(zip(gradients, params))

    def search(self, memory, state):
        memory, lengths, state = seq2seq.tile_batch((memory, self.source_len, state), multiplier=WIDTH)
        cell, start = self.attentive(memory, lengths, state, self.rows * WIDTH)
        decoder = seq2seq.BeamSearchDecoder(cell, self.embedding, tf.fill([self.rows], GO), EOS, start, WIDTH,
                                            output_layer=self.projection, length_penalty_weight=PENALTY)
        outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=2 * tf.reduce_max(self.source_len))
        self.ids = tf.transpose(outputs.predicted_ids, [0, 2, 1])
        self.scores = outputs.beam_search_decoder_output.scores[:, -1]


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
        ids, scores = sess.run([searcher.ids, searcher.scores], {searcher.source: source, searcher.source_len: source_len})
    print("right:", sum(until_eos(ids[i, 0]) == until_eos(target[i]) for i in range(20)), "of 20")
    for i in range(8):
        print(source[i, :source_len[i]], "->", *["%s (%.2f)" % (until_eos(b), s) for b, s in zip(ids[i].tolist(), scores[i])])
    print(sum(int(np.prod(v.shape.as_list())) for v in tf.trainable_variables()), "parameters")


if __name__ == "__main__":
    tf.app.run()
