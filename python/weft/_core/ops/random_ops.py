"""tf.random_*: random ops, with seeds drawn as in TensorFlow."""
import contextlib

import numpy as np

from weft._core.framework import dtypes, library
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.ops.array_ops import _shape_tensor

_DEFAULT_GRAPH_SEED, _MOST = 87654321, 2**31 - 1
_source = None  # the function that gives all seeds, while seed_source is open


@contextlib.contextmanager
def seed_source(draw):
    """While it is open, draw(helper) returns the two seeds of every random op. `helper` says that a function of the library
    makes the op and takes the first seed from the graph there.
    """
    global _source
    before, _source = _source, draw
    try:
        yield
    finally:
        _source = before


def own_seed(op_seed):
    """Returns the seed of an op: the given one; or, with a graph seed, the number of earlier ops without a seed; else
    None.
    """
    if _source is not None:
        return _source(True)[1]
    graph = get_default_graph()
    if op_seed is None and graph.seed is not None:
        op_seed = graph._seeds_drawn
        graph._seeds_drawn += 1
    return op_seed


def get_seed(op_seed):
    """Returns (seed, seed2) of a random op, or (None, None) if neither the graph nor the op has a seed: tf.get_seed."""
    if _source is not None:
        return _source(False)
    graph, op_seed = get_default_graph(), own_seed(op_seed)
    if op_seed is None:
        return None, None
    pair = tuple(s % _MOST for s in (_DEFAULT_GRAPH_SEED if graph.seed is None else graph.seed, op_seed))
    return (0, _MOST) if pair == (0, 0) else pair


def seeds(op_seed):
    """Returns the attributes seed and seed2 of a random op; zeros let the op choose."""
    return tuple(0 if s is None else int(s) for s in get_seed(op_seed))


def seed_operand(seed):
    """Returns the seed operands of a library helper, which are empty if neither the program nor the graph has a seed.
    """
    seed = own_seed(seed)
    return [] if seed is None else [float(seed % _MOST)]


def _draw(kind, shape, dtype, seed, **more):
    first, second = seeds(seed)
    return op(kind, shape=shape, dtype=dtype, seed=first, seed2=second, **more)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    with name_scope(name, "random_normal", [shape, mean, stddev]) as scope:
        dims = _shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        return op("Add", scope, x=_draw("RandomStandardNormal", dims, dtype, seed) * stddev, y=mean)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
        dims = _shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        return op("Add", scope, x=_draw("TruncatedNormal", dims, dtype, seed) * stddev, y=mean)


_UNIFORM_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    dtype = as_dtype(dtype)
    if dtype not in _UNIFORM_TYPES:
        raise ValueError("Argument `dtype` got invalid value %r. Accepted dtypes are (%s)." % (
            dtype, ", ".join("tf.%s" % t.name for t in _UNIFORM_TYPES)))
    if maxval is None:
        if dtype.is_integer:
            raise ValueError("Must specify maxval for integer dtype %r" % dtype)
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        dims = _shape_tensor(shape)
        # As in TensorFlow 2.15, bounds that are the Python ints 0 and 1 are omitted, and so is a lower bound that is
        # the int 0.
        from_zero = not dtype.is_integer and isinstance(minval, int) and minval == 0
        if from_zero and isinstance(maxval, int) and maxval == 1:
            return _draw("RandomUniform", dims, dtype, seed)
        low = convert_to_tensor(minval, dtype, name="min")
        high = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            first, second = seeds(seed)
            return op("RandomUniformInt", scope, shape=dims, minval=low, maxval=high, seed=first, seed2=second)
        drawn = _draw("RandomUniform", dims, dtype, seed)
        if from_zero:
            return op("Mul", x=drawn, y=high)
        width = op("Sub", "sub", x=high, y=low)
        return op("Add", scope, x=op("Mul", "mul", x=drawn, y=width), y=low)


def random_shuffle(value, seed=None, name=None):
    first, second = seeds(seed)
    return op("RandomShuffle", name, value=value, seed=first, seed2=second)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=dtypes.int64):
    with name_scope(name, "multinomial", [logits]):
        return _classes(logits, num_samples, seed, output_dtype)


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Draws classes with the probabilities softmax(logits).

    Args:
      logits: a matrix; row i has the unnormalized log-probabilities of the classes of draw i.
      num_samples: how many to draw for each row.
      dtype: tf.int64 (the default) or tf.int32.
      seed: the op's seed.
      name: a name for the operation.
    """
    with name_scope(name, "categorical", [logits]):
        return _classes(logits, num_samples, seed, dtype or dtypes.int64)


def _classes(logits, num_samples, seed, dtype):
    logits, (first, second) = convert_to_tensor(logits, name="logits"), seeds(seed)
    return op("Multinomial", logits=logits, num_samples=num_samples, seed=first, seed2=second, output_dtype=dtype)


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    from weft._core.ops.array_ops import shape as shape_of
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        dims = _shape_tensor(shape)
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        whole = op("BroadcastArgs", s0=shape_of(alpha), s1=shape_of(beta))
        alpha = op("BroadcastTo", input=alpha, shape=whole)
        first, second = seeds(seed)
        drawn = op("RandomGamma", shape=dims, alpha=alpha, seed=first, seed2=second)
        least = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        return op("Maximum", x=least, y=drawn / beta)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    with name_scope(name, "random_poisson", [lam, shape]):
        dims = _shape_tensor(shape)
        first, second = seeds(seed)
        return op("RandomPoissonV2", shape=dims, rate=lam, dtype=dtype, seed=first, seed2=second)


def random_crop(value, size, seed=None, name=None):
    with name_scope(name, "random_crop", [value, size]) as scope:
        value, size = convert_to_tensor(value, name="value"), convert_to_tensor(size, dtypes.int32, name="size")
        return library.helper("random_crop", scope, [value, size, *seed_operand(seed)])
