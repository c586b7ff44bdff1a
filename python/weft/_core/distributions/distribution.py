"""tf.distributions.Distribution: the base class.

A subclass has methods with an underscore (`_log_prob`, `_sample_n`, ...).  The public methods of the base put them into
scopes, and derive what a subclass lacks from what it has: a density from its logarithm, a variance from a deviation.
"""
import contextlib

import numpy as np

from weft._core.distributions import kullback_leibler, util
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape, as_shape
from weft._core.ops import array_ops, math_ops


class ReparameterizationType(metaclass=Named):
    """Tells whether samples are differentiable functions of the parameters.

    Args:
      rep_type: the word that names the type.
    """

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return "<Reparameterization Type: %s>" % self._rep_type

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def _shown(shape):
    """Returns a static shape as text, "<unknown>" where nothing is known of it."""
    return "<unknown>" if shape.ndims is None else str(tuple("?" if d is None else d for d in shape.as_list())).replace("'", "")


class Distribution(metaclass=Named):
    """A random variable, or a batch of independent ones that differ in their parameters.

    Args:
      dtype: the type of the events.
      reparameterization_type: FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED.
      validate_args: whether the arguments are checked when the graph runs.
      allow_nan_stats: whether statistics that are undefined are NaN; if not, they raise an error.
      parameters: the arguments of the constructor, as a dict, for copy().
      graph_parents: the tensors that the distribution is made from.
      name: the name of the scope of its ops.
    """

    def __init__(self, dtype, reparameterization_type, validate_args, allow_nan_stats, parameters=None, graph_parents=None,
                 name=None):
        for i, parent in enumerate(graph_parents or []):
            if parent is None or not hasattr(parent, "op"):
                raise ValueError("Graph parent item %d is not a Tensor; %s." % (i, parent))
        if not name or name[-1] != "/":
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype, self._reparameterization_type = dtype, reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._given = {k: v for k, v in (parameters or {}).items() if k not in ("self", "__class__")}
        self._graph_parents, self._name = list(graph_parents or []), name

    @property
    def _parameters(self):
        return self._given

    @_parameters.setter
    def _parameters(self, given):
        self._given = given

    @property
    def name(self):
        """The name of the scope of its ops; it ends in a slash."""
        return self._name

    @property
    def dtype(self):
        """The type of the events."""
        return self._dtype

    @property
    def parameters(self):
        """The arguments of the constructor."""
        return {k: v for k, v in self._parameters.items() if not k.startswith("__") and k != "self"}

    @property
    def reparameterization_type(self):
        """Whether samples are differentiable functions of the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self):
        """Whether statistics that are undefined are NaN."""
        return self._allow_nan_stats

    @property
    def validate_args(self):
        """Whether the arguments are checked when the graph runs."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs):
        """Returns a distribution of the same class, with some arguments of the constructor replaced."""
        return type(self)(**dict(self.parameters, **override_parameters_kwargs))

    # ---- shapes ----

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        """Returns the shape of each parameter, as a tensor, for samples of a shape."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """Returns the TensorShape of each parameter for samples of a shape that is known."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        found = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            known = constant_value(shape)
            if known is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            found[name] = TensorShape([int(d) for d in known])
        return found

    @staticmethod
    def _param_shapes(sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def batch_shape(self):
        """The static shape of the batch of distributions."""
        return as_shape(self._batch_shape())

    @property
    def event_shape(self):
        """The static shape of one event of one distribution."""
        return as_shape(self._event_shape())

    def _batch_shape(self):
        return TensorShape(None)

    def _event_shape(self):
        return TensorShape(None)

    def _batch_shape_tensor(self):
        raise NotImplementedError("batch_shape_tensor is not implemented: %s" % type(self).__name__)

    def _event_shape_tensor(self):
        raise NotImplementedError("event_shape_tensor is not implemented: %s" % type(self).__name__)

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """Returns the shape of the batch of distributions as a tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(np.array(self.batch_shape.as_list(), np.int32), name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name="event_shape_tensor"):
        """Returns the shape of one event as a tensor."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return convert_to_tensor(np.array(self.event_shape.as_list(), np.int32), name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name="is_scalar_event"):
        """Returns whether an event is one number, as a tensor."""
        with self._name_scope(name):
            return convert_to_tensor(self._is_scalar(self.event_shape, self.event_shape_tensor), name="is_scalar_event")

    def is_scalar_batch(self, name="is_scalar_batch"):
        """Returns whether this is a single distribution, as a tensor."""
        with self._name_scope(name):
            return convert_to_tensor(self._is_scalar(self.batch_shape, self.batch_shape_tensor), name="is_scalar_batch")

    @staticmethod
    def _is_scalar(known, shape):
        if known.ndims is not None:
            return known.ndims == 0
        return math_ops.equal(array_ops.shape(shape())[0], 0)

    # ---- samples ----

    def _sample_n(self, n, seed=None):
        raise NotImplementedError("sample_n is not implemented: %s" % type(self).__name__)

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Draws samples of the given shape from each distribution of the batch."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape, seed, name, **kwargs):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = convert_to_tensor(np.array(sample_shape, np.int32) if isinstance(sample_shape, (tuple, list))
                                             and all(isinstance(d, int) for d in sample_shape) else sample_shape,
                                             dtypes.int32, name="sample_shape")
            sample_shape, n = self._expand_sample_shape_to_vector(sample_shape, "sample_shape")
            drawn = self._sample_n(n, seed, **kwargs)
            drawn = array_ops.reshape(drawn, array_ops.concat([sample_shape, array_ops.shape(drawn)[1:]], 0))
            return self._set_sample_static_shape(drawn, sample_shape)

    def _expand_sample_shape_to_vector(self, x, name):
        """Returns (the shape as a vector, the number of samples)"""
        known = constant_value(x)
        n = math_ops.reduce_prod(x) if known is None else np.array(np.prod(known), np.int32)
        if x.shape.ndims is None:
            from weft._core.ops.control_flow import cond
            return cond(math_ops.equal(array_ops.rank(x), 0), lambda: array_ops.reshape(x, [1]), lambda: x), n
        if x.shape.ndims == 0:
            x = array_ops.reshape(x, [1]) if known is None else convert_to_tensor(known.reshape([1]), name=name)
        return x, n

    def _set_sample_static_shape(self, x, sample_shape):
        known = constant_value(sample_shape)
        if known is None:
            count = sample_shape.shape.ndims and sample_shape.shape.dims[0].value
            front = TensorShape(None) if sample_shape.shape.ndims is None or count is None else TensorShape([None] * count)
        else:
            front = TensorShape([int(d) for d in np.reshape(known, [-1])])
        if self.batch_shape.ndims is not None and self.event_shape.ndims is not None and front.ndims is not None:
            x.set_shape(front.concatenate(self.batch_shape).concatenate(self.event_shape))
        return x

    # ---- densities ----

    def _derived(self, name, value, *ways):
        """Returns the first of the ways that the class has; each is (name of a method, function of its result)."""
        with self._name_scope(name, values=[value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            return self._first_way(ways, value)

    def _first_way(self, ways, *args):
        lacking = None
        for method, after in ways:
            try:
                found = getattr(self, method)(*args)
            except NotImplementedError as e:
                lacking = lacking or e
            else:
                return found if after is None else after(found)
        raise lacking

    def _log_prob(self, value):
        raise NotImplementedError("log_prob is not implemented: %s" % type(self).__name__)

    def _prob(self, value):
        raise NotImplementedError("prob is not implemented: %s" % type(self).__name__)

    def _log_cdf(self, value):
        raise NotImplementedError("log_cdf is not implemented: %s" % type(self).__name__)

    def _cdf(self, value):
        raise NotImplementedError("cdf is not implemented: %s" % type(self).__name__)

    def _survival_function(self, value):
        raise NotImplementedError("survival_function is not implemented: %s" % type(self).__name__)

    def _log_survival_function(self, value):
        raise NotImplementedError("log_survival_function is not implemented: %s" % type(self).__name__)

    def _quantile(self, value):
        raise NotImplementedError("quantile is not implemented: %s" % type(self).__name__)

    def log_prob(self, value, name="log_prob"):
        """Returns the logarithm of the density, or of the probability of a discrete event."""
        return self._call_log_prob(value, name)

    def _call_log_prob(self, value, name, **kwargs):
        return self._derived(name, value, ("_log_prob", None), ("_prob", math_ops.log))

    def prob(self, value, name="prob"):
        """Returns the density, or the probability of a discrete event."""
        return self._call_prob(value, name)

    def _call_prob(self, value, name, **kwargs):
        return self._derived(name, value, ("_prob", None), ("_log_prob", math_ops.exp))

    def log_cdf(self, value, name="log_cdf"):
        """Returns the logarithm of the cumulative distribution function."""
        return self._call_log_cdf(value, name)

    def _call_log_cdf(self, value, name, **kwargs):
        return self._derived(name, value, ("_log_cdf", None), ("_cdf", math_ops.log))

    def cdf(self, value, name="cdf"):
        """Returns the probability that a sample is at most the value."""
        return self._call_cdf(value, name)

    def _call_cdf(self, value, name, **kwargs):
        return self._derived(name, value, ("_cdf", None), ("_log_cdf", math_ops.exp))

    def survival_function(self, value, name="survival_function"):
        """Returns the probability that a sample is greater than the value."""
        return self._derived(name, value, ("_survival_function", None), ("cdf", lambda p: 1.0 - p))

    def log_survival_function(self, value, name="log_survival_function"):
        """Returns the logarithm of the probability that a sample is greater than the value."""
        return self._derived(name, value, ("_log_survival_function", None), ("cdf", lambda p: math_ops.log1p(-p)))

    def quantile(self, value, name="quantile"):
        """Returns the least event whose cumulative probability is at least the value."""
        return self._derived(name, value, ("_quantile", None))

    # ---- statistics ----

    def _stat(self, name, *ways):
        with self._name_scope(name):
            return self._first_way(ways)

    def _entropy(self):
        raise NotImplementedError("entropy is not implemented: %s" % type(self).__name__)

    def _mean(self):
        raise NotImplementedError("mean is not implemented: %s" % type(self).__name__)

    def _variance(self):
        raise NotImplementedError("variance is not implemented: %s" % type(self).__name__)

    def _stddev(self):
        raise NotImplementedError("stddev is not implemented: %s" % type(self).__name__)

    def _covariance(self):
        raise NotImplementedError("covariance is not implemented: %s" % type(self).__name__)

    def _mode(self):
        raise NotImplementedError("mode is not implemented: %s" % type(self).__name__)

    def entropy(self, name="entropy"):
        """Returns the entropy, in nats."""
        return self._stat(name, ("_entropy", None))

    def mean(self, name="mean"):
        """Returns the mean."""
        return self._stat(name, ("_mean", None))

    def variance(self, name="variance"):
        """Returns the variance of each element of an event."""
        return self._stat(name, ("_variance", None), ("_stddev", math_ops.square))

    def stddev(self, name="stddev"):
        """Returns the standard deviation of each element of an event."""
        return self._stat(name, ("_stddev", None), ("_variance", math_ops.sqrt))

    def covariance(self, name="covariance"):
        """Returns the covariance matrix of the elements of an event."""
        return self._stat(name, ("_covariance", None))

    def mode(self, name="mode"):
        """Returns the most probable event."""
        return self._stat(name, ("_mode", None))

    def _cross_entropy(self, other):
        return kullback_leibler.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def _kl_divergence(self, other):
        return kullback_leibler.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other, name="cross_entropy"):
        """Returns the cross entropy from another distribution."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other, name="kl_divergence"):
        """Returns the Kullback-Leibler divergence from another distribution."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    # ---- scopes and text ----

    @contextlib.contextmanager
    def _name_scope(self, name=None, values=None):
        with name_scope(self.name, values=[*(values or []), *self._graph_parents]), name_scope(name) as scope:
            yield scope

    def __str__(self):
        batch = ", batch_shape=%s" % _shown(self.batch_shape) if self.batch_shape.ndims is not None else ""
        event = ", event_shape=%s" % _shown(self.event_shape) if self.event_shape.ndims is not None else ""
        return 'tfp.distributions.%s("%s"%s%s, dtype=%s)' % (type(self).__name__, self.name, batch, event, self._dtype_name())

    def __repr__(self):
        return "<tfp.distributions.%s '%s' batch_shape=%s event_shape=%s dtype=%s>" % (
            type(self).__name__, self.name, _shown(self.batch_shape), _shown(self.event_shape), self._dtype_name())

    def _dtype_name(self):
        return dtypes.as_dtype(self.dtype).name if self.dtype is not None else "unknown"


class Scalars(Distribution):
    """The base of distributions of numbers whose parameters broadcast; `_shaping` holds them."""

    def _event_shape(self):
        return TensorShape([])

    def _event_shape_tensor(self):
        return convert_to_tensor(np.array([], np.int32))

    def _batch_shape(self):
        return util.broadcast_static(*self._shaping)

    def _batch_shape_tensor(self):
        return util.broadcast_dynamic(*self._shaping)

    def _drawn_shape(self, n):
        return array_ops.concat([[n], self.batch_shape_tensor()], 0)
