"""Constants, shapes, arithmetic, strings."""
import numpy as np

from machine import case

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 7


@case
def constants(tf):
    return [tf.constant(1.5), tf.constant(0.1, shape=[2, 3]), tf.constant([1, 2], dtype=tf.float32, name="c"),
            tf.constant(value=[True]), tf.zeros([2]), tf.zeros([1, 2], dtype=tf.int32), tf.zeros(tf.shape(X)),
            tf.ones_like(X), tf.ones_like(X, dtype=tf.int64), tf.constant("text"), tf.constant([b"a", b"bc"])]


@case
def types(tf):
    return [tf.float32, tf.int32, tf.int64, tf.uint8, tf.string, tf.bool, tf.float32.as_numpy_dtype, tf.int64.size,
            tf.float32.is_floating, tf.uint8.max, tf.float32 == np.float32, tf.as_dtype("int32")]


@case
def casts(tf):
    x = tf.constant([1.7, -2.2, 0.0])
    return [tf.cast(x, tf.int32), tf.cast(x, dtype=tf.bool), tf.cast(x, "float32"), tf.to_float(tf.constant([1, 2]))]


@case
def reductions(tf):
    x = tf.constant(X)
    return [tf.reduce_mean(x), tf.reduce_mean(x, 1), tf.reduce_mean(x, axis=0, name="m"), tf.reduce_sum(x),
            tf.reduce_sum(x, [0, 1]), tf.reduce_sum(x, axis=1), tf.reduce_sum(x, reduction_indices=[1]),
            tf.reduce_sum(x, 1, keep_dims=True), tf.reduce_max(x), tf.reduce_min(x), tf.reduce_max(x, 0)]


@case
def indices(tf):
    x = tf.constant(X)
    return [tf.argmax(x, 1), tf.argmax(input=x, axis=0, name="where"), tf.equal(tf.argmax(x, 1), [3, 3, 0]),
            tf.one_hot([0, 2], 3), tf.one_hot(indices=[1, 0], depth=2), tf.one_hot([1], depth=3),
            tf.one_hot([1, 2], 4, 5.0, -1.0)]


@case
def products(tf):
    x = tf.constant(X)
    return [tf.matmul(x, np.ones((4, 2), np.float32)), tf.matmul(x, x, transpose_b=True), tf.multiply(x, 2.0),
            tf.multiply(x, x, name="xx"), tf.add(x, 1.0), tf.add(x, x, name="sum"), tf.subtract(x, 1.0), tf.square(x),
            tf.sqrt(x), tf.log(x + 1.0), tf.add_n([x, x, x]), tf.add_n([x], name="one"), tf.clip_by_value(x, 0.3, 1.0)]


@case
def shapes(tf):
    x = tf.constant(X)
    return [tf.reshape(x, [-1]), tf.reshape(x, shape=[4, 3], name="turned"), tf.expand_dims(x, 0), tf.expand_dims(x, -1),
            tf.squeeze(tf.reshape(x, [1, 12, 1])), tf.squeeze(tf.reshape(x, [1, 12, 1]), [0]),
            tf.squeeze(tf.reshape(x, [1, 12, 1]), axis=2), tf.shape(x), tf.identity(x), tf.identity(x, name="same")]


@case
def joins(tf):
    x = tf.constant(X)
    return [tf.concat([x, x], 0), tf.concat([x, x], axis=1), tf.concat(values=[x, x], axis=0), tf.stack([x, x]),
            tf.unstack(x), tf.unstack(x, num=4, axis=1), tf.unstack(x, 4, 1), tf.split(x, 2, 1),
            tf.split(x, num_or_size_splits=[1, 2], axis=0), tf.split(x, 3)]


@case
def randoms(tf):
    return [tf.random_normal([2, 3]), tf.random_normal(shape=[3], stddev=0.5), tf.truncated_normal([2, 2], stddev=0.1),
            tf.truncated_normal(shape=[3], name="t"), tf.random_uniform([2]), tf.random_uniform([2], -1.0, 1.0),
            tf.random_uniform([4], minval=3, maxval=9, dtype=tf.int32), tf.random_normal([2], seed=5)]


@case
def seeds(tf):
    tf.set_random_seed(7)
    return [tf.random_uniform([3]), tf.random_normal([2], seed=3)]


@case
def strings(tf):
    parts = tf.string_split(["a b", "c"])
    more = tf.string_split(["1,2"], delimiter=",")
    return [parts, more, tf.string_split(["x|y"], "|"), tf.string_to_number(more.values),
            tf.string_to_number("7", out_type=tf.int32), tf.string_to_number(["8"], tf.int64)]


@case
def records(tf):
    raw = tf.decode_raw(tf.constant(b"\x01\x02\x03\x04"), tf.uint8)
    row = tf.decode_csv("1,b,2.5", record_defaults=[[0], [""], [0.0]])
    return [raw, tf.decode_raw([b"\x01\x02", b"\x03\x04"], tf.int16), row, tf.decode_csv(["3", "4"], [[0]])]


@case(nodes=False)  # 1.15 had ParseSingleExample, 2.15 has ParseExampleV2
def examples(tf):
    data = tf.train.Example(features=tf.train.Features(feature={
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[3])),
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"ab"])),
        "rows": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))})).SerializeToString()
    features = {"label": tf.FixedLenFeature([], tf.int64), "image": tf.FixedLenFeature([], tf.string, b""),
                "rows": tf.FixedLenFeature([2], tf.float32)}
    with tf.Session() as sess:
        return [sess.run(tf.parse_single_example(data, features=features)),
                sess.run(tf.parse_single_example(data, features)), tuple(tf.FixedLenFeature([], tf.int64))]


@case
def sparse(tf):
    old = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[1.0, 2.0], shape=[3, 2])
    return [old, tf.SparseTensor([[1]], [5], [3]), old.dense_shape, old.get_shape().as_list()]


@case(nodes=False)
def sparse_functions(tf):
    a = tf.SparseTensor(indices=[[2, 0], [0, 1]], values=[1.0, 2.0], dense_shape=[3, 2])
    filled, empty = tf.sparse_fill_empty_rows(a, 9.0)
    made = [tf.sparse_reorder(a), tf.sparse_reshape(a, [2, 3]), filled, empty, tf.sparse_tensor_to_dense(tf.sparse_reorder(a)),
            tf.sparse_tensor_dense_matmul(a, [[1.0, 2.0], [3.0, 4.0]]), tf.sparse_to_dense([1, 3], [4], [7, 8])]
    with tf.Session() as sess:
        return sess.run(made)


@case
def operators(tf):
    x, n = tf.constant(X), tf.constant([[3, -5]])
    return [x + 1, 1 + x, x - 2.0, 2.0 - x, x * x, x / 2.0, 1 / (x + 1), -x, abs(x - 1), x ** 2, 2 ** x, x // 0.3, x % 0.3,
            x < 1.0, x <= 1.0, x > 1.0, x >= 1.0, n / 2, n // 2, n % 3, ~(x > 1.0), (x > 1.0) & (x < 2.0),
            (x > 1.0) | (x < 0.2), (x > 1.0) ^ (x > 2.0), x @ tf.constant(X.T), x[0], x[:, 1], x[1:, ::2], x[..., -1],
            x[tf.newaxis, 0], x[tf.constant(1)], x[-1, -2:]]
