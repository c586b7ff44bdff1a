"""Batch normalization in the current variable scope: with TensorFlow's fused op where it applies, otherwise with
separate ops.

The fused op takes images and volumes of float, half or bfloat16 whose channels are the second or the last axis.  Its
moving variance is the sample variance, N/(N-1) times that of the batch. The separate ops use the variance of the batch.
"""
from weft._core.framework import dtypes
from weft._core.framework.build import constant, constant_value, convert_to_tensor
from weft._core.framework.graph import Tensor, get_default_graph, name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, init_ops, math_ops
from weft._core.ops.control_flow import smart_cond
from weft._core.ops.variable_methods import VariableAggregation, VariableSynchronization
from weft._core.ops.variable_scope import get_variable
from weft._core.ops.variables import assign_sub

_LAYOUTS = {(4, 1): "NCHW", (4, 3): "NHWC", (5, 1): "NCDHW", (5, 4): "NDHWC"}


class _Norm:
    """One call: the input, its axes and the variables."""

    def __init__(self, x, axis, momentum, epsilon, training, fused):
        self.x, self.rank, self.dtype = x, x.shape.ndims, x.dtype.base_dtype
        if self.rank is None:
            raise ValueError("Input has undefined rank. Received: input_shape=%s" % x.shape)
        self.momentum, self.epsilon, self.training = momentum, epsilon, training
        self.axes = [self._axis(a) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
        self.dims = x.shape.as_list()
        if any(self.dims[a] is None for a in self.axes):
            raise ValueError("Input has undefined `axis` dimension. Received input with shape %s and axis=%s" % (
                x.shape, tuple(self.axes)))
        self.narrow = self.dtype in (dtypes.float16, dtypes.bfloat16)
        self.param_dtype = dtypes.float32 if self.narrow else self.dtype
        self.layout = _LAYOUTS.get((self.rank, self.axes[0])) if len(self.axes) == 1 else None
        self.fused = fused in (None, True) and self.layout is not None and (self.narrow or self.dtype == dtypes.float32)

    def _axis(self, axis):
        if not isinstance(axis, int):
            raise TypeError("Type of axis must be int or list, type given: %s" % type(axis))
        if not -self.rank <= axis < self.rank:
            raise ValueError("Invalid axis: %d. The input has %d axes: %s" % (axis, self.rank, self.x.shape))
        return axis % self.rank

    @property
    def param_shape(self):
        if len(self.axes) == 1:
            return [self.dims[self.axes[0]]]
        return [self.dims[i] if i in self.axes else 1 for i in range(self.rank)]

    def known(self):
        """Returns whether the layer is training: True, False, or None if a tensor decides."""
        if isinstance(self.training, Tensor):
            found = constant_value(self.training)
            return None if found is None else bool(found)
        return bool(self.training)

    # ---- the fused op ----

    def fuse(self, gamma, beta, mean, variance):
        if beta is None:
            beta = constant(0.0, self.param_dtype, self.param_shape)
        if gamma is None:
            gamma = constant(1.0, self.param_dtype, self.param_shape)

        def run(on):
            return nn.fused_batch_norm(self.x, gamma, beta, mean, variance, self.epsilon, self.layout, on)
        out, now_mean, now_variance = smart_cond(self.training, lambda: run(True), lambda: run(False))
        known = self.known()
        if known is False:
            return out, []
        momentum = smart_cond(self.training, lambda: self.momentum, lambda: 1.0) if known is None else \
            convert_to_tensor(self.momentum)
        if self.debias:
            mean_update = self.debiased(mean, self.choose(now_mean, mean), self.momentum)
        else:
            mean_update = moving_average(mean, now_mean, momentum)
        return out, [mean_update, moving_average(variance, now_variance, momentum)]

    # ---- separate ops ----

    def along(self, v):
        """Returns a vector of the axis in a shape that broadcasts against the input."""
        if v is None or len(self.axes) > 1 or self.axes[0] == self.rank - 1:
            return v
        return array_ops.reshape(v, [self.dims[i] if i in self.axes else 1 for i in range(self.rank)])

    def compute(self, gamma, beta, mean, variance):
        x = math_ops.cast(self.x, dtypes.float32) if self.narrow else self.x
        gamma, beta, updates = self.along(gamma), self.along(beta), []
        now_mean, now_variance = mean, variance
        if self.known() is not False:
            over = [i for i in range(self.rank) if i not in self.axes]
            now_mean, now_variance = nn.moments(x, over, keepdims=len(self.axes) > 1)
            now_mean = self.choose(now_mean, mean)
            now_variance = self.choose(now_variance, variance)
            for old, new in ((mean, now_mean), (variance, now_variance)):
                move = self.debiased if self.debias and old is mean else moving_average
                updates.append(smart_cond(self.training, lambda move=move, old=old, new=new: move(old, new, self.momentum),
                                          lambda old=old: convert_to_tensor(old)))
        if self.narrow:
            now_mean, now_variance = math_ops.cast(now_mean, x.dtype), math_ops.cast(now_variance, x.dtype)
            beta, gamma = (None if v is None else math_ops.cast(v, x.dtype) for v in (beta, gamma))
        out = nn.batch_normalization(x, self.along(now_mean), self.along(now_variance), beta, gamma, self.epsilon)
        out = math_ops.cast(out, self.dtype) if self.narrow else out
        out.set_shape(self.x.shape)
        return out, updates

    @staticmethod
    def debiased(variable, value, momentum):
        from weft._core.python_modules.moving_averages import assign_moving_average
        return assign_moving_average(variable, value, momentum, zero_debias=True)

    def choose(self, now, moving):
        return smart_cond(self.training, lambda: now, lambda: convert_to_tensor(moving))


def moving_average(variable, value, momentum):
    """Returns the update variable -= (variable - value) * (1 - momentum)."""
    with name_scope(None, "AssignMovingAvg", [variable, value, momentum]) as scope:
        with get_default_graph().colocate_with(variable):
            rate = convert_to_tensor(1.0 - momentum, name="decay")
            if rate.dtype.base_dtype != variable.dtype.base_dtype:
                rate = math_ops.cast(rate, variable.dtype.base_dtype)
            return assign_sub(variable, (variable - math_ops.cast(value, variable.dtype.base_dtype)) * rate, name=scope)


def _training(training):
    if training is not None:
        return training
    from weft._core.keras.backend import learning_phase
    return learning_phase()


def parameters(input_shape, axis, dtype):
    """Returns the axes as a list, and the shape and type of gamma and beta, for inputs of a shape and type."""
    if input_shape.ndims is None:
        raise ValueError("Input has undefined rank. Received: input_shape=%s." % input_shape)
    dims, rank, axes = input_shape.as_list(), input_shape.ndims, []
    for a in axis if isinstance(axis, (list, tuple)) else [axis]:
        if not -rank <= a < rank:
            raise ValueError("Invalid axis. Expected 0 <= axis < inputs.rank (with inputs.rank=%d). Received: axis=%s" % (rank, a))
        axes.append(a % rank)
    if len(set(axes)) < len(axes):
        raise ValueError("Duplicate axis: %s" % (axis,))
    if any(dims[a] is None for a in axes):
        raise ValueError("Input has undefined `axis` dimension. Received input with shape %s and axis=%s" % (tuple(dims), axes))
    narrow = dtype in (None, dtypes.float16, dtypes.bfloat16)
    shape = [dims[axes[0]]] if len(axes) == 1 else [dims[i] if i in axes else 1 for i in range(rank)]
    return axes, shape, dtypes.float32 if narrow else dtype


def statistics(name):
    """Returns how a strategy keeps the moving statistics: each replica has its own, and their mean is saved."""
    if not name.startswith("moving"):
        return {}
    return dict(synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.MEAN)


def batch_norm_here(inputs, momentum, epsilon, center, scale, training, trainable, axis=-1, make=None, fused=None, debias=False):
    """Returns the normalized tensor and the updates of the moving statistics, in the current variable scope.

    `make` makes a variable from its name, shape, type and initial value. With `debias`, the moving mean of the fused op
    is corrected for its start at zero.
    """
    training = _training(training)
    norm = _Norm(convert_to_tensor(inputs), axis, momentum, epsilon, training, fused)
    norm.debias = debias
    make = make or (lambda name, shape, of, start, learnt: get_variable(name, shape, of, start, trainable=learnt, **statistics(name)))
    shape, dtype = norm.param_shape, norm.param_dtype
    gamma = make("gamma", shape, dtype, init_ops.Ones(), trainable) if scale else None
    beta = make("beta", shape, dtype, init_ops.Zeros(), trainable) if center else None
    mean = make("moving_mean", shape, dtype, init_ops.Zeros(), False)
    variance = make("moving_variance", shape, dtype, init_ops.Ones(), False)
    out, updates = (norm.fuse if norm.fused else norm.compute)(gamma, beta, mean, variance)
    return out, [u.op for u in updates] if trainable else []
