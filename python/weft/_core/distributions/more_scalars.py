"""Distributions of one number that only tf.contrib.distributions has."""
import math

import numpy as np

from weft._core.distributions import util
from weft._core.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, Scalars
from weft._core.distributions.kullback_leibler import RegisterKL
from weft._core.distributions.scalars import Exponential, Gamma, Laplace, Normal, StudentT
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.nn import nn
from weft._core.ops import array_ops, check_ops, math_ops, random_ops, special_math
from weft._core.ops.check_ops import assert_positive

_EULER = 0.57721566490153286061


def _given(scope):
    return {k: v for k, v in scope.items() if k not in ("self", "__class__")}


class NormalWithSoftplusScale(Normal):
    """Normal(loc, softplus(scale))."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="NormalWithSoftplusScale"):
        given = _given(locals())
        with name_scope(name, values=[scale]) as name:
            scale = nn.softplus(scale, name="softplus_scale")
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = given


class LaplaceWithSoftplusScale(Laplace):
    """Laplace(loc, softplus(scale))."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="LaplaceWithSoftplusScale"):
        given = _given(locals())
        with name_scope(name, values=[scale]) as name:
            scale = nn.softplus(scale, name="softplus_scale")
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = given


class ExponentialWithSoftplusRate(Exponential):
    """Exponential(softplus(rate))."""

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="ExponentialWithSoftplusRate"):
        given = _given(locals())
        with name_scope(name, values=[rate]) as name:
            rate = nn.softplus(rate, name="softplus_rate")
        super().__init__(rate, validate_args, allow_nan_stats, name)
        self._parameters = given


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma(softplus(concentration), softplus(rate))."""

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="GammaWithSoftplusConcentrationRate"):
        given = _given(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            concentration, rate = nn.softplus(concentration, name="softplus_concentration"), nn.softplus(rate, name="softplus_rate")
        super().__init__(concentration, rate, validate_args, allow_nan_stats, name)
        self._parameters = given


class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT(floor(|df|), loc, softplus(scale))."""

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentTWithAbsDfSoftplusScale"):
        given = _given(locals())
        with name_scope(name, values=[df, scale]) as name:
            df, scale = math_ops.floor(math_ops.abs(df)), nn.softplus(scale, name="softplus_scale")
        super().__init__(df, loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = given


class Chi2(Gamma):
    """The chi-squared distribution: Gamma(df / 2, 1/2)."""

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        given = _given(locals())
        with name_scope(name, values=[df]) as name:
            with control_dependencies([assert_positive(df)] if validate_args else []):
                self._df = array_ops.identity(df, name="df")
            half = 0.5 * self._df
        super().__init__(half, np.array(0.5, self._df.dtype.as_numpy_dtype), validate_args, allow_nan_stats, name)
        self._parameters = given

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df


class _LocationScale(Scalars):
    """The base of distributions with a location and a scale."""

    def __init__(self, loc, scale, validate_args, allow_nan_stats, name, given):
        with name_scope(name, values=[loc, scale]) as name:
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._loc, self._scale = util.parameter(loc, "loc"), util.parameter(scale, "scale")
                check_ops.assert_same_float_dtype([self._loc, self._scale])
        self._shaping = (self._loc, self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._loc, self._scale], name)

    @staticmethod
    def _param_shapes(sample_shape):
        return dict(zip(("loc", "scale"), [convert_to_tensor(sample_shape, dtypes.int32)] * 2))

    @property
    def loc(self):
        """The location."""
        return self._loc

    @property
    def scale(self):
        """The scale."""
        return self._scale

    def _z(self, x):
        return (x - self.loc) / self.scale

    def _uniform(self, n, seed):
        """Draws uniform numbers between 0 and 1, excluding both."""
        least = np.finfo(self.dtype.as_numpy_dtype).tiny
        return random_ops.random_uniform(self._drawn_shape(n), minval=least, maxval=1.0, dtype=self.dtype, seed=seed)

    def _ones(self):
        return array_ops.ones_like(self.loc) * array_ops.ones_like(self.scale)


class Logistic(_LocationScale):
    """The logistic distribution."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, _given(locals()))

    def _sample_n(self, n, seed=None):
        u = self._uniform(n, seed)
        return (math_ops.log(u) - math_ops.log1p(-u)) * self.scale + self.loc

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2.0 * nn.softplus(-z) - math_ops.log(self.scale)

    def _log_cdf(self, x):
        return -nn.softplus(-self._z(x))

    def _cdf(self, x):
        return math_ops.sigmoid(self._z(x))

    def _log_survival_function(self, x):
        return -nn.softplus(self._z(x))

    def _survival_function(self, x):
        return math_ops.sigmoid(-self._z(x))

    def _entropy(self):
        return 2.0 + math_ops.log(self.scale * self._ones())

    def _mean(self):
        return self.loc * self._ones()

    def _stddev(self):
        return self.scale * self._ones() * (math.pi / math.sqrt(3.0))

    def _mode(self):
        return self._mean()


class Cauchy(_LocationScale):
    """The Cauchy distribution."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, _given(locals()))

    def _sample_n(self, n, seed=None):
        return self._quantile(random_ops.random_uniform(self._drawn_shape(n), minval=0.0, maxval=1.0, dtype=self.dtype, seed=seed))

    def _log_prob(self, x):
        return -math_ops.log1p(math_ops.square(self._z(x))) - (math.log(math.pi) + math_ops.log(self.scale))

    def _cdf(self, x):
        return math_ops.atan(self._z(x)) / math.pi + 0.5

    def _log_cdf(self, x):
        return math_ops.log1p(2.0 / math.pi * math_ops.atan(self._z(x))) - math.log(2.0)

    def _quantile(self, p):
        return self.loc + self.scale * math_ops.tan(math.pi * (p - 0.5))

    def _entropy(self):
        return math.log(4 * math.pi) + math_ops.log(self.scale * self._ones())

    def _mode(self):
        return self.loc * self._ones()

    def _undefined(self, what):
        if self.allow_nan_stats:
            return self._ones() * np.array(np.nan, self.dtype.as_numpy_dtype)
        raise ValueError("`%s` is undefined for Cauchy distribution." % what)

    def _mean(self):
        return self._undefined("mean")

    def _stddev(self):
        return self._undefined("stddev")


class Gumbel(_LocationScale):
    """Gumbel's distribution of the greatest of many values."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Gumbel"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, _given(locals()))

    def _sample_n(self, n, seed=None):
        return -math_ops.log(-math_ops.log(self._uniform(n, seed))) * self.scale + self.loc

    def _log_prob(self, x):
        z = self._z(x)
        return -(z + math_ops.exp(-z)) - math_ops.log(self.scale)

    def _log_cdf(self, x):
        return -math_ops.exp(-self._z(x))

    def _cdf(self, x):
        return math_ops.exp(self._log_cdf(x))

    def _entropy(self):
        return 1.0 + math_ops.log(self.scale * self._ones()) + _EULER

    def _mean(self):
        return self.loc * self._ones() + self.scale * _EULER

    def _stddev(self):
        return self.scale * self._ones() * (math.pi / math.sqrt(6.0))

    def _mode(self):
        return self.loc * self._ones()


class HalfNormal(Scalars):
    """The absolute value of a normal variable of mean 0."""

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        given = _given(locals())
        with name_scope(name, values=[scale]) as name:
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._scale = util.parameter(scale, "scale")
        self._shaping = (self._scale,)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._scale], name)

    @property
    def scale(self):
        """The deviation of the normal variable."""
        return self._scale

    def _sample_n(self, n, seed=None):
        return math_ops.abs(random_ops.random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed) * self.scale)

    def _prob(self, x):
        density = math.sqrt(2 / math.pi) / self.scale * math_ops.exp(-0.5 * math_ops.square(x / self.scale))
        return density * math_ops.cast(x >= 0, self.dtype)

    def _cdf(self, x):
        return special_math.where_v2(x < 0, array_ops.zeros_like(x / self.scale), math_ops.erf(x / self.scale / math.sqrt(2.0)))

    def _entropy(self):
        return 0.5 * math_ops.log(math.pi * self.scale ** 2.0 / 2.0) + 0.5

    def _mean(self):
        return self.scale * math.sqrt(2.0 / math.pi)

    def _quantile(self, p):
        return math.sqrt(2.0) * self.scale * special_math.erfinv(p)

    def _mode(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _variance(self):
        return self.scale ** 2.0 * (1.0 - 2.0 / math.pi)


class InverseGamma(Scalars):
    """One divided by a gamma variable."""

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"):
        given = _given(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            with control_dependencies([assert_positive(concentration), assert_positive(rate)] if validate_args else []):
                self._concentration, self._rate = util.parameter(concentration, "concentration"), util.parameter(rate, "rate")
                check_ops.assert_same_float_dtype([self._concentration, self._rate])
        self._shaping = (self._concentration, self._rate)
        super().__init__(self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._concentration, self._rate], name)

    @property
    def concentration(self):
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self):
        """The scale of the result."""
        return self._rate

    def _sample_n(self, n, seed=None):
        return 1.0 / random_ops.random_gamma([n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        return (-(1.0 + self.concentration) * math_ops.log(x) - self.rate / x
                - (math_ops.lgamma(self.concentration) - self.concentration * math_ops.log(self.rate)))

    def _cdf(self, x):
        return math_ops.igammac(self.concentration, self.rate / x)

    def _entropy(self):
        return (self.concentration + math_ops.log(self.rate) + math_ops.lgamma(self.concentration)
                - (1.0 + self.concentration) * math_ops.digamma(self.concentration))

    def _defined(self, least, found):
        """Returns the values where the concentration is above `least`, and NaN elsewhere."""
        if self.allow_nan_stats:
            nan = util.filled_like(self.batch_shape_tensor(), np.nan, self.dtype, "nan")
            return special_math.where_v2(self.concentration > least, found, nan)
        with control_dependencies([check_ops.assert_less(
                np.array(least, self.dtype.as_numpy_dtype), self.concentration,
                message="undefined when any concentration <= %g" % least)]):
            return array_ops.identity(found)

    def _mean(self):
        return self._defined(1.0, self.rate / (self.concentration - 1.0))

    def _variance(self):
        return self._defined(2.0, math_ops.square(self.rate) / math_ops.square(self.concentration - 1.0) / (self.concentration - 2.0))

    def _mode(self):
        return self.rate / (1.0 + self.concentration)


class Poisson(Scalars):
    """The Poisson distribution.

    Args:
      rate: the mean; give this or `log_rate`.
      log_rate: its logarithm.
      interpolate_nondiscrete: whether densities between whole numbers are interpolated.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, rate=None, log_rate=None, interpolate_nondiscrete=True, validate_args=False, allow_nan_stats=True, name="Poisson"):
        given = _given(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                rate = convert_to_tensor(rate, name="rate")
                if not rate.dtype.is_floating:
                    raise TypeError("rate.dtype (%s) is a not a float-type." % rate.dtype.name)
                with control_dependencies([assert_positive(rate)] if validate_args else []):
                    self._rate, self._log_rate = array_ops.identity(rate, name="rate"), math_ops.log(rate, name="log_rate")
            else:
                log_rate = convert_to_tensor(log_rate, name="log_rate")
                self._rate, self._log_rate = math_ops.exp(log_rate, name="rate"), log_rate
        self._interpolate = interpolate_nondiscrete
        self._shaping = (self._rate,)
        super().__init__(self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._rate], name)

    @property
    def rate(self):
        """The mean."""
        return self._rate

    @property
    def log_rate(self):
        """The logarithm of the mean."""
        return self._log_rate

    @property
    def interpolate_nondiscrete(self):
        """Whether densities between whole numbers are interpolated."""
        return self._interpolate

    def _log_prob(self, x):
        found = x * self.log_rate - math_ops.lgamma(1.0 + x) - self.rate
        if self.interpolate_nondiscrete:
            return found
        whole = math_ops.logical_and(x >= 0, math_ops.equal(math_ops.floor(x), x))
        return special_math.where_v2(whole, found, array_ops.zeros_like(found) - np.array(np.inf, self.dtype.as_numpy_dtype))

    def _cdf(self, x):
        whole = math_ops.maximum(x, 0.0) if self.interpolate_nondiscrete else math_ops.floor(math_ops.maximum(x, 0.0))
        found = math_ops.igammac(1.0 + whole, self.rate)
        return special_math.where_v2(x < 0, array_ops.zeros_like(found), found)

    def _mean(self):
        return array_ops.identity(self.rate)

    def _variance(self):
        return array_ops.identity(self.rate)

    def _mode(self):
        return math_ops.floor(self.rate)

    def _sample_n(self, n, seed=None):
        return random_ops.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


class Geometric(Scalars):
    """The number of failures before the first success."""

    def __init__(self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"):
        given = _given(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = util.logits_and_probs(logits, probs, False, validate_args, name)
        self._shaping = (self._probs,)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._probs, self._logits], name)

    @property
    def logits(self):
        """The log-odds of success."""
        return self._logits

    @property
    def probs(self):
        """The probability of success."""
        return self._probs

    def _sample_n(self, n, seed=None):
        least = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_ops.random_uniform(self._drawn_shape(n), minval=least, maxval=1.0, seed=seed, dtype=self.dtype)
        return math_ops.floor(math_ops.log(drawn) / math_ops.log1p(-self.probs))

    def _log_prob(self, counts):
        counts = util.nonnegative_integers(counts) if self.validate_args else counts
        return op("Xlog1py", x=counts + array_ops.zeros_like(self.probs),
            y=-self.probs + array_ops.zeros_like(counts)) + math_ops.log(self.probs)

    def _cdf(self, counts):
        counts = math_ops.floor(counts)
        found = -math_ops.expm1((counts + 1) * math_ops.log1p(-self.probs))
        return special_math.where_v2(counts < 0.0, array_ops.zeros_like(found), found)

    def _entropy(self):
        return (-self.logits * (math_ops.sigmoid(self.logits) - 1.0) + nn.softplus(-self.logits)) / self.probs

    def _mean(self):
        return math_ops.exp(-self.logits)

    def _variance(self):
        return self._mean() / self.probs

    def _mode(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)


class Binomial(Scalars):
    """The number of successes among `total_count` trials."""

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Binomial"):
        given = _given(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = util.nonnegative_integers(self._total_count)
            self._logits, self._probs = util.logits_and_probs(logits, probs, False, validate_args, name)
        self._shaping = (self._total_count, self._probs)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._total_count, self._logits, self._probs], name)

    @property
    def total_count(self):
        """The number of trials."""
        return self._total_count

    @property
    def logits(self):
        """The log-odds of success."""
        return self._logits

    @property
    def probs(self):
        """The probability of success."""
        return self._probs

    def _log_prob(self, counts):
        combinations = math_ops.lgamma(1.0 + self.total_count - counts) + math_ops.lgamma(1.0 + counts) - math_ops.lgamma(
            1.0 + self.total_count)
        return counts * math_ops.log(self.probs) + (self.total_count - counts) * math_ops.log1p(-self.probs) - combinations

    def _prob(self, counts):
        return math_ops.exp(self._log_prob(counts))

    def _cdf(self, counts):
        shape = util.broadcast_dynamic(self.total_count, self.probs, counts)
        parts = [array_ops.broadcast_to(p, shape) for p in (self.total_count - counts, 1.0 + counts, 1.0 - self.probs)]
        return op("Betainc", a=parts[0], b=parts[1], x=parts[2])

    def _mean(self):
        return self.total_count * self.probs

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return math_ops.floor((1.0 + self.total_count) * self.probs)


class NegativeBinomial(Scalars):
    """The number of successes before `total_count` failures."""

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="NegativeBinomial"):
        given = _given(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = util.logits_and_probs(logits, probs, False, validate_args, name)
            with control_dependencies([assert_positive(total_count)] if validate_args else []):
                self._total_count = array_ops.identity(total_count)
        self._shaping = (self._total_count, self._probs)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._total_count, self._probs, self._logits], name)

    @property
    def total_count(self):
        """The number of failures."""
        return self._total_count

    @property
    def logits(self):
        """The log-odds of success."""
        return self._logits

    @property
    def probs(self):
        """The probability of success."""
        return self._probs

    def _sample_n(self, n, seed=None):
        rate = random_ops.random_gamma([n], alpha=self.total_count, beta=math_ops.exp(-self.logits), dtype=self.dtype, seed=seed)
        return random_ops.random_poisson(rate, [], dtype=self.dtype, seed=util.new_seed(seed, "NegativeBinom"))

    def _cdf(self, x):
        shape = util.broadcast_dynamic(self.total_count, self.probs, x)
        parts = [array_ops.broadcast_to(p, shape) for p in (self.total_count, 1.0 + x, math_ops.sigmoid(-self.logits))]
        return op("Betainc", a=parts[0], b=parts[1], x=parts[2])

    def _log_prob(self, x):
        unnormalized = self.total_count * special_math.log_sigmoid(-self.logits) + x * special_math.log_sigmoid(self.logits)
        return unnormalized - (-math_ops.lgamma(self.total_count + x) + math_ops.lgamma(1.0 + x) + math_ops.lgamma(self.total_count))

    def _mean(self):
        return self.total_count * math_ops.exp(self.logits)

    def _mode(self):
        adjusted = special_math.where_v2(1.0 < self.total_count, self.total_count - 1.0, array_ops.zeros_like(self.total_count))
        return math_ops.floor(adjusted * math_ops.exp(self.logits))

    def _variance(self):
        return self._mean() / math_ops.sigmoid(-self.logits)


class Deterministic(Scalars):
    """A value that is always the same.

    Args:
      loc: the value.
      atol: how far from it an event may be.
      rtol: the same, as a part of the value.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="Deterministic"):
        given = _given(locals())
        with name_scope(name, values=[loc, atol, rtol]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            self._atol = convert_to_tensor(0 if atol is None else atol, self._loc.dtype, name="atol")
            self._rtol = convert_to_tensor(0 if rtol is None else rtol, self._loc.dtype, name="rtol")
            self._slack = self._atol + self._rtol * math_ops.abs(self._loc)
        self._shaping = (self._loc,)
        super().__init__(self._loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._loc], name)

    @property
    def loc(self):
        """The value."""
        return self._loc

    @property
    def atol(self):
        """How far from it an event may be."""
        return self._atol

    @property
    def rtol(self):
        """The same, as a part of the value."""
        return self._rtol

    def _entropy(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self):
        return array_ops.identity(self.loc)

    def _variance(self):
        return array_ops.zeros_like(self.loc)

    def _mode(self):
        return self.mean()

    def _sample_n(self, n, seed=None):
        return array_ops.broadcast_to(self.loc, self._drawn_shape(n))

    def _prob(self, x):
        return math_ops.cast(math_ops.abs(x - self.loc) <= self._slack, self.dtype)

    def _cdf(self, x):
        return math_ops.cast(x >= self.loc - self._slack, self.dtype)


class VectorDeterministic(Deterministic):
    """A vector that is always the same."""

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="VectorDeterministic"):
        given = _given(locals())
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)
        self._parameters = given

    def _batch_shape(self):
        return self.loc.shape[:-1] if self.loc.shape.ndims is not None else TensorShape(None)

    def _batch_shape_tensor(self):
        return array_ops.shape(self.loc)[:-1]

    def _event_shape(self):
        return self.loc.shape[-1:] if self.loc.shape.ndims is not None else TensorShape(None)

    def _event_shape_tensor(self):
        return array_ops.shape(self.loc)[-1:]

    def _sample_n(self, n, seed=None):
        return array_ops.broadcast_to(self.loc, array_ops.concat([[n], array_ops.shape(self.loc)], 0))

    def _prob(self, x):
        return math_ops.cast(math_ops.reduce_all(math_ops.abs(x - self.loc) <= self._slack, axis=-1), self.dtype)

    def _cdf(self, x):
        raise NotImplementedError("cdf is not implemented: VectorDeterministic")


@RegisterKL(Deterministic, Distribution)
def _kl_deterministic(a, b, name=None):
    with name_scope(name, "kl_deterministic_distribution", values=[a.loc]):
        return -b.log_prob(a.loc)


class RelaxedBernoulli(Distribution):
    """Numbers between 0 and 1 that come close to a Bernoulli variable as the temperature falls.

    Args:
      temperature: the temperature.
      logits: the log-odds of 1; give these or `probs`.
      probs: the probability of 1.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, temperature, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="RelaxedBernoulli"):
        given = _given(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            with control_dependencies([assert_positive(temperature)] if validate_args else []):
                self._temperature = array_ops.identity(temperature, name="temperature")
            self._logits, self._probs = util.logits_and_probs(logits, probs, False, validate_args, name)
            self._logistic = Logistic(self._logits / self._temperature, array_ops.ones_like(self._logits) / self._temperature,
                                      validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name + "Logistic")
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._logits, self._temperature], name)

    @property
    def temperature(self):
        """The temperature."""
        return self._temperature

    @property
    def logits(self):
        """The log-odds of 1."""
        return self._logits

    @property
    def probs(self):
        """The probability of 1."""
        return self._probs

    def _batch_shape(self):
        return self._logistic.batch_shape

    def _batch_shape_tensor(self):
        return self._logistic.batch_shape_tensor()

    def _event_shape(self):
        return TensorShape([])

    def _event_shape_tensor(self):
        return convert_to_tensor(np.array([], np.int32))

    def _sample_n(self, n, seed=None):
        return math_ops.sigmoid(self._logistic._sample_n(n, seed))

    def _log_prob(self, y):
        return self._logistic.log_prob(math_ops.log(y) - math_ops.log1p(-y)) - math_ops.log(y) - math_ops.log1p(-y)

    def _cdf(self, y):
        return self._logistic.cdf(math_ops.log(y) - math_ops.log1p(-y))
