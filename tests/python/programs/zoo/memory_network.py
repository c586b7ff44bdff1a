"""End-to-end memory network: nil embeddings, gradient noise, add_to_collection, histograms, sonnet-less."""

import numpy as np
import tensorflow as tf


def position_encoding(sentence_size, embedding_size):
    encoding = np.ones((embedding_size, sentence_size), dtype=np.float32)
    ls, le = sentence_size + 1, embedding_size + 1
    for i in range(1, le):
        for j in range(1, ls):
            encoding[i - 1, j - 1] = (i - (embedding_size + 1) / 2) * (j - (sentence_size + 1) / 2)
    encoding = 1 + 4 * encoding / embedding_size / sentence_size
    encoding[:, -1] = 1.0
    return np.transpose(encoding)


def zero_nil_slot(t, name=None):
    with tf.name_scope(name, "zero_nil_slot", values=[t]) as name:
        t = tf.convert_to_tensor(t, name="t")
        s = tf.shape(t)[1]
        z = tf.zeros(tf.stack([1, s]))
        return tf.concat(axis=0, values=[z, tf.slice(t, [1, 0], [-1, -1])], name=name)


def add_gradient_noise(t, stddev=1e-3, name=None):
    with tf.name_scope(name, "add_gradient_noise", [t, stddev]) as name:
        t = tf.convert_to_tensor(t, name="t")
        gn = tf.random_normal(tf.shape(t), stddev=stddev)
        return tf.add(t, gn, name=name)


class MemN2N(object):
    def __init__(
        self,
        batch,
        vocab,
        sentence,
        memory,
        emb,
        hops=3,
        max_grad_norm=40.0,
        initializer=tf.random_normal_initializer(stddev=0.1),
        encoding=position_encoding,
        session=tf.Session(),
        name="MemN2N",
    ):
        self.b, self.v, self.s, self.m, self.e, self.hops, self.init, self.name = (
            batch,
            vocab,
            sentence,
            memory,
            emb,
            hops,
            initializer,
            name,
        )
        self._build_inputs()
        self._build_vars()
        self._opt = tf.train.GradientDescentOptimizer(learning_rate=self._lr)
        self._encoding = tf.constant(encoding(sentence, emb), name="encoding")
        logits = self._inference(self._stories, self._queries)
        cross_entropy = tf.nn.softmax_cross_entropy_with_logits(
            logits=logits, labels=tf.cast(self._answers, tf.float32), name="cross_entropy"
        )
        cross_entropy_sum = tf.reduce_sum(cross_entropy, name="cross_entropy_sum")
        self.loss_op = cross_entropy_sum
        grads_and_vars = self._opt.compute_gradients(self.loss_op)
        grads_and_vars = [(tf.clip_by_norm(g, max_grad_norm), v) for g, v in grads_and_vars]
        grads_and_vars = [(add_gradient_noise(g), v) for g, v in grads_and_vars]
        nil = []
        for g, v in grads_and_vars:
            nil.append((zero_nil_slot(g), v) if v.name in self._nil_vars else (g, v))
        self.train_op = self._opt.apply_gradients(nil, name="train_op")
        self.predict_op = tf.argmax(logits, 1, name="predict_op")
        self.predict_log_proba_op = tf.log(tf.nn.softmax(logits, name="predict_proba_op"), name="predict_log_proba_op")
        self.graph_output = self.loss_op
        self.sess = session
        self.sess.run(tf.global_variables_initializer())

    def _build_inputs(self):
        self._stories = tf.placeholder(tf.int32, [None, None, self.s], name="stories")
        self._queries = tf.placeholder(tf.int32, [None, self.s], name="queries")
        self._answers = tf.placeholder(tf.int32, [None, self.v], name="answers")
        self._lr = tf.placeholder(tf.float32, [], name="learning_rate")

    def _build_vars(self):
        with tf.variable_scope(self.name):
            nil_word_slot = tf.zeros([1, self.e])
            A = tf.concat(axis=0, values=[nil_word_slot, self.init([self.v - 1, self.e])])
            C = tf.concat(axis=0, values=[nil_word_slot, self.init([self.v - 1, self.e])])
            self.A_1 = tf.Variable(A, name="A")
            self.C = []
            for hopn in range(self.hops):
                with tf.variable_scope("hop_{}".format(hopn)):
                    self.C.append(tf.Variable(C, name="C"))
        self._nil_vars = set([self.A_1.name] + [x.name for x in self.C])

    def _inference(self, stories, queries):
        with tf.variable_scope(self.name):
            q_emb = tf.nn.embedding_lookup(self.A_1, queries)
            u = [tf.reduce_sum(q_emb * self._encoding, 1)]
            for hopn in range(self.hops):
                m_emb_A = tf.nn.embedding_lookup(self.A_1 if hopn == 0 else self.C[hopn - 1], stories)
                m_A = tf.reduce_sum(m_emb_A * self._encoding, 2)
                u_temp = tf.transpose(tf.expand_dims(u[-1], -1), [0, 2, 1])
                probs = tf.nn.softmax(tf.reduce_sum(m_A * u_temp, 2))
                tf.add_to_collection("probs", probs)
                probs_temp = tf.transpose(tf.expand_dims(probs, -1), [0, 2, 1])
                with tf.variable_scope("hop_{}".format(hopn)):
                    m_emb_C = tf.nn.embedding_lookup(self.C[hopn], stories)
                m_C = tf.reduce_sum(m_emb_C * self._encoding, 2)
                c_temp = tf.transpose(m_C, [0, 2, 1])
                o_k = tf.reduce_sum(c_temp * probs_temp, 2)
                u.append(u[-1] + o_k)
            with tf.variable_scope("hop_{}".format(self.hops)):
                return tf.matmul(u[-1], tf.transpose(self.C[-1], [1, 0]))


tf.set_random_seed(1234)
rng = np.random.RandomState(0)
with tf.Session() as sess:
    model = MemN2N(8, 19, 6, 5, 10, session=sess)
    print(
        [v.name for v in tf.global_variables()],
        sorted(model._nil_vars),
        model.train_op.name,
        model.predict_log_proba_op.name,
    )
    print(tf.get_collection("probs"))
    s = rng.randint(0, 19, (40, 5, 6))
    q = s[:, 2]
    a = np.eye(19, dtype=int)[s[:, 1, 0]]
    for e in range(4):
        total = 0.0
        for i in range(0, 40, 8):
            loss, _ = sess.run(
                [model.loss_op, model.train_op],
                {
                    model._stories: s[i : i + 8],
                    model._queries: q[i : i + 8],
                    model._answers: a[i : i + 8],
                    model._lr: 0.01,
                },
            )
            total += loss
        print("epoch", e, "cost %.4f" % total, "nil %.1f" % np.abs(sess.run(model.A_1)[0]).sum())
    p = sess.run([model.predict_op] + tf.get_collection("probs"), {model._stories: s, model._queries: q})
    print(p[0][:10], p[1].shape, "%.4f" % p[3].max())
