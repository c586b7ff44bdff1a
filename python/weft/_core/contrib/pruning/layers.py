"""Layers and cells with masked weights: variables `weights` (or `kernel`), `mask` and `threshold` in one scope.

The layers are those of tf.contrib.layers; a getter replaces their weights by the product with the mask.
"""
import weft as tf
from weft._core.contrib import layers

MASKS, THRESHOLDS, MASKED, WEIGHTS = "masks", "thresholds", "masked_weights", "kernel"


def masked(weights, mask, threshold, name):
    """Returns the product, once in the collections for each mask."""
    made = tf.multiply(mask, weights, name)
    if all(mask is not m for m in tf.get_collection(MASKS)):
        for key, value in ((MASKS, mask), (THRESHOLDS, threshold), (MASKED, made), (WEIGHTS, weights)):
            tf.add_to_collection(key, value)
    return made


def mask_of(weights, getter=tf.get_variable, prefix=""):
    """Returns the mask, which is all ones, and the threshold of a variable."""
    kind = weights.dtype.base_dtype
    mask = getter(prefix + "mask", shape=weights.shape, dtype=kind, initializer=tf.ones_initializer(), trainable=False)
    threshold = getter(prefix + "threshold", shape=[], dtype=kind, initializer=tf.zeros_initializer(), trainable=False)
    return mask, threshold


def apply_mask(x, scope="", prune_option="weight"):
    """Multiplies a variable by a mask of its shape, which is made here.

    Args:
      x: the variable of weights.
      scope: the variable scope of the mask; the current one by default.
      prune_option: must be 'weight'.
    """
    only_weight(prune_option, "apply_mask")
    with tf.variable_scope(scope or tf.get_variable_scope()):
        mask, threshold = mask_of(x)
        return masked(x, mask, threshold, "masked_weight")


def only_weight(prune_option, function):
    if prune_option != "weight":
        raise NotImplementedError("tf.contrib.model_pruning.%s(prune_option=%r) is not in Weft: use prune_option='weight'" % (
            function, prune_option))


def _masking(layer, default, inputs, scope, reuse, weights_regularizer, given):
    """Calls a layer with masked weights; losses are computed from the weights without the mask."""
    raw = []

    def getter(get, name, *args, **kwargs):
        found = get(name, *args, **kwargs)
        if not name.endswith("/weights"):
            return found
        raw.append(found)
        plain = {k: v for k, v in kwargs.items() if k in ("reuse", "caching_device", "use_resource")}
        mask, threshold = mask_of(found, lambda n, **more: get(n, **more, **plain), name[:-len("weights")])
        return masked(found, mask, threshold, name + "/masked_weight")

    def loss(_):
        return weights_regularizer(raw[-1])
    with tf.variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=getter, auxiliary_name_scope=False) as sc:
        return layer(inputs, weights_regularizer=loss if weights_regularizer else None, scope=sc, **given)


@tf.contrib.framework.add_arg_scope
def masked_convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=tf.nn.relu,
                       normalizer_fn=None, normalizer_params=None, weights_initializer=layers.xavier_initializer(),
                       weights_regularizer=None, biases_initializer=tf.zeros_initializer(), biases_regularizer=None, reuse=None,
                       variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """Works as tf.contrib.layers.conv2d does, with the same parameters, and masks the weights."""
    return _masking(layers.convolution2d, "Conv", inputs, scope, reuse, weights_regularizer, dict(
        num_outputs=num_outputs, kernel_size=kernel_size, stride=stride, padding=padding, data_format=data_format, rate=rate,
        activation_fn=activation_fn, normalizer_fn=normalizer_fn, normalizer_params=normalizer_params,
        weights_initializer=weights_initializer, biases_initializer=biases_initializer, biases_regularizer=biases_regularizer,
        variables_collections=variables_collections, outputs_collections=outputs_collections, trainable=trainable))


masked_conv2d = masked_convolution


@tf.contrib.framework.add_arg_scope
def masked_fully_connected(inputs, num_outputs, activation_fn=tf.nn.relu, normalizer_fn=None, normalizer_params=None,
                           weights_initializer=layers.xavier_initializer(), weights_regularizer=None,
                           biases_initializer=tf.zeros_initializer(), biases_regularizer=None, reuse=None, variables_collections=None,
                           outputs_collections=None, trainable=True, scope=None):
    """Works as tf.contrib.layers.fully_connected does, with the same parameters, and masks the weights."""
    return _masking(layers.fully_connected, "fully_connected", inputs, scope, reuse, weights_regularizer, dict(
        num_outputs=num_outputs, activation_fn=activation_fn, normalizer_fn=normalizer_fn, normalizer_params=normalizer_params,
        weights_initializer=weights_initializer, biases_initializer=biases_initializer, biases_regularizer=biases_regularizer,
        variables_collections=variables_collections, outputs_collections=outputs_collections, trainable=trainable))


class _MaskedKernel:
    """The base of recurrent cells with a masked kernel."""

    def build(self, inputs_shape):
        """Makes the variables of the cell, its mask and its threshold."""
        super().build(inputs_shape)
        self.built = False  # Otherwise add_weight would share variables.
        mask, threshold = mask_of(self._kernel, lambda name, **given: self.add_weight(name, **given))
        self._kernel, self.built = masked(self._kernel, mask, threshold, "masked_weight"), True


class MaskedBasicLSTMCell(_MaskedKernel, tf.nn.rnn_cell.BasicLSTMCell):
    """tf.nn.rnn_cell.BasicLSTMCell with a mask on its kernel."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name, dtype, **kwargs)


class MaskedLSTMCell(_MaskedKernel, tf.nn.rnn_cell.LSTMCell):
    """tf.nn.rnn_cell.LSTMCell with a mask on its kernel."""
