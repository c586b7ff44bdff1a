"""Partial runs and callables by the protocol: clients and servers of both kinds give what TensorFlow gives alone."""
import pytest
import tensorflow as tf2
from tensorflow.core.protobuf import config_pb2

import partial
import weft

tf = tf2.compat.v1
tf.disable_control_flow_v2()


@pytest.fixture(scope="module")
def theirs():
    return tf.train.Server.create_local_server().target


@pytest.fixture(scope="module")
def expected(theirs):
    return {name: partial.run(tf, theirs, name) for name in partial.SCENARIOS}


def test_a_tensorflow_client_of_a_weft_server(server, expected):
    for name, values in expected.items():
        partial.same(partial.run(tf, server.target, name), values)


def test_a_weft_client_of_a_weft_server(server, expected):
    for name, values in expected.items():
        partial.same(partial.run(weft, server.target, name), values)


def test_a_weft_client_of_a_tensorflow_server(theirs, expected):
    for name, values in expected.items():
        partial.same(partial.run(weft, theirs, name), values)


def callable_of(sess, feeds, fetches, targets=()):
    options = config_pb2.CallableOptions()
    options.feed.extend(feeds), options.fetch.extend(fetches), options.target.extend(targets)
    return sess._make_callable_from_options(options)


@pytest.mark.parametrize("feeds,fetches,targets", [
    (["a:0", "a:0"], ["r1:0"], []), (["zz:0"], ["r1:0"], []), (["a:0"], ["zz:0"], []), (["a:0"], [], ["zz"]),
    (["a:0"], ["r1:7"], []), (["a:5"], ["r1:0"], []), (["a:0"], ["a:0"], []), (["a:0"], [], [])])
def test_a_wrong_callable_has_tensorflows_words(server, theirs, feeds, fetches, targets):
    said = []
    for target in server.target, theirs:
        with tf.Graph().as_default():
            p = partial.Program(tf)
            with tf.Session(target) as sess:
                sess.run(p.v.initializer)
                said.append(partial.outcome(callable_of, sess, feeds, fetches, targets))
    assert said[0] == said[1]


def test_a_partial_run_leaves_nothing_behind(server):
    with tf.Graph().as_default():
        a, b = tf.placeholder(tf.float32, [250000]), tf.placeholder(tf.float32, [])
        x, y = a + 1.0, a * b
        with tf.Session(server.target) as sess:
            def one():
                h = sess.partial_run_setup([x, y], [a, b])
                sess.partial_run(h, x, {a: [1.0] * 250000})
                sess.partial_run(h, y, {b: 2.0})
            for _ in range(5):
                one()
            before = server.memory_mb()
            for _ in range(20):
                one()
            assert server.memory_mb() - before < 8
