"""PyFunc and EagerPyFunc: the program's function is called with the node's inputs, by token, on both sides."""
import ctypes as C

import numpy as np
import tensorflow as tf

import weftlib
from weftlib import lib

v1 = tf.compat.v1
CALL = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_char_p, C.c_int, C.POINTER(C.c_void_p), C.c_int, C.POINTER(C.c_void_p))


FETCHES = ["stateful:0", "stateful:1", "stateless:0", "eager:0", "eager:1"]


def halve_and_count(x):
    return np.asarray(x / 2, np.float32), np.int64(x.size)


def test_a_function_of_the_program_is_called():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2, 3], name="x")
        v1.py_func(halve_and_count, [x], [tf.float32, tf.int64], name="stateful")
        v1.py_func(halve_and_count, [x], [tf.float32, tf.int64], stateful=False, name="stateless")
        tf.py_function(lambda v: halve_and_count(v.numpy()), [x], [tf.float32, tf.int64], name="eager")
        value = np.arange(6, dtype=np.float32).reshape(2, 3)
        with v1.Session() as sess:
            want = sess.run(FETCHES, {x: value})

    @CALL
    def call(arg, token, n_in, inputs, n_out, outputs):
        assert token.startswith(b"pyfunc_") and n_in == 1 and n_out == 2
        for i, made in enumerate(halve_and_count(weftlib.numpy_of(C.c_void_p(inputs[0])))):
            outputs[i] = weftlib.tensor(made).value
        return 0

    lib.weft_call_set(call, None)
    try:
        got = weftlib.Session(weftlib.Graph(graph.as_graph_def())).run(
            FETCHES, {"x": value})
    finally:
        lib.weft_call_set(None, None)
    for a, b in zip(want, got):
        np.testing.assert_array_equal(a, b)
