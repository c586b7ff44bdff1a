"""Distributions of one number: Normal, Bernoulli, Uniform, Laplace, Gamma, Exponential, StudentT and Beta."""
import math

import numpy as np

from weft._core.distributions import special, util
from weft._core.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Scalars
from weft._core.distributions.kullback_leibler import RegisterKL
from weft._core.framework import dtypes
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, check_ops, math_ops, random_ops, special_math
from weft._core.ops.check_ops import assert_positive
from weft._core.ops.control_flow import with_dependencies


def _same_shape(names):
    """Returns _param_shapes for a class whose parameters all have the shape of a sample."""
    def shapes(sample_shape):
        return dict(zip(names, [convert_to_tensor(sample_shape, dtypes.int32)] * len(names)))
    return staticmethod(shapes)


class Normal(Scalars):
    """The normal distribution.

    Args:
      loc: the mean.
      scale: the standard deviation.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        given = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._loc, self._scale = util.parameter(loc, "loc"), util.parameter(scale, "scale")
                check_ops.assert_same_float_dtype([self._loc, self._scale])
        self._shaping = (self._loc, self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._loc, self._scale], name)

    _param_shapes = _same_shape(("loc", "scale"))

    @property
    def loc(self):
        """The mean."""
        return self._loc

    @property
    def scale(self):
        """The standard deviation."""
        return self._scale

    def _sample_n(self, n, seed=None):
        drawn = random_ops.random_normal(self._drawn_shape(n), mean=0.0, stddev=1.0, dtype=self.loc.dtype, seed=seed)
        return drawn * self.scale + self.loc

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_cdf(self, x):
        return special.log_ndtr(self._z(x))

    def _cdf(self, x):
        return special.ndtr(self._z(x))

    def _log_survival_function(self, x):
        return special.log_ndtr(-self._z(x))

    def _survival_function(self, x):
        return special.ndtr(-self._z(x))

    def _log_unnormalized_prob(self, x):
        return -0.5 * math_ops.square(self._z(x))

    def _log_normalization(self):
        return 0.5 * math.log(2.0 * math.pi) + math_ops.log(self.scale)

    def _entropy(self):
        scale = self.scale * array_ops.ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + math_ops.log(scale)

    def _mean(self):
        return self.loc * array_ops.ones_like(self.scale)

    def _quantile(self, p):
        return self._inv_z(special.ndtri(p))

    def _stddev(self):
        return self.scale * array_ops.ones_like(self.loc)

    def _mode(self):
        return self._mean()

    def _z(self, x):
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale

    def _inv_z(self, z):
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a, b, name=None):
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (constant(v, a.dtype) for v in (1, 2.0, 0.5))
        a_squared, b_squared = math_ops.square(a.scale), math_ops.square(b.scale)
        ratio = a_squared / b_squared
        return math_ops.squared_difference(a.loc, b.loc) / (two * b_squared) + half * (ratio - one - math_ops.log(ratio))


class Bernoulli(Scalars):
    """The Bernoulli distribution: 1 with a probability, else 0.

    Args:
      logits: the log-odds of 1; give these or `probs`.
      probs: the probability of 1.
      dtype: the type of the samples.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
                 name="Bernoulli"):
        given = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = util.logits_and_probs(logits, probs, False, validate_args, name)
        self._shaping = (self._logits,)
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._logits, self._probs], name)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"logits": convert_to_tensor(sample_shape, dtypes.int32)}

    @property
    def logits(self):
        """The log-odds of 1."""
        return self._logits

    @property
    def probs(self):
        """The probability of 1."""
        return self._probs

    def _sample_n(self, n, seed=None):
        drawn = random_ops.random_uniform(self._drawn_shape(n), seed=seed, dtype=self.probs.dtype)
        return math_ops.cast(math_ops.less(drawn, self.probs), self.dtype)

    def _log_prob(self, event):
        if self.validate_args:
            event = util.casting_closed(event, dtypes.bool)
        event, logits = math_ops.cast(event, self.logits.dtype), self.logits
        if not (event.shape.is_fully_defined() and logits.shape.is_fully_defined() and event.shape == logits.shape):
            logits, event = array_ops.ones_like(event) * logits, array_ops.ones_like(logits) * event
        return -nn.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self):
        return -self.logits * (math_ops.sigmoid(self.logits) - 1) + nn.softplus(-self.logits)

    def _mean(self):
        return array_ops.identity(self.probs)

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return math_ops.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a, b, name=None):
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        delta0 = nn.softplus(-b.logits) - nn.softplus(-a.logits)
        delta1 = nn.softplus(b.logits) - nn.softplus(a.logits)
        return math_ops.sigmoid(a.logits) * delta0 + math_ops.sigmoid(-a.logits) * delta1


class Uniform(Scalars):
    """The uniform distribution on [low, high).

    Args:
      low: the lower limit.
      high: the upper limit.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"):
        given = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            checks = [check_ops.assert_less(low, high, message="uniform not defined when low >= high.")] if validate_args else []
            with control_dependencies(checks):
                self._low, self._high = util.parameter(low, "low"), util.parameter(high, "high")
                check_ops.assert_same_float_dtype([self._low, self._high])
        self._shaping = (self._low, self._high)
        super().__init__(self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._low, self._high], name)

    _param_shapes = _same_shape(("low", "high"))

    @property
    def low(self):
        """The lower limit."""
        return self._low

    @property
    def high(self):
        """The upper limit."""
        return self._high

    def range(self, name="range"):
        """Returns high - low."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n, seed=None):
        drawn = random_ops.random_uniform(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        return self.low + self.range() * drawn

    def _prob(self, x):
        whole = x * array_ops.ones(self.batch_shape_tensor(), dtype=x.dtype)
        zeros = array_ops.zeros_like(whole)
        return util.select(math_ops.is_nan(whole), whole, util.select(
            math_ops.logical_or(whole < self.low, whole >= self.high), zeros, array_ops.ones_like(whole) / self.range()))

    def _cdf(self, x):
        shape = special_math.broadcast_dynamic_shape(array_ops.shape(x), self.batch_shape_tensor())
        zeros, ones = array_ops.zeros(shape, dtype=self.dtype), array_ops.ones(shape, dtype=self.dtype)
        inside = util.select(x >= self.high, ones, (x - self.low) / self.range())
        return util.select(x < self.low, zeros, inside)

    def _entropy(self):
        return math_ops.log(self.range())

    def _mean(self):
        return (self.low + self.high) / 2.0

    def _variance(self):
        return math_ops.square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / math.sqrt(12.0)


class Laplace(Scalars):
    """The Laplace distribution, an exponential one to both sides.

    Args:
      loc: the mean.
      scale: the mean distance from it.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        given = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._loc, self._scale = util.parameter(loc, "loc"), util.parameter(scale, "scale")
                check_ops.assert_same_float_dtype([self._loc, self._scale])
        self._shaping = (self._loc, self._scale)
        super().__init__(self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._loc, self._scale], name)

    _param_shapes = _same_shape(("loc", "scale"))

    @property
    def loc(self):
        """The mean."""
        return self._loc

    @property
    def scale(self):
        """The mean distance from the mean."""
        return self._scale

    def _sample_n(self, n, seed=None):
        # The lower limit is excluded, because log1p(-1) is infinite.
        least = np.nextafter(self.dtype.as_numpy_dtype(-1.0), self.dtype.as_numpy_dtype(0.0))
        drawn = random_ops.random_uniform(self._drawn_shape(n), minval=least, maxval=1.0, dtype=self.dtype, seed=seed)
        return self.loc - self.scale * math_ops.sign(drawn) * math_ops.log1p(-math_ops.abs(drawn))

    def _log_prob(self, x):
        return -math_ops.abs(self._z(x)) - (math.log(2.0) + math_ops.log(self.scale))

    def _prob(self, x):
        return math_ops.exp(self._log_prob(x))

    def _log_cdf(self, x):
        return special.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x):
        return special.log_cdf_laplace(-self._z(x))

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * math_ops.sign(z) * (1.0 - math_ops.exp(-math_ops.abs(z)))

    def _entropy(self):
        scale = self.scale + array_ops.zeros_like(self.loc)
        return math.log(2.0) + 1.0 + math_ops.log(scale)

    def _mean(self):
        return self.loc + array_ops.zeros_like(self.scale)

    def _stddev(self):
        return math.sqrt(2.0) * self.scale + array_ops.zeros_like(self.loc)

    def _mode(self):
        return self._mean()

    def _z(self, x):
        return (x - self.loc) / self.scale


class Gamma(Scalars):
    """The gamma distribution.

    Args:
      concentration: the shape parameter, often called alpha.
      rate: the inverse of the scale, often called beta.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        given = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            with control_dependencies([assert_positive(concentration), assert_positive(rate)] if validate_args else []):
                self._concentration = util.parameter(concentration, "concentration")
                self._rate = util.parameter(rate, "rate")
                check_ops.assert_same_float_dtype([self._concentration, self._rate])
        self._shaping = (self._concentration, self._rate)
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._concentration, self._rate], name)

    _param_shapes = _same_shape(("concentration", "rate"))

    @property
    def concentration(self):
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self):
        """The inverse of the scale."""
        return self._rate

    def _sample_n(self, n, seed=None):
        return random_ops.random_gamma([n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _valid(self, x):
        check_ops.assert_same_float_dtype([x], self.dtype)
        return util.checked(lambda: [assert_positive(x)], x, self.validate_args)

    def _log_prob(self, x):
        x = self._valid(x)
        unnormalized = op("Xlogy", x=self.concentration - 1.0, y=x) - self.rate * x
        return unnormalized - self._log_normalization()

    def _log_normalization(self):
        return math_ops.lgamma(self.concentration) - self.concentration * math_ops.log(self.rate)

    def _cdf(self, x):
        return math_ops.igamma(self.concentration, self.rate * self._valid(x))

    def _entropy(self):
        return (self.concentration - math_ops.log(self.rate) + math_ops.lgamma(self.concentration)
                + (1.0 - self.concentration) * math_ops.digamma(self.concentration))

    def _mean(self):
        return self.concentration / self.rate

    def _variance(self):
        return self.concentration / math_ops.square(self.rate)

    def _stddev(self):
        return math_ops.sqrt(self.concentration) / self.rate

    def _mode(self):
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            nan = util.filled_like(self.batch_shape_tensor(), np.nan, self.dtype, "nan")
            return util.select(self.concentration > 1.0, mode, nan)
        return with_dependencies([check_ops.assert_less(
            array_ops.ones([], self.dtype), self.concentration,
            message="mode not defined when any concentration <= 1")], mode)


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(g0, g1, name=None):
    with name_scope(name, "kl_gamma_gamma", values=[g0.concentration, g0.rate, g1.concentration, g1.rate]):
        return ((g0.concentration - g1.concentration) * math_ops.digamma(g0.concentration)
                + math_ops.lgamma(g1.concentration) - math_ops.lgamma(g0.concentration)
                + g1.concentration * math_ops.log(g0.rate) - g1.concentration * math_ops.log(g1.rate)
                + g0.concentration * (g1.rate / g0.rate - 1.0))


class Exponential(Gamma):
    """The exponential distribution: a gamma distribution with concentration 1.

    Args:
      rate: the inverse of the mean.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        given = dict(locals())
        with name_scope(name, values=[rate]) as name:
            rate = convert_to_tensor(rate, name="rate")
        super().__init__(array_ops.ones([], dtype=rate.dtype), rate, validate_args, allow_nan_stats, name)
        self._parameters = {k: v for k, v in given.items() if k not in ("self", "__class__")}

    @staticmethod
    def _param_shapes(sample_shape):
        return {"rate": convert_to_tensor(sample_shape, dtypes.int32)}

    def _log_survival_function(self, value):
        return self._log_prob(value) - math_ops.log(self._rate)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], array_ops.shape(self._rate)], 0)
        # Numbers are not below the smallest normal number, because log(0) is infinite.
        least = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_ops.random_uniform(shape, minval=least, maxval=1.0, seed=seed, dtype=self.dtype)
        return -math_ops.log(drawn) / self._rate


class StudentT(Scalars):
    """Student's t-distribution.

    Args:
      df: the degrees of freedom.
      loc: the mean.
      scale: the factor of the standard variable.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        given = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            with control_dependencies([assert_positive(df)] if validate_args else []):
                self._df, self._loc = util.parameter(df, "df"), util.parameter(loc, "loc")
                self._scale = util.parameter(scale, "scale")
                check_ops.assert_same_float_dtype((self._df, self._loc, self._scale))
        self._shaping = (self._df, self._loc, self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._df, self._loc, self._scale], name)

    _param_shapes = _same_shape(("df", "loc", "scale"))

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self):
        """The mean."""
        return self._loc

    @property
    def scale(self):
        """The factor of the standard variable."""
        return self._scale

    def _sample_n(self, n, seed=None):
        normal = random_ops.random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        df = self.df * array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)
        gamma = random_ops.random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=util.new_seed(seed, "student_t"))
        return normal * math_ops.rsqrt(gamma / df) * self.scale + self.loc

    def _log_prob(self, x):
        y = (x - self.loc) / self.scale
        unnormalized = -0.5 * (self.df + 1.0) * math_ops.log1p(y ** 2.0 / self.df)
        return unnormalized - (
            math_ops.log(math_ops.abs(self.scale)) + 0.5 * math_ops.log(self.df) + 0.5 * np.log(np.pi)
            + math_ops.lgamma(0.5 * self.df) - math_ops.lgamma(0.5 * (self.df + 1.0)))

    def _cdf(self, x):
        y = (x - self.loc) / math_ops.abs(self.scale)
        half = 0.5 * op("Betainc", a=0.5 * self.df, b=constant(0.5, self.dtype), x=self.df / (y ** 2.0 + self.df))
        return util.select(math_ops.less(y, 0.0), half, 1.0 - half)

    def _entropy(self):
        v = array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)[..., None]
        u = v * self.df[..., None]
        half = array_ops.concat([u, v], -1) / 2.0
        return (math_ops.log(math_ops.abs(self.scale)) + 0.5 * math_ops.log(self.df) + special_math.lbeta(half)
                + 0.5 * (self.df + 1.0) * (math_ops.digamma(0.5 * (self.df + 1.0)) - math_ops.digamma(0.5 * self.df)))

    def _filled(self, value, name):
        return util.filled_like(self.batch_shape_tensor(), value, self.dtype, name)

    def _mean(self):
        mean = self.loc * array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)
        if self.allow_nan_stats:
            return util.select(math_ops.greater(self.df, array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)), mean,
                               self._filled(np.nan, "nan"))
        return with_dependencies([check_ops.assert_less(
            array_ops.ones([], dtype=self.dtype), self.df, message="mean not defined for components of df <= 1")], mean)

    def _variance(self):
        denominator = util.select(math_ops.greater(self.df, 2.0), self.df - 2.0, array_ops.ones_like(self.df))
        variance = (array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype) * math_ops.square(self.scale) * self.df
                    / denominator)
        finite = util.select(math_ops.greater(self.df, op("Fill", dims=self.batch_shape_tensor(), value=constant(2.0, self.dtype))),
                             variance, self._filled(np.inf, "inf"))
        if self.allow_nan_stats:
            return util.select(math_ops.greater(self.df, array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)), finite,
                               self._filled(np.nan, "nan"))
        return with_dependencies([check_ops.assert_less(
            array_ops.ones([], dtype=self.dtype), self.df, message="variance not defined for components of df <= 1")], finite)

    def _mode(self):
        return array_ops.identity(self.loc)


class Beta(Scalars):
    """The beta distribution, on (0, 1).

    Args:
      concentration1: the power of x, plus 1; often called alpha.
      concentration0: the power of 1 - x, plus 1; often called beta.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Beta"):
        given = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = self._checked(convert_to_tensor(concentration1, name="concentration1"), validate_args)
            self._concentration0 = self._checked(convert_to_tensor(concentration0, name="concentration0"), validate_args)
            check_ops.assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        self._shaping = (self._total_concentration,)
        super().__init__(self._total_concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._concentration1, self._concentration0, self._total_concentration], name)

    _param_shapes = _same_shape(("concentration1", "concentration0"))

    @staticmethod
    def _checked(concentration, validate):
        return util.checked(lambda: [assert_positive(concentration, message="Concentration parameter must be positive.")],
                            concentration, validate)

    @property
    def concentration1(self):
        """The power of x, plus 1."""
        return self._concentration1

    @property
    def concentration0(self):
        """The power of 1 - x, plus 1."""
        return self._concentration0

    @property
    def total_concentration(self):
        """The sum of both concentrations."""
        return self._total_concentration

    def _sample_n(self, n, seed=None):
        one = array_ops.ones_like(self.total_concentration, dtype=self.dtype) * self.concentration1
        zero = array_ops.ones_like(self.total_concentration, dtype=self.dtype) * self.concentration0
        first = random_ops.random_gamma([n], alpha=one, dtype=self.dtype, seed=seed)
        second = random_ops.random_gamma([n], alpha=zero, dtype=self.dtype, seed=util.new_seed(seed, "beta"))
        return first / (first + second)

    def _valid(self, x):
        return util.checked(lambda: [assert_positive(x, message="sample must be positive"), check_ops.assert_less(
            x, array_ops.ones([], self.dtype), message="sample must be less than `1`.")], x, self.validate_args)

    def _log_prob(self, x):
        x = self._valid(x)
        unnormalized = (op("Xlogy", x=self.concentration1 - 1.0, y=x)
                        + (self.concentration0 - 1.0) * math_ops.log1p(-x))
        return unnormalized - self._log_normalization()

    def _prob(self, x):
        return math_ops.exp(self._log_prob(x))

    def _log_cdf(self, x):
        return math_ops.log(self._cdf(x))

    def _cdf(self, x):
        shape = util.broadcast_dynamic(self._concentration1, self._concentration0, x)
        parts = [op("BroadcastTo", input=p, shape=shape) for p in (self.concentration1, self.concentration0, self._valid(x))]
        return op("Betainc", a=parts[0], b=parts[1], x=parts[2])

    def _log_normalization(self):
        return (math_ops.lgamma(self.concentration1) + math_ops.lgamma(self.concentration0)
                - math_ops.lgamma(self.total_concentration))

    def _entropy(self):
        return (self._log_normalization() - (self.concentration1 - 1.0) * math_ops.digamma(self.concentration1)
                - (self.concentration0 - 1.0) * math_ops.digamma(self.concentration0)
                + (self.total_concentration - 2.0) * math_ops.digamma(self.total_concentration))

    def _mean(self):
        return self._concentration1 / self._total_concentration

    def _variance(self):
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self):
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            nan = util.filled_like(self.batch_shape_tensor(), np.nan, self.dtype, "nan")
            defined = math_ops.logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0)
            return util.select(defined, mode, nan)
        return with_dependencies([
            check_ops.assert_less(array_ops.ones([], dtype=self.dtype), c, message="Mode undefined for %s <= 1." % word)
            for c, word in ((self.concentration1, "concentration1"), (self.concentration0, "concentration0"))], mode)


@RegisterKL(Beta, Beta)
def _kl_beta_beta(d1, d2, name=None):
    def delta(function):
        return function(d2) - function(d1)
    with name_scope(name, "kl_beta_beta", values=[d1.concentration1, d2.concentration1, d2.total_concentration]):
        return (delta(lambda d: d._log_normalization())
                - math_ops.digamma(d1.concentration1) * delta(lambda d: d.concentration1)
                - math_ops.digamma(d1.concentration0) * delta(lambda d: d.concentration0)
                + math_ops.digamma(d1.total_concentration) * delta(lambda d: d.total_concentration))


class BetaWithSoftplusConcentration(Beta):
    """A Beta distribution of softplus(concentration1) and softplus(concentration0)."""

    def __init__(self, concentration1, concentration0, validate_args=False, allow_nan_stats=True,
                 name="BetaWithSoftplusConcentration"):
        given = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            super().__init__(nn.softplus(concentration1, name="softplus_concentration1"),
                             nn.softplus(concentration0, name="softplus_concentration0"), validate_args, allow_nan_stats, name)
        self._parameters = {k: v for k, v in given.items() if k not in ("self", "__class__")}
