"""Tables with keys of any shape: the static shapes of what is found, and lookups with brackets, as in TensorFlow."""
import random

import pytest

import both
import weft as tf


def test_shapes_of_what_is_found():
    def program(tf):
        def table(value, empty, deleted):
            return tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, default_value=value, empty_key=empty, deleted_key=deleted)
        keys = [tf.constant(11, tf.int64), tf.constant([11, 12], tf.int64), tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int64),
                tf.placeholder(tf.int64, [4, None, 2])]
        return [str(t.lookup(k).shape) for t in (table(-1, 0, -1), table([0, 0], 0, -1)) for k in keys] + [
            str(table(-1, [0, 0], [-1, -1]).lookup(k).shape) for k in keys[1:]]
    both.both(program, same_nodes=False)


def test_brackets_look_up():
    def program(tf):
        dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1)
        fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
        return [dense[tf.constant([11], tf.int64)], fixed[tf.constant(["a", "b"])]]
    both.both(program, same_nodes=False)


def dense_ops(tf, load=.8):
    """The ops of a new table of 8 buckets: insert(keys, values), remove(keys) and export()."""
    raw = tf.raw_ops
    table = raw.MutableDenseHashTableV2(empty_key=tf.constant(0, tf.int64), deleted_key=tf.constant(-1, tf.int64), value_shape=[],
                                        value_dtype=tf.float32, initial_num_buckets=8, max_load_factor=load)
    keys, values = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    insert = raw.LookupTableInsertV2(table_handle=table, keys=keys, values=values)
    remove = raw.LookupTableRemoveV2(table_handle=table, keys=keys)
    export = raw.LookupTableExportV2(table_handle=table, Tkeys=tf.int64, Tvalues=tf.float32)
    return (lambda sess, k, v: sess.run(insert, {keys: k, values: v}), lambda sess, k: sess.run(remove, {keys: k}),
            lambda sess: [x.ravel().tolist() for x in sess.run(export)])


def test_a_removed_key_leaves_the_deleted_key_and_its_value_in_its_bucket():
    def program(tf):
        seen = []
        for load in (.5, .8):
            rand = random.Random(5)
            insert, remove, export = dense_ops(tf, load)
            with tf.Session() as sess:
                for step in range(60):
                    held = set(export(sess)[0]) - {0, -1}
                    fresh = [k for k in rand.sample(range(1, 50), 3) if k not in held]  # TensorFlow adds some keys twice
                    if rand.random() < .6 and fresh:
                        insert(sess, fresh, [step + .25 * i for i in range(len(fresh))])
                    elif held:
                        remove(sess, rand.sample(sorted(held), min(3, len(held))))
                    seen += export(sess)
        return seen
    both.both(program, same_nodes=False)


def test_a_key_behind_a_deleted_bucket_is_found_and_has_one_bucket():
    """TensorFlow puts the key into the first deleted bucket as well, and finds it there after it was removed."""
    insert, remove, export = dense_ops(tf)
    with tf.Session() as sess:
        insert(sess, [1, 9], [1, 9])
        remove(sess, [1])
        insert(sess, [9], [10])
        assert export(sess) == [[0, -1, 9] + [0] * 5, [0, 1, 10] + [0] * 5]


@pytest.mark.parametrize("shape", [[2, 2], [4], [1, 3], [2, 2, 2], [2]])
@pytest.mark.parametrize("what", ["find", "insert", "remove"])
def test_keys_are_as_many_as_their_first_dimension_says(shape, what):
    def program(tf):
        keys, raw, seen = tf.placeholder_with_default(tf.ones(shape, tf.int64), None), tf.raw_ops, []
        for key in (0, [0, 0]):
            table = raw.MutableDenseHashTableV2(empty_key=tf.constant(key, tf.int64), deleted_key=tf.constant(key, tf.int64) - 1,
                                                value_dtype=tf.float32)
            values = tf.placeholder_with_default(tf.ones(shape[:-1] if key else shape), None)
            made = {"find": lambda: raw.LookupTableFindV2(table_handle=table, keys=keys, default_value=5.),  # noqa: B023
                    "insert": lambda: raw.LookupTableInsertV2(table_handle=table, keys=keys, values=values),  # noqa: B023
                    "remove": lambda: raw.LookupTableRemoveV2(table_handle=table, keys=keys)}[what]()  # noqa: B023
            with tf.Session() as sess:
                try:
                    seen.append(None if what != "find" else sess.run(made).tolist())
                    sess.run(made)
                except tf.errors.InvalidArgumentError as e:
                    seen.append(next(text for text in ("Expected key shape", "must end with") if text in str(e)))
        return seen
    both.both(program, same_nodes=False)
