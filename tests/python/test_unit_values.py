"""What unit tests of TensorFlow 1 compute, where Weft differed: partitioned variables, moving averages, graphs without training nodes,
accuracy of sums, and small functions of contrib."""
import importlib
import unittest

import numpy as np
import pytest

import weft
from both import both, both_raise, oracle, run
from test_slim import in_both
from test_unit_idioms import refused

IN_TWO = weft.fixed_size_partitioner(2)


# ---- variables in pieces ----

@pytest.mark.parametrize("given", [[1.0, 2, 3, 4], [1, 2, 3, 4], np.arange(4, dtype=np.float32), "tensor"])
def test_a_value_is_cut_among_the_pieces(given):
    def program(tf):
        value = tf.constant([5.0, 6, 7, 8]) if isinstance(given, str) else given
        v = tf.get_variable("v", shape=[4], initializer=value, partitioner=tf.fixed_size_partitioner(2))
        return [*v, *([p.shape.as_list(), p.dtype.name, p._save_slice_info.spec] for p in v)]
    both(program)


def test_create_partitioned_variables_takes_values():
    def program(tf):
        with tf.name_scope("any"):
            made = tf.create_partitioned_variables([2, 4], [1, 2], tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]]), name="p")
        return [*made, *(v.name for v in made)]
    both(program)
    for message in both_raise(lambda tf: tf.create_partitioned_variables([5], [2], tf.constant([1, 2, 3, 4]))):
        assert "not compatible" in message


def test_reading_all_pieces_waits_for_nothing():
    def program(tf):
        v = tf.get_variable("v", [4], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
        with tf.control_dependencies([tf.constant(1.0)]):
            return v.as_tensor(), v._concat(), tf.convert_to_tensor(v)
    both(program)


def test_pieces_are_added_to():
    with weft.Graph().as_default(), weft.Session() as sess:
        v = weft.get_variable("v", [3], initializer=weft.zeros_initializer(), partitioner=IN_TWO)
        sess.run(weft.global_variables_initializer())
        sess.run(v.assign_add([5.0, 6.0, 7.0]))
        sess.run(v.assign_sub(weft.ones([3])))
        assert sess.run(v.as_tensor()).tolist() == [4.0, 5.0, 6.0]


def test_moving_statistics_are_whole():
    with weft.Graph().as_default():
        with weft.variable_scope("a", partitioner=IN_TWO):
            weft.contrib.layers.batch_norm(weft.ones([2, 3, 3, 4]), scale=True)
        names = [v.name for v in weft.global_variables()]
    assert names[-2:] == ["a/BatchNorm/moving_mean:0", "a/BatchNorm/moving_variance:0"] and len(names) == 6


# ---- moving averages ----

def _averages(tf):
    return importlib.import_module("weft._core.python_modules.moving_averages" if tf is weft else
                                   "tensorflow.python.training.moving_averages")


def test_each_unbiased_average_has_variables_of_its_own():
    def program(tf):
        with tf.variable_scope("a") as scope:
            v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
            first = _averages(tf).assign_moving_average(v, [1.0, 2.0], 0.5)
            with tf.control_dependencies([first]):
                _averages(tf).assign_moving_average(v, [3.0, 2.0], 0.5)
        with tf.variable_scope(scope, reuse=True):
            _averages(tf).assign_moving_average(v, [3.0, 2.0], 0.5)
        return [first, *(v.name for v in tf.global_variables())]
    both(program, same_nodes=False)


@pytest.mark.parametrize("zero_debias", [False, True])
def test_an_average_is_updated_by_several_calls(zero_debias):
    def program(tf):
        v = tf.Variable(1.0, name="v")
        total = tf.add(v, 1.0, name="total")
        average = tf.train.ExponentialMovingAverage(0.25, zero_debias=zero_debias)
        first = average.apply([v, total])
        with tf.control_dependencies([first]):
            moved = v.assign(3.0)
        with tf.control_dependencies([moved]):
            last = average.apply([v, total])
        with tf.control_dependencies([last]):
            return [average.average(t).read_value() for t in (v, total)] + [len(tf.global_variables())]
    both(program, same_nodes=False)


# ---- slots ----

def test_a_slot_has_the_size_that_its_variable_gets():
    def program(tf):
        slots = importlib.import_module("weft._core.python_modules.slot_creator" if tf is weft else
                                        "tensorflow.python.training.slot_creator")
        size = tf.placeholder_with_default(tf.constant([3]), [None])
        v = tf.get_variable("v", initializer=tf.ones(size), validate_shape=False)
        made = [slots.create_zeros_slot(v, "zeros", dtype=tf.float64), slots.create_slot(v, tf.ones(size) * 2, "twos"),
                slots.create_zeros_slot(tf.placeholder_with_default(tf.ones([2]), [None], name="t"), "zeros")]
        return [*made, *(m.op.name for m in made), *(m.dtype.name for m in made), *(str(m.shape) for m in made)]
    both(program, same_nodes=False)


# ---- graphs without training nodes ----

def test_training_nodes_are_removed():
    def program(tf):
        with tf.Graph().as_default() as graph:
            a = tf.identity(tf.constant(1.0, name="a"), name="b")
            with tf.control_dependencies([tf.check_numerics(a, "", name="check")]):
                d = tf.identity(a, name="d")
            with tf.control_dependencies([tf.identity(d, name="waited")]):
                tf.identity(tf.identity(d, name="e"), name="f")
            given = graph.as_graph_def()
        made = [tf.graph_util.remove_training_nodes(given, kept) for kept in (None, ["b"])]
        return [[(n.name, list(n.input)) for n in g.node] for g in made] + [made[0].HasField("versions"), made[0].HasField("library")]
    both(program)


# ---- tests in a session ----

def test_tests_of_both_modes_run_in_a_session():
    from weft._core.python_modules import framework as test_util

    @test_util.run_all_in_graph_and_eager_modes
    class Case(weft.test.TestCase):
        def testAll(self):
            assert weft.constant(3).eval() == 3

    class Other(weft.test.TestCase):
        @test_util.run_in_graph_and_eager_modes
        def testOne(self):
            assert weft.constant(4).eval() == 4

        @test_util.run_in_graph_and_eager_modes(use_gpu=False)
        def testTwo(self):
            assert weft.get_default_session() is not None
    for case in (Case("testAll"), Other("testOne"), Other("testTwo")):
        result = unittest.TestResult()
        case.run(result)
        assert not result.errors and not result.failures and result.testsRun == 1, result.errors


def test_assertions_know_what_tensorflow_knows():
    """A sum of constants is compared in a run, not where the assertion is made."""
    def program(tf):
        two = tf.constant(1) + 1
        tf.assert_equal(two, 3)
        return [tf.assert_equal(tf.shape(tf.ones([2])), [2]).type]
    both(program, same_nodes=False)


def test_shapes_that_do_not_fit_are_refused_as_by_the_comparison():
    for message in both_raise(lambda tf: tf.assert_equal([1, 1, 1], [1, 1])):
        assert "Dimensions must be equal, but are 3 and 2" in message


# ---- sums ----

@pytest.mark.parametrize("n", [16, 40, 63, 64, 100, 200, 1000, 30000])
def test_sums_are_as_accurate_as_tensorflows(n):
    x = (np.random.RandomState(n).rand(400000 // n, n) * 0.1 + 100).astype(np.float32)
    exact = x.astype(np.float64).sum(1)
    ours, theirs = (np.sqrt(np.mean(((run(tf, lambda tf: tf.reduce_sum(tf.constant(x), 1))[1][0] - exact) / exact) ** 2))
                    for tf in (weft, oracle))
    assert ours < 2 * theirs + 3e-8


# ---- contrib ----

@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_images_are_decoded_as_bytes_and_cast(dtype):
    def program(tf, slim):
        decoder = slim.tfexample_decoder.Image("image", "format", dtype=tf.as_dtype(dtype))
        png = tf.image.encode_png(np.arange(12, dtype=np.uint16).reshape(2, 2, 3) * 3000)
        made = decoder.tensors_to_item({"image": png, "format": tf.constant("png")})
        return {"image": made, "type": made.dtype.name}
    in_both(program)


@pytest.mark.parametrize("weights", [[[2.3], [2.4], [2.5]], [[1.2]]])
def test_the_last_dimension_of_unknown_weights_is_one(weights):
    with weft.Graph().as_default(), weft.Session() as sess:
        w, x = weft.placeholder(weft.float32, [None, None]), weft.constant([[1.0, 2, 3], [4, 5, 6], [0, 1, 1]])
        loss = weft.contrib.losses.mean_squared_error(x, x * 2, w)
        plain = weft.contrib.losses.mean_squared_error(x, x * 2, [v[0] for v in weights])
        found, wanted = sess.run([loss, plain], {w: weights})
        assert found == pytest.approx(wanted)
        with pytest.raises(weft.errors.InvalidArgumentError):
            sess.run(loss, {w: np.ones([3, 3])})


def test_accuracy_takes_classes_only():
    for tensors in (([1, 2], [1.0, 2.0]), ([1.0], [1.0]), ([1], np.array([1], np.int64))):
        with pytest.raises(ValueError, match="dtype|Dtypes"):
            weft.contrib.metrics.accuracy(*tensors)


def test_the_f1_score_has_the_variables_of_its_counts():
    with weft.Graph().as_default():
        weft.contrib.metrics.f1_score(weft.ones([3]), weft.ones([3]), num_thresholds=3)
        assert [v.name for v in weft.local_variables()] == ["f1/true_positives:0", "f1/false_negatives:0", "f1/false_positives:0"]


def test_counts_at_thresholds_are_in_the_scope_of_the_caller():
    metrics = weft.contrib.metrics
    with weft.Graph().as_default():
        metrics.streaming_true_positives_at_thresholds(weft.ones([3]), weft.ones([3]), [0.5])
        metrics.streaming_false_positive_rate_at_thresholds(weft.ones([3]), weft.ones([3]), [0.5])
        assert [v.name for v in weft.local_variables()] == ["true_positives:0", *(
            "false_positive_rate_at_thresholds/%s:0" % name for name in ("true_negatives", "false_positives"))]


def test_values_are_joined_along_any_axis_with_resource_variables_too():
    with weft.Graph().as_default(), weft.Session() as sess:
        with weft.variable_scope("a", use_resource=True):
            value, update = weft.contrib.metrics.streaming_concat(weft.constant([[1, 2], [3, 4]]), axis=-1)
        sess.run(weft.local_variables_initializer())
        sess.run(update)
        sess.run(update)
        assert sess.run(value).tolist() == [[1, 2, 1, 2], [3, 4, 3, 4]]


def test_what_metrics_cannot_take_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        weft.contrib.metrics.aggregate_metrics()
    with weft.Graph().as_default(), pytest.raises(ValueError, match="num_classes"):
        weft.contrib.metrics.cohen_kappa(weft.constant([1]), weft.constant([1]), 1)


def test_labels_are_a_sparse_value():
    def program(tf):
        labels = tf.SparseTensorValue(np.array([[0, 0], [1, 0], [1, 1]]), np.array([2, 0, 3]), np.array([2, 2]))
        return tf.metrics.recall_at_k(labels, [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]], 2)[1]
    both(program, same_nodes=False)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("labels", [[[2, 7, -1, 8], [1, 2, 5, 10]], [[2, 7, 8, 8], [1, 2, 5, 12]], [[11, 2, 7, -1], [3, 12, 10, 2]]])
def test_labels_of_no_class_are_counted(sparse, labels):
    scores = np.random.RandomState(3).rand(2, 10).astype(np.float32)

    def program(tf):
        given = np.array(labels)
        if sparse:
            given = tf.SparseTensorValue(np.argwhere(given < 100), given.reshape(-1), np.array([2, 5]))
        metrics = [tf.metrics.recall_at_k, tf.metrics.precision_at_k, tf.metrics.average_precision_at_k]
        return [f(given, scores, 5)[1] for f in metrics] + [tf.metrics.recall_at_k(given, scores, 5, class_id=2)[1]]
    both(program, same_nodes=False)


def test_a_global_step_is_checked():
    with weft.Graph().as_default():
        loss = weft.abs(weft.get_variable("v", []))
        for step in (weft.Variable(0.0, trainable=False), weft.Variable([0], trainable=False), 3):
            with pytest.raises(TypeError, match="global_step"):
                weft.contrib.layers.optimize_loss(loss, step, 0.1, "SGD")


def test_sizes_that_are_reduced_in_groups_are_known():
    with weft.Graph().as_default(), pytest.raises(ValueError, match="undefined dimensions"):
        weft.contrib.layers.group_norm(weft.placeholder(weft.float32, [1, 8, None, 4]), groups=2)


def test_unbiased_moving_means_belong_to_the_model():
    with weft.Graph().as_default():
        weft.contrib.layers.batch_norm(weft.ones([2, 3, 3, 4]), scale=True, zero_debias_moving_mean=True, fused=False)
        assert [v.op.name for v in weft.get_collection(weft.GraphKeys.MODEL_VARIABLES)[-2:]] == [
            "BatchNorm/BatchNorm/moving_mean/biased", "BatchNorm/BatchNorm/moving_mean/local_step"]


def test_boxes_are_counted_in_sparse_tensors():
    with pytest.raises(ValueError, match="SparseTensor"):
        weft.contrib.slim.tfexample_decoder.NumBoxesSequence(["a"]).tensors_to_item({"a": weft.ones([2])})


# ---- arrays ----

def test_a_list_indexes_one_dimension_each():
    both(lambda tf: [tf.constant([[1, 2], [3, 4]])[[0, 1]], tf.constant([1, 2, 3])[[slice(1, None)]]])


def test_parts_of_a_packed_tensor_are_cast():
    both(lambda tf: tf.convert_to_tensor([tf.constant([1, 2]), [3, 4]], dtype=tf.float32), same_nodes=False)


def test_a_matrix_of_unknown_rank_is_transposed():
    def program(tf):
        x = tf.placeholder(tf.float32, name="x")
        return [tf.matrix_transpose(x), tf.matrix_transpose(x, conjugate=True)]
    both(program, {"x": np.arange(12.0).reshape(2, 3, 2)})
    refused(lambda tf: tf.matrix_transpose([1, 2, 3]), "should be a (batch) matrix")


def test_one_hot_takes_the_type_of_its_values():
    both(lambda tf: [tf.one_hot([0, 2], 3, on_value="a", off_value="b"), tf.one_hot([0, 2], 3, on_value=True, off_value=False),
                     tf.one_hot([0, 2], 3, on_value=1j, off_value=2j)])
    refused(lambda tf: tf.one_hot([0, 2], 3, on_value=1, off_value=0.5), "does not match dtype")


def test_the_size_of_a_sparse_tensor_is_that_of_the_dense_one():
    both(lambda tf: [tf.size(tf.SparseTensor([[0, 0]], [1], [2, 3])), tf.size(tf.SparseTensor([[0]], [1], [4]), out_type=tf.int64)])


def test_the_magnitude_of_wide_complex_numbers():
    both(lambda tf: [tf.abs(tf.constant([3 + 4j])), abs(tf.constant(3 + 4j, tf.complex64))])


def test_meshgrid_and_assert_rank_check_their_arguments():
    refused(lambda tf: tf.meshgrid([1], [2], indexing="zz"), "'xy' or 'ij'")
    refused(lambda tf: tf.meshgrid([1], [2], sparse=True), "invalid keyword argument")
    refused(lambda tf: tf.assert_rank([1], 0.5), "must be of type")


def test_the_target_of_a_session_is_bytes():
    with weft.Session() as ours, oracle.Session() as theirs:
        assert ours.sess_str == theirs.sess_str == b""


# ---- checks of tf.nn and of name scopes ----

def test_functions_of_nn_check_their_arguments():
    refused(lambda tf: tf.nn.conv1d(np.ones((1, 4, 1), "f"), np.ones((2, 1, 1), "f"), 2, "VALID", data_format="zz"), "data_format")
    refused(lambda tf: tf.nn.separable_conv2d(np.ones((1, 3, 3, 2), "f"), np.ones((2, 2, 2, 1), "f"), np.ones((1, 2, 2, 3), "f"),
                                              [1, 1, 1, 1], "SAME"), "Dimensions 2 and 1")
    refused(lambda tf: tf.nn.log_poisson_loss([1.0, 2.0], [0.5]), "same shape")
    refused(lambda tf: tf.nn.dropout([1.0], "x"), "keep_prob")
    refused(lambda tf: tf.nn.embedding_lookup_sparse(
        tf.constant([[1.0]]), tf.SparseTensor([[0, 0]], tf.constant([0], tf.int64), [1, 2]),
        tf.SparseTensor([[0, 0], [0, 1]], [0.5, 2.0], [1, 2])), "incompatible")


def test_lists_and_whole_numbers_are_converted():
    both(lambda tf: [tf.nn.log_poisson_loss([1.0, 2.0], [0.5, 1.0], compute_full_loss=True), tf.nn.leaky_relu([1, -1])],
         same_nodes=False)


def test_a_scope_of_values_has_a_name():
    def program(tf):
        with tf.name_scope(None, None, [tf.constant(1)]):
            pass
    refused(program, "At least one of name")


# ---- scopes and queues ----

def test_a_scope_is_told_to_reuse_from_outside():
    def program(tf):
        with tf.variable_scope("a") as a:
            v = tf.get_variable("v", [1])
        a.reuse_variables()
        with tf.variable_scope(a) as again:
            same = tf.get_variable("v", [1]) is v
        with tf.variable_scope("a/deeper"):
            deeper = tf.get_variable("v", [1]).name
        return [same, again.reuse, tf.get_variable_scope().reuse, deeper]
    both(program)

    def new(tf):
        with tf.variable_scope("a") as a:
            tf.get_variable("v", [1])
        a.reuse_variables()
        with tf.variable_scope("a"):
            tf.get_variable("v", [1])
    refused(new, "already exists")


def test_scopes_and_queues_check_their_arguments():
    def opened(**given):
        def program(tf):
            with tf.variable_scope("s", **given):
                tf.get_variable("v", [1])
        return program
    refused(opened(auxiliary_name_scope="yes"), "auxiliary_name_scope")
    refused(opened(custom_getter=3), "not callable")
    refused(lambda tf: tf.FIFOQueue(3, tf.int32, [[]], names=["a", "b"]), "same length as the list of dtypes")


@pytest.mark.parametrize("resource", [False, True])
def test_a_variable_of_another_scope_is_not_exported(resource):
    def program(tf):
        with tf.variable_scope("s"):
            v = tf.get_variable("v", [1], use_resource=resource)
        return [v.to_proto("s").variable_name, v.to_proto("other"), v.to_proto().variable_name]
    both(program, same_nodes=False)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_long_cosine_transforms_and_those_of_unknown_length(kind, norm):
    """They multiplied by a matrix, which has 10 GB for a signal of 50,000 numbers, and refused an unknown length."""
    x = np.random.RandomState(kind).randn(2, 700)

    def program(tf):
        if kind == 1 and norm:
            return []
        unknown = tf.placeholder_with_default(x.astype(np.float32), [None, None])
        made = [tf.signal.dct(tf.constant(x), kind, norm=norm), tf.signal.dct(unknown, kind, norm=norm),
                tf.signal.idct(unknown[:, :5], kind, norm=norm), tf.signal.dct(x[:, :3], kind, norm=norm)]
        made += [tf.signal.dct(unknown, kind, n=n, norm=norm) for n in (300, 900)] if kind == 2 else []
        return made + [m.shape.as_list() for m in made[:1]] + tf.gradients(tf.reduce_sum(made[1] ** 2), unknown)
    both(program, same_nodes=False, tolerance=5e-4)


def test_a_cosine_transform_of_a_long_signal_takes_little_memory():
    with weft.Graph().as_default(), weft.Session() as sess:
        made = weft.signal.dct(weft.ones([100_000]), norm="ortho")
        assert len(weft.get_default_graph().as_graph_def().SerializeToString()) < 1 << 20
        assert sess.run(made)[0] == pytest.approx(100_000 ** .5, rel=1e-5)


@pytest.mark.parametrize("wrong", [lambda tf: tf.signal.frame(1.0, 2, 1), lambda tf: tf.signal.overlap_and_add(tf.ones([3]), 2),
                                   lambda tf: tf.signal.hann_window(3, dtype=tf.int32)])
def test_signals_without_dimensions_are_refused(wrong):
    said = both_raise(wrong)
    assert said[0] == said[1]
