"""Differences that unit tests of TensorFlow 1 showed: operands of other types, bits of integers, and indices."""
import operator
import os
import tempfile

import numpy as np

from calls_differences_values import named
from machine import case


def all_of(tf, calls):
    with tf.Session() as session:
        return [named(lambda: session.run(call())) for call in calls]


@case(nodes=False)
def operands_of_division(tf):
    real, small = tf.constant([2.0, 0.0]), tf.constant([4, 0], tf.uint8)
    return all_of(tf, [lambda: tf.divide(3, real), lambda: tf.divide(3, tf.constant([2, 4])), lambda: tf.divide(1.5, tf.constant([2, 4])),
                       lambda: tf.div_no_nan(3, real), lambda: tf.div_no_nan([6, 1], tf.constant([4, 0])),
                       lambda: tf.div_no_nan(small, small), lambda: tf.div_no_nan(real, small), lambda: tf.math.divide_no_nan(real, 2)])


@case(nodes=False)
def parts_of_what_is_not_complex(tf):
    kinds = (tf.float32, tf.int32, tf.uint8, tf.bool, tf.complex64)
    return all_of(tf, [lambda fn=fn, kind=kind: fn(tf.cast([1, 0], kind)) for fn in (tf.real, tf.imag, tf.conj) for kind in kinds])


@case(nodes=False)
def names_of_parts(tf):
    return [tf.imag(1.0, name="i").name, tf.imag(1j, name="i").name, tf.imag(2.0).name, tf.div_no_nan(1.0, 2.0).name]


@case(nodes=False)
def operators_on_bits(tf):
    two, flags, real = tf.constant([6, 3]), tf.constant([True, False]), tf.constant([1.0])
    pairs = [(two, 5), (5, two), (two, tf.constant([1, -1])), (flags, True), (False, flags), (real, 1.0), (two, flags)]
    return all_of(tf, [lambda op=op, a=a, b=b: op(a, b) for op in (operator.and_, operator.or_, operator.xor) for a, b in pairs
                       if not (a is real and op is not operator.and_)] + [lambda: ~two, lambda: ~flags, lambda: ~tf.cast(two, tf.uint8)])


@case(nodes=False)
def sums_of_wide_unsigned_integers(tf):
    pairs = [(tf.constant([65000, 1], kind), tf.constant([600, 2], kind)) for kind in (tf.uint16, tf.uint32, tf.uint64)]
    return all_of(tf, [lambda a=a, b=b: a + b for a, b in pairs] + [lambda a=a, b=b: tf.add(a, b) for a, b in pairs])


@case(nodes=False)
def indices_sizes_and_axes_of_other_types(tf):
    x = tf.constant([[1.0, 2.0, 3.0, 4.0]])
    return all_of(tf, [lambda: x[True], lambda: x[(True,)], lambda: x[0, False], lambda: x[:, True:],
                       lambda: tf.split(x, 2.0, 1), lambda: tf.split(x, 2, 1), lambda: tf.split(x, np.int64(2), 1),
                       lambda: tf.reduce_sum(x, [[0, 1]]), lambda: tf.reduce_any([True], [[0]])])


@case(nodes=False)
def a_type_without_a_kernel(tf):
    return all_of(tf, [lambda: tf.realdiv(tf.constant([1]), [2]), lambda: tf.reciprocal(2), lambda: tf.round(tf.constant([1j]))])


@case(nodes=False)
def the_folder_of_a_test(tf):
    """It is this process's own, so that a test may delete it with all that is in it."""
    folder = tf.test.get_temp_dir()
    return [folder == tf.test.get_temp_dir(), os.path.dirname(folder) == tempfile.gettempdir(), os.listdir(folder)]
