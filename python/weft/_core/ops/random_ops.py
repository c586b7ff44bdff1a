"""tf.random_*: seeds are drawn as TensorFlow draws them."""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, is_number, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.ops.array_ops import _shape_tensor

_DEFAULT_GRAPH_SEED = 87654321


def get_seed(op_seed):
    """(seed, seed2) of a random op: tf.get_seed."""
    graph = get_default_graph()
    seeds = (None, None)
    if graph.seed is not None:
        if op_seed is None:  # as TensorFlow 2.15: how many were drawn before
            op_seed = graph._seeds_drawn
            graph._seeds_drawn += 1
        seeds = (graph.seed, op_seed)
    elif op_seed is not None:
        seeds = (_DEFAULT_GRAPH_SEED, op_seed)
    if seeds == (0, 0):
        return 0, 2**31 - 1
    return tuple(0 if s is None else int(s) % 2**31 for s in seeds)


def _draw(kind, shape, dtype, seed, **more):
    first, second = get_seed(seed)
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


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    dtype = as_dtype(dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError("Must specify maxval for integer dtype %r" % dtype)
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        dims = _shape_tensor(shape)
        if not dtype.is_integer and is_number(minval) and is_number(maxval) and (minval, maxval) == (0, 1):
            return _draw("RandomUniform", dims, dtype, seed)
        low = convert_to_tensor(minval, dtype, name="min")
        high = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            first, second = get_seed(seed)
            return op("RandomUniformInt", scope, shape=dims, minval=low, maxval=high, seed=first, seed2=second)
        return op("Add", scope, x=_draw("RandomUniform", dims, dtype, seed) * (high - low), y=low)


def random_shuffle(value, seed=None, name=None):
    first, second = get_seed(seed)
    return op("RandomShuffle", name, value=value, seed=first, seed2=second)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=dtypes.int64):
    first, second = get_seed(seed)
    return op("Multinomial", name, logits=logits, num_samples=num_samples, seed=first, seed2=second,
              output_dtype=output_dtype)


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    from weft._core.ops.array_ops import shape as shape_of
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        dims = _shape_tensor(shape)
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        whole = op("BroadcastArgs", s0=shape_of(alpha), s1=shape_of(beta))
        alpha = op("BroadcastTo", input=alpha, shape=whole)
        first, second = get_seed(seed)
        drawn = op("RandomGamma", shape=dims, alpha=alpha, seed=first, seed2=second)
        least = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        return op("Maximum", x=least, y=drawn / beta)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    with name_scope(name, "random_poisson", [lam, shape]):
        dims = _shape_tensor(shape)
        first, second = get_seed(seed)
        return op("RandomPoissonV2", shape=dims, rate=lam, dtype=dtype, seed=first, seed2=second)


def random_crop(value, size, seed=None, name=None):
    from weft._core.ops.array_ops import shape as shape_of, slice as slice_op
    with name_scope(name, "random_crop", [value, size]) as scope:
        value, size = convert_to_tensor(value, name="value"), convert_to_tensor(size, dtypes.int32, name="size")
        limit = shape_of(value) - size + 1
        offset = random_uniform(shape_of(size), dtype=dtypes.int32, maxval=2**31 - 1, seed=seed) % limit
        return slice_op(value, offset, size, name=scope)
