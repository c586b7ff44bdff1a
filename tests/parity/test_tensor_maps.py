"""Maps from tensors to tensors."""
import tensorflow as tf

from scenario import Fails, check

raw = tf.raw_ops


def insert(handle, key, value):
    return raw.TensorMapInsert(input_handle=handle, key=key, value=value)


def lookup(handle, key, dtype=tf.float32):
    return raw.TensorMapLookup(input_handle=handle, key=key, value_dtype=dtype)


def size(handle):
    return raw.TensorMapSize(input_handle=handle)


def entries():
    none = raw.EmptyTensorMap()
    one = insert(none, "a", [1.0, 2.0])
    two = insert(one, "b", [3.0])
    other = insert(two, "a", ["x"])
    erased = raw.TensorMapErase(input_handle=two, key="a", value_dtype=tf.float32)
    numbers = insert(insert(none, [1, 2], 5.0), [1, 2], 6.0)
    has = lambda handle, key: raw.TensorMapHasKey(input_handle=handle, key=key)
    keys = lambda handle, dtype: raw.TensorMapStackKeys(input_handle=handle, key_dtype=dtype)
    mixed = insert(insert(none, 1, 5.0), [1, 2], 6.0)
    return [[size(h) for h in (none, one, two, other, erased, numbers)],
            [lookup(two, "a"), lookup(two, "b"), lookup(other, "a", tf.string)],
            [has(two, "z"), has(two, "b"), has(numbers, [1, 2]), has(numbers, 1), has(numbers, 1.0), has(erased, "a")],
            keys(one, tf.string), keys(numbers, tf.int32), lookup(numbers, [1, 2]), Fails(lookup(two, "z")), Fails(keys(none, tf.string)),
            Fails(keys(one, tf.int32)), Fails(keys(mixed, tf.int32)), Fails(lookup(one, "a", tf.int32)),
            Fails(raw.TensorMapErase(input_handle=one, key="z", value_dtype=tf.float32))]


def test_maps_keep_their_entries():
    check(entries)
