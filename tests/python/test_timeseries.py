"""tf.contrib.timeseries, which TensorFlow 2.15 lacks: programs in the style of its examples, and figures computed by hand."""
import glob

import numpy as np
import pytest

import weft as tf

series = tf.contrib.timeseries
TIMES, VALUES = series.TrainEvalFeatures.TIMES, series.TrainEvalFeatures.VALUES
CONFIG = tf.estimator.RunConfig(tf_random_seed=5)


def wave(count=300, period=20):
    at = np.arange(count)
    return at, 5 * np.sin(2 * np.pi * at / period) + 0.1 * at + 20


def written(path, columns, header=None):
    lines = [",".join("%s" % c for c in row) for row in zip(*columns)]
    path.write_text("\n".join(([header] if header else []) + lines) + "\n")
    return str(path)


def fetched(input_fn, times=1):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        features, labels = input_fn()
        assert labels is None
        with tf.Session() as sess:
            return [sess.run(features) for _ in range(times)]


@pytest.mark.parametrize("loss", [series.ARModel.SQUARED_LOSS, series.ARModel.NORMAL_LIKELIHOOD_LOSS])
def test_a_wave_with_a_trend_is_continued(loss, tmp_path):
    at, values = wave()
    reader = series.CSVReader(written(tmp_path / "wave.csv", [at, values]))
    model = series.ARRegressor(periodicities=20, input_window_size=25, output_window_size=5, num_features=1, loss=loss,
                               optimizer=tf.train.AdamOptimizer(0.01), model_dir=str(tmp_path / "model"), config=CONFIG)
    model.train(series.RandomWindowInputFn(reader, window_size=30, batch_size=16, shuffle_seed=3), steps=600)
    evaluation = model.evaluate(series.WholeDatasetInputFn(reader), steps=1)
    assert evaluation["mean"].shape == (1, 275, 1) and evaluation["covariance"].shape == (1, 275, 1, 1)
    np.testing.assert_array_equal(evaluation["times"][0], at[25:])
    np.testing.assert_allclose(evaluation["observed"][0, :, 0], values[25:], rtol=1e-4)
    assert np.abs(evaluation["mean"][0, :, 0] - values[25:]).mean() < 1
    prediction, = model.predict(series.predict_continuation_input_fn(evaluation, steps=12))
    np.testing.assert_array_equal(prediction["times"], np.arange(300, 312))
    assert prediction["mean"].shape == (12, 1) and prediction["covariance"].shape == (12, 1, 1)
    assert np.abs(prediction["mean"][:, 0] - wave(312)[1][300:]).mean() < 2
    assert np.all(prediction["covariance"] > 0)


def test_several_variables_and_a_saved_model(tmp_path):
    at, values = wave(200)
    file = written(tmp_path / "two.csv", [at, values, -2 * values], header="time,a,b")
    reader = series.CSVReader([file], column_names=(TIMES, VALUES, VALUES), skip_header_lines=1)
    model = series.ARRegressor([20, 7], 10, 2, 2, num_time_buckets=4, hidden_layer_sizes=[8], model_dir=str(tmp_path / "model"),
                               config=CONFIG)
    model.train(series.RandomWindowInputFn(reader, window_size=12, batch_size=4), steps=20)
    evaluation = model.evaluate(series.WholeDatasetInputFn(reader), steps=1)
    assert evaluation["covariance"].shape == (1, 190, 2, 2)
    assert not np.any(evaluation["covariance"][..., 0, 1])
    prediction, = model.predict(series.predict_continuation_input_fn(evaluation, times=np.arange(200, 207)))
    exported = model.export_saved_model(str(tmp_path / "saved"), model.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as sess:
        signatures = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], exported)
        served = series.saved_model_utils.predict_continuation(evaluation, signatures, sess, steps=7)
    np.testing.assert_array_equal(served["times"][0], prediction["times"])
    np.testing.assert_allclose(served["mean"][0], prediction["mean"], rtol=1e-5)
    np.testing.assert_allclose(served["covariance"][0], prediction["covariance"], rtol=1e-5)


def test_figures_of_a_linear_model(tmp_path):
    """Each prediction is the layer's product with the scaled values of the window before."""
    at, values = wave(40)
    reader = series.NumpyReader({TIMES: at, VALUES: values})
    model = series.ARRegressor([], 3, 2, 1, loss=series.ARModel.SQUARED_LOSS, model_dir=str(tmp_path), config=CONFIG)
    model.train(series.RandomWindowInputFn(reader, 5, 8, jitter=False), steps=30)
    found = model.evaluate(series.WholeDatasetInputFn(reader), steps=1)
    count, mean, squares, kernel, bias = (model.get_variable_value(name) for name in (
        "input_statistics/count", "input_statistics/mean", "input_statistics/squares", "predicted_mean/kernel", "predicted_mean/bias"))
    assert count == 30 * 8 * 5
    scale = np.sqrt(squares / count)
    scaled = (values - mean) / scale
    first = 40 - 3 - 36  # 18 windows of output end at the last value
    expected = np.concatenate([scaled[i:i + 3] @ kernel + bias for i in range(first, 37, 2)]) * scale + mean
    np.testing.assert_allclose(found["mean"][0, :, 0], expected, rtol=1e-4)
    np.testing.assert_allclose(found["loss"], np.mean((expected - values[first + 3:]) ** 2), rtol=1e-4)
    np.testing.assert_array_equal(found["start_tuple"][0][0], at[-3:])
    one, = model.predict(series.predict_continuation_input_fn(found, steps=3))
    window = list(scaled[-3:])
    for _ in range(2):
        window += list(np.array(window[-3:]) @ kernel + bias)
    np.testing.assert_allclose(one["mean"][:, 0], np.array(window[3:6]) * scale + mean, rtol=1e-4)


def test_windows():
    at = np.arange(50) * 3
    reader = series.NumpyReader({TIMES: at, VALUES: np.stack([at, -at], 1).astype(np.float32)})
    for batch in fetched(series.RandomWindowInputFn(reader, 8, 6), 5):
        assert batch[TIMES].shape == (6, 8) and batch[VALUES].shape == (6, 8, 2)
        assert np.all(np.diff(batch[TIMES]) == 3)
        np.testing.assert_array_equal(batch[VALUES][..., 0], batch[TIMES])
    fixed = fetched(series.RandomWindowInputFn(reader, 8, 6, jitter=False, discard_out_of_order=False), 9)
    assert {t % 24 for batch in fixed for t in batch[TIMES][:, 0]} != {0} and any(np.any(np.diff(b[TIMES]) < 0) for b in fixed)
    whole, = fetched(series.WholeDatasetInputFn(reader))
    np.testing.assert_array_equal(whole[TIMES], at[None])
    assert whole[VALUES].shape == (1, 50, 2)


def test_columns_of_files(tmp_path):
    file = written(tmp_path / "a.csv", [[1, 2], [0.5, 1.5], ["x", "y"]])
    more = written(tmp_path / "b.csv", [[3], [2.5], ["z"]])
    reader = series.CSVReader([file, more], (TIMES, VALUES, "kind"), (tf.int64, tf.float64, tf.string), read_num_records_hint=1)
    found, = fetched(series.WholeDatasetInputFn(reader))
    np.testing.assert_array_equal(found[TIMES], [[1, 2, 3]])
    assert found[VALUES].tolist() == [[[0.5], [1.5], [2.5]]] and found[VALUES].dtype == np.float64
    assert found["kind"].tolist() == [[b"x", b"y", b"z"]]


def test_what_is_refused_is_said(tmp_path):
    for give, said in (({"column_names": (TIMES,)}, "values"), ({"column_names": (TIMES, TIMES, VALUES)}, "more than one"),
                       ({"column_dtypes": (tf.int64,)}, "column_dtypes")):
        with pytest.raises(ValueError, match=said):
            series.CSVReader("f", **give)
    with pytest.raises(ValueError, match="squared_loss|SQUARED_LOSS"):
        series.ARRegressor(5, 3, 2, 1, loss="other")
    for parameter in ("exogenous_feature_columns", "anomaly_prior_probability", "anomaly_distribution"):
        with pytest.raises(NotImplementedError, match=parameter):
            series.ARRegressor(5, 3, 2, 1, **{parameter: 0.5})
    with pytest.raises(ValueError, match="either steps or times"):
        series.predict_continuation_input_fn({TIMES: np.zeros([1, 3], np.int64)})
    reader = series.NumpyReader({TIMES: [1, 2, 3, 4, 5, 6], VALUES: [1.0] * 6})
    model = series.ARRegressor(5, 3, 2, 1, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="window_size"):
        model.train(series.RandomWindowInputFn(reader, 6, 2), steps=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dropped"):
        fetched(series.RandomWindowInputFn(reader, 7, 2, jitter=False, discard_consecutive_batches_limit=5))
    assert not glob.glob(str(tmp_path / "*ckpt*"))
