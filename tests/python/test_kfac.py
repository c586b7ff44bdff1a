"""tf.contrib.kfac: its factors and steps against numpy, and that it descends where plain gradients do not."""
import numpy as np
import pytest

import scripts
import weft as tf

RNG = np.random.RandomState(11)
N = 60


def layers():
    return tf.contrib.kfac.layer_collection.LayerCollection()


def kfac(collection, rate=1.0, damping=1e-3, momentum=0.0, mode="exact", **kwargs):
    return tf.contrib.kfac.optimizer.KfacOptimizer(rate, 0.95, damping, collection, momentum=momentum, estimation_mode=mode, **kwargs)


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def damped_step(a, g, grad, damping):
    """The inverse of the damped Kronecker product times a gradient."""
    pi = np.sqrt((np.trace(a) / len(a)) / (np.trace(g) / len(g)))
    root = np.sqrt(damping)
    return np.linalg.inv(a + root * pi * np.eye(len(a))) @ grad @ np.linalg.inv(g + root / pi * np.eye(len(g)))


def stretched(rng, n=N, width=5):
    """Inputs of very different scales, which plain gradients descend slowly on."""
    return (rng.normal(size=[n, width]) * np.logspace(0, -2, width)).astype(np.float32)


def test_one_step_solves_linear_regression_and_gradient_descent_does_not():
    """The Fisher matrix of one layer with squared loss is exactly the Hessian, so lr 1 reaches the minimum at once."""
    x = stretched(RNG)
    y = x @ RNG.normal(size=[5, 2]) * 10 + 3 + 0.01 * RNG.normal(size=[N, 2])
    ones = np.concatenate([x, np.ones([N, 1])], 1)
    best = np.mean(np.sum((y - ones @ np.linalg.lstsq(ones, y, rcond=None)[0]) ** 2, 1))

    def trained(make, steps):
        with tf.Graph().as_default(), tf.Session() as sess:
            w, b = tf.get_variable("w", [5, 2], initializer=tf.zeros_initializer()), tf.get_variable("b", [2])
            found = tf.matmul(tf.constant(x), w) + b
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(found - y.astype(np.float32)), 1))
            ops = make(w, b, found, loss)
            sess.run(tf.global_variables_initializer())
            for _ in range(steps):
                for op in ops:
                    sess.run(op)
            return sess.run(loss)

    def natural(w, b, found, loss):
        collection = layers()
        collection.register_fully_connected((w, b), tf.constant(x), found)
        collection.register_normal_predictive_distribution(found)
        opt = kfac(collection, damping=1e-12)
        return [opt.cov_update_op, opt.inv_update_op, opt.minimize(loss)]
    assert trained(natural, 1) == pytest.approx(best, rel=0.02)
    for rate in (0.01, 0.1, 0.3):
        assert not trained(lambda w, b, found, loss, rate=rate: [tf.train.GradientDescentOptimizer(rate).minimize(loss)], 30) < 5 * best


@pytest.mark.parametrize("approx", ["kron", "diagonal"])
def test_the_step_of_a_layer_is_that_of_numpy(approx):
    x, w0 = stretched(RNG), RNG.normal(size=[5, 3]).astype(np.float32)
    labels = RNG.randint(0, 3, N)
    p = softmax(x @ w0)
    ones = np.concatenate([x, np.ones([N, 1])], 1)
    grad = ones.T @ (p - np.eye(3)[labels]) / N
    each = np.einsum("ni,ij->nij", p, np.eye(3)) - np.einsum("ni,nj->nij", p, p)
    if approx == "kron":
        expected = damped_step(ones.T @ ones / N, each.mean(0), grad, 0.01)
    else:
        expected = grad / ((ones ** 2).T @ np.einsum("nii->ni", each) / N + 0.01)
    with tf.Graph().as_default(), tf.Session() as sess:
        w, b = tf.get_variable("w", initializer=w0), tf.get_variable("b", [3], initializer=tf.zeros_initializer())
        logits = tf.matmul(tf.constant(x), w) + b
        collection = layers()
        collection.register_fully_connected((w, b), tf.constant(x), logits, approx=approx)
        collection.register_categorical_predictive_distribution(logits)
        opt = kfac(collection, rate=0.5, damping=0.01)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf.Variable(0, trainable=False)
        train = opt.minimize(loss, global_step=step)
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(opt.cov_update_op)
        sess.run(opt.inv_update_op)
        sess.run(train)
        new_w, new_b, count = sess.run([w, b, step])
    np.testing.assert_allclose(new_w, w0 - 0.5 * expected[:5], rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(new_b, -0.5 * expected[5], rtol=2e-3, atol=1e-4)
    assert count == 1


@pytest.mark.parametrize("mode", ["gradients", "curvature_prop"])
@pytest.mark.parametrize("loss", ["categorical", "normal", "multi_bernoulli"])
def test_drawn_targets_estimate_the_exact_fisher_matrix(mode, loss):
    n = 20000
    outputs = np.tile(np.array([[0.5, -1.0, 0.2]], np.float32), [n, 1])
    p = softmax(outputs[0])
    s = 1 / (1 + np.exp(-outputs[0]))
    expected = {"categorical": np.diag(p) - np.outer(p, p), "normal": np.eye(3) / 0.5, "multi_bernoulli": np.diag(s * (1 - s))}[loss]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(5)
        w = tf.get_variable("w", initializer=np.eye(3, dtype=np.float32))
        x = tf.constant(outputs)
        out = tf.matmul(x, w)
        collection = layers()
        collection.register_fully_connected(w, x, out)
        getattr(collection, "register_%s_predictive_distribution" % loss)(out, seed=7)
        opt = kfac(collection, mode=mode)
        update = opt.cov_update_op
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        found = sess.run(collection.get_blocks()[0].g.value())
    np.testing.assert_allclose(found, expected, atol=0.03 * np.abs(expected).max())


def test_empirical_mode_uses_the_targets():
    x, labels = stretched(RNG), RNG.randint(0, 3, N)
    w0 = RNG.normal(size=[5, 3]).astype(np.float32)
    d = softmax(x @ w0) - np.eye(3)[labels]
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=w0)
        logits = tf.matmul(tf.constant(x), w)
        collection = layers()
        collection.register_fully_connected(w, tf.constant(x), logits)
        collection.register_categorical_predictive_distribution(logits, targets=labels)
        opt = kfac(collection, mode="empirical")
        update = opt.cov_update_op
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        found = sess.run([collection.get_blocks()[0].g.value(), collection.total_loss()])
    np.testing.assert_allclose(found[0], d.T @ d / N, rtol=1e-4, atol=1e-6)
    assert found[1] == pytest.approx(-np.log(softmax(x @ w0)[np.arange(N), labels]).sum(), rel=1e-4)


def test_the_factors_of_a_convolution_are_those_of_its_patches():
    images = RNG.normal(size=[4, 5, 5, 2]).astype(np.float32)
    patches = np.array([images[n, i:i + 3, j:j + 3].ravel() for n in range(4) for i in range(0, 3, 2) for j in range(0, 3, 2)])
    ones = np.concatenate([patches, np.ones([16, 1])], 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        w, b = tf.get_variable("w", [3, 3, 2, 4]), tf.get_variable("b", [4])
        out = tf.nn.conv2d(images, w, [1, 2, 2, 1], "VALID") + b
        logits = tf.reduce_sum(out, [1, 2])
        collection = layers()
        collection.register_conv2d((w, b), [1, 2, 2, 1], "VALID", images, out)
        collection.register_normal_predictive_distribution(logits, var=1.0)
        opt = kfac(collection)
        update, block = opt.cov_update_op, collection.get_blocks()[0]
        grads = [tf.ones_like(w), 2 * tf.ones_like(b)]
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        sess.run(opt.inv_update_op)
        a, g, (dw, db) = sess.run([block.a.value(), block.g.value(), block.multiply_inverse(grads)])
    np.testing.assert_allclose(a, ones.T @ ones / 4, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(g, np.eye(4), atol=1e-6)
    expected = damped_step(a.astype(float), g.astype(float), np.concatenate([np.ones([18, 4]), np.full([1, 4], 2.0)]), 1e-3)
    np.testing.assert_allclose(dw, expected[:18].reshape(3, 3, 2, 4), rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(db, expected[18], rtol=1e-2, atol=1e-2)


def test_momentum_the_norm_constraint_and_generic_parameters():
    """One parameter with the loss (v - 3)^2 / 2 has Fisher information 1."""
    def run(steps, approx="full", **kwargs):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", [1], initializer=tf.zeros_initializer())
            out = v * tf.ones([1, 1])
            collection = layers()
            collection.register_generic(v, 1, approx=approx)
            collection.register_normal_predictive_distribution(out, var=1.0)
            opt = kfac(collection, rate=0.1, damping=0.25, **kwargs)
            train = opt.minimize(tf.reduce_sum(tf.square(v - 3)) / 2)
            updates = [opt.cov_update_op, opt.inv_update_op]
            sess.run(tf.global_variables_initializer())
            for _ in range(steps):
                sess.run(updates[0])
                sess.run(updates[1])
                sess.run(train)
            return float(sess.run(v)[0])

    def expected(steps, momentum=0.0, share=1.0):
        v = velocity = 0.0
        for _ in range(steps):
            velocity = momentum * velocity + share * (v - 3) / 1.25
            v -= 0.1 * velocity
        return v
    assert run(3) == pytest.approx(expected(3)) and run(3, "diagonal") == pytest.approx(expected(3))
    assert run(3, momentum=0.5) == pytest.approx(expected(3, 0.5))
    assert run(3, momentum=0.5, momentum_type="adam") == pytest.approx(expected(3, 0.5, 0.5))
    assert run(1, norm_constraint=0.01) == pytest.approx(0.1 * 2.4 * np.sqrt(0.01 / (0.01 * 3 * 2.4)))


def test_what_does_not_fit_is_named():
    with tf.Graph().as_default():
        w, x = tf.get_variable("w", [2, 3]), tf.ones([4, 2])
        out = tf.matmul(x, w)
        collection = layers()
        with pytest.raises(NotImplementedError, match="qmodel"):
            kfac(collection, momentum_type="qmodel")
        with pytest.raises(ValueError, match="estimation_mode"):
            kfac(collection, mode="guess")
        with pytest.raises(ValueError, match="approx"):
            collection.register_fully_connected(w, x, out, approx="full")
        collection.register_fully_connected(w, x, out)
        with pytest.raises(ValueError, match="registered already"):
            collection.register_fully_connected(w, x, out)
        with pytest.raises(ValueError, match="no loss"):
            _ = kfac(collection).cov_update_op
        collection.register_normal_predictive_distribution(out, name="out")
        with pytest.raises(KeyError, match="already exists"):
            collection.register_normal_predictive_distribution(out, name="out")
        other = tf.get_variable("other", [3])
        with pytest.raises(ValueError, match="without registered layers.*other"):
            kfac(collection).minimize(tf.reduce_sum(out + other))


PROGRAM = """
import numpy as np
import tensorflow as tf
from tensorflow.contrib.kfac.python.ops import layer_collection as lc
from tensorflow.contrib.kfac.python.ops import optimizer as opt
rng = np.random.RandomState(0)
images = rng.normal(size=[120, 6, 6, 1]).astype(np.float32) * np.linspace(0.05, 2, 36).reshape(6, 6, 1).astype(np.float32)
labels = (images[:, :3].std((1, 2, 3)) > 0.5).astype(np.int32) + (images.mean((1, 2, 3)) > 0)


def train(use_kfac):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        layers = lc.LayerCollection()
        x = tf.constant(images)
        kernel, bias = tf.get_variable("k", [3, 3, 1, 6]), tf.get_variable("kb", [6], initializer=tf.zeros_initializer())
        pre = tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), bias)
        layers.register_conv2d((kernel, bias), [1, 1, 1, 1], "SAME", x, pre)
        hidden = tf.reshape(tf.nn.max_pool(tf.nn.relu(pre), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [-1, 54])
        w, b = tf.get_variable("w", [54, 3]), tf.get_variable("b", [3], initializer=tf.zeros_initializer())
        logits = tf.matmul(hidden, w) + b
        layers.register_fully_connected((w, b), hidden, logits)
        layers.register_categorical_predictive_distribution(logits, seed=4)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        step = tf.train.get_or_create_global_step()
        if use_kfac:
            optimizer = opt.KfacOptimizer(learning_rate=0.05, cov_ema_decay=0.95, damping=0.01, layer_collection=layers, momentum=0.9)
            with tf.control_dependencies([optimizer.cov_update_op]):
                inverse = tf.cond(tf.equal(tf.mod(step, 5), 0), lambda: tf.group(*[t() for t in optimizer.inv_update_thunks]),
                                  tf.no_op)
                with tf.control_dependencies([inverse]):
                    op = optimizer.minimize(loss, global_step=step)
        else:
            op = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=step)
        sess.run(tf.global_variables_initializer())
        for _ in range(60):
            sess.run(op)
        return sess.run(loss)


natural, plain = train(True), train(False)
print(natural < 0.5 * plain, "%.4f %.4f" % (natural, plain))
"""


def test_a_network_is_trained_faster_than_with_momentum(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    code, out, err = scripts.run(tmp_path / "program.py", cwd=tmp_path)
    assert code == 0 and out.startswith("True"), out + err[-2000:]
