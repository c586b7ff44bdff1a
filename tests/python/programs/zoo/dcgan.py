"""DCGAN with batch norm, two optimizers over two variable scopes."""
import numpy as np
import tensorflow as tf

BATCH, Z, SIDE = 16, 8, 8


def lrelu(x, leak=0.2):
    return tf.maximum(x, leak * x)


class batch_norm(object):
    def __init__(self, epsilon=1e-5, momentum=0.9, name="batch_norm"):
        with tf.variable_scope(name):
            self.epsilon, self.momentum, self.name = epsilon, momentum, name

    def __call__(self, x, train=True):
        return tf.layers.batch_normalization(x, momentum=self.momentum, epsilon=self.epsilon, training=train,
                                             name=self.name)


def conv2d(x, output_dim, name, k=5, d=2, seed=0):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [k, k, x.get_shape()[-1], output_dim],
                            initializer=tf.truncated_normal_initializer(stddev=0.05, seed=seed))
        b = tf.get_variable("biases", [output_dim], initializer=tf.constant_initializer(0.0))
        conv = tf.nn.conv2d(x, w, strides=[1, d, d, 1], padding="SAME")
        return tf.reshape(tf.nn.bias_add(conv, b), [-1] + conv.get_shape().as_list()[1:])


def deconv2d(x, output_shape, name, k=5, d=2, seed=0):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [k, k, output_shape[-1], x.get_shape()[-1]],
                            initializer=tf.random_normal_initializer(stddev=0.05, seed=seed))
        b = tf.get_variable("biases", [output_shape[-1]], initializer=tf.constant_initializer(0.0))
        deconv = tf.nn.conv2d_transpose(x, w, output_shape=output_shape, strides=[1, d, d, 1])
        return tf.nn.bias_add(deconv, b)


def generator(z, train=True, reuse=False):
    with tf.variable_scope("generator", reuse=reuse):
        h = tf.layers.dense(z, 2 * 2 * 16, kernel_initializer=tf.random_normal_initializer(stddev=0.1, seed=1))
        h = tf.nn.relu(batch_norm(name="g_bn0")(tf.reshape(h, [-1, 2, 2, 16]), train))
        h = tf.nn.relu(batch_norm(name="g_bn1")(deconv2d(h, [BATCH, 4, 4, 8], "g_h1", seed=2), train))
        return tf.nn.tanh(deconv2d(h, [BATCH, SIDE, SIDE, 1], "g_h2", seed=3))


def discriminator(image, reuse=False):
    with tf.variable_scope("discriminator") as scope:
        if reuse:
            scope.reuse_variables()
        h = lrelu(conv2d(image, 8, "d_h0_conv", seed=4))
        h = lrelu(batch_norm(name="d_bn1")(conv2d(h, 16, "d_h1_conv", seed=5)))
        logits = tf.layers.dense(tf.contrib.layers.flatten(h) if hasattr(tf, "contrib") else tf.layers.flatten(h), 1,
                                 kernel_initializer=tf.random_normal_initializer(stddev=0.1, seed=6))
        return tf.nn.sigmoid(logits), logits


def main():
    rng = np.random.RandomState(0)
    images = tf.placeholder(tf.float32, [BATCH, SIDE, SIDE, 1], name="real_images")
    z = tf.placeholder(tf.float32, [None, Z], name="z")
    G = generator(z)
    D, D_logits = discriminator(images)
    D_, D_logits_ = discriminator(G, reuse=True)
    sampler = generator(z, train=False, reuse=True)
    ce = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss_real = tf.reduce_mean(ce(logits=D_logits, labels=tf.ones_like(D)))
    d_loss_fake = tf.reduce_mean(ce(logits=D_logits_, labels=tf.zeros_like(D_)))
    g_loss = tf.reduce_mean(ce(logits=D_logits_, labels=tf.ones_like(D_)))
    d_loss = d_loss_real + d_loss_fake
    t_vars = tf.trainable_variables()
    d_vars = [v for v in t_vars if "discriminator" in v.name]
    g_vars = [v for v in t_vars if "generator" in v.name]
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        d_optim = tf.train.AdamOptimizer(2e-3, beta1=0.5).minimize(d_loss, var_list=d_vars)
        g_optim = tf.train.AdamOptimizer(2e-3, beta1=0.5).minimize(g_loss, var_list=g_vars)
    saver = tf.train.Saver(max_to_keep=1)
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        for step in range(8):
            real = np.tanh(rng.randn(BATCH, SIDE, SIDE, 1)).astype(np.float32)
            noise = rng.uniform(-1, 1, [BATCH, Z]).astype(np.float32)
            sess.run(d_optim, feed_dict={images: real, z: noise})
            sess.run(g_optim, feed_dict={images: real, z: noise})
            sess.run(g_optim, feed_dict={images: real, z: noise})
            errD = d_loss_fake.eval({z: noise}) + d_loss_real.eval({images: real})
            errG = g_loss.eval({z: noise})
            print("step %2d d_loss: %.4f, g_loss: %.4f" % (step, errD, errG))
        made = sess.run(sampler, {z: noise})
        print("samples %.4f %.4f" % (made.mean(), made.std()))
        path = saver.save(sess, "dcgan_ckpt/DCGAN.model", global_step=8)
        print(path, len(d_vars), len(g_vars), sorted(v.name for v in tf.global_variables() if "moving" in v.name))


main()
