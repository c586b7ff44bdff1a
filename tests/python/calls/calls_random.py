"""Gamma and Poisson numbers: the same ones, for the same seeds."""
import numpy as np

from machine import case


@case
def gammas(tf):
    return [tf.random_gamma([2, 4], [0.5, 2.0, 7.0], beta=2.0, seed=4),
            tf.random_gamma(shape=[3], alpha=3.0, seed=1, name="g"), tf.random.gamma([5], 0.3, dtype=tf.float64)]


@case(nodes=False)
def slope_of_gammas(tf):
    alpha = tf.constant([0.5, 2.0, 7.0])
    return tf.gradients(tf.random_gamma([2, 4], alpha, beta=2.0, seed=4), alpha)


@case
def poissons(tf):
    return [tf.random_poisson([3.0, 40.0], [5], seed=4), tf.random.poisson(np.float64(2.5), shape=[7], dtype=tf.int32, seed=3)]


@case(nodes=False)
def stateless(tf):
    made = [tf.random.stateless_uniform([5], [1, 2]), tf.random.stateless_uniform([3, 2], seed=[7, -4], minval=-1.0, maxval=3.0),
            tf.random.stateless_uniform([6], [1, 2], minval=-5, maxval=90, dtype=tf.int32),
            tf.random.stateless_normal([5], [3, 4], mean=1.0, stddev=0.5, dtype=tf.float64),
            tf.random.stateless_truncated_normal([9], seed=[5, 6])]
    return [tf.identity(m, name="m") for m in made]  # TensorFlow draws by later ops
