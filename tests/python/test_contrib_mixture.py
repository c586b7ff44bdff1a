"""tf.contrib.factorization's mixtures against expectation maximization in numpy, and small ops of tf.contrib."""
import os
import subprocess
import sys

import numpy as np
import pytest

import scripts
import weft as tf

RNG = np.random.RandomState(1)
ROWS = np.concatenate([RNG.randn(60, 2) * [0.5, 1] + [3, 0], RNG.randn(30, 2) * 0.3 - [2, 2]]).astype(np.float32)
FIRST = ROWS[[0, -1]]


def expectation_maximization(steps, full, params):
    """(weights, means, covariances, log likelihood, assignments) after some steps."""
    x, n = ROWS.astype(np.float64), len(FIRST)
    weights, means = np.ones(n) / n, FIRST.astype(np.float64)
    cov = np.cov(x.T)
    covs = np.stack([cov if full else np.diag(np.diag(cov))] * n)

    def densities():
        found = []
        for w, m, c in zip(weights, means, covs):
            c = c + 1e-3 * np.eye(2)
            squares = np.einsum("ni,ij,nj->n", x - m, np.linalg.inv(c), x - m)
            found.append(np.log(w) - 0.5 * (squares + np.log(np.linalg.det(2 * np.pi * c))))
        return np.stack(found, 1)
    for _ in range(steps):
        share = np.exp(densities())
        share /= share.sum(1, keepdims=True)
        total = share.sum(0)
        new = share.T @ x / total[:, None] if "m" in params else means
        if "c" in params:
            covs = np.stack([(share[:, k, None] * (x - new[k])).T @ (x - new[k]) / total[k] for k in range(n)])
            covs = covs if full else np.stack([np.diag(np.diag(c)) for c in covs])
        means, weights = new, total / total.sum() if "w" in params else weights
    every = densities()
    return weights, means, covs, np.log(np.exp(every).sum(1)).sum(), every.argmax(1)


@pytest.mark.parametrize("kind, params", [("full", "wmc"), ("diag", "wmc"), ("full", "m")])
def test_a_mixture_is_fitted_by_expectation_maximization(kind, params):
    made = tf.contrib.factorization.GMM(2, initial_clusters=FIRST, covariance_type=kind, params=params)

    def input_fn():
        return tf.constant(ROWS), None
    made.fit(input_fn=input_fn, steps=4)
    weights, means, covs, likelihood, classes = expectation_maximization(4, kind == "full", params)
    np.testing.assert_allclose(made.weights(), weights, rtol=1e-4)
    np.testing.assert_allclose(made.clusters(), means, rtol=1e-3, atol=1e-4)
    found = made.covariances() if kind == "full" else np.stack([np.diag(c) for c in made.covariances()])
    np.testing.assert_allclose(found, covs, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(made.score(input_fn=input_fn, steps=1), likelihood, rtol=1e-4)
    np.testing.assert_array_equal(list(made.predict_assignments(input_fn=input_fn)), classes)


def test_the_ops_of_a_mixture_take_several_matrices():
    with tf.Graph().as_default(), tf.Session() as sess:
        likelihood, scores, [classes], step, init, initialized = tf.contrib.factorization.gmm(
            [tf.constant(ROWS[:40]), tf.constant(ROWS[40:])], FIRST, 2, 0)
        sess.run(tf.global_variables_initializer())
        assert not sess.run(initialized)
        sess.run(init)
        for _ in range(3):
            sess.run(step)
        assert sess.run(initialized)
        want = expectation_maximization(3, True, "wmc")
        np.testing.assert_allclose(sess.run(likelihood), want[3], rtol=1e-4)
        np.testing.assert_allclose(np.concatenate(sess.run(scores)).sum(), want[3], rtol=1e-4)
        np.testing.assert_array_equal(np.concatenate(sess.run(classes)), want[4])
        with pytest.raises(ValueError, match="covariance type"):
            tf.contrib.factorization.gmm(ROWS, "random", 2, 0, "round")


def test_first_means_are_rows_drawn_by_the_seed():
    found = []
    for seed in (3, 3, 4):
        with tf.Graph().as_default(), tf.Session() as sess:
            made = tf.contrib.factorization.GmmAlgorithm([ROWS], 3, random_seed=seed)
            init = made.init_ops()
            sess.run(tf.global_variables_initializer())
            sess.run(init)
            found.append(sess.run(made.clusters()))
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()
    assert all((ROWS == row).all(1).any() for row in found[2])


def resampled(values, shape):
    """The formula of the op, element by element."""
    q = shape.index(-1)
    shape = list(shape)
    shape[q] = values.size // int(np.prod([d for i, d in enumerate(shape) if i != q]))
    out = np.zeros(shape, values.dtype)
    for s in np.ndindex(*shape):
        at, before, more = list(s), 1, 0
        for i, d in enumerate(values.shape):
            if i != q:
                g = -(-shape[i] // d)
                at[i] = s[i] // g
                more += before * (s[i] % g)
                before *= g
        at[q] = s[q] + shape[q] * more
        out[s] = values[tuple(at)]
    return out


def test_elements_are_resampled_periodically():
    resample = tf.contrib.periodic_resample.periodic_resample
    values = np.arange(2 * 3 * 8, dtype=np.float32).reshape(2, 3, 8)
    with tf.Graph().as_default(), tf.Session() as sess:
        for shape in ([2, 3, -1], [4, 6, -1], [2, -1, 16], [-1, 6, 8]):
            np.testing.assert_array_equal(sess.run(resample(values, shape)), resampled(values, shape))
        image = np.arange(2 * 2 * 4, dtype=np.float32).reshape(1, 2, 2, 4)
        np.testing.assert_array_equal(  # the subpixel convolution, whose blocks are in the order of columns first
            sess.run(resample(image, [1, 4, 4, -1])),
            sess.run(tf.depth_to_space(image.reshape(1, 2, 2, 2, 2).swapaxes(3, 4).reshape(1, 2, 2, 4), 2)))
        x = tf.constant(values)
        np.testing.assert_array_equal(sess.run(tf.gradients(resample(x, [4, 6, -1]), x)[0]), np.ones_like(values))
        for shape, said in (([2, 3], "expects 3"), ([2, 3, 8], "must be -1"), ([1, 3, -1], "less than"), ([3, 3, -1], "no multiples")):
            with pytest.raises(ValueError, match=said):
                resample(values, shape)


PROGRAM = """
import weft as tf
with tf.device("/gpu:0"):
    ops = [getattr(tf.contrib.memory_stats, n)() for n in ("BytesInUse", "MaxBytesInUse", "BytesLimit")]
    v, w = (tf.get_variable(n, initializer=tf.zeros([1 << 20])) for n in "vw")
with tf.Session() as sess:
    first = sess.run(ops)
    sess.run(v.initializer)
    print(first, sess.run(ops))
"""


def test_memory_is_that_of_the_device():
    with tf.Graph().as_default(), tf.Session() as sess:
        stats = tf.contrib.memory_stats
        assert sess.run([stats.BytesInUse(), stats.MaxBytesInUse("m"), stats.BytesLimit()]) == [0, 0, -1]
    env = {**os.environ, "WEFT_CUDA_PLUGIN": "simulated", "PYTHONPATH": scripts.PACKAGE}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    (before, _, limit), (after, peak, same) = eval(done.stdout.strip().replace("] [", "], ["))
    assert before < after <= peak <= limit == same and after - before >= 4 << 20
