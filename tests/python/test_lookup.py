"""Lookup tables: the nodes and the values that TensorFlow makes of the same program, and tables in what is supervised."""
import numpy as np
import pytest
import tensorflow.compat.v1 as oracle
from tensorflow.python.ops import lookup_ops

import weft
from both import both


def module(tf):
    """tf.contrib.lookup, which TensorFlow 2.15 keeps elsewhere."""
    return tf.contrib.lookup if tf is weft else lookup_ops


def test_a_table_of_pairs():
    def program(tf):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        found = table.lookup(tf.constant([["a", "c"], ["b", "a"]]))
        return [found, table.size(), table.key_dtype.name, table.value_dtype.name, table.name, found.shape.as_list(),
                tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)[0].name]
    both(program)


def test_words_and_their_numbers():
    def program(tf):
        lookup = module(tf)
        words = tf.constant(["b", "z", "a", "y"])
        numbers = tf.constant([1, 5, 0], tf.int64)
        return [lookup.index_table_from_tensor(["a", "b"]).lookup(words),
                lookup.index_table_from_tensor(["a", "b"], default_value=7, name="named").lookup(words, name="found"),
                lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=3).lookup(words),
                lookup.index_table_from_tensor([5, 6], num_oov_buckets=2, dtype=tf.int64).lookup(numbers),
                lookup.index_table_from_tensor(["a"], num_oov_buckets=4, hasher_spec=lookup.StrongHashSpec([3, 4])).lookup(words),
                lookup.index_to_string_table_from_tensor(["a", "b"], default_value="?").lookup(numbers)]
    both(program)


def test_words_of_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a\nb\nc\n")
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("a 5\nb 6\n")

    def program(tf):
        lookup = module(tf)
        words = tf.constant(["b", "z", "c"])
        init = tf.lookup.TextFileInitializer(str(pairs), tf.string, 0, tf.int64, 1, delimiter=" ")
        return [lookup.index_table_from_file(str(path), num_oov_buckets=1).lookup(words),
                lookup.index_table_from_file(str(path), vocab_size=2).lookup(words),
                lookup.index_to_string_table_from_file(str(path)).lookup(tf.constant([2, 9], tf.int64)),
                tf.lookup.StaticHashTable(init, -1).lookup(words)]
    both(program)


def test_sparse_keys_keep_their_places():
    def program(tf):
        found = module(tf).index_table_from_tensor(["a", "b"]).lookup(tf.SparseTensor([[0, 1], [2, 0]], ["b", "c"], [3, 2]))
        return [found.indices, found.values, found.dense_shape]
    both(program)


def test_a_vocabulary_with_buckets():
    def program(tf):
        init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        table = tf.lookup.StaticVocabularyTable(init, 2)
        return [table.lookup(tf.constant(["q", "a", "r"])), table.size()]
    both(program)


def test_what_a_program_cannot_mean():
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            lookup = module(tf)
            with pytest.raises(ValueError):
                lookup.index_table_from_tensor(["a"], num_oov_buckets=-1)
            with pytest.raises(ValueError):
                lookup.index_table_from_file("")
            with pytest.raises(ValueError):
                tf.lookup.TextFileInitializer("f", tf.string, -1, tf.int64, -1)
            with pytest.raises(TypeError):
                lookup.index_table_from_tensor(["a"]).lookup(tf.constant([1], tf.int64))


def test_a_table_that_steps_change():
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            Table = tf.contrib.lookup.MutableHashTable if tf is weft else tf.lookup.experimental.MutableHashTable
            table, rows = Table(tf.string, tf.int64, -1), Table(tf.int64, tf.float32, [0., 0.])
            keys = tf.constant(["a", "b"])
            put, found, gone = table.insert(keys, tf.constant([1, 2], tf.int64)), table.lookup(keys), table.remove(keys[:1])
            put_rows, rows_found = rows.insert(tf.constant([7], tf.int64), [[1., 2.]]), rows.lookup(tf.constant([7, 8], tf.int64))
            both_of, n = table.export(), table.size()
            with tf.Session() as sess:
                assert sess.run(found).tolist() == [-1, -1]
                sess.run([put, put_rows])
                assert sess.run(found).tolist() == [1, 2] and sess.run(n) == 2
                sess.run(gone)
                assert sess.run(found).tolist() == [-1, 2]
                assert [x.tolist() for x in sess.run(both_of)] == [[b"b"], [2]]
                np.testing.assert_array_equal(sess.run(rows_found), [[1, 2], [0, 0]])


@pytest.mark.parametrize("how", ["supervisor", "monitored"])
def test_tables_are_filled_before_the_first_step(how, tmp_path):
    with weft.Graph().as_default():
        weft.train.get_or_create_global_step()
        found = weft.contrib.lookup.index_table_from_tensor(["a", "b"]).lookup(weft.constant(["b"]))
        if how == "supervisor":
            with weft.train.Supervisor(logdir=str(tmp_path)).managed_session() as sess:
                assert sess.run(found).tolist() == [1]
        else:
            with weft.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as sess:
                assert sess.run(found).tolist() == [1]


def test_a_table_that_nobody_filled_says_so():
    with weft.Graph().as_default():
        found = weft.contrib.lookup.index_table_from_tensor(["a", "b"]).lookup(weft.constant(["b"]))
        with weft.Session() as sess:
            with pytest.raises(weft.errors.FailedPreconditionError, match="Table not initialized"):
                sess.run(found)
            sess.run(weft.tables_initializer())
            assert sess.run(found).tolist() == [1]
