"""Gradient tricks: reversal, straight-through, guided backprop, clipped and custom gradients, Hessians, influence."""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops


class FlipGradientBuilder(object):
    def __init__(self):
        self.num_calls = 0

    def __call__(self, x, l=1.0):
        grad_name = "FlipGradient%d" % self.num_calls

        @ops.RegisterGradient(grad_name)
        def _flip_gradients(op, grad):
            return [tf.negative(grad) * l]
        g = tf.get_default_graph()
        with g.gradient_override_map({"Identity": grad_name}):
            y = tf.identity(x)
        self.num_calls += 1
        return y


flip_gradient = FlipGradientBuilder()


@tf.RegisterGradient("GuidedRelu")
def _GuidedReluGrad(op, grad):
    return tf.where(0. < grad, tf.cast(op.outputs[0] > 0, tf.float32) * grad, tf.zeros(tf.shape(grad)))


def binarize(x):
    """Straight-through estimator."""
    g = tf.get_default_graph()
    with ops.name_scope("Binarized"), g.gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x)


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + e))
    return tf.log(1 + e), grad


def py_square(x):
    def _square(v):
        return np.square(v).astype(np.float32)

    @tf.RegisterGradient("PySquareGrad")
    def _grad(op, grad):
        return grad * op.inputs[0] * 2
    with tf.get_default_graph().gradient_override_map({"PyFunc": "PySquareGrad"}):
        y = tf.py_func(_square, [x], tf.float32)
    y.set_shape(x.get_shape())
    return y


rng = np.random.RandomState(5)
x = tf.constant(rng.randn(6, 4).astype(np.float32))
domain = tf.constant([0, 1, 0, 1, 1, 0])
label = tf.constant([1, 0, 1, 1, 0, 0])
w1 = tf.Variable(rng.randn(4, 5).astype(np.float32) * 0.5, name="w1")
w2 = tf.Variable(rng.randn(5, 2).astype(np.float32) * 0.5, name="w2")
w3 = tf.Variable(rng.randn(5, 2).astype(np.float32) * 0.5, name="w3")
with tf.get_default_graph().gradient_override_map({"Relu": "GuidedRelu"}):
    feature = tf.nn.relu(tf.matmul(x, w1))
label_loss = tf.losses.sparse_softmax_cross_entropy(label, tf.matmul(feature, w2))
domain_loss = tf.losses.sparse_softmax_cross_entropy(domain, tf.matmul(flip_gradient(feature, 0.7), w3))
total = label_loss + domain_loss
gradients = tf.gradients(total, [w1, w2, w3])
optimizer = tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01)
clipped = [(tf.clip_by_norm(g, 0.8), v) for g, v in optimizer.compute_gradients(total)]
train = optimizer.apply_gradients(clipped)

point = tf.Variable([0.5, -1.5, 2.0], name="point")
binary = tf.gradients(tf.reduce_sum(binarize(point) * [1., 2., 3.]), point)[0]
soft = log1pexp(tf.constant([100.0, -1.0]))
stable = tf.gradients(log1pexp(point), point)[0]
squares = py_square(point)
squares_grad = tf.gradients(squares, point)[0]
quartic = tf.reduce_sum(point ** 4) + point[0] * point[1]
hessian = tf.hessians(quartic, point)[0]
vector = tf.constant([1.0, 0.0, -1.0])
product = tf.gradients(tf.reduce_sum(tf.gradients(quartic, point)[0] * vector), point)[0]
stopped = tf.gradients(tf.reduce_sum(tf.stop_gradient(point) * point), point)[0]
given = tf.gradients([point * 2, point * 3], point, grad_ys=[tf.ones([3]), tf.constant([0., 1., 0.])])[0]
missing = tf.gradients(tf.constant(1.0), point)[0]
aggregated = tf.gradients(quartic, point, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)[0]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, value in zip(("w1", "w2", "w3"), sess.run(gradients)):
        print(name, "%.5f %.5f" % (value.sum(), np.abs(value).sum()))
    for step in range(3):
        print("losses %.5f %.5f" % tuple(sess.run([label_loss, domain_loss, train])[:2]))
    for name in ("binary", "stable", "squares", "squares_grad", "hessian", "product", "stopped", "given", "aggregated"):
        print(name, np.round(sess.run(globals()[name]), 4).tolist())
    print("soft %.4f" % sess.run(soft)[1], missing)
