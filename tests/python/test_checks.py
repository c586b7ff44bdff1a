"""Assertions about tensors, frozen graphs, and names of before 1.0 that no table counts."""
import numpy as np
import pytest

import weft
from both import both, oracle
from weft._core.framework import protos

BOTH = (weft, oracle)


@pytest.mark.parametrize("name, good, bad", [
    ("assert_equal", (2, 2), (2, 3)), ("assert_none_equal", (1, 2), (2, 2)), ("assert_less", (1, 2), (2, 2)),
    ("assert_less_equal", (2, 2), (3, 2)), ("assert_greater", (3, 2), (2, 2)), ("assert_greater_equal", (2, 2), (1, 2)),
    ("assert_positive", (1,), (0,)), ("assert_negative", (-1,), (0,)), ("assert_non_negative", (0,), (-1,)),
    ("assert_non_positive", (0,), (1,)), ("assert_rank", ([1], 1), ([1], 2)), ("assert_rank_at_least", ([1], 1), ([1], 2))])
def test_assertions_hold_at_once_and_when_run(name, good, bad):
    for tf in BOTH:
        check = getattr(tf, name)
        with tf.Graph().as_default(), tf.Session() as sess:
            sess.run(check(*good))
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                sess.run(check(*bad, message="told so"))
            x = tf.placeholder(tf.int32)
            later = check(x, *good[1:], message="told so")
            sess.run(later, {x: good[0]})
            wrong = bad[0] if "rank" not in name else (3 if name == "assert_rank" else 0)
            with pytest.raises(tf.errors.InvalidArgumentError, match="told so"):
                sess.run(check(x, *bad[1:], message="told so"), {x: wrong})


def test_types_and_numbers_are_checked():
    for tf in BOTH:
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.assert_type(tf.constant(1.0), tf.float32)
            with pytest.raises(TypeError):
                tf.assert_type(tf.constant(1.0), tf.int32)
            x = tf.placeholder(tf.float32, [2])
            finite = tf.verify_tensor_all_finite(x, "not finite")
            assert sess.run(finite, {x: [1, 2]}).tolist() == [1, 2]
            with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
                sess.run(finite, {x: [1, np.nan]})


def test_a_frozen_graph_needs_no_variables():
    found = []
    for tf in BOTH:
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [None, 2], name="x")
            w = tf.Variable(np.float32([[1, 2], [3, 4]]), name="w")
            tf.nn.relu(tf.matmul(x, w) + tf.constant(-5.0), name="y")
            tf.Variable(1.0, name="unused")
            sess.run(tf.global_variables_initializer())
            frozen = tf.graph_util.convert_variables_to_constants(sess, tf.get_default_graph().as_graph_def(), ["y"])
        with tf.Graph().as_default(), tf.Session() as sess:
            y, = tf.import_graph_def(frozen, return_elements=["y:0"], name="")
            found.append(([n.name for n in frozen.node], [n.op for n in frozen.node if n.op != "AddV2" and n.op != "Add"],
                          sess.run(y, {"x:0": [[1, 1]]}).tolist()))
        part = tf.graph_util.extract_sub_graph(frozen, ["w"])
        assert [n.name for n in part.node] == ["w"]
        with pytest.raises(AssertionError):
            tf.graph_util.extract_sub_graph(frozen, ["none"])
    assert found[0] == found[1]


def test_constants_as_messages():
    for value in (np.float32([[1, 2]]), 3, [1.5, 2], ["a", b"b"], np.int64([1]), True):
        ours, theirs = weft.make_tensor_proto(value), oracle.make_tensor_proto(value)
        np.testing.assert_array_equal(weft.make_ndarray(ours), oracle.make_ndarray(theirs))
        again = protos.TensorProto.FromString(theirs.SerializeToString())
        np.testing.assert_array_equal(weft.make_ndarray(again), oracle.make_ndarray(theirs))
        assert ours.dtype == theirs.dtype


def test_convolutions_of_rows_and_with_holes():
    def program(tf):
        x = tf.constant(np.random.RandomState(0).rand(2, 9, 3).astype(np.float32))
        image = tf.constant(np.random.RandomState(1).rand(1, 7, 7, 2).astype(np.float32))
        w, k = tf.ones([3, 3, 4]) * 0.1, tf.ones([3, 3, 2, 2]) * 0.1
        return [tf.nn.conv1d(x, w, 2, "SAME"), tf.nn.conv1d(x, w, stride=1, padding="VALID"),
                tf.nn.atrous_conv2d(image, k, 2, "SAME"), tf.nn.atrous_conv2d(image, k, 2, "VALID")]
    both(program, same_nodes=False)


def test_names_of_before_one():
    with weft.Graph().as_default(), weft.Session() as sess:
        made = [weft.select([True, False], [1, 2], [3, 4]), weft.complex_abs(weft.complex(3.0, 4.0)), weft.inv(4.0), weft.neg(1.0),
                weft.sub(3, 1), weft.mul(3, 2), weft.pack([1, 2]), weft.concat(0, [[1], [2]])]
        assert [np.array(v).tolist() for v in sess.run(made)] == [[1, 4], 5.0, 0.25, -1.0, 2, 6, [1, 2], [1, 2]]


def test_a_supervisor_refuses_variables_without_a_device():
    for tf in BOTH:
        with tf.Graph().as_default():
            tf.Variable(1.0)
            with pytest.raises(ValueError, match="all Variables must have their device set"):
                tf.train.Supervisor(is_chief=False)
