"""Differences found by programs: what Python functions may return, sizes below zero, and the texts of errors."""
import re

import numpy as np

from machine import case

BRIEF = re.compile(r"\{\{node (\S+)\}\} = (\w+)\[.*?\]\(.*?\)'")
LINES_OF_TF_2 = ("Graph execution error", "Detected at node", "Node:", "\t", " ", "node defined", "File ")


def text(call):
    """The class and the first line of the text of what a call raises, without what only TensorFlow 2 adds; or its result."""
    try:
        return call()
    except Exception as e:  # noqa: BLE001 - compared
        lines = [line for line in str(e).split("\n") if line and not line.startswith(LINES_OF_TF_2)] or [""]
        return type(e).__name__, BRIEF.sub(r"\1' (op: '\2')", lines[0]).replace("AddV2", "Add")


@case(nodes=False)
def what_python_functions_may_return(tf):
    given = [(1.5, tf.float32), (1, tf.float32), (1, tf.int32), (1, tf.int64), (True, tf.bool), (1.5, tf.float64), (1.5, tf.int32),
             (np.float64(2.5), tf.float32), (np.float32(2.5), tf.float32), (np.ones(2), tf.float32), (None, tf.float32),
             ([1.0, 2.0], tf.float64), ([1.0], tf.float64), ((1.0, np.float32(2)), [tf.float64, tf.float32]), (2 + 1j, tf.complex64),
             ("text", tf.string), (b"text", tf.string), (np.array(["a", "b"]), tf.string), (np.ones(2, np.int32), tf.int64),
             ((1.0, 2.0), [tf.float64]), (None, [])]
    with tf.Session() as session:
        got = [text(lambda: session.run(tf.py_func(lambda: value, [], types))) for value, types in given]
    return [(g[0], re.sub(r"pyfunc_\d+", "pyfunc", g[1])) if isinstance(g, tuple) and g[0].endswith("Error") else g for g in got]


@case(nodes=False)
def sizes_below_zero(tf):
    makers = [lambda n: tf.random_normal([n, 2]), lambda n: tf.random_uniform([n]), lambda n: tf.truncated_normal([3, n]),
              lambda n: tf.random_gamma([n], 2.0), lambda n: tf.random_poisson(2.0, [n]), lambda n: tf.ones([n, 3]),
              lambda n: tf.zeros([n]), lambda n: tf.fill([2, n], 1.0), lambda n: tf.broadcast_to(1.0, [n]),
              lambda n: tf.multinomial([[0.5, 0.5]], n)]
    made = [text(lambda: make(n)) for make in makers for n in (-1, -2)]
    with tf.Session() as session:
        return [m if isinstance(m, tuple) else (m.shape.as_list(), text(lambda: session.run(m))) for m in made]


@case(nodes=False)
def texts_of_shapes_that_do_not_fit(tf):
    o, p = tf.ones, tf.placeholder
    return [text(call) for call in (
        lambda: o([2, 3, 4]) + o([2, 5, 7]), lambda: o([5, 4]) * o([2, 3, 4]), lambda: tf.add_n([o([2]), o([3])]),
        lambda: tf.add_n([o([2]), o([3, 1])]), lambda: tf.concat([o([2, 3]), o([2, 4])], 0), lambda: tf.concat([o([2, 3]), o([2, 3])], 5),
        lambda: tf.concat([p(tf.float32, [None, 3, 2]), o([2, 4, 2])], 0), lambda: tf.expand_dims(o([2, 3]), 5),
        lambda: tf.reduce_sum(o([2, 3]), [0, 7]), lambda: tf.argmax(o([2, 3]), 3), lambda: tf.reshape(o([2, 3]), [7]),
        lambda: tf.reshape(o([2, 3]), [-1, 4, 1, 1, 1]), lambda: tf.gather(o([2, 3]), [0], axis=4), lambda: tf.split(o([5, 2]), [2, 2], 0),
        lambda: o([3])[5], lambda: tf.broadcast_to(o([2, 3]), [2, 2]), lambda: tf.one_hot([1], -2),
        lambda: tf.range(3, 0, 1), lambda: tf.nn.top_k(o([3]), 5), lambda: tf.squeeze(o([2, 1]), [5]),
        lambda: tf.where(tf.constant([True, False, True]), o([2, 2]), o([2, 2])),
        lambda: tf.SparseTensor([0], [1.0], [2]), lambda: tf.metrics.accuracy(o([2]), o([3])),
        lambda: tf.losses.mean_squared_error(o([2, 3]), o([2, 4])), lambda: tf.losses.absolute_difference(o([2]), o([3])),
        lambda: tf.losses.hinge_loss(o([2, 3]), o([2])), lambda: tf.nn.dropout(o([2]), keep_prob=1.5),
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=o([2]), logits=o([3])),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=o([3, 4])),
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=o([2]), logits=o([2, 1])),
        lambda: tf.nn.weighted_cross_entropy_with_logits(labels=o([2]), logits=o([2, 1]), pos_weight=2.0),
        lambda: tf.nn.conv2d_transpose(o([1, 2, 2, 3]), o([3, 3, 2, 4]), [1, 4, 4, 2], [1, 2, 2, 1]),
        lambda: tf.sparse_segment_mean(o([3]), [0, 1], [0]), lambda: tf.dynamic_stitch([[0], [1]], [o([1, 2]), o([1, 3])]),
        lambda: tf.unsorted_segment_sum(o([3]), [0, 1], 2), lambda: tf.complex(o([2]), o([3])),
        lambda: tf.get_variable("a"), lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), o([2, 3, 4])),
        lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), o([2, 3]), dtype=tf.float32))]


@case(nodes=False)
def texts_of_values_that_do_not_fit(tf):
    with tf.Session() as session:
        return [text(lambda: session.run(call())) for call in (
            lambda: tf.matrix_inverse([[1., 1.], [1., 1.]]), lambda: tf.matrix_solve([[1., 1.], [1., 1.]], [[1.], [1.]]),
            lambda: tf.segment_sum([1., 2.], [1, 0]), lambda: tf.segment_max([1., 2.], [1, 0]), lambda: tf.segment_sum([1., 2.], [-1, 0]),
            lambda: tf.sparse_tensor_to_dense(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])),
            lambda: tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 0], [0, 0]], [1, 2], [2, 2])),
            lambda: tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 5]], [1], [2, 2])))]
