"""tf.contrib.bayesflow.stochastic_tensor, stochastic_graph, stochastic_gradient_estimators and variational_inference."""
import contextlib

import weft as tf
from weft._core.contrib.bayesflow.monte_carlo import ELBOForms
from weft._core.framework.absent import Named
from weft._core.framework.build import register_tensor_conversion_function

_TENSORS = "_stochastic_tensor_collection"
_stack = []


# ---- how gradients reach the parameters of a sample ----

def score_function(stochastic_tensor, value, loss, baseline=None, name="ScoreFunction"):
    """log p(value) times the loss, whose gradient estimates that of the loss's expectation.

    Args:
      stochastic_tensor: the StochasticTensor.
      value: its value.
      loss: the losses that depend on it.
      baseline: what is subtracted from the loss, which makes the estimate less noisy.
      name: the name scope.
    """
    with tf.name_scope(name, values=[value, loss]):
        advantage = tf.stop_gradient(loss if baseline is None else loss - baseline)
        return stochastic_tensor.distribution.log_prob(value) * advantage


def get_score_function_with_constant_baseline(baseline, name="ScoreFunction"):
    """score_function with a constant baseline.

    Args:
      baseline: the baseline.
      name: the name scope.
    """
    def made(stochastic_tensor, value, loss):
        return score_function(stochastic_tensor, value, loss, baseline, name)
    return made


def get_score_function_with_baseline(baseline_fn=None, name="ScoreFunction"):
    """score_function with the baseline that a function gives.

    Args:
      baseline_fn: a function of the stochastic tensor and the loss; get_mean_baseline() if not given.
      name: the name scope.
    """
    baseline_fn = get_mean_baseline() if baseline_fn is None else baseline_fn

    def made(stochastic_tensor, value, loss):
        return score_function(stochastic_tensor, value, loss, baseline_fn(stochastic_tensor, loss), name)
    return made


def get_score_function_with_advantage(advantage_fn=None, name="ScoreFunctionWithAdvantage"):
    """log p(value) times an advantage.

    Args:
      advantage_fn: a function of the stochastic tensor and the loss; the loss less its mean if not given.
      name: the name scope.
    """
    def made(stochastic_tensor, value, loss):
        with tf.name_scope(name, values=[value, loss]):
            if advantage_fn is None:
                advantage = loss - get_mean_baseline()(stochastic_tensor, loss)
            else:
                advantage = advantage_fn(stochastic_tensor, loss)
            return stochastic_tensor.distribution.log_prob(value) * tf.stop_gradient(advantage)
    return made


def get_mean_baseline(ema_decay=0.99, name=None):
    """Returns a baseline function: a moving average of the mean loss.

    Args:
      ema_decay: the decay of the average.
      name: the name of its variable.
    """
    def mean_baseline(_, loss):
        with tf.variable_scope(name, "MeanBaseline"):
            average = tf.train.ExponentialMovingAverage(ema_decay, zero_debias=True)
            mean = tf.reduce_mean(loss)
            with tf.control_dependencies([average.apply([mean])]):
                return tf.identity(average.average(mean))
    return mean_baseline


# ---- stochastic tensors ----

class _ValueType(metaclass=Named):
    """What the value of a StochasticTensor is.

    Args:
      stop_gradient: whether gradients stop at the value.
    """

    def __init__(self, stop_gradient=False):
        self._stop_gradient = bool(stop_gradient)

    stop_gradient = property(lambda self: self._stop_gradient)

    def pushed_above(self, unused_value_type):
        """Called when another type is made the current one.

        Args:
          unused_value_type: the other type.
        """

    def popped_above(self, unused_value_type):
        """Called when the other type is no longer the current one.

        Args:
          unused_value_type: the other type.
        """


class MeanValue(_ValueType):
    """The value is the mean of the distribution.

    Args:
      stop_gradient: whether gradients stop at the value.
    """


class SampleValue(_ValueType):
    """The value is a sample of the distribution.

    Args:
      shape: the shape of the samples: () for one.
      stop_gradient: whether gradients stop at the sample even if it is a function of the parameters.
    """

    def __init__(self, shape=(), stop_gradient=False):
        super().__init__(stop_gradient)
        self._shape = shape

    shape = property(lambda self: self._shape)


@contextlib.contextmanager
def value_type(dist_value_type):
    """Returns a context in which stochastic tensors have values of a type.

    Args:
      dist_value_type: a MeanValue or SampleValue.
    """
    made = dist_value_type() if isinstance(dist_value_type, type) else dist_value_type
    if not isinstance(made, _ValueType):
        raise TypeError("dist_value_type must be a Value type: %r" % (dist_value_type,))
    if _stack:
        _stack[-1].pushed_above(made)
    _stack.append(made)
    try:
        yield
    finally:
        _stack.pop()
        if _stack:
            _stack[-1].popped_above(made)


class NoValueTypeSetError(ValueError):
    """No value type is set."""


def get_current_value_type():
    """Returns the value type of the innermost value_type() context."""
    if not _stack:
        raise NoValueTypeSetError("No value type currently set for this thread (%s). Did you forget to wrap in a "
                                  "`with stochastic_graph.value_type(value_type=...)`?")
    return _stack[-1]


class BaseStochasticTensor(metaclass=Named):
    """A node of a stochastic graph, which is a tensor where one is needed."""

    def __init__(self):
        tf.add_to_collection(_TENSORS, self)

    def value(self, name=None):
        """Returns the tensor.

        Args:
          name: the name of the tensor.
        """
        raise NotImplementedError("value not implemented")

    def loss(self, sample_loss):
        """Returns the term that surrogate_loss adds for this tensor, or None.

        Args:
          sample_loss: the sum of the losses that depend on it.
        """
        raise NotImplementedError("surrogate_loss not implemented")


class StochasticTensor(BaseStochasticTensor):
    """A sample or the mean of a distribution.

    Args:
      dist: the distribution.
      name: the name scope.
      dist_value_type: a SampleValue or MeanValue; that of the context if not given, and SampleValue() outside of one.
      loss_fn: the gradient estimator for samples that are no functions of the parameters; None: no gradient.
    """

    def __init__(self, dist, name="StochasticTensor", dist_value_type=None, loss_fn=score_function):
        self._name, self._dist, self._loss_fn = name, dist, loss_fn
        if dist_value_type is None:
            dist_value_type = _stack[-1] if _stack else SampleValue()
        self._value_type = dist_value_type() if isinstance(dist_value_type, type) else dist_value_type
        with tf.name_scope(name):
            self._value = self._create_value()
        super().__init__()

    def _create_value(self):
        kind = self._value_type
        if isinstance(kind, MeanValue):
            made = self._dist.mean()
        elif isinstance(kind, SampleValue):
            made = self._dist.sample(kind.shape)
        else:
            raise TypeError("Unrecognized Distribution Value Type: %s" % (kind,))
        return tf.stop_gradient(made) if kind.stop_gradient else made

    name = property(lambda self: self._name)
    distribution = property(lambda self: self._dist)
    dtype = property(lambda self: self._value.dtype)
    graph = property(lambda self: self._value.graph)
    shape = property(lambda self: self._value.shape)

    def get_shape(self):
        """Returns the shape of the value."""
        return self._value.shape

    def mean(self, name="mean"):
        """Returns the mean of the distribution.

        Args:
          name: the name of the tensor.
        """
        return self._dist.mean(name=name)

    def entropy(self, name="entropy"):
        """Returns the entropy of the distribution.

        Args:
          name: the name of the tensor.
        """
        return self._dist.entropy(name=name)

    def value(self, name="value"):
        """Returns the sample, or the mean.

        Args:
          name: the name of the tensor; not used, as in TensorFlow.
        """
        return self._value

    def loss(self, final_loss, name="Loss"):
        """Returns the term that surrogate_loss adds: None where gradients flow through the value itself, or should not flow.

        Args:
          final_loss: the sum of the losses that depend on the value.
          name: the name scope.
        """
        kind = self._value_type
        if self._loss_fn is None or isinstance(kind, MeanValue):
            return None
        if self._dist.reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED and not kind.stop_gradient:
            return None
        with tf.name_scope(self._name), tf.name_scope(name, values=[final_loss]):
            return self._loss_fn(self, self._value, final_loss)


class ObservedStochasticTensor(StochasticTensor):
    """A stochastic tensor whose value is given.

    Args:
      dist: the distribution.
      value: the value.
      name: the name scope.
    """

    def __init__(self, dist, value, name=None):
        self._given = value
        super().__init__(dist, name or "ObservedStochasticTensor", SampleValue(), None)

    def _create_value(self):
        made = tf.convert_to_tensor(self._given, dtype=self._dist.dtype)
        ours = self._dist.batch_shape.concatenate(self._dist.event_shape)
        tail = made.shape[made.shape.ndims - ours.ndims:] if None not in (made.shape.ndims, ours.ndims) else ours
        if not tail.is_compatible_with(ours):
            raise ValueError("The value of shape %s does not fit the distribution's %s" % (made.shape, ours))
        return made

    def loss(self, final_loss, name=None):
        """None: nothing is estimated for what is given.

        Args:
          final_loss, name: not used.
        """


def _as_tensor(value, dtype=None, name=None, as_ref=False):
    made = value.value()
    if dtype is not None and not dtype.is_compatible_with(made.dtype):
        raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" % (dtype.name, made.dtype.name))
    return made


register_tensor_conversion_function(BaseStochasticTensor, _as_tensor)


# ---- stochastic graphs ----

def _depends(loss, tensors):
    """Which of the tensors a loss depends on."""
    wanted, seen, todo, found = {t.value().op: t for t in tensors}, set(), [loss.op], []
    while todo:
        op = todo.pop()
        if op in seen:
            continue
        seen.add(op)
        if op in wanted:
            found.append(wanted[op])
        todo.extend(t.op for t in op.inputs)
    return found


def surrogate_loss(sample_losses, stochastic_tensors=None, name="SurrogateLoss"):
    """Returns a loss whose gradient estimates the gradient of the expected sum of losses, through all samples in the graph.

    Args:
      sample_losses: the losses, a list; each has one number for each example.
      stochastic_tensors: the stochastic tensors; all of the graph if not given.
      name: the name scope.
    """
    if not isinstance(sample_losses, (list, tuple)):
        raise TypeError("sample_losses must be a list or tuple")
    with tf.name_scope(name, values=sample_losses):
        losses = [tf.convert_to_tensor(x) for x in sample_losses]
        for x in losses:
            if x.shape.ndims is None or x.shape.ndims < 1:
                raise ValueError("sample_losses must have shape of at least 1 dimension, got %s" % x.shape)
        tensors = tf.get_collection(_TENSORS) if stochastic_tensors is None else stochastic_tensors
        dependent = {}
        for x in losses:
            for t in _depends(x, tensors):
                dependent.setdefault(t, []).append(tf.stop_gradient(x))
        terms = [tf.identity(x) for x in losses]
        for t in tensors:
            made = t.loss(tf.add_n(dependent[t])) if t in dependent else None
            if made is not None:
                terms.append(made)
        return tf.add_n(terms)


# ---- variational inference ----

_PRIORS = "__tf_variational_prior"


def register_prior(variational, prior):
    """Says which distribution is the prior of a stochastic tensor.

    Args:
      variational: the StochasticTensor.
      prior: the distribution.
    """
    if not isinstance(variational, StochasticTensor):
        raise TypeError("variational must be a StochasticTensor")
    if not hasattr(prior, "log_prob"):
        raise TypeError("prior must be a Distribution")
    if any(v is variational for v, _ in tf.get_collection(_PRIORS)):
        raise ValueError("A prior is registered for %s already" % variational.name)
    tf.add_to_collection(_PRIORS, (variational, prior))


def _upstream(start, pairs):
    """{variational: prior} of those that a tensor depends on."""
    found = set(map(id, _depends(start, [v for v, _ in pairs])))
    return {v: p for v, p in pairs if id(v) in found}


def _check_form(form):
    form = ELBOForms.default if form is None else form
    ELBOForms.check_form(form)
    return form


def elbo(log_likelihood, variational_with_prior=None, keep_batch_dim=True, form=None, name="ELBO"):
    """Returns the lower bound of the evidence: the log likelihood less the divergence of the variational distributions from the priors.

    Args:
      log_likelihood: the log likelihood of each example.
      variational_with_prior: {StochasticTensor: prior}; those that were registered and that log_likelihood depends on, if not
        given.
      keep_batch_dim: whether the result has one number for each example, or their sum.
      form: ELBOForms.default, sample, analytic_kl or analytic_entropy.
      name: the name scope.
    """
    form = _check_form(form)
    with tf.name_scope(name):
        log_likelihood = tf.convert_to_tensor(log_likelihood)
        pairs = _upstream(log_likelihood, tf.get_collection(_PRIORS)) if variational_with_prior is None else variational_with_prior
        if not pairs:
            raise ValueError("No stochastic tensor with a prior was found: call register_prior, or give variational_with_prior")
        bound = log_likelihood
        for variational, prior in pairs.items():
            q, z = variational.distribution, variational.value()
            try:
                if form in (ELBOForms.sample, ELBOForms.analytic_entropy):
                    raise NotImplementedError
                bound -= tf.distributions.kl_divergence(q, prior)
            except NotImplementedError:
                if form == ELBOForms.analytic_kl:
                    raise
                entropy = -q.log_prob(z) if form in (ELBOForms.sample, ELBOForms.default) else q.entropy()
                bound += prior.log_prob(z) + entropy
        return bound if keep_batch_dim else tf.reduce_sum(bound)


def elbo_with_log_joint(log_joint, variational=None, keep_batch_dim=True, form=None, name="ELBO"):
    """Returns the evidence lower bound: the log density of data and latent values, and the entropy of the variational distributions.

    Args:
      log_joint: the log density of data and latent values for each example.
      variational: the stochastic tensors; those that log_joint depends on, if not given.
      keep_batch_dim: whether the result has one number for each example, or their sum.
      form: ELBOForms.default, sample or analytic_entropy.
      name: the name scope.
    """
    form = _check_form(form)
    if form == ELBOForms.analytic_kl:
        raise ValueError("ELBOForms.analytic_kl is not available for elbo_with_log_joint")
    with tf.name_scope(name):
        bound = tf.convert_to_tensor(log_joint)
        tensors = _depends(bound, tf.get_collection(_TENSORS)) if variational is None else variational
        if not tensors:
            raise ValueError("log_joint depends on no stochastic tensor")
        for t in tensors:
            sampled = -t.distribution.log_prob(t.value())
            if form != ELBOForms.sample:
                try:
                    sampled = t.entropy()
                except NotImplementedError:
                    if form == ELBOForms.analytic_entropy:
                        raise
            bound += sampled
        return bound if keep_batch_dim else tf.reduce_sum(bound)
