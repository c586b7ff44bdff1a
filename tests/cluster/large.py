"""Messages near protobuf's limit of 2 GiB: run by tests/campaigns/large_messages, not with the other tests."""
import numpy as np
import pytest

import weft as tf

GIB = 2**30


def graph(n):
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(tf.fill([n], 3.0))
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [None])
        return v, tf.reduce_max(tf.identity(v)), x, tf.reduce_sum(x[::4096])


def test_tensors_of_almost_2_gib_travel_between_tasks_and_clients(cluster):
    c = cluster(ps=1, workers=1)
    c.serve("ps", 0), c.serve("worker", 0)
    n = int(1.95 * GIB) // 4
    v, largest, x, some = graph(n)
    for role in ("worker", "ps"):  # the master is beside the reader, then beside the variable
        with tf.Session("grpc://" + c.hosts[role][0]) as sess:
            sess.run(v.initializer)
            assert sess.run(largest) == 3
            fetched = sess.run(v)
            assert fetched.shape == (n,) and fetched[-1] == 3
            assert sess.run(some, {x: fetched}) == 3 * np.ceil(n / 4096)


def test_more_than_2_gib_is_refused_by_name(cluster):
    c = cluster(ps=1, workers=1)
    c.serve("ps", 0), c.serve("worker", 0)
    v, largest, _, _ = graph(int(2.05 * GIB) // 4)
    with tf.Session("grpc://" + c.hosts["worker"][0]) as sess:
        sess.run(v.initializer)
        with pytest.raises(tf.errors.ResourceExhaustedError, match="at most 2048 MiB"):
            sess.run(largest)
        assert sess.run(tf.constant(1.0)) == 1  # the cluster serves on
