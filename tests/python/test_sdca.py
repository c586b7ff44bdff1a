"""Stochastic dual coordinate ascent: the op, with TensorFlow's results as the judge."""
import collections
import itertools

import numpy as np
import pytest

from both import oracle, weft as ours

LOSSES = ["logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss"]


def batch(seed, n, loss):
    """A random problem: two sparse groups, one without values, and two dense ones."""
    rng = np.random.RandomState(seed)
    rows = np.repeat(np.arange(n), 2)
    features = np.stack([rng.permutation(5)[:2] for _ in range(n)]).reshape(-1)
    labels = {"squared_loss": rng.randn(n), "poisson_loss": rng.randint(0, 4, n)}.get(loss, rng.randint(0, 2, n))
    return dict(sparse_example_indices=[rows, np.arange(n)], sparse_feature_indices=[features * 10, rng.randint(0, 3, n)],
                sparse_feature_values=[rng.randn(2 * n)], dense_features=[rng.randn(n, 3), rng.randn(n, 1)],
                example_weights=rng.rand(n) + 0.5, example_labels=labels,
                sparse_indices=[np.array([40, 0, 10, 30, 20]), np.arange(3)], sparse_weights=[rng.randn(5) / 5, rng.randn(3) / 5],
                dense_weights=[rng.randn(3) / 5, rng.randn(1) / 5], example_state_data=np.zeros([n, 4]))


class Solver:
    """The op of one system, with fed inputs, so that nothing is computed once for all runs."""

    def __init__(self, tf, like, adaptive=False, l1=0.0, l2=1.0, partitions=1, **attrs):
        graph = tf.Graph()
        with graph.as_default():
            def holder(name):
                return tf.placeholder(tf.int64 if name.endswith("indices") else tf.float32)
            self.fed = {k: [holder(k) for _ in v] if isinstance(v, list) else holder(k) for k, v in like.items()}
            self.made = tf.raw_ops.SdcaOptimizerV2(**self.fed, l1=l1, l2=l2, num_loss_partitions=partitions, num_inner_iterations=1,
                                                   adaptive=adaptive, **attrs)
        self.sess = tf.Session(graph=graph)

    def __call__(self, data):
        feeds = {}
        for name, of in self.fed.items():
            feeds.update(zip(of, data[name]) if isinstance(of, list) else [(of, data[name])])
        state, sparse, dense = self.sess.run([self.made[0], list(self.made[1]), list(self.made[2])], feeds)
        return [state, *sparse, *dense]


def trained(solver, data, steps):
    """The weights and duals after some steps, each of which adds the changes to the weights."""
    data = dict(data)
    for _ in range(steps):
        state, *changes = solver(data)
        data["example_state_data"] = state
        data["sparse_weights"] = [w + d for w, d in zip(data["sparse_weights"], changes)]
        data["dense_weights"] = [w + d for w, d in zip(data["dense_weights"], changes[2:])]
    return [state[:, 0], *data["sparse_weights"], *data["dense_weights"]]


def assert_close(a, b, tolerance=2e-5):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_example_is_solved_as_in_tensorflow(loss):
    for seed, (l1, l2, partitions, dual) in enumerate(itertools.product([0.0, 0.1], [0.3, 5.0], [1, 4], [0.0, 0.4])):
        data = batch(seed, 1, loss)
        data["example_state_data"] = [[dual, 1, 2, 3]]
        attrs = dict(loss_type=loss, l1=l1, l2=l2, partitions=partitions, adaptive=bool(seed % 2))
        assert_close(*(Solver(tf, data, **attrs)(data) for tf in (ours, oracle)))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("adaptive", [False, True])
def test_passes_in_random_order_end_where_tensorflows_do(loss, adaptive):
    data = batch(3, 12, loss)
    attrs = dict(loss_type=loss, l1=0.05, l2=2.0, adaptive=adaptive)
    # dual variables of hinges may move along a flat optimum, so only the weights are compared
    assert_close(*(trained(Solver(tf, data, **attrs), data, 300)[1:] for tf in (ours, oracle)), tolerance=2e-3)


def orders(solver, data, n, runs):
    """How often each order of the examples occurred, by the dual variables that it leads to."""
    seen = collections.Counter()
    for _ in range(runs):
        seen[tuple(np.round(solver(data)[0][:, 0], 3))] += 1
    return seen


@pytest.mark.parametrize("adaptive", [False, True])
def test_orders_are_as_likely_as_in_tensorflow(adaptive):
    data, runs = batch(5, 3, "squared_loss"), 3000
    a, b = (orders(Solver(tf, data, loss_type="squared_loss", adaptive=adaptive), data, 3, runs) for tf in (ours, oracle))
    assert len(b) == 6 if not adaptive else len(b) > 6
    for order in {*a, *b}:  # five standard deviations of the difference of two counts
        assert abs(a[order] - b[order]) <= 5 * np.sqrt(a[order] + b[order] + 2), (order, a, b)


MESSAGES = ["Only labels of 0.0 or 1.0", "Expected ", "example_state_data must be rank 2 but is rank 1", "Dense features at",
            "More dense features than we have parameters for", "Found sparse feature indices out of valid range",
            "Duplicate index in sparse vector."]


def broken():
    def change(**to):
        return lambda data: data.update(to)
    return {
        "label": change(example_labels=[0, 2]), "labels": change(example_labels=[0, 1, 1]), "weights": change(example_weights=[1.0]),
        "state": change(example_state_data=np.zeros([2, 3])), "state rank": change(example_state_data=np.zeros(8)),
        "state rows": change(example_state_data=np.zeros([1, 4])), "dense rank": change(dense_features=[[1.0, 2], [[1.0], [2]]]),
        "too many dense": change(dense_weights=[[1.0], [1.0]]),
        "no dense column": change(dense_features=[np.zeros([2, 0]), [[1.0], [2]]]),
        "features": change(sparse_feature_indices=[[0, 10, 20], [0, 1]]),
        "unknown": change(sparse_feature_indices=[[0, 10, 20, 5], [0, 1]]),
        "negative": change(sparse_feature_indices=[[0, 10, 20, 0], [0, -1]]),
        "twice": change(sparse_feature_indices=[[10, 10, 20, 0], [0, 1]]),
        "no indices": change(sparse_indices=[[], [0, 1, 2]]),
    }


@pytest.mark.parametrize("what", broken())
def test_wrong_inputs_are_refused_as_in_tensorflow(what):
    data = batch(1, 2, "hinge_loss")
    broken()[what](data)
    errors = []
    for tf in (ours, oracle):
        with pytest.raises(tf.errors.InvalidArgumentError) as found:
            Solver(tf, data, loss_type="hinge_loss")(data)
        errors.append(str(found.value))
    if what != "features":  # TensorFlow prints the indices there
        core = [m for m in MESSAGES if m in errors[0]]
        assert core and all(m in errors[1] for m in core), errors


@pytest.mark.parametrize("to", [dict(sparse_feature_values=[[1.0, 2, 3]]), dict(dense_features=[np.zeros([1, 3]), np.zeros([2, 1])]),
                                dict(sparse_weights=[[1.0], [1, 2, 3]])], ids=str)
def test_inputs_that_tensorflow_reads_beyond_their_end_are_refused(to):
    data = {**batch(1, 2, "hinge_loss"), **to}
    with pytest.raises(ours.errors.InvalidArgumentError):
        Solver(ours, data, loss_type="hinge_loss")(data)


def test_entries_out_of_order_are_not_reached():
    data = batch(1, 2, "squared_loss")
    # the second example has no entry in the first group; unknown features behind that are not looked at
    data["sparse_example_indices"][0], data["sparse_feature_indices"][0] = np.array([0, 0, 7, 1]), np.array([0, 10, 77, 88])
    data["dense_features"] = [np.diag([1.0, 2.0])[:, [0, 1, 1]] * [1, 1, 0], np.zeros([2, 1])]
    data["sparse_example_indices"][1], data["sparse_feature_indices"][1] = np.array([0, 1]), np.array([0, 2])
    assert_close(*(Solver(tf, data, loss_type="squared_loss")(data) for tf in (ours, oracle)))


def test_the_default_of_raw_ops_is_tensorflows():
    for name, attr in (("SdcaOptimizer", "adaptative"), ("SdcaOptimizerV2", "adaptive")):
        assert "%s: Of kind bool. The default is true." % attr in getattr(ours.raw_ops, name).__doc__
        for tf in (ours, oracle):
            with tf.Graph().as_default():
                made = getattr(tf.raw_ops, name)(**batch(1, 2, "hinge_loss"), loss_type="hinge_loss", l1=0.0, l2=1.0,
                                                 num_loss_partitions=1, num_inner_iterations=1)
                assert made[0].op.get_attr(attr) is True
