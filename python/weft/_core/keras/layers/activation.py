"""Activations with parameters or variables, which are therefore layers."""
import numpy as np

from weft._core.framework.dtypes import as_dtype
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras import activations, backend, constraints, initializers, regularizers
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.input_spec import InputSpec
from weft._core.nn import nn
from weft._core.ops import math_ops


def _float(x):
    return np.asarray(x, as_dtype(backend.floatx()).as_numpy_dtype)


class _SameShape(Layer):
    """A layer whose outputs have the shape of its inputs."""

    @output_shape
    def compute_output_shape(self, input_shape):
        return input_shape


class ReLU(_SameShape):
    """Returns x from the threshold up to max_value, and otherwise negative_slope * (x - threshold)."""

    _CONFIG = ("max_value", "negative_slope", "threshold")

    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError("max_value of a ReLU layer cannot be a negative value. Received: %s" % max_value)
        if negative_slope is None or negative_slope < 0.0:
            raise ValueError("negative_slope of a ReLU layer cannot be a negative value. Received: %s" % negative_slope)
        if threshold is None or threshold < 0.0:
            raise ValueError("threshold of a ReLU layer cannot be a negative value. Received: %s" % threshold)
        self.supports_masking = True
        self.max_value = None if max_value is None else _float(max_value)
        self.negative_slope, self.threshold = _float(negative_slope), _float(threshold)

    def call(self, inputs):
        return activations.relu(inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold)


class LeakyReLU(_SameShape):
    """Returns x where it is positive, and otherwise alpha * x."""

    def __init__(self, alpha=0.3, **kwargs):
        super().__init__(**kwargs)
        if alpha is None:
            raise ValueError("The alpha value of a Leaky ReLU layer cannot be None, Expecting a float. Received: %s" % alpha)
        self.supports_masking, self.alpha = True, _float(alpha)

    def call(self, inputs):
        return nn.leaky_relu(inputs, alpha=float(self.alpha))

    def get_config(self):
        return dict(Layer.get_config(self), alpha=float(self.alpha))

    _CONFIG = ("alpha",)


class PReLU(_SameShape):
    """A LeakyReLU whose slope is trained, for each element or for all of an axis in shared_axes."""

    _CONFIG = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(self, alpha_initializer="zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.alpha_initializer, self.alpha_regularizer = initializers.get(alpha_initializer), regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        self.shared_axes = None if shared_axes is None else list(shared_axes) if isinstance(shared_axes, (list, tuple)) else [shared_axes]

    def build(self, input_shape):
        dims = TensorShape(input_shape).as_list()
        shape = dims[1:]
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        self.alpha = self.add_weight(shape=shape, name="alpha", initializer=self.alpha_initializer, regularizer=self.alpha_regularizer,
                                     constraint=self.alpha_constraint)
        sizes = {i: dims[i] for i in range(1, len(dims)) if i not in self.shared_axes} if self.shared_axes else {}
        self.input_spec = InputSpec(ndim=len(dims), axes=sizes)
        self.built = True

    def call(self, inputs):
        return nn.relu(inputs) + (-self.alpha) * nn.relu(-inputs)


class ELU(_SameShape):
    """Returns x where it is positive, and otherwise alpha * (exp(x) - 1)."""

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        if alpha is None:
            raise ValueError("Alpha of an ELU layer cannot be None, expecting a float. Received: %s" % alpha)
        self.supports_masking, self.alpha = True, _float(alpha)

    _CONFIG = ("alpha",)

    def call(self, inputs):
        return activations.elu(inputs, float(self.alpha))

    def get_config(self):
        return dict(Layer.get_config(self), alpha=float(self.alpha))


class ThresholdedReLU(_SameShape):
    """Returns x where it is greater than theta, and otherwise 0."""

    def __init__(self, theta=1.0, **kwargs):
        super().__init__(**kwargs)
        if theta is None or theta < 0:
            raise ValueError("Theta of a Thresholded ReLU layer cannot be %s, expecting a float >= 0" % theta)
        self.supports_masking, self.theta = True, _float(theta)

    _CONFIG = ("theta",)

    def call(self, inputs):
        return inputs * math_ops.cast(math_ops.greater(inputs, float(self.theta)), inputs.dtype)

    def get_config(self):
        return dict(Layer.get_config(self), theta=float(self.theta))


class Softmax(_SameShape):
    """Returns exp(x) / sum(exp(x)) along an axis or axes. A mask excludes elements."""

    _CONFIG = ("axis",)

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking, self.axis = True, axis

    def call(self, inputs, mask=None):
        if mask is not None:
            least = -65504.0 if inputs.dtype.name == "float16" else -1e9
            inputs = inputs + (1.0 - math_ops.cast(mask, inputs.dtype)) * least
        if isinstance(self.axis, (tuple, list)):
            if len(self.axis) > 1:
                return math_ops.exp(inputs - math_ops.reduce_logsumexp(inputs, axis=self.axis, keepdims=True))
            return activations.softmax(inputs, axis=self.axis[0])
        return activations.softmax(inputs, axis=self.axis)
