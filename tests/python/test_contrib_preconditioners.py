"""GGTOptimizer and ShampooOptimizer of tf.contrib.opt against the published formulas in float64."""
import numpy as np
import pytest

import weft as tf

opt = tf.contrib.opt
TARGET = np.array([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0]])
SCALE = np.array([[1.0, 4.0, 0.25], [2.0, 1.0, 0.5]])


def trained(make, steps, start=None, dtype=np.float64, resource=False, rows=None):
    """The values of a matrix and a vector after each step of least squares, or of steps for some rows only."""
    start = [np.zeros((2, 3)), np.ones(3)] if start is None else start
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.create_global_step()
        w = tf.get_variable("w", initializer=start[0].astype(dtype), use_resource=resource)
        b = tf.get_variable("b", initializer=start[1].astype(dtype), use_resource=resource)
        used = w if rows is None else tf.gather(w, rows)
        aim = TARGET if rows is None else TARGET[rows]
        scale = SCALE if rows is None else SCALE[rows]
        loss = tf.reduce_sum(scale.astype(dtype) * tf.square(used + b - aim.astype(dtype)))
        train = make(step).minimize(loss, global_step=step)
        sess.run(tf.global_variables_initializer())
        found = []
        for _ in range(steps):
            sess.run(train)
            found.append(sess.run([w, b]))
        return found


def gradients(w, b):
    g = 2 * SCALE * (w + b - TARGET)
    return g, g.sum(0)


def inverse_power(matrix, power):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values ** power) @ vectors.T


def shampoo(steps, rate, size=768, decay=0.0, mat_decay=1.0, weight=1.0, every=1, roots_every=1, eps=1e-4, alpha=0.5):
    x, found = [np.zeros((2, 3)), np.ones(3)], []
    mats = [[np.zeros((n, n) if n <= size else n) for n in v.shape] for v in x]
    roots = [[None] * v.ndim for v in x]
    mean = [np.zeros_like(v) for v in x]
    for t in range(steps):
        for i, g in enumerate(gradients(*x)):
            mean[i] = decay * mean[i] + g
            step = mean[i]
            for axis in range(g.ndim):
                others = [a for a in range(g.ndim) if a != axis]
                full = mats[i][axis].ndim == 2
                if t % every == 0:
                    got = np.tensordot(g, g, [others, others]) if full else (g * g).sum(tuple(others))
                    mats[i][axis] = mat_decay * mats[i][axis] + weight * got
                if full and t % roots_every == 0:
                    roots[i][axis] = inverse_power(mats[i][axis] + eps * np.eye(len(mats[i][axis])), -alpha / g.ndim)
                if full:
                    step = np.moveaxis(np.tensordot(step, roots[i][axis], [[axis], [0]]), -1, axis)
                else:
                    step = step * (mats[i][axis] ** (-alpha / g.ndim)).reshape([-1] + [1] * (g.ndim - axis - 1))
            x[i] = x[i] - rate * step
        found.append([v.copy() for v in x])
    return found


SHAMPOOS = {
    "plain": (dict(), dict()),
    "diagonal": (dict(max_matrix_size=2), dict(size=2)),
    "mean": (dict(gbar_decay=0.5), dict(decay=0.5)),
    "forgetful": (dict(mat_gbar_decay=0.9, mat_gbar_weight=0.1), dict(mat_decay=0.9, weight=0.1)),
    "rare": (dict(svd_interval=3, precond_update_interval=2), dict(roots_every=3, every=2)),
    "power": (dict(alpha=1.0, epsilon=1e-2), dict(alpha=1.0, eps=1e-2)),
    "functions": (dict(gbar_decay=lambda t: 0.5, learning_rate=lambda t: 0.1, svd_interval=lambda t: 2.0),
                  dict(decay=0.5, roots_every=2)),
    "iterative": (dict(use_iterative_root=True), dict()),
}


@pytest.mark.parametrize("name", SHAMPOOS)
@pytest.mark.parametrize("resource", [False, True])
def test_shampoo_takes_the_steps_of_the_paper(name, resource):
    given, wanted = SHAMPOOS[name]
    made = trained(lambda step: opt.ShampooOptimizer(step, **{"learning_rate": 0.1, **given}), 5, resource=resource)
    for found, want in zip(made, shampoo(5, 0.1, **wanted)):
        for a, b in zip(found, want):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_shampoo_takes_rows_as_it_takes_their_dense_gradient():
    for size in (768, 1):
        made = trained(lambda step: opt.ShampooOptimizer(step, max_matrix_size=size, learning_rate=0.1), 3, rows=[1, 1])
        np.testing.assert_array_equal(made[-1][0][0], np.zeros(3))
        assert np.isfinite(made[-1][0]).all() and abs(made[-1][0][1]).min() > 0


def test_the_iterative_root_needs_a_whole_power():
    with pytest.raises(ValueError, match="alpha=0.3"):
        trained(lambda step: opt.ShampooOptimizer(step, alpha=0.3, use_iterative_root=True), 1)


def ggt(steps, rate, beta1=0.9, window=10, eps=1e-4, svd_eps=1e-6, sigma_eps=1e-2):
    """The step of the paper with the square root of the covariance itself, a matrix of all parameters."""
    w, b, found = np.zeros((2, 3)), np.ones(3), []
    m, rows = np.zeros(9), []
    for _ in range(steps):
        m = beta1 * m + (1 - beta1) * np.concatenate([g.ravel() for g in gradients(w, b)])
        rows = [m, *rows][:window]
        left, s, right = np.linalg.svd(np.array(rows), full_matrices=False)
        s = np.sqrt(s * s + svd_eps)
        kept = s > eps
        u = right[kept].T * (np.sqrt(s[kept] ** 2 - svd_eps) / s[kept])
        step = u @ ((1 / (s[kept] + sigma_eps) - 1 / sigma_eps) * (u.T @ m)) + m / sigma_eps
        w, b = w - rate * step[:6].reshape(2, 3), b - rate * step[6:]
        found.append([w, b])
    return found


@pytest.mark.parametrize("given", [dict(), dict(window=2), dict(beta1=0.0, sigma_eps=0.5), dict(eps=2.0, svd_eps=1e-3)])
@pytest.mark.parametrize("resource", [False, True])
def test_ggt_takes_the_steps_of_the_paper(given, resource):
    made = trained(lambda step: opt.GGTOptimizer(1e-3, **given), 6, resource=resource)
    for found, want in zip(made, ggt(6, 1e-3, **given)):
        for a, b in zip(found, want):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("make", [lambda step: opt.ShampooOptimizer(step, learning_rate=0.3), lambda step: opt.GGTOptimizer(0.05)])
def test_they_learn_in_float32(make):
    made = trained(make, 200, dtype=np.float32)
    w, b = made[-1]
    first, last = (np.sum(SCALE * (w + b - TARGET) ** 2) for w, b in ((np.zeros((2, 3)), np.ones(3)), (w, b)))
    assert last < 0.05 * first


def test_ggt_names_what_it_cannot_do():
    with pytest.raises(ValueError, match="window"):
        opt.GGTOptimizer(window=0)
    with tf.Graph().as_default():
        x, y = tf.get_variable("x", initializer=1.0), tf.get_variable("y", initializer=np.float64(1.0))
        with pytest.raises(ValueError, match="one type"):
            opt.GGTOptimizer().minimize(tf.square(x) + tf.cast(tf.square(y), tf.float32))
