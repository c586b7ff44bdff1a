"""Initializers: callables (shape, dtype, partition_info) -> tensor, with TensorFlow's names."""
import inspect
import math

import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import constant
from weft._core.framework.dtypes import as_dtype
from weft._core.ops import array_ops, linalg, math_ops, random_ops


class Initializer(metaclass=Named):
    def __call__(self, shape, dtype=None, partition_info=None):
        raise NotImplementedError

    def get_config(self):
        """Returns the arguments that create an equal initializer, with types by name."""
        given = [p for p in inspect.signature(type(self)).parameters if p != "verify_shape"]
        return {p: getattr(v, "name", v) if p == "dtype" else v for p, v in ((p, vars(self)[p]) for p in given)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Zeros(Initializer):
    def __init__(self, dtype=dtypes.float32):
        self.dtype = as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return array_ops.zeros(shape, dtype or self.dtype)


class Ones(Initializer):
    def __init__(self, dtype=dtypes.float32):
        self.dtype = as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return array_ops.ones(shape, dtype or self.dtype)


class Constant(Initializer):
    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError("Invalid type for initial value=%r of type: %s. Expected Python scalar, list or tuple of "
                            "values, or numpy.ndarray." % (value, type(value).__name__))
        self.value, self.dtype, self._verify_shape = value, as_dtype(dtype), verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        dtype = as_dtype(dtype or self.dtype)
        value = self.value
        if dtype.is_integer and isinstance(value, float):  # As in TensorFlow, numpy converts the value.
            value = np.asarray(value).astype(dtype.as_numpy_dtype)
        return constant(value, dtype, shape=shape, verify_shape=bool(verify_shape or self._verify_shape))


class RandomUniform(Initializer):
    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=dtypes.float32):
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, seed=self.seed)


class RandomNormal(Initializer):
    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.random_normal(shape, self.mean, self.stddev, dtype or self.dtype, seed=self.seed)


class TruncatedNormal(Initializer):
    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, seed=self.seed)


def fans(shape):
    shape = [int(d) for d in shape]
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = int(np.prod(shape[:-2])) if len(shape) > 2 else 1
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        if scale <= 0.:
            raise ValueError("Argument `scale` must be a positive float. Received: %s" % scale)
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument: %s" % mode)
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument: %s" % distribution)
        self.scale, self.mode, self.distribution, self.seed, self.dtype = scale, mode, distribution, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = dtype or self.dtype
        whole = shape if partition_info is None else partition_info.full_shape
        fan_in, fan_out = fans(whole)
        scale = self.scale / max(1., {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.}[self.mode])
        if self.distribution in ("normal", "truncated_normal"):
            return random_ops.truncated_normal(shape, 0.0, math.sqrt(scale) / .87962566103423978, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return random_ops.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


class UniformUnitScaling(Initializer):
    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        self.factor, self.seed, self.dtype = factor, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        size = max(1, int(np.prod([int(d) for d in shape[:-1]])))
        limit = math.sqrt(3.0 / size) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, dtype or self.dtype, seed=self.seed)


class Identity(Initializer):
    def __init__(self, gain=1.0, dtype=dtypes.float32):
        self.gain, self.dtype = gain, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        dims = [int(d) for d in (shape if partition_info is None else partition_info.full_shape)]
        if len(dims) != 2:
            raise ValueError("The tensor to initialize, specified by argument `shape` must be at least two-dimensional. "
                             "Received shape=%s" % (shape,))
        dtype = as_dtype(dtype or self.dtype)
        made = linalg.eye(dims[0], None if dims[0] == dims[1] else dims[1], dtype=dtype)
        if partition_info is not None:
            made = array_ops.slice(made, partition_info.var_offset, shape)
        return self.gain * made


class Orthogonal(Initializer):
    """Fills a variable with an orthogonal matrix: the Q of a random normal matrix, with the signs of R's diagonal."""

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain, self.seed, self.dtype = gain, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        dims = [int(d) for d in shape]
        if len(dims) < 2:
            raise ValueError("The tensor to initialize, specified by argument `shape` must be at least two-dimensional. "
                             "Received shape=%s" % (shape,))
        rows, columns = int(np.prod(dims[:-1])), dims[-1]
        drawn = random_ops.random_normal([max(rows, columns), min(rows, columns)], dtype=dtype or self.dtype, seed=self.seed)
        q, r = linalg.qr(drawn, full_matrices=False)
        q = q * math_ops.sign(math_ops.diag_part(r))
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, dims)


class GlorotUniform(VarianceScaling):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed)  # TensorFlow does not use dtype here


class GlorotNormal(VarianceScaling):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)  # TensorFlow does not use dtype here


def lecun_normal(seed=None):
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed=None):
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


zeros_initializer, ones_initializer, constant_initializer = Zeros, Ones, Constant
random_uniform_initializer, random_normal_initializer = RandomUniform, RandomNormal
truncated_normal_initializer, variance_scaling_initializer = TruncatedNormal, VarianceScaling
uniform_unit_scaling_initializer, orthogonal_initializer, identity_initializer = UniformUnitScaling, Orthogonal, Identity
glorot_uniform_initializer, glorot_normal_initializer = GlorotUniform, GlorotNormal
zeros, ones = Zeros, Ones


def default_for(dtype, name):
    """Returns the initializer that get_variable uses if none is given."""
    dtype = as_dtype(dtype)
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype == dtypes.string:
        return Zeros()
    raise ValueError("An initializer for variable %s of %s is required" % (name, dtype.name))
