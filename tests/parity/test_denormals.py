"""Numbers too small to be normal: zero in a step, as in TensorFlow's, and never on the way through."""
import numpy as np
import pytest
import tensorflow as tf

import weftlib

v1 = tf.compat.v1
PLAIN = v1.ConfigProto()
PLAIN.graph_options.rewrite_options.disable_meta_optimizer = True
TINY = {tf.float32: 1e-40, tf.float64: 1e-310, tf.float16: 6e-8, tf.bfloat16: 1e-40}
MANY = 300000  # elements: more than one thread has some

# Not here: ops that hand on one of two numbers that count as equal (Relu, Maximum, Sign). Which one is the
# instruction's choice.
OPS = {
    "mul": lambda x: x * tf.constant(1, x.dtype),
    "add": lambda x: x + x,
    "square": lambda x: tf.square(tf.constant(1e-2, x.dtype)) * x,
    "positive": lambda x: x > 0,
    "sqrt": tf.sqrt,
    "identity": tf.identity,
    "sum": tf.reduce_sum,
    "matmul": lambda x: tf.matmul(tf.reshape(x[:1024], [32, 32]), tf.eye(32, dtype=x.dtype)),
    "to_double": lambda x: tf.cast(x, tf.float64),
    "elu_grad": lambda x: tf.raw_ops.EluGrad(gradients=x, outputs=-tf.ones_like(x) / 2),
    "branch": lambda x: v1.cond(tf.constant(True), lambda: x * tf.constant(1, x.dtype), lambda: x),
}


@pytest.mark.parametrize("dtype", TINY, ids=lambda t: t.name)
@pytest.mark.parametrize("name", OPS)
def test_small_numbers(name, dtype):
    fed = np.full(MANY, TINY[dtype], dtype.as_numpy_dtype)
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(dtype, [MANY])
        y = OPS[name](x)
        with v1.Session(config=PLAIN) as session:
            theirs = session.run(y, {x: fed})
        ours, = weftlib.Session(weftlib.Graph(graph.as_graph_def())).run([y.name], {x.name: fed})
    assert np.array_equal(np.asarray(ours == 0), np.asarray(theirs == 0)), (ours, theirs)
    np.testing.assert_allclose(np.asarray(ours, np.float64), np.asarray(theirs, np.float64), rtol=1e-2)
