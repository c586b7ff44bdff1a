"""Learns to write the words of a number backwards: an encoder in both directions, attention, and beam search.

zoo/attention_translate.py is the same model without contrib; it prints the same lines.
"""
from __future__ import print_function

import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq
from tensorflow.python.layers.core import Dense

flags = tf.app.flags
flags.DEFINE_integer("num_units", 24, "Size of the cells.")
flags.DEFINE_integer("batch_size", 32, "Rows in a batch.")
flags.DEFINE_integer("num_steps", 220, "Steps of training.")
flags.DEFINE_integer("beam_width", 3, "Beams in inference.")
flags.DEFINE_string("train_dir", "translate", "Where checkpoints go.")
FLAGS = flags.FLAGS

PAD, GO, EOS, SYMBOLS = 0, 1, 2, 9


def initializer(shape, dtype=None, partition_info=None):
    return tf.constant(np.random.RandomState(sum(shape)).uniform(-0.3, 0.3, shape), tf.float32)


class Model(object):
    def __init__(self, mode):
        self.mode = mode
        self.source = tf.placeholder(tf.int32, [None, None], name="source")
        self.source_len = tf.placeholder(tf.int32, [None], name="source_len")
        self.batch_size = tf.shape(self.source)[0]
        with tf.variable_scope("model", initializer=initializer):
            self.embedding = tf.get_variable("embedding", [SYMBOLS, 8])
            outputs, state = self.encode()
            self.decode(outputs, state)
        self.saver = tf.train.Saver(tf.global_variables())

    def encode(self):
        with tf.variable_scope("encoder"):
            inputs = tf.nn.embedding_lookup(self.embedding, self.source)
            fw = tf.contrib.rnn.LSTMCell(FLAGS.num_units // 2)
            bw = tf.contrib.rnn.LSTMCell(FLAGS.num_units // 2)
            outputs, states = tf.nn.bidirectional_dynamic_rnn(fw, bw, inputs, self.source_len, dtype=tf.float32)
            c = tf.concat([s.c for s in states], 1)
            h = tf.concat([s.h for s in states], 1)
            return tf.concat(outputs, 2), tf.contrib.rnn.LSTMStateTuple(c, h)

    def build_cell(self, memory, memory_len, state, rows):
        attention = seq2seq.BahdanauAttention(FLAGS.num_units, memory, memory_sequence_length=memory_len, normalize=True)
        cell = tf.contrib.rnn.LSTMCell(FLAGS.num_units)
        if self.mode == "train":
            cell = tf.contrib.rnn.DropoutWrapper(cell, output_keep_prob=0.95, seed=3)
        cell = seq2seq.AttentionWrapper(cell, attention, attention_layer_size=FLAGS.num_units,
                                        alignment_history=self.mode == "greedy")
        return cell, cell.zero_state(rows, tf.float32).clone(cell_state=state)

    def decode(self, memory, state):
        with tf.variable_scope("decoder") as scope:
            projection = Dense(SYMBOLS, use_bias=False, name="projection")
            memory_len, rows = self.source_len, self.batch_size
            if self.mode == "beam":
                memory = seq2seq.tile_batch(memory, multiplier=FLAGS.beam_width)
                state = seq2seq.tile_batch(state, multiplier=FLAGS.beam_width)
                memory_len = seq2seq.tile_batch(memory_len, multiplier=FLAGS.beam_width)
                rows = rows * FLAGS.beam_width
            cell, start = self.build_cell(memory, memory_len, state, rows)
            if self.mode == "train":
                self.build_loss(cell, start, projection, scope)
                return
            tokens, limit = tf.fill([self.batch_size], GO), tf.reduce_max(self.source_len) * 2
            if self.mode == "beam":
                decoder = seq2seq.BeamSearchDecoder(cell, self.embedding, tokens, EOS, start, FLAGS.beam_width, projection,
                                                    length_penalty_weight=0.6)
                outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=limit, scope=scope)
                self.ids = outputs.predicted_ids
            else:
                helper = seq2seq.GreedyEmbeddingHelper(self.embedding, tokens, EOS)
                decoder = seq2seq.BasicDecoder(cell, helper, start, output_layer=projection)
                outputs, final, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=limit, scope=scope)
                self.ids, self.alignments = outputs.sample_id, final.alignment_history.stack()

    def build_loss(self, cell, start, projection, scope):
        self.target = tf.placeholder(tf.int32, [None, None], name="target")
        self.target_len = tf.placeholder(tf.int32, [None], name="target_len")
        inputs = tf.concat([tf.fill([self.batch_size, 1], GO), self.target[:, :-1]], 1)
        helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(self.embedding, inputs), self.target_len)
        decoder = seq2seq.BasicDecoder(cell, helper, start, output_layer=projection)
        outputs, _, _ = seq2seq.dynamic_decode(decoder, impute_finished=True, scope=scope)
        weights = tf.sequence_mask(self.target_len, tf.shape(outputs.rnn_output)[1], dtype=tf.float32)
        self.loss = seq2seq.sequence_loss(outputs.rnn_output, self.target, weights)
        params = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.loss, params), 5.0)
        self.global_step = tf.train.get_or_create_global_step()
        self.train_op = tf.train.AdamOptimizer(0.01).apply_gradients(zip(gradients, params), global_step=self.global_step)


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
