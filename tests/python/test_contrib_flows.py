"""tf.contrib.distributions.bijectors: normalizing flows, whose inverses and Jacobians are compared with numeric ones."""
import numpy as np
import pytest

import weft as tf

ds = tf.contrib.distributions
tfb = ds.bijectors
X = np.random.RandomState(0).randn(3, 4).astype(np.float32)


def flows():
    made = {
        "masked": lambda: tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([8, 8])),
        "unrolled": lambda: tfb.MaskedAutoregressiveFlow(
            tfb.masked_autoregressive_default_template([8], activation=tf.tanh, log_scale_clip_gradient=True), unroll_loop=True),
        "shift": lambda: tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([8], shift_only=True),
                                                      is_constant_jacobian=True),
        "linear": lambda: tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([])),
        "real_nvp": lambda: tfb.RealNVP(1, tfb.real_nvp_default_template([8, 8])),
        "shifted_nvp": lambda: tfb.RealNVP(3, tfb.real_nvp_default_template([8], shift_only=True)),
        "chain": lambda: tfb.Chain([tfb.RealNVP(2, tfb.real_nvp_default_template([8])), tfb.Permute([3, 1, 0, 2]),
                                    tfb.Invert(tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([8])))])}
    return made


def numeric(function, x):
    """log |det| of the Jacobian of function at each row of x"""
    step, columns = 1e-2, []
    for i in range(x.shape[1]):
        by = np.zeros_like(x)
        by[:, i] = step
        columns.append((function(x + by) - function(x - by)) / (2 * step))
    return np.linalg.slogdet(np.stack(columns, 2))[1]


@pytest.mark.parametrize("kind", sorted(flows()))
def test_a_flow_is_inverted_and_its_jacobian_is_the_numeric_one(kind):
    tf.reset_default_graph()
    tf.set_random_seed(3)
    b, x = flows()[kind](), tf.placeholder(tf.float32, [None, 4])
    y = b.forward(x)
    back, there, again = b.inverse(tf.identity(y)), b.forward_log_det_jacobian(x, 1), b.inverse_log_det_jacobian(tf.identity(y), 1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert np.allclose(sess.run(back, {x: X}), X, atol=1e-4)
        found = [np.broadcast_to(v, 3) for v in sess.run([there, again], {x: X})]
        assert np.allclose(found[0], -found[1], atol=1e-4)
        assert np.allclose(found[0], numeric(lambda v: sess.run(y, {x: v}), X), atol=2e-2)


def test_masked_layers_are_autoregressive_and_stay_so():
    tf.reset_default_graph()
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 4])
    first = tfb.masked_dense(x, 8, num_blocks=4, exclusive=True, activation=tf.tanh, name="first")
    second = tfb.masked_dense(first, 4, num_blocks=4, name="second")
    loss = tf.reduce_sum(tf.square(second - x))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    jacobian = tf.stack([tf.gradients(second[:, i], x)[0] for i in range(4)], axis=1)
    assert [v.name for v in tf.trainable_variables()] == ["first/kernel:0", "first/bias:0", "second/kernel:0", "second/bias:0"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            seen = sess.run(jacobian, {x: X})
            assert np.abs(np.triu(seen)).max() == 0 and np.abs(seen).max() > 0
            sess.run(train, {x: X})
    again = tfb.masked_dense(x, 8, 4, True, reuse=True, name="first")
    assert again.shape.as_list() == [None, 8] and len(tf.trainable_variables()) == 4


def test_a_flow_learns_a_density():
    tf.reset_default_graph()
    tf.set_random_seed(2)
    base = ds.MultivariateNormalDiag(loc=tf.zeros([2]))
    bijectors = []
    for i in range(3):
        bijectors += [tfb.Invert(tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([16, 16], name="maf%d" % i))),
                      tfb.Permute([1, 0])]
    flow = ds.TransformedDistribution(base, tfb.Chain(list(reversed(bijectors[:-1]))))
    r = np.random.RandomState(0)
    second = r.randn(256).astype(np.float32) * 2
    data = np.stack([0.25 * second ** 2 + r.randn(256).astype(np.float32) * 0.5, second], 1)
    loss = -tf.reduce_mean(flow.log_prob(tf.constant(data)))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(loss)
        for _ in range(120):
            sess.run(train)
        after = sess.run(loss)
        assert after < 3.2 < before, (before, after)
        assert np.isfinite(sess.run(flow.sample(5, seed=1))).all()


def test_flows_refuse_what_they_cannot_map():
    tf.reset_default_graph()
    template = tfb.real_nvp_default_template([4])
    with pytest.raises(ValueError, match="num_masked must be a positive integer"):
        tfb.RealNVP(0, template)
    with pytest.raises(ValueError, match="smaller than the event size"):
        tfb.RealNVP(4, template).forward(tf.zeros([2, 4]))
    unknown = tf.placeholder(tf.float32, [2, None])
    for flow in (tfb.RealNVP(1, template), tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([4]))):
        with pytest.raises(NotImplementedError, match="Rightmost dimension must be known"):
            flow.inverse(unknown)
    with pytest.raises(ValueError, match="unroll_loop"):
        tfb.MaskedAutoregressiveFlow(lambda y: (y, None), unroll_loop=True).forward(unknown)
