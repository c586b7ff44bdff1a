"""tf.random.stateless_*: random numbers that depend only on a seed of two numbers."""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops.array_ops import _shape_tensor


def _scaled(kind, default, shape, seed, by, plus, dtype, name):
    with name_scope(name, default, [shape, seed, by, plus]) as scope:
        drawn = op(kind, shape=_shape_tensor(shape), seed=convert_to_tensor(seed, name="seed"), dtype=dtype)
        return op("Add", scope, x=drawn * convert_to_tensor(by, dtype), y=convert_to_tensor(plus, dtype))


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None):
    dtype = as_dtype(dtype)
    if not dtype.is_integer:
        high = 1 if maxval is None else maxval
        return _scaled("StatelessRandomUniform", "stateless_random_uniform", shape, seed, high - minval, minval, dtype, name)
    with name_scope(name, "stateless_random_uniform", [shape, seed]) as scope:
        dims, seed = _shape_tensor(shape), convert_to_tensor(seed, name="seed")
        if minval is None and maxval is None:
            return op("StatelessRandomUniformFullInt", scope, shape=dims, seed=seed, dtype=dtype)
        if maxval is None:
            raise ValueError("Must specify maxval for integer dtype %r" % dtype)
        low, high = convert_to_tensor(minval, dtype, name="min"), convert_to_tensor(maxval, dtype, name="max")
        return op("StatelessRandomUniformInt", scope, shape=dims, seed=seed, minval=low, maxval=high)


def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    return _scaled("StatelessRandomNormal", "stateless_random_normal", shape, seed, stddev, mean, as_dtype(dtype), name)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    return _scaled("StatelessTruncatedNormal", "stateless_truncated_normal", shape, seed, stddev, mean, as_dtype(dtype), name)


def stateless_parameterized_truncated_normal(shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None):
    """Returns truncated normal random numbers that depend only on a seed.

    Args:
      shape: the shape of the result, which ends in the shape that the parameters broadcast to.
      seed: two integers.
      means: the means.
      stddevs: the deviations.
      minvals: the lower bounds.
      maxvals: the upper bounds.
      name: a name for the operation.
    """
    with name_scope(name, "stateless_parameterized_truncated_normal", [shape, seed, means, stddevs, minvals, maxvals]):
        dims, means = _shape_tensor(shape), convert_to_tensor(means)
        others = [convert_to_tensor(v, means.dtype) for v in (stddevs, minvals, maxvals)]
        return op("StatelessParameterizedTruncatedNormal", None, shape=dims, seed=convert_to_tensor(seed), means=means,
                  stddevs=others[0], minvals=others[1], maxvals=others[2])
