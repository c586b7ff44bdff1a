"""tf.contrib.linear_optimizer, which TensorFlow 2 does not have: the same models by tf.estimator's LinearSDCA, and by hand."""
import numpy as np
import pytest

from both import oracle, weft as tf

IDS = ["a", "b", "c", "d"]
X = [[1.0], [2.0], [3.0], [4.0]]
CLASSES, NUMBERS = [[0], [0], [1], [1]], [[3.0], [5.0], [7.0], [9.0]]


def batch(labels):
    return lambda: ({"id": tf.constant(IDS), "x": tf.constant(X)}, tf.constant(labels))


@pytest.mark.parametrize("kind, labels", [("LinearRegressor", NUMBERS), ("LinearClassifier", CLASSES)])
def test_an_estimator_of_contrib_finds_the_weights_of_tensorflows_linear_sdca(tmp_path, kind, labels):
    options = {"example_id_column": "id", "symmetric_l1_regularization": 0.1, "symmetric_l2_regularization": 2.0}
    ours = getattr(tf.contrib.learn, kind)(
        feature_columns=[tf.contrib.layers.real_valued_column("x")], model_dir=str(tmp_path / "ours"),
        optimizer=tf.contrib.linear_optimizer.SDCAOptimizer(adaptive=False, **options))
    ours.fit(input_fn=batch(labels), steps=300)
    theirs = getattr(oracle.estimator, kind)(
        feature_columns=[oracle.feature_column.numeric_column("x")], model_dir=str(tmp_path / "theirs"),
        optimizer=oracle.estimator.experimental.LinearSDCA(**options))
    theirs.train(lambda: ({"id": oracle.constant(IDS), "x": oracle.constant(X)}, oracle.constant(labels)), steps=300)
    for mine, his in (("linear/x/weight", "linear/linear_model/x/weights"), ("linear/bias_weight", "linear/linear_model/bias_weights")):
        np.testing.assert_allclose(ours.get_variable_value(mine), theirs.get_variable_value(his), 2e-3, 2e-3)


def test_the_optimizer_says_what_it_was_given():
    made = tf.contrib.linear_optimizer.SDCAOptimizer("id", 2, 3, 0.5, 1.5, False, "pieces")
    assert (made.get_name(), made.example_id_column, made.num_loss_partitions, made.num_table_shards) == ("SDCAOptimizer", "id", 2, 3)
    assert (made.symmetric_l1_regularization, made.symmetric_l2_regularization, made.adaptive) == (0.5, 1.5, False)
    assert made.partitioner == "pieces"


def model(loss_type, labels, **options):
    """A model of one sparse and one dense feature, and its examples and variables."""
    sparse = tf.contrib.linear_optimizer.SparseFeatureColumn([0, 1, 2, 2], [0, 1, 0, 2], None)
    examples = {"sparse_features": [sparse], "dense_features": [[[1.0], [0.5], [2.0]]], "example_labels": labels,
                "example_weights": [1.0, 2.0, 1.0], "example_ids": ["p", "q", "r"]}
    variables = {"sparse_features_weights": [tf.Variable(tf.zeros([3]), name="words")],
                 "dense_features_weights": [tf.Variable(tf.zeros([1]), name="number")]}
    given = {"symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0, "loss_type": loss_type, **options}
    return tf.contrib.linear_optimizer.SdcaModel(examples, variables, given), examples, variables


@pytest.mark.parametrize("loss_type, labels", [("squared_loss", [1.0, -2.0, 3.0]), ("logistic_loss", [1.0, 0.0, 1.0]),
                                               ("hinge_loss", [1.0, 0.0, 1.0])])
def test_a_model_reaches_the_least_loss(loss_type, labels):
    """No other weights nearby have a smaller regularized loss, and the gap closes."""
    with tf.Graph().as_default():
        made, examples, variables = model(loss_type, labels, num_table_shards=2)
        step = tf.train.create_global_step()
        train = made.minimize(global_step=step)
        update, loss, gap = made.update_weights(train), made.regularized_loss(examples), made.approximate_duality_gap()
        words, number = variables["sparse_features_weights"][0], variables["dense_features_weights"][0]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(400):
                sess.run(update)
            assert sess.run(step) == 400
            # With hinge losses TensorFlow's op keeps an old dual loss of examples that no longer change, as ours does.
            assert loss_type == "hinge_loss" or abs(sess.run(gap)) < 1e-3
            best, at = sess.run(loss), sess.run([words, number])
            for i in range(4):
                for by in (-0.01, 0.01):
                    moved = np.concatenate(at)
                    moved[i] += by
                    words.load(moved[:3], sess), number.load(moved[3:], sess)
                    assert sess.run(loss) > best - 1e-6
            words.load(at[0], sess), number.load(at[1], sess)
            linear = np.array([at[0][0], at[0][1], at[0][0] + at[0][2]]) + np.array([1.0, 0.5, 2.0]) * at[1]
            wanted = 1 / (1 + np.exp(-linear)) if loss_type == "logistic_loss" else linear
            np.testing.assert_allclose(sess.run(made.predictions(examples)), wanted, 1e-5, 1e-6)


@pytest.mark.parametrize("options, message", [
    ({"loss_type": "huber"}, "Unsupported loss_type: huber"),
    ({"symmetric_l2_regularization": 0.0}, "symmetric_l2_regularization should be positive"),
    ({"symmetric_l1_regularization": -1.0}, "symmetric_l1_regularization should be non-negative")])
def test_wrong_options_are_named(options, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        model(options.pop("loss_type", "squared_loss"), [1.0, 2.0, 3.0], **options)


def test_a_missing_key_is_named():
    with pytest.raises(ValueError, match="example_labels is missing in examples"):
        tf.contrib.linear_optimizer.SdcaModel({"sparse_features": []}, {}, {})
