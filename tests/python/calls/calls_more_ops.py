"""Names of ops that few programs use: points of the Sobol sequence, bounded normal numbers."""
import numpy as np

from machine import case


@case()
def sobol_points(tf):
    return [tf.math.sobol_sample(3, 5), tf.math.sobol_sample(dim=2, num_results=4, skip=7, dtype=tf.float64, name="some")]


@case(nodes=False, tolerance=1e-4)
def bounded_normal_numbers(tf):
    draw = tf.random.stateless_parameterized_truncated_normal
    means = tf.constant([1.0, -1.0])
    some = draw([4, 2], [1, 2], means, [2.0, 1.0], [-1.0, 0.5], maxvals=3.0, name="some")
    return [draw(shape=[5], seed=[3, 4]), some, *tf.gradients(some, means), draw([3], np.int64([1, 2]), 0.0, 1.0, 2.0, 5.0)]
