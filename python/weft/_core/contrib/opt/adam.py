"""Variants of Adam in tf.contrib.opt."""
import weft as tf


class _AdamRows(tf.train.AdamOptimizer):
    """The base of Adam variants in Python, with one function for sparse updates of both kinds of variables."""

    _KIND = None

    def _apply_sparse(self, grad, var):
        return self._step_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._step_rows(grad, var, indices)

    def _put(self, slot, indices, rows):
        """Returns the op that writes rows of a slot."""
        return tf.scatter_update(slot, indices, rows, use_locking=self._use_locking)

    def _take(self, var, indices, rows):
        return tf.scatter_sub(var, indices, rows, use_locking=self._use_locking)


class LazyAdamOptimizer(_AdamRows):
    """Adam that updates the averages of a row only if the row has a gradient."""

    def _step_rows(self, grad, var, indices):
        power1, power2, lr, beta1, beta2, epsilon = self._numbers(var)
        lr = lr * tf.sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        new_v = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        kept = [self._put(m, indices, new_m), self._put(v, indices, new_v)]
        return tf.group(self._take(var, indices, lr * new_m / (tf.sqrt(new_v) + epsilon)), *kept)


class _FromStep:
    """The base of optimizers that compute powers of beta1 and beta2 from the global step, without variables."""

    def _use_step(self, global_step):
        self._global_step, self._global_step_on_worker = global_step, None

    def _get_beta_accumulators(self):
        step = tf.cast(self._global_step_on_worker, tf.float32)
        return _Value(tf.pow(self._beta1_t, step)), _Value(tf.pow(self._beta2_t, step))

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        super()._prepare()
        self._global_step_on_worker = tf.identity(self._global_step) + 1

    def _finish(self, update_ops, name_scope):
        return tf.group(*update_ops, name=name_scope)


class _Value:
    """A tensor in place of a variable that is read."""

    def __init__(self, tensor):
        self._tensor = tensor

    def value(self):
        return self._tensor


class AdamGSOptimizer(_FromStep, tf.train.AdamOptimizer):
    """Adam that takes the number of steps from the global step."""

    _KIND = None

    def __init__(self, global_step=0, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._use_step(global_step)


class LazyAdamGSOptimizer(_FromStep, LazyAdamOptimizer):
    """LazyAdamOptimizer that takes the number of steps from the global step."""

    def __init__(self, global_step=0, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._use_step(global_step)


class NadamOptimizer(_AdamRows):
    """Adam with Nesterov's momentum."""

    def _dense(self, grad, var):
        power1, power2, lr, beta1, beta2, epsilon = self._numbers(var)
        return self._apply_op("ApplyAdam", var, {"m": self.get_slot(var, "m"), "v": self.get_slot(var, "v")}, beta1_power=power1,
                              beta2_power=power2, lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon, grad=grad, use_nesterov=True)

    def _apply_dense(self, grad, var):
        return self._dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        return self._dense(grad, var)

    def _step_rows(self, grad, var, indices):
        power1, power2, lr, beta1, beta2, epsilon = self._numbers(var)
        lr = lr * tf.sqrt(1 - power2) / (1 - power1)
        rows = []
        for name, beta, part in (("m", beta1, grad * (1 - beta1)), ("v", beta2, grad * grad * (1 - beta2))):
            slot = self.get_slot(var, name)
            with tf.control_dependencies([slot.assign(slot * beta, use_locking=self._use_locking)]):
                added = tf.scatter_add(slot, indices, part, use_locking=self._use_locking)
            with tf.control_dependencies([added]):
                rows.append(tf.gather(slot.read_value(), indices))
        m_bar = grad * (1 - beta1) + beta1 * rows[0]
        return tf.group(self._take(var, indices, lr * m_bar / (tf.sqrt(rows[1]) + epsilon)))


class AdaMaxOptimizer(_AdamRows):
    """Adam with the largest gradient so far in place of the mean of squares."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self):
        return self._get_non_slot_variable("beta1_power")

    def _create_slots(self, var_list):
        self._create_non_slot_variable(self._beta1, "beta1_power", min(var_list, key=lambda v: v.name))
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _numbers(self, var):
        of = (self._get_beta_accumulators().value(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return [tf.cast(x, var.dtype.base_dtype) for x in of]

    def _dense(self, grad, var):
        power1, lr, beta1, beta2, epsilon = self._numbers(var)
        return self._apply_op("ApplyAdaMax", var, {"m": self.get_slot(var, "m"), "v": self.get_slot(var, "v")}, beta1_power=power1,
                              lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon, grad=grad)

    def _apply_dense(self, grad, var):
        return self._dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        return self._dense(grad, var)

    def _step_rows(self, grad, var, indices):
        power1, lr, beta1, beta2, epsilon = self._numbers(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = tf.gather(m, indices) * beta1 + grad * (1 - beta1)
        new_v = tf.maximum(tf.gather(v, indices) * beta2, tf.abs(grad))
        kept = [self._put(m, indices, new_m), self._put(v, indices, new_v)]
        return tf.group(self._take(var, indices, lr / (1 - power1) * (new_m / (new_v + epsilon))), *kept)

    def _finish(self, update_ops, name_scope):
        power1 = self._get_beta_accumulators()
        with tf.control_dependencies(update_ops), tf.colocate_with(power1):
            update = power1.assign(power1 * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, update, name=name_scope)
