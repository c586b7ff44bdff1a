"""tf.contrib.bayesflow.monte_carlo and entropy: expectations as means over samples."""
import weft as tf


def _samples(dist, z, n, seed):
    if (z is None) == (n is None):
        raise ValueError("Must specify exactly one of arguments 'n' and 'z'. Found: n = %s, z = %s" % (n, z))
    return dist.sample(n, seed=seed) if z is None else tf.convert_to_tensor(z)


def expectation_importance_sampler(f, log_p, sampling_dist_q, z=None, n=None, seed=None, name="expectation_importance_sampler"):
    """Returns an estimate of the expectation of f under a density p: the mean of f(z) p(z) / q(z) over samples z of q.

    Args:
      f: the function, of samples.
      log_p: the logarithm of the density p, which must be normalized, a function of samples.
      sampling_dist_q: the distribution q.
      z: samples of q; or
      n: how many samples to draw.
      seed: the seed of the samples.
      name: the name scope.
    """
    with tf.name_scope(name):
        z = _samples(sampling_dist_q, z, n, seed)
        log_ratio = log_p(z) - sampling_dist_q.log_prob(z)
        most = tf.stop_gradient(tf.reduce_max(log_ratio, 0, keepdims=True))
        return tf.reduce_mean(f(z) * tf.exp(log_ratio - most), 0) * tf.exp(tf.squeeze(most, [0]))


def expectation_importance_sampler_logspace(log_f, log_p, sampling_dist_q, z=None, n=None, seed=None,
                                            name="expectation_importance_sampler_logspace"):
    """Returns the logarithm of the estimate of expectation_importance_sampler, for a positive function given by its logarithm.

    Args:
      log_f: the logarithm of the function, of samples.
      log_p: the logarithm of the density p, a function of samples.
      sampling_dist_q: the distribution that samples come from.
      z: samples of it; or
      n: how many samples to draw.
      seed: the seed of the samples.
      name: the name scope.
    """
    with tf.name_scope(name):
        z = _samples(sampling_dist_q, z, n, seed)
        terms = log_f(z) + log_p(z) - sampling_dist_q.log_prob(z)
        return tf.reduce_logsumexp(terms, 0) - tf.log(tf.cast(tf.shape(z)[0], terms.dtype))


def expectation(f, samples=None, log_prob=None, use_reparametrization=True, axis=0, keep_dims=False, name=None, p=None, z=None,
                n=None, seed=None):
    """Returns the mean of f over samples, whose gradient is that of the expectation.

    It may also be called as in TensorFlow 1.3, expectation(f, p, z, n, seed), with a distribution.

    Args:
      f: the function, of samples.
      samples: the samples, or a distribution.
      log_prob: the logarithm of the samples' density, which is needed without reparametrization.
      use_reparametrization: whether the samples are functions of the parameters, through which gradients flow; if not, the
        gradient is that of f log_prob.
      axis: the dimensions of the samples.
      keep_dims: whether the result keeps those dimensions, with size 1.
      name: the name scope.
      p: the distribution.
      z: samples of it; or
      n: how many samples to draw.
      seed: the seed of the samples.
    """
    if p is None and hasattr(samples, "log_prob"):
        p, z, n, samples = samples, z if log_prob is None else log_prob, n, None
        if use_reparametrization is not True:
            n = use_reparametrization
    if p is not None:
        with tf.name_scope(name or "expectation"):
            return tf.reduce_mean(f(_samples(p, z, n, seed)), 0)
    with tf.name_scope(name or "expectation", values=[samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = tf.stop_gradient(samples)
        value, density = f(fixed), log_prob(fixed)
        value += tf.stop_gradient(value) * (density - tf.stop_gradient(density))
        return tf.reduce_mean(value, axis, keepdims=keep_dims)


# ---- entropy ----

class ELBOForms:
    """The ways to compute a lower bound of the evidence."""

    default, sample, analytic_kl, analytic_entropy = "default", "sample", "analytic_kl", "analytic_entropy"

    @staticmethod
    def check_form(form):
        """Raises TypeError for a form that there is not.

        Args:
          form: the form.
        """
        if form not in ("default", "sample", "analytic_kl", "analytic_entropy"):
            raise TypeError("form must be an ELBOForms constant, got %r" % (form,))


def _entropy_form(form):
    """Returns the form of an entropy, by default ELBOForms.default; raises ValueError for one that needs a prior."""
    form = ELBOForms.default if form is None else form
    if form == ELBOForms.analytic_kl:
        raise ValueError("form must be ELBOForms.default, sample or analytic_entropy")
    ELBOForms.check_form(form)
    return form


def _entropy(p, z, form):
    """Returns the entropy of p by a formula, or by the mean of -log p over samples."""
    if form != ELBOForms.sample:
        try:
            return p.entropy()
        except NotImplementedError:
            if form != ELBOForms.default:
                raise
    return -tf.reduce_mean(p.log_prob(z()), 0)


def entropy_shannon(p, z=None, n=None, seed=None, form=None, name="entropy_shannon"):
    """Returns the entropy of a distribution: by a formula if it has one, or as a mean over samples.

    Args:
      p: the distribution.
      z: samples of it; or
      n: how many samples to draw.
      seed: the seed of the samples.
      form: ELBOForms.default, sample or analytic_entropy.
      name: the name scope.
    """
    form = _entropy_form(form)
    with tf.name_scope(name):
        return _entropy(p, lambda: _samples(p, z, n, seed), form)


def elbo_ratio(log_p, q, z=None, n=None, seed=None, form=None, name="elbo_ratio"):
    """Returns the mean of log(p(z) / q(z)) over samples z of q: the negative Kullback-Leibler divergence from p to q.

    Args:
      log_p: the logarithm of the density p, a function of samples.
      q: the distribution of the samples.
      z: samples of it; or
      n: how many samples to draw.
      seed: the seed of the samples.
      form: ELBOForms.default, sample or analytic_entropy.
      name: the name scope.
    """
    form = _entropy_form(form)
    with tf.name_scope(name):
        z = _samples(q, z, n, seed)
        return tf.reduce_mean(log_p(z), 0) + _entropy(q, lambda: z, form)


def renyi_ratio(log_p, q, alpha, z=None, n=None, seed=None, name="renyi_ratio"):
    """Rényi's lower bound: log(mean of (p(z) / q(z))^(1 - alpha) over samples z of q) / (1 - alpha).

    Args:
      log_p: the logarithm of the density p, a function of samples.
      q: the distribution of the samples.
      alpha: the order, not 1.
      z: samples of q; or
      n: how many samples to draw.
      seed: the seed of the samples.
      name: the name scope.
    """
    with tf.name_scope(name):
        z = _samples(q, z, n, seed)
        terms = (1 - alpha) * (log_p(z) - q.log_prob(z))
        return (tf.reduce_logsumexp(terms, 0) - tf.log(tf.cast(tf.shape(z)[0], terms.dtype))) / (1 - alpha)


