"""Distributions over classes: Categorical, Multinomial, Dirichlet and DirichletMultinomial."""
import numpy as np

from weft._core.distributions import util
from weft._core.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from weft._core.distributions.kullback_leibler import RegisterKL
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.nn import nn
from weft._core.ops import array_ops, check_ops, functional_ops, linalg, math_ops, random_ops, special_math
from weft._core.ops.check_ops import assert_positive
from weft._core.ops.control_flow import with_dependencies


def _broadcast_event(event, params, base_dtype):
    """Returns (event, params) where the dimensions of the event and all but the last of the parameters are the same."""
    if event.dtype.is_floating:
        event = math_ops.cast(event, dtypes.int32)
    elif not event.dtype.is_integer:
        raise TypeError("`value` should have integer `dtype` or `self.dtype` (%s)" % base_dtype)
    same = (event.shape.is_fully_defined() and params.shape.ndims is not None and params.shape[:-1].is_fully_defined()
            and event.shape == params.shape[:-1])
    if not same:
        params *= array_ops.ones_like(array_ops.expand_dims(event, -1) if event.shape.ndims is None else event[..., None],
                                      dtype=params.dtype)
        event *= array_ops.ones(array_ops.shape(params)[:-1], dtype=event.dtype)
        if params.shape.ndims is not None:
            event.set_shape(params.shape[:-1])
    return event, params


class Categorical(Distribution):
    """A class number, drawn with given probabilities.

    Args:
      logits: the log-probabilities, up to a constant, along the last dimension; give these or `probs`.
      probs: the probabilities.
      dtype: the type of the samples.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
                 name="Categorical"):
        given = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = util.logits_and_probs(logits, probs, True, validate_args, name)
            self._find_shapes(self._logits)
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._logits, self._probs], name)

    def _find_shapes(self, logits):
        known = logits.shape
        if known.ndims is not None:
            self._batch_rank = convert_to_tensor(np.array(known.ndims - 1, np.int32), name="batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = array_ops.rank(logits) - 1
        shape = array_ops.shape(logits, name="logits_shape")
        if known.ndims is not None and known.dims[-1].value is not None:
            self._event_size = convert_to_tensor(np.array(known.dims[-1].value, np.int32), name="event_size")
        else:
            with name_scope("event_size"):
                self._event_size = shape[self._batch_rank]
        if known.ndims is not None and known[:-1].is_fully_defined():
            self._batch_shape_value = convert_to_tensor(np.array(known[:-1].as_list(), np.int32), name="batch_shape")
        else:
            with name_scope("batch_shape"):
                self._batch_shape_value = shape[:-1]

    @property
    def event_size(self):
        """The number of classes, as a tensor."""
        return self._event_size

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
        return array_ops.identity(self._batch_shape_value)

    def _event_shape(self):
        return TensorShape([])

    def _event_shape_tensor(self):
        return convert_to_tensor(np.array([], np.int32))

    def _sample_n(self, n, seed=None):
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = array_ops.reshape(logits, [-1, self.event_size])
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = random_ops.multinomial(logits, n, seed=seed, output_dtype=kind)
        drawn = array_ops.reshape(array_ops.transpose(drawn), array_ops.concat([[n], self.batch_shape_tensor()], 0))
        return math_ops.cast(drawn, self.dtype)

    def _event(self, k):
        k = convert_to_tensor(k, name="k")
        if self.validate_args:
            k = util.casting_closed(k, dtypes.int32)
        return k

    def _cdf(self, k):
        k, probs = _broadcast_event(self._event(k), self.probs, self.dtype.base_dtype)
        # The classes below k: their probabilities are summed.
        rows, flat = array_ops.reshape(probs, [-1, self.event_size]), array_ops.reshape(k, [-1])
        below = array_ops.sequence_mask(flat, self.event_size, dtype=probs.dtype)
        found = array_ops.reshape(math_ops.reduce_sum(below * rows, axis=-1), array_ops.shape(k))
        found.set_shape(k.shape)
        return found

    def _log_prob(self, k):
        k, logits = _broadcast_event(self._event(k), self.logits, self.dtype.base_dtype)
        return -nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _entropy(self):
        return -math_ops.reduce_sum(nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self):
        found = math_ops.cast(math_ops.argmax(self.logits, axis=self._batch_rank), self.dtype)
        found.set_shape(self.batch_shape)
        return found


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        delta = nn.log_softmax(a.logits) - nn.log_softmax(b.logits)
        return math_ops.reduce_sum(nn.softmax(a.logits) * delta, axis=-1)


class _Vectors(Distribution):
    """The base of distributions of vectors; `_shaped` has their dimensions, the event's last."""

    def _batch_shape_tensor(self):
        return array_ops.shape(self._shaped)[:-1]

    def _batch_shape(self):
        return TensorShape(None) if self._shaped.shape.ndims is None else self._shaped.shape[:-1]

    def _event_shape_tensor(self):
        return array_ops.shape(self._shaped)[-1:]

    def _event_shape(self):
        return TensorShape(None) if self._shaped.shape.ndims is None else self._shaped.shape[-1:]

    def _counts(self, counts):
        """Counts, behind checks that they are whole and sum to total_count."""
        if not self.validate_args:
            return counts
        counts = util.nonnegative_integers(counts)
        return with_dependencies([check_ops.assert_equal(
            self.total_count, math_ops.reduce_sum(counts, -1), message="counts must sum to `self.total_count`")], counts)


class Multinomial(_Vectors):
    """How often each class is drawn in `total_count` independent draws.

    Args:
      total_count: the number of draws, of floating type.
      logits: the log-probabilities, up to a constant, along the last dimension; give these or `probs`.
      probs: the probabilities.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Multinomial"):
        given = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = util.nonnegative_integers(self._total_count)
            self._logits, self._probs = util.logits_and_probs(logits, probs, True, validate_args, name)
            self._mean_val = self._total_count[..., None] * self._probs
        self._shaped = self._mean_val
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._total_count, self._logits, self._probs], name)

    @property
    def total_count(self):
        """The number of draws."""
        return self._total_count

    @property
    def logits(self):
        """The log-probabilities, up to a constant."""
        return self._logits

    @property
    def probs(self):
        """The probabilities."""
        return self._probs

    def _sample_n(self, n, seed=None):
        counts, classes = math_ops.cast(self.total_count, dtypes.int32), self.event_shape_tensor()[0]
        # Each row of logits has its own number of draws, so that the rows are drawn one by one.
        counts = array_ops.ones_like(self.logits[..., 0], dtype=counts.dtype) * counts
        logits = array_ops.ones_like(counts[..., None], dtype=self.logits.dtype) * self.logits
        rows, counts = array_ops.reshape(logits, [-1, classes]), n * array_ops.reshape(counts, [-1])

        def draw(row):
            drawn = random_ops.multinomial(row[0][None, ...], row[1], seed=seed)
            drawn = array_ops.reshape(drawn, [n, -1])
            return math_ops.reduce_sum(array_ops.one_hot(drawn, depth=classes), axis=-2)
        drawn = functional_ops.map_fn(draw, [rows, counts], dtype=self.dtype)
        return array_ops.reshape(array_ops.transpose(drawn, [1, 0, 2]),
                                 array_ops.concat([[n], self.batch_shape_tensor(), [classes]], 0))

    def _log_prob(self, counts):
        unnormalized = math_ops.reduce_sum(self._counts(counts) * nn.log_softmax(self.logits), -1)
        return unnormalized - -util.log_combinations(self.total_count, self._counts(counts))

    def _mean(self):
        return array_ops.identity(self._mean_val)

    def _covariance(self):
        p = self.probs * array_ops.ones_like(self.total_count)[..., None]
        return linalg.set_diag(-math_ops.matmul(self._mean_val[..., None], p[..., None, :]), self._variance())

    def _variance(self):
        p = self.probs * array_ops.ones_like(self.total_count)[..., None]
        return self._mean_val - self._mean_val * p


class Dirichlet(_Vectors):
    """The Dirichlet distribution: vectors of probabilities.

    Args:
      concentration: the power of each probability, plus 1, along the last dimension.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        given = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            self._concentration = checked_concentration(convert_to_tensor(concentration, name="concentration"), validate_args)
            self._total_concentration = math_ops.reduce_sum(self._concentration, -1)
        self._shaped = self._concentration
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._concentration, self._total_concentration], name)

    @property
    def concentration(self):
        """The power of each probability, plus 1."""
        return self._concentration

    @property
    def total_concentration(self):
        """The sum of the concentrations."""
        return self._total_concentration

    def _batch_shape(self):
        return self._total_concentration.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._total_concentration)

    def _sample_n(self, n, seed=None):
        gamma = random_ops.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return gamma / math_ops.reduce_sum(gamma, -1, keepdims=True)

    def _valid(self, x):
        return util.checked(lambda: [
            assert_positive(x, message="samples must be positive"),
            check_ops.assert_near(array_ops.ones([], dtype=self.dtype), math_ops.reduce_sum(x, -1),
                                  message="sample last-dimension must sum to `1`")], x, self.validate_args)

    def _log_prob(self, x):
        x = self._valid(x)
        unnormalized = math_ops.reduce_sum(special_math.xlogy(self.concentration - 1.0, x), -1)
        return unnormalized - special_math.lbeta(self.concentration)

    def _prob(self, x):
        return math_ops.exp(self._log_prob(x))

    def _entropy(self):
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        return (special_math.lbeta(self.concentration)
                + (self.total_concentration - k) * math_ops.digamma(self.total_concentration)
                - math_ops.reduce_sum((self.concentration - 1.0) * math_ops.digamma(self.concentration), axis=-1))

    def _mean(self):
        return self.concentration / self.total_concentration[..., None]

    def _scale_term(self):
        """Returns the factor, under a root, by which variances are less than those of a multinomial."""
        return math_ops.rsqrt(1.0 + self.total_concentration[..., None])

    def _covariance(self):
        x = self._scale_term() * self._mean()
        return linalg.set_diag(-math_ops.matmul(x[..., None], x[..., None, :]), self._variance())

    def _variance(self):
        scale = self._scale_term()
        x = scale * self._mean()
        return x * (scale - x)

    def _mode(self):
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., None] - k)
        if self.allow_nan_stats:
            nan = array_ops.fill(array_ops.shape(mode), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            defined = math_ops.reduce_all(self.concentration > 1.0, axis=-1, keepdims=True)
            return util.select(defined, mode, nan)
        return with_dependencies([check_ops.assert_less(
            array_ops.ones([], self.dtype), self.concentration,
            message="Mode undefined when any concentration <= 1")], mode)


def checked_concentration(concentration, validate):
    """Returns a concentration, behind checks that it is positive and has two classes or more."""
    return util.checked(lambda: [
        assert_positive(concentration, message="Concentration parameter must be positive."),
        check_ops.assert_rank_at_least(concentration, 1,
                                       message="Concentration parameter must have >=1 dimensions."),
        check_ops.assert_less(1, array_ops.shape(concentration)[-1],
                              message="Concentration parameter must have event_size >= 2.")], concentration, validate)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(d1, d2, name=None):
    with name_scope(name, "kl_dirichlet_dirichlet", values=[d1.concentration, d2.concentration]):
        total = math_ops.digamma(math_ops.reduce_sum(d1.concentration, axis=-1, keepdims=True))
        logs = math_ops.digamma(d1.concentration) - total
        return (math_ops.reduce_sum((d1.concentration - d2.concentration) * logs, axis=-1)
                - special_math.lbeta(d1.concentration) + special_math.lbeta(d2.concentration))


class DirichletMultinomial(_Vectors):
    """A multinomial distribution whose probabilities are of a Dirichlet distribution.

    Args:
      total_count: the number of draws, of floating type.
      concentration: the concentrations of the Dirichlet distribution.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, total_count, concentration, validate_args=False, allow_nan_stats=True, name="DirichletMultinomial"):
        given = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = util.nonnegative_integers(self._total_count)
            self._concentration = checked_concentration(convert_to_tensor(concentration, name="concentration"), validate_args)
            self._total_concentration = math_ops.reduce_sum(self._concentration, -1)
        self._shaped = self._concentration
        super().__init__(self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._total_count, self._concentration], name)

    @property
    def total_count(self):
        """The number of draws."""
        return self._total_count

    @property
    def concentration(self):
        """The concentrations of the Dirichlet distribution."""
        return self._concentration

    @property
    def total_concentration(self):
        """The sum of the concentrations."""
        return self._total_concentration

    def _batch_shape(self):
        return self._total_concentration.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._total_concentration)

    def _sample_n(self, n, seed=None):
        counts, classes = math_ops.cast(self.total_count, dtypes.int32), self.event_shape_tensor()[0]
        gamma = random_ops.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        logits = array_ops.reshape(math_ops.log(gamma), shape=[-1, classes])
        drawn = random_ops.multinomial(logits, counts, seed=util.new_seed(seed, "dirichlet_multinomial"))
        counted = math_ops.reduce_sum(array_ops.one_hot(drawn, depth=classes), -2)
        return math_ops.cast(array_ops.reshape(counted, array_ops.concat(
            [[n], self.batch_shape_tensor(), [classes]], 0)), self.dtype)

    def _log_prob(self, counts):
        counts = self._counts(counts)
        ordered = special_math.lbeta(self.concentration + counts) - special_math.lbeta(self.concentration)
        return ordered + util.log_combinations(self.total_count, counts)

    def _prob(self, counts):
        return math_ops.exp(self._log_prob(counts))

    def _total(self):
        """Returns total_count, with a last dimension of 1 unless it is a scalar."""
        return self.total_count if self.total_count.shape.ndims == 0 else self.total_count[..., None]

    def _mean(self):
        return self._total() * (self.concentration / self.total_concentration[..., None])

    def _scale_term(self):
        """Returns the square root of (total_concentration + total_count) / (total_count (1 + total_concentration))."""
        c0 = self.total_concentration[..., None]
        return math_ops.sqrt((1.0 + c0 / self._total()) / (1.0 + c0))

    def _covariance(self):
        x = self._scale_term() * self._mean()
        return linalg.set_diag(-math_ops.matmul(x[..., None], x[..., None, :]), self._variance())

    def _variance(self):
        scale = self._scale_term()
        x = scale * self._mean()
        return x * (self._total() * scale - x)
