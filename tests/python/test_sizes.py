"""Sizes beyond 32 bits: never another number than the program gave.

Where TensorFlow makes an int64 constant, so does Weft: the static shape, the type and the values of the constants are
compared.  Where TensorFlow 2.15 wraps (an argument that can only be int32), Weft refuses and names the value.  A constant
of a given type wraps in both.
"""
import numpy as np
import pytest

import weft
from both import both, both_raise, oracle

BIG = 2**32 + 5


def x(tf):
    return tf.constant([1.0, 2.0, 3.0])


SAME = {
    "zeros": lambda tf: tf.zeros([BIG]),
    "zeros_of_a_number": lambda tf: tf.zeros(BIG),
    "zeros_of_an_array": lambda tf: tf.zeros(np.array([BIG])),
    "zeros_of_a_shape": lambda tf: tf.zeros(tf.TensorShape([BIG, 2]), tf.int32),
    "zeros_like": lambda tf: tf.zeros_like(tf.placeholder(tf.float32, [BIG, 2])),
    "ones": lambda tf: tf.ones([BIG]),
    "ones_like": lambda tf: tf.ones_like(tf.placeholder(tf.float32, [BIG, 2])),
    "fill": lambda tf: tf.fill([BIG, 2], "a"),
    "fill_of_an_array": lambda tf: tf.fill(np.array([BIG]), 1.0),
    "fill_of_a_small_array": lambda tf: tf.fill(np.array([5]), 1.0),
    "random_uniform": lambda tf: tf.random_uniform([BIG]),
    "random_uniform_of_an_array": lambda tf: tf.random_uniform(np.array([BIG])),
    "random_normal": lambda tf: tf.random_normal([BIG]),
    "truncated_normal": lambda tf: tf.truncated_normal([BIG, 1]),
    "tile": lambda tf: tf.tile(x(tf), [BIG]),
    "tile_of_an_array": lambda tf: tf.tile(x(tf), np.array([BIG])),
    "tile_of_numpy_numbers": lambda tf: tf.tile(x(tf), [np.int64(BIG)]),
    "tile_of_small_numpy_numbers": lambda tf: tf.tile(x(tf), [np.int64(5)]),
    "reshape": lambda tf: tf.reshape(tf.placeholder(tf.float32), [BIG, -1]),
    "reshape_to_a_shape": lambda tf: tf.reshape(tf.placeholder(tf.float32), tf.TensorShape([BIG, 2])),
    "reshape_to_a_mix": lambda tf: tf.reshape(tf.placeholder(tf.float32), [tf.constant(2, tf.int64), BIG]),
    "range": lambda tf: tf.range(BIG),
    "range_from": lambda tf: tf.range(BIG, BIG + 5),
    "range_step": lambda tf: tf.range(0, BIG, BIG),
    "range_of_a_tensor": lambda tf: tf.range(tf.constant(3), BIG),
    "slice": lambda tf: tf.slice(x(tf), [BIG], [1]),
    "slice_from": lambda tf: x(tf)[BIG:],
    "slice_to": lambda tf: x(tf)[:BIG],
    "slice_step": lambda tf: x(tf)[::BIG],
    "get_variable": lambda tf: tf.get_variable("v", [BIG]),
    "get_variable_of_zeros": lambda tf: tf.get_variable("v", [BIG, 3], initializer=tf.zeros_initializer()),
    "placeholder": lambda tf: tf.placeholder(tf.float32, [BIG]),
    "broadcast_to": lambda tf: tf.broadcast_to(x(tf), [BIG, 3]),
    "pad": lambda tf: tf.pad(x(tf), [[BIG, 0]]),
    "gather": lambda tf: tf.gather(x(tf), [BIG]),
    "gather_nd": lambda tf: tf.gather_nd(x(tf), [[BIG]]),
    "scatter_nd": lambda tf: tf.scatter_nd([[BIG]], [1.0], [5]),
    "scatter_update": lambda tf: tf.scatter_update(tf.Variable([1.0, 2.0]), [BIG], [1.0]),
    "segment_ids": lambda tf: tf.unsorted_segment_sum(x(tf), [0, 1, BIG], 3),
    "num_segments": lambda tf: tf.unsorted_segment_sum(x(tf), [0, 1, 2], BIG),
    "argmax": lambda tf: tf.argmax(x(tf), BIG),
    "cumsum": lambda tf: tf.cumsum(x(tf), BIG),
    "embedding": lambda tf: tf.nn.embedding_lookup(tf.ones([3, 2]), [BIG]),
    "sparse": lambda tf: tf.sparse_tensor_to_dense(tf.SparseTensor([[0]], [1.0], [BIG])),
    "batch": lambda tf: tf.data.Dataset.from_tensors(1.0).batch(BIG).make_one_shot_iterator().get_next(),
    "constant": lambda tf: tf.constant([1, BIG]),
    "an_array_to_another_type": lambda tf: tf.constant(np.array([BIG]), tf.int32),
    "a_number_to_another_type": lambda tf: tf.constant(BIG, tf.int32),
}


def made(tf, program):
    """The static shape and type, and type and value of every integer constant, by name."""
    with tf.Graph().as_default() as graph:
        tensor = program(tf)
        constants = {}
        for op in graph.get_operations():
            if op.type == "Const" and op.outputs[0].dtype.base_dtype.name in ("int32", "int64"):
                value = tf.make_ndarray(op.node_def.attr["value"].tensor)
                constants[op.name] = op.outputs[0].dtype.name, value.tolist()
        return str(tensor.shape).replace("None", "?"), tensor.dtype.name, constants


@pytest.mark.parametrize("name", SAME)
def test_a_size_is_the_same_as_in_tensorflow(name):
    assert made(weft, SAME[name]) == made(oracle, SAME[name])


REFUSED = {
    "one_hot": lambda tf: tf.one_hot([1, 2], BIG),
    "resize": lambda tf: tf.image.resize_bilinear(tf.ones([1, 2, 2, 1]), [BIG, 2]),
    "resize by an array": lambda tf: tf.image.resize_bilinear(tf.ones([1, 2, 2, 1]), np.array([BIG, 2])),
    "multinomial": lambda tf: tf.multinomial([[1.0, 2.0]], BIG),
    "dynamic_partition": lambda tf: tf.dynamic_partition(x(tf), [0, 1, BIG], 2),
    "tensor_array": lambda tf: tf.TensorArray(tf.float32, BIG),
    "an int32 shape": lambda tf: tf.shape(tf.placeholder(tf.float32, [BIG, 2])),
    "an int32 size": lambda tf: tf.size(tf.placeholder(tf.float32, [2**16, 2**16])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_only_int32_is_possible_the_value_is_refused(name):
    with weft.Graph().as_default(), pytest.raises(OverflowError, match=r"(4294967301|4294967296) .*int32"):
        REFUSED[name](weft)


WRAPPED = {
    "a tensor": lambda tf: tf.convert_to_tensor(BIG, tf.int32),
    "a list": lambda tf: tf.convert_to_tensor([[1], [2**31]], tf.int32),
    "a sum": lambda tf: [tf.constant([1]) + BIG, 2**31 + tf.constant([1]), tf.constant([7]) & 0xffffffff],
    "a comparison": lambda tf: tf.constant([1]) < 2**31,
    "an array": lambda tf: tf.constant([1]) * np.array([2654435769]),
    "a bound": lambda tf: tf.random_uniform([2], 0, BIG, dtype=tf.int32),
    "slice": lambda tf: tf.slice(tf.ones([9]), tf.constant([0]), [BIG]),
    "a mix": lambda tf: tf.stack([tf.constant(2), BIG]),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_number_that_is_no_size_wraps_around(name):
    both(WRAPPED[name], same_nodes=False)


def test_a_number_beyond_64_bits_is_refused():
    for message in both_raise(lambda tf: tf.constant([1]) + 2**64):
        assert "18446744073709551616" in message or "too large" in message


RAISES = {
    "reshape": (lambda tf: tf.reshape(x(tf), [BIG]), "(4294967301 elements)"),
    "split": (lambda tf: tf.split(x(tf), [BIG, 1]), "4294967301"),
    "expand_dims": (lambda tf: tf.expand_dims(x(tf), BIG), "dim 4294967301 not in the interval [-2, 1]"),
    "squeeze": (lambda tf: tf.squeeze(x(tf), [BIG]), "Attr squeeze_dims has value 4294967301 out of range for an int32"),
    "transpose": (lambda tf: tf.transpose(x(tf), [BIG]), "perm dim 4294967301 is out of range of input rank 1"),
    "reverse": (lambda tf: tf.reverse(x(tf), [BIG]), "'axis'[0] = 4294967301"),
    "stack": (lambda tf: tf.stack([x(tf), x(tf)], BIG), "4294967301"),
    "sum": (lambda tf: tf.reduce_sum(x(tf), BIG), "Invalid reduction dimension 4294967301"),
    "unstack": (lambda tf: tf.unstack(x(tf), axis=BIG), "Argument `axis` = 4294967301 not in range [-1, 1)"),
    "softmax": (lambda tf: tf.nn.softmax(tf.ones([2, 3]), axis=BIG), "`dim` must be in the range [-2, 2)"),
    "log_softmax": (lambda tf: tf.nn.log_softmax(tf.ones([2, 3]), axis=-3), "Received: dim=-3"),
    "tensordot": (lambda tf: tf.tensordot(x(tf), x(tf), BIG), "`axes` must not be larger than the number of dimensions"),
    "tensordot of less than none": (lambda tf: tf.tensordot(x(tf), x(tf), -1), "`axes` must be at least 0. Received: -1."),
    "tensordot of an axis": (lambda tf: tf.tensordot(x(tf), x(tf), [[5], [0]]), "out of range"),
    "Concatenate": (lambda tf: tf.keras.layers.Concatenate(axis=-3)([tf.ones([2, 3])] * 2), "out of range"),
    "top_k": (lambda tf: tf.nn.top_k(x(tf), BIG), "k = 4294967301 but is 3"),
    "index": (lambda tf: x(tf)[BIG], "slice index 4294967301 of dimension 0 out of bounds"),
    "ksize": (lambda tf: tf.nn.max_pool(tf.ones([1, 4, 4, 1]), [1, BIG, 2, 1], [1, 2, 2, 1], "SAME"),
              "Attr ksize has value 4294967301 out of range for an int32"),
    "strides": (lambda tf: tf.nn.max_pool(tf.ones([1, 4, 4, 1]), [1, 2, 2, 1], [1, BIG, 2, 1], "SAME"),
                "Attr strides has value 4294967301 out of range for an int32"),
    "conv strides": (lambda tf: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([1, 1, 1, 1]), [1, BIG, BIG, 1], "SAME"),
                     "Attr strides has value 4294967301 out of range for an int32"),
    "a dimension over 64 bits": (lambda tf: tf.placeholder(tf.float32, [2**64]), "18446744073709551616"),
    "zeros over 64 bits": (lambda tf: tf.zeros([2**64]), ""),
    "an attribute over 64 bits": (lambda tf: tf.nn.max_pool(tf.ones([1, 4, 4, 1]), [1, 2**64, 2, 1], [1, 2, 2, 1], "SAME"),
                                  "Value out of range"),
}


@pytest.mark.parametrize("name", RAISES)
def test_what_tensorflow_refuses_is_refused_with_its_words(name):
    program, words = RAISES[name]
    ours, theirs = both_raise(program)
    assert words in theirs
    assert words in ours


HUGE = {
    "zeros": (lambda tf: tf.zeros([2**45]), "35184372088832", weft.errors.ResourceExhaustedError),
    "random": (lambda tf: tf.random_uniform([2**45]), "35184372088832", weft.errors.ResourceExhaustedError),
    "tile": (lambda tf: tf.tile(x(tf), [2**45]), "105553116266496", weft.errors.ResourceExhaustedError),
    "range": (lambda tf: tf.range(2**45), "35184372088832", weft.errors.ResourceExhaustedError),
    "fed": (lambda tf: tf.fill(tf.placeholder_with_default([2**45], [1]), 1.0), "35184372088832",
            weft.errors.ResourceExhaustedError),
    "too many tiles": (lambda tf: tf.tile(tf.tile(x(tf), [5]), [2**62]), "multiples[0] = 4611686018427387904",
                       weft.errors.InvalidArgumentError),
    "too many": (lambda tf: tf.zeros([2**40, 2**40]), "would have more than 2**63 - 1 elements", weft.errors.InvalidArgumentError),
    "too many fed": (lambda tf: tf.fill(tf.placeholder_with_default([2**40, 2**40], [2]), 1.0),
                     "Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements",
                     weft.errors.InvalidArgumentError),
    "too many at random": (lambda tf: tf.random_uniform(tf.placeholder_with_default([2**40, 2**40], [2])),
                           "would have more than 2**63 - 1 elements", weft.errors.InvalidArgumentError),
    "empty, but too large": (lambda tf: tf.fill(tf.placeholder_with_default([2**62, 7, 0], [3]), 1.0),
                            "Shape [4611686018427387904,7,0] has no elements, but its other dimensions multiply to more than 2**56",
                            weft.errors.InvalidArgumentError),
    "too many segments": (lambda tf: tf.unsorted_segment_sum(tf.ones([3, 7]), [0, 1, 2], tf.placeholder_with_default(2**62, [])),
                          "would have more than 2**63 - 1 elements", weft.errors.InvalidArgumentError),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_tensor_that_does_not_fit_memory_names_its_shape(name):
    program, words, error = HUGE[name]
    with weft.Graph().as_default(), weft.Session() as sess:
        tensor = program(weft)
        with pytest.raises(error) as caught:
            sess.run(tensor)
        assert words in str(caught.value)
        assert sess.run(weft.constant(4)) == 4  # the session goes on
