"""Sparse updates that are divided among threads: the bits are those of one thread, and the values TensorFlow's."""
import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import weft

oracle.disable_v2_behavior()

ROWS = 5000


def updated(tf, update, width, threads):
    """A table after two updates with ids of which small ones are frequent and many occur again."""
    rng = np.random.default_rng(4)
    with tf.Graph().as_default():
        table = tf.get_variable("table", initializer=rng.standard_normal((ROWS, width)).astype("float32"))
        ids = tf.constant((rng.zipf(1.3, 40000 // width) - 1) % ROWS)
        rows = tf.constant(rng.standard_normal((40000 // width, width)).astype("float32"))
        step = update(tf, table, ids, rows)
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads)) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(2):
                session.run(step)
            return session.run(table)


def optimized(make):
    return lambda tf, table, ids, rows: make(tf).apply_gradients([(tf.IndexedSlices(rows, ids), table)])


@pytest.mark.parametrize("width", [1, 16])
@pytest.mark.parametrize("update", [optimized(lambda tf: tf.train.AdagradOptimizer(0.1)),
                                    optimized(lambda tf: tf.train.MomentumOptimizer(0.1, 0.9)),
                                    optimized(lambda tf: tf.train.AdamOptimizer(0.1)),
                                    lambda tf, table, ids, rows: tf.scatter_add(table, ids, rows)])
def test_threads_give_the_bits_of_one(update, width):
    alone = updated(weft, update, width, 1)
    assert alone.tobytes() == updated(weft, update, width, 4).tobytes()
    np.testing.assert_allclose(alone, updated(oracle, update, width, 1), 2e-4, 2e-4)
