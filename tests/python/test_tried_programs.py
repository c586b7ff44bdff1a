"""Faults that whole programs of the years 2016 to 2019 showed: the part of each program that failed."""
import numpy as np
import pytest

from both import both, both_raise, oracle, weft

X = np.random.RandomState(0).randint(0, 256, [7, 9, 3]).astype(np.uint8)


def test_a_jpeg_file_is_written_as_asked():
    def program(tf):
        return [tf.image.encode_jpeg(tf.constant(X), "rgb", 80, progressive=True, optimize_size=True, chroma_downsampling=False,
                                     density_unit="cm", x_density=100, y_density=120, xmp_metadata="<x/>"),
                tf.io.encode_jpeg(tf.constant(X))]
    both(program)


def test_numbers_lie_evenly_between_tensors():
    def program(tf):
        unknown = tf.placeholder_with_default([[1.0, 2.0]], [None, 2])
        made = [tf.linspace([0.0, 1], [5.0, 9], 4), tf.linspace([[0.0, 1.0]], [5.0, 9], 3, axis=-1),
                tf.linspace(0.0, [3.0, 1.0], 1, axis=1), tf.linspace([1.0, 2.0], [5.0, 6.0], 5, axis=1),
                tf.linspace(unknown, 7.0, 3, axis=1), tf.linspace(0.0, 1.0, 3)]
        return made + tf.gradients(made[4], unknown) + [m.shape.ndims for m in made]
    both(program, same_nodes=False)


def test_quantized_slices_become_other_types():
    def program(tf):
        q, low, high = tf.quantize(tf.constant([[0.1, 0.9], [-1, 2.0]]), [-1.0, -2], [1.0, 2.0], tf.qint8, axis=-1)
        return [tf.cast(q, tf.int32), low, high, tf.dequantize(q, low, high, axis=-1),
                tf.cast(tf.dequantize(q, low, high, axis=1, dtype=tf.bfloat16), tf.float32)]
    both(program)


def test_operators_of_a_size_call_their_summand_mat():
    def program(tf):
        mat = tf.ones([2, 2])
        return [tf.linalg.LinearOperatorIdentity(2).add_to_tensor(mat=mat), tf.linalg.LinearOperatorZeros(2).add_to_tensor(mat=mat),
                tf.linalg.LinearOperatorScaledIdentity(2, 3.0).add_to_tensor(mat=mat)]
    both(program, same_nodes=False)


@pytest.mark.parametrize("sampler", ["uniform_candidate_sampler", "log_uniform_candidate_sampler",
                                     "learned_unigram_candidate_sampler", "fixed_unigram_candidate_sampler", "all_candidate_sampler"])
@pytest.mark.parametrize("label", [-1, 9])
def test_a_true_class_out_of_range_is_refused(sampler, label):
    """The log-uniform sampler gave -1 an infinite expected count, and a loss that was not a number."""
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            options = {"all_candidate_sampler": {}, "fixed_unigram_candidate_sampler": dict(range_max=9, unigrams=[1.0] * 9)}
            made = getattr(tf.nn, sampler)(tf.constant([[1, label]], tf.int64), 2, 9, True, seed=2,
                                           **options.get(sampler, dict(range_max=9)))
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(made)


def trained(tf, resource, name):
    """Trains variables with and without a constraint, each also alone, by one optimizer; returns names and values."""
    with tf.Graph().as_default(), tf.Session() as sess, tf.variable_scope("m", use_resource=resource):
        w = tf.get_variable("w", initializer=[1.0, 2.0], constraint=lambda v: tf.clip_by_norm(v, 1.0))
        u = tf.get_variable("u", initializer=[1.0, 2.0])
        step = tf.train.get_or_create_global_step()
        opt = getattr(tf.train, name)(0.1, **({"momentum": 0.9} if name == "MomentumOptimizer" else {}))
        trains = [opt.minimize(loss, global_step=step, name=scope) for loss, scope in (
            (tf.reduce_sum(u ** 2), None), (tf.reduce_sum(w * u), "app"), (tf.reduce_sum(w ** 2), None))]
        sess.run(tf.global_variables_initializer())
        for train in trains * 2:
            sess.run(train)
        slots = [opt.get_slot(v, s).name for v in (u, w) for s in opt.get_slot_names()]
        return ([t.name for t in trains], [v.name for v in tf.global_variables()], sorted(v.name for v in opt.variables()), slots,
                [np.round(v, 5).tolist() for v in sess.run([w, u, step])])


@pytest.mark.parametrize("name", ["AdamOptimizer", "MomentumOptimizer", "FtrlOptimizer"])
@pytest.mark.parametrize("resource", [False, True])
def test_a_constraint_leaves_the_names_of_an_update(name, resource):
    """Adam's powers of beta had the update's scope in their names, so TensorFlow's checkpoints did not fit."""
    assert trained(weft, resource, name) == trained(oracle, resource, name)


def test_map_fn_takes_and_gives_ragged_and_sparse_rows():
    def program(tf):
        rows = tf.RaggedTensor.from_row_splits(tf.range(10.0), [0, 3, 3, 7, 10])
        deep = tf.ragged.constant([[[1.0, 2], [3]], [[]], [[4, 5, 6], [7]]])
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
        vector = tf.RaggedTensorSpec([None], tf.float32, 0)
        made = [tf.map_fn(tf.reduce_sum, rows, dtype=tf.float32), tf.map_fn(tf.size, rows, fn_output_signature=tf.int32),
                tf.map_fn(lambda x: x * 2, rows), tf.map_fn(lambda x: x + 1, rows, dtype=vector),
                tf.map_fn(tf.reduce_sum, deep, dtype=tf.float32), tf.map_fn(lambda x: tf.reduce_sum(x, 1), deep, dtype=vector),
                tf.map_fn(lambda x: x * 10, deep),
                tf.map_fn(lambda x: x[:, :1], deep, dtype=tf.RaggedTensorSpec([None, None], tf.float32, 1)),
                tf.map_fn(lambda x: tf.reduce_sum(x[0]) * x[1], (rows, tf.constant([1.0, 2, 3, 4])), dtype=tf.float32),
                tf.map_fn(lambda x: {"a": x["r"] + 1, "b": tf.size(x["r"])}, {"r": rows}, dtype={"a": vector, "b": tf.int32})["a"],
                tf.map_fn(tf.range, tf.constant([3, 0, 2]), dtype=tf.RaggedTensorSpec([None], tf.int32, 0)),
                tf.map_fn(tf.sparse_reduce_sum, sparse, dtype=tf.float32),
                tf.map_fn(lambda x: tf.sparse.from_dense(tf.one_hot(x, 3)), tf.constant([1, 2]),
                          dtype=tf.SparseTensorSpec([3], tf.float32))]
        plain = [m.to_tensor() if hasattr(m, "to_tensor") else tf.sparse_tensor_to_dense(m) if hasattr(m, "indices") else m for m in made]
        return plain + tf.gradients(tf.map_fn(lambda x: tf.reduce_sum(x ** 2), rows, dtype=tf.float32), rows.values)
    both(program, same_nodes=False)


def test_map_fn_refuses_inputs_of_different_lengths():
    for tf in (weft, oracle):
        with tf.Graph().as_default(), pytest.raises(ValueError, match="Dimensions 3 and 2 are not compatible"):
            tf.map_fn(lambda x: x[0], (tf.constant([1, 2, 3]), tf.constant([1, 2])), dtype=tf.int32)


def test_an_evaluation_writes_arrays_and_its_checkpoint(tmp_path):
    """The events lacked metrics that are arrays, and the path; a path without a checkpoint raised another error."""
    def program(tf):
        def model(features, labels, mode):
            loss = tf.reduce_mean(tf.square(features * tf.get_variable("w", initializer=2.0)))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops={
                "rows": tf.metrics.mean_tensor(features), "mean": tf.metrics.mean(features)})

        def data():
            return tf.data.Dataset.from_tensors((tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 0])))
        folder = str(tmp_path / tf.__name__)
        estimator = tf.estimator.Estimator(model, folder)
        estimator.train(data, steps=1)
        estimator.evaluate(data)
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            estimator.evaluate(data, checkpoint_path=folder + "/none-1")
        events, = (tmp_path / tf.__name__ / "eval").iterdir()
        values = [v for e in tf.train.summary_iterator(str(events)) for v in e.summary.value]
        return [(v.tag, v.node_name, round(v.simple_value, 4), v.WhichOneof("value"), v.tensor.dtype,
                 v.tensor.tensor_content, [s.replace(folder.encode(), b"") for s in v.tensor.string_val]) for v in values]
    ours = program(weft)
    assert [v[0] for v in ours] == ["loss", "mean", "rows", "checkpoint_path"] and ours == program(oracle)


def test_only_the_validation_data_has_weights():
    """The training's batches lacked the weights that the validation had added, and the first batch could not be fed."""
    def program(tf):
        x, w = np.linspace(-1, 1, 20).reshape(10, 2).astype(np.float32), np.linspace(0.5, 1, 10)
        y, keras = np.arange(10.0), tf.keras
        with tf.Graph().as_default():
            a = keras.Input((2,))
            model = keras.Model(a, [keras.layers.Dense(1, kernel_initializer="ones", name=n)(a) for n in ("b", "c")])
            model.compile(keras.optimizers.SGD(0.01), {"b": "mse", "c": "mse"})
            found = model.fit(x, [y, y * 2], batch_size=4, epochs=2, shuffle=False, verbose=0,
                              validation_data=(x[:4], [y[:4], y[:4] * 2], {"b": w[:4]})).history
        return {k: [float(np.round(v, 3)) for v in values] for k, values in found.items()}
    assert program(weft) == program(oracle)


def test_a_variable_scope_opens_the_graph_of_its_values():
    """Without it, a metric of tensors of another graph was refused."""
    for tf in (weft, oracle):
        graph = tf.Graph()
        with graph.as_default():
            a = tf.constant([1, 0])
        with tf.Graph().as_default() as other:
            for scope in (tf.variable_scope(None, "x", [a]), tf.variable_scope("y", values=[a]), tf.name_scope(None, "z", [a])):
                with scope:
                    assert tf.get_default_graph() is graph
                assert tf.get_default_graph() is other
            made = tf.metrics.mean_iou(a, a, 2)
            assert made[0].graph is graph and not other.get_operations()


def test_branches_that_are_tensors_are_refused_by_name():
    said = both_raise(lambda tf: tf.cond(True, tf.constant(1), tf.constant(2)))
    assert said[0] == said[1] == "'true_fn' must be callable."


def columns(tf):
    fc = tf.feature_column
    age = fc.numeric_column("age", shape=[2])
    buckets, hashed = fc.bucketized_column(age, [1.0, 2.0]), fc.categorical_column_with_hash_bucket("h", 5)
    words = fc.categorical_column_with_vocabulary_list("v", ["a", "b"], num_oov_buckets=1)
    return [age, buckets, hashed, words, fc.categorical_column_with_identity("i", 7), fc.weighted_categorical_column(hashed, "w"),
            fc.crossed_column([buckets, "x"], 9), fc.indicator_column(words), fc.embedding_column(hashed, 3, initializer=len),
            fc.sequence_categorical_column_with_identity("s", 4), fc.sequence_numeric_column("n", shape=[3])]


def test_columns_say_what_they_are():
    for ours, theirs in zip(columns(weft), columns(oracle), strict=True):
        assert repr(ours) == repr(theirs) and ours._fields == theirs._fields
        for name in ("name", "num_buckets", "variable_shape", "parse_example_spec", "parents"):
            assert str(getattr(ours, name, None)) == str(getattr(theirs, name, None)), (ours, name)


@pytest.mark.parametrize("wrong", [lambda fc: fc.indicator_column(fc.numeric_column("x")),
                                   lambda fc: fc.embedding_column(fc.categorical_column_with_hash_bucket("h", 5), 2, initializer=3),
                                   lambda fc: fc.numeric_column("x", shape=[3], default_value=[1, 2])])
def test_columns_that_mean_nothing_are_refused(wrong):
    said = both_raise(lambda tf: wrong(tf.feature_column))
    assert said[0] == said[1]


@pytest.mark.parametrize("given", [{}, {"message": "told"}, {"data": ["seen", 3]}, {"data": ["seen"], "message": "told"},
                                   {"summarize": 1}])
def test_assertions_say_what_they_were_told(given):
    for name in ("assert_equal", "assert_less", "assert_greater_equal"):
        said = both_raise(lambda tf, name=name: getattr(tf, name)(tf.constant([[1., 2], [3, 4]]), [2., 1.], **given))
        assert said[0] == said[1]


@pytest.mark.parametrize("name, rank", [("assert_rank", 3), ("assert_rank_at_least", 3), ("assert_rank_in", (3, 4))])
def test_assertions_of_ranks_say_what_they_were_told(name, rank):
    for given in ({}, {"message": "told"}):
        said = both_raise(lambda tf: getattr(tf, name)(tf.placeholder_with_default([1.], None), rank, **given))
        lines = [next(line for line in text.split("\n") if "assertion failed" in line).split("[[{{")[0].strip() for text in said]
        assert lines[0] == lines[1]


X3, Y3, W1 = np.linspace(.1, .9, 12, dtype=np.float32).reshape(4, 3), np.eye(4, 3, dtype=np.float32), np.array([[1.], [0], [2], [3]])
LOSSES = {name: lambda tf, name=name: getattr(tf.losses, name)(Y3, X3, W1) for name in (
    "absolute_difference", "mean_squared_error", "hinge_loss", "huber_loss", "log_loss", "mean_pairwise_squared_error")}
LOSSES["cosine_distance"] = lambda tf: tf.losses.cosine_distance(Y3, X3, axis=1, weights=W1)
LOSSES["sigmoid_cross_entropy"] = lambda tf: tf.losses.sigmoid_cross_entropy(Y3, X3, W1, label_smoothing=.1)
LOSSES["softmax_cross_entropy"] = lambda tf: tf.losses.softmax_cross_entropy(Y3, X3, W1[:, 0], label_smoothing=.1)
LOSSES["sparse_softmax_cross_entropy"] = lambda tf: tf.losses.sparse_softmax_cross_entropy(np.array([0, 1, 2, 0]), X3, W1[:, 0])
LOSSES["compute_weighted_loss"] = lambda tf: tf.losses.compute_weighted_loss(X3, W1)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_of_arrays_takes_no_name_of_the_program(name):
    """Labels, predictions and weights became nodes outside of the scope, so that later constants had other names."""
    def names(tf):
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            loss = LOSSES[name](tf)
            outside = [n.name for n in graph.as_graph_def().node if "/" not in n.name] + [tf.constant(1.0).name, loss.name]
            return outside, float(sess.run(loss))
    ours, theirs = names(weft), names(oracle)
    assert ours[0] == theirs[0] and ours[1] == pytest.approx(theirs[1], rel=1e-5)


@pytest.mark.parametrize("name", ["hinge_loss", "huber_loss", "log_loss", "cosine_distance"])
def test_the_terms_of_a_loss_have_tensorflows_names(name):
    kinds = {"Abs", "Add", "AddV2", "Log", "Minimum", "Neg", "Relu", "Sub"}

    def terms(tf):
        with tf.Graph().as_default() as graph:
            LOSSES[name](tf)
            return sorted(n.name for n in graph.as_graph_def().node if n.op in kinds and "num_present" not in n.name)
    assert terms(weft) == terms(oracle) != []
