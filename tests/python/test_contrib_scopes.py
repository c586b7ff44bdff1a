"""tf.contrib.layers: an arg_scope of model_variable places the variables of layers, and padding may be in small letters."""
import numpy as np
import pytest

import weft as tf

layers, framework = tf.contrib.layers, tf.contrib.framework


def build(kind, x):
    if kind == "fully_connected":
        return layers.fully_connected(layers.flatten(x), 3)
    if kind == "batch_norm":
        return layers.batch_norm(x, center=True, scale=True)
    return getattr(layers, kind)(x, 2, [3, 3], **({"depth_multiplier": 1} if kind == "separable_conv2d" else {}))


@pytest.mark.parametrize("kind", ["fully_connected", "conv2d", "conv2d_transpose", "separable_conv2d", "batch_norm"])
def test_an_arg_scope_of_model_variable_places_the_variables_of_layers(kind):
    with tf.Graph().as_default():
        with framework.arg_scope([framework.model_variable, framework.variable], device="/job:ps/task:0/device:CPU:0"):
            with tf.device("/job:worker/device:GPU:0"):
                out = build(kind, tf.ones([1, 8, 8, 2]))
        assert out.device == "/job:worker/device:GPU:0"
        assert tf.global_variables() and {v.device for v in tf.global_variables()} == {"/job:ps/task:0/device:CPU:0"}
        assert framework.get_model_variables() == tf.global_variables()


@pytest.mark.parametrize("layer", [
    lambda x, padding: layers.conv2d(x, 2, [3, 3], padding=padding, weights_initializer=tf.ones_initializer()),
    lambda x, padding: layers.conv2d_transpose(x, 2, [3, 3], padding=padding, weights_initializer=tf.ones_initializer()),
    lambda x, padding: layers.separable_conv2d(x, 2, [3, 3], 1, padding=padding, weights_initializer=tf.ones_initializer()),
    lambda x, padding: layers.max_pool2d(x, [2, 2], padding=padding),
    lambda x, padding: layers.avg_pool2d(x, [2, 2], padding=padding),
])
def test_padding_may_be_in_small_letters(layer):
    found = {}
    for padding in ("valid", "VALID", "same", "SAME"):
        with tf.Graph().as_default(), tf.Session() as sess:
            out = layer(tf.reshape(tf.range(50.0), [1, 5, 5, 2]), padding)
            sess.run(tf.global_variables_initializer())
            found[padding] = sess.run(out)
    np.testing.assert_array_equal(found["valid"], found["VALID"])
    np.testing.assert_array_equal(found["same"], found["SAME"])
    assert found["same"].shape != found["valid"].shape
