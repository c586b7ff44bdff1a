"""The ops of boosted trees against formulas in numpy. TensorFlow 2.15 has no kernel for them."""
import numpy as np
import pytest

import weft as tf

RNG = np.random.RandomState(5)
raw = tf.raw_ops


def fresh(tokens=b"", stamp=0):
    """An ensemble, and the op that creates it."""
    handle = raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="ensemble")
    return handle, raw.BoostedTreesCreateEnsemble(tree_ensemble_handle=handle, stamp_token=tf.constant(stamp, tf.int64),
                                                  tree_ensemble_serialized=tf.constant(tokens))


def states(handle):
    return raw.BoostedTreesGetEnsembleStates(tree_ensemble_handle=handle)


def update(handle, splits, depth=3, rate=1.0, pruning=0, types=None, features=None, dims=None):
    """An op that adds splits: lists of (node, gain, threshold, left, right), a list for each feature."""
    def column(i, dtype):
        return [tf.constant([s[i] for s in rows], dtype, shape=[len(rows)]) for rows in splits]

    def matrix(i):
        return [tf.constant(np.array([np.atleast_1d(s[i]) for s in rows], np.float32).reshape([len(rows), -1 if rows else 1]))
                for rows in splits]
    features = list(range(len(splits))) if features is None else features
    common = {"tree_ensemble_handle": handle, "node_ids": column(0, tf.int32), "gains": column(1, tf.float32),
              "thresholds": column(2, tf.int32), "left_node_contribs": matrix(3), "right_node_contribs": matrix(4), "max_depth": depth,
              "learning_rate": rate}
    if types is None and dims is None:
        return raw.BoostedTreesUpdateEnsemble(feature_ids=features, pruning_mode=pruning, **common)
    types = types or [["inequality_default_left"] * len(rows) for rows in splits]
    dims = dims or [[0] * len(rows) for rows in splits]
    return raw.BoostedTreesUpdateEnsembleV2(feature_ids=[features], dimension_ids=dims, split_types=types, pruning_mode=pruning, **common)


def predict(handle, *buckets, logits=1):
    return raw.BoostedTreesPredict(tree_ensemble_handle=handle, bucketized_features=[tf.constant(b, tf.int32) for b in buckets],
                                   logits_dimension=logits)


def since(handle, tree, node, *buckets, logits=1):
    return raw.BoostedTreesTrainingPredict(tree_ensemble_handle=handle, cached_tree_ids=tree, cached_node_ids=node,
                                           bucketized_features=[tf.constant(b, tf.int32) for b in buckets], logits_dimension=logits)


# ---- the ensemble ----

def test_an_ensemble_exists_once_it_was_created():
    handle, create = fresh(stamp=7)
    is_set = raw.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=handle)
    with tf.Session() as sess:
        assert not sess.run(is_set)
        with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
            sess.run(states(handle))
        sess.run(create)
        assert sess.run(is_set)
        stamp, trees, final, layers, nodes = sess.run(states(handle))
        assert (stamp, trees, final, layers, list(nodes)) == (7, 0, 0, 0, [0, 1])
        assert sess.run(predict(handle, [0, 1])).tolist() == [[0], [0]]


def test_layers_trees_and_states():
    handle, create = fresh()
    with tf.Session() as sess:
        sess.run(create)
        sess.run(update(handle, [[(0, 2.0, 1, 0.5, -0.5)], [(0, 5.0, 0, 1.0, -1.0)]], depth=2, rate=0.1))  # the second feature is better
        stamp, trees, final, layers, nodes = sess.run(states(handle))
        assert (stamp, trees, final, layers, list(nodes)) == (1, 1, 0, 1, [1, 3])
        np.testing.assert_allclose(sess.run(predict(handle, [0, 0, 9], [0, 1, 1]))[:, 0], [0.1, -0.1, -0.1], rtol=1e-6)
        sess.run(update(handle, [[(1, 1.0, 3, 2.0, 3.0)], [(2, 1.0, 4, 4.0, 5.0)]], depth=2, rate=0.1))
        stamp, trees, final, layers, nodes = sess.run(states(handle))
        assert (stamp, trees, final, layers, list(nodes)) == (2, 2, 1, 2, [0, 1])
        found = sess.run(predict(handle, [3, 4, 0, 0], [0, 0, 4, 5]))[:, 0]
        np.testing.assert_allclose(found, [0.1 + 0.2, 0.1 + 0.3, -0.1 + 0.4, -0.1 + 0.5], rtol=1e-6)
        sess.run(update(handle, [[(0, 1.0, 3, 2.0, 3.0)], []], depth=2, rate=1.0))
        np.testing.assert_allclose(sess.run(predict(handle, [3, 4], [0, 0]))[:, 0], [0.3 + 2, 0.4 + 3], rtol=1e-6)


def test_a_tree_without_more_splits_is_finished():
    handle, create = fresh()
    with tf.Session() as sess:
        sess.run(create)
        sess.run(update(handle, [[]]))
        assert sess.run(states(handle))[1:4] == (1, 0, 1)  # a root that could not be split is tried again
        sess.run(update(handle, [[(0, 1.0, 0, 1.0, -1.0)]]))
        sess.run(update(handle, [[(1, -1.0, 0, 1.0, -1.0)]], pruning=1))  # pre-pruning drops it
        assert sess.run(states(handle))[1:4] == (2, 1, 3)


def test_missing_values_and_categories():
    handle, create = fresh()
    with tf.Session() as sess:
        sess.run(create)
        sess.run(update(handle, [[(0, 1.0, 2, 1.0, -1.0)]], types=[["inequality_default_right"]], features=[1], depth=1))
        sess.run(update(handle, [[(0, 1.0, 2, 10.0, -10.0)]], types=[["equality_default_right"]], dims=[[1]], features=[0], depth=1))
        rows = [[0, 2], [0, 3], [0, -1]]
        found = sess.run(predict(handle, rows, [2, 3, -1]))[:, 0]
        assert found.tolist() == [11, -11, -11]


def test_post_pruning_drops_splits_without_gain_and_keeps_what_was_counted():
    handle, create = fresh()
    f = [0, 1, 2, 3]
    with tf.Session() as sess:
        sess.run(create)
        sess.run(update(handle, [[(0, 1.0, 1, 1.0, -1.0)]], depth=2, pruning=2))
        partial, tree, node = sess.run(since(handle, [0] * 4, [-1] * 4, f))
        assert partial[:, 0].tolist() == [1, 1, -1, -1] and node.tolist() == [1, 1, 2, 2]
        sess.run(update(handle, [[(1, -1.0, 0, 5.0, 6.0), (2, 2.0, 2, 7.0, 8.0)]], depth=2, pruning=2))
        assert sess.run(predict(handle, f))[:, 0].tolist() == [1, 1, 6, 7]
        more, tree, node = sess.run(since(handle, tree, node, f))
        assert (partial + more)[:, 0].tolist() == [1, 1, 6, 7] and tree.tolist() == [1] * 4 and node.tolist() == [0] * 4
        saved = sess.run(raw.BoostedTreesSerializeEnsemble(tree_ensemble_handle=handle))
        sess.run(raw.BoostedTreesDeserializeEnsemble(tree_ensemble_handle=handle, stamp_token=tf.constant(3, tf.int64),
                                                     tree_ensemble_serialized=saved[1]))
        assert sess.run(predict(handle, f))[:, 0].tolist() == [1, 1, 6, 7]
        assert sess.run(raw.BoostedTreesSerializeEnsemble(tree_ensemble_handle=handle))[1] == saved[1]


def test_a_tree_that_loses_all_splits_predicts_its_bias():
    handle, create = fresh()
    with tf.Session() as sess:
        sess.run(create)
        sess.run(raw.BoostedTreesCenterBias(tree_ensemble_handle=handle, mean_gradients=[-3.0], mean_hessians=[1.0], l1=0.0, l2=0.0))
        partial, tree, node = sess.run(since(handle, [0, 0], [-1, -1], [0, 1]))
        assert partial[:, 0].tolist() == [3, 3] and node.tolist() == [0, 0]
        sess.run(update(handle, [[(0, -1.0, 0, 1.0, -1.0)]], depth=2, pruning=2))
        first, tree, node = sess.run(since(handle, tree, node, [0, 1]))
        assert first[:, 0].tolist() == [1, -1]
        sess.run(update(handle, [[(1, -1.0, 0, 1.0, -1.0)]], depth=2, pruning=2))
        second, tree, node = sess.run(since(handle, tree, node, [0, 1]))
        assert (partial + first + second)[:, 0].tolist() == [3, 3] == sess.run(predict(handle, [0, 1]))[:, 0].tolist()


@pytest.mark.parametrize("logits", [1, 3])
def test_the_bias_is_centered(logits):
    handle, create = fresh()
    g, h = RNG.uniform(-2, 2, logits).astype(np.float32), RNG.uniform(1, 2, logits).astype(np.float32)
    go_on = raw.BoostedTreesCenterBias(tree_ensemble_handle=handle, mean_gradients=g, mean_hessians=h, l1=0.1, l2=0.5)
    stay = raw.BoostedTreesCenterBias(tree_ensemble_handle=handle, mean_gradients=g * 0, mean_hessians=h, l1=0.1, l2=0.5)
    wanted = -np.sign(g) * np.maximum(np.abs(g) - 0.1, 0) / (h + 0.5)
    with tf.Session() as sess:
        sess.run(create)
        assert sess.run(go_on)
        np.testing.assert_allclose(sess.run(predict(handle, [0, 1], logits=logits)), [wanted] * 2, rtol=1e-5)
        sess.run(go_on)
        np.testing.assert_allclose(sess.run(predict(handle, [0], logits=logits))[0], 2 * wanted, rtol=1e-5)
        assert not sess.run(stay)
        sess.run(update(handle, [[(0, 1.0, 0, np.ones(logits), -np.ones(logits))]]))
        np.testing.assert_allclose(sess.run(predict(handle, [0, 1], logits=logits)), [2 * wanted + 1, 2 * wanted - 1], rtol=1e-5)
        with pytest.raises(tf.errors.FailedPreconditionError, match="before the first tree grows"):
            sess.run(go_on)


def walked(trees, row):
    """What an independent walk through splits (feature, threshold, left, right) and values gives."""
    total = 0.0
    for nodes in trees:
        at = 0
        while nodes[at][0] is not None:
            at = nodes[at][2] if row[nodes[at][0]] <= nodes[at][1] else nodes[at][3]
        total += nodes[at][4]
    return total


def test_a_random_forest_of_updates_predicts_as_a_walk_does():
    handle, create = fresh()
    trees, features, rows = [], 4, RNG.randint(0, 8, [200, 4])
    cached, tree, node = np.zeros(200), [0] * 200, [-1] * 200
    with tf.Session() as sess:
        sess.run(create)
        for _ in range(5):
            nodes, last = [[None, 0, 0, 0, 0.0]], [0]
            for _ in range(3):
                splits, grown = [[] for _ in range(features)], []
                for at in last:
                    f, t, left, right = RNG.randint(features), RNG.randint(7), RNG.randn(), RNG.randn()
                    splits[f].append((at, 1.0, t, left, right))
                    nodes[at][:2] = [f, t]
                for at in last:
                    f = nodes[at][0]
                    left, right = next(s[3:] for s in splits[f] if s[0] == at)
                    nodes[at][2:4] = [len(nodes), len(nodes) + 1]
                    grown += [len(nodes), len(nodes) + 1]
                    nodes += [[None, 0, 0, 0, nodes[at][4] + 0.5 * left], [None, 0, 0, 0, nodes[at][4] + 0.5 * right]]
                sess.run(update(handle, splits, depth=3, rate=0.5))
                last = grown
                more, tree, node = sess.run(since(handle, tree, node, *rows.T))
                cached += more[:, 0]
            trees.append(nodes)
        wanted = [walked(trees, row) for row in rows]
        np.testing.assert_allclose(sess.run(predict(handle, *rows.T))[:, 0], wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(cached, wanted, rtol=1e-4, atol=1e-5)


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def debug_output(data):
    """The fields of a DebugOutput: feature ids and logits."""
    ids, logits, at = [], [], 0
    while at < len(data):
        field, (size, at) = data[at] >> 3, varint(data, at + 1)
        part, at = data[at:at + size], at + size
        if field == 2:
            logits = np.frombuffer(part, np.float32).tolist()
        else:
            i = 0
            while i < len(part):
                value, i = varint(part, i)
                ids.append(value)
    return ids, logits


def test_debug_outputs_are_the_path_of_an_example():
    handle, create = fresh()
    with tf.Session() as sess:
        sess.run(create)
        sess.run(raw.BoostedTreesCenterBias(tree_ensemble_handle=handle, mean_gradients=[-3.0], mean_hessians=[1.0], l1=0.0, l2=0.0))
        sess.run(update(handle, [[(0, 1.0, 0, 1.0, -1.0)]], features=[300], dims=[[0]], depth=2))
        sess.run(update(handle, [[(1, 1.0, 0, 0.5, -0.5)]], features=[1], dims=[[0]], depth=2))
        sess.run(update(handle, [[(0, 1.0, 0, 0.25, -0.25)]], features=[1], dims=[[0]], depth=2))
        features = [[0, 1]] * 301
        features[1] = [1, 0]
        found = sess.run(raw.BoostedTreesExampleDebugOutputs(tree_ensemble_handle=handle, logits_dimension=1,
                                                             bucketized_features=[tf.constant(f) for f in features]))
        assert debug_output(found[0]) == ([300, 1, 1], [3, 4, 3.5, 3.25])
        assert debug_output(found[1]) == ([300, 1], [3, 2, 2.25])


WRONG = {
    "a node that is not there": lambda h: update(h, [[(5, 1.0, 0, 1.0, -1.0)]]),
    "a negative node": lambda h: update(h, [[(-1, 1.0, 0, 1.0, -1.0)]]),
    "a depth of 0": lambda h: update(h, [[(0, 1.0, 0, 1.0, -1.0)]], depth=0),
    "a pruning mode": lambda h: update(h, [[(0, 1.0, 0, 1.0, -1.0)]], pruning=3),
    "a negative feature": lambda h: update(h, [[(0, 1.0, 0, 1.0, -1.0)]], features=[-1]),
    "a gain that is no number": lambda h: update(h, [[(0, float("nan"), 0, 1.0, -1.0)]]),
    "a split type": lambda h: update(h, [[(0, 1.0, 0, 1.0, -1.0)]], types=[["other"]]),
    "too few feature ids": lambda h: update(h, [[(0, 1.0, 0, 1.0, -1.0)], []], features=[0]),
    "contributions of different widths": lambda h: update(h, [[(0, 1.0, 0, [1.0, 2.0], [1.0])]]),
    "a tree that is not there": lambda h: since(h, [1], [0], [0]),
    "a node that is not in the tree": lambda h: since(h, [0], [4], [0]),
    "examples that differ": lambda h: predict(h, [0, 1], [0]),
    "too many dimensions": lambda h: predict(h, [[[0]]]),
    "no logits": lambda h: predict(h, [0], logits=0),
    "huge logits": lambda h: predict(h, [0], logits=2 ** 40),
    "bytes that are no message": lambda h: raw.BoostedTreesDeserializeEnsemble(
        tree_ensemble_handle=h, stamp_token=tf.constant(0, tf.int64), tree_ensemble_serialized=b"\xff\xff"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong_input_is_an_error_and_changes_nothing(name):
    handle, create = fresh()
    with tf.Session() as sess:
        sess.run(create)
        before = sess.run(raw.BoostedTreesSerializeEnsemble(tree_ensemble_handle=handle))
        with pytest.raises(tf.errors.InvalidArgumentError):
            made = WRONG[name](handle)
            sess.run(made if isinstance(made, tf.Operation) else tf.group(made) if isinstance(made, tf.Tensor) else made)
        after = sess.run(states(handle))
        assert (after[0], after[3]) == (before[0], 0)


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def leaf(value):
    return field(1, b"\x1d" + np.float32(value).tobytes() if value else b"")


def split(left, right, feature=0, threshold=0):
    numbers = [(1, feature), (2, threshold), (3, left), (4, right)]
    return field(2, b"".join(bytes([n << 3]) + bytes([v]) for n, v in numbers if v))


def tree(*nodes):
    return field(1, b"".join(field(1, n) for n in nodes))


TREES = {"one leaf": (tree(leaf(2)), 2.0), "a split": (tree(split(1, 2), leaf(1), leaf(-1)), 1.0)}
BROKEN = {"a child before its parent": tree(split(0, 1), leaf(1)), "no such child": tree(split(1, 7), leaf(1), leaf(2)),
          "one child twice": tree(split(1, 1), leaf(1)), "a node without a parent": tree(leaf(1), leaf(1)),
          "no node": tree(), "a weight too many": tree(leaf(1)) + field(2, np.float32([1, 2]).tobytes()),
          "a node of no kind": tree(b""), "a child of two": tree(split(1, 2), split(2, 3), leaf(1), leaf(1))}


@pytest.mark.parametrize("name", sorted(TREES))
def test_ensembles_are_read(name):
    data, wanted = TREES[name]
    handle, create = fresh(data)
    with tf.Session() as sess:
        sess.run(create)
        assert sess.run(predict(handle, [0])).tolist() == [[wanted]]


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_ensembles_that_are_no_trees_are_refused(name):
    handle, create = fresh(BROKEN[name])
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(create)
        assert not sess.run(raw.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=handle))


def test_features_that_the_trees_need_are_missed():
    handle, create = fresh(tree(split(1, 2, feature=3), leaf(1), leaf(-1)))
    with tf.Session() as sess:
        sess.run(create)
        with pytest.raises(tf.errors.InvalidArgumentError, match="beyond the 1 bucketized_features"):
            sess.run(predict(handle, [0]))


# ---- statistics and splits ----

def sums(nodes, g, h, buckets, splits, n_buckets):
    """Dense statistics [splits, dims, buckets + 1, logits + hessians] by a plain loop; -1 is the last bucket."""
    out = np.zeros([splits, buckets.shape[1], n_buckets + 1, g.shape[1] + h.shape[1]])
    for node, a, b, row in zip(nodes, g, h, buckets):
        for d, bucket in enumerate(row):
            out[node, d, bucket] += np.concatenate([a, b])
    return out


def batch(n=300, logits=1, hessians=1, dims=3, splits=4, n_buckets=6, missing=0.2):
    buckets = RNG.randint(0, n_buckets, [n, dims])
    buckets[RNG.uniform(size=buckets.shape) < missing] = -1
    h = RNG.uniform(0.1, 1, [n, hessians])
    if hessians > logits:
        a = RNG.randn(n, logits, logits)
        h = (a @ a.transpose(0, 2, 1) + 0.1 * np.eye(logits)).reshape([n, hessians])
    return RNG.randint(0, splits, n), RNG.randn(n, logits), h, buckets


@pytest.mark.parametrize("logits,hessians", [(1, 1), (3, 3), (2, 4)])
def test_statistics_are_sums(logits, hessians):
    nodes, g, h, buckets = batch(logits=logits, hessians=hessians)
    made = raw.BoostedTreesAggregateStats(node_ids=nodes.astype(np.int32), gradients=g.astype(np.float32), hessians=h.astype(np.float32),
                                          feature=buckets.astype(np.int32), max_splits=4, num_buckets=6)
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(made), sums(nodes, g, h, buckets, 4, 6), rtol=1e-4, atol=1e-4)


def test_the_older_statistics_are_sums():
    nodes, g, h, buckets = batch(missing=0)
    made = raw.BoostedTreesMakeStatsSummary(node_ids=nodes.astype(np.int32), gradients=g.astype(np.float32),
                                            hessians=h.astype(np.float32), max_splits=4, num_buckets=6,
                                            bucketized_features_list=list(buckets.T.astype(np.int32)))
    with tf.Session() as sess:
        wanted = sums(nodes, g, h, buckets, 4, 6)[:, :, :6].transpose(1, 0, 2, 3)
        np.testing.assert_allclose(sess.run(made), wanted, rtol=1e-4, atol=1e-4)


def sparse_stats(nodes, g, h, buckets, splits=4, n_buckets=6):
    at = np.argwhere(buckets >= 0)
    return raw.BoostedTreesSparseAggregateStats(
        node_ids=nodes.astype(np.int32), gradients=g.astype(np.float32), hessians=h.astype(np.float32), max_splits=splits,
        num_buckets=n_buckets, feature_indices=at.astype(np.int32), feature_values=buckets[buckets >= 0].astype(np.int32),
        feature_shape=np.array(buckets.shape, np.int32))


def test_sparse_statistics_are_those_of_dense_features():
    nodes, g, h, buckets = batch(missing=0.6)
    with tf.Session() as sess:
        index, values, dims = sess.run(sparse_stats(nodes, g, h, buckets))
    made = np.zeros(dims)
    made[tuple(index.T)] = values
    assert dims.tolist() == [4, 3, 7, 2] and len({tuple(i) for i in index}) == len(index)
    np.testing.assert_allclose(made, sums(nodes, g, h, buckets, 4, 6), rtol=1e-4, atol=1e-4)


def score(s, logits, l1, l2):
    """The best score of a node and its output, by numpy's solver."""
    g, h = s[:logits], s[logits:]
    g = np.sign(g) * np.maximum(np.abs(g) - l1, 0)
    h = (np.diag(h) if len(h) == logits else h.reshape([logits, logits])) + l2 * np.eye(logits)
    if np.linalg.matrix_rank(h) < logits:
        return 0.0, np.zeros(logits)
    w = -np.linalg.solve(h, g)
    return -g @ w, w


def best_of(stats, logits, l1, l2, complexity, least, equality=False):
    """{node: (gain, dimension, threshold, left, right, direction)} of dense statistics, by trying all splits."""
    found = {}
    diagonal = slice(logits, None) if stats.shape[-1] == 2 * logits else slice(logits, None, logits + 1)
    for node in range(stats.shape[0]):
        for dim in range(stats.shape[1]):
            s = stats[node, dim]
            total, missing, values = s.sum(0), s[-1], s[:-1]
            root = score(total, logits, l1, l2)[0]
            for t in range(len(values)):
                tries = [("equality_default_right", values[t])] if equality else [
                    ("inequality_default_left", values[:t + 1].sum(0) + missing), ("inequality_default_right", values[:t + 1].sum(0))]
                for name, left in tries:
                    right = total - left
                    if min(left[diagonal].mean(), right[diagonal].mean()) < max(least, 1e-6):
                        continue
                    (a, w), (b, v) = score(left, logits, l1, l2), score(right, logits, l1, l2)
                    gain = a + b - root - complexity
                    if node not in found or gain > found[node][0] + 1e-9:
                        found[node] = (gain, dim, t, w, v, name)
    return found


CASES = [(1, 1, 0, 0, 0, 0), (1, 1, 0.5, 1, 0.1, 5), (3, 3, 0, 0.5, 0, 0), (2, 4, 0, 0.1, 0.2, 0), (2, 4, 0.3, 0, 0, 10),
         (1, 1, 0, 0, 0, 1e6)]


def compared(found, wanted, order=("nodes", "gains", "dims", "thresholds", "left", "right", "names")):
    found = dict(zip(order, found))
    assert found["nodes"].tolist() == sorted(wanted)
    for i, node in enumerate(found["nodes"]):
        gain, dim, t, left, right, name = wanted[node]
        np.testing.assert_allclose(found["gains"][i], gain, rtol=1e-3, atol=1e-3)
        assert (found["dims"][i], found["thresholds"][i], found["names"][i].decode()) == (dim, t, name)
        np.testing.assert_allclose(found["left"][i], left, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found["right"][i], right, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize("logits,hessians,l1,l2,complexity,least", CASES)
def test_the_best_split_is_that_of_all_splits(logits, hessians, l1, l2, complexity, least, equality):
    stats = sums(*batch(logits=logits, hessians=hessians), 4, 6)
    made = raw.BoostedTreesCalculateBestFeatureSplit(
        node_id_range=[0, 4], stats_summary=stats.astype(np.float32), l1=l1, l2=l2, tree_complexity=complexity, min_node_weight=least,
        logits_dimension=logits, split_type="equality" if equality else "inequality")
    with tf.Session() as sess:
        compared(sess.run(made), best_of(stats, logits, l1, l2, complexity, least, equality))


def test_the_best_feature_is_found():
    all_stats = [sums(*batch(dims=d, n_buckets=b), 4, b) for d, b in ((2, 3), (1, 9), (4, 2))]
    types = ["inequality", "equality", "inequality"]
    made = raw.BoostedTreesCalculateBestFeatureSplitV2(
        node_id_range=[1, 3], stats_summaries_list=[s.astype(np.float32) for s in all_stats], split_types=types,
        candidate_feature_ids=[7, 8, 9], l1=0.0, l2=1.0, tree_complexity=0.0, min_node_weight=0.0, logits_dimension=1)
    each = [best_of(s, 1, 0, 1, 0, 0, t == "equality") for s, t in zip(all_stats, types)]
    wanted, features = {}, []
    for node in (1, 2):
        i = max(range(3), key=lambda i: each[i][node][0])
        wanted[node], features = each[i][node], [*features, 7 + i]
    with tf.Session() as sess:
        found = sess.run(made)
    assert found[2].tolist() == features
    compared([*found[:2], *found[3:]], wanted)


def test_the_best_split_of_sparse_statistics_is_that_of_dense_ones():
    nodes, g, h, buckets = batch(missing=0.5)
    index, values, dims = sparse_stats(nodes, g, h, buckets)
    made = raw.BoostedTreesSparseCalculateBestFeatureSplit(
        node_id_range=[1, 4], stats_summary_indices=index, stats_summary_values=values, stats_summary_shape=dims, l1=0.1, l2=0.5,
        tree_complexity=0.0, min_node_weight=1.0, logits_dimension=1)
    wanted = best_of(sums(nodes, g, h, buckets, 4, 6), 1, 0.1, 0.5, 0, 1)
    with tf.Session() as sess:
        compared(sess.run(made), {node: w for node, w in wanted.items() if node >= 1})


def test_the_best_gains_of_each_feature():
    all_stats = [sums(*batch(dims=1, missing=0), 4, 6)[:, 0, :6] for _ in range(2)]
    made = raw.BoostedTreesCalculateBestGainsPerFeature(
        node_id_range=[0, 4], stats_summary_list=[s.astype(np.float32) for s in all_stats], l1=0.0, l2=0.0, tree_complexity=0.0,
        min_node_weight=0.0, max_splits=4)
    with tf.Session() as sess:
        found = sess.run(made)
    for i, s in enumerate(all_stats):
        wanted = best_of(np.concatenate([s, np.zeros([4, 1, 2])], 1)[:, None], 1, 0, 0, 0, 0)
        names = [np.array([w[5].encode() for w in wanted.values()]), np.zeros(4, int)]
        compared([*(part[i] for part in found), *names], wanted, ("nodes", "gains", "thresholds", "left", "right", "names", "dims"))


# ---- quantiles ----

def streams(n, epsilon=0.02, name="streams"):
    handle = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name=name)
    return handle, raw.BoostedTreesCreateQuantileStreamResource(quantile_stream_resource_handle=handle, epsilon=epsilon,
                                                                num_streams=tf.constant(n, tf.int64))


def summaries(values, weights, epsilon):
    return raw.BoostedTreesMakeQuantileSummaries(float_values=values, example_weights=weights, epsilon=epsilon)


def boundaries(handle, n):
    return raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(quantile_stream_resource_handle=handle, num_features=n)


def rank_errors(found, values, weights):
    """How far the rank bounds of a summary are wrong, and how wide they are, as parts of the total weight."""
    wrong = wide = 0.0
    for value, _, low, high in found:
        below, upto = weights[values < value].sum(), weights[values <= value].sum()
        wrong, wide = max(wrong, low - below, upto - high), max(wide, high - low - (upto - below))
    return wrong / weights.sum(), wide / weights.sum()


def test_summaries_bound_the_ranks():
    values, weights = RNG.randn(5000).astype(np.float32), RNG.uniform(0, 2, 5000).astype(np.float32)
    with tf.Session() as sess:
        found, = sess.run(summaries([values], weights, 0.01))
    assert len(found) <= 102 and found[0, 0] == values[weights > 0].min() and found[-1, 0] == values[weights > 0].max()
    wrong, wide = rank_errors(found.astype(float), values, weights.astype(float))
    assert wrong < 1e-6 and wide < 1e-6  # the ranks of one batch are exact
    steps = np.diff((found[:, 2] + found[:, 3]) / 2) / weights.sum()
    assert steps.max() < 0.011


@pytest.mark.parametrize("kind", ["normal", "few", "sorted"])
def test_streams_find_quantiles_within_epsilon(kind):
    epsilon, batches, rows = 0.02, 40, 500
    values = {"normal": RNG.randn(batches, rows), "few": RNG.randint(0, 5, [batches, rows]),
              "sorted": np.sort(RNG.randn(batches * rows)).reshape([batches, rows])}[kind].astype(np.float32)
    handle, create = streams(2, epsilon)
    fed = tf.placeholder(tf.float32, [None])
    both = summaries([fed, -fed], tf.ones_like(fed), epsilon)
    add = raw.BoostedTreesQuantileStreamResourceAddSummaries(quantile_stream_resource_handle=handle, summaries=both)
    flush = raw.BoostedTreesQuantileStreamResourceFlush(quantile_stream_resource_handle=handle, num_buckets=tf.constant(10, tf.int64),
                                                        generate_quantiles=True)
    is_set = raw.IsBoostedTreesQuantileStreamResourceInitialized(quantile_stream_resource_handle=handle)
    with tf.Session() as sess:
        assert not sess.run(is_set)
        sess.run(create)
        assert sess.run(is_set)
        assert [len(b) for b in sess.run(boundaries(handle, 2))] == [0, 0]
        for row in values:
            sess.run(add, {fed: row})
        sess.run(flush)
        found, negated = sess.run(boundaries(handle, 2))
    everything = np.sort(values.reshape(-1))
    assert len(found) == len(negated) == 11 and found[0] == everything[0] and found[-1] == everything[-1]
    for all_values, made in ((everything, found), (np.sort(-everything), negated)):
        for i, q in enumerate(made):
            low, high = (np.searchsorted(all_values, q, side) / len(all_values) for side in ("left", "right"))
            assert low - 2 * epsilon <= i / 10 <= high + 2 * epsilon, (kind, i, q)


def test_boundaries_are_different_values():
    handle, create = streams(1)
    add = raw.BoostedTreesQuantileStreamResourceAddSummaries(
        quantile_stream_resource_handle=handle, summaries=summaries([np.repeat(np.arange(100), 3).astype(np.float32)], np.ones(300), 0.01))
    flush = raw.BoostedTreesQuantileStreamResourceFlush(quantile_stream_resource_handle=handle, num_buckets=tf.constant(8, tf.int64))
    with tf.Session() as sess:
        sess.run(create)
        sess.run(add)
        sess.run(flush)
        found, = sess.run(boundaries(handle, 1))
        assert 6 <= len(found) <= 8 and (np.diff(found) > 0).all() and found[0] == 0 and found[-1] == 99
        sess.run(flush)  # what was collected is forgotten
        assert len(sess.run(boundaries(handle, 1))[0]) == 0


def test_summaries_are_taken_out_of_a_stream():
    handle, create = streams(1, epsilon=0.01)
    values = RNG.randn(3, 200).astype(np.float32)
    take = raw.BoostedTreesFlushQuantileSummaries(quantile_stream_resource_handle=handle, num_features=1)
    with tf.Session() as sess:
        sess.run(create)
        for row in values:
            sess.run(raw.BoostedTreesQuantileStreamResourceAddSummaries(quantile_stream_resource_handle=handle,
                                                                        summaries=summaries([row], np.ones(200), 0.001)))
        found, = sess.run(take)
        assert [len(s) for s in sess.run(take)] == [0]
    assert found[:, 0].tolist() == np.sort(values.reshape(-1)).tolist()
    assert found[:, 2].tolist() == list(range(600)) and found[:, 3].tolist() == list(range(1, 601))


def test_boundaries_are_restored_and_give_buckets():
    handle, create = streams(2)
    restore = raw.BoostedTreesQuantileStreamResourceDeserialize(quantile_stream_resource_handle=handle,
                                                                bucket_boundaries=[[0.0, 1.0, 2.0], [5.0]])
    values = np.array([-1, 0, 0.5, 1, 1.5, 2, 9, np.nan], np.float32)
    found = boundaries(handle, 2)
    with tf.control_dependencies(found):
        buckets = raw.BoostedTreesBucketize(float_values=[values, values], bucket_boundaries=found)
    with tf.Session() as sess:
        sess.run(create)
        sess.run(restore)
        a, b = sess.run(buckets)
    assert a.tolist() == [0, 0, 1, 1, 2, 2, 2, -1] and b.tolist() == [0] * 7 + [-1]


WRONG_STREAMS = {
    "epsilon of 1": lambda h: raw.BoostedTreesCreateQuantileStreamResource(
        quantile_stream_resource_handle=streams(1, name="other")[0], epsilon=1.0, num_streams=tf.constant(1, tf.int64)),
    "no streams": lambda h: raw.BoostedTreesCreateQuantileStreamResource(
        quantile_stream_resource_handle=streams(1, name="other")[0], epsilon=0.1, num_streams=tf.constant(0, tf.int64)),
    "too many streams": lambda h: raw.BoostedTreesCreateQuantileStreamResource(
        quantile_stream_resource_handle=streams(1, name="other")[0], epsilon=0.1, num_streams=tf.constant(2 ** 60, tf.int64)),
    "another number of streams": lambda h: tf.group(boundaries(h, 3)),
    "unsorted boundaries": lambda h: raw.BoostedTreesQuantileStreamResourceDeserialize(
        quantile_stream_resource_handle=h, bucket_boundaries=[[1.0, 0.0], [0.0]]),
    "unsorted summaries": lambda h: raw.BoostedTreesQuantileStreamResourceAddSummaries(
        quantile_stream_resource_handle=h, summaries=[[[1.0, 1, 0, 1], [0, 1, 1, 2]], np.zeros([0, 4], np.float32)]),
    "summaries of another shape": lambda h: raw.BoostedTreesQuantileStreamResourceAddSummaries(
        quantile_stream_resource_handle=h, summaries=[[[1.0, 1]], [[1.0, 1]]]),
    "no buckets": lambda h: raw.BoostedTreesQuantileStreamResourceFlush(
        quantile_stream_resource_handle=h, num_buckets=tf.constant(0, tf.int64)),
}


@pytest.mark.parametrize("name", sorted(WRONG_STREAMS))
def test_wrong_input_to_streams_is_an_error(name):
    handle, create = streams(2)
    with tf.Session() as sess:
        sess.run(create)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(WRONG_STREAMS[name](handle))


def test_a_handle_of_another_kind_is_an_error():
    handle, _ = streams(1)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(predict(handle, [0]))
