"""Ready-made estimators: the same numbers as TensorFlow's from the same seed, checkpoints and exports that it reads."""
import os
import re
import shutil

import numpy as np
import pytest

import scripts
import weft
from both import compare, oracle

X = np.random.RandomState(0).rand(20, 2).astype(np.float32)
H = np.array([["a"], ["b"]] * 10)
W = np.arange(1, 21, dtype=np.float32) / 10
TWO, THREE = (X[:, 0] > 0.5).astype(np.int64), (X[:, 0] * 3).astype(np.int64)


def columns(tf):
    c = tf.feature_column
    h = c.categorical_column_with_hash_bucket("h", 10)
    return c.numeric_column("x", shape=[2]), h, c.embedding_column(h, 3)


def dnn(tf, **more):
    x, _, emb = columns(tf)
    return tf.estimator.DNNClassifier(feature_columns=[x, emb], hidden_units=[4, 3], **more), TWO


def three(tf, **more):
    return tf.estimator.DNNClassifier(feature_columns=[columns(tf)[0]], hidden_units=[4], n_classes=3, optimizer="Adam", **more), THREE


def linear(tf, **more):
    return tf.estimator.LinearClassifier(feature_columns=columns(tf)[:2], weight_column="w", **more), TWO


def words(tf, **more):
    return tf.estimator.LinearClassifier(feature_columns=columns(tf)[:1], n_classes=3, label_vocabulary=["p", "q", "r"], **more), \
        np.array(["p", "q", "r"])[THREE]


def combined(tf, **more):
    x, h, emb = columns(tf)
    return tf.estimator.DNNLinearCombinedClassifier(linear_feature_columns=[x, h], dnn_feature_columns=[x, emb],
                                                    dnn_hidden_units=[4], **more), TWO


def regressor(tf, **more):
    return tf.estimator.DNNRegressor(feature_columns=[columns(tf)[0]], hidden_units=[4], **more), X[:, :1]


def line(tf, **more):
    return tf.estimator.LinearRegressor(feature_columns=[columns(tf)[0]], **more), X[:, :1]


def inputs(tf, labels, epochs):
    return tf.estimator.inputs.numpy_input_fn({"x": X, "h": H, "w": W}, labels, batch_size=10, num_epochs=epochs, shuffle=False)


def normalized(tf, **more):
    return tf.estimator.DNNClassifier(feature_columns=[columns(tf)[0]], hidden_units=[4], batch_norm=True, dropout=0.3,
                                      optimizer="RMSProp", **more), TWO


def followed(tf, **more):
    return tf.estimator.DNNRegressor(feature_columns=[columns(tf)[0]], hidden_units=[4], optimizer="Ftrl", **more), X[:, :1]


def descended(tf, **more):
    return tf.estimator.LinearRegressor(feature_columns=columns(tf)[:2], optimizer="SGD", **more), X[:, :1]


def given(tf, **more):
    return tf.estimator.LinearClassifier(feature_columns=columns(tf)[:2], optimizer=tf.train.AdamOptimizer(0.1), **more), TWO


def both_regress(tf, **more):
    x, h, emb = columns(tf)
    return tf.estimator.DNNLinearCombinedRegressor(linear_feature_columns=[x, h], dnn_feature_columns=[emb], dnn_hidden_units=[4, 2],
                                                   **more), X[:, :1]


def base(tf, **more):
    return tf.estimator.BaselineClassifier(**more), TWO


def base_of_three(tf, **more):
    return tf.estimator.BaselineClassifier(n_classes=3, optimizer="Adam", **more), THREE


def mean(tf, **more):
    return tf.estimator.BaselineRegressor(**more), X[:, :1]


def trained(tf, make, folder, steps):
    """The estimator after some steps, its labels, and the variables of its checkpoint: optimizers' slots, too."""
    estimator, labels = make(tf, model_dir=str(folder), config=tf.estimator.RunConfig(tf_random_seed=4))
    estimator.train(inputs(tf, labels, None), steps=steps)
    return estimator, labels, {v: estimator.get_variable_value(v) for v in estimator.get_variable_names()}


def same_variables(ours, theirs):
    assert ours.keys() == theirs.keys()
    for key in ours:
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-3, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("make", [dnn, three, linear, words, combined, regressor, line, normalized, followed, descended, given,
                                  both_regress, base, base_of_three, mean])
def test_training_evaluation_and_prediction_agree(tmp_path, make):
    """Each system trains, and goes on where the other one stopped: its checkpoints restore."""
    for tf in (weft, oracle):
        trained(tf, make, tmp_path / tf.__name__, 2)
    shutil.copytree(tmp_path / weft.__name__, tmp_path / "turn")
    os.rename(tmp_path / oracle.__name__, tmp_path / "own")
    shutil.copytree(tmp_path / "own", tmp_path / "other")
    relocated(tmp_path / "turn"), relocated(tmp_path / "own"), relocated(tmp_path / "other")
    ours, theirs = trained(weft, make, tmp_path / "own", 2), trained(oracle, make, tmp_path / "other", 2)
    same_variables(ours[2], theirs[2])
    same_variables(trained(oracle, make, tmp_path / "turn", 2)[2], theirs[2])
    found = [(e.evaluate(inputs(tf, labels, 1)), list(e.predict(inputs(tf, labels, 1)))[:3])
             for tf, (e, labels, _) in ((weft, ours), (oracle, theirs))]
    assert found[0][0].keys() == found[1][0].keys()
    for key in found[0][0]:
        np.testing.assert_allclose(found[0][0][key], found[1][0][key], rtol=1e-3, atol=1e-5, err_msg=key)
    compare(found[0][1], found[1][1], 1e-4)


def relocated(folder):
    """A state file may name checkpoints by their whole path: by name alone, they are found in the folder."""
    state = folder / "checkpoint"
    state.write_text(re.sub('"/[^"]*/', '"', state.read_text()))


def test_an_export_that_parses_examples_answers_in_tensorflow(tmp_path):
    estimator, labels = dnn(weft, model_dir=str(tmp_path / "m"))
    estimator.train(inputs(weft, labels, None), steps=2)
    spec = weft.feature_column.make_parse_example_spec(columns(weft))
    path = estimator.export_savedmodel(str(tmp_path / "out"), weft.estimator.export.build_parsing_serving_input_receiver_fn(spec))
    rows = list(estimator.predict(inputs(weft, labels, 1)))
    example = oracle.train.Example()
    example.features.feature["x"].float_list.value.extend(X[0])
    example.features.feature["h"].bytes_list.value.extend([b"a"])
    with oracle.Graph().as_default(), oracle.Session() as sess:
        meta = oracle.saved_model.loader.load(sess, ["serve"], path.decode())
        assert sorted(meta.signature_def) == ["classification", "predict", "regression", "serving_default"]
        signature = meta.signature_def["serving_default"]
        scores, classes = sess.run([signature.outputs["scores"].name, signature.outputs["classes"].name],
                                   {signature.inputs["inputs"].name: [example.SerializeToString()]})
    compare(scores[0], rows[0]["probabilities"], 1e-5)
    assert list(classes[0]) == [b"0", b"1"] and os.path.isdir(path)


def test_areas_under_precision_and_recall_agree():
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            rows = [tf.metrics.auc(tf.constant(TWO), tf.constant(X[:, 1]), tf.constant(W), curve="PR", summation_method=m)
                    for m in ("trapezoidal", "careful_interpolation")]
            sess.run(tf.local_variables_initializer())
            found.append([sess.run([u for _, u in rows]), sess.run([v for v, _ in rows])])
    compare(found[0], found[1], 1e-4)


def test_an_experiment_of_contrib_learn_trains_and_evaluates(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "experiment.py", str(tmp_path / "model"), cwd=tmp_path)
    assert code == 0, err
    assert float(re.search(r"'off': ([\d.e-]+)", out).group(1)) < 0.05, out
    assert "INFO:tensorflow:Evaluation [2/2]" in err


def test_columns_of_contrib_layers_feed_a_classifier(tmp_path):
    c = weft.contrib.layers
    wide = [c.sparse_column_with_hash_bucket("h", hash_bucket_size=10), c.bucketized_column(c.real_valued_column("w"), boundaries=[1.]),
            c.sparse_column_with_keys(column_name="k", keys=["a", "b"])]
    model = weft.contrib.learn.DNNLinearCombinedClassifier(
        model_dir=str(tmp_path), linear_feature_columns=wide, dnn_feature_columns=[c.embedding_column(wide[0], dimension=2)],
        dnn_hidden_units=[3], linear_optimizer=weft.train.FtrlOptimizer(0.5))
    made = weft.estimator.inputs.numpy_input_fn({"h": H, "w": W, "k": H}, (H[:, 0] == "a").astype(np.int64), batch_size=20,
                                                num_epochs=None, shuffle=False)
    model.fit(input_fn=made, steps=50)
    assert model.evaluate(made, steps=1)["accuracy"] == 1
    assert c.crossed_column(wide[:2], hash_bucket_size=5).name == "h_X_w_bucketized"
    with pytest.raises(ValueError, match="categorical_column_with_hash_bucket is not supported for crossing"):
        weft.feature_column.crossed_column(wide[:2], hash_bucket_size=5)
