"""tf.keras.constraints: functions that an optimizer applies to a variable after each step."""
from weft._core.framework.absent import Named
from weft._core.framework.build import constant
from weft._core.keras import backend
from weft._core.keras.serialization import deserialize_keras_object, serialize_keras_object
from weft._core.ops import array_ops, math_ops
from weft._core.ops.gradients import clip_by_value


class Constraint(metaclass=Named):
    """A function from a variable's value to its new value. Subclasses define __call__ and get_config."""

    def __call__(self, w):
        return w

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _norm(w, axis):
    squares = math_ops.reduce_sum(math_ops.square(w), axis=axis, keepdims=True)
    return math_ops.sqrt(math_ops.maximum(squares, constant(0.0, squares.dtype.base_dtype)))


class MaxNorm(Constraint):
    """Limits the norm of weights along the axis to max_value."""

    def __init__(self, max_value=2, axis=0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        norms = _norm(w, self.axis)
        return w * (clip_by_value(norms, 0, self.max_value) / (backend.epsilon() + norms))

    def get_config(self):
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """Replaces negative weights by zero."""

    def __call__(self, w):
        return w * math_ops.cast(math_ops.greater_equal(w, 0.0), backend.floatx())


class UnitNorm(Constraint):
    """Scales weights to a norm of one along the axis."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (backend.epsilon() + _norm(w, self.axis))

    def get_config(self):
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Limits the norm of weights along the axis to an interval. rate says how far a step goes."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        norms = _norm(w, self.axis)
        wanted = self.rate * clip_by_value(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (wanted / (backend.epsilon() + norms))

    def get_config(self):
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


class RadialConstraint(Constraint):
    """Makes the values of convolution kernels depend only on the distance from the center."""

    def __call__(self, w):
        dims = w.shape.as_list()
        if len(dims) != 4:
            raise ValueError("The weight tensor must have rank 4. Received weight tensor with shape: %s" % (tuple(dims),))
        height, width, channels, kernels = dims
        w = array_ops.reshape(w, (height, width, channels * kernels))
        made = [self._kernel(x) for x in array_ops.unstack(w, axis=-1)]
        return array_ops.reshape(array_ops.stack(made, axis=-1), (height, width, channels, kernels))

    @staticmethod
    def _kernel(kernel):
        size = kernel.shape.as_list()[0]
        start = size // 2
        if size % 2:
            made, first = kernel[start:start + 1, start:start + 1], start - 1
        else:
            made, first = array_ops.tile(kernel[start - 1:start, start - 1:start], [2, 2]), start - 2
        for i in range(first, -1, -1):
            paddings = [[1, 1], [1, 1]]
            made = array_ops.pad(made, paddings) + (1 - array_ops.pad(array_ops.ones_like(made), paddings)) * kernel[i, i]
        return made


max_norm, non_neg, unit_norm, min_max_norm, radial_constraint = MaxNorm, NonNeg, UnitNorm, MinMaxNorm, RadialConstraint
_NAMES = {c.__name__: c for c in (Constraint, MaxNorm, NonNeg, UnitNorm, MinMaxNorm, RadialConstraint)}
_NAMES.update(max_norm=MaxNorm, non_neg=NonNeg, nonneg=NonNeg, unit_norm=UnitNorm, unitnorm=UnitNorm, maxnorm=MaxNorm,
              min_max_norm=MinMaxNorm, minmax_norm=MinMaxNorm, radial_constraint=RadialConstraint)


def serialize(constraint, use_legacy_format=False):
    return serialize_keras_object(constraint)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    return deserialize_keras_object(config, _NAMES, custom_objects, "constraint")


def get(identifier):
    """Returns the constraint for a name, a serialized dictionary or a callable."""
    if identifier is None:
        return None
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret constraint function identifier: %s" % (identifier,))
