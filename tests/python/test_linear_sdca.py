"""LinearSDCA trains linear estimators to TensorFlow's weights."""
import numpy as np
import pytest

from both import oracle, weft as ours

IDS = ["a", "b", "c", "d"]
X = [[1.0], [2.0], [3.0], [4.0]]
CLASSES, NUMBERS = [[0], [0], [1], [1]], [[3.0], [5.0], [7.0], [9.0]]


def trained(tf, folder, kind, columns, features, labels, steps=300, weight_column=None, more=None, **options):
    """The variables of an estimator, without the tables and the step, and its evaluation."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    made = getattr(tf.estimator, kind)(
        feature_columns=columns(tf.feature_column), model_dir=str(folder / tf.__name__.split(".")[0]), weight_column=weight_column,
        optimizer=tf.estimator.experimental.LinearSDCA(example_id_column="id", **options),
        config=tf.estimator.RunConfig(tf_random_seed=1), **(more or {}))

    def batch():
        return {name: tf.constant(v) for name, v in {"id": IDS, **features}.items()}, tf.constant(labels)
    made.train(batch, steps=steps)
    found = {name: made.get_variable_value(name) for name in made.get_variable_names()}
    tables = {name: v for name, v in found.items() if name.startswith("ShardedMutableHashTable")}
    states = np.concatenate([v for name, v in sorted(tables.items()) if name.endswith("-values")])
    kept = {name: v for name, v in found.items() if name not in tables}
    return sorted(tables), np.sort(states[states[:, 3] != 0], 0)[:, 0], kept, made.evaluate(batch, steps=1)


def check(found, tolerance=2e-3):
    (names, states, kept, said), (names2, states2, kept2, said2) = found
    assert names == names2
    np.testing.assert_allclose(states, states2, tolerance, tolerance)
    assert kept.keys() == kept2.keys()
    for name in kept:
        np.testing.assert_allclose(kept[name], kept2[name], tolerance, tolerance, err_msg=name)
    assert said.keys() == said2.keys()
    for name in said:
        np.testing.assert_allclose(said[name], said2[name], 5e-3, 5e-3, err_msg=name)


NAMES = [["p"], ["q"], ["p"], ["r"]]
CASES = {
    "numbers": ("LinearRegressor", lambda fc: [fc.numeric_column("x"), fc.numeric_column("z", shape=[2])],
                {"x": X, "z": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]}, NUMBERS, {}),
    "words": ("LinearClassifier", lambda fc: [fc.numeric_column("x"), fc.categorical_column_with_vocabulary_list("s", ["p", "q"])],
              {"x": X, "s": NAMES}, CLASSES, {}),
    "weights and both penalties": (
        "LinearClassifier", lambda fc: [fc.categorical_column_with_hash_bucket("s", 5),
                                        fc.bucketized_column(fc.numeric_column("x"), [1.5, 2.5])],
        {"x": X, "s": NAMES, "w": [[1.0], [2.0], [3.0], [0.5]]}, CLASSES,
        {"weight_column": "w", "symmetric_l1_regularization": 0.1, "symmetric_l2_regularization": 2.0, "num_loss_partitions": 2}),
    "weighted categories, some twice": (
        "LinearRegressor", lambda fc: [fc.weighted_categorical_column(fc.categorical_column_with_identity("s", 3), "sw")],
        {"s": [[0, 1], [1, 1], [2, 0], [0, 0]], "sw": [[1.0, 2.0], [2.0, 0.5], [0.5, 1.0], [3.0, 1.0]]}, NUMBERS, {}),
    "categories twice": ("LinearRegressor", lambda fc: [fc.categorical_column_with_identity("s", 3)],
                         {"s": [[0, 1], [1, 1], [2, 0], [0, 0]]}, NUMBERS, {}),
    "several tables, adaptive": ("LinearRegressor", lambda fc: [fc.numeric_column("x")], {"x": X}, NUMBERS,
                                 {"num_table_shards": 3, "adaptive": True, "steps": 600}),
}


@pytest.mark.parametrize("name", CASES)
def test_weights_are_tensorflows(name, tmp_path):
    kind, columns, features, labels, more = CASES[name]
    check([trained(tf, tmp_path, kind, columns, features, labels, **more) for tf in (ours, oracle)])


def test_training_goes_on_from_a_checkpoint(tmp_path):
    kind, columns, features, labels, _ = CASES["numbers"]
    found = [trained(ours, tmp_path / folder, kind, columns, features, labels, steps=n)
             for folder, n in (("a", 1), ("a", 299), ("b", 300))]
    assert int(found[1][2]["global_step"]) == 300
    check(found[1:])


@pytest.mark.parametrize("kind, labels, more, text", [
    ("LinearClassifier", [[0], [0], [1], [2]], {"n_classes": 3}, "LinearSDCA cannot be used in a multi-class setting."),
    ("LinearRegressor", [[1.0, 2.0]] * 4, {"label_dimension": 2}, "LinearSDCA can only be used with one-dimensional label."),
    ("LinearRegressor", NUMBERS, {"sparse_combiner": "mean"}, "sparse_combiner must be \"sum\""),
])
def test_what_it_cannot_train_is_refused(kind, labels, more, text, tmp_path):
    for tf in (ours, oracle):
        with pytest.raises(ValueError, match=text):
            trained(tf, tmp_path, kind, lambda fc: [fc.numeric_column("x")], {"x": X}, labels, more=more)


@pytest.mark.parametrize("given", [{"symmetric_l1_regularization": -1.0}, {"symmetric_l2_regularization": 0.0}], ids=str)
def test_wrong_regularizations_are_refused(given, tmp_path):
    for tf in (ours, oracle):
        with pytest.raises(ValueError, match=next(iter(given))):
            trained(tf, tmp_path, "LinearRegressor", lambda fc: [fc.numeric_column("x")], {"x": X}, NUMBERS, **given)
