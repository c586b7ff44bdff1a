"""Networks of the user's own, written with slim: MobileNet v1 and v2, Inception v4 and NASNet, which contrib.slim.nets lacked.

tf-slim on TensorFlow 2.15 is the oracle: names of variables, collections, losses, the training of some steps, the checkpoint and
evaluation from it must be the same.
"""
import numpy as np
import pytest

from slim_user_nets import Nets
from test_slim import SYSTEMS

IMAGES = (np.arange(4 * 19 * 19 * 3).reshape(4, 19, 19, 3) * 37 % 101 / 50 - 1).astype(np.float32)
LABELS = np.array([0, 3, 1, 4])
COLLECTIONS = ("variables", "trainable_variables", "model_variables", "moving_average_variables", "regularization_losses", "losses",
               "update_ops")


def build(nets, kind, images, is_training):
    slim = nets.slim
    if kind == "mobilenet_v1":
        with slim.arg_scope(nets.mobilenet_v1_arg_scope(is_training)):
            return nets.mobilenet_v1(images, is_training=is_training)
    if kind == "mobilenet_v2":
        with slim.arg_scope(nets.mobilenet_v1_arg_scope(is_training)):
            return nets.mobilenet_v2(images, is_training=is_training)
    if kind == "inception_v4":
        with slim.arg_scope(nets.inception_arg_scope()):
            return nets.inception_v4(images, is_training=is_training)
    return nets.nasnet(images, is_training=is_training)


def held(graph):
    """The names in the collections; an update may be a tensor or its operation."""
    return {k: [v.name.partition(":")[0] for v in graph.get_collection(k)] for k in COLLECTIONS}


def train(tf, slim, kind, folder):
    """What the graph holds, the losses of three steps and the names and shapes of the checkpoint."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        logits, points = build(Nets(tf, slim), kind, tf.constant(IMAGES), True)
        tf.losses.softmax_cross_entropy(slim.one_hot_encoding(LABELS, 5), logits, label_smoothing=0.1)
        if "AuxLogits" in points:
            tf.losses.softmax_cross_entropy(tf.one_hot(LABELS, 5), points["AuxLogits"], weights=0.4, scope="aux_loss")
        total = tf.losses.get_total_loss()
        step = tf.train.get_or_create_global_step()
        averages = tf.train.ExponentialMovingAverage(0.9, step)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, averages.apply(slim.get_model_variables()))
        train_op = slim.learning.create_train_op(total, tf.train.RMSPropOptimizer(0.01, momentum=0.9, epsilon=1.0), global_step=step,
                                                 clip_gradient_norm=4)
        names = held(graph), {k: (p.name, p.shape.as_list()) for k, p in points.items()}
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            losses = [sess.run(train_op) for _ in range(3)]
            saver.save(sess, str(folder / "model"), step)
    shapes = tf.train.list_variables(str(folder))
    return names, losses, shapes


def evaluate(tf, slim, kind, folder):
    """Predictions of the network restored for evaluation, with the averaged weights."""
    with tf.Graph().as_default():
        logits, points = build(Nets(tf, slim), kind, tf.constant(IMAGES), False)
        averages = tf.train.ExponentialMovingAverage(0.9)
        restored = averages.variables_to_restore(slim.get_model_variables())
        exclude = slim.get_variables_to_restore(exclude=["nothing"])
        with tf.Session() as sess:
            slim.assign_from_checkpoint_fn(tf.train.latest_checkpoint(str(folder)), restored)(sess)
            return sess.run(points["Predictions"]), sorted(restored), [v.name for v in exclude]


@pytest.mark.parametrize("kind", ["mobilenet_v1", "mobilenet_v2", "inception_v4", "nasnet"])
def test_networks_of_the_user(kind, tmp_path):
    found = []
    for tf, slim in SYSTEMS:
        folder = tmp_path / tf.__name__
        folder.mkdir()
        found.append((train(tf, slim, kind, folder), folder))
    (ours, mine), (theirs, other) = found
    for key in COLLECTIONS:
        assert ours[0][0][key] == theirs[0][0][key], key
    assert ours[0][1] == theirs[0][1]
    assert ours[2] == theirs[2]
    np.testing.assert_allclose(ours[1], theirs[1], rtol=2e-4)
    # Each system reads the checkpoint of the other one.
    for folder in (mine, other):
        a, b = (evaluate(tf, slim, kind, folder) for tf, slim in SYSTEMS)
        np.testing.assert_allclose(a[0], b[0], rtol=1e-4, atol=1e-5)
        assert a[1:] == b[1:]
