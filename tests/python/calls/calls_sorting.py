"""Sorting, rolling, repeating, scattering into copies, and other functions on arrays that came after TensorFlow 1.4."""
import numpy as np

from machine import case

X = np.array([[3.0, 1.0, 2.0], [0.5, -4.0, 9.0]], np.float32)
N = np.array([[5, 2, 8], [1, 1, -3]], np.int32)


@case
def sorted_arrays(tf):
    return [tf.sort(X), tf.sort(X, axis=0, direction="DESCENDING"), tf.sort(N, name="s"), tf.sort(values=X[0]),
            tf.sort(N, direction="DESCENDING")]


@case
def sorted_places(tf):
    return [tf.argsort(X), tf.argsort(X, axis=0), tf.argsort(N, direction="DESCENDING", stable=True, name="a"),
            tf.argsort(values=X[1])]


@case(nodes=False)
def sorted_search(tf):
    return [tf.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 6.0]), tf.searchsorted([1, 3, 3, 5], [3], side="right"),
            tf.searchsorted(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.5], [5.0]]), out_type=tf.int64,
                            name="found")]


@case
def rolled(tf):
    return [tf.roll(X, 1, 0), tf.roll(X, shift=[1, -1], axis=[0, 1], name="r"), tf.manip.roll(N, 2, 1)]


@case(nodes=False)
def repeated(tf):
    return [tf.repeat([1, 2, 3], 2), tf.repeat(X, [1, 2], axis=0), tf.repeat(X, repeats=3, axis=1, name="rep"),
            tf.repeat(X, 2),
            tf.repeat("a", 3)]


@case
def scattered_copies(tf):
    t, at, new = tf.zeros([4]), [[1], [3]], [5.0, 6.0]
    return [tf.tensor_scatter_nd_update(t, at, new), tf.tensor_scatter_nd_add(t, at, new), tf.tensor_scatter_nd_sub(t,
                                                                                                                    at,
                                                                                                                    new),
            tf.tensor_scatter_nd_max(t, at, new), tf.tensor_scatter_nd_min(t, at, new), tf.tensor_scatter_update(t, at,
                                                                                                                 new),
            tf.tensor_scatter_add(t, at, new, name="added"), tf.tensor_scatter_sub(t, at, new)]


@case
def scattered_into_variables(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    at, new = [[1], [3]], [5.0, 6.0]
    first = tf.scatter_nd_update(v, at, new)
    with tf.control_dependencies([first]):
        second = tf.scatter_nd_add(v, at, new, name="more")
    with tf.control_dependencies([second]):
        third = tf.scatter_nd_sub(v, at, [1.0, 1.0], use_locking=True)
    with tf.control_dependencies([third]):
        fourth = tf.scatter_max(v, [0, 1], [7.0, 0.0])
    with tf.control_dependencies([fourth]):
        return [tf.scatter_min(v, [0, 2], [0.5, 8.0])]


@case(nodes=False)
def places(tf):
    return [tf.unravel_index([5, 2], [2, 3]), tf.ensure_shape(X, [None, 3]),
            tf.ensure_shape(tf.placeholder_with_default(X, None), [2, 3]).shape,
            tf.identity_n([X, N]), tf.broadcast_dynamic_shape(tf.constant([2, 1]), tf.constant([1, 3])),
            tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])), tf.setdiff1d([1, 2, 3], [2]).out,
            tf.identity(tf.batch_gather(X, [[0, 1], [2, 0]])), tf.to_complex64(X), tf.to_complex128(X)]


@case(nodes=False)
def chosen(tf):
    return [tf.where_v2([True, False], 1.0, [2.0, 3.0]), tf.where_v2([True, False]),
            tf.histogram_fixed_width([0.1, 0.5, 2.0], [0.0, 1.0], nbins=4),
            tf.histogram_fixed_width_bins([0.1, 0.5, 2.0], [0.0, 1.0], nbins=4, dtype=tf.int64),
            tf.get_static_value(tf.constant(3)), tf.dimension_value(tf.TensorShape([7])[0]),
            tf.dimension_at_index(tf.TensorShape([7, 8]), 1)]


@case
def blocks(tf):
    x = tf.reshape(tf.constant(np.arange(16, dtype=np.float32)), [1, 4, 4, 1])
    y = tf.space_to_batch(x, [[0, 0], [0, 0]], 2)
    return [y, tf.batch_to_space(y, [[0, 0], [0, 0]], 2), tf.nn.space_to_depth(x, 2),
            tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2), 2),
            tf.manip.batch_to_space_nd(tf.manip.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]), [2, 2], [[0, 0], [0,
                                                                                                                  0]]),
            tf.manip.tile([1, 2], [2]), tf.manip.reverse(X, [1]), tf.manip.gather_nd(X, [[1, 2]]),
            tf.manip.scatter_nd([[1]], [5.0], [3]), tf.manip.reshape(X, [6])]


@case
def bits(tf):
    a, b = tf.constant([12, 10, -3]), tf.constant([10, 3, 2])
    return [tf.bitwise.bitwise_and(a, b), tf.bitwise.bitwise_or(a, b), tf.bitwise.bitwise_xor(a, b, name="x"),
            tf.bitwise.invert(a),
            tf.bitwise.left_shift(a, b), tf.bitwise.right_shift(a, b)]


@case(nodes=False)
def branches(tf):
    at = tf.placeholder_with_default(1, [])
    one = tf.switch_case(at, [lambda: tf.constant(1.0), lambda: tf.constant(2.0)], default=lambda: tf.constant(3.0))
    two = tf.vectorized_map(lambda x: x * 2.0, tf.constant(X))
    return [tf.identity(one, name="one"), tf.identity(two, name="two")]
