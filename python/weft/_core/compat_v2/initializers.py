"""The initializers of TensorFlow 2: a seed gives the same numbers at every call, and the type is given at the call."""
import math
import random

import numpy as np

from weft._core.framework import dtypes
from weft._core.ops import array_ops, init_ops, linalg, math_ops, random_ops, stateless


class Initializer(init_ops.Initializer):
    """The base of the initializers of TensorFlow 2."""

    _fields = ()

    def get_config(self):
        """Returns the arguments of the initializer as a dictionary."""
        return {name: getattr(self, name) for name in self._fields}

    @classmethod
    def from_config(cls, config):
        """Returns the initializer that get_config() describes."""
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


def _kind(dtype):
    return dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)


def _dims(shape):
    return [int(d) for d in shape]


class Zeros(Initializer):
    """Fills a variable with zeros."""

    def __call__(self, shape, dtype=None, **kwargs):
        return array_ops.zeros(shape, _kind(dtype))


class Ones(Initializer):
    """Fills a variable with ones."""

    def __call__(self, shape, dtype=None, **kwargs):
        return array_ops.ones(shape, _kind(dtype))


class Constant(Initializer):
    """Fills a variable with a value."""

    _fields = ("value",)

    def __init__(self, value=0):
        self.value = value

    def __call__(self, shape, dtype=None, **kwargs):
        from weft._core.compat_v2.functions import constant
        return constant(self.value, _kind(dtype), shape)


class Identity(Initializer):
    """Fills a variable with an identity matrix times a factor."""

    _fields = ("gain",)

    def __init__(self, gain=1.0):
        self.gain = gain

    def __call__(self, shape, dtype=None, **kwargs):
        dims = _dims(shape)
        if len(dims) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices. Received: shape=%s of rank %d."
                             % (shape, len(dims)))
        return self.gain * linalg.eye(*dims, dtype=_kind(dtype))


class _Drawn(Initializer):
    """An initializer of random numbers.  Without a seed each object draws one of its own, as in TensorFlow."""

    def _seeds(self):
        if self.__dict__.get("_own") is None:
            self._own = random.randint(1, int(1e9)) if self.seed is None else self.seed
        return [self._own, 0]

    def _normal(self, shape, mean, stddev, dtype):
        return stateless.stateless_normal(shape, self._seeds(), mean, stddev, dtype)

    def _truncated(self, shape, mean, stddev, dtype):
        return stateless.stateless_truncated_normal(shape, self._seeds(), mean, stddev, dtype)

    def _uniform(self, shape, low, high, dtype):
        return stateless.stateless_uniform(shape, self._seeds(), low, high, dtype)


class RandomNormal(_Drawn):
    """Fills a variable with normal random numbers."""

    _fields = ("mean", "stddev", "seed")

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype=None, **kwargs):
        return self._normal(shape, self.mean, self.stddev, _kind(dtype))


class RandomUniform(_Drawn):
    """Fills a variable with uniform random numbers."""

    _fields = ("minval", "maxval", "seed")

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype=None, **kwargs):
        return self._uniform(shape, self.minval, self.maxval, _kind(dtype))


class TruncatedNormal(_Drawn):
    """Fills a variable with normal random numbers that are at most two deviations from the mean."""

    _fields = ("mean", "stddev", "seed")

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype=None, **kwargs):
        return self._truncated(shape, self.mean, self.stddev, _kind(dtype))


class VarianceScaling(_Drawn):
    """Fills a variable with random numbers whose variance depends on the number of inputs or outputs."""

    _fields = ("scale", "mode", "distribution", "seed")

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        checked = init_ops.VarianceScaling(scale, mode, distribution)
        self.scale, self.mode, self.distribution, self.seed = scale, mode, checked.distribution, seed

    def __call__(self, shape, dtype=None, **kwargs):
        fan_in, fan_out = init_ops.fans(shape)
        scale = self.scale / max(1., {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.}[self.mode])
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return self._uniform(shape, -limit, limit, _kind(dtype))
        if self.distribution == "untruncated_normal":
            return self._normal(shape, 0.0, math.sqrt(scale), _kind(dtype))
        return self._truncated(shape, 0.0, math.sqrt(scale) / .87962566103423978, _kind(dtype))


class Orthogonal(_Drawn):
    """Fills a variable with an orthogonal matrix: the Q of a random normal matrix, with the signs of R's diagonal."""

    _fields = ("gain", "seed")

    def __init__(self, gain=1.0, seed=None):
        self.gain, self.seed = gain, seed

    def __call__(self, shape, dtype=None, **kwargs):
        dims = _dims(shape)
        if len(dims) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional. Received: shape=%s of rank %d."
                             % (shape, len(dims)))
        rows, columns = int(np.prod(dims[:-1])), dims[-1]
        drawn = self._normal([max(rows, columns), min(rows, columns)], 0.0, 1.0, _kind(dtype))
        q, r = linalg.qr(drawn, full_matrices=False)
        q = q * math_ops.sign(math_ops.diag_part(r))
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, dims)


def _scaling(name, scale, mode, distribution, doc):
    """Returns a subclass of VarianceScaling that takes a seed alone."""
    def __init__(self, seed=None):
        VarianceScaling.__init__(self, scale, mode, distribution, seed)
    return type(VarianceScaling)(name, (VarianceScaling,), {"__init__": __init__, "_fields": ("seed",), "__doc__": doc,
                                                            "__module__": __name__})


_DOC = "Fills a variable with %s random numbers; the variance is %s by the %s."
GlorotUniform = _scaling("GlorotUniform", 1.0, "fan_avg", "uniform", _DOC % ("uniform", "1", "mean of inputs and outputs"))
GlorotNormal = _scaling("GlorotNormal", 1.0, "fan_avg", "truncated_normal", _DOC % ("normal", "1", "mean of inputs and outputs"))
LecunUniform = _scaling("LecunUniform", 1.0, "fan_in", "uniform", _DOC % ("uniform", "1", "number of inputs"))
LecunNormal = _scaling("LecunNormal", 1.0, "fan_in", "truncated_normal", _DOC % ("normal", "1", "number of inputs"))
HeUniform = _scaling("HeUniform", 2.0, "fan_in", "uniform", _DOC % ("uniform", "2", "number of inputs"))
HeNormal = _scaling("HeNormal", 2.0, "fan_in", "truncated_normal", _DOC % ("normal", "2", "number of inputs"))


class _Plain(_Drawn):
    """Without a seed, draws as the ops of tf.random do."""

    def _normal(self, shape, mean, stddev, dtype):
        if self.seed is None:
            return random_ops.random_normal(shape, mean, stddev, dtype)
        return super()._normal(shape, mean, stddev, dtype)

    def _uniform(self, shape, low, high, dtype):
        if self.seed is None:
            return random_ops.random_uniform(shape, low, high, dtype)
        return super()._uniform(shape, low, high, dtype)


class random_normal_initializer(_Plain, RandomNormal):
    """Fills a variable with normal random numbers."""


class random_uniform_initializer(_Plain, RandomUniform):
    """Fills a variable with uniform random numbers."""


class constant_initializer(Constant):
    """Fills a variable with a value."""

    _fields = ("value", "support_partition")

    def __init__(self, value=0, support_partition=False):
        if not np.isscalar(value) and not isinstance(value, (list, tuple, np.ndarray)):
            raise TypeError("Invalid type for initial value: %s Expected Python scalar, list or tuple of values, or numpy.ndarray."
                            % type(value).__name__)
        self.value, self.support_partition = value, support_partition


class zeros_initializer(Zeros):
    """Fills a variable with zeros."""


class ones_initializer(Ones):
    """Fills a variable with ones."""


PLAIN = {c.__name__: c for c in (random_normal_initializer, random_uniform_initializer, constant_initializer, zeros_initializer,
                                 ones_initializer)}
