"""Pointer network with a custom cell, raw_rnn, TensorArrays, scan and map_fn, as of 2017."""
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import rnn_cell_impl, array_ops, math_ops, tensor_array_ops, control_flow_ops
from tensorflow.python.util import nest
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.layers.core import Dense

tf.set_random_seed(7)
rng = np.random.RandomState(7)
B, T, H = 4, 5, 6


class MinimalGRU(tf.nn.rnn_cell.RNNCell):
    """Forget gate only; peeks at a memory by attention."""
    def __init__(self, num_units, memory, lengths, reuse=None, name=None):
        super(MinimalGRU, self).__init__(_reuse=reuse, name=name)
        self._num_units, self._memory = num_units, memory
        self._mask = tf.sequence_mask(lengths, tf.shape(memory)[1], dtype=tf.float32)

    @property
    def state_size(self):
        return (self._num_units, tf.TensorShape([T]))

    @property
    def output_size(self):
        return T

    def call(self, inputs, state):
        h, _ = state
        with tf.variable_scope('gate'):
            f = tf.sigmoid(tf.layers.dense(tf.concat([inputs, h], 1), self._num_units, name='f', kernel_initializer=tf.orthogonal_initializer()))
            cand = tf.tanh(tf.layers.dense(tf.concat([inputs, f * h], 1), self._num_units, name='c'))
        new_h = (1 - f) * h + f * cand
        with tf.variable_scope('pointer'):
            v = tf.get_variable('v', [self._num_units], initializer=tf.random_normal_initializer(stddev=0.3))
            q = tf.layers.dense(new_h, self._num_units, use_bias=False, name='q')
            scores = tf.reduce_sum(v * tf.tanh(self._memory + tf.expand_dims(q, 1)), 2)
            scores += (1 - self._mask) * -1e9
        align = tf.nn.softmax(scores)
        return scores, (new_h, align)

    def zero_state(self, batch_size, dtype):
        with ops.name_scope(type(self).__name__ + 'ZeroState', values=[batch_size]):
            return nest.map_structure(lambda s: array_ops.zeros([batch_size] + (s.as_list() if isinstance(s, tf.TensorShape) else [s]), dtype),
                                      self.state_size)


inputs = tf.placeholder(tf.float32, [None, T, 1], name='inputs')
targets = tf.placeholder(tf.int32, [None, T], name='targets')
lengths = tf.placeholder(tf.int32, [None], name='lengths')
batch = tf.shape(inputs)[0]
with tf.variable_scope('encoder', initializer=tf.glorot_uniform_initializer()):
    fw, bw = tf.nn.rnn_cell.GRUCell(H // 2), tf.nn.rnn_cell.GRUCell(H // 2)
    (of, ob), states = tf.nn.bidirectional_dynamic_rnn(fw, bw, inputs, lengths, dtype=tf.float32)
    memory = tf.concat([of, ob], 2)
cell = MinimalGRU(H, memory, lengths)
with tf.variable_scope('decoder'):
    emit_inputs = tensor_array_ops.TensorArray(dtypes.float32, T, clear_after_read=False).unstack(tf.transpose(inputs, [1, 0, 2]))

    def loop_fn(time, cell_output, cell_state, loop_state):
        emit_output = cell_output
        if cell_output is None:
            next_state = cell.zero_state(batch, tf.float32)
            next_input = tf.zeros([batch, 1])
            next_loop = tf.TensorArray(tf.int32, T)
        else:
            next_state = cell_state
            picked = tf.argmax(cell_state[1], 1, output_type=tf.int32)
            next_loop = loop_state.write(time - 1, picked)
            next_input = tf.batch_gather(inputs, tf.expand_dims(picked, 1))[:, 0]
        finished = time >= lengths
        return finished, next_input, next_state, emit_output, next_loop

    outputs_ta, final_state, picks = tf.nn.raw_rnn(cell, loop_fn)
logits = tf.transpose(outputs_ta.stack(), [1, 0, 2])
picks = tf.transpose(picks.stack(), [1, 0])
steps = tf.shape(logits)[1]
weights = tf.sequence_mask(lengths, steps, dtype=tf.float32)
xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets[:, :steps], logits=logits)
loss = tf.div(tf.reduce_sum(xent * weights), tf.reduce_sum(weights), name='loss')
opt = tf.train.RMSPropOptimizer(0.02, momentum=0.5, centered=True)
gv = opt.compute_gradients(loss)
clipped, norm = tf.clip_by_global_norm([g for g, _ in gv], 1.0)
train = opt.apply_gradients(zip(clipped, [v for _, v in gv]), global_step=tf.train.get_or_create_global_step())
cum = tf.scan(lambda a, x: a * 0.5 + x, tf.transpose(inputs[:, :, 0]), initializer=tf.zeros([batch]))
fold = tf.foldr(lambda a, x: tf.maximum(a, x), tf.transpose(inputs[:, :, 0]))
mapped = tf.map_fn(lambda p: (p[0] * 2, tf.reduce_sum(p[1])), (lengths, inputs), dtype=(tf.int32, tf.float32), parallel_iterations=3)
dense = Dense(2, use_bias=False, _reuse=None, name='probe')
probe = dense(final_state[0])


def data():
    x = rng.rand(B, T, 1).astype(np.float32)
    n = rng.randint(2, T + 1, B)
    y = np.zeros([B, T], np.int32)
    for b in range(B):
        y[b, :n[b]] = np.argsort(x[b, :n[b], 0])
    return {inputs: x, targets: y, lengths: n}


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for v in tf.trainable_variables():
        print(v.op.name, v.shape.as_list())
    for i in range(41):
        l, n, _, step = sess.run([loss, norm, train, tf.train.get_global_step()], data())
        if i % 10 == 0:
            print('step %d loss %.4f norm %.3f' % (i, l, n))
    fd = data()
    p, c, f, m, s = sess.run([picks, cum, fold, mapped, probe], fd)
    print(p.shape[0], np.round(c[-1], 3).tolist(), np.round(f, 3).tolist(), m[0].tolist(), np.round(m[1], 3).tolist(), s.shape)
    print(tf.train.global_step(sess, tf.train.get_global_step()))
