"""tf.contrib.distributions, which no oracle has: densities that sum to one, samples that have the moments told."""
import numpy as np

from machine import case


def run(tf, *tensors):
    with tf.Session() as sess:
        return sess.run(list(tensors))


def near(a, b, tolerance):
    assert np.allclose(a, b, rtol=tolerance, atol=tolerance), (a, b)


def moments(tf, d, n=4000):
    """Samples have the mean and the variance that the distribution tells, within five standard errors."""
    drawn, mean, variance = run(tf, d.sample(n, seed=3), d.mean(), d.variance())
    near(drawn.mean(axis=0), mean, 5 * np.sqrt(np.max(variance) / n) + 1e-6)
    near(drawn.var(axis=0), variance, 0.25 * np.max(variance) + 1e-6)


def dense(tf, d, low, high, n=20001):
    """The density sums to one, and its integral is the cumulative distribution function."""
    x = np.linspace(low, high, n).astype(np.float32)
    p, c, logs = run(tf, d.prob(x), d.cdf(x[n // 2]), d.log_prob(x[1::500]))
    steps = (p[1:].astype(np.float64) + p[:-1]) / 2 * np.diff(x)
    near(steps.sum(), 1, 2e-3)
    near(steps[:n // 2].sum(), c, 2e-3)
    near(np.exp(logs), p[1::500], 1e-4)


@case(alone=True)
def numbers(tf):
    t = tf.contrib.distributions
    dense(tf, t.Logistic(0.5, 2.0), -40, 40)
    dense(tf, t.Cauchy(0.5, 0.05), -200, 200, 200001)
    dense(tf, t.Gumbel(0.5, 2.0), -20, 60)
    dense(tf, t.HalfNormal(2.0), 0, 20)
    dense(tf, t.InverseGamma(3.0, 2.0), 1e-3, 300, 300001)
    dense(tf, t.Chi2(4.0), 1e-6, 60)
    dense(tf, t.NormalWithSoftplusScale(0.5, 1.0), -12, 12)
    dense(tf, t.RelaxedBernoulli(0.8, probs=0.3), 1e-6, 1 - 1e-6)
    dense(tf, t.LogNormal(0.1, 0.5), 1e-6, 40, 40001)
    for d in (t.Logistic([0.5, 1.0], 2.0), t.Gumbel(0.5, 2.0), t.HalfNormal([2.0, 1.0]), t.InverseGamma(6.0, 2.0), t.Chi2(4.0),
              t.Poisson([3.0, 0.5]), t.Geometric(probs=[0.5, 0.3]), t.NegativeBinomial(4.0, probs=0.4), t.LogNormal(0.1, [0.5, 0.2]),
              t.LaplaceWithSoftplusScale(0.5, 1.0), t.GammaWithSoftplusConcentrationRate(2.0, 1.0), t.ExponentialWithSoftplusRate(1.0),
              t.Deterministic([1.0, 2.0])):
        moments(tf, d)
    counts = np.arange(0, 60, dtype=np.float32)
    for d in (t.Poisson(3.0), t.Geometric(probs=0.3), t.NegativeBinomial(4.0, probs=0.4)):
        p, c = run(tf, d.prob(counts), d.cdf(counts[4]))
        near([p.sum(), p[:5].sum(), (p * counts).sum()], [1, c, run(tf, d.mean())[0]], 1e-3)
    b = t.Binomial(10.0, probs=0.3)
    near(run(tf, tf.reduce_sum(b.prob(counts[:11])), b.cdf(3.0), b.mean()), [1, 0.649611, 3.0], 1e-4)
    return "as expected"


@case(alone=True)
def vectors(tf):
    t = tf.contrib.distributions
    loc, scale = np.array([1.0, -2.0, 0.5], np.float32), np.array([0.5, 2.0, 1.0], np.float32)
    x = np.array([[0.3, 0.1, 0.7], [1.0, 0.0, -1.0]], np.float32)
    d, n = t.MultivariateNormalDiag(loc, scale), tf.distributions.Normal(loc, scale)
    found = run(tf, d.log_prob(x), d.entropy(), d.mean(), d.stddev(), d.variance(), d.covariance(), d.sample(5, seed=2))
    near(found[0], run(tf, tf.reduce_sum(n.log_prob(x), -1))[0], 1e-5)
    near(found[1], run(tf, tf.reduce_sum(n.entropy()))[0], 1e-5)
    near(found[5], np.diag(scale ** 2), 1e-5)
    assert found[6].shape == (5, 3) and d.batch_shape.as_list() == [] and d.event_shape.as_list() == [3]
    moments(tf, d)
    tril = np.array([[1.0, 0, 0], [0.5, 2.0, 0], [-1.0, 0.3, 0.7]], np.float32)
    cov = tril @ tril.T
    e, f = t.MultivariateNormalTriL(loc, tril), t.MultivariateNormalFullCovariance(loc, cov)
    want = [-0.5 * (v - loc) @ np.linalg.inv(cov) @ (v - loc) - 0.5 * np.log(np.linalg.det(2 * np.pi * cov)) for v in x]
    near(run(tf, e.log_prob(x), f.log_prob(x)), [want, want], 1e-3)
    near(run(tf, e.covariance(), f.covariance()), [cov, cov], 1e-4)
    moments(tf, e)
    kl = 0.5 * (np.trace(np.linalg.inv(np.diag(scale ** 2)) @ cov) - 3 + np.log(np.linalg.det(np.diag(scale ** 2)) / np.linalg.det(cov)))
    near(run(tf, e.kl_divergence(d), t.kl_divergence(d, d)), [kl, 0], 1e-4)
    low = t.MultivariateNormalDiagPlusLowRank(loc, scale, scale_perturb_factor=[[1.0], [0.5], [0.2]])
    whole = np.diag(scale) + np.outer([1, 0.5, 0.2], [1, 0.5, 0.2])
    near(run(tf, low.covariance())[0], whole @ whole.T, 1e-4)
    batch = t.MultivariateNormalDiag(np.zeros([4, 3], np.float32), scale_identity_multiplier=2.0)
    assert run(tf, batch.sample([2, 5]))[0].shape == (2, 5, 4, 3) and run(tf, batch.log_prob(x[0]))[0].shape == (4,)
    unknown = t.MultivariateNormalDiag(tf.placeholder_with_default(loc[None], [None, 3]), tf.ones([3]))
    assert run(tf, unknown.sample(2))[0].shape == (2, 1, 3) and run(tf, unknown.log_prob(x))[0].shape == (2,)
    return "as expected"


@case(alone=True)
def compounds(tf):
    t, b = tf.contrib.distributions, tf.contrib.distributions.bijectors
    cat = t.Categorical(probs=[0.3, 0.7])
    m, s = t.Mixture(cat, [t.Normal(-1.0, 0.5), t.Normal(2.0, 1.0)]), t.MixtureSameFamily(cat, t.Normal([-1.0, 2.0], [0.5, 1.0]))
    x = np.linspace(-4, 6, 11).astype(np.float32)
    p = 0.3 * np.exp(-2 * (x + 1) ** 2) / np.sqrt(2 * np.pi) / 0.5 + 0.7 * np.exp(-0.5 * (x - 2) ** 2) / np.sqrt(2 * np.pi)
    near(run(tf, m.prob(x), s.prob(x)), [p, p], 1e-5)
    near(run(tf, m.mean(), s.mean(), m.variance(), s.variance()), [1.1, 1.1, 2.665, 2.665], 1e-4)
    moments(tf, m)
    moments(tf, s)
    i = t.Independent(t.Normal(np.zeros([2, 3], np.float32), 1.0), reinterpreted_batch_ndims=1)
    assert i.batch_shape.as_list() == [2] and i.event_shape.as_list() == [3]
    near(run(tf, i.log_prob(np.zeros([2, 3], np.float32)))[0], [-2.756816] * 2, 1e-5)
    near(run(tf, i.kl_divergence(i))[0], [0, 0], 1e-6)
    o = t.OneHotCategorical(probs=[[0.2, 0.3, 0.5]], dtype=tf.float32)
    near(run(tf, o.log_prob([[0.0, 0.0, 1.0]]), o.entropy()), [[np.log(0.5)], [1.0296530]], 1e-5)
    moments(tf, o)
    r = t.RelaxedOneHotCategorical(0.5, probs=[0.2, 0.3, 0.5])
    drawn, logs = run(tf, r.sample(7, seed=1), r.log_prob([0.2, 0.3, 0.5]))
    near(drawn.sum(axis=-1), np.ones(7), 1e-5)
    # The density of Maddison and others (2017), equation 10.
    alpha, y, tau = np.array([0.2, 0.3, 0.5]), np.array([0.2, 0.3, 0.5]), 0.5
    near(logs, np.log(2 * tau ** 2 * np.prod(alpha * y ** (-tau - 1)) / np.sum(alpha * y ** -tau) ** 3), 1e-4)
    chain = t.TransformedDistribution(t.Normal(0.0, 1.0), b.Chain([b.Exp(), b.AffineScalar(0.1, 0.5)]))
    ln = t.LogNormal(0.1, 0.5)
    near(run(tf, chain.log_prob([0.5, 2.0]))[0], run(tf, ln.log_prob([0.5, 2.0]))[0], 1e-5)
    near(run(tf, chain.cdf(1.5))[0], run(tf, ln.cdf(1.5))[0], 1e-5)
    return "as expected"


@case(alone=True)
def bijectors(tf):
    b = tf.contrib.distributions.bijectors
    x = np.array([0.1, 0.4, 0.9], np.float32)
    for f in (b.Identity(), b.Exp(), b.Square(), b.PowerTransform(0.5), b.Sigmoid(), b.Softsign(), b.Softplus(), b.Softplus(2.0),
              b.AffineScalar(1.0, -2.0), b.Gumbel(0.1, 2.0), b.Weibull(2.0, 1.5), b.SinhArcsinh(0.2, 1.5), b.Invert(b.Exp()),
              b.Chain([b.Exp(), b.AffineScalar(1.0, 2.0)])):
        at = tf.constant(x)
        y = f.forward(at)
        slope = tf.log(tf.abs(tf.gradients(y, at)[0]))
        found = run(tf, f.inverse(y), f.forward_log_det_jacobian(at, event_ndims=0) + tf.zeros([3]), slope,
                    -f.inverse_log_det_jacobian(y, event_ndims=0) + tf.zeros([3]), f.forward_log_det_jacobian(at, event_ndims=1))
        near(found[0], x, 1e-4)
        near(found[1], found[2], 1e-4)
        near(found[3], found[2], 1e-4)
        near(found[4], found[2].sum(), 1e-3)
    matrix = np.array([[2.0, 0, 0], [0.5, 1.0, 0], [0.1, 0.2, 3.0]], np.float32)
    for f, jacobian in ((b.Affine(shift=x, scale_tril=matrix), matrix), (b.Affine(scale_diag=x), np.diag(x)),
                        (b.Affine(shift=x, scale_identity_multiplier=3.0), 3 * np.eye(3)), (b.Permute([2, 0, 1]), np.eye(3))):
        found = run(tf, f.inverse(f.forward(x)), f.forward_log_det_jacobian(x, event_ndims=1))
        near(found[0], x, 1e-5)
        near(found[1], np.linalg.slogdet(jacobian)[1], 1e-5)
    s = b.SoftmaxCentered()
    found = run(tf, s.inverse(s.forward(x)), s.forward(x), s.forward_log_det_jacobian(x, event_ndims=1),
                s.inverse_log_det_jacobian(s.forward(x), event_ndims=1))
    near(found[0], x, 1e-5)
    near([found[1].sum(), found[2] + found[3]], [1, 0], 1e-5)
    return "as expected"


@case(alone=True)
def helpers(tf):
    t = tf.contrib.distributions
    x = np.array([1e-6, 0.1, 2.0, 30.0, 200.0], np.float32)
    near(run(tf, tf.nn.softplus(t.softplus_inverse(x)))[0], x, 1e-5)
    v = np.arange(1, 7, dtype=np.float32)
    found = run(tf, t.fill_triangular(v), t.fill_triangular(v, upper=True), t.fill_triangular_inverse(t.fill_triangular(v)),
                t.fill_triangular_inverse(t.fill_triangular(v, upper=True), upper=True))
    near(found[0], [[4, 0, 0], [6, 5, 0], [3, 2, 1]], 0)
    near(found[1], [[1, 2, 3], [0, 5, 6], [0, 0, 4]], 0)
    near(found[2:], [v, v], 0)
    a = np.random.RandomState(0).permutation(21).reshape(3, 7).astype(np.float32)
    near(run(tf, t.percentile(a, 30.0))[0], 6, 0)
    near(run(tf, t.percentile(a, 50.0, axis=1, keep_dims=True))[0], np.median(a, axis=1, keepdims=True), 0)
    near(run(tf, t.percentile(a, 33.0, interpolation="lower"), t.percentile(a, 33.0, interpolation="higher")), [6, 7], 0)
    return "as expected"
