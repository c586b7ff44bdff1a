"""tf.contrib.integrate: solves ordinary differential equations with fixed steps or by the Dormand-Prince method."""
import collections

import weft as tf

_ALPHA = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_BETA = ((1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9), (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
         (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656), (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
_ERROR = (1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113, 451 / 720 - 125 / 192, -12231 / 42400 + 2187 / 6784,
          649 / 6300 - 11 / 84, 1 / 60)
# The value in the middle of a step, through which the interpolating polynomial goes (Shampine).
_MIDDLE = (6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
           187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2)

_Step = collections.namedtuple("_Step", "y f t0 t1 dt coefficients")


def _combined(y0, dt, factors, slopes):
    """Returns y0 + dt * (the sum of factors times slopes)."""
    parts = [tf.cast(f * dt, y0.dtype) * k for f, k in zip(factors, slopes) if f != 0]
    return tf.add_n([y0] + parts)


def _polynomial(y0, y1, middle, f0, f1, dt):
    """Returns the coefficients, highest first, of a polynomial of degree four in the share of the step that is done."""
    dt = tf.cast(dt, y0.dtype)
    return [2 * dt * (f1 - f0) - 8 * (y1 + y0) + 16 * middle, dt * (5 * f0 - 3 * f1) + 18 * y0 + 14 * y1 - 32 * middle,
            dt * (f1 - 4 * f0) - 11 * y0 - 5 * y1 + 16 * middle, dt * f0, y0]


def _at(coefficients, share):
    made = coefficients[0]
    for c in coefficients[1:]:
        made = made * tf.cast(share, made.dtype) + c
    return made


def _next_dt(dt, ratio, safety, ifactor, dfactor):
    """Returns a step that would have had the error that is allowed."""
    least = tf.where(ratio < 1, tf.ones([], tf.float64), tf.constant(dfactor, tf.float64))
    factor = tf.maximum(1 / ifactor, tf.minimum(tf.pow(tf.maximum(ratio, 1e-30), 0.2) / safety, 1 / least))
    return dt / factor


def _dopri_step(func, state, rtol, atol, options):
    y0, f0, _, t0, dt, coefficients = state
    slopes = [f0]
    for alpha, beta in zip(_ALPHA, _BETA):
        slopes.append(tf.convert_to_tensor(func(_combined(y0, dt, beta, slopes), tf.cast(t0 + alpha * dt, tf.float64))))
    y1, f1 = _combined(y0, dt, _BETA[-1], slopes), slopes[-1]
    error = _combined(tf.zeros_like(y0), dt, _ERROR, slopes)
    allowed = tf.cast(atol + rtol * tf.cast(tf.maximum(tf.abs(y0), tf.abs(y1)), tf.float64), tf.float64)
    ratio = tf.sqrt(tf.reduce_mean(tf.square(tf.cast(tf.abs(error), tf.float64) / allowed)))
    good = ratio <= 1
    new = _polynomial(y0, y1, _combined(y0, dt, _MIDDLE, slopes), f0, f1, dt)
    kept = [tf.where(good, a, b) for a, b in zip([y1, f1] + new, [y0, f0] + list(coefficients))]
    return _Step(kept[0], kept[1], tf.where(good, t0, state.t0), tf.where(good, t0 + dt, t0),
                 _next_dt(dt, ratio, options["safety"], options["ifactor"], options["dfactor"]), tuple(kept[2:]))


def _checked(t):
    t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
    if t.shape.ndims != 1:
        raise ValueError("t must be one dimensional")
    return tf.cast(t, tf.float64)


def odeint(func, y0, t, rtol=1e-6, atol=1e-12, method=None, options=None, full_output=False, name=None):
    """Returns the solution of dy/dt = func(y, t) at the times t, from y0 at the first of them."""
    if method not in (None, "dopri5"):
        raise ValueError("invalid method: %r" % (method,))
    given = dict(first_step=0.1, safety=0.9, ifactor=10.0, dfactor=0.2, max_num_steps=1000)
    if set(options or {}) - set(given):
        raise ValueError("unknown options of odeint: %s" % sorted(set(options) - set(given)))
    given.update(options or {})
    with tf.name_scope(name, "odeint", [y0, t]):
        y0, t = tf.convert_to_tensor(y0, name="y0"), _checked(t)
        f0 = tf.convert_to_tensor(func(y0, t[0]), name="func0")
        zero = tf.zeros_like(y0)
        first = _Step(y0, f0, t[0], t[0], tf.constant(given["first_step"], tf.float64), (zero, zero, zero, zero, y0))
        count = tf.size(t)
        found = tf.TensorArray(y0.dtype, count, element_shape=y0.shape, clear_after_read=False).write(0, y0)

        def until(i, found, state, taken):
            state, taken = tf.while_loop(lambda s, n: tf.logical_and(s.t1 < t[i], n < given["max_num_steps"] * i),
                                         lambda s, n: (_dopri_step(func, s, rtol, atol, given), n + 1), (state, taken))
            check = tf.Assert(state.t1 >= t[i], ["max_num_steps exceeded at time", state.t1])
            with tf.control_dependencies([check]):
                share = (t[i] - state.t0) / (state.t1 - state.t0)
            return i + 1, found.write(i, _at(state.coefficients, share)), state, taken
        loop = tf.while_loop(lambda i, *_: i < count, until, (tf.constant(1), found, first, tf.constant(0)))
        made = loop[1].stack()
        return (made, {"num_steps": loop[3]}) if full_output else made


def _rk4(func, y, t, dt):
    h = tf.cast(dt, y.dtype)
    k1 = func(y, t)
    k2 = func(y + h * k1 / 2, t + dt / 2)
    k3 = func(y + h * k2 / 2, t + dt / 2)
    k4 = func(y + h * k3, t + dt)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _midpoint(func, y, t, dt):
    h = tf.cast(dt, y.dtype)
    return y + h * func(y + h / 2 * func(y, t), t + dt / 2)


def odeint_fixed(func, y0, t, dt=None, method="rk4", name=None):
    """Integrates with steps of dt, or from each time to the next. method is rk4 or midpoint."""
    if method not in ("rk4", "midpoint"):
        raise ValueError("method not supported: %s" % method)
    step = _rk4 if method == "rk4" else _midpoint
    with tf.name_scope(name, "odeint_fixed", [y0, t, dt]):
        y0, t = tf.convert_to_tensor(y0, name="y0"), _checked(t)
        count = tf.size(t)
        found = tf.TensorArray(y0.dtype, count, element_shape=y0.shape).write(0, y0)

        def between(i, y, found):
            gap = t[i] - t[i - 1]
            size = gap if dt is None else tf.minimum(tf.cast(dt, tf.float64), gap)

            def small(now, y):
                h = tf.minimum(size, t[i] - now)
                return tf.where(t[i] - (now + h) < 1e-12, t[i], now + h), step(func, y, now, h)
            _, y = tf.while_loop(lambda now, y: now < t[i], small, (t[i - 1], y))
            return i + 1, y, found.write(i, y)
        return tf.while_loop(lambda i, *_: i < count, between, (tf.constant(1), y0, found))[2].stack()
