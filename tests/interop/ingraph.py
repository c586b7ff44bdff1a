"""ingraph.py FRAMEWORK TARGET - one client builds a graph over two worker tasks: variables on one, towers on both."""
import sys

import numpy as np

if sys.argv[1] == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf

with tf.device("/job:worker/task:0"):
    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.Variable(tf.zeros([4, 1]), name="w")
towers = []
for i in range(2):
    with tf.device(f"/job:worker/task:{i}/cpu:0"), tf.name_scope(f"tower{i}"):
        half = x[i::2]
        error = tf.matmul(half, w) - tf.reduce_sum(half * [[1.0, 2.0, 3.0, 4.0]], 1, keepdims=True)
        towers.append(tf.reduce_mean(tf.square(error)))
with tf.device("/job:worker/task:0"):
    loss = tf.add_n(towers) / 2.0
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, colocate_gradients_with_ops=True)
draw = np.random.RandomState(1)
with tf.Session(sys.argv[2]) as session:
    session.run(tf.global_variables_initializer())
    for step in range(300):
        value, _ = session.run([loss, train], {x: draw.rand(32, 4)})
    found = session.run(w)[:, 0]
print("found", " ".join(f"{v:.2f}" for v in found), flush=True)
assert np.allclose(found, [1, 2, 3, 4], atol=0.2), found
