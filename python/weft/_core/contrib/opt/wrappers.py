"""Optimizers of tf.contrib.opt that wrap another optimizer."""
import contextlib
import types

import weft as tf
from weft._core.framework.absent import Named
from weft._core.framework.graph import IndexedSlices


class _Around(tf.train.Optimizer):
    """The base of wrappers; gradients, slots and variables are those of the wrapped optimizer."""

    def __init__(self, opt, use_locking, name):
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args, **kwargs):
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._opt.variables()


class VariableClippingOptimizer(_Around):
    """Clips the norm of variables after each update. vars_to_clip_dims: {variable: axes of the norm}."""

    def __init__(self, opt, vars_to_clip_dims, max_norm, use_locking=False, colocate_clip_ops_with_vars=False,
                 name="VariableClipping"):
        super().__init__(opt, use_locking, name)
        if not all(isinstance(v, tf.Variable) for v in vars_to_clip_dims):
            raise TypeError("vars_to_clip_dims must have variables as keys: %s" % list(vars_to_clip_dims))
        self._vars_to_clip_dims, self._max_norm = vars_to_clip_dims, max_norm
        self._colocate = colocate_clip_ops_with_vars

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        with tf.name_scope(name, self._name) as scope:
            updated = self._opt.apply_gradients(pairs, global_step=global_step)
            with tf.control_dependencies([updated]):
                return tf.group(*[self._clip(g, v) for g, v in pairs if g is not None and v in self._vars_to_clip_dims], name=scope)

    def _clip(self, grad, var):
        axes = self._vars_to_clip_dims[var]
        with tf.colocate_with(var) if self._colocate else contextlib.nullcontext():
            if isinstance(grad, IndexedSlices):
                if 0 in axes:
                    raise ValueError("cannot clip the norm over axis 0 of %s, whose gradient has only some rows" % var.name)
                rows = tf.gather(var, grad.indices)
                less = rows - tf.clip_by_norm(rows, self._max_norm, axes)
                return tf.scatter_sub(var, grad.indices, less, use_locking=self._use_locking)
            now = var.read_value()
            return var.assign_sub(now - tf.clip_by_norm(now, self._max_norm, axes), use_locking=self._use_locking)


class DropStaleGradientOptimizer(_Around):
    """Drops gradients that were computed more than `staleness` global steps ago."""

    def __init__(self, opt, staleness, use_locking=False, name="DropStaleGradient"):
        super().__init__(opt, use_locking, name)
        self._staleness = staleness

    def compute_gradients(self, loss, *args, **kwargs):
        self._local_step = tf.train.get_global_step() + 0
        with tf.control_dependencies([self._local_step]):
            loss = tf.identity(loss)
        return self._opt.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        if global_step is None:
            raise ValueError("DropStaleGradientOptimizer needs the global step: give it as global_step")
        with tf.colocate_with(global_step):
            dropped = tf.get_variable("stale_counter", [], initializer=tf.zeros_initializer(), trainable=False)

        def accept():
            with tf.control_dependencies([self._opt.apply_gradients(pairs, global_step=global_step, name=name)]):
                return tf.identity(0.0)
        ready = [g.values if isinstance(g, IndexedSlices) else g for g, _ in pairs if g is not None]
        with tf.control_dependencies(ready), tf.colocate_with(global_step):
            staleness = tf.reshape(global_step - self._local_step, [])
            fresh = tf.less_equal(staleness, tf.cast(self._staleness, staleness.dtype))
            update = dropped.assign_add(tf.cond(fresh, accept, lambda: tf.identity(1.0)), use_locking=self._use_locking)
        tf.summary.scalar("Gradient staleness percentage", dropped / tf.cast(global_step + 1, tf.float32))
        return update


def _is_all_zeros(grad):
    values = grad.values if isinstance(grad, IndexedSlices) else grad
    return tf.equal(tf.count_nonzero(values), 0)


class MultitaskOptimizerWrapper(metaclass=Named):
    """Skips the update of a variable and its slots in a step in which its gradient is zero."""

    def __init__(self, opt):
        if not isinstance(opt, tf.train.Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer: %s" % (opt,))
        self._opt = opt
        opt._KIND = None  # From now on these methods make the steps.
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, types.MethodType(_unless_zero(getattr(opt, name)), opt))

    def __getattr__(self, name):
        return getattr(self._opt, name)


def _unless_zero(method):
    def wrapped(self, grad, *args, **kwargs):
        def update():
            with tf.control_dependencies([method(grad, *args, **kwargs)]):
                return tf.no_op()
        return tf.cond(_is_all_zeros(grad), tf.no_op, update)
    return wrapped


def clip_gradients_by_global_norm(gradients_variables, clip_norm=20.0):
    """Clips gradients by their global norm; gradients that are all zero are left out."""
    gradients, variables = zip(*gradients_variables)
    clipped, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=tf.global_norm([g for g in gradients if g is not None]))
    return list(zip(clipped, variables))


class RegAdagradOptimizer(tf.train.AdagradOptimizer):
    """Adagrad whose accumulators can be kept unchanged: with optimizer.avoid_updating_slots(): ..."""

    _KIND = None

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="RegAdagrad"):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    def avoid_updating_slots(self):
        @contextlib.contextmanager
        def off():
            before, self._should_update_slots = self._should_update_slots, False
            try:
                yield
            finally:
                self._should_update_slots = before
        return off()

    def _step(self, kind, grad, var, **more):
        return super()._step(kind, grad, var, update_slots=self._should_update_slots, **more)
