"""Tags of words by an LSTM in both directions and a conditional random field, as the taggers of 2017 did."""
from __future__ import print_function

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.contrib.crf import crf_log_likelihood, viterbi_decode
from tensorflow.contrib.rnn import LSTMCell

TAGS = {"O": 0, "B-PER": 1, "I-PER": 2, "B-LOC": 3, "I-LOC": 4}
WORDS = ["<PAD>", "in", "lives", "and", "saw", "the"] + ["Name%d" % i for i in range(6)] + ["Town%d" % i for i in range(6)] + ["van", "new"]
WORD_IDS = dict((w, i) for i, w in enumerate(WORDS))


class BiLSTM_CRF(object):
    def __init__(self, args):
        self.args = args
        self.word_ids = tf.placeholder(tf.int32, shape=[None, None], name="word_ids")
        self.labels = tf.placeholder(tf.int32, shape=[None, None], name="labels")
        self.sequence_lengths = tf.placeholder(tf.int32, shape=[None], name="sequence_lengths")
        self.dropout_pl = tf.placeholder_with_default(1.0, shape=[], name="dropout")
        self.lookup_layer_op()
        self.biLSTM_layer_op()
        self.loss_op()
        self.trainstep_op()

    def lookup_layer_op(self):
        with tf.variable_scope("words"):
            table = tf.get_variable("_word_embeddings", [len(WORDS), 12], initializer=tf.random_uniform_initializer(-0.25, 0.25))
            word_embeddings = tf.nn.embedding_lookup(params=table, ids=self.word_ids, name="word_embeddings")
        self.word_embeddings = tf.nn.dropout(word_embeddings, self.dropout_pl)

    def biLSTM_layer_op(self):
        with tf.variable_scope("bi-lstm"):
            (output_fw, output_bw), _ = tf.nn.bidirectional_dynamic_rnn(
                cell_fw=LSTMCell(self.args.hidden_dim), cell_bw=LSTMCell(self.args.hidden_dim), inputs=self.word_embeddings,
                sequence_length=self.sequence_lengths, dtype=tf.float32)
            output = tf.nn.dropout(tf.concat([output_fw, output_bw], axis=-1), self.dropout_pl)
        with tf.variable_scope("proj"):
            W = tf.get_variable(name="W", shape=[2 * self.args.hidden_dim, len(TAGS)],
                                initializer=tf.contrib.layers.xavier_initializer(), dtype=tf.float32)
            b = tf.get_variable(name="b", shape=[len(TAGS)], initializer=tf.zeros_initializer(), dtype=tf.float32)
            s = tf.shape(output)
            pred = tf.matmul(tf.reshape(output, [-1, 2 * self.args.hidden_dim]), W) + b
            self.logits = tf.reshape(pred, [-1, s[1], len(TAGS)])

    def loss_op(self):
        log_likelihood, self.transition_params = crf_log_likelihood(inputs=self.logits, tag_indices=self.labels,
                                                                    sequence_lengths=self.sequence_lengths)
        self.loss = -tf.reduce_mean(log_likelihood)
        self.decoded, _ = tf.contrib.crf.crf_decode(self.logits, self.transition_params, self.sequence_lengths)
        tf.summary.scalar("loss", self.loss)

    def trainstep_op(self):
        with tf.variable_scope("train_step"):
            self.global_step = tf.Variable(0, name="global_step", trainable=False)
            optim = tf.contrib.opt.LazyAdamOptimizer(learning_rate=self.args.lr)
            grads_and_vars = optim.compute_gradients(self.loss)
            clipped = [[g if isinstance(g, tf.IndexedSlices) else tf.clip_by_value(g, -5.0, 5.0), v] for g, v in grads_and_vars]
            self.train_op = optim.apply_gradients(clipped, global_step=self.global_step)


def sentence(rng):
    """Names of people come before the verb and towns after "in"; either may have two words."""
    words, tags = [], []
    for kind, verb in (("PER", "lives"), ("LOC", "and")):
        if kind == "LOC":
            words.append("in")
            tags.append("O")
        if rng.rand() < 0.5:
            words.append("van" if kind == "PER" else "new")
            tags.append("B-" + kind)
        words.append(("Name%d" if kind == "PER" else "Town%d") % rng.randint(6))
        tags.append(("I-" if len(tags) and tags[-1] == "B-" + kind else "B-") + kind)
        if rng.rand() < 0.5 or kind == "PER":
            words.append(verb)
            tags.append("O")
    return [WORD_IDS[w] for w in words], [TAGS[t] for t in tags]


def padded(rows):
    lengths = [len(r) for r in rows]
    return np.array([r + [0] * (max(lengths) - len(r)) for r in rows]), lengths


def evaluate(sess, model, rows):
    words, lengths = padded([w for w, _ in rows])
    logits, transitions, decoded = sess.run([model.logits, model.transition_params, model.decoded],
                                            feed_dict={model.word_ids: words, model.sequence_lengths: lengths})
    right = total = 0
    for logit, n, best, (_, tags) in zip(logits, lengths, decoded, rows):
        viterbi_seq, _ = viterbi_decode(logit[:n], transitions)
        assert list(best[:n]) == [int(t) for t in viterbi_seq]
        right += sum(int(a) == b for a, b in zip(viterbi_seq, tags))
        total += n
    return right / float(total)


def main():
    parser = argparse.ArgumentParser(description="BiLSTM-CRF for tags")
    parser.add_argument("--epoch", type=int, default=12)
    parser.add_argument("--hidden_dim", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()
    tf.set_random_seed(2)
    rng = np.random.RandomState(2)
    train, test = [sentence(rng) for _ in range(120)], [sentence(rng) for _ in range(40)]
    model = BiLSTM_CRF(args)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print("before %.3f" % evaluate(sess, model, test))
        for epoch in range(args.epoch):
            for start in range(0, len(train), 20):
                words, lengths = padded([w for w, _ in train[start:start + 20]])
                labels, _ = padded([t for _, t in train[start:start + 20]])
                _, loss, step = sess.run([model.train_op, model.loss, model.global_step], feed_dict={
                    model.word_ids: words, model.labels: labels, model.sequence_lengths: lengths, model.dropout_pl: 0.9})
            print("epoch %d, step %d, loss: %.4f, accuracy: %.3f" % (epoch + 1, step, loss, evaluate(sess, model, test)))


if __name__ == "__main__":
    main()
