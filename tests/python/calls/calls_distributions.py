"""tf.distributions: values, shapes, samples with the same seeds, and gradients."""
import numpy as np

from machine import case


def described(tf, d, x, seed=5):
    """What every distribution has."""
    return [d.sample(seed=seed), d.sample(3, seed=seed), d.sample([2, 2], seed=seed), d.sample(4), d.log_prob(x), d.prob(x), d.mean(),
            d.batch_shape_tensor(), d.event_shape_tensor(), d.batch_shape, d.event_shape, d.name, str(d), repr(d), d.dtype,
            d.is_scalar_batch(), d.is_scalar_event(), sorted(d.parameters)]


def cumulated(tf, d, x):
    return [d.cdf(x), d.log_cdf(x), d.survival_function(x), d.log_survival_function(x)]


@case
def normal(tf):
    d = tf.distributions.Normal([0.0, 1.0], [1.0, 2.0])
    return [*described(tf, d, 1.5), d.entropy(), d.stddev(), d.variance(), d.mode(), d.loc, d.scale, d.copy(loc=3.0).mean()]


@case(nodes=False)
def normal_tails(tf):
    d = tf.distributions.Normal(loc=0.0, scale=tf.constant(1.0), validate_args=True, allow_nan_stats=False, name="N")
    x = tf.constant([-30.0, -12.0, -5.0, -0.3, 0.0, 0.2, 4.0, 6.0, 20.0])
    wide = tf.distributions.Normal(np.float64(0), np.float64(1)).log_cdf(np.array([-40.0, -15.0, -3.0, 0.5, 9.0]))
    return [*cumulated(tf, d, x), d.quantile([0.1, 0.5, 0.99]), tf.identity(tf.gradients(d.log_cdf(x), x)[0]), d.name, wide]


@case
def bernoulli(tf):
    d = tf.distributions.Bernoulli([0.0, 1.0])
    e = tf.distributions.Bernoulli(probs=[0.2, 0.7], dtype=tf.float32)
    return [*described(tf, d, 1), d.entropy(), d.variance(), d.mode(), d.probs, e.sample(5, seed=2), e.log_prob([1.0, 0.0]), e.logits]


@case
def categorical(tf):
    d = tf.distributions.Categorical([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    return [d.sample(3, seed=5), d.sample([2, 2], seed=5), d.log_prob([1, 2]), d.entropy(), d.mode(), d.prob(1), d.logits, d.probs,
            d.event_size, tf.distributions.Categorical(probs=[0.2, 0.5, 0.3], dtype=tf.int64).sample(4, seed=1)]


@case(nodes=False)
def categorical_functions(tf):
    d = tf.distributions.Categorical(probs=[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], validate_args=True)
    e = tf.distributions.Categorical([0.0, 1.0])
    return [e.sample(seed=2), e.sample(4), e.batch_shape_tensor(), e.event_shape, str(e), repr(d), e.is_scalar_batch(),
            d.log_prob([[1, 2], [0, 1], [2, 2]]), d.cdf([1, 2]), d.cdf(3)]


@case(nodes=False)
def beta(tf):
    d = tf.distributions.Beta([1.5, 2.0, 0.5], [2.0, 3.0, 2.0])
    v = tf.distributions.Beta(concentration1=2.0, concentration0=[3.0, 4.0], validate_args=True, allow_nan_stats=False)
    return [*described(tf, d, 0.3), d.cdf(0.3), d.log_cdf([0.1, 0.2, 0.9]), d.entropy(), d.variance(), d.stddev(), d.mode(),
            d.total_concentration, v.mode(), v.log_prob(0.5)]


@case(nodes=False)
def dirichlet(tf):
    d = tf.distributions.Dirichlet([[1.5, 2.0, 3.0], [2.0, 2.5, 2.0]])
    x = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
    v = tf.distributions.Dirichlet([2.0, 3.0, 4.0], validate_args=True, allow_nan_stats=False)
    return [*described(tf, d, x), d.entropy(), d.variance(), d.covariance(), d.stddev(), d.total_concentration, v.mode(), v.log_prob(x),
            tf.distributions.Dirichlet([1.0, 3.0, 4.0]).mode()]


@case(nodes=False)
def dirichlet_multinomial(tf):
    d = tf.distributions.DirichletMultinomial(4.0, [[1.5, 2.0, 3.0], [2.0, 2.5, 2.0]])
    x = [[1.0, 1.0, 2.0], [0.0, 0.0, 4.0]]
    v = tf.distributions.DirichletMultinomial(total_count=[4.0, 4.0], concentration=[[2.0, 3.0, 4.0], [1.0, 2.0, 1.0]], validate_args=True)
    return [*described(tf, d, x), d.variance(), d.covariance(), d.stddev(), v.log_prob(x)]


@case(nodes=False)
def multinomial(tf):
    d = tf.distributions.Multinomial([4.0], logits=[[1.0, 2.0, 3.0]])  # TensorFlow draws several rows in any order
    x = [[1.0, 1.0, 2.0], [0.0, 0.0, 4.0]]
    v = tf.distributions.Multinomial(total_count=[4.0, 4.0], probs=[0.2, 0.3, 0.5], validate_args=True)
    return [*described(tf, d, x), d.variance(), d.covariance(), d.stddev(), v.log_prob(x), v.mean()]


@case(nodes=False)
def gamma(tf):
    d = tf.distributions.Gamma([1.5, 2.0], 2.0)
    v = tf.distributions.Gamma(concentration=[1.5, 2.0], rate=[2.0], validate_args=True, allow_nan_stats=False)
    return [*described(tf, d, 0.4), *cumulated(tf, d, 0.4), d.entropy(), d.variance(), d.stddev(), d.mode(), v.mode(), v.cdf(0.3)]


@case(nodes=False)
def exponential(tf):
    d = tf.distributions.Exponential([1.5, 2.0])
    return [*described(tf, d, 0.4), *cumulated(tf, d, 0.4), d.entropy(), d.variance(), d.stddev(), d.mode(), d.rate]


@case(nodes=False)
def laplace(tf):
    d = tf.distributions.Laplace([1.5, 2.0], 2.0, validate_args=True)
    return [*described(tf, d, 0.4), *cumulated(tf, d, [[-3.0], [5.0]]), d.entropy(), d.variance(), d.stddev(), d.mode()]


@case(nodes=False)
def student(tf):
    d = tf.distributions.StudentT([3.0, 0.5, 1.5], [1.0, 2.0, 3.0], 2.0)
    v = tf.distributions.StudentT(df=3.0, loc=[1.0, 2.0], scale=2.0, validate_args=True, allow_nan_stats=False)
    return [*described(tf, d, 0.4), *cumulated(tf, d, [-3.0, 5.0, 3.0]), d.entropy(), d.variance(), d.mode(), v.mean(), v.stddev()]


@case(nodes=False)
def uniform(tf):
    d = tf.distributions.Uniform([1.0, 2.0], 4.0, validate_args=True)
    x = [[0.0], [1.5], [2.5], [4.0], [7.0]]
    return [*described(tf, d, x), d.cdf(x), d.survival_function(x), d.entropy(), d.variance(), d.stddev(), d.range(),
            tf.distributions.Uniform().sample(2, seed=3)]


@case
def divergences(tf):
    t = tf.distributions
    pairs = [(t.Normal(0.0, 1.0), t.Normal([1.0, 2.0], 2.0)), (t.Bernoulli([0.3]), t.Bernoulli([0.1])),
             (t.Gamma(1.0, 2.0), t.Gamma(2.0, 3.0)), (t.Exponential(1.0), t.Exponential(2.0)), (t.Beta(1.0, 2.0), t.Beta(2.0, 2.5)),
             (t.Categorical([0.3, 0.4]), t.Categorical([0.1, 1.0]))]
    return [t.kl_divergence(a, b) for a, b in pairs] + [a.kl_divergence(b) for a, b in pairs[:2]] + [
        a.cross_entropy(b) for a, b in pairs[:2]] + [t.kl_divergence(*pairs[0], allow_nan_stats=False)]


@case(nodes=False)
def divergence_of_dirichlets(tf):
    a, b = tf.distributions.Dirichlet([[1.0, 2.0]]), tf.distributions.Dirichlet([[2.0, 3.0]])
    return tf.distributions.kl_divergence(a, b, name="given")


@case(nodes=False)
def slopes(tf):
    loc, scale, logits, c = tf.constant(0.5), tf.constant(2.0), tf.constant([0.1, 0.7, -1.0]), tf.constant([1.5, 2.0])
    t = tf.distributions
    loss = (tf.reduce_sum(t.Normal(loc, scale).sample(4, seed=1)) + tf.reduce_sum(t.Laplace(loc, scale).sample(4, seed=1))
            + t.Categorical(logits).log_prob(1) + t.Categorical(logits).entropy() + tf.reduce_sum(t.Beta(c, 2.0).log_prob(0.3))
            + tf.reduce_sum(t.Gamma(c, 2.0).sample(3, seed=1)) + tf.reduce_sum(t.Dirichlet(c).sample(3, seed=1)[:, 0])
            + tf.reduce_sum(t.StudentT(c, loc, scale).sample(2, seed=3)))
    return [tf.identity(g) for g in tf.gradients(loss, [loc, scale, logits, c])]


@case(nodes=False)
def unknown_shapes(tf):
    x, n = tf.placeholder_with_default([[0.5, 1.5]], None), tf.placeholder_with_default([2], [1])
    t = tf.distributions
    made = [t.Normal(x, 1.0), t.Bernoulli(x), t.Categorical(x), t.Dirichlet(x), t.Gamma(x, 2.0), t.Uniform(x, 4.0)]
    return [[d.sample(seed=3), d.sample(2, seed=3), d.sample(n, seed=3), d.batch_shape_tensor(), d.event_shape_tensor(), repr(d)[-60:]]
            for d in made]


class _Own:
    """Makes a subclass, as programs do."""

    @staticmethod
    def of(tf):
        class Twice(tf.distributions.Distribution):
            def __init__(self, loc, name="Twice"):
                parameters = dict(locals())
                with tf.name_scope(name):
                    self._loc = tf.identity(loc, name="loc")
                super().__init__(dtype=self._loc.dtype, reparameterization_type=tf.distributions.FULLY_REPARAMETERIZED, validate_args=False,
                                 allow_nan_stats=True, parameters=parameters, graph_parents=[self._loc], name=name)

            def _prob(self, x):
                return tf.exp(-tf.abs(x - self._loc))

            def _cdf(self, x):
                return tf.sigmoid(x - self._loc)

            def _variance(self):
                return self._loc * 4.0

            def _batch_shape(self):
                return self._loc.shape

            def _event_shape(self):
                return tf.TensorShape([])

            def _sample_n(self, n, seed=None):
                return tf.tile(self._loc[None], [n, 1])
        return Twice


@case(nodes=False)
def subclass(tf):
    d = _Own.of(tf)([1.0, 2.0])
    return [d.log_prob(0.5), d.prob(0.5), d.log_cdf(0.5), d.survival_function(0.5), d.log_survival_function(0.5), d.stddev(),
            d.sample(3), d.name]


@case(nodes=False)
def wrong(tf):
    found, t = [], tf.distributions
    d = t.Normal(0.0, [1.0, 2.0])
    for f in (lambda: d.covariance(), lambda: t.Bernoulli(0.0).cdf(1), lambda: t.Gamma(1.0, 1.0).quantile(0.2), lambda: t.Normal(0, 1),
              lambda: t.Bernoulli(), lambda: t.Bernoulli(1.0, 0.5), lambda: t.Categorical(1.0),
              lambda: t.Uniform(0.0, 1.0).kl_divergence(d),
              lambda: d.log_prob(tf.constant(1.0, tf.float64)), lambda: t.Normal(0.0, tf.constant(1.0, tf.float64)),
              lambda: t.Beta([1.0], [2.0], allow_nan_stats=False).mode(), lambda: t.Normal(0.0, -1.0, validate_args=True),
              lambda: t.Categorical.param_shapes([3]), lambda: t.Distribution(tf.float32, None, False, False, graph_parents=[3])):
        try:
            f()
        except Exception as e:
            found.append((type(e).__name__, str(e)[:40]))
        else:
            found.append("no error")
    return [found[i] if i in (0, 1, 2, 4, 5, 7, 12, 13) else found[i][0] for i in range(len(found))] + [
        t.Normal.param_static_shapes([3]), t.Gamma.param_static_shapes([3]), repr(t.FULLY_REPARAMETERIZED),
        t.FULLY_REPARAMETERIZED == t.NOT_REPARAMETERIZED, repr(t.ReparameterizationType("x"))]
