"""Matrices factored, inverted, solved."""
import numpy as np

from machine import case

S = np.array([[[9, 2, 1], [2, 8, 3], [1, 3, 7]], [[5, 0, 1], [0, 6, 2], [1, 2, 4]]], np.float64)
B = np.arange(12, dtype=np.float64).reshape(2, 3, 2)


@case(nodes=False)
def matrices(tf):
    s, b = tf.constant(S), tf.constant(B)
    low = tf.cholesky(s)
    return [low, tf.linalg.cholesky(s, name="c"), tf.cholesky_solve(low, b), tf.matrix_determinant(s), tf.linalg.det(s),
            tf.matrix_inverse(s), tf.linalg.inv(s, adjoint=True), tf.matrix_triangular_solve(s, b, lower=False),
            tf.linalg.triangular_solve(s, b, adjoint=True), tf.matrix_solve(s, b), tf.linalg.solve(s, b, adjoint=True),
            tf.linalg.logdet(s), list(tf.linalg.slogdet(s)), tf.trace(s), tf.identity(tf.linalg.adjoint(s)), list(tf.qr(s))]


@case(nodes=False)
def unit_matrices(tf):
    made = [tf.eye(3), tf.eye(2, 3), tf.eye(2, batch_shape=[2], dtype=tf.float64), tf.linalg.eye(3, 2, batch_shape=[1]),
            tf.linalg.diag([1.0, 2.0]), tf.linalg.diag_part(S), tf.linalg.band_part(S, 0, -1), tf.linalg.norm(S),
            tf.matrix_set_diag(S, np.zeros((2, 3)))]
    return [tf.identity(m, name="m") for m in made]  # the nodes have later names in TensorFlow


@case
def bands(tf):
    x, m = tf.constant(np.arange(6.0).reshape(2, 3)), tf.constant(np.arange(24.0).reshape(2, 3, 4))
    return [tf.matrix_diag(x), tf.matrix_diag(x, k=1), tf.matrix_diag(x, k=-1, num_rows=4, num_cols=6, padding_value=7),
            tf.linalg.diag(tf.constant(np.arange(12.0).reshape(2, 2, 3)), k=(-1, 0), align="LEFT_LEFT"),
            tf.matrix_diag(tf.constant([True, False])), tf.matrix_diag_part(m), tf.matrix_diag_part(m, k=(-1, 2), padding_value=9),
            tf.matrix_diag_part(m, k=1, name="n"), tf.matrix_set_diag(m, tf.ones([2, 3], tf.float64)),
            tf.matrix_set_diag(m, tf.ones([2, 2], tf.float64), k=-1), tf.matrix_diag_part(m, name=None)]


@case(nodes=False)
def slopes(tf):
    s, b = tf.constant(S), tf.constant(B)
    x = tf.matrix_triangular_solve(tf.cholesky(s), b)
    loss = tf.reduce_sum(x * x) + tf.reduce_sum(tf.log(tf.matrix_determinant(s))) + tf.reduce_sum(tf.matrix_inverse(s) * s * s)
    return tf.gradients(loss, [s, b])
