"""A TensorFlow client whose graph calls functions, on a Weft server: the same values as in TensorFlow's own session.

The client sends its whole function library with each extension of the graph.  Protobuf writes the attributes of equal
functions in another order each time.
"""
import numpy as np
import pytest
import tensorflow as tf2

tf = tf2.compat.v1
OPTIONS = tf.RunOptions(timeout_in_ms=60000)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def sessions(server):
    """Two sessions on one graph: on Weft's server, and TensorFlow alone."""
    with tf.Session(server.target) as ours, tf.Session() as theirs:
        yield ours, theirs


@pytest.fixture
def functional_control_flow():
    before = tf.control_flow_v2_enabled()
    tf.enable_control_flow_v2()
    yield
    if not before:
        tf.disable_control_flow_v2()


@pytest.fixture
def all_intermediates(functional_control_flow):
    """If and While have all outputs that a gradient needs from the start: TensorFlow's client cannot add them later."""
    tf.experimental.output_all_intermediates(True)
    yield
    tf.experimental.output_all_intermediates(None)


def same(sessions, tensor, feed=None):
    ours, theirs = (s.run(tensor, feed, options=OPTIONS) for s in sessions)
    for a, b in zip(tf2.nest.flatten(ours), tf2.nest.flatten(theirs)):
        np.testing.assert_allclose(a, b, rtol=2e-4)
    return ours


def test_a_library_is_extended_again_and_again(sessions):
    @tf2.function
    def many(a, b, c):
        d = tf.nn.conv2d(a, b, strides=[1, 1, 1, 1], padding="SAME", data_format="NHWC", dilations=[1, 1, 1, 1])
        d = tf.matmul(tf.reshape(d, [4, 4]), c, transpose_a=True, transpose_b=True)
        return tf.reduce_sum(d, axis=0, keepdims=True), tf.strided_slice(d, [0, 0], [2, 2], [1, 1], end_mask=1)

    a, b, c = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), tf.eye(4) * 3.0
    x = many(a, b, c)
    for i in range(6):
        same(sessions, x)
        x = many(x[1][0, 0] * a, b, c + float(i))  # the graph grows, and the library is sent again


def test_the_gradient_of_cond_is_added_after_a_run(sessions, all_intermediates):
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3])
    y = tf.cond(p, lambda: tf.reduce_sum(x * x) * tf.sin(x[0]), lambda: tf.reduce_sum(tf.exp(x)))
    for branch in True, False:
        same(sessions, y, {p: branch, x: [1, 2, 3]})
    dx, = tf.gradients(y, x)
    ddx, = tf.gradients(dx, x)
    for branch in True, False:
        same(sessions, [y, dx, ddx], {p: branch, x: [1, 2, 3]})


def test_the_gradient_of_a_loop_is_added_after_a_run(sessions, all_intermediates):
    x, n = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y * x + tf.sin(y)), [0, x])
    same(sessions, y, {x: 1.5, n: 3})
    dx, = tf.gradients(y, x)
    for times in 0, 1, 4:
        same(sessions, [y, dx], {x: 1.5, n: times})


def test_without_them_the_error_is_tensorflows(sessions, functional_control_flow):
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3])
    y = tf.cond(p, lambda: tf.reduce_sum(x * x) * tf.sin(x[0]), lambda: tf.reduce_sum(tf.exp(x)))
    feed, said = {p: True, x: [1, 2, 3]}, []
    same(sessions, y, feed)
    dx, = tf.gradients(y, x)
    for s in sessions:
        with pytest.raises(tf.errors.InvalidArgumentError) as e:
            s.run([y, dx], feed)
        said.append(e.value.message)
    assert said[0] == said[1]


def test_a_branch_in_a_loop_with_variables(sessions, functional_control_flow):
    v = tf.get_variable("v", initializer=np.float32([1, 2]), use_resource=True)
    x = tf.placeholder(tf.float32, [2])

    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * v, lambda: y + v)
    y = tf.while_loop(lambda i, _: i < 5, body, [tf.constant(0), x])[1]
    dv, dx = tf.gradients(tf.reduce_sum(y), [v, x])
    for s in sessions:
        s.run(v.initializer)
    same(sessions, [y, dv, dx], {x: [1, 3]})
    for s in sessions:
        s.run(v.assign_sub(0.1 * dv), {x: [1, 3]})
    same(sessions, [v, y, dv], {x: [1, 3]})


def test_a_function_in_a_function_and_its_gradient(sessions):
    @tf2.function
    def inner(a):
        return tf.tanh(a) * a

    @tf2.function
    def outer(a):
        return inner(a) + inner(2.0 * a)

    x = tf.placeholder(tf.float32, [2])
    dx, = tf.gradients(outer(x), x)
    ddx, = tf.gradients(dx, x)
    same(sessions, [dx, ddx], {x: [1, 2]})
    y = outer(x) + inner(dx)
    dy, = tf.gradients(inner(y), y)
    same(sessions, [dx, y, dy], {x: [1, 2]})


def test_a_data_set_with_functions_and_a_second_one(sessions):
    first = tf.data.make_one_shot_iterator(tf.data.Dataset.range(6).map(lambda x: x * 2).filter(lambda x: x > 2)).get_next()
    same(sessions, first)
    second = tf.data.make_one_shot_iterator(tf.data.Dataset.range(6).map(lambda x: x * 3).batch(2)).get_next()
    same(sessions, [first, second])


def test_a_different_function_of_the_same_name_is_refused(server):
    def library(op):
        d = tf.GraphDef()
        f = d.library.function.add()
        f.signature.name = "twins"
        f.signature.input_arg.add(name="x", type=tf.float32.as_datatype_enum)
        f.signature.output_arg.add(name="y", type=tf.float32.as_datatype_enum)
        n = f.node_def.add(name="n", op=op, input=["x"])
        n.attr["T"].type = tf.float32.as_datatype_enum
        f.ret["y"] = "n:y:0"
        d.node.add(name="x" + op, op="Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
        d.node.add(name="call" + op, op="twins", input=["x" + op])
        return d
    tf.import_graph_def(library("Neg"), name="")
    with tf.Session(server.target) as s:
        assert s.run("callNeg:0", {"xNeg:0": 2.0}) == -2.0
        with pytest.raises(ValueError, match="a different function with the same name already exists"):
            tf.import_graph_def(library("Abs"), name="")  # TensorFlow's client itself refuses
        assert s.run("callNeg:0", {"xNeg:0": 3.0}) == -3.0
