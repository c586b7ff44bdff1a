"""Sparse tensors put together, cut and added up: the values that TensorFlow makes of the same program."""
import numpy as np
import pytest

import weft
from both import both, both_raise, oracle

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


# ---- values of a run as arguments ----

FUNCTIONS = {
    "to_dense": lambda tf, s: tf.sparse_tensor_to_dense(s),
    "matmul": lambda tf, s: tf.sparse_tensor_dense_matmul(s, [[1.0], [2.0]]),
    "reorder": lambda tf, s: tf.sparse_tensor_to_dense(tf.sparse_reorder(s)),
    "reshape": lambda tf, s: tf.sparse_tensor_to_dense(tf.sparse_reshape(s, [4])),
    "retain": lambda tf, s: tf.sparse_tensor_to_dense(tf.sparse_retain(s, [True, False])),
    "slice": lambda tf, s: tf.sparse_tensor_to_dense(tf.sparse_slice(s, [0, 0], [1, 2])),
    "split": lambda tf, s: tf.sparse_tensor_to_dense(tf.sparse_split(sp_input=s, num_split=2, axis=0)[1]),
    "concat": lambda tf, s: tf.sparse_tensor_to_dense(tf.sparse_concat(1, [s, s])),
    "fill": lambda tf, s: tf.sparse_fill_empty_rows(s, 7.0)[1],
}
SIZES = {
    "add": lambda tf, s: tf.sparse_tensor_to_dense(tf.sparse_add(s, s)),
    "add_dense": lambda tf, s: tf.sparse_add(s, np.ones((2, 2), np.float32)),
    "sum": lambda tf, s: tf.sparse_reduce_sum(s, 0), "max": lambda tf, s: tf.sparse_reduce_max(s, 1),
    "shape": lambda tf, s: tf.shape(s), "size": lambda tf, s: tf.size(s), "rank": lambda tf, s: tf.rank(s),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *SIZES])
def test_the_value_of_a_sparse_tensor_is_taken_as_one(name):
    call = {**FUNCTIONS, **SIZES}[name]
    both(lambda tf: call(tf, tf.SparseTensorValue(np.array([[0, 1], [1, 0]]), np.array([3.0, 4], np.float32), np.array([2, 2]))),
         same_nodes=False)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_dense_tensor_is_no_sparse_one(name):
    for given in (3, [1.0]):
        for message in both_raise(lambda tf: FUNCTIONS[name](tf, tf.constant(given))):
            assert "Input must be a SparseTensor" in message


def test_sums_with_sparse_tensors_need_one_shape():
    def program(tf):
        v = tf.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0]])
        s = tf.SparseTensor([[0, 1]], tf.get_variable("w", initializer=[3.0]), [2, 2])
        return [tf.sparse_add(s, v), *tf.gradients(tf.square(tf.sparse_add(v, s)), tf.trainable_variables())]
    both(program, same_nodes=False)
    both_raise(lambda tf: tf.sparse_add(tf.SparseTensor([[0, 0]], [1], [2, 2]), tf.constant([[1, 2]])))
    both_raise(lambda tf: tf.sparse_add(tf.SparseTensor([[0, 0]], [1], [2, 2]), tf.SparseTensor([[1, 0]], [2], [3, 2])))
    both_raise(lambda tf: tf.sparse_concat(0, []))
