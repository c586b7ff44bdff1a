"""Distributions that are composed of others: transformed, independent, mixed, and normal vectors."""
import math

import numpy as np

from weft._core.distributions.bijectors import Exp
from weft._core.distributions.distribution import Distribution
from weft._core.distributions.kullback_leibler import RegisterKL, kl_divergence
from weft._core.distributions.scalars import Normal
from weft._core.distributions.vector_bijectors import AffineLinearOperator
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.framework.tensor_shape import TensorShape, as_shape
from weft._core.linear_operators.matrices import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from weft._core.linear_operators.structured import LinearOperatorLowRankUpdate
from weft._core.nn import nn
from weft._core.ops import array_ops, check_ops, linalg, math_ops, random_ops, special_math


def _given(scope):
    return {k: v for k, v in scope.items() if k not in ("self", "__class__")}


def _last(x, n):
    """Returns the last n dimensions, as a list of axes."""
    return list(range(-n, 0))


class TransformedDistribution(Distribution):
    """The distribution of bijector(x), x being of another distribution.

    Args:
      distribution: the distribution of x.
      bijector: the function; the identity by default.
      batch_shape: the shape of the batch, for a distribution that is a single number.
      event_shape: the shape of an event, for a distribution that is a single number.
      validate_args: whether the arguments are checked when the graph runs.
      name: the name of the scope of its ops.
    """

    def __init__(self, distribution, bijector=None, batch_shape=None, event_shape=None, validate_args=False, name=None):
        given = _given(locals())
        from weft._core.distributions.bijectors import Identity
        bijector = Identity(validate_args=validate_args) if bijector is None else bijector
        name = name or ("" if bijector is None else bijector.name) + distribution.name.rstrip("/").rpartition("/")[2]
        with name_scope(name) as name:
            pass
        for value, own, word in ((batch_shape, distribution.batch_shape, "batch_shape"), (event_shape, distribution.event_shape,
                "event_shape")):
            if value is not None and own.ndims != 0:
                raise ValueError("`%s` can only be given for a base distribution whose own is scalar." % word)
        self._distribution, self._bijector = distribution, bijector
        self._batch_override = None if batch_shape is None else [int(d) for d in batch_shape]
        self._event_override = None if event_shape is None else [int(d) for d in event_shape]
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args, distribution.allow_nan_stats, given,
                         distribution._graph_parents, name)

    @property
    def distribution(self):
        """The distribution of x."""
        return self._distribution

    @property
    def bijector(self):
        """The function."""
        return self._bijector

    def _base_event(self):
        return self.distribution.event_shape if self._event_override is None else TensorShape(self._event_override)

    def _event_shape(self):
        return self.bijector.forward_event_shape(self._base_event())

    def _event_shape_tensor(self):
        if self._event_override is not None:
            return self.bijector.forward_event_shape_tensor(np.array(self._event_override, np.int32))
        return self.bijector.forward_event_shape_tensor(self.distribution.event_shape_tensor())

    def _batch_shape(self):
        return self.distribution.batch_shape if self._batch_override is None else TensorShape(self._batch_override)

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor() if self._batch_override is None else convert_to_tensor(
            np.array(self._batch_override, np.int32))

    def _sample_n(self, n, seed=None):
        more = (self._batch_override or []) + (self._event_override or [])
        x = self.distribution.sample(array_ops.concat([[n], more], 0) if more else [n], seed=seed)
        return self.bijector.forward(x)

    def _ndims(self):
        known = self.event_shape.ndims
        if known is None:
            raise ValueError("%s needs an event of known rank" % type(self).__name__)
        return known

    def _reduced(self, x):
        """Sums over the dimensions that event_shape has added."""
        return x if not self._event_override else math_ops.reduce_sum(x, axis=_last(x, len(self._event_override)))

    def _log_prob(self, y):
        x = self.bijector.inverse(y)
        logs = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._ndims())
        if isinstance(x, tuple):
            parts = [self._reduced(self.distribution.log_prob(p)) + logs for p in x]
            return math_ops.reduce_logsumexp(array_ops.stack(parts), axis=0)
        return self._reduced(self.distribution.log_prob(x)) + logs

    def _prob(self, y):
        return math_ops.exp(self._log_prob(y))

    def _of_x(self, method, y):
        if self._event_override or not hasattr(self.distribution, method):
            raise NotImplementedError("%s is not implemented when overriding event_shape" % method)
        return getattr(self.distribution, method)(self.bijector.inverse(y))

    def _cdf(self, y):
        return self._of_x("cdf", y)

    def _log_cdf(self, y):
        return self._of_x("log_cdf", y)

    def _survival_function(self, y):
        return self._of_x("survival_function", y)

    def _log_survival_function(self, y):
        return self._of_x("log_survival_function", y)

    def _quantile(self, p):
        return self.bijector.forward(self.distribution.quantile(p))

    def _constant(self, what):
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("%s is not implemented: %s has a Jacobian that is not constant" % (what, self.bijector.name))

    def _entropy(self):
        self._constant("entropy")
        entropy = self.distribution.entropy()
        if self._event_override:
            entropy = entropy * float(np.prod(self._event_override))
        shape = array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return entropy + self.bijector.forward_log_det_jacobian(array_ops.zeros(shape, dtype=self.dtype), event_ndims=self._ndims())

    def _mean(self):
        self._constant("mean")
        mean = self.distribution.mean()
        more = (self._batch_override or []) + (self._event_override or [])
        return self.bijector.forward(mean * array_ops.ones(more, dtype=mean.dtype) if more else mean)


class LogNormal(TransformedDistribution):
    """The exponential of a normal variable.

    Args:
      loc: the mean of the logarithm.
      scale: its standard deviation.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="LogNormal"):
        given = _given(locals())
        super().__init__(Normal(loc, scale, allow_nan_stats=allow_nan_stats), Exp(), validate_args=validate_args, name=name)
        self._parameters = given

    @property
    def loc(self):
        """The mean of the logarithm."""
        return self.distribution.loc

    @property
    def scale(self):
        """The standard deviation of the logarithm."""
        return self.distribution.scale

    def _mean(self):
        return math_ops.exp(self.distribution.mean() + 0.5 * self.distribution.variance())

    def _variance(self):
        variance = self.distribution.variance()
        return math_ops.expm1(variance) * math_ops.exp(2.0 * self.distribution.mean() + variance)

    def _mode(self):
        return math_ops.exp(self.distribution.mean() - self.distribution.variance())

    def _entropy(self):
        return self.distribution.mean() + 0.5 + math_ops.log(self.distribution.stddev()) + 0.5 * math.log(2 * math.pi)


class Independent(Distribution):
    """A batch of distributions as one: the last dimensions of the batch belong to the event.

    Args:
      distribution: the batch of distributions.
      reinterpreted_batch_ndims: how many dimensions of the batch become the event's; by default all but the first.
      validate_args: whether the arguments are checked when the graph runs.
      name: the name of the scope of its ops.
    """

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):
        given = _given(locals())
        with name_scope(name or "Independent" + distribution.name.rstrip("/").rpartition("/")[2]) as name:
            pass
        if reinterpreted_batch_ndims is None:
            if distribution.batch_shape.ndims is None:
                raise ValueError("reinterpreted_batch_ndims must be given for a batch of unknown rank")
            reinterpreted_batch_ndims = max(0, distribution.batch_shape.ndims - 1)
        self._distribution, self._count = distribution, int(reinterpreted_batch_ndims)
        if distribution.batch_shape.ndims is not None and self._count > distribution.batch_shape.ndims:
            raise ValueError("reinterpreted_batch_ndims(%d) cannot exceed distribution.batch_ndims(%d)" % (
                self._count, distribution.batch_shape.ndims))
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args, distribution.allow_nan_stats, given,
                         distribution._graph_parents, name)

    @property
    def distribution(self):
        """The batch of distributions."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self):
        """How many dimensions of the batch are the event's."""
        return self._count

    def _split(self):
        known = self.distribution.batch_shape
        return (known[:known.ndims - self._count],
            known[known.ndims - self._count:]) if known.ndims is not None else (TensorShape(None),) * 2

    def _batch_shape(self):
        return self._split()[0]

    def _event_shape(self):
        return self._split()[1].concatenate(self.distribution.event_shape)

    def _batch_shape_tensor(self):
        shape = self.distribution.batch_shape_tensor()
        return shape[:array_ops.shape(shape)[0] - self._count]

    def _event_shape_tensor(self):
        shape = self.distribution.batch_shape_tensor()
        return array_ops.concat([shape[array_ops.shape(shape)[0] - self._count:], self.distribution.event_shape_tensor()], 0)

    def _sample_n(self, n, seed=None):
        return self.distribution.sample(n, seed=seed)

    def _total(self, x):
        return math_ops.reduce_sum(x, axis=_last(x, self._count)) if self._count else x

    def _log_prob(self, x):
        return self._total(self.distribution.log_prob(x))

    def _entropy(self):
        return self._total(self.distribution.entropy())

    def _mean(self):
        return self.distribution.mean()

    def _variance(self):
        return self.distribution.variance()

    def _stddev(self):
        return self.distribution.stddev()

    def _mode(self):
        return self.distribution.mode()


@RegisterKL(Independent, Independent)
def _kl_independent(a, b, name=None):
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims or a.event_shape != b.event_shape:
        raise ValueError("Event shapes do not match.")
    with name_scope(name, "kl_independent"):
        return a._total(kl_divergence(a.distribution, b.distribution))


# ---- normal vectors ----

class MultivariateNormalLinearOperator(TransformedDistribution):
    """scale times a vector of independent standard normal variables, plus loc.

    Args:
      loc: the mean; zero by default.
      scale: a LinearOperator.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalLinearOperator"):
        given = _given(locals())
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        with name_scope(name, values=[loc]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            batch = scale.batch_shape
            if loc is not None:
                batch = special_math.broadcast_static_shape(batch, loc.shape[:-1])
            size = scale.range_dimension.value
            if not batch.is_fully_defined() or size is None:
                self._dynamic = True
                normal = Normal(array_ops.zeros([], scale.dtype), array_ops.ones([], scale.dtype), allow_nan_stats=allow_nan_stats)
            else:
                self._dynamic = False
                normal = Normal(array_ops.zeros([], scale.dtype), array_ops.ones([], scale.dtype), allow_nan_stats=allow_nan_stats)
        super().__init__(normal, AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
                         batch_shape=None if self._dynamic else batch.as_list(), event_shape=None if self._dynamic else [size],
                         validate_args=validate_args, name=name)
        self._parameters = given

    @property
    def loc(self):
        """The mean, or None where it is zero."""
        return self.bijector.shift

    @property
    def scale(self):
        """The LinearOperator."""
        return self.bijector.scale

    def _batch_shape(self):
        if not self._dynamic:
            return super()._batch_shape()
        known = self.scale.batch_shape
        return known if self.loc is None else special_math.broadcast_static_shape(known, self.loc.shape[:-1])

    def _event_shape(self):
        return as_shape([self.scale.range_dimension]) if self._dynamic else super()._event_shape()

    def _batch_shape_tensor(self):
        shape = self.scale.batch_shape_tensor()
        return shape if self.loc is None else special_math.broadcast_dynamic_shape(shape, array_ops.shape(self.loc)[:-1])

    def _event_shape_tensor(self):
        return array_ops.reshape(self.scale.range_dimension_tensor(), [1])

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return self.bijector.forward(random_ops.random_normal(shape, dtype=self.dtype, seed=seed))

    def _log_prob(self, x):
        z = self.bijector.inverse(x)
        size = math_ops.cast(self.scale.range_dimension_tensor(), self.dtype)
        return (-0.5 * math_ops.reduce_sum(math_ops.square(z), axis=-1) - 0.5 * math.log(2 * math.pi) * size
                - self.scale.log_abs_determinant())

    def _zeros(self):
        return array_ops.zeros(array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), dtype=self.dtype)

    def _mean(self):
        return self._zeros() if self.loc is None else self.loc + self._zeros()

    def _mode(self):
        return self._mean()

    def _covariance(self):
        if isinstance(self.scale, LinearOperatorDiag):
            return linalg.diag(math_ops.square(self.scale.diag_part()))
        return self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self):
        if self.scale.is_self_adjoint and isinstance(self.scale, (LinearOperatorDiag, LinearOperatorIdentity,
                LinearOperatorScaledIdentity)):
            return math_ops.square(self.scale.diag_part()) + self._zeros()
        return linalg.diag_part(self._covariance()) + self._zeros()

    def _stddev(self):
        if isinstance(self.scale, LinearOperatorDiag):
            return math_ops.abs(self.scale.diag_part()) + self._zeros()
        return math_ops.sqrt(self._variance())

    def _entropy(self):
        size = math_ops.cast(self.scale.range_dimension_tensor(), self.dtype)
        found = 0.5 * (1.0 + math.log(2 * math.pi)) * size + self.scale.log_abs_determinant()
        return found + array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_normal_vectors(a, b, name=None):
    def squares(x, dims):
        return math_ops.reduce_sum(math_ops.square(x), axis=_last(x, dims))
    with name_scope(name, "kl_mvn", values=[]):
        if isinstance(a.scale, LinearOperatorDiag) and isinstance(b.scale, LinearOperatorDiag):
            trace = squares(a.scale.diag_part() / b.scale.diag_part(), 1)
        else:
            trace = squares(b.scale.solve(a.scale.to_dense()), 2)
        distance = squares(b.scale.solvevec(b.mean() - a.mean()), 1)
        size = math_ops.cast(a.scale.domain_dimension_tensor(), a.dtype)
        return (b.scale.log_abs_determinant() - a.scale.log_abs_determinant() + 0.5 * (-size + trace + distance))


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """Independent normal variables, as one vector.

    Args:
      loc: the mean; zero by default.
      scale_diag: the standard deviations.
      scale_identity_multiplier: a number that is added to all of them, or stands for them.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalDiag"):
        given = _given(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            scale = _diag_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = given


def _diag_scale(loc, diag, multiplier, validate):
    if diag is not None:
        diag = convert_to_tensor(diag, name="scale_diag")
        diag = diag if multiplier is None else diag + array_ops.expand_dims(convert_to_tensor(multiplier, diag.dtype), -1)
        if validate:
            with control_dependencies([check_ops.assert_none_equal(diag, array_ops.zeros_like(diag),
                    message="diagonal part must be non-zero")]):
                diag = array_ops.identity(diag)
        return LinearOperatorDiag(diag, is_non_singular=True, is_self_adjoint=True, is_square=True)
    if loc is None:
        raise ValueError("Cannot infer `event_shape` unless `loc` or `scale_diag` is specified.")
    size = loc.shape[-1].value
    size = array_ops.shape(loc)[-1] if size is None else size
    if multiplier is None:
        return LinearOperatorIdentity(size, dtype=loc.dtype)
    return LinearOperatorScaledIdentity(size, convert_to_tensor(multiplier, loc.dtype), is_non_singular=True, is_self_adjoint=True)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag(loc, softplus(scale_diag))."""

    def __init__(self, loc, scale_diag, validate_args=False, allow_nan_stats=True, name="MultivariateNormalDiagWithSoftplusScale"):
        given = _given(locals())
        with name_scope(name, values=[scale_diag]) as name:
            scale_diag = nn.softplus(scale_diag)
        super().__init__(loc, scale_diag, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = given


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """A normal vector whose covariance is scale_tril times its transpose.

    Args:
      loc: the mean; zero by default.
      scale_tril: a lower triangle; the identity by default.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc=None, scale_tril=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalTriL"):
        given = _given(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            if scale_tril is None:
                scale = _diag_scale(loc, None, None, validate_args)
            else:
                tril = convert_to_tensor(scale_tril, name="scale_tril")
                if validate_args:
                    diagonal = linalg.diag_part(tril)
                    with control_dependencies([check_ops.assert_none_equal(
                            diagonal, array_ops.zeros_like(diagonal), message="`scale_tril` must have non-zero diagonal")]):
                        tril = array_ops.identity(tril)
                scale = LinearOperatorLowerTriangular(tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=None)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = given


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """A normal vector with a covariance matrix.

    Args:
      loc: the mean; zero by default.
      covariance_matrix: the covariance; the identity by default.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc=None, covariance_matrix=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalFullCovariance"):
        given = _given(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, covariance_matrix]):
            tril = None
            if covariance_matrix is not None:
                matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    with control_dependencies([check_ops.assert_equal(matrix, linalg.transpose(matrix),
                            message="Matrix was not symmetric.")]):
                        matrix = array_ops.identity(matrix)
                tril = linalg.cholesky(matrix)
        super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = given


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """A normal vector whose scale is a diagonal plus a thin matrix times its transpose.

    Args:
      loc: the mean; zero by default.
      scale_diag: the diagonal.
      scale_identity_multiplier: a number that is added to the diagonal, or stands for it.
      scale_perturb_factor: the thin matrix.
      scale_perturb_diag: a diagonal between the thin matrix and its transpose.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN.
      name: the name of the scope of its ops.
    """

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, scale_perturb_factor=None, scale_perturb_diag=None,
                 validate_args=False, allow_nan_stats=True, name="MultivariateNormalDiagPlusLowRank"):
        given = _given(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_diag, scale_perturb_factor]):
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            scale = _diag_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
            if scale_perturb_factor is not None:
                scale = LinearOperatorLowRankUpdate(scale, scale_perturb_factor, diag_update=scale_perturb_diag, is_non_singular=True,
                                                    is_self_adjoint=True, is_square=True)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = given
