"""TensorFlow's step stats print as ours do."""
import ctypes as C

import numpy as np
import tensorflow.compat.v1 as tf

from weftlib import check, lib


def test_a_trace_of_tensorflow_becomes_a_table():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 7])
        total = tf.reduce_sum(tf.nn.relu(x), name="total")
        metadata = tf.RunMetadata()
        session.run(total, {x: np.ones([3, 7])}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    data, table = metadata.SerializeToString(), C.c_char_p()
    check(lib.weft_trace_table(C.byref(table), data, C.c_size_t(len(data)), 0))
    rows = [line.split() for line in table.value.decode().splitlines()]
    lib.weft_free(table)
    assert any(row[:2] == ["Sum", "1"] for row in rows)
    assert any(row[:2] == ["total", "1"] for row in rows)
