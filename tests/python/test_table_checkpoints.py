"""Lookup tables that may change are saved with variables, under TensorFlow's names; both systems read each other's files."""
import numpy as np
import pytest
import tensorflow.compat.v1 as oracle
from tensorflow.python.ops import lookup_ops

import weft

oracle.disable_v2_behavior()

TABLES = {weft: (weft.lookup.experimental.MutableHashTable, weft.lookup.experimental.DenseHashTable),
          oracle: (lookup_ops.MutableHashTable, lookup_ops.DenseHashTable)}


def numbers(tf, *values):
    return tf.constant(values, tf.int64)


def tables(tf):
    """(ops that fill them, what they hold, what is exported)"""
    mutable, dense = TABLES[tf]
    words = mutable(tf.string, tf.float32, 0.0, name="words")
    rows = mutable(tf.int64, tf.float32, [0.0, 0.5])
    mutable(tf.int64, tf.float32, 0.0, name="left_out", checkpoint=False)
    with tf.variable_scope("scope"):
        inner = mutable(tf.int64, tf.string, "-", name="inner")
    small = dense(tf.int64, tf.float32, default_value=-1.0, empty_key=-7, deleted_key=-8, name="small", initial_num_buckets=4)
    text = dense(tf.string, tf.int64, default_value=numbers(tf, 1, 2), empty_key="", deleted_key="$", initial_num_buckets=8)
    pairs = dense(tf.int64, tf.int64, default_value=numbers(tf, 0)[0], empty_key=numbers(tf, 0, 0), deleted_key=numbers(tf, -1, 0),
                  initial_num_buckets=8, name="pairs")
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    fill = [words.insert(tf.constant(["a", "b"]), [1.0, 2.0]), rows.insert(numbers(tf, 5), [[1.0, 2.0]]),
            inner.insert(numbers(tf, 1, 2), ["x", "y"]), small.insert(numbers(tf, 1, 2, 3, 9, 100), [3.0, 4.0, 5.0, 6.0, 7.0]),
            text.insert(tf.constant(["q", "hello", "w"]), tf.constant([[1, 2], [3, 4], [5, 6]], tf.int64)),
            pairs.insert(tf.constant([[1, 2], [3, 4], [5, 6]], tf.int64), numbers(tf, 7, 8, 9)), tf.assign(v, [7.0, 8.0])]
    held = [words.lookup(tf.constant(["a", "z"])), rows.lookup(numbers(tf, 5, 6)), inner.lookup(numbers(tf, 2, 3)),
            small.lookup(numbers(tf, 1, 2, 3, 9, 100)), text.lookup(tf.constant(["q", "hello", "nope"])),
            pairs.lookup(tf.constant([[3, 4], [9, 9], [1, 2]], tf.int64)), words.size(), small.size(), text.size(), v]
    return fill, held, [*text.export(), *pairs.export()], small


def run(tf, path, save, sharded):
    with tf.Graph().as_default() as graph:
        fill, held, exported, small = tables(tf)
        saver = tf.train.Saver(sharded=sharded)
        wrong = small.insert(numbers(tf, -7), [1.0])
        gone = small.remove(numbers(tf, 3))
        nodes = sorted((n.name, n.op, tuple(sorted(n.input))) for n in graph.as_graph_def().node if n.name.startswith("save/"))
        with tf.Session() as session:
            if save:
                session.run(fill)
                session.run(gone)
                saver.save(session, path)
            else:
                saver.restore(session, path)
            values = session.run(held)
            with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
                session.run(wrong)
            return [v.tolist() for v in values], [v.tolist() for v in session.run(exported)], nodes, tf.train.list_variables(path)


@pytest.mark.parametrize("sharded", [False, True])
def test_tables_are_saved_and_restored_by_both_systems(tmp_path, sharded):
    ours = run(weft, str(tmp_path / "ours"), True, sharded)
    theirs = run(oracle, str(tmp_path / "theirs"), True, sharded)
    assert ours[:2] == theirs[:2] and ours[3] == theirs[3]
    if not sharded:
        assert ours[2] == theirs[2]
    assert run(weft, str(tmp_path / "theirs"), False, sharded)[0] == theirs[0]
    assert run(oracle, str(tmp_path / "ours"), False, sharded)[0] == ours[0]


def test_a_table_grows_with_its_entries_and_can_be_given_to_a_saver(tmp_path):
    def program(tf, path):
        with tf.Graph().as_default():
            _, dense = TABLES[tf]
            table = dense(tf.int64, tf.int64, -1, -1, -2, initial_num_buckets=4, name="t")
            keys = tf.range(1000, dtype=tf.int64) * 37
            found = [table.lookup(keys), table.size(), tf.shape(table.export()[0])]
            with tf.Session() as session:
                session.run(table.insert(keys, keys * 2))
                values = session.run(found)
                if tf is weft:
                    tf.train.Saver({"other": table}).save(session, path)
            return [np.asarray(v).tolist() for v in values]

    path = str(tmp_path / "t")
    assert program(weft, path) == program(oracle, path)
    assert [n for n, _ in weft.train.list_variables(path)] == ["other-keys", "other-values"]
