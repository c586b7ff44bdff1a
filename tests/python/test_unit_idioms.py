"""What unit tests of TensorFlow 1 rely on: the sessions of tf.test.TestCase, fetches and feeds of a program's own classes, names of
what a custom getter adds, checks of get_variable and of queues, and contrib.losses."""
import unittest
import warnings

import attr
import numpy as np
import pytest

import weft
from both import both, both_raise, oracle
from test_idioms import on_both


def refused(program, said=""):
    """Both refuse the program, in these words."""
    for message in both_raise(program):
        assert said in message


# ---- tf.test.TestCase ----

def _outcome(tf, body, setup=None):
    """The result of a test method of a new class, and what it noted."""
    notes = []

    class Case(tf.test.TestCase):
        def testIt(self):
            body(tf, self, notes)
    if setup is not None:
        Case.setUp = setup
    result = unittest.TestResult()
    Case("testIt").run(result)
    assert not result.errors and not result.failures, result.errors + result.failures
    return notes


def _same_outcome(body, setup=None):
    ours, theirs = (_outcome(tf, body, setup) for tf in (weft, oracle))
    assert ours == theirs
    return ours


def test_a_test_keeps_its_session_between_blocks():
    def body(tf, case, notes):
        v = tf.Variable(3.0)
        with case.test_session() as first:
            first.run(v.initializer)
        with case.test_session() as second:
            notes.append((second is first, float(v.eval())))
        with case.cached_session() as third, case.session() as new:
            notes.append((third is first, new is first))
        notes.append(float(case.evaluate(v)))
        with case.test_session(use_gpu=False):
            notes.append(tf.constant(1).device)
    assert _same_outcome(body)[0] == (True, 3.0)


def test_a_test_has_a_seed_of_its_own():
    def body(tf, case, notes):
        notes.append((tf.get_default_graph().seed, float(np.random.rand())))
        with case.session():
            notes.append(float(np.float32(tf.random_uniform([]).eval())))
    _same_outcome(body)


def test_a_class_whose_set_up_calls_no_other_works():
    def body(tf, case, notes):
        with tf.Graph().as_default(), case.test_session():
            notes.append(int(tf.constant(5).eval()))
        case.get_temp_dir()
    _same_outcome(body, setup=lambda self: None)


# ---- sessions ----

@attr.s
class Pair:
    first = attr.ib()
    second = attr.ib()


def test_an_object_of_attrs_is_fetched():
    def program(tf, sess):
        made = sess.run([Pair(tf.constant(1.0), {"a": tf.constant([2, 3])})])[0]
        return [type(made).__name__, made.first, made.second]
    on_both(program)


def test_classes_of_the_program_are_fetched_and_fed():
    def program(tf, sess):
        class Squared:
            def __init__(self, x):
                self.square = tf.square(x)
        if tf is weft:
            from weft._core.session.client import register_session_run_conversion_functions as register
        else:
            from tensorflow.python.client.session import register_session_run_conversion_functions as register
        functions = lambda x: ([x.square], lambda values: values[0]), lambda x, value: [(x.square, value)], lambda x: [x.square]
        register(Squared, *functions)
        with pytest.raises(ValueError, match="already been registered"):
            register(Squared, *functions)
        x = Squared(tf.constant([1.0, 2.0]))
        handle = sess.partial_run_setup([x], [])
        return [sess.run(x), sess.run(x, {x: [5.0, 6.0]}), sess.run({"a": x})["a"], sess.partial_run(handle, x)]
    on_both(program)


def test_a_second_interactive_session_warns():
    for tf in (weft, oracle):
        with tf.Graph().as_default(), warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            first = tf.InteractiveSession()
            second = tf.InteractiveSession()
            second.close()
            first.close()
            tf.InteractiveSession().close()
        assert [("An interactive session is already active" in str(w.message)) for w in seen].count(True) == 1


def test_a_target_of_no_kind_is_refused():
    refused(lambda tf: tf.Session("NO_SUCH_TARGET"), "No session factory registered for the given session options")


def test_a_callable_from_options():
    def program(tf, sess):
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x, 1.0, name="y")
        options = (weft._core.framework.protos if tf is weft else oracle).__dict__.get("CallableOptions")
        if options is None:
            from tensorflow.core.protobuf.config_pb2 import CallableOptions as options
        call = sess._make_callable_from_options(options(feed=["x:0"], fetch=["y:0"]))
        return call(np.float32(2)), call(np.float32(3))
    on_both(program)


# ---- variables and queues ----

def test_what_a_custom_getter_adds_is_named_outside_of_the_scope():
    def program(tf):
        def getter(getter, name, *args, **kwargs):
            a, b = getter(name + "/a", *args, **kwargs), getter(name + "/b", *args, **kwargs)
            with tf.name_scope("sum"):
                return a + b
        with tf.variable_scope("scope", custom_getter=getter, initializer=tf.zeros_initializer()):
            return [tf.get_variable("v", [2]), tf.get_variable("w", [2]).op.name]
    both(program)


def test_a_given_type_must_be_that_of_the_initial_value():
    both(lambda tf: [tf.get_variable("w", initializer=[1.0, 2.0], dtype=tf.float32), tf.get_variable("x", initializer=np.int64(3))])
    refused(lambda tf: tf.get_variable("v", initializer=tf.constant(1), dtype=tf.float64), "don't match")
    refused(lambda tf: tf.get_variable("v", initializer=[1, 2], dtype=tf.float32), "don't match")
    refused(lambda tf: tf.get_variable("v", initializer=lambda x: [2]), "The initializer passed is not valid")
    refused(lambda tf: tf.variable_scope("v", reuse="yes").__enter__(), "The reuse parameter must be True or False or None")


def test_components_of_many_elements_are_as_many():
    refused(lambda tf: tf.FIFOQueue(9, [tf.int32] * 2, [[], []]).enqueue_many([[1, 2, 3], [1, 2]]))
    refused(lambda tf: tf.PaddingFIFOQueue(9, [tf.int32], [None]))


def test_values_past_a_queues_components_are_dropped():
    def program(tf, sess):
        one, two = tf.FIFOQueue(9, tf.float32), tf.FIFOQueue(9, [tf.float32, tf.int32], [[], []])
        for add in [one.enqueue([1.0, 2.0]), one.enqueue_many([[3.0, 4.0], [5.0, 6.0]]), two.enqueue([1.0, 2, 3])]:
            sess.run(add)
        few = two.enqueue([1.0])  # is built, and fails when it runs
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(few)
        return [sess.run([one.size(), two.size()]), sess.run([one.dequeue(), two.dequeue()])]
    on_both(program)
    refused(lambda tf: tf.FIFOQueue(9, tf.float32, [[2]]).enqueue([1.0, 2.0]), "incompatible")


def test_an_accumulator_checks_a_gradients_shape_when_it_is_built():
    def program(tf):
        dense = tf.ConditionalAccumulator(tf.float32, shape=[3])
        add = dense.apply_grad([1, 2, 3])  # whole numbers become the accumulator's type
        with tf.control_dependencies([add]):
            return [dense.take_grad(1), dense.take_grad(1).shape.as_list()]
    refused(lambda tf: tf.ConditionalAccumulator(tf.float32, shape=[3]).apply_grad([1.0, 2.0]), "incompatible")
    both(program, same_nodes=False)


def test_a_barrier_gives_elements_once_they_are_complete():
    def program(tf, sess):
        if tf is weft:
            from weft._core.ops.data_flow import Barrier
        else:
            from tensorflow.python.ops.data_flow_ops import Barrier
        barrier = Barrier((tf.float32, tf.int32), shapes=((), (2,)), name="B")
        sess.run(barrier.insert_many(0, [b"a", b"b"], [1.0, 2.0]))
        sess.run(barrier.insert_many(1, [b"b"], [[3, 4]]))
        sizes = sess.run([barrier.ready_size(), barrier.incomplete_size()])
        taken = barrier.take_many(1)
        shapes = [t.shape.as_list() for t in (taken[0], taken[1], *taken[2])]
        return [sizes, sess.run(list(taken[:2]) + taken[2]), shapes, [t.op.name for t in taken[:1]], barrier.name]
    on_both(program)


# ---- tf.contrib.losses: the values are those of its own tests and of arithmetic by hand ----

@pytest.fixture
def losses():
    with weft.Graph().as_default(), weft.Session():
        yield weft.contrib.losses


LABELS, PREDICTIONS = np.array([1.0, 9, 2, -5, -2, 6]).reshape(2, 3), np.array([4.0, 8, 12, 8, 1, 3]).reshape(2, 3)


@pytest.mark.parametrize("weights, mean", [(1.0, 5.5), (2.3, 12.65), ([1.2, 0.0], 5.6), ([[1.2], [0.0]], 5.6),
                                           ([[3.0, 6, 5], [0, 4, 2]], 16.6), ([0.0, 0.0], 0.0)])
def test_a_weight_counts_for_all_behind_its_dimensions(losses, weights, mean):
    made = losses.absolute_difference(PREDICTIONS, LABELS, weights)
    assert made.eval() == pytest.approx(mean) and losses.get_losses() == [made]
    assert made.op.name == "absolute_difference/value"


def test_pairs_of_differences(losses):
    assert losses.mean_pairwise_squared_error(PREDICTIONS, LABELS).eval() == pytest.approx(
        sum(sum((d[i] - d[j]) ** 2 for i in range(3) for j in range(3)) / 9 for d in PREDICTIONS - LABELS))


def test_the_hinge_loss_is_not_reduced(losses):
    made = losses.hinge_loss(weft.constant([1.2, -1.4]), weft.constant([1.0, 1.0]))
    np.testing.assert_allclose(made.eval(), [0, 2.4], rtol=1e-6)
    assert losses.get_losses() == []


def test_arg_scope_sets_where_losses_are_collected(losses):
    with weft.contrib.framework.arg_scope([losses.add_loss], loss_collection=None):
        losses.log_loss(weft.constant([0.5]), weft.constant([1.0]))
    with weft.contrib.framework.arg_scope([weft.contrib.framework.variable], trainable=False):
        made = weft.contrib.framework.variable("v", [1])
    assert losses.get_losses() == [] and made not in weft.trainable_variables()


def test_unknown_ranks_are_refused(losses):
    with pytest.raises(ValueError, match="ndims cannot be None"):
        losses.mean_squared_error(weft.placeholder(weft.float32), weft.placeholder(weft.float32))


# ---- graphs ----

def test_small_parts_of_graphs_are_as_in_tensorflow():
    def program(tf, sess):
        x = tf.constant(2.0)
        y = x * 3.0
        rows = -tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([2, 1]))
        with tf.Graph().as_default() as graph, graph._kernel_label_map({"Const": "label"}):
            made = tf.constant(1)
        return [sess.run(tf.gradients(y + x, x, stop_gradients=y)), sess.run(tf.convert_to_tensor(rows)), made.op.get_attr("_kernel")]
    on_both(program)


def test_wrong_arguments_of_graphs_are_refused():
    def two_graphs(tf):
        with tf.Graph().as_default():
            x = tf.constant(1)
        with tf.Graph().as_default():
            y = tf.constant(1)
        with tf.name_scope("s", values=[x, y]):
            pass
    refused(two_graphs, "must be from the same graph")
    refused(lambda tf: tf.import_graph_def(tf.GraphDef(), input_map=[1]), "must be a dictionary")
    refused(lambda tf: tf.as_dtype(None))
    refused(lambda tf: tf.nn.rnn_cell.MultiRNNCell([]), "at least one cell")


def test_what_cannot_be_updated_is_refused():
    def sgd(tf):
        return tf.train.GradientDescentOptimizer(1.0)
    refused(lambda tf: sgd(tf).apply_gradients([(tf.constant(1.0), tf.constant(1.0))]), "Trying to update a Tensor")
    refused(lambda tf: sgd(tf).minimize(tf.Variable(1.0) * 2, global_step=tf.constant(3)), "has no attribute 'assign_add'")
    refused(lambda tf: sgd(tf).minimize(tf.Variable(1.0) * 2, global_step=3), "has no attribute 'dtype'")
