"""tf.random.Generator, whose state is a variable, and further functions of a seed alone."""
import enum

import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.array_ops import _shape_tensor


class Algorithm(enum.Enum):
    """The algorithms of random generators; Weft has only Philox."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_WORDS = {"philox": Algorithm.PHILOX, "threefry": Algorithm.THREEFRY, "auto_select": Algorithm.AUTO_SELECT}
_STATE = {1: 3, 2: 2}


def _algorithm(alg):
    """Returns the number of an algorithm, given as a number, a name or an Algorithm."""
    if isinstance(alg, str):
        if alg not in _WORDS:
            raise ValueError("Argument `alg` got unsupported string value %s. Supported string values are %s." % (alg, sorted(_WORDS)))
        alg = _WORDS[alg]
    number = alg.value if isinstance(alg, Algorithm) else int(alg)
    if number not in (1, 2, 3):
        raise ValueError("Argument `alg` got unsupported value %s" % alg)
    if number == 2:
        raise NotImplementedError("the algorithm %s (alg=%r) is not in Weft: use 'philox'" % (Algorithm.THREEFRY.name, alg))
    return 1


def create_rng_state(seed, alg):
    """Returns the state of a generator for a seed.

    Args:
      seed: a whole number, or a vector of them.
      alg: the algorithm: 1, "philox" or Algorithm.PHILOX.
    """
    length = _STATE[_algorithm(alg)]
    if hasattr(seed, "op"):
        seed = array_ops.reshape(math_ops.cast(seed, dtypes.int64), [-1])[:length]
        more = math_ops.maximum(length - array_ops.shape(seed)[0], 0)
        return array_ops.concat([seed, array_ops.zeros([more], dtypes.int64)], 0)
    given = np.array([int(s) & 0xffffffffffffffff for s in np.reshape(np.array(seed, dtype=object), [-1])], np.uint64).astype(np.int64)
    return np.concatenate([given[:length], np.zeros(max(0, length - len(given)), np.int64)])


class Generator(metaclass=Named):
    """A generator of random numbers whose state is a variable.

    Args:
      copy_from: a Generator to copy.
      state: a vector that is the state.
      alg: the algorithm of `state`: 1, "philox" or Algorithm.PHILOX.
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        from weft._core.ops.resource_variables import ResourceVariable
        if copy_from is not None:
            if not (alg is None and state is None):
                raise AssertionError("The argument `copy_from` cannot be combined with others: alg=%s, state=%s" % (alg, state))
            state, self._alg = copy_from.state.read_value(), copy_from.algorithm
        else:
            if alg is None or state is None:
                raise AssertionError("Arguments `alg` and `state` must both be given: alg=%s, state=%s" % (alg, state))
            self._alg = _algorithm(alg)
            state = math_ops.cast(convert_to_tensor(state), dtypes.int64)
        with name_scope("random_generator"):
            self._state_var = ResourceVariable(state, dtype=dtypes.int64, trainable=False, name="StateVar")

    @classmethod
    def from_state(cls, state, alg):
        """Returns a generator with a state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """Returns a generator with the state for a seed."""
        alg = 1 if alg is None else _algorithm(alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """Returns a generator with a random state that the system draws."""
        alg = 1 if alg is None else _algorithm(alg)
        return cls(state=op("NonDeterministicInts", shape=np.array([_STATE[alg]], np.int32), dtype=dtypes.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """Returns a generator with a key and a counter."""
        return cls(state=_key_counter(key, counter, _algorithm(alg)), alg=alg)

    @property
    def state(self):
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self):
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self):
        """The key of the state."""
        return self._state_var.read_value()[2]

    def reset(self, state):
        """Assigns a state."""
        return self._state_var.assign(math_ops.cast(convert_to_tensor(state), dtypes.int64))

    def reset_from_seed(self, seed):
        """Assigns the state for a seed."""
        return self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Assigns a key and a counter."""
        return self._state_var.assign(_key_counter(key, counter, self._alg))

    def skip(self, delta):
        """Advances the counter by as many as delta draws, and returns the state before."""
        return op("RngReadAndSkip", resource=self.state.handle, alg=np.int32(self._alg),
                  delta=math_ops.cast(convert_to_tensor(delta), dtypes.uint64))

    def _prepared(self, shape):
        """Returns the key, the counter and the algorithm of the next draws."""
        before = self.skip(math_ops.reduce_prod(shape))
        return dict(key=op("Bitcast", input=before[2:3], type=dtypes.uint64), alg=np.int32(self._alg),
                    counter=op("Bitcast", input=before[:2], type=dtypes.uint64), shape=shape)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Returns normal random numbers."""
        return self._scaled("StatelessRandomNormalV2", "stateful_normal", shape, stddev, mean, dtype, name)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Returns normal random numbers; those beyond two standard deviations are drawn again."""
        return self._scaled("StatelessTruncatedNormalV2", "truncated_normal", shape, stddev, mean, dtype, name)

    def _scaled(self, kind, default, shape, by, plus, dtype, name):
        with name_scope(name, default, [shape, by, plus]) as scope:
            drawn = op(kind, dtype=as_dtype(dtype), **self._prepared(_shape_tensor(shape)))
            return op("AddV2", scope, x=drawn * convert_to_tensor(by, dtype), y=convert_to_tensor(plus, dtype))

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Returns random numbers with a uniform distribution over [minval, maxval)."""
        dtype = as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError("Must specify maxval for integer dtype %r" % dtype)
            maxval = 1
        if not dtype.is_integer:
            low = convert_to_tensor(minval, dtype)
            return self._scaled("StatelessRandomUniformV2", "stateful_uniform", shape, convert_to_tensor(maxval, dtype) - low, low,
                dtype, name)
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            return op("StatelessRandomUniformIntV2", scope, minval=convert_to_tensor(minval, dtype, name="min"),
                      maxval=convert_to_tensor(maxval, dtype, name="max"), **self._prepared(_shape_tensor(shape)))

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Returns random integers with a uniform distribution over all values of their type."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            return op("StatelessRandomUniformFullIntV2", scope, dtype=as_dtype(dtype), **self._prepared(_shape_tensor(shape)))

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """Raises NotImplementedError: binomial numbers are not available."""
        raise NotImplementedError("tf.random.Generator.binomial is not in Weft: use tf.random.stateless_binomial with make_seeds")

    def make_seeds(self, count=1):
        """Returns seeds for functions of tf.random.stateless_*, as the columns of a matrix of two rows."""
        keys = self.uniform_full_int([count], dtype=dtypes.int64)
        return array_ops.stack([keys, array_ops.zeros_like(keys)])

    def split(self, count=1):
        """Raises NotImplementedError: more generators are not available in a graph, as in TensorFlow."""
        raise NotImplementedError("tf.random.Generator.split is not available in a graph: use make_seeds")


def _key_counter(key, counter, alg):
    counter = math_ops.cast(convert_to_tensor(counter), dtypes.int64)
    key = array_ops.reshape(math_ops.cast(convert_to_tensor(key), dtypes.int64), [1])
    return array_ops.concat([counter, key], 0)


_GLOBAL = {}


def get_global_generator():
    """Returns the generator of the default graph, which is made on first use."""
    from weft._core.framework.graph import get_default_graph
    graph = get_default_graph()
    if _GLOBAL.get("graph") is not graph:
        _GLOBAL.update(graph=graph, generator=Generator.from_non_deterministic_state())
    return _GLOBAL["generator"]


def set_global_generator(generator):
    """Replaces the generator that get_global_generator returns.

    Args:
      generator: a Generator.
    """
    from weft._core.framework.graph import get_default_graph
    _GLOBAL.update(graph=get_default_graph(), generator=generator)


# ---- functions of a seed ----

def _key(seed):
    return op("StatelessRandomGetKeyCounter", seed=seed)


def _checked_auto(alg):
    """Returns the algorithm for an op, for which "auto_select" is a valid value."""
    _algorithm(alg)
    number = _WORDS[alg].value if isinstance(alg, str) else alg.value if isinstance(alg, Algorithm) else alg
    return np.int32(number)


def split(seed, num=2, alg="auto_select"):
    """Returns several seeds derived from a seed.

    Args:
      seed: a seed of two numbers.
      num: how many to make.
      alg: the algorithm: "auto_select" or "philox".
    """
    seed = convert_to_tensor(seed)
    return _full_int([num, 2], seed, seed.dtype, alg)


def _full_int(shape, seed, dtype, alg):
    with name_scope(None, "stateless_random_uniform") as scope:
        dims = _shape_tensor(shape)
        key, counter = _key(seed)
        return op("StatelessRandomUniformFullIntV2", scope, shape=dims, key=key, counter=counter, alg=_checked_auto(alg), dtype=dtype)


def fold_in(seed, data, alg="auto_select"):
    """Returns a seed derived from a seed and a number.

    Args:
      seed: a seed of two numbers.
      data: the number.
      alg: the algorithm: "auto_select" or "philox".
    """
    data = convert_to_tensor(data)
    first = _full_int([1], convert_to_tensor(seed), data.dtype, alg)
    return array_ops.stack([first[0], data])


def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """Returns the rows of a tensor in a random order that the seed determines.

    Args:
      value: the tensor.
      seed: a seed of two numbers.
      alg: the algorithm: "auto_select" or "philox".
      name: a name for the operation.
    """
    with name_scope(name, "stateless_shuffle", [value, seed]):
        key, counter = _key(seed)
        return op("StatelessShuffle", value=value, key=key, counter=counter, alg=_checked_auto(alg))


def index_shuffle(index, seed, max_index):
    """Returns the position of an index in a random permutation of 0..max_index that the seed determines.

    Args:
      index: a number, or a vector of them.
      seed: a seed of two numbers.
      max_index: the largest number, or one for each index.
    """
    seed = convert_to_tensor(seed)
    paddings = [[1, 0]] + [[0, 0]] * ((seed.shape.ndims or 1) - 1)
    return op("RandomIndexShuffle", index=index, seed=array_ops.pad(seed, paddings, constant_values=498247692), max_index=max_index)


def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """Returns binomial random numbers that the seed determines.

    Args:
      shape: the shape of the result; it ends with that of the counts and probabilities.
      seed: a seed of two numbers.
      counts: how many trials.
      probs: the probability of success.
      output_dtype: the type of the result.
      name: a name for the operation.
    """
    with name_scope(name, "stateless_random_binomial", [shape, seed, counts, probs]):
        probs = convert_to_tensor(probs, dtypes.float32 if not hasattr(probs, "dtype") else None, name="probs")
        counts = convert_to_tensor(counts, probs.dtype if not hasattr(counts, "dtype") else None, name="counts")
        return op("StatelessRandomBinomial", shape=_shape_tensor(shape), seed=seed, counts=counts, probs=probs, dtype=output_dtype)


def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Returns gamma random numbers that the seed determines.

    Args:
      shape: the shape of the result; it ends with that of alpha and beta.
      seed: a seed of two numbers.
      alpha: the shape parameters.
      beta: the inverse scales; 1 by default.
      dtype: the type of alpha and beta.
      name: a name for the operation.
    """
    with name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]):
        dims = _shape_tensor(shape)
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        whole = op("BroadcastArgs", s0=array_ops.shape(alpha), s1=array_ops.shape(beta))
        alpha = op("BroadcastTo", input=alpha, shape=whole)
        key, counter = _key(seed)
        drawn = op("StatelessRandomGammaV3", shape=dims, key=key, counter=counter, alg=np.int32(1), alpha=alpha)
        return op("Maximum", x=np.finfo(alpha.dtype.as_numpy_dtype).tiny, y=drawn / beta)


def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Returns Poisson random numbers that the seed determines.

    Args:
      shape: the shape of the result; it ends with that of the rates.
      seed: a seed of two numbers.
      lam: the rates.
      dtype: the type of the result.
      name: a name for the operation.
    """
    with name_scope(name, "stateless_random_poisson", [shape, seed, lam]):
        return op("StatelessRandomPoisson", shape=_shape_tensor(shape), seed=seed, lam=lam, dtype=dtype)


def _classes(default, logits, num_samples, seed, dtype, name):
    with name_scope(name, default, [logits, seed]):
        return op("StatelessMultinomial", logits=convert_to_tensor(logits, name="logits"), num_samples=num_samples, seed=seed,
                  output_dtype=dtype)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Returns random classes that the seed determines.

    Args:
      logits: a matrix; each row has the log-probabilities, up to a constant, of a draw.
      num_samples: how many to draw for each row.
      seed: a seed of two numbers.
      dtype: the type of the result.
      name: a name for the operation.
    """
    return _classes("stateless_categorical", logits, num_samples, seed, dtype, name)


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """Returns random classes that the seed determines.

    Args:
      logits: a matrix; each row has the log-probabilities, up to a constant, of a draw.
      num_samples: how many to draw for each row.
      seed: a seed of two numbers.
      output_dtype: the type of the result.
      name: a name for the operation.
    """
    return _classes("stateless_multinomial", logits, num_samples, seed, output_dtype, name)
