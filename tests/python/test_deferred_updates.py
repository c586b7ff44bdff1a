"""Sparse Adam, whose effect on untouched rows Weft computes later: the bits of the dense pass, and TensorFlow's numbers.

WEFT_DENSE_UPDATES=1 makes Weft run TensorFlow's ops as they are.
"""
import numpy as np
import pytest

import weft
from both import compare, oracle
from scripts import free_ports

ROWS, WIDTH = 50, 5


def model(tf, resource=False, pieces=None, optimizer=None, combiner=None):
    """A table, its lookup, a loss and a training step."""
    first = tf.random_normal_initializer(seed=3)
    partitioner = tf.fixed_size_partitioner(pieces) if pieces else None
    table = tf.get_variable("e", [ROWS, WIDTH], initializer=first, use_resource=resource, partitioner=partitioner)
    ids, want = tf.placeholder(tf.int64, [None], "ids"), tf.placeholder(tf.float32, [None, WIDTH], "want")
    found = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_sum(tf.square(found - want))
    make = optimizer or (lambda: tf.train.AdamOptimizer(0.05))
    return ids, want, found, loss, make().minimize(loss)


def batch(rng, most=6):
    n = rng.randint(0, most)
    return rng.randint(0, ROWS, size=n), rng.randn(n, WIDTH).astype(np.float32)


def train(tf, sess, parts, rng, steps, kept, between=None):
    ids, want, found, loss, step = parts
    for i in range(steps):
        x, y = batch(rng)
        kept.append(sess.run([found, loss, step], {ids: x, want: y})[:2])
        if between:
            between(i)


def bits(values):
    """All arrays in a nest, as bytes."""
    if isinstance(values, (list, tuple)):
        return [b for v in values for b in bits(v)]
    return [np.asarray(values).tobytes()]


def deferred_and_dense(monkeypatch, program):
    """program() gives the same bits with and without deferred updates."""
    monkeypatch.setenv("WEFT_DENSE_UPDATES", "1")
    with weft.Graph().as_default():
        dense = program()
    monkeypatch.setenv("WEFT_DENSE_UPDATES", "0")
    with weft.Graph().as_default():
        deferred = program()
    assert len(bits(dense)) > 50
    assert bits(deferred) == bits(dense)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("pieces", [None, 3])
def test_steps_reads_saves_restores_and_assigns(monkeypatch, tmp_path, resource, pieces):
    def program():
        tf, rng, kept = weft, np.random.RandomState(7), []
        parts = model(tf, resource, pieces)
        every, saver = tf.global_variables(), tf.train.Saver()
        scale = [tf.assign(v, v * 0.5) for v in every if v.shape.rank == 2]
        rows = [tf.scatter_update(v, [1, 3], np.ones((2, WIDTH))) for v in every if v.shape.rank == 2]

        def between(i):
            what = rng.randint(0, 14)
            v = every[rng.randint(len(every))]
            if what == 0:
                kept.append(sess.run(v))
            elif what == 1:
                sess.run(scale[rng.randint(len(scale))])
            elif what == 2:
                sess.run(rows[rng.randint(len(rows))])
            elif what == 3:
                saver.save(sess, str(tmp_path / "ckpt"))
            elif what == 4 and saver.last_checkpoints:
                saver.restore(sess, str(tmp_path / "ckpt"))
            elif what == 5:
                kept.append(sess.run([tf.gather(v, [0]) for v in every if v.shape.rank == 2]))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            train(tf, sess, parts, rng, 150, kept, between)
            kept.append(sess.run(every))
        return kept
    deferred_and_dense(monkeypatch, program)


@pytest.mark.parametrize("resource", [False, True])
def test_the_chain_is_one_op_unless_its_values_are_used(monkeypatch, resource):
    tf = weft
    with tf.Graph().as_default():
        ids, want, found, loss, step = model(tf, resource)
        graph = tf.get_default_graph()
        new_slots = [n for n in graph.get_operations() if n.type in ("ScatterAdd", "ResourceScatterAdd")]
        assert len(new_slots) == 2

        def ran(fetches):
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                seen = tf.RunMetadata()
                sess.run(fetches, {ids: [1, 2], want: np.ones((2, WIDTH))},
                         options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=seen)
            return {n.node_name for d in seen.step_stats.dev_stats for n in d.node_stats}
        chain = {n.name for n in new_slots}
        assert not chain & ran([step, loss])
        if not resource:
            assert chain <= ran([step, new_slots[0].outputs[0]])
        monkeypatch.setenv("WEFT_DENSE_UPDATES", "1")
        assert chain <= ran([step, loss])


def test_the_slots_that_a_step_fetches_are_those_after_it(monkeypatch):
    def program():
        tf, rng, kept = weft, np.random.RandomState(5), []
        ids, want, found, loss, step = model(tf)
        slots = [n.outputs[0] for n in tf.get_default_graph().get_operations() if n.type == "ScatterAdd"]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(60):
                x, y = batch(rng)
                more = slots if i % 5 == 0 else []
                kept.append(sess.run([step, loss] + more, {ids: x, want: y})[1:])
        return kept
    deferred_and_dense(monkeypatch, program)


def test_two_sessions_on_one_server(monkeypatch):
    def program():
        tf, rng, kept = weft, np.random.RandomState(9), []
        parts = model(tf)
        server = tf.train.Server.create_local_server()
        with tf.Session(server.target) as one, tf.Session(server.target) as two:
            one.run(tf.global_variables_initializer())
            for i in range(40):
                train(tf, (one, two)[rng.randint(2)], parts, rng, 1, kept)
                if rng.rand() < 0.2:
                    kept.append((one, two)[rng.randint(2)].run(tf.global_variables()))
        return kept
    deferred_and_dense(monkeypatch, program)


@pytest.mark.parametrize("resource", [False, True])
def test_two_workers_and_a_ps(monkeypatch, resource):
    def program():
        tf, rng, kept = weft, np.random.RandomState(2), []
        hosts = ["localhost:%d" % p for p in free_ports(3)]
        spec = {"ps": hosts[:1], "worker": hosts[1:]}
        servers = [tf.train.Server(spec, job, i) for job in spec for i in range(len(spec[job]))]
        with tf.device(tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(spec))):
            parts = model(tf, resource, 2)
        sessions = [tf.Session(s.target) for s in servers[1:]]
        sessions[0].run(tf.global_variables_initializer())
        for i in range(40):
            train(tf, sessions[i % 2], parts, rng, 1, kept)
            if i % 9 == 8:
                kept.append(sessions[i % 2].run(tf.global_variables()))
        kept.append(sessions[0].run(tf.global_variables()))
        for s in sessions:
            s.close()
        return kept
    deferred_and_dense(monkeypatch, program)


@pytest.mark.parametrize("resource", [False, True])
def test_a_rate_that_changes_control_edges_and_a_queue(monkeypatch, resource):
    """The rate is a variable, the step waits for other ops, and the dataflow executor runs it."""
    def program():
        tf, rng, kept = weft, np.random.RandomState(4), []
        count = tf.train.get_or_create_global_step()
        queue = tf.FIFOQueue(100, [tf.int64], [[3]])
        fill = queue.enqueue_many([rng.randint(0, ROWS, size=(60, 3))])
        table = tf.get_variable("e", [ROWS, WIDTH], initializer=tf.random_normal_initializer(seed=3), use_resource=resource)
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
        found = tf.nn.embedding_lookup(table, queue.dequeue())
        loss = tf.reduce_sum(tf.square(found))
        rate = tf.train.exponential_decay(0.1, count, 7, 0.7)
        with tf.control_dependencies([tf.assign_add(total, loss)]):
            step = tf.train.AdamOptimizer(rate, beta1=0.8, beta2=0.95, epsilon=1e-4).minimize(loss, global_step=count)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(fill)
            for i in range(60):
                kept.append(sess.run([loss, step])[:1])
            kept.append(sess.run(tf.global_variables()))
        return kept
    deferred_and_dense(monkeypatch, program)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("pieces", [None, 3])
def test_tables_and_slots_after_200_steps_are_tensorflows(resource, pieces):
    def program(tf):
        kept, rng = [], np.random.RandomState(1)
        with tf.Graph().as_default():
            tf.set_random_seed(11)
            parts = model(tf, resource, pieces)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                train(tf, sess, parts, rng, 200, [])
                kept = sess.run(tf.global_variables())
        return kept
    compare(program(weft), program(oracle), 1e-5)


def test_two_optimizers_on_one_table(monkeypatch):
    def program():
        tf, rng, kept = weft, np.random.RandomState(8), []
        parts = model(tf)
        ids, want, found, loss, step = parts
        other = tf.train.AdamOptimizer(0.01, name="other").minimize(-loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(60):
                train(tf, sess, (ids, want, found, loss, (step, other)[rng.randint(2)]), rng, 1, kept)
            kept.append(sess.run(tf.global_variables()))
        return kept
    deferred_and_dense(monkeypatch, program)


def test_a_variable_of_another_shape_or_without_a_value_is_an_error():
    tf = weft
    with tf.Graph().as_default():
        ids, want, found, loss, step = model(tf)
        with tf.Session() as sess:
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
                sess.run(step, {ids: [1], want: np.ones((1, WIDTH))})
            sess.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 50 is not in \[0, 50\)"):
                sess.run(step, {ids: [50], want: np.ones((1, WIDTH))})
