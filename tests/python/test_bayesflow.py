"""tf.contrib.bayesflow against integrals, gradients and moments that are known."""
import numpy as np
import pytest

import weft as tf

ds, bf = tf.distributions, tf.contrib.bayesflow


def run(make):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(3)
        made = make()
        sess.run(tf.global_variables_initializer())
        return sess.run(made)


def test_importance_sampling_estimates_an_integral():
    """The mean of z^2 under N(1, 2) is 5, from samples of N(0, 3); its logarithm comes from the logarithms."""
    def make():
        p, q = ds.Normal(1.0, 2.0), ds.Normal(0.0, 3.0)
        found = bf.monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q, n=40000, seed=1)
        log = bf.monte_carlo.expectation_importance_sampler_logspace(lambda z: tf.log(tf.square(z)), p.log_prob, q, n=40000, seed=1)
        given = tf.constant([[1.0], [2.0]])
        exact = bf.monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q, z=given)
        weights = tf.exp(p.log_prob(given) - q.log_prob(given))
        return found, tf.exp(log), exact, tf.reduce_mean(weights * tf.square(given), 0)
    found, from_log, exact, expected = run(make)
    assert found == pytest.approx(5, rel=0.05) and from_log == pytest.approx(found, rel=1e-4)
    np.testing.assert_allclose(exact, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="exactly one"):
        bf.monte_carlo.expectation_importance_sampler(tf.square, None, None)


@pytest.mark.parametrize("reparametrized", [True, False])
def test_expectation_has_the_gradient_of_the_expectation(reparametrized):
    """The mean of z^2 under N(m, 1) is m^2 + 1, and its derivative 2 m."""
    def make():
        m = tf.constant(1.5)
        p = ds.Normal(m, 1.0)
        found = bf.monte_carlo.expectation(tf.square, p.sample(60000, seed=2), p.log_prob, reparametrized)
        old = bf.monte_carlo.expectation(tf.square, p, n=60000, seed=2)
        return found, tf.gradients(found, m)[0], old
    value, slope, old = run(make)
    assert value == pytest.approx(3.25, rel=0.03) and slope == pytest.approx(3, rel=0.06) and old == pytest.approx(3.25, rel=0.03)


def test_entropies_and_bounds():
    def make():
        p, q = ds.Normal(0.0, 2.0), ds.Normal(1.0, 1.0)
        z = q.sample(50000, seed=4)
        e, forms = bf.entropy, bf.entropy.ELBOForms
        return [e.entropy_shannon(p, n=5), e.entropy_shannon(p, z=p.sample(50000, seed=5), form=forms.sample), p.entropy(),
                e.elbo_ratio(p.log_prob, q, z=z), e.elbo_ratio(p.log_prob, q, z=z, form=forms.sample), -ds.kl_divergence(q, p),
                e.renyi_ratio(p.log_prob, q, 0.5, z=z)]
    exact, sampled, expected, bound, bound_sampled, kl, renyi = run(make)
    assert exact == expected and sampled == pytest.approx(expected, abs=0.02)
    assert bound == pytest.approx(kl, abs=0.02) and bound_sampled == pytest.approx(kl, abs=0.02)
    # 2 log of the integral of sqrt(p q), which is sqrt(2 s t / (s^2 + t^2)) exp(-d^2 / (4 (s^2 + t^2)))
    assert renyi == pytest.approx(2 * (0.5 * np.log(4 / 5) - 1 / 20), abs=0.02)
    with pytest.raises(TypeError, match="ELBOForms"):
        bf.entropy.entropy_shannon(ds.Normal(0.0, 1.0), n=3, form="guess")


def test_hamiltonian_samples_have_the_moments_of_the_density():
    mean, scale = np.array([1.0, -2.0], np.float32), np.array([0.5, 1.5], np.float32)

    def make():
        def log_prob(x):
            return tf.reduce_sum(-0.5 * tf.square((x - mean) / scale), -1)
        accepted, states = bf.hmc.chain(60, 0.4, 5, tf.zeros([200, 2]), log_prob, event_dims=(1,), seed=3)
        new, results = bf.hmc.sample_chain(10, log_prob, tf.zeros([100, 2]), 0.4, 5, num_burnin_steps=30, num_steps_between_results=2,
                                           seed=4)
        return accepted, states, new, results.acceptance_probs, log_prob(new[-1]), results.current_target_log_prob[-1]
    accepted, states, new, probs, expected, log_prob = run(make)
    assert accepted.shape == (60, 200) and states.shape == (60, 200, 2) and new.shape == (10, 100, 2) and probs.shape == (10, 100)
    assert 0.6 < accepted.mean() < 1 and accepted.max() <= 1
    for found in (states[20:], new):
        np.testing.assert_allclose(found.mean((0, 1)), mean, atol=0.12)
        np.testing.assert_allclose(found.std((0, 1)), scale, rtol=0.1)
    np.testing.assert_allclose(log_prob, expected, rtol=1e-4, atol=1e-4)


def test_the_leapfrog_keeps_the_energy():
    def make():
        def potential(x):
            return 0.5 * tf.reduce_sum(tf.square(x)), x
        x, m = tf.constant([1.0]), tf.constant([0.5])
        return bf.hmc.leapfrog_integrator(0.01, 100, x, m, potential, x)
    x, m, energy, grad = run(make)
    np.testing.assert_allclose([x[0], m[0]], [np.cos(1) + 0.5 * np.sin(1), 0.5 * np.cos(1) - np.sin(1)], atol=1e-4)
    assert energy == pytest.approx(0.5 * x[0] ** 2) and (grad == x).all()


@pytest.mark.parametrize("proposal", ["uniform_random_proposal", "normal_random_proposal"])
def test_metropolis_hastings_moves_its_variables(proposal):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(2)

        def log_prob(x):
            return -tf.reduce_sum(tf.square(x - 1), -1)
        x = tf.Variable(tf.zeros([300, 1]))
        density, ratio = tf.Variable(log_prob(tf.zeros([300, 1]))), tf.Variable(tf.zeros([300]))
        step = bf.metropolis_hastings.evolve(x, density, ratio, log_prob, getattr(bf.metropolis_hastings, proposal)(1.0, seed=3),
                                             n_steps=40, seed=1)
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        found, kept, expected = sess.run([x, density, log_prob(x)])
    assert found.mean() == pytest.approx(1, abs=0.2) and found.var() == pytest.approx(0.5, abs=0.2)
    np.testing.assert_allclose(kept, expected, rtol=1e-5)


def test_halton_points():
    found = run(lambda: [bf.halton_sequence.sample(3, num_samples=4), bf.halton_sequence.sample(2, sample_indices=[7], dtype=tf.float64)])
    np.testing.assert_allclose(found[0], [[1 / 2, 1 / 3, 1 / 5], [1 / 4, 2 / 3, 2 / 5], [3 / 4, 1 / 9, 3 / 5], [1 / 8, 4 / 9, 4 / 5]],
                               rtol=1e-6)
    np.testing.assert_allclose(found[1], [[1 / 16, 8 / 9]], rtol=1e-12)
    with pytest.raises(ValueError, match="Dimension"):
        bf.halton_sequence.sample(0, num_samples=3)


# ---- stochastic tensors ----

def test_the_surrogate_loss_has_the_gradient_of_the_expected_loss():
    """A Bernoulli sample x of probability p and the loss (x - 0.3)^2: the derivative of its mean by p is 0.4."""
    st, estimators = bf.stochastic_tensor, bf.stochastic_gradient_estimators

    def make(loss_fn):
        def made():
            p = tf.constant(0.6)
            with st.value_type(st.SampleValue()):
                x = st.StochasticTensor(ds.Bernoulli(probs=p * tf.ones([80000])), loss_fn=loss_fn)
            y = st.StochasticTensor(ds.Normal(p, 1.0))
            other = st.StochasticTensor(ds.Bernoulli(probs=p))
            loss = tf.square(tf.cast(x, tf.float32) - 0.3) + 0 * y.value()
            assert other.loss(loss) is not None and y.loss(loss) is None
            return tf.gradients(tf.reduce_mean(bf.stochastic_graph.surrogate_loss([loss])), p)[0]
        return made
    for loss_fn in (estimators.score_function, estimators.get_score_function_with_constant_baseline(0.2),
                    estimators.get_score_function_with_baseline(lambda _, loss: tf.reduce_mean(loss)),
                    estimators.get_score_function_with_advantage(lambda _, loss: loss - 0.25)):
        assert run(make(loss_fn)) == pytest.approx(0.4, abs=0.03)
    assert run(make(None)) == 0, "what flows through y alone"


def test_values_of_stochastic_tensors():
    st = bf.stochastic_tensor

    def make():
        normal = ds.Normal([1.0, 2.0], 3.0)
        with st.value_type(st.MeanValue()):
            assert isinstance(st.get_current_value_type(), st.MeanValue)
            mean = st.StochasticTensor(normal)
        several = st.StochasticTensor(normal, dist_value_type=st.SampleValue([4]))
        seen = st.ObservedStochasticTensor(normal, [5.0, 6.0])
        fixed = st.StochasticTensor(normal, dist_value_type=st.SampleValue(stop_gradient=True))
        assert several.shape.as_list() == [4, 2] and seen.loss(tf.zeros([2])) is None and fixed.loss(tf.zeros([2])) is not None
        assert mean.distribution is normal and mean.name == "StochasticTensor"
        return tf.identity(mean), tf.convert_to_tensor(seen) + 1, several.mean(), several.entropy()
    mean, seen, of_dist, entropy = run(make)
    assert mean.tolist() == [1, 2] and seen.tolist() == [6, 7] and of_dist.tolist() == [1, 2]
    np.testing.assert_allclose(entropy, 0.5 * np.log(2 * np.pi * np.e * 9), rtol=1e-5)
    with pytest.raises(ValueError, match="No value type"):
        st.get_current_value_type()
    with pytest.raises(ValueError, match="shape"), tf.Graph().as_default():
        st.ObservedStochasticTensor(ds.Normal([1.0, 2.0], 3.0), [1.0, 2.0, 3.0])


def test_the_lower_bound_of_the_evidence_is_tight_at_the_posterior():
    """z ~ N(0, 1), x ~ N(z, 1), x = 1: the posterior is N(1/2, 1/2) and the evidence N(1; 0, 2)."""
    vi, st = bf.variational_inference, bf.stochastic_tensor

    def make():
        q = st.StochasticTensor(ds.Normal(tf.fill([20000], 0.5), np.sqrt(0.5).astype(np.float32)))
        prior = ds.Normal(0.0, 1.0)
        vi.register_prior(q, prior)
        log_likelihood = ds.Normal(q.value(), 1.0).log_prob(1.0)
        forms = vi.ELBOForms
        return [tf.reduce_mean(vi.elbo(log_likelihood)), tf.reduce_mean(vi.elbo(log_likelihood, {q: prior}, form=forms.sample)),
                vi.elbo(log_likelihood, keep_batch_dim=False, form=forms.analytic_entropy) / 20000,
                tf.reduce_mean(vi.elbo_with_log_joint(log_likelihood + prior.log_prob(q.value()))),
                tf.reduce_mean(vi.elbo_with_log_joint(log_likelihood + prior.log_prob(q.value()), [q], form=forms.sample))]
    found = run(make)
    np.testing.assert_allclose(found, np.full(5, -0.25 - 0.5 * np.log(4 * np.pi)), atol=0.02)
    with pytest.raises(ValueError, match="analytic_kl"), tf.Graph().as_default():
        vi.elbo_with_log_joint(tf.zeros([2]), form=vi.ELBOForms.analytic_kl)
