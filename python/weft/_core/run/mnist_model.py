"""tensorflow.examples.tutorials.mnist.mnist: the tutorial's fully connected network."""
import math

from weft._core.files import summary
from weft._core.framework import dtypes
from weft._core.framework.graph import name_scope
from weft._core.nn import nn
from weft._core.nn.losses import sparse_softmax_cross_entropy
from weft._core.ops import math_ops, random_ops
from weft._core.ops.array_ops import zeros
from weft._core.ops.variables import Variable
from weft._core.train.optimizer import GradientDescentOptimizer

NUM_CLASSES, IMAGE_SIZE = 10, 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _layer(name, x, n_in, n_out):
    with name_scope(name):
        weights = Variable(random_ops.truncated_normal([n_in, n_out], stddev=1.0 / math.sqrt(float(n_in))), name="weights")
        biases = Variable(zeros([n_out]), name="biases")
        return math_ops.matmul(x, weights) + biases if name == "softmax_linear" else nn.relu(math_ops.matmul(x, weights) + biases)


def inference(images, hidden1_units, hidden2_units):
    hidden1 = _layer("hidden1", images, IMAGE_PIXELS, hidden1_units)
    hidden2 = _layer("hidden2", hidden1, hidden1_units, hidden2_units)
    return _layer("softmax_linear", hidden2, hidden2_units, NUM_CLASSES)


def loss(logits, labels):
    return sparse_softmax_cross_entropy(labels=math_ops.to_int64(labels), logits=logits)


def training(loss, learning_rate):
    summary.scalar("loss", loss)
    global_step = Variable(0, name="global_step", trainable=False)
    return GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits, labels):
    return math_ops.reduce_sum(math_ops.cast(nn.in_top_k(logits, labels, 1), dtypes.int32))
