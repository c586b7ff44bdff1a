"""Variables in pieces: partitioners, lookups over pieces, and checkpoints that both read into any cut."""
import numpy as np
import pytest

import weft
from both import both, compare, oracle


def test_pieces_have_tensorflows_nodes_and_values():
    def program(tf):
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)):
            v = tf.get_variable("v", [7, 4], initializer=tf.random_normal_initializer(seed=3))
        return [tf.identity(v), [x.name for x in v], v.name, v.shape.as_list(), len(v)]
    both(program)


def test_created_pieces_are_named_by_their_scope():
    def program(tf):
        made = tf.create_partitioned_variables(shape=[6, 2], slicing=[3, 1], initializer=tf.random_normal_initializer(seed=2),
                                               dtype=tf.float32, trainable=True, name="parts")
        return list(made) + [[v.name for v in made]]
    both(program)


def test_partitioners_count_as_tensorflows_do():
    def program(tf):
        makers = (tf.variable_axis_size_partitioner(64), tf.variable_axis_size_partitioner(64, axis=1, max_shards=2),
                  tf.min_max_variable_partitioner(4, min_slice_size=40), tf.fixed_size_partitioner(2, axis=1))
        return [[[int(n) for n in p(shape=tf.TensorShape([10, 6]), dtype=tf.float32)] for p in makers]]
    both(program, same_nodes=False)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_lookups_and_updates_reach_the_right_piece(strategy):
    def program(tf):
        v = tf.get_variable("e", [10, 4], partitioner=tf.fixed_size_partitioner(3),
                            initializer=tf.random_uniform_initializer(seed=1))
        found = tf.nn.embedding_lookup(v, [0, 3, 9, 5, 3], partition_strategy=strategy)
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.square(found)))
        with tf.control_dependencies([train]):
            return [found, tf.concat([x.read_value() for x in v], 0)]
    both(program, same_nodes=False)


def test_sparse_lookups_combine():
    def program(tf):
        s = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 4, 2], [3, 2])
        v = tf.get_variable("e", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.random_uniform_initializer(seed=1))
        return [tf.nn.embedding_lookup_sparse(v, s, None, combiner=c) for c in ("sum", "mean", "sqrtn")]
    both(program, same_nodes=False)


def saved(tf, path, sharded):
    with tf.Graph().as_default():
        v = tf.get_variable("v", [7, 4], partitioner=tf.fixed_size_partitioner(3), initializer=tf.random_normal_initializer(seed=3))
        tf.get_variable("w", [3], initializer=tf.ones_initializer())
        train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(v, [1, 5], partition_strategy="div")))
        averages = tf.train.ExponentialMovingAverage(0.9).apply(list(v))
        saver = tf.train.Saver(sharded=sharded)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run([train, averages])
            saver.save(sess, path)
            return sess.run(tf.concat(list(v), 0))


@pytest.mark.parametrize("sharded", [False, True])
def test_each_reads_the_others_pieces_into_any_cut(tmp_path, sharded):
    paths = {tf: str(tmp_path / tf.__name__) for tf in (weft, oracle)}
    values = {tf: saved(tf, paths[tf], sharded) for tf in paths}
    compare(values[weft], values[oracle])
    names = [tf.train.list_variables(paths[tf]) for tf in paths]
    assert names[0] == names[1]
    for reader in paths:
        for writer in paths:
            compare(reader.train.load_variable(paths[writer], "v"), values[writer])
            for parts in (1, 2, 3):
                with reader.Graph().as_default():
                    v = reader.get_variable("v", [7, 4], partitioner=reader.fixed_size_partitioner(parts))
                    with reader.Session() as sess:
                        reader.train.Saver().restore(sess, paths[writer])
                        np.testing.assert_array_equal(sess.run(reader.concat(list(v), 0)), values[writer])
