"""tf.contrib.image, resampler, losses.metric_learning, sparsemax, nn, text and integrate against numpy and TensorFlow."""
import numpy as np
import pytest

import weft as tf
from both import oracle

RNG = np.random.RandomState(7)
IMAGE = RNG.rand(2, 5, 6, 3).astype(np.float32)


def run(make):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(make())


def test_images_are_turned_and_moved():
    image = tf.contrib.image
    np.testing.assert_array_equal(run(lambda: image.translate(IMAGE, [1, 2]))[:, 2:, 1:], IMAGE[:, :-2, :-1])
    square = IMAGE[:, :5, :5]
    np.testing.assert_allclose(run(lambda: image.rotate(square, np.pi / 2)), np.rot90(square, 1, (1, 2)), rtol=1e-5)
    np.testing.assert_allclose(run(lambda: image.rotate(square[0, :, :, 0], np.pi, "BILINEAR")), np.rot90(square[0, :, :, 0], 2),
                               rtol=1e-3, atol=1e-4)
    angles, moves = np.array([0.3, -0.7], np.float32), np.array([[0.5, 1.0], [2.0, -0.25]], np.float32)

    def composed():
        a, b = image.angles_to_projective_transforms(angles, 5, 6), image.translations_to_projective_transforms(moves)
        both = image.compose_transforms(a, b)
        return a, b, both, image.transform(IMAGE, both, "BILINEAR"), image.transform(IMAGE, both, output_shape=[3, 4])
    a, b, both, turned, cut = run(composed)
    matrices = [np.concatenate([t, np.ones((2, 1))], 1).reshape(2, 3, 3) for t in (a, b, both)]
    want = matrices[0] @ matrices[1]
    np.testing.assert_allclose(matrices[2], want / want[:, 2:, 2:], rtol=1e-4, atol=1e-5)
    with oracle.Graph().as_default(), oracle.Session() as sess:
        theirs = oracle.raw_ops.ImageProjectiveTransformV2(images=IMAGE, transforms=both, output_shape=[5, 6], interpolation="BILINEAR")
        np.testing.assert_allclose(turned, sess.run(theirs), rtol=1e-4, atol=1e-5)
    assert cut.shape == (2, 3, 4, 3)
    with pytest.raises(TypeError, match="rank between 2 and 4"):
        run(lambda: image.rotate(np.zeros(3, np.float32), 1.0))


def test_connected_parts_are_numbered_in_the_order_of_their_first_pixels():
    picture = np.array([[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 2, 2], [3, 3, 0, 1]])
    want = [[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 2, 2], [3, 3, 0, 4]]
    for given in (picture, picture.astype(np.float32), picture.astype(str).astype(object)):
        if given.dtype == object:
            given[given == "0"] = ""
        np.testing.assert_array_equal(run(lambda g=given: tf.contrib.image.connected_components(tf.constant(g))), want)
    both = run(lambda: tf.contrib.image.connected_components(np.stack([picture > 0, picture > 2])))
    assert both[0].max() == 3 and both[1].max() == 4 and both[1].min() == 0  # the second picture goes on counting


def test_pairs_are_taken_by_least_distance():
    d = np.array([[0.5, 0.1, 0.3], [0.2, 0.05, 0.9], [0.4, 0.6, 0.7]], np.float32)
    rows, columns = run(lambda: tf.contrib.image.bipartite_match(d, 3))
    assert list(rows) == [2, 1, 0] and list(columns) == [2, 1, 0]
    rows, columns = run(lambda: tf.contrib.image.bipartite_match(d, 2, top_k=1))
    assert list(rows) == [-1, 1, -1] and list(columns) == [-1, 1, -1]


def bilinear(image, y, x, edge):
    """The value of an image at a place; outside the last pixels go on, or there are zeros."""
    h, w = image.shape[:2]
    if edge:
        y0, x0 = (int(min(max(np.floor(v), 0), n - 2)) for v, n in ((y, h), (x, w)))
        a, b = min(max(y - y0, 0), 1), min(max(x - x0, 0), 1)
    else:
        if not (-1 < y < h and -1 < x < w):
            return np.zeros(image.shape[2])
        y0, x0 = int(np.floor(y)), int(np.floor(x))
        a, b = y - y0, x - x0

    def pixel(i, j):
        return image[i, j] if 0 <= i < h and 0 <= j < w else np.zeros(image.shape[2])
    return (1 - a) * ((1 - b) * pixel(y0, x0) + b * pixel(y0, x0 + 1)) + a * ((1 - b) * pixel(y0 + 1, x0) + b * pixel(y0 + 1, x0 + 1))


def test_warps_and_samples_are_bilinear():
    flow = (RNG.randn(2, 5, 6, 2) * 2).astype(np.float32)
    want = [[[bilinear(IMAGE[b], y - flow[b, y, x, 0], x - flow[b, y, x, 1], True) for x in range(6)] for y in range(5)] for b in range(2)]
    np.testing.assert_allclose(run(lambda: tf.contrib.image.dense_image_warp(IMAGE, flow)), want, rtol=1e-4, atol=1e-5)
    places = (RNG.rand(2, 4, 3, 2) * 9 - 2).astype(np.float32)
    want = [[[bilinear(IMAGE[b], y, x, False) for x, y in row] for row in places[b]] for b in range(2)]

    def sampled():
        at = tf.constant(places)
        made = tf.contrib.resampler.resampler(IMAGE, at)
        return made, tf.gradients(tf.reduce_sum(made), at)[0]
    made, slope = run(sampled)
    np.testing.assert_allclose(made, want, rtol=1e-4, atol=1e-5)
    step = 1e-3
    for b, i, j in ((0, 0, 0), (1, 2, 1), (0, 3, 2)):
        x, y = places[b, i, j]
        want = (bilinear(IMAGE[b], y, x + step, False).sum() - bilinear(IMAGE[b], y, x - step, False).sum()) / (2 * step)
        np.testing.assert_allclose(slope[b, i, j, 0], want, rtol=1e-2, atol=1e-2)


def test_splines_go_through_their_points_and_continue_planes():
    points = RNG.rand(1, 8, 2).astype(np.float32)
    plane = (points @ np.array([[2.0], [-1.0]]) + 0.5).astype(np.float32)
    asked = RNG.rand(1, 5, 2).astype(np.float32)
    for order in (1, 2, 3, 4):
        spline = tf.contrib.image.interpolate_spline
        values = np.sin(5 * plane)
        np.testing.assert_allclose(run(lambda o=order, v=values: spline(points, v, points, o)), values, rtol=1e-2, atol=1e-2)
        found = run(lambda o=order: spline(points, plane, asked, o))
        np.testing.assert_allclose(found, asked @ np.array([[2.0], [-1.0]]) + 0.5, rtol=1e-2, atol=1e-2)
    source = np.array([[[1.0, 1.0], [3.0, 4.0], [1.0, 4.0], [3.0, 1.0]]], np.float32)
    image = IMAGE[:1]
    warped, flow = run(lambda: tf.contrib.image.sparse_image_warp(image, source, source + np.float32([1, 0])))
    np.testing.assert_allclose(flow, np.broadcast_to([1.0, 0.0], flow.shape), atol=1e-3)
    np.testing.assert_allclose(warped[:, 1:], image[:, :-1], rtol=1e-2, atol=1e-2)
    _, flow = run(lambda: tf.contrib.image.sparse_image_warp(image, source, source + np.float32([1, 0]), num_boundary_points=2))
    np.testing.assert_allclose(flow[0, 0, 0], [0, 0], atol=1e-3)


def test_losses_of_embeddings():
    learning = tf.contrib.losses.metric_learning
    x, labels = RNG.randn(6, 4).astype(np.float32), np.array([0, 1, 0, 2, 1, 0])
    d = ((x[:, None] - x[None]) ** 2).sum(2)
    total = count = 0
    for a in range(6):
        for p in (p for p in range(6) if p != a and labels[p] == labels[a]):
            negatives = [n for n in range(6) if labels[n] != labels[a]]
            far = [d[a, n] for n in negatives if d[a, n] > d[a, p]]
            total += max(1.0 + d[a, p] - (min(far) if far else max(d[a, n] for n in negatives)), 0)
            count += 1
    np.testing.assert_allclose(run(lambda: learning.triplet_semihard_loss(labels, x)), total / count, rtol=1e-4)
    e, lifted, pairs = np.sqrt(d), 0.0, 0
    for i in range(6):
        for j in (j for j in range(i + 1, 6) if labels[j] == labels[i]):
            away = sum(np.exp(1 - e[k, n]) for k in (i, j) for n in range(6) if labels[n] != labels[k])
            lifted += max(np.log(away) + e[i, j], 0) ** 2
            pairs += 1
    np.testing.assert_allclose(run(lambda: learning.lifted_struct_loss(labels, x)), lifted / (2 * pairs), rtol=1e-4)
    y, same = RNG.randn(6, 4).astype(np.float32), np.array([1, 0, 1, 0, 0, 1], np.float32)
    near = np.sqrt(((x - y) ** 2).sum(1))
    want = np.mean(same * near ** 2 + (1 - same) * np.maximum(2 - near, 0) ** 2)
    np.testing.assert_allclose(run(lambda: learning.contrastive_loss(same, x, y, margin=2.0)), want, rtol=1e-4)
    logits = x @ y.T
    targets = (labels[:, None] == labels[None]) / (labels[:, None] == labels[None]).sum(1, keepdims=True)
    entropy = -(targets * (logits - np.log(np.exp(logits).sum(1, keepdims=True)))).sum(1).mean()
    lengths = 0.25 * 0.002 * ((x ** 2).sum(1).mean() + (y ** 2).sum(1).mean())
    np.testing.assert_allclose(run(lambda: learning.npairs_loss(labels, x, y)), entropy + lengths, rtol=1e-4)


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    z = (RNG.randn(4, 5) * 2).astype(np.float32)

    def both():
        x = tf.constant(z)
        p = tf.contrib.sparsemax.sparsemax(x)
        loss = tf.contrib.sparsemax.sparsemax_loss(x, p, tf.one_hot([0, 1, 2, 3], 5))
        return p, loss, tf.gradients(loss, x)[0]
    p, loss, slope = run(both)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)
    for row, want in zip(p, z):
        low, high = want.min() - 1, want.max()
        for _ in range(60):  # the threshold by halving
            tau = (low + high) / 2
            low, high = (tau, high) if np.maximum(want - tau, 0).sum() > 1 else (low, tau)
        np.testing.assert_allclose(row, np.maximum(want - tau, 0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(slope, p - np.eye(5)[:4], rtol=1e-4, atol=1e-5)
    assert (loss >= 0).all()


def test_alpha_dropout_keeps_mean_and_variance():
    x = RNG.randn(400, 100).astype(np.float32)
    made = run(lambda: tf.contrib.nn.alpha_dropout(x, 0.8, seed=3))
    assert abs(made.mean()) < 0.02 and abs(made.std() - 1) < 0.02 and abs((made != x).mean() - 1) < 0.01
    np.testing.assert_array_equal(run(lambda: tf.contrib.nn.alpha_dropout(x, 1.0)), x)


def test_words_get_their_neighbors():
    words, labels = run(lambda: tf.contrib.text.skip_gram_sample(["a", "b", "c", "d"], min_skips=1, max_skips=1))
    assert list(zip(words, labels)) == [(b"a", b"b"), (b"b", b"a"), (b"b", b"c"), (b"c", b"b"), (b"c", b"d"), (b"d", b"c")]
    words, labels = run(lambda: tf.contrib.text.skip_gram_sample([1, 2, 3, 4], 2, 2, start=1, limit=2, emit_self_as_target=True))
    assert list(zip(words, labels)) == [(2, 2), (2, 3), (3, 2), (3, 3)]
    words, _ = run(lambda: tf.contrib.text.skip_gram_sample(np.arange(50), 1, 4, seed=5))
    assert {2, 3, 4, 5, 6, 7, 8} >= set(np.bincount(words)[5:45]) and len(set(np.bincount(words)[5:45])) > 1


def test_differential_equations():
    times = np.linspace(0, 3, 7)
    want = np.stack([np.cos(times), -np.sin(times)], 1)

    def turn(y, t):
        return tf.stack([y[1], -y[0]])
    for make in (lambda: tf.contrib.integrate.odeint(turn, tf.constant([1.0, 0.0], tf.float64), times),
                 lambda: tf.contrib.integrate.odeint_fixed(turn, tf.constant([1.0, 0.0], tf.float64), times, dt=0.01),
                 lambda: tf.contrib.integrate.odeint_fixed(turn, tf.constant([1.0, 0.0], tf.float64), times, 0.001, "midpoint")):
        np.testing.assert_allclose(run(make), want, rtol=1e-5, atol=1e-5)
    grown, info = run(lambda: tf.contrib.integrate.odeint(lambda y, t: y * tf.cast(t, tf.float32), 1.0, [0.0, 1.0, 2.0], full_output=True))
    np.testing.assert_allclose(grown, np.exp([0, 0.5, 2.0]), rtol=1e-4)
    assert info["num_steps"] > 2
