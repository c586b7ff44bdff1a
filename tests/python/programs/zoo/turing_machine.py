"""A Neural Turing Machine cell as a user's RNNCell with a nested state, unrolled and dynamic."""

import collections
import numpy as np
import tensorflow as tf

NTMState = collections.namedtuple("NTMState", ("controller_state", "read_vector_list", "w_list", "M"))


class NTMCell(tf.nn.rnn_cell.RNNCell):
    def __init__(
        self, controller_layers, units, memory_size, vec_dim, heads=1, shift_range=1, output_dim=None, reuse=False
    ):
        super(NTMCell, self).__init__(_reuse=reuse)
        self.N, self.D, self.heads, self.shift, self.out = memory_size, vec_dim, heads, shift_range, output_dim

        def single_cell(n):
            return tf.nn.rnn_cell.BasicLSTMCell(n, forget_bias=1.0)

        self.controller = tf.nn.rnn_cell.MultiRNNCell([single_cell(units) for _ in range(controller_layers)])

    @property
    def state_size(self):
        return NTMState(
            self.controller.state_size,
            [self.D] * self.heads,
            [self.N] * (2 * self.heads),
            tf.TensorShape([self.N, self.D]),
        )

    @property
    def output_size(self):
        return self.out

    def zero_state(self, batch_size, dtype):
        with tf.variable_scope("init", reuse=tf.AUTO_REUSE):
            reads = [
                tf.tile(
                    tf.expand_dims(
                        tf.tanh(
                            tf.get_variable(
                                "r_%d" % i, [self.D], initializer=tf.random_normal_initializer(stddev=0.5, seed=i)
                            )
                        ),
                        0,
                    ),
                    [batch_size, 1],
                )
                for i in range(self.heads)
            ]
            ws = [
                tf.tile(
                    tf.expand_dims(
                        tf.nn.softmax(
                            tf.get_variable(
                                "w_%d" % i, [self.N], initializer=tf.random_normal_initializer(stddev=0.5, seed=i + 9)
                            )
                        ),
                        0,
                    ),
                    [batch_size, 1],
                )
                for i in range(2 * self.heads)
            ]
            M = tf.fill([batch_size, self.N, self.D], 1e-6)
        return NTMState(self.controller.zero_state(batch_size, dtype), reads, ws, M)

    def call(self, x, prev_state):
        prev_reads = prev_state.read_vector_list
        controller_input = tf.concat([x] + list(prev_reads), axis=1)
        with tf.variable_scope("controller"):
            out, cstate = self.controller(controller_input, prev_state.controller_state)
        per_head = self.D + 1 + 1 + (2 * self.shift + 1) + 1
        with tf.variable_scope("o2p"):
            params = tf.layers.dense(
                out,
                per_head * 2 * self.heads + self.D * 2 * self.heads,
                kernel_initializer=tf.glorot_normal_initializer(seed=7),
            )
        heads = tf.split(params[:, : per_head * 2 * self.heads], 2 * self.heads, axis=1)
        erase_add = tf.split(params[:, per_head * 2 * self.heads :], 2 * self.heads, axis=1)
        M, w_list = prev_state.M, []
        for i, p in enumerate(heads):
            k = tf.tanh(p[:, 0 : self.D])
            beta = tf.nn.softplus(p[:, self.D])
            g = tf.sigmoid(p[:, self.D + 1])
            s = tf.nn.softmax(p[:, self.D + 2 : self.D + 2 + (self.shift * 2 + 1)])
            gamma = tf.nn.softplus(p[:, -1]) + 1
            w_list.append(self.addressing(k, beta, g, s, gamma, M, prev_state.w_list[i]))
        reads = [tf.reduce_sum(tf.expand_dims(w, 2) * M, axis=1) for w in w_list[: self.heads]]
        for i in range(self.heads):
            w = tf.expand_dims(w_list[self.heads + i], axis=2)
            erase = tf.expand_dims(tf.sigmoid(erase_add[i * 2]), axis=1)
            add = tf.expand_dims(tf.tanh(erase_add[i * 2 + 1]), axis=1)
            M = M * (
                tf.ones(M.get_shape() if M.shape.is_fully_defined() else tf.shape(M)) - tf.matmul(w, erase)
            ) + tf.matmul(w, add)
        with tf.variable_scope("o2o"):
            y = tf.layers.dense(
                tf.concat([out] + reads, axis=1), self.out, kernel_initializer=tf.glorot_normal_initializer(seed=8)
            )
        return tf.clip_by_value(y, -20, 20), NTMState(cstate, reads, w_list, M)

    def addressing(self, k, beta, g, s, gamma, M, prev_w):
        k = tf.expand_dims(k, axis=2)
        inner = tf.matmul(M, k)
        k_norm = tf.sqrt(tf.reduce_sum(tf.square(k), axis=1, keep_dims=True))
        M_norm = tf.sqrt(tf.reduce_sum(tf.square(M), axis=2, keep_dims=True))
        K = tf.squeeze(inner / (M_norm * k_norm + 1e-8), [2])
        K_amp = tf.exp(tf.expand_dims(beta, axis=1) * K)
        w_c = K_amp / tf.reduce_sum(K_amp, axis=1, keep_dims=True)
        g = tf.expand_dims(g, axis=1)
        w_g = g * w_c + (1 - g) * prev_w
        s = tf.concat(
            [s[:, : self.shift + 1], tf.zeros([tf.shape(s)[0], self.N - (self.shift * 2 + 1)]), s[:, -self.shift :]],
            axis=1,
        )
        t = tf.concat([tf.reverse(s, axis=[1]), tf.reverse(s, axis=[1])], axis=1)
        s_matrix = tf.stack([t[:, self.N - i - 1 : self.N * 2 - i - 1] for i in range(self.N)], axis=1)
        w_ = tf.reduce_sum(tf.expand_dims(w_g, axis=1) * s_matrix, axis=2)
        w_sharpen = tf.pow(w_, tf.expand_dims(gamma, axis=1))
        return w_sharpen / tf.reduce_sum(w_sharpen, axis=1, keep_dims=True)


def run(dynamic):
    tf.reset_default_graph()
    tf.set_random_seed(6)
    x = tf.placeholder(tf.float32, [4, 7, 5])
    y = tf.placeholder(tf.float32, [4, 7, 5])
    cell = NTMCell(2, 12, 8, 6, output_dim=5)
    init = cell.zero_state(4, tf.float32)
    with tf.variable_scope("root", initializer=tf.random_uniform_initializer(-0.2, 0.2, seed=3)):
        if dynamic:
            out, final = tf.nn.dynamic_rnn(cell, x, initial_state=init, time_major=False)
        else:
            outs, final = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), initial_state=init)
            out = tf.stack(outs, axis=1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=out))
    opt = tf.train.RMSPropOptimizer(1e-3, momentum=0.9, decay=0.95)
    tv = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, tv), 50)
    train = opt.apply_gradients(zip(grads, tv))
    print(out.shape, type(final).__name__, final.M.shape, len(tv))
    for v in tv:
        print("  ", v.op.name, v.shape)
    rng = np.random.RandomState(0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(6):
            d = (rng.rand(4, 7, 5) > 0.5).astype("f")
            l, n, m, _ = sess.run([loss, norm, final.M, train], {x: d, y: d})
            print("%.5f %.5f %.5f" % (l, n, np.abs(m).sum()))


run(False)
run(True)
