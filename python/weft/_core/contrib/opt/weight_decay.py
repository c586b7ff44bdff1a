"""Optimizers of tf.contrib.opt with decoupled weight decay, apart from the gradient (Loshchilov and Hutter)."""
import weft as tf


class DecoupledWeightDecayExtension:
    """A base class placed before an optimizer: each update first subtracts weight_decay times the variable."""

    _KIND = None  # Python makes the steps, because the library's own update has no decay.

    def __init__(self, weight_decay, **kwargs):
        self._decay_var_list, self._weight_decay, self._weight_decay_tensor = None, weight_decay, None
        super().__init__(**kwargs)

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=tf.train.Optimizer.GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None, decay_var_list=None):
        self._decay_var_list = None if decay_var_list is None else list(decay_var_list)
        return super().minimize(loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
                                aggregation_method=aggregation_method, name=name, grad_loss=grad_loss,
                                colocate_gradients_with_ops=colocate_gradients_with_ops)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        if decay_var_list is not None:
            self._decay_var_list = list(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self):
        self._weight_decay_tensor = tf.convert_to_tensor(self._call_if_callable(self._weight_decay), name="weight_decay")
        super()._prepare()

    def _decays(self, var):
        return not self._decay_var_list or any(v is var for v in self._decay_var_list)

    def _factor(self, var):
        return tf.cast(self._weight_decay_tensor, var.dtype.base_dtype)

    def _decay_weights_op(self, var):
        if not self._decays(var):
            return tf.no_op()
        return var.assign_sub(self._factor(var) * var, use_locking=self._use_locking)

    def _decay_rows_op(self, var, indices):
        if not self._decays(var):
            return tf.no_op()
        return tf.scatter_sub(var, indices, self._factor(var) * tf.gather(var, indices), use_locking=self._use_locking)

    def _apply_dense(self, grad, var):
        with tf.control_dependencies([self._decay_weights_op(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        with tf.control_dependencies([self._decay_weights_op(var)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        with tf.control_dependencies([self._decay_rows_op(var, grad.indices)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        with tf.control_dependencies([self._decay_rows_op(var, indices)]):
            return super()._resource_apply_sparse(grad, var, indices)


def extend_with_decoupled_weight_decay(base_optimizer):
    """Returns a class of optimizers with the updates of another one, and weight decay: (weight_decay, ...)."""
    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """Adds weight decay to the updates of another optimizer."""

        def __init__(self, weight_decay, *args, **kwargs):
            self._decay_var_list, self._weight_decay, self._weight_decay_tensor = None, weight_decay, None
            base_optimizer.__init__(self, *args, **kwargs)
    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
    """Gradient descent with momentum and weight decay."""

    def __init__(self, weight_decay, learning_rate, momentum, use_locking=False, name="MomentumW", use_nesterov=False):
        super().__init__(weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking, name=name,
                         use_nesterov=use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):
    """Adam with weight decay."""

    def __init__(self, weight_decay, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdamW"):
        super().__init__(weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
                         use_locking=use_locking, name=name)


class LARSOptimizer(tf.train.Optimizer):
    """Momentum with a rate for each variable that depends on the ratio of its norm to that of its gradient."""

    def __init__(self, learning_rate, momentum=0.9, weight_decay=0.0001, eeta=0.001, epsilon=0.0, name="LARSOptimizer",
                 skip_list=None, use_nesterov=False):
        if momentum < 0.0:
            raise ValueError("momentum should be positive: %s" % momentum)
        if weight_decay < 0.0:
            raise ValueError("weight_decay should be positive: %s" % weight_decay)
        super().__init__(use_locking=False, name=name)
        self._learning_rate, self._momentum, self._weight_decay = learning_rate, momentum, weight_decay
        self._eeta, self._epsilon, self._skip_list, self._use_nesterov = eeta, epsilon, skip_list, use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._learning_rate_tensor = tf.convert_to_tensor(self._call_if_callable(self._learning_rate), name="learning_rate")
        self._momentum_tensor = tf.convert_to_tensor(self._call_if_callable(self._momentum), name="momentum")

    def compute_lr(self, grad, var):
        """Returns (learning rate of the variable, gradient with weight decay)"""
        rate = self._learning_rate_tensor
        if self._skip_list is not None and any(s in var.name for s in self._skip_list):
            return rate, grad
        of_var, of_grad = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        ratio = self._eeta * of_var / (of_grad + self._weight_decay * of_var + self._epsilon)
        ratio = tf.where(tf.greater(of_var, 0), tf.where(tf.greater(of_grad, 0), ratio, tf.ones_like(ratio)), tf.ones_like(ratio))
        return rate * ratio, grad + self._weight_decay * var

    def _step(self, grad, var):
        from weft._core.train.library_updates import LibraryUpdates
        rate, grad = self.compute_lr(grad, var)
        kind = var.dtype.base_dtype
        return LibraryUpdates._apply_op(
            self, "ApplyMomentum", var, {"accum": self.get_slot(var, "momentum")}, grad=grad, lr=tf.cast(rate, kind),
            momentum=tf.cast(self._momentum_tensor, kind), use_nesterov=bool(self._use_nesterov))

    def _apply_dense(self, grad, var):
        return self._step(grad, var)

    def _resource_apply_dense(self, grad, var):
        return self._step(grad, var)

    def _rows(self, grad, var, indices):
        return self._step(tf.convert_to_tensor(tf.IndexedSlices(grad, indices, tf.shape(var))), var)

    def _apply_sparse(self, grad, var):
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._rows(grad, var, indices)
