"""tf.contrib.staging against the classes that TensorFlow 2 keeps: nodes, values, static shapes."""
import numpy as np
import tensorflow.compat.v1 as oracle
from tensorflow.python.ops import data_flow_ops

import weft

oracle.disable_v2_behavior()
AREAS = {weft: weft.contrib.staging, oracle: data_flow_ops}


def program(tf):
    made, of = AREAS[tf], tf.constant
    key = lambda k: of(k, tf.int64)
    area = made.StagingArea([tf.float32, tf.int32], shapes=[[2], []], capacity=3)
    put, got, size, clear, peeked = area.put([tf.zeros([2]), of(1)]), area.get(), area.size(), area.clear(), area.peek(0)
    named = made.StagingArea([tf.float32], names=["x"], shared_name="named")
    put_named, got_named = named.put({"x": of(1.5)}), named.get()
    keyed = made.MapStagingArea([tf.float32, tf.int32], ordered=True)
    put_keyed, got_keyed, any_keyed = keyed.put(key(3), [of(1.0), of(2)], [0, 1]), keyed.get(key(3)), keyed.get()
    part, rest, held, missing = keyed.put(key(4), [of(1.0)], [0]), keyed.peek(key(3)), keyed.size(), keyed.incomplete_size()
    nodes = [(n.name, n.op, tuple(n.input)) for n in tf.get_default_graph().as_graph_def().node if n.op != "NoOp"]
    described = [area.name, area.capacity, area.memory_limit, area.names, [s.as_list() for s in area.shapes], named.name, keyed.name,
                 [str(t.shape) for t in got], sorted(got_named)]
    with tf.Session() as session:
        values = []
        for step in (put, size, peeked, got, put_named, got_named, put_keyed, held, rest, got_keyed, put_keyed, part, missing, any_keyed,
                     put, clear, size):
            values.append(repr(session.run(step)))
        return nodes, described, values


def test_areas_are_tensorflows():
    found = {}
    for tf in AREAS:
        with tf.Graph().as_default():
            found[tf] = program(tf)
    assert sorted(found[weft][0]) == sorted(found[oracle][0])
    assert found[weft][1:] == found[oracle][1:]


def test_a_wait_ends_with_the_deadline_of_its_step():
    with weft.Graph().as_default():
        got = weft.contrib.staging.StagingArea([weft.float32]).get()
        with weft.Session(config=weft.ConfigProto(operation_timeout_in_ms=200)) as session:
            try:
                session.run(got)
            except weft.errors.DeadlineExceededError:
                return
    raise AssertionError("the step did not time out: %r" % np.array(0))
