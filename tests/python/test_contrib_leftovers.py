"""tf.contrib.feature_column, learn.models, files of MNIST, and names of contrib.distribute, keras, autograph and checkpoint."""
import gzip
import json

import numpy as np
import pytest

import weft as tf
from both import oracle


def ran(tf, make):
    with tf.Graph().as_default(), tf.Session() as sess:
        made = make()
        names = [v.name for v in tf.global_variables()]
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(made), names


# ---- feature_column ----

def sequence_columns(tf, f):
    """The features, and an indicator, an embedding and numbers of sequences."""
    words = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "x"], [3, 2])
    numbers = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [2, 0]], [1., 2., 3., 4.], [3, 4])
    ids = f.sequence_categorical_column_with_vocabulary_list("w", ["a", "b", "c"], num_oov_buckets=1)
    return {"w": words, "n": numbers}, [
        tf.feature_column.indicator_column(ids), tf.feature_column.embedding_column(ids, 2, initializer=tf.ones_initializer()),
        f.sequence_numeric_column("n", shape=2, default_value=9.)]


def test_a_sequence_input_layer_computes_what_sequence_features_does():
    f = tf.contrib.feature_column
    (made, lengths), names = ran(tf, lambda: f.sequence_input_layer(*sequence_columns(tf, f)))

    def expected():
        features, columns = sequence_columns(oracle, oracle.feature_column)
        return oracle.keras.experimental.SequenceFeatures(columns)(features)
    (wanted, expected_lengths), _ = ran(oracle, expected)
    np.testing.assert_array_equal(made, wanted)
    np.testing.assert_array_equal(lengths, expected_lengths)
    assert lengths.tolist() == [2, 0, 1] and names == ["sequence_input_layer/w_embedding/embedding_weights:0"]


def test_a_sequence_input_layer_is_trained_and_joins_collections():
    with tf.Graph().as_default(), tf.Session() as sess:
        f = tf.contrib.feature_column
        features, (_, embedding, _) = sequence_columns(tf, f)
        steps, lengths = f.sequence_input_layer(features, [embedding], weight_collections=["mine"])
        frozen, _ = f.sequence_input_layer(features, embedding, trainable=False)
        assert [v.name for v in tf.get_collection("mine")] == ["sequence_input_layer/w_embedding/embedding_weights:0"]
        assert tf.trainable_variables() == tf.get_collection("mine") and frozen.shape[1:].as_list()[-1] == 2
        _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.reshape(steps, [3, -1, 2]), sequence_length=lengths, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(state, 1) - [[1.], [2.], [3.]]))
        step = tf.train.AdamOptimizer(0.05).minimize(loss)
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        before = sess.run(loss)
        for _ in range(40):
            sess.run(step)
        assert sess.run(loss) < 0.5 * before


def test_sequences_share_a_table_and_must_have_one_length():
    f = tf.contrib.feature_column

    def columns():
        a, b = (f.sequence_categorical_column_with_identity(k, 3) for k in "ab")
        return tf.feature_column.shared_embedding_columns([a, b], 2, initializer=tf.ones_initializer())

    def made(b):
        ids = tf.SparseTensor([[0, 0], [1, 0]], tf.constant([1, 2], tf.int64), [2, 2])
        return f.sequence_input_layer({"a": ids, "b": tf.SparseTensor(b, tf.constant([1, 2], tf.int64), [2, 2])}, columns())
    (found, lengths), names = ran(tf, lambda: made([[0, 0], [1, 0]]))
    assert names == ["sequence_input_layer/a_b_shared_embedding/embedding_weights:0"] and lengths.tolist() == [1, 1]
    assert found.shape == (2, 2, 4)
    with pytest.raises(tf.errors.InvalidArgumentError):
        ran(tf, lambda: made([[0, 0], [0, 1]]))
    plain = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("a", 3), 2)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="sequence_categorical_column_with_"):
        f.sequence_input_layer({"a": tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])}, [plain])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="embedding_column or indicator_column"):
        f.sequence_input_layer({}, [f.sequence_categorical_column_with_identity("a", 3)])


# ---- learn.models ----

@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_regressions_learn(kind):
    rng = np.random.RandomState(1)
    x = rng.randn(60, 3).astype(np.float32)
    y = (x @ [1., -2., 0.5] + 1).astype(np.float32)
    y = y if kind == "linear" else np.eye(2, dtype=np.float32)[(y > 0).astype(int)]
    models = tf.contrib.learn.models
    with tf.Graph().as_default(), tf.Session() as sess:
        predictions, loss = getattr(models, kind + "_regression_zero_init")(tf.constant(x), tf.constant(y))
        scope = kind + "_regression"
        assert [v.name for v in tf.global_variables()] == [scope + "/weights:0", scope + "/bias:0"]
        assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 4
        step = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
        sess.run(tf.global_variables_initializer())
        first, at_start = sess.run([loss, predictions])
        assert not at_start.any() if kind == "linear" else abs(first - np.log(2)) < 1e-6
        for _ in range(60):
            sess.run(step)
        last, found = sess.run([loss, predictions])
        assert found.shape == y.shape and last < 0.35 * first


def test_a_logistic_regression_weighs_classes():
    x, y, weight = np.float32([[1., 2.]]), np.float32([[0., 1.]]), np.float32([2., 3.])

    regression = tf.contrib.learn.models.logistic_regression
    for named, given, factors in ((False, None, 1.), (True, None, weight), (False, tf.constant, weight)):
        def build(named=named, given=given):
            if named:
                tf.constant(weight, name="class_weight")
            with tf.variable_scope("", initializer=tf.ones_initializer()):
                return regression(tf.constant(x), tf.constant(y), given and given(weight))
        (found, loss), _ = ran(tf, build)
        logits = np.float32([4., 4.]) * factors
        expected = np.exp(logits - logits.max())
        expected /= expected.sum()
        np.testing.assert_allclose(found[0], expected, rtol=1e-5)
        np.testing.assert_allclose(loss, -np.log(expected[1]), rtol=1e-4, atol=1e-5)


# ---- MNIST ----

def idx(magic, sizes, data):
    return gzip.compress(magic.to_bytes(4, "big") + np.array(sizes, ">i4").tobytes() + data)


def test_files_of_mnist_are_extracted(tmp_path, capsys):
    mnist = tf.contrib.learn.datasets.mnist
    (tmp_path / "i.gz").write_bytes(idx(2051, [3, 2, 4], bytes(range(24))))
    (tmp_path / "l.gz").write_bytes(idx(2049, [3], bytes([1, 0, 2])))
    (tmp_path / "cut.gz").write_bytes(idx(2051, [3, 2, 4], bytes(range(20))))
    with tf.gfile.Open(str(tmp_path / "i.gz"), "rb") as f:
        images = mnist.extract_images(f)
    np.testing.assert_array_equal(images, np.arange(24, dtype=np.uint8).reshape(3, 2, 4, 1))
    with open(str(tmp_path / "l.gz"), "rb") as f:
        np.testing.assert_array_equal(mnist.extract_labels(f, one_hot=True, num_classes=4), np.eye(4)[[1, 0, 2]])
    with open(str(tmp_path / "l.gz"), "rb") as f:
        labels = mnist.extract_labels(f)
    assert images.dtype == labels.dtype == np.uint8 and labels.tolist() == [1, 0, 2]
    assert "Extracting %s" % (tmp_path / "i.gz") in capsys.readouterr().out
    with open(str(tmp_path / "l.gz"), "rb") as f, pytest.raises(ValueError, match="Invalid magic number 2049 in MNIST image file"):
        mnist.extract_images(f)
    with open(str(tmp_path / "cut.gz"), "rb") as f, pytest.raises(ValueError, match=r"cut off: it says \[3, 2, 4\] and has 20 bytes"):
        mnist.extract_images(f)


def test_mnist_is_loaded_from_its_folder(tmp_path):
    for part, count in (("train", 5001), ("t10k", 2)):
        (tmp_path / (part + "-images-idx3-ubyte.gz")).write_bytes(idx(2051, [count, 2, 2], bytes(4 * count)))
        (tmp_path / (part + "-labels-idx1-ubyte.gz")).write_bytes(idx(2049, [count], bytes(count)))
    found = tf.contrib.learn.datasets.mnist.load_mnist(str(tmp_path))
    assert (found.train.num_examples, found.validation.num_examples, found.test.num_examples) == (1, 5000, 2)


# ---- names ----

def test_values_are_reduced_by_the_old_names():
    d = tf.contrib.distribute
    assert d.AllReduceCrossTowerOps is d.AllReduceCrossDeviceOps and d.CrossTowerOps is d.CrossDeviceOps
    with tf.Graph().as_default():
        strategy = d.MirroredStrategy(["/cpu:0", "/cpu:1"], cross_device_ops=d.AllReduceCrossDeviceOps("hierarchical_copy", num_packs=2))
        with strategy.scope():
            assert d.get_cross_replica_context() is strategy and d.has_strategy()
            total = strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.experimental_run_v2(lambda: tf.constant(2.)), axis=None)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
            assert sess.run(total) == 4.
    with pytest.raises(ValueError, match="num_packs >= 0"):
        d.AllReduceCrossDeviceOps(num_packs=-1)


def test_a_replica_context_is_required():
    d = tf.contrib.distribute
    seen = []
    with tf.Graph().as_default():
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")

        def replica():
            d.require_replica_context(d.get_replica_context())
            seen.append(d.get_cross_replica_context())
            with pytest.raises(RuntimeError, match="Mismatching"):
                d.require_replica_context(object())
            return tf.constant(1.)
        with strategy.scope():
            strategy.experimental_run_v2(replica)
            with pytest.raises(RuntimeError, match="inside a replica"):
                d.require_replica_context(None)
    assert seen == [None]


def test_the_server_of_a_task_is_started(monkeypatch):
    run = tf.contrib.distribute.run_standard_tensorflow_server
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(ValueError, match="`cluster` in the environment variable TF_CONFIG"):
        run()
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["localhost:0"]}, "task": {"type": "worker", "index": 0}}))
    server = run(tf.ConfigProto())
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        assert sess.run(tf.constant(3.)) == 3.


def test_names_that_moved_are_the_same():
    assert tf.contrib.keras is tf.keras and tf.contrib.autograph is tf.autograph
    assert tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY == 0xDECAFCAFFE
    assert tf.contrib.checkpoint.TrackableObjectGraph is tf.contrib.checkpoint.CheckpointableObjectGraph
