"""tf.contrib.session_bundle, stat_summarizer, input_pipeline, batching, ndlstm and the linear models of tf.contrib.layers."""
import threading

import numpy as np
import pytest

import scripts
import weft as tf
from both import oracle

RNG = np.random.RandomState(3)


def run(make):
    with tf.Graph().as_default(), tf.Session() as sess:
        made = make()
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(made)


# ---- session_bundle ----

def export(folder, version=1, keep=None, **signatures):
    """A model that halves and adds 2, with a file among its assets; gives the folder of the export."""
    exporter = tf.contrib.session_bundle.exporter
    asset = folder / "words.txt"
    asset.write_text("hello\n")
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="x")
        a, b = tf.Variable(0.5, name="a"), tf.Variable(2.0, name="b")
        y = tf.add(a * x, b, name="y")
        name = tf.constant(str(asset), name="filename")
        loaded = tf.Variable("", trainable=False, collections=[], name="loaded")
        init = tf.group(tf.assign(loaded, name), name="load")
        sess.run(tf.global_variables_initializer())
        made = exporter.Exporter(tf.train.Saver(sharded=True))
        made.init(graph.as_graph_def(), init_op=init, default_graph_signature=exporter.regression_signature(x, y),
                  named_graph_signatures={"inputs": exporter.generic_signature({"x": x}),
                                          "outputs": exporter.generic_signature({"y": y})}, assets_collection=[name], **signatures)
        return made.export(str(folder / "model"), tf.constant(version), sess, exports_to_keep=keep)


def test_a_session_bundle_is_exported_and_loaded(tmp_path):
    path = export(tmp_path, 123)
    assert path == str(tmp_path / "model" / "00000123")
    with pytest.raises(ValueError, match="already exists"):
        export(tmp_path, 123)
    bundle = tf.contrib.session_bundle
    assert bundle.session_bundle.maybe_session_bundle_dir(path) and not bundle.session_bundle.maybe_session_bundle_dir(str(tmp_path))
    sess, meta = bundle.session_bundle.load_session_bundle_from_path(path)
    found = bundle.manifest_pb2.Signatures()
    packed = meta.collection_def[bundle.constants.SIGNATURES_KEY].any_list.value
    assert packed[0].Unpack(found) and packed[0].TypeName() == "tensorflow.serving.Signatures"
    assert not packed[0].Unpack(bundle.manifest_pb2.AssetFile())
    signature = found.default_signature.regression_signature
    assert found.default_signature.WhichOneof("type") == "regression_signature"
    assert sess.run(signature.output.tensor_name, {signature.input.tensor_name: 10.0}) == 7.0
    assert found.named_signatures["inputs"].generic_signature.map["x"].tensor_name == "x:0"
    assert sess.run("loaded:0") == (path + "/assets/words.txt").encode()
    with open(path + "/assets/words.txt") as f:
        assert f.read() == "hello\n"
    sess.close()


def test_a_session_bundle_has_the_signatures_of_a_saved_model(tmp_path):
    load = tf.contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path
    sess, meta = load(export(tmp_path))
    default = meta.signature_def["serving_default"]
    assert default.method_name == "tensorflow/serving/regress" and default.inputs["inputs"].name == "x:0"
    named = meta.signature_def["serving_default_from_named"]
    assert named.method_name == "tensorflow/serving/predict" and named.outputs["y"].name == "y:0"
    sess.close()
    with tf.Graph().as_default(), tf.Session() as sess:
        x, v = tf.placeholder(tf.float32, name="x"), tf.Variable(3.0)
        y = tf.multiply(v, x, name="y")
        sess.run(v.initializer)
        tf.saved_model.simple_save(sess, str(tmp_path / "saved"), {"x": x}, {"y": y})
    with pytest.raises(RuntimeError, match="Tags are required"):
        load(str(tmp_path / "saved"))
    sess, meta = load(str(tmp_path / "saved"), tags=["serve"])
    assert sess.run("y:0", {"x:0": 2.0}) == 6.0 and meta.signature_def["serving_default"].outputs["y"].name == "y:0"
    sess.close()
    with pytest.raises(RuntimeError, match="not found"):
        load(str(tmp_path))


def test_old_exports_are_deleted(tmp_path):
    gc = tf.contrib.session_bundle.gc
    for version in (1, 2, 3):
        export(tmp_path, version, gc.largest_export_versions(2))
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == ["00000002", "00000003"]
    paths = [gc.Path("/p%02d" % v, v) for v in (1, 5, 8, 9, 12)]
    assert [p.export_version for p in gc.one_of_every_n_export_versions(8)(paths)] == [8, 12]
    assert [p.export_version for p in gc.mod_export_version(4)(paths)] == [8, 12]
    assert [p.export_version for p in gc.union(gc.largest_export_versions(1), gc.mod_export_version(8))(paths)] == [8, 12]
    assert [p.export_version for p in gc.negation(gc.largest_export_versions(3))(paths)] == [1, 5]


def test_a_classifier_has_the_tensors_that_are_given():
    exporter = tf.contrib.session_bundle.exporter
    with tf.Graph().as_default():
        x, s = tf.constant(1.0, name="x"), tf.constant(2.0, name="s")
        made = exporter.classification_signature(x, scores_tensor=s)
        assert made.classification_signature.scores.tensor_name == "s:0" and not made.classification_signature.HasField("classes")
        made = exporter.classification_signature(x, classes_tensor=s)
        assert made.classification_signature.classes.tensor_name == "s:0" and not made.classification_signature.HasField("scores")


# ---- stat_summarizer ----

def test_steps_are_summarized(capsys):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [50, 50], name="x")
        y = tf.matmul(tf.matmul(x, x, name="first"), x, name="second")
        summarizer = tf.contrib.stat_summarizer.NewStatSummarizer(graph.as_graph_def().SerializeToString())
        for _ in range(20):
            seen = tf.RunMetadata()
            sess.run(y, {x: np.ones([50, 50])}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), seen)
            summarizer.ProcessStepStatsStr(seen.step_stats.SerializeToString())
    text = summarizer.GetOutputString()
    for title in ("Run Order", "Top by Computation Time", "Top by Memory Use", "Summary by node type"):
        assert "= %s =" % title in text
    spent = sum(n.all_end_rel_micros for d in seen.step_stats.dev_stats for n in d.node_stats)
    assert "count=20" in text and "curr=%d" % spent in text
    row = next(line for line in text.splitlines() if line.endswith("\tsecond"))
    assert row.split()[0] == "MatMul" and row.split()[-2] == "1"
    summarizer.PrintStepStats()
    assert capsys.readouterr().out.strip() == text.strip()
    tf.contrib.stat_summarizer.DeleteStatSummarizer(summarizer)
    assert "0 nodes observed" in summarizer.GetOutputString()


# ---- input_pipeline ----

def test_strings_come_in_turn():
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("ends"):
            twice = tf.contrib.input_pipeline.seek_next(["a", "b", "c"], num_epochs=2)
        endless = tf.contrib.input_pipeline.seek_next(["a", "b", "c"])
        with tf.variable_scope("shuffled"):
            shuffled = tf.contrib.input_pipeline.seek_next(list("abcdefgh"), shuffle_seed=3)
        sess.run(tf.global_variables_initializer())
        assert [sess.run(twice) for _ in range(6)] == [b"a", b"b", b"c"] * 2
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(twice)
        assert [sess.run(endless) for _ in range(7)] == [b"a", b"b", b"c", b"a", b"b", b"c", b"a"]
        once = [sess.run(shuffled) for _ in range(16)]
        assert once[:8] == once[8:] and sorted(once[:8]) == [c.encode() for c in "abcdefgh"] != once[:8]


# ---- batching ----

def test_rows_of_concurrent_runs_are_one_batch():
    sizes = []

    def doubled(x):
        return tf.py_func(lambda v: (sizes.append(len(v)), v * 2)[1], [x], tf.int32)
    for decorator in (tf.contrib.batching.batch_function_v1, tf.contrib.batching.batch_function):
        del sizes[:]
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.int32, [1])
            y = decorator(1, 4, 2000000)(doubled)(x)
            found = {}
            threads = [threading.Thread(target=lambda i=i: found.setdefault(i, sess.run(y, {x: [i]}))) for i in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert {i: list(v) for i, v in found.items()} == {i: [2 * i] for i in range(4)}
            assert [n for n in sizes if n] == [4]  # of Batch the other runs compute no rows
    with tf.Graph().as_default(), pytest.raises(ValueError, match="supposed to be Tensors"):
        tf.contrib.batching.batch_function_v1(1, 4, 10)(doubled)(3)


# ---- layers ----

def test_a_bag_of_words_is_the_mean_of_its_embeddings():
    table = RNG.randn(5, 3).astype(np.float32)
    ids = np.array([[1, 2, 0, 4], [3, 0, 0, 0], [0, 0, 0, 0]])
    start = tf.constant_initializer(table)
    encode = tf.contrib.layers.bow_encoder
    np.testing.assert_allclose(run(lambda: encode(ids, 5, 3, initializer=start)), [table[[1, 2, 4]].mean(0), table[3], table[0]], rtol=1e-5)
    np.testing.assert_allclose(run(lambda: encode(ids, 5, 3, sparse_lookup=False, initializer=start)), table[ids].mean(1), rtol=1e-5)
    with pytest.raises(ValueError, match="Must specify vocab size"):
        encode(ids, 5, None)


def test_a_linear_model_of_columns_is_that_of_tf_feature_column():
    features = {"age": np.array([[3.0], [30.0], [61.0]], np.float32), "job": np.array([["a"], ["c"], ["b"]]),
                "pair": np.array([[0, 1], [3, 3], [1, 2]], np.int64)}
    bias, weights = np.array([0.5, -1.0], np.float32), {n: RNG.randn(k, 2).astype(np.float32) for n, k in (
        ("age", 1), ("age_bucketized", 3), ("job", 3), ("pair", 4))}
    with oracle.Graph().as_default(), oracle.Session() as sess:
        fc = oracle.feature_column
        age = fc.numeric_column("age")
        model = fc.linear_model({k: oracle.constant(v) for k, v in features.items()}, [
            age, fc.bucketized_column(age, [10.0, 50.0]), fc.categorical_column_with_vocabulary_list("job", ["a", "b", "c"]),
            fc.categorical_column_with_identity("pair", 4)], units=2)
        sess.run([oracle.global_variables_initializer(), oracle.tables_initializer()])
        for v in oracle.global_variables():
            v.load(weights.get(v.op.name.split("/")[1], bias), sess)
        want = sess.run(model)
    layers = tf.contrib.layers
    for transformed in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            given = {k: tf.constant(v) for k, v in features.items()}
            age = layers.real_valued_column("age")
            columns = [age, layers.bucketized_column(age, [10.0, 50.0]), layers.sparse_column_with_keys("job", ["a", "b", "c"]),
                       layers.sparse_column_with_integerized_feature("pair", 4)]
            if transformed:
                given = layers.transform_features(given, columns)
                assert set(given) == set(columns) and given[columns[1]].dtype == tf.int32
            sums, found, b = layers.weighted_sum_from_feature_columns(given, columns, 2, scope="linear")
            sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
            names = {v.op.name: v for v in tf.trainable_variables()}
            assert set(names) == {"linear/age/weight", "linear/age_bucketized/weights", "linear/job/weights", "linear/pair/weights",
                                  "linear/bias_weight"}
            for column, (v,) in found.items():
                v.load(weights[column.name], sess)
            b.load(bias, sess)
            np.testing.assert_allclose(sess.run(sums), want, rtol=1e-5)
            if transformed:
                assert sess.run(given[columns[1]]).tolist() == [[0], [1], [2]]
                assert sess.run(given[columns[2]]).values.tolist() == [0, 2, 1]


def test_a_joint_linear_model_has_one_variable():
    layers = tf.contrib.layers
    weights = RNG.randn(7, 2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        columns = [layers.sparse_column_with_keys("job", ["a", "b", "c"]), layers.sparse_column_with_integerized_feature("pair", 4)]
        given = {"job": tf.constant([["a"], ["x"], ["b"]]), "pair": tf.constant([[0, 1], [3, 3], [1, 2]], tf.int64)}
        sums, (v,), bias = layers.joint_weighted_sum_from_feature_columns(given, columns, 2)
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        v.load(weights, sess)
        bias.load([1.0, 2.0], sess)
        want = [weights[0] + weights[3] + weights[4], 2 * weights[6], weights[1] + weights[4] + weights[5]]
        np.testing.assert_allclose(sess.run(sums), np.array(want) + [1.0, 2.0], rtol=1e-5)
        with pytest.raises(ValueError, match="only sparse columns"):
            layers.joint_weighted_sum_from_feature_columns(given, [layers.real_valued_column("age")], 1)
        with pytest.raises(ValueError, match="Duplicate feature column key"):
            layers.check_feature_columns([columns[0], layers.sparse_column_with_keys("job", ["d"])])
        with pytest.raises(ValueError, match="not supported for linear predictions"):
            layers.weighted_sum_from_feature_columns(given, [layers.one_hot_column(columns[0])], 1)


def test_labels_become_sparse():
    found = run(lambda: tf.contrib.layers.sparse_ops.indicators_to_sparse_ids(
        [[[0, 0, 1, 0], [0, 0, 0, 0]], [[1, 0, 1, 1], [0, 0, 1, 0]]]))
    assert found.values.tolist() == [2, 0, 2, 3, 2] and found.dense_shape.tolist() == [2, 2, 3]
    assert found.indices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2], [1, 1, 0]]
    found = run(lambda: tf.contrib.layers.sparse_ops.indicators_to_sparse_ids([[-1, -1], [-1, -1]], ignore_value=-1))
    assert found.values.size == 0 and found.dense_shape.tolist() == [2, 0]
    found = run(lambda: tf.contrib.layers.sparse_ops.dense_to_sparse_tensor([["a", ""], ["", "b"]]))
    assert found.values.tolist() == [b"a", b"b"] and found.indices.tolist() == [[0, 0], [1, 1]]
    found = run(lambda: tf.contrib.layers.sparse_ops.dense_to_sparse_tensor([0, 7, 7], ignore_value=7))
    assert found.values.tolist() == [0]


# ---- ndlstm ----

def lstm(x, kernel, bias):
    """BasicLSTMCell over (length, examples, numbers) in float64."""
    c = h = np.zeros((x.shape[1], kernel.shape[1] // 4))
    out = []
    for step in x:
        i, j, f, o = np.split(np.concatenate([step, h], 1) @ kernel + bias, 4, 1)
        c = c / (1 + np.exp(-f - 1)) + np.tanh(j) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        out.append(h)
    return np.array(out)


def test_lstms_over_sequences_and_images():
    nd = tf.contrib.ndlstm
    x, images = RNG.randn(5, 2, 3).astype(np.float32), RNG.randn(2, 4, 6, 3).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        both = [nd.lstm1d.ndlstm_base(tf.constant(x), 4, reverse=r, dynamic=d, scope="s%d%d" % (r, d)) for r in (0, 1) for d in (0, 1)]
        last = [nd.lstm1d.sequence_to_final(tf.constant(x), 4, reverse=r, scope="f%d" % r, name="last%d" % r) for r in (0, 1)]
        assert last[1].op.name == "f1/last1"
        wide = nd.lstm2d.separable_lstm(tf.constant(images), 8, scope="wide")
        blocks = nd.lstm2d.separable_lstm(tf.constant(images), 8, kernel_size=[2, 3], nhidden=6, scope="blocks")
        sequence = nd.lstm2d.reduce_to_sequence(tf.constant(images), 5, scope="columns")
        final = nd.lstm2d.reduce_to_final(tf.constant(images), 5, nhidden=7, scope="final")
        soft = nd.lstm1d.sequence_softmax(tf.constant(x), 4)
        sess.run(tf.global_variables_initializer())
        v = {n.op.name: sess.run(n).astype(np.float64) for n in tf.trainable_variables()}

        def of(scope):
            kernel = [k for k in v if k.startswith(scope + "/") and k.endswith("kernel")]
            assert len(kernel) == 1, kernel
            return v[kernel[0]], v[kernel[0].replace("kernel", "bias")]
        for tensor, scope, turned in zip(both, ("s00", "s01", "s10", "s11"), (False, False, True, True)):
            want = lstm(x[::-1], *of(scope))[::-1] if turned else lstm(x, *of(scope))
            np.testing.assert_allclose(sess.run(tensor), want, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(sess.run(last[0]), lstm(x, *of("f0"))[-1], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(sess.run(last[1]), lstm(x[::-1], *of("f1"))[-1], rtol=1e-4, atol=1e-5)

        def rows(pictures, scope):
            count, height, width, depth = pictures.shape
            steps = pictures.transpose(2, 0, 1, 3).reshape(width, count * height, depth)
            made = np.concatenate([lstm(steps, *of(scope + "/lr")), lstm(steps[::-1], *of(scope + "/rl"))[::-1]], 2)
            return made.reshape(width, count, height, -1).transpose(1, 2, 0, 3)

        def separable(pictures, scope):
            hidden = rows(pictures, scope + "/HorizontalLstm")
            return rows(hidden.transpose(0, 2, 1, 3), scope + "/vertical/HorizontalLstm").transpose(0, 2, 1, 3)
        np.testing.assert_allclose(sess.run(wide), separable(images, "wide"), rtol=1e-4, atol=1e-5)
        cut = images.reshape(2, 2, 2, 2, 3, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 2, 18)
        np.testing.assert_allclose(sess.run(blocks), separable(cut, "blocks"), rtol=1e-4, atol=1e-5)

        def columns(scope):
            steps = images.transpose(1, 0, 2, 3).reshape(4, 12, 3)
            return lstm(steps, *of(scope))[-1].reshape(2, 6, -1).transpose(1, 0, 2)
        np.testing.assert_allclose(sess.run(sequence), columns("columns/SequenceToFinal"), rtol=1e-4, atol=1e-5)
        want = lstm(columns("final/ReduceToSequence"), *of("final/SequenceToFinal"))[-1]
        np.testing.assert_allclose(sess.run(final), want, rtol=1e-4, atol=1e-5)
        e = np.exp(x @ v["SequenceSoftmax/SoftmaxLinear/weights"] + v["SequenceSoftmax/SoftmaxLinear/biases"])
        np.testing.assert_allclose(sess.run(soft), e / e.sum(2, keepdims=True), rtol=1e-4)


def test_images_and_labels_change_their_shapes():
    nd, images = tf.contrib.ndlstm, RNG.randn(2, 4, 6, 3).astype(np.float32)
    np.testing.assert_array_equal(run(lambda: nd.lstm2d.sequence_to_images(nd.lstm2d.images_to_sequence(images), 2)), images)
    np.testing.assert_array_equal(run(lambda: nd.misc.pixels_as_vector(images)), images.reshape(2, -1))
    np.testing.assert_allclose(run(lambda: nd.misc.pool_as_vector(images)), images.mean((1, 2)), rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(run(lambda: nd.misc.one_hot_planes([2, 0], 3)), np.eye(3)[[2, 0]].reshape(2, 1, 1, 3))
    masks = np.array([[[[0], [2]]]])
    np.testing.assert_array_equal(run(lambda: nd.misc.one_hot_mask(masks, 3)), np.eye(3)[masks[..., 0]])


PROGRAM = """
import tensorflow as tf
from tensorflow.contrib.batching.ops.gen_batch_ops import batch
from tensorflow.contrib.batching.python.ops import batch_ops
from tensorflow.contrib.input_pipeline.python.ops import input_pipeline_ops
from tensorflow.contrib.layers.python.ops import sparse_ops
from tensorflow.contrib.ndlstm.python import lstm2d
from tensorflow.contrib.session_bundle import exporter, manifest_pb2
print(callable(batch), batch_ops is not None, input_pipeline_ops.seek_next is tf.contrib.input_pipeline.seek_next,
      sparse_ops.dense_to_sparse_tensor is tf.contrib.layers.sparse_ops.dense_to_sparse_tensor,
      lstm2d.separable_lstm is tf.contrib.ndlstm.lstm2d.separable_lstm, exporter.Exporter, manifest_pb2.Signatures)
"""


def test_transformations_and_random_numbers_have_their_names_in_contrib_too():
    experimental = tf.data.experimental
    for name in ("CheckpointInputPipelineHook", "CsvDataset", "Optional", "RandomDataset", "Reducer", "SqlDataset", "TFRecordWriter",
                 "copy_to_device", "dense_to_sparse_batch", "get_next_as_optional", "group_by_reducer", "make_saveable_from_iterator",
                 "parse_example_dataset", "scan", "unique"):
        assert getattr(tf.contrib.data, name) is getattr(experimental, name), name
    assert tf.contrib.rnn.static_state_saving_rnn is tf.nn.static_state_saving_rnn
    random = tf.contrib.stateless
    drawn = run(lambda: [random.stateless_random_uniform([3], [1, 2]), random.stateless_random_normal([3], [1, 2]),
                         random.stateless_truncated_normal([3], [1, 2]), random.stateless_multinomial([[1.0, 2.0]], 3, [1, 2])])
    with oracle.Graph().as_default(), oracle.Session() as sess:
        theirs = sess.run([oracle.random.stateless_uniform([3], [1, 2]), oracle.random.stateless_normal([3], [1, 2]),
                           oracle.random.stateless_truncated_normal([3], [1, 2]),
                           oracle.random.stateless_multinomial([[1.0, 2.0]], 3, [1, 2])])
    for a, b in zip(drawn, theirs):
        assert a.dtype == b.dtype and np.allclose(a, b, atol=1e-6)


def test_programs_import_these_by_their_old_paths(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    code, out, err = scripts.run(path, cwd=tmp_path)
    assert code == 0 and out.startswith("True " * 5), (out, err)
