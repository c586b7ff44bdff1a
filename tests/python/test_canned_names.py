"""The names of what the ready-made estimators predict, export, measure and train: a program that loads a SavedModel may fetch by name."""
import pytest

from both import oracle, weft


def estimator(tf, kind):
    columns, made = tf.feature_column, tf.estimator
    x = [columns.numeric_column("x")]
    words = [columns.categorical_column_with_vocabulary_list("s", ["u", "v"])]
    return {"dnn": lambda: made.DNNClassifier([3], x), "dnn of three": lambda: made.DNNClassifier([3], x, n_classes=3),
            "dnn of words": lambda: made.DNNClassifier([3], x, label_vocabulary=["a", "b"]),
            "dnn of three words": lambda: made.DNNClassifier([3], x, n_classes=3, label_vocabulary=["a", "b", "c"]),
            "dnn regressor": lambda: made.DNNRegressor([3], x, label_dimension=2), "linear": lambda: made.LinearClassifier(x + words),
            "linear of three": lambda: made.LinearClassifier(words, n_classes=3),
            "linear regressor": lambda: made.LinearRegressor(x + words),
            "both": lambda: made.DNNLinearCombinedClassifier(linear_feature_columns=words, dnn_hidden_units=[2],
                                                             dnn_feature_columns=x + [columns.embedding_column(words[0], 2)]),
            "both regressor": lambda: made.DNNLinearCombinedRegressor(linear_feature_columns=words, dnn_hidden_units=[2],
                                                                      dnn_feature_columns=x),
            "baseline": lambda: made.BaselineClassifier(), "baseline of three": lambda: made.BaselineClassifier(n_classes=3),
            "baseline regressor": lambda: made.BaselineRegressor()}[kind]()


def named(value):
    if isinstance(value, dict):
        return {k: named(v) for k, v in value.items()}
    return [named(v) for v in value] if isinstance(value, (list, tuple)) else getattr(value, "name", value)


def names(tf, kind, mode):
    with tf.Graph().as_default():
        made = estimator(tf, kind)
        features = {"x": tf.placeholder(tf.float32, [None, 1]), "s": tf.placeholder(tf.string, [None, 1])}
        label = tf.float32 if "regressor" in kind else tf.string if "words" in kind else tf.int64
        labels = None if mode == "infer" else tf.placeholder(label, [None, 2 if kind == "dnn regressor" else 1])
        tf.train.get_or_create_global_step()
        spec = made.model_fn(features, labels, mode, made.config)
        exports = {k: [named(getattr(v, part, None)) for part in ("outputs", "scores", "classes", "value")]
                   for k, v in (spec.export_outputs or {}).items()}
        return (named(spec.predictions), exports, named(spec.loss), named(spec.eval_metric_ops), named(spec.train_op),
                sorted(v.name for v in tf.global_variables() + tf.local_variables()))


@pytest.mark.parametrize("kind", ["dnn", "dnn of three", "dnn of words", "dnn of three words", "dnn regressor", "linear", "linear of three",
                                  "linear regressor", "both", "both regressor", "baseline", "baseline of three", "baseline regressor"])
@pytest.mark.parametrize("mode", ["infer", "eval", "train"])
def test_what_an_estimator_makes_has_tensorflows_names(kind, mode):
    for ours, theirs in zip(names(weft, kind, mode), names(oracle, kind, mode), strict=True):
        assert ours == theirs
