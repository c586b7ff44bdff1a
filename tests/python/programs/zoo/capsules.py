"""Capsules with dynamic routing: tile, while_loop, stop_gradient, margin loss, masked reconstruction."""

import numpy as np
import tensorflow as tf

epsilon = 1e-9
np.random.seed(0)
tf.set_random_seed(42)


def squash(vector, axis=-2):
    vec_squared_norm = tf.reduce_sum(tf.square(vector), axis, keep_dims=True)
    scalar_factor = vec_squared_norm / (1 + vec_squared_norm) / tf.sqrt(vec_squared_norm + epsilon)
    return scalar_factor * vector


def routing(input, b_IJ, iters, num_out, dim_out):
    W = tf.get_variable(
        "Weight",
        shape=(1, input.shape[1].value, num_out * dim_out, input.shape[-2].value, 1),
        dtype=tf.float32,
        initializer=tf.random_normal_initializer(stddev=0.1),
    )
    biases = tf.get_variable("bias", shape=(1, 1, num_out, dim_out, 1))
    input = tf.tile(input, [1, 1, num_out * dim_out, 1, 1])
    u_hat = tf.reduce_sum(W * input, axis=3, keep_dims=True)
    u_hat = tf.reshape(u_hat, shape=[-1, input.shape[1].value, num_out, dim_out, 1])
    u_hat_stopped = tf.stop_gradient(u_hat, name="stop_gradient")
    for r_iter in range(iters):
        with tf.variable_scope("iter_" + str(r_iter)):
            c_IJ = tf.nn.softmax(b_IJ, dim=2)
            if r_iter == iters - 1:
                s_J = tf.reduce_sum(tf.multiply(c_IJ, u_hat), axis=1, keep_dims=True) + biases
                v_J = squash(s_J)
            else:
                s_J = tf.reduce_sum(tf.multiply(c_IJ, u_hat_stopped), axis=1, keep_dims=True) + biases
                v_J = squash(s_J)
                v_J_tiled = tf.tile(v_J, [1, input.shape[1].value, 1, 1, 1])
                b_IJ += tf.reduce_sum(u_hat_stopped * v_J_tiled, axis=3, keep_dims=True)
    return v_J


def routing_loop(u_hat, iters):
    b = tf.zeros([tf.shape(u_hat)[0], u_hat.shape[1].value, u_hat.shape[2].value, 1, 1])

    def body(i, b, v):
        c = tf.nn.softmax(b, axis=2)
        v = squash(tf.reduce_sum(c * u_hat, axis=1, keepdims=True))
        agreement = tf.reduce_sum(u_hat * tf.tile(v, [1, u_hat.shape[1].value, 1, 1, 1]), axis=3, keepdims=True)
        return tf.add(i, 1), b + agreement, v

    v0 = tf.zeros_like(tf.reduce_sum(u_hat, axis=1, keepdims=True))
    return tf.while_loop(lambda i, b, v: tf.less(i, iters), body, [tf.constant(1), b, v0])[2]


X = tf.placeholder(tf.float32, [6, 12, 12, 1])
labels = tf.placeholder(tf.int32, [6])
Y = tf.one_hot(labels, depth=3, axis=1, dtype=tf.float32)
with tf.variable_scope("Conv1_layer"):
    conv1 = tf.layers.conv2d(X, 8, 5, 1, padding="VALID", activation=tf.nn.relu)
with tf.variable_scope("PrimaryCaps_layer"):
    caps = tf.layers.conv2d(conv1, 16, 4, 2, activation=tf.nn.relu, padding="VALID")
    caps = squash(tf.reshape(caps, (6, -1, 8, 1)))
print(conv1.get_shape(), caps.get_shape().as_list())
with tf.variable_scope("DigitCaps_layer"):
    with tf.variable_scope("routing"):
        b_IJ = tf.constant(np.zeros([6, caps.shape[1].value, 3, 1, 1], dtype=np.float32))
        digit = routing(tf.reshape(caps, shape=(6, -1, 1, caps.shape[-2].value, 1)), b_IJ, 3, 3, 4)
        digit = tf.squeeze(digit, axis=1)
with tf.variable_scope("Masking"):
    v_length = tf.sqrt(tf.reduce_sum(tf.square(digit), axis=2, keep_dims=True) + epsilon)
    softmax_v = tf.nn.softmax(v_length, dim=1)
    argmax_idx = tf.reshape(tf.to_int32(tf.argmax(softmax_v, axis=1)), shape=(6,))
    masked_v = tf.multiply(tf.squeeze(digit), tf.reshape(Y, (-1, 3, 1)))
    v_length = tf.sqrt(tf.reduce_sum(tf.square(digit), axis=2, keep_dims=True) + epsilon)
with tf.variable_scope("Decoder"):
    fc = tf.layers.dense(tf.reshape(masked_v, (6, -1)), 20, tf.nn.relu)
    decoded = tf.layers.dense(fc, 144, tf.sigmoid)
max_l = tf.square(tf.maximum(0.0, 0.9 - v_length))
max_r = tf.square(tf.maximum(0.0, v_length - 0.1))
L_c = Y * tf.reshape(max_l, (6, -1)) + 0.5 * (1 - Y) * tf.reshape(max_r, (6, -1))
margin = tf.reduce_mean(tf.reduce_sum(L_c, axis=1))
recon = tf.reduce_mean(tf.square(decoded - tf.reshape(X, (6, -1))))
total = margin + 0.392 * recon
gs = tf.Variable(0, name="global_step", trainable=False)
opt = tf.train.AdamOptimizer()
train = opt.minimize(total, global_step=gs)
acc = tf.reduce_sum(tf.cast(tf.equal(tf.to_int32(labels), argmax_idx), tf.float32))
u = tf.get_variable("u", [2, 5, 3, 4, 1], initializer=tf.random_normal_initializer(seed=3))
looped = routing_loop(u, 4)
gu = tf.gradients(tf.reduce_sum(tf.square(looped)), u)[0]
print([(v.name, v.shape.as_list()) for v in tf.trainable_variables()])
print(digit.name, argmax_idx.name, total.name, opt.get_slot_names(), opt.get_name())
rng = np.random.RandomState(1)
lab = np.array([0, 1, 2, 0, 1, 2])
img = rng.rand(6, 12, 12, 1) * 0.2
for i, l in enumerate(lab):
    img[i, l * 4 : l * 4 + 4, :, 0] += 0.8
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for s in range(13):
        m, r, a, _, step = sess.run([margin, recon, acc, train, gs], {X: img, labels: lab})
        if s % 4 == 0:
            print("step %d margin %.5f recon %.5f acc %.2f" % (step, m, r, a / 6))
    l, g = sess.run([looped, gu])
    print(l.shape, "%.5f %.5f" % (np.abs(l).sum(), np.abs(g).sum()))
