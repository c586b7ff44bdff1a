"""Variational autoencoder on synthetic strokes (after the 2016 tutorials)."""
from __future__ import absolute_import, division, print_function

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("batch_size", 32, "Batch size")
flags.DEFINE_integer("latent", 4, "Size of the code")
flags.DEFINE_float("learning_rate", 3e-3, "Learning rate")
flags.DEFINE_integer("epochs", 3, "Epochs")
FLAGS = flags.FLAGS


def strokes(n, side=10):
    rng = np.random.RandomState(3)
    images = np.zeros((n, side, side), np.float32)
    for image in images:
        row, col = rng.randint(0, side - 3, 2)
        if rng.rand() < 0.5:
            image[row, col:col + 4] = 1.0
        else:
            image[row:row + 4, col] = 1.0
    return images.reshape(n, -1)


class VariationalAutoencoder(object):
    def __init__(self, n_input, n_hidden, n_z, optimizer):
        self.x = tf.placeholder(tf.float32, [None, n_input], name="x")
        with tf.variable_scope("encoder"):
            h = tf.layers.dense(self.x, n_hidden, tf.nn.softplus, kernel_initializer=tf.glorot_uniform_initializer(1))
            h = tf.layers.dense(h, n_hidden, tf.nn.softplus, kernel_initializer=tf.glorot_uniform_initializer(2))
            self.z_mean = tf.layers.dense(h, n_z, kernel_initializer=tf.glorot_uniform_initializer(3), name="mean")
            self.z_log_sigma_sq = tf.layers.dense(h, n_z, kernel_initializer=tf.zeros_initializer(), name="log_sigma")
        eps = tf.random_normal(tf.shape(self.z_mean), 0, 1, dtype=tf.float32, seed=7)
        self.z = tf.add(self.z_mean, tf.multiply(tf.sqrt(tf.exp(self.z_log_sigma_sq)), eps))
        with tf.variable_scope("decoder"):
            h = tf.layers.dense(self.z, n_hidden, tf.nn.softplus, kernel_initializer=tf.glorot_uniform_initializer(4))
            self.logits = tf.layers.dense(h, n_input, kernel_initializer=tf.glorot_uniform_initializer(5))
        self.reconstruction = tf.nn.sigmoid(self.logits)
        reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=self.x, logits=self.logits), 1)
        latent = -0.5 * tf.reduce_sum(
            1 + self.z_log_sigma_sq - tf.square(self.z_mean) - tf.exp(self.z_log_sigma_sq), 1)
        self.reconstruction_cost, self.latent_cost = tf.reduce_mean(reconstruction), tf.reduce_mean(latent)
        self.cost = self.reconstruction_cost + self.latent_cost
        tf.summary.scalar("cost", self.cost)
        self.optimizer = optimizer.minimize(self.cost)


def main(_):
    data = strokes(256)
    vae = VariationalAutoencoder(data.shape[1], 24, FLAGS.latent, tf.train.AdamOptimizer(FLAGS.learning_rate))
    merged = tf.summary.merge_all()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        writer = tf.summary.FileWriter("vae_logs", sess.graph)
        step = 0
        for epoch in range(FLAGS.epochs):
            avg_cost = 0.0
            total = data.shape[0] // FLAGS.batch_size
            for i in range(total):
                batch = data[i * FLAGS.batch_size:(i + 1) * FLAGS.batch_size]
                _, cost, summary = sess.run([vae.optimizer, vae.cost, merged], feed_dict={vae.x: batch})
                writer.add_summary(summary, step)
                step += 1
                avg_cost += cost / total
            print("Epoch: %04d cost= %.6f" % (epoch + 1, avg_cost))
        writer.close()
        r, l = sess.run([vae.reconstruction_cost, vae.latent_cost], {vae.x: data[:64]})
        print("reconstruction %.5f latent %.5f" % (r, l))
        codes = sess.run(vae.z_mean, {vae.x: data[:2]})
        print("codes", " ".join("%.4f" % c for c in codes.ravel()))
        made = sess.run(vae.reconstruction, {vae.z: np.zeros((1, FLAGS.latent), np.float32)})
        print("decoded mean %.5f" % made.mean())
        print("variables", ", ".join(v.op.name for v in tf.trainable_variables()))


if __name__ == "__main__":
    tf.app.run()
