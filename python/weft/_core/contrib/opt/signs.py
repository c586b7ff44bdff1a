"""AddSign and PowerSign of tf.contrib.opt, whose steps are longer where gradient and momentum have the same sign."""
import math

import weft as tf
from weft._core.train.library_updates import LibraryUpdates


class _SignOptimizer(tf.train.Optimizer):
    """The base of both: a slot m, and a factor from the signs, which a function of the global step can decay."""

    _OP = None

    def __init__(self, learning_rate, beta, sign_decay_fn, use_locking, name):
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        self._sign_decay_t = None
        if self._sign_decay_fn is not None:
            self._sign_decay_t = tf.convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self):
        self._lr_t = tf.convert_to_tensor(self._call_if_callable(self._lr), name="learning_rate")
        self._beta_t = tf.convert_to_tensor(self._beta, name="beta")
        self._other_t = tf.convert_to_tensor(self._other, name=self._OTHER)
        if self._sign_decay_t is None:
            self._sign_decay_t = tf.convert_to_tensor(1.0, name="sign_decay")

    def _numbers(self, var):
        kind = var.dtype.base_dtype
        return [tf.cast(x, kind) for x in (self._lr_t, self._other_t, self._sign_decay_t, self._beta_t)]

    def _dense(self, grad, var):
        lr, other, decay, beta = self._numbers(var)
        return LibraryUpdates._apply_op(self, self._OP, var, {"m": self.get_slot(var, "m")}, lr=lr, sign_decay=decay, beta=beta,
                                        grad=grad, **{self._OTHER: other})

    def _apply_dense(self, grad, var):
        return self._dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        return self._dense(grad, var)

    def _rows(self, grad, var, indices):
        lr, other, decay, beta = self._numbers(var)
        m = self.get_slot(var, "m")
        dense = tf.convert_to_tensor(tf.IndexedSlices(grad, indices, tf.shape(var)))
        moved = m.assign(m * beta + dense * (1 - beta), use_locking=self._use_locking)
        with tf.control_dependencies([moved]):
            same = decay * tf.gather(tf.sign(m.read_value()), indices) * tf.sign(grad)
        return tf.group(moved, tf.scatter_sub(var, indices, lr * self._multiplier(other, same) * grad, use_locking=self._use_locking))

    def _apply_sparse(self, grad, var):
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._rows(grad, var, indices)


class AddSignOptimizer(_SignOptimizer):
    """Takes steps of (alpha + sign(gradient) sign(momentum)) times the gradient."""

    _OP, _OTHER = "ApplyAddSign", "alpha"

    def __init__(self, learning_rate=0.1, alpha=1.0, beta=0.9, sign_decay_fn=None, use_locking=False, name="AddSignOptimizer"):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = self._other = alpha

    @staticmethod
    def _multiplier(alpha, same):
        return alpha + same


class PowerSignOptimizer(_SignOptimizer):
    """Takes steps of base ** (sign(gradient) sign(momentum)) times the gradient."""

    _OP, _OTHER = "ApplyPowerSign", "logbase"

    def __init__(self, learning_rate=0.1, base=math.e, beta=0.9, sign_decay_fn=None, use_locking=False, name="PowerSignOptimizer"):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = self._other = math.log(base)

    @staticmethod
    def _multiplier(logbase, same):
        return tf.pow(tf.constant(math.e, same.dtype), logbase * same)


# ---- decay of the sign factor ----

def _positive(decay_steps):
    if decay_steps < 1:
        raise ValueError("decay_steps must be at least 1: %s" % decay_steps)
    return float(decay_steps)


def _cut(decayed, share, zero_after):
    return decayed if zero_after is None else tf.where(tf.greater_equal(share, zero_after), tf.zeros_like(decayed), decayed)


def get_linear_decay_fn(decay_steps):
    """Returns a function of the global step that falls from one to zero."""
    steps = _positive(decay_steps)
    return lambda global_step: tf.maximum(0.0, (steps - tf.cast(global_step, tf.float32)) / steps)


def get_cosine_decay_fn(decay_steps, num_periods=0.5, zero_after=None):
    """Returns a function of the global step that falls along a cosine."""
    steps = _positive(decay_steps)

    def decay(global_step):
        share = tf.minimum(tf.cast(global_step, tf.float32) / steps, 1.0)
        return _cut(0.5 * (1.0 + tf.cos(math.pi * 2.0 * num_periods * share)), share * num_periods, zero_after)
    return decay


def get_restart_decay_fn(decay_steps, num_periods=1, zero_after=None):
    """Returns a function of the global step that falls along half a cosine, again and again."""
    steps = _positive(decay_steps)

    def decay(global_step):
        done = tf.minimum(tf.cast(global_step, tf.float32) / steps, 1.0) * num_periods
        return _cut(0.5 * (1.0 + tf.cos(math.pi * tf.mod(done, 1.0))), done, zero_after)
    return decay
