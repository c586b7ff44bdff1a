"""tf.keras.initializers: those of tf.initializers with Keras's defaults, also found by name."""
from weft._core.framework import dtypes
from weft._core.keras.serialization import deserialize_keras_object, serialize_keras_object
from weft._core.ops.init_ops import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    RandomNormal as _Normal,
    RandomUniform as _Uniform,
    TruncatedNormal as _Truncated,
    VarianceScaling,
    Zeros,
)


class RandomNormal(_Normal):
    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(_Uniform):
    def __init__(self, minval=-0.05, maxval=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(minval, maxval, seed, dtype)


class TruncatedNormal(_Truncated):
    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


class LecunNormal(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_in", "truncated_normal", seed)


class LecunUniform(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(1.0, "fan_in", "uniform", seed)


class HeNormal(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(2.0, "fan_in", "truncated_normal", seed)


class HeUniform(VarianceScaling):
    def __init__(self, seed=None):
        super().__init__(2.0, "fan_in", "uniform", seed)


_NAMES = {c.__name__: c for c in (Initializer, Constant, GlorotNormal, GlorotUniform, HeNormal, HeUniform, Identity, LecunNormal,
                                  LecunUniform, Ones, Orthogonal, RandomNormal, RandomUniform, TruncatedNormal, VarianceScaling, Zeros)}
_NAMES.update(constant=Constant, glorot_normal=GlorotNormal, glorot_uniform=GlorotUniform, he_normal=HeNormal, he_uniform=HeUniform,
              identity=Identity, lecun_normal=LecunNormal, lecun_uniform=LecunUniform, normal=RandomNormal, ones=Ones, one=Ones,
              orthogonal=Orthogonal, random_normal=RandomNormal, random_uniform=RandomUniform, truncated_normal=TruncatedNormal,
              uniform=RandomUniform, variance_scaling=VarianceScaling, zeros=Zeros, zero=Zeros)


def serialize(initializer, use_legacy_format=False):
    return serialize_keras_object(initializer)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    return deserialize_keras_object(config, _NAMES, custom_objects, "initializer")


def get(identifier):
    """Returns the initializer for a name, a serialized dictionary or a callable."""
    if identifier is None:
        return None
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if not callable(identifier):
        raise ValueError("Could not interpret initializer identifier: %s" % (identifier,))
    return identifier() if isinstance(identifier, type) else identifier
