"""Sparse tensors kept under numbers: what is added comes back, once, as rows of one tensor.

The numbers themselves are the table's own: what is compared is what they bring back.
"""
import pytest
import tensorflow as tf

from scenario import Fails, check

raw = tf.raw_ops


def ints(x):
    return tf.constant(x, tf.int64)


def take(handles, dtype=tf.float32, name="m"):
    return list(raw.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=dtype, shared_name=name))


def add(indices, values, shape, many=False, name="m"):
    kind = raw.AddManySparseToTensorsMap if many else raw.AddSparseToTensorsMap
    return kind(sparse_indices=ints(indices), sparse_values=values, sparse_shape=ints(shape), shared_name=name)


def one_by_one():
    a = add([[0], [2]], [1., 2.], [3])
    with tf.control_dependencies([a]):  # which decides their numbers
        b = add([[1]], [3.], [5])
    return [take(tf.stack([b, a])), take(tf.stack([a, b, a]))]


def rows():
    many = add([[0, 1], [0, 2], [2, 0]], [1., 2., 3.], [3, 4], True)
    deep = add([[0, 1, 1], [1, 0, 2]], ["x", "y"], [2, 2, 3], True, "words")
    return [take(many), take(many[::-1]), take(deep, tf.string, "words")]


def wrong():
    a, other = add([[0], [2]], [1., 2.], [3]), add([[0, 0]], [1.], [3, 3])
    return [take(tf.stack([a]), tf.int32), take(tf.stack([a, a])[:0]), take(tf.stack([a, other])), take(ints([99999])),
            add([[0]], [1.], [3], True), Fails(add([[5, 0]], [1.], [3, 4], True)), Fails(add([[5, 0]], [1., 2.], [3, 4])),
            take(ints([0]), name="nothing")]


def written_and_read():
    """Sparse tensors as rows of variants and of bytes, joined again."""
    a, b = [[0, 1], [2, 0]], [[1, 1]]
    steps = []
    for kind in (tf.string, tf.variant):
        one = raw.SerializeSparse(sparse_indices=ints(a), sparse_values=[1.5, 2.5], sparse_shape=ints([3, 2]), out_type=kind)
        two = raw.SerializeSparse(sparse_indices=ints(b), sparse_values=[3.5], sparse_shape=ints([2, 4]), out_type=kind)
        for serial in (one, tf.stack([one, two]), tf.stack([[one, two]])):
            steps.append(list(raw.DeserializeSparse(serialized_sparse=serial, dtype=tf.float32)))
        steps.append(Fails(list(raw.DeserializeSparse(serialized_sparse=one, dtype=tf.int32))))
        if kind == tf.string:
            steps.append(list(raw.DeserializeManySparse(serialized_sparse=tf.stack([one, two]), dtype=tf.float32)))
    return steps


@pytest.mark.parametrize("build", [one_by_one, rows, wrong, written_and_read])
def test_kept_and_taken(build):
    check(build)
