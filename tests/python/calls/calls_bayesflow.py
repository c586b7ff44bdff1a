"""tf.contrib.bayesflow and DeterministicRandomTestTool with seeds: no oracle has bayesflow, so a case says what it expects."""
import numpy as np

from machine import case


def draws(tf):
    tf.set_random_seed(20)
    p, q = tf.distributions.Normal([0.0, 1.0], [1.0, 2.0]), tf.distributions.Normal([0.5, 0.5], [1.5, 1.5])

    def log_prob(x):
        return -0.5 * tf.reduce_sum(tf.square(x), -1)

    def density(x):
        return tf.exp(log_prob(x))
    zeros = tf.zeros([4, 2])
    made = [tf.contrib.bayesflow.monte_carlo.expectation(tf.square, p, n=9, seed=1),
            tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q, n=9, seed=2),
            tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace(tf.square, p.log_prob, q, n=9, seed=3),
            tf.contrib.bayesflow.entropy.entropy_shannon(p, n=9, seed=4, form=tf.contrib.bayesflow.entropy.ELBOForms.sample),
            tf.contrib.bayesflow.entropy.elbo_ratio(p.log_prob, q, n=9, seed=5, form=tf.contrib.bayesflow.entropy.ELBOForms.sample),
            tf.contrib.bayesflow.entropy.renyi_ratio(p.log_prob, q, 0.5, n=9, seed=6),
            tf.contrib.bayesflow.hmc.kernel(0.1, 2, zeros, log_prob, event_dims=(1,), seed=7)[0],
            tf.contrib.bayesflow.hmc.chain(3, 0.1, 2, zeros, log_prob, event_dims=(1,), seed=8)[1],
            tf.contrib.bayesflow.hmc.sample_chain(3, log_prob, zeros, 0.1, 2, seed=9)[0],
            tf.contrib.bayesflow.metropolis_hastings.uniform_random_proposal(1.0, seed=10)(zeros)[0],
            tf.contrib.bayesflow.metropolis_hastings.normal_random_proposal(1.0, seed=11)(zeros)[0]]
    state, level, ratio = tf.Variable(zeros), tf.Variable(density(zeros)), tf.Variable(tf.zeros([4]))
    proposal = tf.contrib.bayesflow.metropolis_hastings.normal_random_proposal(1.0, seed=12)
    step = tf.contrib.bayesflow.metropolis_hastings.evolve(state, level, ratio, log_prob, proposal, n_steps=5, seed=13)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = sess.run(made)
        sess.run(step)
        return [*out, sess.run(state)]


@case(alone=True)
def seeds_decide_what_is_drawn(tf):
    first = draws(tf)
    with tf.Graph().as_default():
        second = draws(tf)
    assert [np.all(np.isfinite(x)) for x in first] == [True] * len(first)
    assert [np.array_equal(x, y) for x, y in zip(first, second)] == [True] * len(first)
    assert np.abs(first[-1]).sum() > 0


@case(nodes=False)
def a_tool_for_tests_has_seeds(tf):
    tool = tf.keras.utils.DeterministicRandomTestTool(seed=5, mode="num_random_ops")
    with tool.scope():
        return [tf.random_uniform([3]), tf.random_normal([2])]
