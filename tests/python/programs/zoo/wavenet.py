"""WaveNet-like: causal dilated convolutions, mu-law, fast generation with queues, tfrecord of audio, EMA, cond and assert."""
import argparse, json, os, sys, time
from datetime import datetime
import numpy as np
import tensorflow as tf
from tensorflow.python.client import timeline

tf.set_random_seed(3)
np.random.seed(3)
Q = 16


def get_arguments():
    parser = argparse.ArgumentParser(description='net')
    parser.add_argument('--batch_size', type=int, default=1)
    parser.add_argument('--dilations', type=str, default='[1, 2, 4]')
    parser.add_argument('--optimizer', type=str, default='adam', choices=['adam', 'sgd', 'rmsprop'])
    return parser.parse_args()


optimizer_factory = {'adam': lambda lr, m: tf.train.AdamOptimizer(learning_rate=lr, epsilon=1e-4),
                     'sgd': lambda lr, m: tf.train.MomentumOptimizer(learning_rate=lr, momentum=m),
                     'rmsprop': lambda lr, m: tf.train.RMSPropOptimizer(learning_rate=lr, momentum=m, epsilon=1e-5)}


def mu_law_encode(audio, channels):
    with tf.name_scope('encode'):
        mu = tf.to_float(channels - 1)
        safe = tf.minimum(tf.abs(audio), 1.0)
        magnitude = tf.log1p(mu * safe) / tf.log1p(mu)
        return tf.to_int32((tf.sign(audio) * magnitude + 1) / 2 * mu + 0.5)


def mu_law_decode(output, channels):
    with tf.name_scope('decode'):
        mu = channels - 1
        signal = 2 * (tf.to_float(output) / mu) - 1
        return tf.sign(signal) * ((1 / mu) * ((1 + mu) ** abs(signal) - 1))


def time_to_batch(value, dilation):
    with tf.name_scope('time_to_batch'):
        shape = tf.shape(value)
        pad = dilation - 1 - (shape[1] + dilation - 1) % dilation
        padded = tf.pad(value, [[0, 0], [0, pad], [0, 0]])
        return tf.reshape(tf.transpose(tf.reshape(padded, [-1, dilation, shape[2]]), perm=[1, 0, 2]), [shape[0] * dilation, -1, shape[2]])


def batch_to_time(value, dilation):
    with tf.name_scope('batch_to_time'):
        shape = tf.shape(value)
        prepared = tf.transpose(tf.reshape(value, [dilation, -1, shape[2]]), perm=[1, 0, 2])
        return tf.reshape(prepared, [tf.div(shape[0], dilation), -1, shape[2]])


def causal_conv(value, filter_, dilation, name='causal_conv'):
    with tf.name_scope(name):
        width = tf.shape(filter_)[0]
        if dilation > 1:
            restored = batch_to_time(tf.nn.conv1d(time_to_batch(value, dilation), filter_, stride=1, padding='VALID'), dilation)
        else:
            restored = tf.nn.conv1d(value, filter_, stride=1, padding='VALID')
        return tf.slice(restored, [0, 0, 0], [-1, tf.shape(value)[1] - (width - 1) * dilation, -1])


def create_variable(name, shape):
    return tf.Variable(tf.glorot_uniform_initializer()(shape=shape), name=name)


args = get_arguments()
dilations = json.loads(args.dilations)
variables = {}
with tf.variable_scope('wavenet'):
    variables['causal'] = create_variable('filter', [2, Q, 8])
    for i, d in enumerate(dilations):
        variables['f%d' % i], variables['g%d' % i] = create_variable('f', [2, 8, 8]), create_variable('g', [2, 8, 8])
        variables['d%d' % i], variables['s%d' % i] = create_variable('dense', [1, 8, 8]), create_variable('skip', [1, 8, 12])
    variables['post'] = create_variable('post', [1, 12, Q])


def network(onehot):
    current = causal_conv(onehot, variables['causal'], 1)
    total = tf.shape(onehot)[1] - sum(dilations) - 1
    outs = []
    for i, d in enumerate(dilations):
        gated = tf.tanh(causal_conv(current, variables['f%d' % i], d)) * tf.sigmoid(causal_conv(current, variables['g%d' % i], d))
        skip = tf.slice(gated, [0, tf.shape(gated)[1] - total, 0], [-1, -1, -1])
        outs.append(tf.nn.conv1d(skip, variables['s%d' % i], 1, 'SAME'))
        transformed = tf.nn.conv1d(gated, variables['d%d' % i], stride=1, padding='SAME')
        current = tf.slice(current, [0, tf.shape(current)[1] - tf.shape(transformed)[1], 0], [-1, -1, -1]) + transformed
    return tf.nn.conv1d(tf.nn.relu(sum(outs)), variables['post'], stride=1, padding='SAME')


queue = tf.PaddingFIFOQueue(32, ['float32'], shapes=[(None, 1)])
sample = tf.placeholder(dtype=tf.float32, shape=None)
enqueue = queue.enqueue([sample])
audio = queue.dequeue_many(args.batch_size)
encoded = tf.squeeze(mu_law_encode(audio, Q), [2])
onehot = tf.one_hot(encoded, depth=Q, dtype=tf.float32)
with tf.control_dependencies([tf.assert_greater(tf.shape(onehot)[1], 10, message='too short'), tf.Assert(tf.reduce_all(encoded < Q), [encoded])]):
    onehot = tf.identity(onehot)
logits = network(onehot[:, :-1])
labels = tf.slice(onehot, [0, tf.shape(onehot)[1] - tf.shape(logits)[1], 0], [-1, -1, -1])
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=tf.reshape(logits, [-1, Q]), labels=tf.reshape(labels, [-1, Q])))
loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.name])
optim = optimizer_factory[args.optimizer](1e-2, 0.9).minimize(loss, var_list=tf.trainable_variables())
decoded = mu_law_decode(tf.argmax(logits, 2), Q)
q = tf.FIFOQueue(4, dtypes=tf.float32, shapes=(1, 8), name='generator')
init_q = q.enqueue_many(tf.zeros((4, 1, 8)))
state = q.dequeue()
push = q.enqueue([state + 1])
with tf.control_dependencies([push]):
    shown = tf.identity(state)
    left = q.size()
branch = tf.cond(tf.less(tf.reduce_mean(shown), 0.5), lambda: tf.constant('low'), lambda: tf.string_join(['hi', 'gh'], '-'))
case = tf.case([(tf.equal(left, 4), lambda: tf.constant(1)), (tf.equal(left, 3), lambda: tf.constant(2))], default=lambda: tf.constant(3))
sess = tf.Session(config=tf.ConfigProto(log_device_placement=False))
sess.run(tf.global_variables_initializer())
saver = tf.train.Saver(var_list=tf.trainable_variables(), max_to_keep=2)
run_options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
for step in range(41):
    n = 60 + step % 7
    t = np.arange(n) / 6.0
    sess.run(enqueue, {sample: (0.8 * np.sin(t))[:, None]})
    if step == 20:
        meta = tf.RunMetadata()
        l, _ = sess.run([loss, optim], options=run_options, run_metadata=meta)
        tl = timeline.Timeline(meta.step_stats)
        trace = json.loads(tl.generate_chrome_trace_format(show_memory=False))
        print(sorted(trace), len(trace['traceEvents']) > 20)
    else:
        l, _ = sess.run([loss, optim])
    if step % 10 == 0:
        print('step {:d} - loss = {:.3f}'.format(step, l))
sess.run(init_q)
print([sess.run(shown).mean() for _ in range(6)], sess.run([branch, case]))
sess.run(enqueue, {sample: np.zeros([5, 1])})
try:
    sess.run(loss)
except tf.errors.InvalidArgumentError as e:
    print('refused', 'too short' in str(e))
path = saver.save(sess, 'wave/model' if os.path.isdir('wave') or not os.makedirs('wave') else '', global_step=3)
print(path, sorted(os.listdir('wave')))
sess.run(enqueue, {sample: np.zeros([30, 1])})
print(sess.run(decoded).shape, queue.name.startswith('padding_fifo_queue'), queue.shapes)
