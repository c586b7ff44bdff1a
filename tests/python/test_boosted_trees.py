"""tf.estimator's boosted trees: they learn what one tree or a linear model cannot, are saved, exported and explained."""
import numpy as np
import pytest

import scripts
import weft as tf
from test_estimator import run_cluster

fc = tf.feature_column


def friedman(n, seed):
    """Friedman's first problem: ten features, five of which matter."""
    rng = np.random.RandomState(seed)
    x = rng.uniform(size=[n, 10]).astype(np.float32)
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4] + rng.randn(n)
    return {"x%d" % i: x[:, i:i + 1] for i in range(10)}, y.astype(np.float32)


def checkers(n, seed):
    """A checkerboard of 4 x 4: no split alone says anything."""
    rng = np.random.RandomState(seed)
    x = rng.uniform(-2, 2, [n, 2]).astype(np.float32)
    return {"a": x[:, :1], "b": x[:, 1:]}, (np.floor(x).sum(1) % 2).astype(np.int64)


def source(features, labels, batch=None, epochs=None):
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices((features, labels))
        if batch is None:
            return data.batch(len(labels)).repeat(epochs)
        return data.shuffle(len(labels), seed=3).repeat(epochs).batch(batch)
    return input_fn


def once(features, labels):
    return source(features, labels, epochs=1)


def quiet(folder):
    return tf.estimator.RunConfig(model_dir=str(folder), save_summary_steps=None, log_step_count_steps=None, tf_random_seed=1)


NUMBERS = [fc.numeric_column("x%d" % i) for i in range(10)]
BUCKETS = [fc.bucketized_column(c, np.linspace(0.05, 0.95, 19).tolist()) for c in NUMBERS]
SQUARES = [fc.bucketized_column(fc.numeric_column(k), np.linspace(-1.75, 1.75, 15).tolist()) for k in "ab"]


@pytest.mark.parametrize("columns", [NUMBERS, BUCKETS], ids=["numbers", "buckets"])
def test_regression_of_friedmans_problem(tmp_path, columns):
    train, test = friedman(2000, 1), friedman(1000, 2)
    made = tf.estimator.BoostedTreesRegressor(columns, 1, n_trees=40, max_depth=4, learning_rate=0.2, config=quiet(tmp_path),
                                              quantile_sketch_epsilon=0.05)
    made.train(source(*train))
    assert made.evaluate(once(*test))["average_loss"] < 0.2 * test[1].var()
    one = tf.estimator.BoostedTreesRegressor(columns, 1, n_trees=1, max_depth=4, learning_rate=1.0, config=quiet(tmp_path / "one"),
                                             quantile_sketch_epsilon=0.05)
    one.train(source(*train))
    assert one.evaluate(once(*test))["average_loss"] > 2 * made.evaluate(once(*test))["average_loss"]


@pytest.mark.parametrize("options", [{}, {"center_bias": True}, {"train_in_memory": True}, {"train_in_memory": True, "center_bias": True},
                                     {"pruning_mode": "post", "tree_complexity": 1e-4}, {"l1_regularization": 1e-4,
                                     "l2_regularization": 1e-3, "min_node_weight": 1e-3, "pruning_mode": "pre"}], ids=str)
def test_classification_of_a_checkerboard(tmp_path, options):
    train, test = checkers(2000, 1), checkers(1000, 2)
    made = tf.estimator.BoostedTreesClassifier(SQUARES, 1, n_trees=30, max_depth=4, learning_rate=0.3, config=quiet(tmp_path), **options)
    made.train(source(*train))
    found = made.evaluate(once(*test))
    assert found["accuracy"] > 0.9 and found["auc"] > 0.95, found
    linear = tf.estimator.LinearClassifier(SQUARES, config=quiet(tmp_path / "linear"))
    linear.train(source(*train), steps=50)
    assert linear.evaluate(once(*test))["accuracy"] < 0.7


def test_trees_grown_in_memory_are_those_grown_from_all_trees(tmp_path):
    train = checkers(500, 1)
    found = []
    for i, in_memory in enumerate((False, True)):
        made = tf.estimator.BoostedTreesClassifier(SQUARES, 1, n_trees=8, max_depth=3, pruning_mode="post", tree_complexity=0.001,
                                                   config=quiet(tmp_path / str(i)), train_in_memory=in_memory)
        made.train(source(*train))
        found.append([p["logits"][0] for p in made.predict(once(*train))])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-4)


def test_deep_trees_without_regularization_do_not_diverge(tmp_path):
    data = checkers(1000, 1)
    made = tf.estimator.BoostedTreesClassifier(SQUARES, 1, n_trees=60, max_depth=8, learning_rate=0.3, config=quiet(tmp_path))
    made.train(source(*data))
    assert made.evaluate(once(*data))["average_loss"] < 0.001


def test_batches_of_a_layer_are_summed(tmp_path):
    train, test = checkers(2000, 1), checkers(1000, 2)
    made = tf.estimator.BoostedTreesClassifier(SQUARES, 4, n_trees=20, max_depth=4, learning_rate=0.4, config=quiet(tmp_path))
    made.train(source(*train, batch=500))
    assert made.get_variable_value("global_step") == 20 * 4 * 4
    assert made.evaluate(once(*test))["accuracy"] > 0.9


def test_numbers_are_bucketized_by_the_first_batches(tmp_path):
    train, test = friedman(2000, 1), friedman(500, 2)
    made = tf.estimator.BoostedTreesRegressor(NUMBERS, 2, n_trees=20, max_depth=4, learning_rate=0.3, config=quiet(tmp_path),
                                              center_bias=True)
    made.train(source(*train, batch=1000))
    assert made.evaluate(once(*test))["average_loss"] < 0.35 * test[1].var()
    ends = made.get_variable_value("boosted_trees/QuantileAccumulator:0_bucket_boundaries_0")
    assert 50 < len(ends) <= 100 and (np.diff(ends) > 0).all() and ends[0] < 0.01 < 0.99 < ends[-1]


def test_several_classes(tmp_path):
    rng = np.random.RandomState(1)
    x = rng.uniform(-1, 1, [1500, 2]).astype(np.float32)
    y = (np.hypot(*x.T) * 3).astype(np.int64).clip(0, 2)
    words = np.array(["in", "mid", "out"])[y]
    features = {"x": x}
    made = tf.estimator.BoostedTreesClassifier([fc.numeric_column("x", shape=(2,))], 1, n_classes=3, n_trees=15, max_depth=4,
                                               learning_rate=0.4, config=quiet(tmp_path), label_vocabulary=["in", "mid", "out"])
    made.train(source(features, words))
    assert made.evaluate(once(features, words))["accuracy"] > 0.93
    found = next(made.predict(once(features, words)))
    assert found["probabilities"].shape == (3,) and found["classes"][0] in (b"in", b"mid", b"out")


def test_indicators_weights_and_importances(tmp_path):
    rng = np.random.RandomState(1)
    word = rng.choice(["red", "green", "blue"], [900, 1])
    x, noise = rng.uniform(size=[900, 1]).astype(np.float32), rng.uniform(size=[900, 1]).astype(np.float32)
    y = np.where(word[:, 0] == "red", 5.0, x[:, 0]).astype(np.float32)
    broken = rng.uniform(size=900) < 0.3
    features = {"word": word, "x": x, "noise": noise, "w": np.where(broken, 0, 1).astype(np.float32)[:, None]}
    columns = [fc.indicator_column(fc.categorical_column_with_vocabulary_list("word", ["red", "green", "blue"])),
               fc.bucketized_column(fc.numeric_column("x"), [0.25, 0.5, 0.75]), fc.bucketized_column(fc.numeric_column("noise"), [0.5])]
    made = tf.estimator.BoostedTreesRegressor(columns, 1, n_trees=20, max_depth=3, learning_rate=0.3, config=quiet(tmp_path),
                                              weight_column="w")
    made.train(source(features, np.where(broken, -100, y).astype(np.float32)))
    assert made.evaluate(once(features, y))["average_loss"] < 0.02
    names, values = made.experimental_feature_importances(normalize=True)
    assert names[0] == "word_indicator:red" and names[1] == "x_bucketized" and abs(values.sum() - 1) < 1e-6
    assert set(names) == {"word_indicator:red", "word_indicator:green", "word_indicator:blue", "x_bucketized", "noise_bucketized"}
    assert values[0] > 0.9 and (np.diff(values) <= 0).all()


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_explanations_add_up_to_the_prediction(tmp_path, kind):
    if kind == "classifier":
        data, key, columns, cls = checkers(500, 1), "logistic", SQUARES, tf.estimator.BoostedTreesClassifier
    else:
        data, key, columns, cls = friedman(500, 1), "predictions", BUCKETS, tf.estimator.BoostedTreesRegressor
    made = cls(columns, 1, n_trees=10, max_depth=3, center_bias=True, config=quiet(tmp_path))
    made.train(source(*data))
    for explained in made.experimental_predict_with_explanations(once(*data), predict_keys=[key]):
        assert set(explained) == {key, "bias", "dfc"}
        np.testing.assert_allclose(sum(explained["dfc"].values()) + explained["bias"], explained[key][0], rtol=1e-4, atol=1e-4)
    sizes = [abs(v) for v in explained["dfc"].values()]
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == len(columns)


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    data = checkers(800, 1)

    def made(trees):
        return tf.estimator.BoostedTreesClassifier(SQUARES, 1, n_trees=trees, max_depth=3, learning_rate=0.3, config=quiet(tmp_path / "m"))
    made(5).train(source(*data))
    before = [p["logits"][0] for p in made(5).predict(once(*data))]  # another object reads the checkpoint
    made(5).train(source(*data), steps=3)
    assert [p["logits"][0] for p in made(5).predict(once(*data))] == before  # it has all its trees
    made(12).train(source(*data))
    longer = made(12).evaluate(once(*data))
    straight = tf.estimator.BoostedTreesClassifier(SQUARES, 1, n_trees=12, max_depth=3, learning_rate=0.3, config=quiet(tmp_path / "s"))
    straight.train(source(*data))
    assert abs(longer["average_loss"] - straight.evaluate(once(*data))["average_loss"]) < 1e-4


def test_an_exported_model_predicts_the_same(tmp_path):
    features, labels = friedman(300, 1)
    made = tf.estimator.BoostedTreesRegressor(NUMBERS, 1, n_trees=5, max_depth=3, config=quiet(tmp_path))
    made.train(source(features, labels))
    wanted = [p["predictions"][0] for p in made.predict(once(features, labels))]
    path = made.export_saved_model(str(tmp_path / "export"), tf.estimator.export.build_raw_serving_input_receiver_fn(
        {k: tf.placeholder(tf.float32, [None, 1]) for k in features}))
    with tf.Session(graph=tf.Graph()) as sess:
        found = tf.saved_model.loader.load(sess, ["serve"], path.decode() if isinstance(path, bytes) else path)
        signature = found.signature_def["predict"]
        out = sess.run(signature.outputs["predictions"].name, {signature.inputs[k].name: v for k, v in features.items()})
    assert out[:, 0].tolist() == wanted


def test_a_head_of_the_program(tmp_path):
    data = checkers(1000, 1)
    made = tf.estimator.BoostedTreesEstimator(SQUARES, 1, tf.estimator.BinaryClassHead(), n_trees=20, max_depth=4, learning_rate=0.3,
                                              config=quiet(tmp_path))
    made.train(source(*data))
    assert made.evaluate(once(*data))["accuracy"] > 0.9


def test_training_in_memory_from_one_batch(tmp_path):
    train = checkers(1000, 1)
    made = tf.estimator.experimental.boosted_trees_classifier_train_in_memory(
        lambda: tf.data.Dataset.from_tensor_slices(train), SQUARES, n_trees=20, max_depth=4, learning_rate=0.3, config=quiet(tmp_path))
    assert made.evaluate(once(*train))["accuracy"] > 0.9
    features, y = friedman(500, 1)
    made = tf.estimator.experimental.boosted_trees_regressor_train_in_memory(
        lambda: (features, y), BUCKETS, n_trees=20, max_depth=3, learning_rate=0.3, config=quiet(tmp_path / "r"))
    assert made.evaluate(once(features, y))["average_loss"] < 0.3 * y.var()


def test_the_probability_is_that_of_an_own_program(tmp_path):
    """One split of one feature: the leaves are the Newton steps of each side."""
    x = np.array([[0.0], [0.0], [0.0], [1.0]], np.float32)
    y = np.array([0, 0, 1, 1])
    made = tf.estimator.BoostedTreesClassifier([fc.bucketized_column(fc.numeric_column("x"), [0.5])], 1, n_trees=2, max_depth=1,
                                               learning_rate=0.5, l2_regularization=0.1, config=quiet(tmp_path))
    made.train(source({"x": x}, y))
    logits = np.zeros(2)
    for _ in range(2):
        chance = 1 / (1 + np.exp(-logits))
        g = np.array([3 * chance[0] - 1, chance[1] - 1]) / 4
        h = np.array([3, 1]) * chance * (1 - chance) / 4
        logits -= 0.5 * g / (h + 0.1)
    found = [p["logits"][0] for p in made.predict(once({"x": x}, y))]
    np.testing.assert_allclose(found, logits[[0, 0, 0, 1]], rtol=1e-5)


@pytest.mark.parametrize("given, said", [
    ({"pruning_mode": "other"}, "pruning_mode must be one of"), ({"tree_complexity": 0.1}, "pruning"), ({"n_trees": 0}, "n_trees"),
    ({"max_depth": 0}, "max_depth"), ({"l2_regularization": -1}, "l2_regularization"), ({"quantile_sketch_epsilon": 1}, "epsilon"),
    ({"train_in_memory": True, "n_batches_per_layer": 2}, "n_batches_per_layer"), ({"n_batches_per_layer": 0}, "n_batches_per_layer"),
    ({"feature_columns": []}, "must not be empty"), ({"learning_rate": 0}, "learning_rate"),
    ({"feature_columns": [fc.categorical_column_with_hash_bucket("x", 9)]}, "only bucketized_column")], ids=str)
def test_wrong_parameters_are_errors(given, said):
    with pytest.raises(ValueError, match=said):
        tf.estimator.BoostedTreesRegressor(**{"feature_columns": NUMBERS, "n_batches_per_layer": 1, **given})


def test_explanations_need_a_bias(tmp_path):
    made = tf.estimator.BoostedTreesClassifier(SQUARES, 1, config=quiet(tmp_path))
    with pytest.raises(ValueError, match="center_bias"):
        next(made.experimental_predict_with_explanations(once(*checkers(9, 1))))
    with pytest.raises(ValueError, match="train the estimator first"):
        made.experimental_feature_importances()


def test_a_layer_that_would_take_too_much_memory_is_split_in_part(tmp_path, monkeypatch):
    from weft._core.estimator import boosted_trees
    monkeypatch.setattr(boosted_trees, "_STATS_BYTES", 5 * 8 * 2 * 17)  # five nodes
    data = checkers(1000, 1)
    made = tf.estimator.BoostedTreesClassifier(SQUARES, 1, n_trees=60, max_depth=8, learning_rate=0.3, config=quiet(tmp_path))
    made.train(source(*data))
    assert made.evaluate(once(*data))["accuracy"] > 0.85


def test_a_cluster_grows_trees_on_its_ps(tmp_path):
    hosts = ["localhost:%d" % p for p in scripts.free_ports(3)]
    cluster = {"ps": hosts[:1], "chief": hosts[1:2], "worker": hosts[2:]}
    said = run_cluster(tmp_path, cluster, [("ps", 0), ("chief", 0), ("worker", 0)], "estimator_trees.py", "2000")
    model = tf.estimator.BoostedTreesClassifier([SQUARES[0], fc.numeric_column("b")], 4, model_dir=str(tmp_path / "model"))
    names, gains = model.experimental_feature_importances(normalize=True)
    assert set(names) == {"a_bucketized", "b"} and gains.min() > 0.2, said
    data = checkers(1000, 3)
    assert model.evaluate(once(*data))["accuracy"] > 0.85, said


# ---- tf.contrib ----

def test_a_program_of_contrib(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "contrib_boosted_trees.py", str(tmp_path / "m"), cwd=tmp_path)
    assert code == 0, err
    found = dict(zip(out.split()[::2], map(float, out.split()[1::2])))
    assert found["accuracy"] > 0.93 and found["steps"] == 2 + 10 * 4 * 2, found  # a batch of 600 is two steps


def learner(**given):
    made = tf.contrib.boosted_trees.proto.learner_pb2.LearnerConfig(**given)
    made.learning_rate_tuner.fixed.learning_rate = 0.3
    made.constraints.max_tree_depth = 3
    return made


def test_the_regressor_of_contrib_fits_and_is_read_again(tmp_path):
    kind = tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeRegressor
    features, y = friedman(500, 1)
    x = np.concatenate([features["x%d" % i] for i in range(10)], 1)
    made = kind(learner(), 500, num_trees=20, model_dir=str(tmp_path))
    made.fit(x, y, batch_size=500, steps=500)
    found = np.array(list(made.predict(x, batch_size=500)))
    assert np.mean((found - y) ** 2) < 0.3 * y.var()
    again = np.array(list(kind(learner(), 500, num_trees=20, model_dir=str(tmp_path)).predict(x, batch_size=500)))
    assert again.tolist() == found.tolist()


@pytest.mark.parametrize("config, more", [
    ({"growing_mode": 1}, {}), ({"multi_class_strategy": 1}, {"n_classes": 3}), ({"weak_learner_type": 1}, {}),
    ({"feature_fraction_per_tree": 0.5}, {}), ({}, {"output_leaf_index": True}), ({}, {"override_global_step_value": 3}),
    ({}, {"logits_modifier_function": print}), ({}, {"examples_per_layer": len})], ids=str)
def test_what_is_not_there_is_named(config, more):
    kind = tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeClassifier
    name = next((k for k in more if k != "n_classes"), None) or next(iter(config))
    with pytest.raises(NotImplementedError, match=name):
        kind(learner(**config), **{"examples_per_layer": 10, **more})


def test_a_tuner_that_is_not_there_is_named():
    kind = tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeClassifier
    config = tf.contrib.boosted_trees.proto.learner_pb2.LearnerConfig()
    config.learning_rate_tuner.dropout.learning_rate = 0.1
    with pytest.raises(NotImplementedError, match="learning_rate_tuner.dropout"):
        kind(config, 10)
