"""Sparse tensors put together, cut and added up: the values that TensorFlow makes of the same program."""
import pytest

import weft
from both import both, oracle

PLACES = [[0, 0], [0, 2], [1, 1], [2, 0], [2, 3]]


def sparse(tf, values=(1., 2., 3., 4., 5.), shape=(3, 4), places=PLACES):
    return tf.SparseTensor(places, tf.constant(list(values)), list(shape))


def parts(*tensors):
    return [p for t in tensors for p in (t.indices, t.values, t.dense_shape)]


def test_put_together_and_cut():
    def program(tf):
        a, b = sparse(tf), sparse(tf, (6., 7.), (3, 2), [[0, 1], [2, 0]])
        long = sparse(tf, (8.,), (5, 2), [[4, 1]])
        return parts(tf.sparse_concat(1, [a, b]), tf.sparse_concat(axis=0, sp_inputs=[a, a, a], name="three"), tf.sparse_concat(1, [a]),
                     tf.sparse.concat(1, [a, long], expand_nonconcat_dim=True), tf.sparse_slice(a, [1, 0], [2, 2]),
                     *tf.sparse_split(sp_input=a, num_split=3, axis=1), tf.sparse_retain(a, [True, False, True, True, False]),
                     tf.sparse_transpose(a), tf.sparse.transpose(a, [0, 1]))
    both(program, same_nodes=False)


def test_added_up():
    def program(tf):
        a, b = sparse(tf), sparse(tf, (6., -2.), (3, 4), [[0, 1], [0, 2]])
        return [*parts(tf.sparse_add(a, b), tf.sparse_add(a, b, 2.5), tf.sparse_softmax(a), tf.sparse_reduce_sum_sparse(a, 1),
                       tf.sparse_reduce_max_sparse(a, 0)),
                tf.sparse_add(a, tf.ones([3, 4])), tf.sparse_reduce_sum(a), tf.sparse_reduce_sum(a, 1, keepdims=True),
                tf.sparse.reduce_sum(a, axis=[0]), tf.sparse_reduce_max(a, reduction_axes=[1]),
                tf.sparse.to_dense(a)]
    both(program, same_nodes=False)


def test_gradients():
    def program(tf):
        values = tf.constant([1., 2., 3., 4., 5.])
        a = tf.SparseTensor(PLACES, values, [3, 4])
        other = tf.SparseTensor([[0, 1], [0, 2]], values[:2], [3, 4])
        made = [tf.sparse_add(a, other).values, tf.sparse_softmax(a).values, tf.sparse_reduce_sum(a, 1), tf.sparse_reduce_sum(a),
                tf.sparse_slice(a, [1, 0], [2, 2]).values]
        return [tf.gradients(tf.square(m), values)[0] for m in made]
    both(program, same_nodes=False)


def test_sets_in_rows():
    def program(tf):
        dense, other = tf.constant([[1, 2, 2], [5, 4, 4]]), tf.constant([[2, 3], [4, 5]])
        few = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 3, 4]), [2, 2])
        pairs = [(dense, other), (dense, few), (few, few), (few, dense)]
        made = [f(a, b) for f in (tf.sets.union, tf.sets.intersection, tf.sets.set_difference) for a, b in pairs]
        return parts(*made, tf.sets.difference(dense, few, aminusb=False)) + [tf.sets.set_size(few)]
    both(program, same_nodes=False)


def test_names_of_nodes():
    def program(tf):
        a = sparse(tf)
        return parts(tf.sparse_add(a, a), tf.sparse_slice(a, [0, 0], [1, 1]), tf.sparse_softmax(a))
    both(program, same_nodes=False)
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            a = sparse(tf)
            assert tf.sparse_add(a, a).op.type == "SparseAdd" and tf.sparse_softmax(a).op.name == "SparseSoftmax/SparseSoftmax"
            assert tf.sparse_reduce_sum(a, 1).shape.as_list() == [3]


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="tf.sparse.nothing is not in Weft"):
        weft.sparse.nothing
    with weft.Graph().as_default():
        with pytest.raises(TypeError):
            weft.sparse_add(weft.constant(1.), weft.constant(2.))
        with pytest.raises(ValueError):
            weft.sparse_split(1, 2, 3)
