"""Layers that use random numbers while training: dropout and noise."""
import math

from weft._core.framework.build import convert_to_tensor
from weft._core.keras import arguments, backend
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.keras.input_spec import InputSpec
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops, random_ops
from weft._core.ops.control_flow import smart_cond


class _Drawing(Layer):
    """The base of random layers.

    As in TensorFlow, each call of a layer with a seed uses the seed after that of the previous call.
    """

    _draws = 0

    def _next_seed(self):
        if self.seed is None:
            return None
        self.__dict__["_draws"] = self._draws + 1
        return self.seed + self._draws - 1


class Dropout(_Drawing):
    """Sets a random part of the inputs to zero while training, and scales the rest up."""

    _CONFIG = ("rate", "noise_shape", "seed")

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        if isinstance(rate, (int, float)) and not 0 <= rate <= 1:
            raise ValueError("Invalid value %s received for `rate`, expected a value between 0 and 1." % rate)
        self.rate, self.noise_shape, self.seed, self.supports_masking = rate, noise_shape, seed, True

    def _get_noise_shape(self, inputs):
        """Returns the noise shape as a tensor, in which None is replaced by the size of the inputs."""
        if self.noise_shape is None:
            return None
        have = array_ops.shape(inputs)
        return convert_to_tensor([have[i] if n is None else n for i, n in enumerate(self.noise_shape)])

    def call(self, inputs, training=None):
        if isinstance(self.rate, (int, float)) and self.rate == 0:
            return array_ops.identity(inputs)
        if training is None:
            training = backend.learning_phase()

        def dropped():
            return nn.dropout(inputs, rate=self.rate, noise_shape=self._get_noise_shape(inputs), seed=self._next_seed())
        return smart_cond(training, dropped, lambda: array_ops.identity(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape


class SpatialDropout1D(Dropout):
    """Drops whole channels of sequences."""

    def __init__(self, rate, **kwargs):
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs):
        shape = array_ops.shape(inputs)
        return shape[0], 1, shape[2]


class _SpatialDropout(Dropout):
    """Drops whole channels of images or volumes."""

    _axes = None

    def __init__(self, rate, data_format=None, **kwargs):
        super().__init__(rate, **kwargs)
        self.data_format = arguments.layout(data_format)
        self.input_spec = InputSpec(ndim=self._axes + 2)

    def _get_noise_shape(self, inputs):
        shape, ones = array_ops.shape(inputs), (1,) * self._axes
        if self.data_format == "channels_first":
            return (shape[0], shape[1], *ones)
        return (shape[0], *ones, shape[self._axes + 1])


class SpatialDropout2D(_SpatialDropout):
    """Drops whole channels of images."""

    _axes = 2


class SpatialDropout3D(_SpatialDropout):
    """Drops whole channels of volumes."""

    _axes = 3


class _Noise(_Drawing):
    """The base of layers that add noise while training."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _changed(self, inputs):
        raise NotImplementedError("%s has no _changed()" % type(self).__name__)

    def _in_train_phase(self, inputs, training):
        if training is None:
            training = backend.learning_phase()
        return smart_cond(training, lambda: self._changed(inputs), lambda: inputs)

    def call(self, inputs, training=None):
        return self._in_train_phase(inputs, training)

    @output_shape
    def compute_output_shape(self, input_shape):
        return input_shape


class GaussianNoise(_Noise):
    """Adds normal noise while training."""

    _CONFIG = ("stddev", "seed")

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.stddev, self.seed = stddev, seed

    def _changed(self, inputs):
        return inputs + random_ops.random_normal(array_ops.shape(inputs), 0.0, self.stddev, inputs.dtype, self._next_seed())


class GaussianDropout(_Noise):
    """Multiplies by normal noise around one while training."""

    _CONFIG = ("rate", "seed")

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.seed = rate, seed

    def _changed(self, inputs):
        stddev = math.sqrt(self.rate / (1.0 - self.rate))
        return inputs * random_ops.random_normal(array_ops.shape(inputs), 1.0, stddev, inputs.dtype, self._next_seed())

    def call(self, inputs, training=None):
        return self._in_train_phase(inputs, training) if 0 < self.rate < 1 else inputs


class AlphaDropout(_Noise):
    """Dropout that keeps the mean and variance of self-normalizing networks."""

    _CONFIG = ("rate", "seed")
    _LEAST = -1.6732632423543772 * 1.0507009873554805

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def _changed(self, inputs):
        shape = self.noise_shape if self.noise_shape else array_ops.shape(inputs)
        kept = math_ops.greater_equal(random_ops.random_uniform(shape, seed=self._next_seed(), dtype=inputs.dtype), self.rate)
        kept = math_ops.cast(kept, inputs.dtype)
        scale = ((1 - self.rate) * (1 + self.rate * self._LEAST ** 2)) ** -0.5
        offset = -scale * self._LEAST * self.rate
        return scale * (inputs * kept + self._LEAST * (1 - kept)) + offset

    def call(self, inputs, training=None):
        return self._in_train_phase(inputs, training) if 0 < self.rate < 1 else inputs
