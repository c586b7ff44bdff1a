"""Distributions of one-hot classes, relaxed classes and mixtures, and percentiles."""
import functools
import operator as python_operator

import numpy as np

from weft._core.distributions import util
from weft._core.distributions.bijectors import Exp
from weft._core.distributions.compound import TransformedDistribution, _given
from weft._core.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from weft._core.distributions.kullback_leibler import RegisterKL
from weft._core.distributions.vectors import Categorical, _kl_categorical_categorical
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.nn import nn
from weft._core.ops import array_ops, check_ops, linalg, math_ops, random_ops, special_math
from weft._core.ops.check_ops import assert_positive

# ---- classes as vectors ----

class OneHotCategorical(Distribution):
    """A class, as a one-hot vector.

    Args:
      logits: the log-probabilities, up to a constant; give these or `probs`.
      probs: the probabilities.
      dtype: the type of the samples.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True, name="OneHotCategorical"):
        given = _given(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = util.logits_and_probs(logits, probs, True, validate_args, name)
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._logits,
            self._probs], name)

    @property
    def event_size(self):
        """The number of classes, as a tensor."""
        return array_ops.shape(self.logits)[-1]

    @property
    def logits(self):
        """The log-probabilities, up to a constant."""
        return self._logits

    @property
    def probs(self):
        """The probabilities."""
        return self._probs

    def _batch_shape(self):
        return TensorShape(None) if self.logits.shape.ndims is None else self.logits.shape[:-1]

    def _batch_shape_tensor(self):
        return array_ops.shape(self.logits)[:-1]

    def _event_shape(self):
        return TensorShape([None]) if self.logits.shape.ndims is None else self.logits.shape[-1:]

    def _event_shape_tensor(self):
        return array_ops.shape(self.logits)[-1:]

    def _sample_n(self, n, seed=None):
        size = self.event_size
        drawn = random_ops.multinomial(array_ops.reshape(self.logits, [-1, size]), n, seed=seed)
        drawn = array_ops.reshape(array_ops.transpose(drawn), array_ops.concat([[n], self.batch_shape_tensor()], 0))
        return array_ops.one_hot(drawn, size, dtype=self.dtype)

    def _log_prob(self, x):
        x = math_ops.cast(x, self.logits.dtype)
        return math_ops.reduce_sum(x * nn.log_softmax(self.logits), axis=-1)

    def _prob(self, x):
        return math_ops.exp(self._log_prob(x))

    def _entropy(self):
        return -math_ops.reduce_sum(nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self):
        return array_ops.one_hot(math_ops.argmax(self.logits, axis=-1), self.event_size, dtype=self.dtype)

    def _mean(self):
        return array_ops.identity(self.probs)

    def _variance(self):
        return self.probs * (1.0 - self.probs)

    def _covariance(self):
        p = self.probs
        return linalg.set_diag(-math_ops.matmul(p[..., None], p[..., None, :]), self._variance())


RegisterKL(OneHotCategorical, OneHotCategorical)(_kl_categorical_categorical)


class ExpRelaxedOneHotCategorical(Distribution):
    """The logarithm of a RelaxedOneHotCategorical variable.

    Args:
      temperature: the temperature.
      logits: the log-probabilities, up to a constant; give these or `probs`.
      probs: the probabilities.
      dtype: the type of the samples; that of the logits by default.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
                 name="ExpRelaxedOneHotCategorical"):
        given = _given(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = util.logits_and_probs(logits, probs, True, validate_args, name, dtype)
            with control_dependencies([assert_positive(temperature)] if validate_args else []):
                self._temperature = convert_to_tensor(temperature, self._logits.dtype, name="temperature")
        super().__init__(self._logits.dtype if dtype is None else dtypes.as_dtype(dtype), FULLY_REPARAMETERIZED, validate_args,
                         allow_nan_stats, given, [self._logits, self._probs, self._temperature], name)

    @property
    def temperature(self):
        """The temperature."""
        return self._temperature

    @property
    def logits(self):
        """The log-probabilities, up to a constant."""
        return self._logits

    @property
    def probs(self):
        """The probabilities."""
        return self._probs

    @property
    def event_size(self):
        """The number of classes, as a tensor."""
        return array_ops.shape(self.logits)[-1]

    def _batch_shape(self):
        return TensorShape(None) if self.logits.shape.ndims is None else self.logits.shape[:-1]

    def _batch_shape_tensor(self):
        return array_ops.shape(self.logits)[:-1]

    def _event_shape(self):
        return TensorShape([None]) if self.logits.shape.ndims is None else self.logits.shape[-1:]

    def _event_shape_tensor(self):
        return array_ops.shape(self.logits)[-1:]

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], array_ops.shape(self.logits)], 0)
        least = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random_ops.random_uniform(shape, minval=least, maxval=1.0, seed=seed, dtype=self.dtype)
        noisy = (-math_ops.log(-math_ops.log(uniform)) + self.logits) / self.temperature
        return nn.log_softmax(noisy)

    def _log_prob(self, x):
        size = math_ops.cast(self.event_size, self.dtype)
        normalization = math_ops.lgamma(size) + (size - 1.0) * math_ops.log(self.temperature)
        soft = nn.log_softmax(self.logits - x * self.temperature)
        return math_ops.reduce_sum(soft, axis=-1) + normalization


class RelaxedOneHotCategorical(TransformedDistribution):
    """Probabilities that come close to a one-hot vector as the temperature falls.

    Args:
      temperature: the temperature.
      logits: the log-probabilities, up to a constant; give these or `probs`.
      probs: the probabilities.
      dtype: the type of the samples; that of the logits by default.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
                 name="RelaxedOneHotCategorical"):
        given = _given(locals())
        base = ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype, validate_args, allow_nan_stats)
        super().__init__(base, Exp(validate_args=validate_args), name=name)
        self._parameters = given

    @property
    def temperature(self):
        """The temperature."""
        return self.distribution.temperature

    @property
    def logits(self):
        """The log-probabilities, up to a constant."""
        return self.distribution.logits

    @property
    def probs(self):
        """The probabilities."""
        return self.distribution.probs

    @property
    def event_size(self):
        """The number of classes, as a tensor."""
        return self.distribution.event_size


# ---- mixtures ----

class Mixture(Distribution):
    """One of several distributions, chosen by a Categorical.

    Args:
      cat: the Categorical that chooses.
      components: the distributions.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      use_static_graph: whether the samples of all components are multiplied by masks and added; by default one is selected.
      name: the name of the scope of its ops.
    """

    def __init__(self, cat, components, validate_args=False, allow_nan_stats=True, use_static_graph=False, name="Mixture"):
        given = _given(locals())
        if not isinstance(cat, Categorical):
            raise TypeError("cat must be a Categorical distribution, but saw: %s" % cat)
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not isinstance(components, (list, tuple)) or not all(isinstance(c, Distribution) for c in components):
            raise TypeError("all entries in components must be Distribution instances but saw: %s" % (components,))
        if not all(c.dtype == components[0].dtype for c in components):
            raise TypeError("All components must have the same dtype, but saw dtypes: %s" % [(c.name, c.dtype) for c in components])
        classes = cat.logits.shape[-1].value if cat.logits.shape.ndims is not None else None
        if classes is not None and classes != len(components):
            raise ValueError("cat.num_classes != len(components): %d vs. %d" % (classes, len(components)))
        with name_scope(name) as name:
            self._cat, self._components, self._masks = cat, list(components), use_static_graph
        super().__init__(components[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [p for c in components for p in c._graph_parents], name)

    @property
    def cat(self):
        """The Categorical that chooses."""
        return self._cat

    @property
    def components(self):
        """The distributions."""
        return self._components

    @property
    def num_components(self):
        """How many there are."""
        return len(self._components)

    def _batch_shape(self):
        return self._cat.batch_shape

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _event_shape(self):
        return functools.reduce(lambda a, b: a.merge_with(b), [c.event_shape for c in self._components])

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _weighted(self, values):
        """Returns the sum of values times the probabilities; they have the dimensions of a batch and an event."""
        probs = [p for p in _unstack_last(self._cat.probs, self.num_components)]
        for _ in range(self.event_shape.ndims):
            probs = [p[..., None] for p in probs]
        return functools.reduce(python_operator.add, [p * v for p, v in zip(probs, values)])

    def _mean(self):
        return self._weighted([c.mean() for c in self._components])

    def _variance(self):
        means = [c.mean() for c in self._components]
        mean = self._weighted(means)
        return self._weighted([c.variance() + math_ops.square(m) for c, m in zip(self._components, means)]) - math_ops.square(mean)

    def _stddev(self):
        return math_ops.sqrt(self._variance())

    def _log_parts(self, x, method):
        logs = _unstack_last(nn.log_softmax(self._cat.logits), self.num_components)
        return array_ops.stack([w + getattr(c, method)(x) for w, c in zip(logs, self._components)])

    def _log_prob(self, x):
        return math_ops.reduce_logsumexp(self._log_parts(x, "log_prob"), axis=0)

    def _log_cdf(self, x):
        return math_ops.reduce_logsumexp(self._log_parts(x, "log_cdf"), axis=0)

    def _prob(self, x):
        return math_ops.exp(self._log_prob(x))

    def _sample_n(self, n, seed=None):
        chosen = self._cat.sample(n, seed=util.new_seed(seed, "mixture_cat"))
        drawn, seed = [], util.new_seed(seed, "mixture")
        for i, c in enumerate(self._components):
            drawn.append(c.sample(n, seed=None if seed is None else util.new_seed(seed, str(i))))
        for _ in range(self.event_shape.ndims):
            chosen = chosen[..., None]
        if not self._masks:
            found = drawn[0]
            for i, d in enumerate(drawn[1:], 1):
                found = special_math.where_v2(math_ops.equal(chosen, i), d, found)
            return found
        masks = [math_ops.cast(math_ops.equal(chosen, i), self.dtype) for i in range(self.num_components)]
        return functools.reduce(python_operator.add, [m * d for m, d in zip(masks, drawn)])

    def entropy_lower_bound(self, name="entropy_lower_bound"):
        """Returns a lower bound of the entropy: the mean of the entropies of the components."""
        with self._name_scope(name):
            probs = _unstack_last(self._cat.probs, self.num_components)
            return functools.reduce(python_operator.add, [p * c.entropy() for p, c in zip(probs, self._components)])


def _unstack_last(x, n):
    return [x[..., i] for i in range(n)]


class MixtureSameFamily(Distribution):
    """One of a batch of distributions, chosen by a Categorical.

    Args:
      mixture_distribution: the Categorical that chooses.
      components_distribution: the distributions: the last dimension of the batch is chosen from.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, mixture_distribution, components_distribution, validate_args=False, allow_nan_stats=True,
            name="MixtureSameFamily"):
        given = _given(locals())
        if not mixture_distribution.dtype.is_integer:
            raise ValueError("`mixture_distribution.dtype` (%s) is not over integers" % mixture_distribution.dtype.name)
        with name_scope(name) as name:
            self._mixture, self._components = mixture_distribution, components_distribution
        known = components_distribution.batch_shape
        if known.ndims is None or known.ndims < 1:
            raise ValueError("`components_distribution` must have a batch, got %s" % known)
        super().__init__(components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         mixture_distribution._graph_parents + components_distribution._graph_parents, name)

    @property
    def mixture_distribution(self):
        """The Categorical that chooses."""
        return self._mixture

    @property
    def components_distribution(self):
        """The distributions."""
        return self._components

    def _batch_shape(self):
        return self._components.batch_shape[:-1]

    def _batch_shape_tensor(self):
        return self._components.batch_shape_tensor()[:-1]

    def _event_shape(self):
        return self._components.event_shape

    def _event_shape_tensor(self):
        return self._components.event_shape_tensor()

    def _axis(self):
        return -1 - self.event_shape.ndims

    def _widened(self, x):
        for _ in range(self.event_shape.ndims):
            x = x[..., None]
        return x

    def _sample_n(self, n, seed=None):
        drawn = self._components.sample(n, seed=seed)
        size = array_ops.shape(self._mixture.logits)[-1]
        chosen = self._mixture.sample(n, seed=util.new_seed(seed, "mixture"))
        if self._mixture.batch_shape.ndims == 0 and self.batch_shape.ndims:
            # Each distribution of the batch gets its own choice.
            shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
            chosen = self._mixture.sample(shape, seed=util.new_seed(seed, "mixture"))
        mask = self._widened(array_ops.one_hot(chosen, size, dtype=self.dtype))
        return math_ops.reduce_sum(drawn * mask, axis=self._axis())

    def _log_prob(self, x):
        x = array_ops.expand_dims(x, self._axis())
        return math_ops.reduce_logsumexp(self._components.log_prob(x) + nn.log_softmax(self._mixture.logits), axis=-1)

    def _cdf(self, x):
        x = array_ops.expand_dims(x, self._axis())
        return math_ops.reduce_sum(self._components.cdf(x) * self._mixture.probs, axis=-1)

    def _mean(self):
        return math_ops.reduce_sum(self._widened(self._mixture.probs) * self._components.mean(), axis=self._axis())

    def _variance(self):
        probs, means = self._widened(self._mixture.probs), self._components.mean()
        mean = array_ops.expand_dims(self._mean(), self._axis())
        inner = math_ops.reduce_sum(probs * self._components.variance(), axis=self._axis())
        return inner + math_ops.reduce_sum(probs * math_ops.squared_difference(means, mean), axis=self._axis())


# ---- statistics ----

def percentile(x, q, axis=None, interpolation=None, keep_dims=False, validate_args=False, name=None):
    """Returns the q-th percentile of x along axes.

    Args:
      x: numbers.
      q: a number between 0 and 100.
      axis: the axes; None is all of them.
      interpolation: "nearest" (the default), "lower" or "higher".
      keep_dims: whether the axes are kept, with length 1.
      validate_args: whether q is checked when the graph runs.
      name: a name for the operation.
    """
    interpolation = "nearest" if interpolation is None else interpolation
    if interpolation not in ("nearest", "lower", "higher"):
        raise ValueError("Argument 'interpolation' must be in %s.  Found %s" % (["lower", "higher", "nearest"], interpolation))
    with name_scope(name, "percentile", [x, q]):
        x = convert_to_tensor(x, name="x")
        q = math_ops.cast(convert_to_tensor(q, name="q"), dtypes.float64)
        if validate_args:
            with control_dependencies([check_ops.assert_greater_equal(q, np.float64(0)), check_ops.assert_less_equal(q,
                    np.float64(100))]):
                q = array_ops.identity(q)
        rank = x.shape.ndims
        axes = list(range(rank)) if axis is None else sorted(a % rank for a in np.reshape(axis, [-1]).tolist())
        rest = [i for i in range(rank) if i not in axes]
        shape = array_ops.shape(x)
        flat = array_ops.reshape(array_ops.transpose(x, rest + axes), array_ops.concat(
            [array_ops.gather(shape, np.array(rest, np.int32)), [-1]], 0))
        size = array_ops.shape(flat)[-1]
        # Top-k sorts in descending order.
        place = (1.0 - q / 100.0) * (math_ops.cast(size, dtypes.float64) - 1.0)
        place = {"nearest": math_ops.round, "lower": math_ops.ceil, "higher": math_ops.floor}[interpolation](place)
        place = math_ops.maximum(math_ops.minimum(math_ops.cast(place, dtypes.int32), size - 1), 0)
        found = array_ops.gather(nn.top_k(flat, k=size)[0], place, axis=-1)
        for a in axes if keep_dims else []:
            found = array_ops.expand_dims(found, a)
        return found
