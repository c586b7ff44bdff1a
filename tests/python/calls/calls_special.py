"""Special functions: Bessel's, integrals, the incomplete beta function, and their slopes."""
import numpy as np

from machine import case

X = np.array([0.1, 0.7, 1.0, 1.6, 3.0, 12.0])


@case
def bessel(tf):
    s = tf.math.special
    return [s.bessel_i0(X), s.bessel_i0e(X), s.bessel_i1(X), s.bessel_i1e(X), s.bessel_j0(X), s.bessel_j1(X), s.bessel_k0(X),
            s.bessel_k0e(X), s.bessel_k1(X), s.bessel_k1e(X), s.bessel_y0(X), s.bessel_y1(X), tf.math.bessel_i0(-X),
            tf.math.bessel_i0e(-X), tf.math.bessel_i1(-X), tf.math.bessel_i1e(-X)]


@case
def integrals(tf):
    s = tf.math.special
    return [s.dawsn(X), s.expint(X), s.fresnel_cos(X), s.fresnel_sin(X), s.spence(X, name="given"), tf.betainc(X, 2.0 * X, X / 13),
            tf.math.betainc(2.0, 3.0, [0.1, 0.4])]


@case(nodes=False)
def slopes(tf):
    s, x = tf.math.special, tf.constant(X)
    made = [f(x) for f in (s.bessel_i0, s.bessel_i0e, s.bessel_i1, s.bessel_i1e, s.bessel_j0, s.bessel_j1, s.bessel_k0, s.bessel_k0e,
                           s.bessel_k1, s.bessel_k1e, s.bessel_y0, s.bessel_y1, s.dawsn, s.expint, s.fresnel_cos, s.fresnel_sin,
                           s.spence)] + [tf.betainc(x, x + 1.0, x / 13)]
    return [tf.identity(tf.gradients(y, x)[0]) for y in made]
