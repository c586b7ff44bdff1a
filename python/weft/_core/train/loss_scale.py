"""Loss scales: the loss is multiplied by a factor before 16-bit gradients are computed, which are divided by it
afterwards.

A dynamic scale grows while gradients are finite.  If a gradient is not finite, the scale shrinks and the update is
skipped.
"""
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import IndexedSlices
from weft._core.framework.trackable import Trackable
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import cond, group, no_op
from weft._core.ops.variable_methods import VariableAggregation
from weft._core.ops.variables import Variable
from weft._core.session import device_config
from weft._core.train.optimizer import Optimizer


class LossScale(Trackable, metaclass=Named):
    """The base of loss scales: a call returns the scale; update(gradients) returns (an op that changes it, whether to
    apply).
    """

    def __call__(self):
        raise NotImplementedError("%s has no __call__" % type(self).__name__)

    def update(self, grads):
        raise NotImplementedError("%s has no update" % type(self).__name__)

    def get_config(self):
        raise NotImplementedError("%s has no get_config" % type(self).__name__)

    def _weights(self):
        """Returns the variables of a scale that changes."""
        return [child for _, child in sorted(self.__dict__.get("_tracked_children", {}).items())]

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class FixedLossScale(LossScale):
    """A constant scale."""

    def __init__(self, loss_scale_value):
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._value = float(loss_scale_value)

    def __call__(self):
        return convert_to_tensor(self._value)

    def update(self, grads):
        return no_op(), True

    def get_config(self):
        return {"loss_scale_value": self._value}


def _finite(gradients):
    """Returns a tensor that says whether all numbers of all gradients are finite."""
    values = [g.values if isinstance(g, IndexedSlices) else g for g in gradients if g is not None]
    return math_ops.reduce_all(array_ops.stack([math_ops.reduce_all(math_ops.is_finite(v)) for v in values]))


class DynamicLossScale(LossScale):
    """A scale that grows by `multiplier` after increment_period good steps, and shrinks by it after a bad one."""

    def __init__(self, initial_loss_scale=2 ** 15, increment_period=2000, multiplier=2.0):
        self._initial, self._period, self._multiplier = float(initial_loss_scale), int(increment_period), float(multiplier)
        self._current_loss_scale = self._track_trackable(
            self._variable("current_loss_scale", self._initial, dtypes.float32), "current_loss_scale")
        self._num_good_steps = self._track_trackable(self._variable("good_steps", 0, dtypes.int64), "good_steps")

    @staticmethod
    def _variable(name, value, dtype):
        return Variable(value, name=name, dtype=dtype, trainable=False, use_resource=True, aggregation=VariableAggregation.NONE)

    initial_loss_scale = property(lambda self: self._initial)
    increment_period = property(lambda self: self._period)
    multiplier = property(lambda self: self._multiplier)

    def __call__(self):
        return self._current_loss_scale.value()

    def update(self, grads):
        finite, scale, good = _finite(grads), self._current_loss_scale, self._num_good_steps

        def grow():
            larger = scale.value() * self._multiplier
            kept = array_ops.where(math_ops.is_finite(larger), larger, scale.value())
            return group(scale.assign(kept, read_value=False), good.assign(0, read_value=False))

        def count():
            return cond(math_ops.greater_equal(good.value() + 1, self._period), lambda: _after(grow()),
                        lambda: _after(good.assign_add(1, read_value=False)))

        def shrink():
            smaller = math_ops.maximum(scale.value() / self._multiplier, 1.0)
            return _after(group(scale.assign(smaller, read_value=False), good.assign(0, read_value=False)))
        return cond(finite, count, shrink), finite

    def get_config(self):
        return {"initial_loss_scale": self._initial, "increment_period": self._period, "multiplier": self._multiplier}


def _after(operation):
    """Returns a constant with a control dependency on the operation: the result of a branch of cond."""
    from weft._core.framework.build import constant
    from weft._core.framework.graph import control_dependencies
    with control_dependencies([operation]):
        return constant(True)


def scaled_gradient(gradient, factor):
    """Returns a gradient multiplied by a factor."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(scaled_gradient(gradient.values, factor), gradient.indices, gradient.dense_shape)
    return gradient * math_ops.cast(factor, gradient.dtype.base_dtype)


def _loss_scale(given):
    if isinstance(given, (int, float)):
        return FixedLossScale(given)
    if given == "dynamic":
        return DynamicLossScale()
    if isinstance(given, LossScale) or given is None:
        return given
    raise ValueError("Could not interpret loss scale identifier: %s" % given)


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer that scales the loss, and skips steps whose gradients are not finite."""

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError('"opt" must be an instance of Optimizer, but got: %s' % type(opt))
        super().__init__(False, type(self).__name__)
        self._optimizer, self._loss_scale = opt, _loss_scale(loss_scale)
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None")
        self._track_trackable(opt, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(self, loss, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        loss = convert_to_tensor(loss() if callable(loss) else loss)
        scale = self._loss_scale()
        pairs = self._optimizer.compute_gradients(
            loss * math_ops.cast(scale, loss.dtype.base_dtype), var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        back = 1 / scale
        return [(None if g is None else scaled_gradient(g, back), v) for g, v in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = [(g, v) for g, v in grads_and_vars]
        update_scale, apply = self._loss_scale.update([g for g, _ in pairs])
        if apply is True:
            return group(update_scale, self._optimizer.apply_gradients(pairs, global_step), name=name)
        # Python builds these updates, as under a distribution strategy, because the C library cannot build them in a
        # tf.cond.
        self._optimizer.__dict__["_in_strategy"] = True
        applied = cond(apply, lambda: _after(_operation(self._optimizer.apply_gradients(pairs, global_step))),
                       lambda: convert_to_tensor(False))
        return group(update_scale, applied, name=name)

    def get_name(self):
        return self._optimizer.get_name()

    def variables(self):
        return self._optimizer.variables() + list(self._loss_scale._weights())

    def _trackable_children(self):
        return dict(self.__dict__["_tracked_children"])


def _operation(made):
    return getattr(made, "op", made)


def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic"):
    """Returns the optimizer with a loss scale.

    Sessions created after this call run GPU ops in float16 where that is safe.

    Args:
      opt: a tf.train.Optimizer.
      loss_scale: a number, a LossScale or "dynamic".
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError('"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. '
                         "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
                         "MixedPrecisionLossScaleOptimizer.")
    if not isinstance(opt, Optimizer):
        raise ValueError('"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, but got: %s' % (opt,))
    wrapped = MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    device_config.set_mixed_precision(True)
    return wrapped


def disable_mixed_precision_graph_rewrite():
    """Makes sessions created after this call run each op in its own type. Optimizers keep their loss scales."""
    device_config.set_mixed_precision(False)
