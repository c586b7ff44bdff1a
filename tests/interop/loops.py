"""loops.py FRAMEWORK [TARGET] - loops whose nodes are on two tasks (without a target: in this process); prints what
they come to."""
import sys

import numpy as np

if sys.argv[1] == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
else:
    import weft as tf

HERE, THERE = ("/job:worker/task:0", "/job:ps/task:0") if sys.argv[2:] else ("/cpu:0", "/cpu:0")
with tf.device(THERE):
    v = tf.Variable(2.0, name="v", use_resource=False)
    table = tf.Variable(np.arange(20, dtype=np.float32).reshape(10, 2), name="table", use_resource=False)


def body_elsewhere(i, x):
    with tf.device(THERE):
        y, row = x * v + 1.0, tf.gather(table, i)
    return i + 1, y + tf.reduce_sum(row)


def inner_elsewhere(j, z):
    with tf.device(THERE):
        return j + 1, z + v


def outer(i, x):
    with tf.device(HERE):
        _, z = tf.while_loop(lambda j, _: j < i, inner_elsewhere, [tf.constant(0), x])
    with tf.device(THERE):
        return i + 1, z * 1.5


def condition_elsewhere(i, x):
    with tf.device(THERE):
        return tf.less(x, 100.0)


def branches_elsewhere(i, x):
    with tf.device(THERE):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: x + v, lambda: x * 3.0)


def loop(condition, body):
    return tf.while_loop(condition, body, [tf.constant(0), tf.constant(1.0)])[1]


with tf.device(HERE):
    body = loop(lambda i, x: i < 5, body_elsewhere)
    found = {"body": body, "nested": loop(lambda i, x: i < 4, outer),
             "condition": loop(condition_elsewhere, lambda i, x: (i + 1, x * 2.0)),
             "branches": loop(lambda i, x: i < 6, branches_elsewhere), "gradient": tf.gradients(body, [v])[0]}
with tf.Session(sys.argv[2] if sys.argv[2:] else "") as session:
    session.run(tf.global_variables_initializer())
    for name, tensor in found.items():
        print(name, session.run(tensor, options=tf.RunOptions(timeout_in_ms=60000)))
