"""tf.contrib.tensor_forest: its op against the same algorithm in numpy, and forests that learn."""
import numpy as np
import pytest

import scripts
import weft as tf

RNG = np.random.RandomState(7)


def grown(x, y, weights, drawn, outputs, regression, n_splits, split_after, max_nodes=50, n_slots=3, bound=0.0, check=1):
    """The nodes of a tree, a list of [feature or None, threshold, left child, sums], in float64."""
    width = 1 + outputs if regression else outputs
    nodes, slots = [[None, 0.0, None, np.zeros(width)]], {}
    for row, label, weight, feature in zip(x, y, weights, drawn):
        if weight <= 0:
            continue
        at = 0
        while nodes[at][0] is not None:
            at = nodes[at][2] + (0 if row[nodes[at][0]] <= nodes[at][1] else 1)
        nodes[at][3] += weight * (np.concatenate([[1], label]) if regression else np.eye(outputs)[int(label)])
        if at not in slots and len(slots) < n_slots and len(nodes) + 2 <= max_nodes:
            slots[at] = {"splits": [], "seen": []}
        if at not in slots:
            continue
        slot = slots[at]
        if len(slot["splits"]) < n_splits:
            slot["splits"].append((feature, row[feature]))
            continue
        before = sum(w for _, _, w in slot["seen"])
        slot["seen"].append((row, label, weight))
        w = np.array([s[2] for s in slot["seen"]])
        rows, labels = np.array([s[0] for s in slot["seen"]]), np.array([s[1] for s in slot["seen"]])

        def impurity(mask, w=w, labels=labels):
            if w[mask].sum() <= 0:
                return 0.0
            if regression:
                mean = (w[mask, None] * labels[mask]).sum(0) / w[mask].sum()
                return (w[mask, None] * (labels[mask] - mean) ** 2).sum()
            share = np.array([w[mask][labels[mask] == c].sum() for c in range(outputs)])
            return share.sum() - (share ** 2).sum() / share.sum()
        scores = []
        for f, t in slot["splits"]:
            left = rows[:, f] <= t
            scores.append(np.inf if left.all() or not left.any() else impurity(left) + impurity(~left))
        best, n = int(np.argmin(scores)), w.sum()
        due = n >= split_after
        if bound and not due and np.sort(scores)[1] < np.inf and before // check < n // check:
            due = (np.sort(scores)[1] - np.sort(scores)[0]) / n > np.sqrt(bound / (2 * n))
        if not due:
            continue
        del slots[at]
        if len(nodes) + 2 > max_nodes or np.isinf(scores[best]) or impurity(np.ones(len(w), bool)) <= 1e-9 * n:
            continue
        f, t = slot["splits"][best]
        left = rows[:, f] <= t
        nodes[at][:3] = [f, t, len(nodes)]
        for mask in (left, ~left):
            nodes.append([None, 0.0, None, np.array([w[mask].sum(), *(w[mask, None] * labels[mask]).sum(0)]) if regression else
                          np.array([w[mask][labels[mask] == c].sum() for c in range(outputs)])])
    return nodes


@pytest.mark.parametrize("regression, outputs, options", [
    (False, 3, {}), (False, 2, {"max_nodes": 9}), (False, 3, {"n_slots": 1}), (True, 1, {}), (True, 2, {"n_slots": 9}),
    (False, 2, {"bound": np.log(1 / 0.4), "check": 3})])
def test_a_tree_grows_as_the_same_algorithm_in_numpy(regression, outputs, options):
    rng = np.random.RandomState(5)
    n, features, n_splits, split_after = 600, 4, 3, 12
    settings = {"max_nodes": 50, "n_slots": 3, **options}
    x = rng.randint(0, 20, [n, features]).astype(np.float32)
    score = x[:, 0] + 2 * x[:, 1]
    if regression:
        y = (1000 + np.stack([score, x[:, 2]], 1)[:, :outputs] + rng.randint(0, 3, [n, outputs])).astype(np.float32)
    else:
        y = np.minimum(score // 20, outputs - 1).astype(np.float32)
    weights = rng.choice([0, 1, 2], n, p=[0.1, 0.7, 0.2]).astype(np.float32)
    drawn = rng.randint(0, features, n).astype(np.int32)
    expected = grown(x, y, weights, drawn, outputs, regression, n_splits, split_after, **settings)
    width, sums = (1 + outputs, 1 + 2 * outputs) if regression else (outputs, outputs)
    made = {"use_resource": False, "initializer": tf.zeros_initializer()}
    with tf.Graph().as_default(), tf.Session() as sess:
        nodes = tf.get_variable("nodes", [settings["max_nodes"], 4 + width], **made)
        slots = tf.get_variable("slots", [1 + settings["n_slots"]], tf.int32, **made)
        splits = tf.get_variable("splits", [settings["n_slots"], 2 + n_splits, 2 + sums], **made)
        sess.run(tf.global_variables_initializer())
        bound = settings.get("bound", 0)
        for part in np.array_split(np.arange(n), 7):
            size = sess.run(tf.raw_ops.ForestGrow(
                nodes=nodes, slots=slots, splits=splits, features=x[part], targets=y[part], weights=weights[part], drawn=drawn[part],
                outputs=outputs, regression=regression, split_after_samples=split_after, check_every_samples=settings.get("check", 1),
                dominate_fraction=1 - np.exp(-bound)))
        found = sess.run(nodes)[:size]
        predicted, leaf = sess.run(tf.raw_ops.ForestPredict(nodes=nodes.value(), slots=slots.value(), features=x[:50], outputs=outputs,
                                                            regression=regression))
    assert size == len(expected) > 6
    for row, (feature, threshold, left, sums) in zip(found, expected):
        assert row[0] == (0 if feature is None else feature + 1)
        if feature is not None:
            assert row[1] == threshold and row[2] == left
        np.testing.assert_allclose(row[4:], sums, rtol=1e-5)
    for i in range(50):
        at = 0
        while expected[at][0] is not None:
            at = expected[at][2] + (0 if x[i, expected[at][0]] <= expected[at][1] else 1)
        sums = expected[at][3]
        assert leaf[i] == at
        np.testing.assert_allclose(predicted[i], sums[1:] / sums[0] if regression else sums / sums.sum(), rtol=1e-5)


def digits(n, rng, size=8, classes=4):
    """Noisy pictures: a bright row or column for each class."""
    labels = rng.randint(0, classes, n)
    made = rng.uniform(0, 0.6, [n, size, size])
    for picture, label in zip(made, labels):
        at = 2 + 3 * (label // 2)
        if label % 2:
            picture[at] += 0.4
        else:
            picture[:, at] += 0.4
    return made.reshape(n, -1).astype(np.float32), labels.astype(np.int32)


def test_a_forest_learns_to_read_pictures():
    """The program that tutorials of 2017 have."""
    from weft._core.python_modules import resources
    from weft.contrib.tensor_forest.python import tensor_forest
    rng = np.random.RandomState(1)
    hparams = tensor_forest.ForestHParams(num_classes=4, num_features=64, num_trees=10, max_nodes=300, split_after_samples=60,
                                          base_random_seed=3).fill()
    assert (hparams.num_splits_to_consider, hparams.max_fertile_nodes, hparams.num_output_columns) == (10, 150, 5)
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
        forest = tensor_forest.RandomForestGraphs(hparams)
        train_op, loss_op = forest.training_graph(x, y), forest.training_loss(x, y)
        infer_op, paths, variance = forest.inference_graph(x)
        assert paths is None and variance is None and infer_op.shape.as_list() == [None, 4]
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(infer_op, 1), tf.cast(y, tf.int64)), tf.float32))
        sess.run(tf.group(tf.global_variables_initializer(), resources.initialize_resources(resources.shared_resources())))
        assert sess.run(resources.report_uninitialized_resources()).size == 0
        test = dict(zip([x, y], digits(500, np.random.RandomState(2))))
        np.testing.assert_allclose(sess.run(infer_op, test), 0.25)
        losses = []
        for _ in range(25):
            _, loss = sess.run([train_op, loss_op], dict(zip([x, y], digits(200, rng))))
            losses.append(loss)
        assert losses[-1] < losses[2] < 0, "the loss is the number of nodes, negative"
        assert sess.run(accuracy, test) > 0.9
        np.testing.assert_allclose(sess.run(infer_op, test).sum(1), 1, rtol=1e-5)
        used = sess.run(forest.feature_importances()).reshape(8, 8)
        informed = used[[2, 5]].sum() + used[:, [2, 5]].sum() - used[np.ix_([2, 5], [2, 5])].sum()
        assert used.sum() == pytest.approx(1, rel=1e-5) and informed > 0.6
        assert 0 < sess.run(forest.average_impurity()) < 0.75
        assert sess.run(forest.average_size()) == -losses[-1] or sess.run(forest.average_size()) > -losses[-1]


def test_a_regression_bags_and_a_checkpoint(tmp_path):
    rng = np.random.RandomState(1)
    tensor_forest = tf.contrib.tensor_forest

    def model():
        hparams = tensor_forest.ForestHParams(num_features=3, regression=True, num_trees=12, max_nodes=200, split_after_samples=30,
                                              bagging_fraction=0.7, feature_bagging_fraction=0.7, base_random_seed=5).fill()
        assert hparams.bagged_num_features == 2 and len(hparams.bagged_features) == 12
        return tensor_forest.RandomForestGraphs(hparams)
    values = rng.uniform(-1, 1, [3000, 3]).astype(np.float32)
    target = (100 + 3 * values[:, 0] + (values[:, 1] > 0)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        forest = model()
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None])
        train_op, (found, _, variance) = forest.training_graph(x, y), forest.inference_graph(x)
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for part in range(0, 3000, 100):
            sess.run(train_op, {x: values[part:part + 100], y: target[part:part + 100]})
        before, spread = sess.run([found, variance], {x: values[:200]})
        assert before.shape == (200, 1) and (spread >= 0).all() and spread.max() > 0
        assert np.mean((before[:, 0] - target[:200]) ** 2) < 0.4 * np.var(target)
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    assert "stats-0" not in dict(tf.train.list_variables(path))
    with tf.Graph().as_default(), tf.Session() as sess:
        forest = model()
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None])
        found, train_op = forest.inference_graph(x)[0], forest.training_graph(x, y)
        tf.train.Saver().restore(sess, path)
        sess.run(tf.local_variables_initializer())
        assert (sess.run(found, {x: values[:200]}) == before).all()
        sess.run(train_op, {x: values, y: target})
        assert (sess.run(found, {x: values[:200]}) != before).any()


def test_the_loss_of_a_training_loss_forest_falls():
    rng = np.random.RandomState(1)
    with tf.Graph().as_default(), tf.Session() as sess:
        hparams = tf.contrib.tensor_forest.ForestHParams(num_classes=2, num_features=2, num_trees=5, max_nodes=60, split_after_samples=20,
                                                         base_random_seed=1).fill()
        forest = tf.contrib.tensor_forest.TrainingLossForest(hparams)
        x = tf.constant(rng.uniform(-1, 1, [400, 2]), tf.float32)
        y = tf.cast(x[:, 0] * x[:, 1] > 0, tf.int32)
        loss, train = forest.training_loss(x, y), forest.training_graph({"b": x[:, 1:], "a": x[:, 0]}, y)
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        first = sess.run(loss)
        for _ in range(8):
            sess.run(train)
        assert first == pytest.approx(np.log(2), rel=1e-3) and sess.run(loss) < 0.5 * first


def test_what_is_not_there_is_named():
    make = tf.contrib.tensor_forest.ForestHParams
    for given in ({"split_pruning_name": "half"}, {"split_finish_name": "dominate_bootstrap"}, {"param_file": "x"},
                  {"split_name": "equal"}):
        with pytest.raises(NotImplementedError, match=next(iter(given))):
            make(num_classes=2, num_features=2, **given)
    with pytest.raises(ValueError, match="num_features"):
        make(num_classes=2).fill()
    with pytest.raises(ValueError, match="num_classes"):
        make(num_features=2).fill()


def test_estimators_fit_and_predict(tmp_path):
    random_forest, metrics = tf.contrib.tensor_forest.client.random_forest, tf.contrib.tensor_forest.client.eval_metrics
    pictures, labels = digits(3000, np.random.RandomState(4))
    params = tf.contrib.tensor_forest.ForestHParams(num_classes=4, num_features=64, num_trees=8, max_nodes=200, split_after_samples=60,
                                                    base_random_seed=2)
    made = random_forest.TensorForestEstimator(params, model_dir=str(tmp_path / "a"), report_feature_importances=True)
    made.fit(x=pictures, y=labels, batch_size=100, steps=60)
    spec = tf.contrib.learn.MetricSpec(metrics.get_metric("accuracy"), prediction_key=metrics.get_prediction_key("accuracy"))
    top = tf.contrib.learn.MetricSpec(metrics.get_metric("top_2"), prediction_key=metrics.get_prediction_key("top_2"))
    found = made.evaluate(x=pictures[:500], y=labels[:500], metrics={"accuracy": spec, "top_2": top})
    assert found["accuracy"] > 0.9 and found["top_2"] >= found["accuracy"] and found["global_step"] == 60 and found["loss"] < -5
    first = next(made.predict(x=pictures[:5]))
    assert first["classes"] == first["probabilities"].argmax() and first["global_feature_importance"].sum() == pytest.approx(1, rel=1e-4)
    core = random_forest.CoreTensorForestEstimator(
        params, tf.contrib.estimator.multi_class_head(4), [tf.feature_column.numeric_column("x", [64])], model_dir=str(tmp_path / "b"))

    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({"x": pictures}, labels[:, None])).repeat(2).batch(100)
    core.train(input_fn, steps=60)
    assert core.evaluate(input_fn, steps=5)["accuracy"] > 0.9
    stopping = random_forest.TensorForestEstimator(params, model_dir=str(tmp_path / "c"), early_stopping_rounds=3,
                                                   early_stopping_loss_threshold=0.9)
    stopping.fit(x=pictures, y=labels, batch_size=1, steps=60)
    assert stopping.evaluate(x=pictures[:5], y=labels[:5])["global_step"] < 60


PROGRAM = """
from __future__ import print_function
import numpy as np
import tensorflow as tf
from tensorflow.contrib.tensor_forest.python import tensor_forest
from tensorflow.contrib.tensor_forest.client import random_forest
from tensorflow.python.ops import resources
hparams = tensor_forest.ForestHParams(num_classes=2, num_features=2, num_trees=3, max_nodes=50, split_after_samples=10).fill()
graphs = tensor_forest.RandomForestGraphs(hparams)
x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
train, (infer, _, _) = graphs.training_graph(x, y), graphs.inference_graph(x)
sess = tf.train.MonitoredSession()
data = np.random.RandomState(0).uniform(-1, 1, [400, 2])
for _ in range(10):
    sess.run(train, {x: data, y: data[:, 0] > 0})
print((sess.run(infer, {x: data}).argmax(1) == (data[:, 0] > 0)).mean() > 0.9)
"""


def test_a_program_with_the_imports_of_its_time(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    code, out, err = scripts.run(tmp_path / "program.py", cwd=tmp_path)
    assert (code, out) == (0, "True\n"), err[-2000:]
