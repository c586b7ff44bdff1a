"""Wrong programs: TensorFlow's class of exception, and a message with what TensorFlow's names, at least."""
import numpy as np
import pytest

import weft
from both import oracle

WRONG = []


def wrong(*words, at=False):
    """A program that fails; the words must be in both messages, and with `at` in ours the line that made the node."""
    def mark(f):
        WRONG.append(pytest.param(f, words, at, id=f.__name__))
        return f
    return mark


@wrong("hologram")
def a_misspelt_symbol(tf, sess):
    tf.hologram(1)


@wrong("hologram")
def a_misspelt_symbol_of_a_module(tf, sess):
    tf.train.hologram(1)


@wrong("(3, 2)", "(2, 3)", "x:0")
def a_feed_of_the_wrong_shape(tf, sess):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    sess.run(x + 1, {x: np.zeros((3, 2))})


@wrong("could not convert string to float")
def a_feed_of_the_wrong_type(tf, sess):
    x = tf.placeholder(tf.float32, [], name="x")
    sess.run(x + 1, {x: "text"})


@wrong("'str' object")
def a_task_index_that_is_text(tf, sess):
    tf.train.Server({"worker": ["localhost:0"]}, "worker", "0")


@wrong("feed_dict key")
def a_feed_of_an_unknown_name(tf, sess):
    sess.run(tf.constant(1), {"nothing:0": 1})


@wrong("feed_dict key")
def a_feed_of_another_graph(tf, sess):
    with tf.Graph().as_default():
        other = tf.placeholder(tf.float32)
    sess.run(tf.constant(1), {other: 1})


@wrong("cannot be a tf.Tensor")
def a_tensor_as_a_feed(tf, sess):
    x = tf.placeholder(tf.float32)
    sess.run(x, {x: tf.constant(1.0)})


@wrong("x", at=True)
def a_placeholder_not_fed(tf, sess):
    x = tf.placeholder(tf.float32, [2], name="x")
    sess.run(x + 1)


@wrong("may not be fed")
def a_feed_of_what_cannot_be_fed(tf, sess):
    x = tf.constant(1.0)
    tf.get_default_graph().prevent_feeding(x)
    sess.run(x, {x: 2.0})


@wrong("may not be fed")
def a_feed_that_is_forbidden_after_a_step(tf, sess):
    x = tf.constant(1.0)
    sess.run(x + 1, {x: 2.0})
    tf.get_default_graph().prevent_feeding(x)
    sess.run(x + 1, {x: 2.0})


@wrong("(3,)", "(2,)", "x:0")
def a_feed_whose_shape_is_refined_after_a_step(tf, sess):
    x = tf.placeholder(tf.float32, [None], name="x")
    sess.run(x + 1, {x: np.zeros(3, np.float32)})
    x.set_shape([2])
    sess.run(x + 1, {x: np.zeros(3, np.float32)})


@wrong("may not be fetched")
def a_fetch_of_what_cannot_be_fetched(tf, sess):
    x = tf.constant(1.0)
    tf.get_default_graph().prevent_fetching(x.op)
    sess.run(x.op)


@wrong("uninitialized value v", at=True)
def an_uninitialized_variable(tf, sess):
    v = tf.Variable(1.0, name="v")
    sess.run(v + 1)


@wrong("None", "invalid type")
def a_fetch_of_none(tf, sess):
    tf.constant(1)
    sess.run(None)


@wrong("None", "invalid type")
def a_fetch_of_none_in_a_list(tf, sess):
    sess.run([tf.constant(1), None])


@wrong("invalid type")
def a_fetch_of_a_number(tf, sess):
    tf.constant(1)
    sess.run(5)


@wrong("cannot be interpreted as a Tensor", "nothing:0")
def a_fetch_of_an_unknown_name(tf, sess):
    tf.constant(1)
    sess.run("nothing:0")


@wrong("not an element of this graph")
def a_fetch_of_another_graph(tf, sess):
    tf.constant(1)
    with tf.Graph().as_default():
        other = tf.constant(2)
    sess.run(other)


@wrong("graph is empty")
def an_empty_graph(tf, sess):
    sess.run([])


@wrong("finalized")
def a_finalized_graph_changed(tf, sess):
    tf.get_default_graph().finalize()
    tf.constant(1)


@wrong("closed Session")
def a_closed_session_used(tf, sess):
    x = tf.constant(1)
    sess.close()
    sess.run(x)


@wrong("default session")
def no_session_for_eval(tf, sess):
    tf.constant(1).eval()


@wrong("same graph")
def tensors_of_two_graphs(tf, sess):
    a = tf.constant(1)
    with tf.Graph().as_default():
        b = tf.constant(2)
        tf.add(a, b)


@wrong("float32", "int32")
def a_sum_of_two_types(tf, sess):
    tf.add(tf.constant(1.0), tf.constant(1))


@wrong()
def a_bool_for_a_tensor(tf, sess):
    if tf.constant(1) > 0:
        pass


@wrong()
def a_loop_over_a_tensor_of_unknown_length(tf, sess):
    list(tf.placeholder(tf.float32))


@wrong("4", "5")
def a_product_that_does_not_fit(tf, sess):
    tf.matmul(np.zeros((2, 4), np.float32), np.zeros((5, 2), np.float32), name="product")


@wrong("product", at=True)
def a_product_that_does_not_fit_when_run(tf, sess):
    x = tf.placeholder(tf.float32, [None, None])
    sess.run(tf.matmul(x, x, name="product"), {x: np.zeros((2, 3))})


@wrong()
def a_shape_that_does_not_hold_the_elements(tf, sess):
    tf.reshape(tf.zeros([4]), [3])


@wrong("index", at=True)
def an_index_out_of_range(tf, sess):
    i = tf.placeholder(tf.int32)
    sess.run(tf.gather(tf.constant([1, 2]), i, name="index"), {i: 7})


@wrong("already exists")
def a_variable_made_twice(tf, sess):
    tf.get_variable("v", [1])
    tf.get_variable("v", [1])


@wrong("does not exist")
def a_variable_reused_but_not_made(tf, sess):
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("v", [1])


@wrong("shape")
def a_variable_reused_with_another_shape(tf, sess):
    tf.get_variable("v", [1])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        tf.get_variable("v", [2])


@wrong("No gradients provided")
def a_loss_that_depends_on_no_variable(tf, sess):
    tf.Variable(1.0)
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


@wrong("No variables to save")
def a_saver_without_variables(tf, sess):
    tf.train.Saver()


@wrong("nowhere")
def a_checkpoint_that_is_not_there(tf, sess):
    tf.Variable(1.0)
    tf.train.Saver().restore(sess, "/nowhere/model.ckpt")


@wrong("a b", "not a valid node name")
def a_name_that_is_none(tf, sess):
    tf.constant(1, name="a b")


@wrong("nothing")
def an_operation_that_is_not_there(tf, sess):
    tf.get_default_graph().get_operation_by_name("nothing")


@wrong("nothing:0")
def a_tensor_that_is_not_there(tf, sess):
    tf.get_default_graph().get_tensor_by_name("nothing:0")


@wrong("None")
def none_for_a_value(tf, sess):
    tf.constant(None)


@wrong()
def an_unknown_device(tf, sess):
    with tf.device("/gpu:x"):
        tf.constant(1)


@wrong("/job:nobody")
def a_device_that_is_not_there(tf, sess):
    with tf.device("/job:nobody/task:1"):
        x = tf.constant(1) + 1
    sess.run(x)


@wrong("true_fn", "callable")
def a_branch_that_is_no_function(tf, sess):
    tf.cond(tf.constant(True), 1, 2)


@wrong("labels")
def a_loss_without_labels(tf, sess):
    tf.nn.softmax_cross_entropy_with_logits(logits=tf.zeros([2, 2]))


@wrong("closed", at=True)
def a_queue_that_is_closed(tf, sess):
    q = tf.FIFOQueue(1, tf.int32)
    sess.run(q.close())
    sess.run(q.dequeue())


@wrong("replicas_to_aggregate")
def a_synchronous_optimizer_without_its_count(tf, sess):
    tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1))


def failure(tf, program):
    with tf.Graph().as_default():
        sess = tf.Session()
        try:
            program(tf, sess)
        except Exception as e:  # noqa: BLE001 - that is the question
            return e
        finally:
            sess.close()
    return None


@pytest.mark.parametrize("program, words, at", WRONG)
def test_wrong_programs_fail_as_in_tensorflow(program, words, at):
    ours, theirs = failure(weft, program), failure(oracle, program)
    assert ours is not None, "accepted, where TensorFlow says %r" % theirs
    assert type(ours).__name__ in [c.__name__ for c in type(theirs).__mro__], (ours, theirs)
    for word in words:
        assert word in str(ours), (str(ours), str(theirs))
    if at:
        first = program.__code__.co_firstlineno
        lines = len(program.__code__.co_code)  # more than it has
        assert any('test_wrong.py", line %d' % n in str(ours) for n in range(first, first + lines)), str(ours)
