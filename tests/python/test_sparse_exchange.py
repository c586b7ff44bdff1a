"""Lookups and sparse updates of two ps: the values are those of one process, bit for bit, and TensorFlow's."""
import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import weft
from scripts import free_ports

oracle.disable_v2_behavior()

STEPS = 8


def model(tf, optimizer, pieces, resource):
    """Four tables, one of them in pieces, one with pairs of ids; a dense layer; a rate that decays with the step."""
    tf.get_variable_scope().set_use_resource(resource)
    init = tf.random_uniform_initializer(-0.5, 0.5, seed=3)
    ids = tf.placeholder(tf.int64, [None, 2], name="ids")
    bags = tf.placeholder(tf.int64, [None, 3], name="bags")
    step = tf.train.get_or_create_global_step()
    columns = [tf.nn.embedding_lookup(tf.get_variable("table%d" % i, [20, 4], initializer=init), ids[:, i]) for i in range(2)]
    pairs = tf.nn.embedding_lookup(tf.get_variable("pairs", [20, 4], initializer=init), ids)
    columns.append(tf.reshape(pairs, [-1, 8]))
    table = tf.get_variable("bag", [20, 4], initializer=init, partitioner=tf.fixed_size_partitioner(pieces))
    where = tf.where(tf.greater_equal(bags, 0))
    sparse = tf.SparseTensor(where, tf.gather_nd(bags, where), tf.shape(bags, out_type=tf.int64))
    columns.append(tf.nn.embedding_lookup_sparse(table, sparse, None, combiner="mean"))
    out = tf.layers.dense(tf.concat(columns, 1), 1, kernel_initializer=init, name="out")
    rate = tf.train.exponential_decay(0.1, step, 3, 0.9)
    return optimizer(tf, rate).minimize(tf.reduce_mean(tf.square(out - 1.0)), global_step=step)


def trained(tf, target, train):
    """All variables after the steps, by name."""
    rng = np.random.default_rng(5)
    with tf.Session(target) as sess:
        tf.set_random_seed(1)
        sess.run(tf.global_variables_initializer())
        for _ in range(STEPS):
            bags = rng.integers(-1, 20, (6, 3))
            bags[:, 0] = abs(bags[:, 0])
            sess.run(train, {"ids:0": rng.integers(0, 20, (6, 2)), "bags:0": bags})
        return dict(sorted(sess.run({v.op.name: v for v in tf.global_variables()}).items()))


def alone(tf, *how):
    with tf.Graph().as_default():
        return trained(tf, "", model(tf, *how))


def on_two_ps(tf, *how):
    hosts = ["localhost:%d" % p for p in free_ports(3)]
    spec = {"ps": hosts[:2], "worker": hosts[2:]}
    servers = [tf.train.Server(spec, job, i) for job in spec for i in range(len(spec[job]))]
    with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(spec))):
        return trained(tf, servers[-1].target, model(tf, *how))


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(("optimizer", "pieces"), [(lambda tf, rate: tf.train.AdamOptimizer(rate), 2),
                                                   (lambda tf, rate: tf.train.AdagradOptimizer(rate), 3)])
def test_tables_and_slots_of_two_ps(optimizer, pieces, resource):
    ours, theirs = alone(weft, optimizer, pieces, resource), alone(oracle, optimizer, pieces, resource)
    cluster = on_two_ps(weft, optimizer, pieces, resource)
    assert list(ours) == list(theirs) == list(cluster)
    for name, value in ours.items():
        assert value.tobytes() == cluster[name].tobytes(), name
        np.testing.assert_allclose(value, theirs[name], 2e-5, 1e-6, err_msg=name)
