"""tf.contrib.distributions.bijectors: invertible functions with the logarithm of their Jacobian's determinant.

A bijector says `_forward`, `_inverse` and one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian`; each of the
last two is the other, negated, at the other end.  `event_ndims` of a call says how many trailing dimensions are one event:
over those that the bijector treats element by element, the logarithms are summed.
"""
import numpy as np

from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import as_shape
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops, special_math


class Bijector(metaclass=Named):
    """An invertible, differentiable function.

    Args:
      graph_parents: the tensors that it is made from.
      is_constant_jacobian: whether the Jacobian is the same everywhere.
      validate_args: whether arguments are checked when the graph runs.
      dtype: the type of its arguments; None: any.
      forward_min_event_ndims: the dimensions of the least event that it maps.
      inverse_min_event_ndims: the same for its results.
      name: the name of the scope of its ops.
    """

    def __init__(self, graph_parents=None, is_constant_jacobian=False, validate_args=False, dtype=None, forward_min_event_ndims=0,
                 inverse_min_event_ndims=None, name=None):
        self._graph_parents, self._is_constant_jacobian = list(graph_parents or []), is_constant_jacobian
        self._validate_args, self._dtype = validate_args, dtype
        self._forward_min_event_ndims = forward_min_event_ndims
        self._inverse_min_event_ndims = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        self._name = name or type(self).__name__.lower()

    @property
    def graph_parents(self):
        """The tensors that it is made from."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self):
        """The dimensions of the least event that it maps."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self):
        """The dimensions of the least event that its inverse maps."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self):
        """Whether the Jacobian is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def validate_args(self):
        """Whether arguments are checked when the graph runs."""
        return self._validate_args

    @property
    def dtype(self):
        """The type of its arguments, or None."""
        return self._dtype

    @property
    def name(self):
        """The name of the scope of its ops."""
        return self._name

    def _value(self, x, name):
        return convert_to_tensor(x, self.dtype, name=name) if self.dtype else convert_to_tensor(x, name=name)

    def forward(self, x, name="forward"):
        """Returns the function's value."""
        with name_scope(self.name), name_scope(name):
            return self._forward(self._value(x, "x"))

    def inverse(self, y, name="inverse"):
        """Returns the argument that has the value y."""
        with name_scope(self.name), name_scope(name):
            return self._inverse(self._value(y, "y"))

    def _forward(self, x):
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y):
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, x):
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y):
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    @staticmethod
    def _summed(logs, x, event_ndims, least):
        """Sums logarithms over the dimensions of an event that the bijector treats separately."""
        more = event_ndims - least
        if more < 0:
            raise ValueError("event_ndims (%d) must be larger than min_event_ndims (%d)" % (event_ndims, least))
        if more == 0:
            return logs
        # A constant Jacobian does not have the dimensions of x, so their sizes are multiplied.
        if logs.shape.ndims is None or x.shape.ndims is None or logs.shape.ndims < x.shape.ndims - least:
            shape = array_ops.shape(x)[:array_ops.rank(x) - least] if x.shape.ndims is None else array_ops.shape(x)[:x.shape.ndims - least]
            logs = logs * array_ops.ones(shape, dtype=logs.dtype)
        return math_ops.reduce_sum(logs, axis=list(range(-more, 0)))

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """Returns the logarithm of the absolute value of the determinant of the Jacobian at x."""
        with name_scope(self.name), name_scope(name):
            x = self._value(x, "x")
            try:
                logs = self._forward_log_det_jacobian(x)
            except NotImplementedError:
                logs = -self._inverse_log_det_jacobian(self._forward(x))
            return self._summed(convert_to_tensor(logs, x.dtype), x, event_ndims, self.forward_min_event_ndims)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """Returns the same for the inverse function, at y."""
        with name_scope(self.name), name_scope(name):
            y = self._value(y, "y")
            try:
                logs = self._inverse_log_det_jacobian(y)
            except NotImplementedError:
                logs = -self._forward_log_det_jacobian(self._inverse(y))
            return self._summed(convert_to_tensor(logs, y.dtype), y, event_ndims, self.inverse_min_event_ndims)

    def _forward_event_shape(self, input_shape):
        return input_shape

    def _inverse_event_shape(self, output_shape):
        return output_shape

    def forward_event_shape(self, input_shape):
        """Returns the static shape of the value of an event of a shape."""
        return as_shape(self._forward_event_shape(as_shape(input_shape)))

    def inverse_event_shape(self, output_shape):
        """Returns the static shape of the argument of an event of a shape."""
        return as_shape(self._inverse_event_shape(as_shape(output_shape)))

    def forward_event_shape_tensor(self, input_shape, name="forward_event_shape_tensor"):
        """Returns the shape of the value of an event of a shape, as a tensor."""
        with name_scope(self.name), name_scope(name):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape))

    def inverse_event_shape_tensor(self, output_shape, name="inverse_event_shape_tensor"):
        """Returns the shape of the argument of an event of a shape, as a tensor."""
        with name_scope(self.name), name_scope(name):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape))

    def _forward_event_shape_tensor(self, shape):
        return shape

    def _inverse_event_shape_tensor(self, shape):
        return shape


class _Elementwise(Bijector):
    """The base of elementwise bijectors whose only arguments are `validate_args` and a name."""

    def __init__(self, validate_args=False, name=None):
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)


class Identity(_Elementwise):
    """y = x."""

    def __init__(self, validate_args=False, name="identity"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return x

    def _inverse(self, y):
        return y

    def _forward_log_det_jacobian(self, x):
        return array_ops.zeros([], dtype=x.dtype)


class Exp(_Elementwise):
    """y = exp(x)."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return math_ops.exp(x)

    def _inverse(self, y):
        return math_ops.log(y)

    def _inverse_log_det_jacobian(self, y):
        return -math_ops.log(y)

    def _forward_log_det_jacobian(self, x):
        return x


class Square(_Elementwise):
    """y = x^2, for x >= 0."""

    def __init__(self, validate_args=False, name="square"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return math_ops.square(x)

    def _inverse(self, y):
        return math_ops.sqrt(y)

    def _forward_log_det_jacobian(self, x):
        return np.log(2.0).astype(x.dtype.as_numpy_dtype) + math_ops.log(x)


class PowerTransform(Bijector):
    """y = (1 + x c)^(1/c); of power 0, exp(x)."""

    def __init__(self, power=0.0, validate_args=False, name="power_transform"):
        if power is None or power < 0:
            raise ValueError("`power` must be a non-negative TF primitive.")
        super().__init__(validate_args=validate_args, name=name)
        self._power = power

    @property
    def power(self):
        """The power c."""
        return self._power

    def _forward(self, x):
        return math_ops.exp(x) if self.power == 0 else math_ops.exp(math_ops.log1p(x * self.power) / self.power)

    def _inverse(self, y):
        return math_ops.log(y) if self.power == 0 else math_ops.expm1(math_ops.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y):
        return (self.power - 1.0) * math_ops.log(y)

    def _forward_log_det_jacobian(self, x):
        return x if self.power == 0 else (1.0 / self.power - 1.0) * math_ops.log1p(x * self.power)


class Sigmoid(_Elementwise):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return math_ops.sigmoid(x)

    def _inverse(self, y):
        return math_ops.log(y) - math_ops.log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -math_ops.log(y) - math_ops.log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -nn.softplus(-x) - nn.softplus(x)


class Softsign(_Elementwise):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return x / (1.0 + math_ops.abs(x))

    def _inverse(self, y):
        return y / (1.0 - math_ops.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2.0 * math_ops.log1p(math_ops.abs(x))

    def _inverse_log_det_jacobian(self, y):
        return -2.0 * math_ops.log1p(-math_ops.abs(y))


class Softplus(Bijector):
    """y = c log(1 + exp(x / c)), c being `hinge_softness` or 1."""

    def __init__(self, hinge_softness=None, validate_args=False, name="softplus"):
        super().__init__(validate_args=validate_args, name=name)
        self._hinge_softness = None if hinge_softness is None else convert_to_tensor(hinge_softness, name="hinge_softness")

    @property
    def hinge_softness(self):
        """The width of the bend, or None."""
        return self._hinge_softness

    def _forward(self, x):
        if self.hinge_softness is None:
            return nn.softplus(x)
        return self.hinge_softness * nn.softplus(x / self.hinge_softness)

    def _inverse(self, y):
        if self.hinge_softness is None:
            return softplus_inverse(y)
        return self.hinge_softness * softplus_inverse(y / self.hinge_softness)

    def _inverse_log_det_jacobian(self, y):
        if self.hinge_softness is not None:
            y = y / self.hinge_softness
        return -math_ops.log(-math_ops.expm1(-y))

    def _forward_log_det_jacobian(self, x):
        if self.hinge_softness is not None:
            x = x / self.hinge_softness
        return -nn.softplus(-x)


class AbsoluteValue(_Elementwise):
    """y = |x|; its inverse is the pair (-y, y)."""

    def __init__(self, validate_args=False, name="absolute_value"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return math_ops.abs(x)

    def _inverse(self, y):
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        return array_ops.zeros([], dtype=y.dtype)


class Gumbel(Bijector):
    """y = exp(-exp(-(x - loc) / scale)), the distribution function of Gumbel's distribution."""

    def __init__(self, loc=0.0, scale=1.0, validate_args=False, name="gumbel"):
        with name_scope(name, values=[loc, scale]):
            self._loc, self._scale = convert_to_tensor(loc, name="loc"), convert_to_tensor(scale, name="scale")
        super().__init__(validate_args=validate_args, name=name)

    @property
    def loc(self):
        """The location."""
        return self._loc

    @property
    def scale(self):
        """The scale."""
        return self._scale

    def _forward(self, x):
        return math_ops.exp(-math_ops.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y):
        return self.loc - self.scale * math_ops.log(-math_ops.log(y))

    def _inverse_log_det_jacobian(self, y):
        return math_ops.log(self.scale / (-math_ops.log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self.loc) / self.scale
        return -z - math_ops.exp(-z) - math_ops.log(self.scale)


class Weibull(Bijector):
    """y = 1 - exp(-(x / scale)^concentration), the distribution function of Weibull's distribution."""

    def __init__(self, scale=1.0, concentration=1.0, validate_args=False, name="weibull"):
        with name_scope(name, values=[scale, concentration]):
            self._scale = convert_to_tensor(scale, name="scale")
            self._concentration = convert_to_tensor(concentration, name="concentration")
        super().__init__(validate_args=validate_args, name=name)

    @property
    def scale(self):
        """The scale."""
        return self._scale

    @property
    def concentration(self):
        """The power."""
        return self._concentration

    def _forward(self, x):
        return -math_ops.expm1(-((x / self.scale) ** self.concentration))

    def _inverse(self, y):
        return self.scale * (-math_ops.log1p(-y)) ** (1.0 / self.concentration)

    def _inverse_log_det_jacobian(self, y):
        return (-math_ops.log1p(-y) + (1.0 / self.concentration - 1.0) * math_ops.log(-math_ops.log1p(-y))
                + math_ops.log(self.scale / self.concentration))

    def _forward_log_det_jacobian(self, x):
        return (-(x / self.scale) ** self.concentration + (self.concentration - 1.0) * math_ops.log(x)
                + math_ops.log(self.concentration) - self.concentration * math_ops.log(self.scale))


class SinhArcsinh(Bijector):
    """y = sinh((arcsinh(x) + skewness) tailweight)."""

    def __init__(self, skewness=None, tailweight=None, validate_args=False, name="SinhArcsinh"):
        with name_scope(name, values=[skewness, tailweight]):
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight")
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, self._tailweight.dtype, name="skewness")
        super().__init__(validate_args=validate_args, name=name)

    @property
    def skewness(self):
        """The skewness."""
        return self._skewness

    @property
    def tailweight(self):
        """The weight of the tails."""
        return self._tailweight

    def _forward(self, x):
        return math_ops.sinh((special_math.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y):
        return math_ops.sinh(special_math.asinh(y) / self.tailweight - self.skewness)

    def _forward_log_det_jacobian(self, x):
        return (math_ops.log(math_ops.cosh((special_math.asinh(x) + self.skewness) * self.tailweight)) + math_ops.log(self.tailweight)
                - 0.5 * math_ops.log1p(math_ops.square(x)))


class SoftmaxCentered(Bijector):
    """The softmax of x with a zero behind it: vectors of n numbers to probabilities of n + 1 classes."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x):
        zeros = array_ops.zeros_like(x[..., :1])
        return nn.softmax(array_ops.concat([x, zeros], -1))

    def _inverse(self, y):
        logs = math_ops.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y):
        size = math_ops.cast(array_ops.shape(y)[-1], y.dtype)
        return -0.5 * math_ops.log(size) - math_ops.reduce_sum(math_ops.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        size = math_ops.cast(array_ops.shape(x)[-1] + 1, x.dtype)
        total = math_ops.reduce_logsumexp(array_ops.concat([x, array_ops.zeros_like(x[..., :1])], -1), axis=-1)
        return 0.5 * math_ops.log(size) + math_ops.reduce_sum(x, axis=-1) - size * total

    def _forward_event_shape(self, shape):
        return shape if shape.ndims is None else shape[:-1].concatenate(None if shape[-1].value is None else shape[-1].value + 1)

    def _inverse_event_shape(self, shape):
        return shape if shape.ndims is None else shape[:-1].concatenate(None if shape[-1].value is None else shape[-1].value - 1)

    def _forward_event_shape_tensor(self, shape):
        return array_ops.concat([shape[:-1], shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, shape):
        return array_ops.concat([shape[:-1], shape[-1:] - 1], 0)


# ---- helper functions ----

def softplus_inverse(x, name=None):
    """Returns the x of which softplus is the argument.

    Args:
      x: positive numbers.
      name: a name for the operation.
    """
    with name_scope(name, "softplus_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        # Near zero log(exp(x) - 1) is log(x), far from it x; both keep their gradients finite.
        limit = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small, large = math_ops.less(x, np.exp(limit)), math_ops.greater(x, -limit)
        safe = special_math.where_v2(math_ops.logical_or(small, large), array_ops.ones_like(x), x)
        middle = safe + math_ops.log(-math_ops.expm1(-safe))
        return special_math.where_v2(small, math_ops.log(x), special_math.where_v2(large, x, middle))
