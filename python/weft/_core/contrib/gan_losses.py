"""tf.contrib.gan.losses: losses of generators and discriminators, computed from the discriminator's outputs (wargs) or
from a GANModel.
"""
import functools
import inspect

import weft as tf

_BY_NONZERO = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS
_LOSSES = tf.GraphKeys.LOSSES


def _summary(add_summaries, **values):
    for name, value in values.items() if add_summaries else ():
        tf.summary.scalar(name, value)


def wasserstein_generator_loss(discriminator_gen_outputs, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY_NONZERO,
                               add_summaries=False):
    """Returns the negative mean of the discriminator's outputs for generated data."""
    with tf.name_scope(scope, "generator_wasserstein_loss", (discriminator_gen_outputs, weights)) as scope:
        loss = tf.losses.compute_weighted_loss(-tf.to_float(discriminator_gen_outputs), weights, scope, loss_collection, reduction)
        _summary(add_summaries, generator_wass_loss=loss)
    return loss


def wasserstein_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, real_weights=1.0, generated_weights=1.0,
                                   scope=None, loss_collection=_LOSSES, reduction=_BY_NONZERO, add_summaries=False):
    """Returns the mean of the outputs for generated data, less that for real data."""
    with tf.name_scope(scope, "discriminator_wasserstein_loss", (discriminator_real_outputs, discriminator_gen_outputs)) as scope:
        gen = tf.losses.compute_weighted_loss(tf.to_float(discriminator_gen_outputs), generated_weights, scope, None, reduction)
        real = tf.losses.compute_weighted_loss(tf.to_float(discriminator_real_outputs), real_weights, scope, None, reduction)
        loss = gen - real
        tf.losses.add_loss(loss, loss_collection)
        _summary(add_summaries, discriminator_gen_wass_loss=gen, discriminator_real_wass_loss=real, discriminator_wass_loss=loss)
    return loss


def minimax_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, label_smoothing=0.25, real_weights=1.0,
                               generated_weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY_NONZERO, add_summaries=False):
    """Returns the cross entropy of telling real data from generated data."""
    with tf.name_scope(scope, "discriminator_minimax_loss", (discriminator_real_outputs, discriminator_gen_outputs)) as scope:
        gen = tf.losses.sigmoid_cross_entropy(tf.zeros_like(discriminator_gen_outputs), discriminator_gen_outputs, generated_weights,
                                              scope=scope, loss_collection=None, reduction=reduction)
        real = tf.losses.sigmoid_cross_entropy(tf.ones_like(discriminator_real_outputs), discriminator_real_outputs, real_weights,
                                               label_smoothing, scope, None, reduction)
        loss = gen + real
        tf.losses.add_loss(loss, loss_collection)
        _summary(add_summaries, discriminator_gen_minimax_loss=gen, discriminator_real_minimax_loss=real, discriminator_minimax_loss=loss)
    return loss


def minimax_generator_loss(discriminator_gen_outputs, label_smoothing=0.0, weights=1.0, scope=None, loss_collection=_LOSSES,
                           reduction=_BY_NONZERO, add_summaries=False):
    """Returns the negative of the discriminator's loss on generated data. The modified loss trains better."""
    with tf.name_scope(scope, "generator_minimax_loss") as scope:
        loss = -minimax_discriminator_loss(tf.ones_like(discriminator_gen_outputs), discriminator_gen_outputs, label_smoothing, weights,
                                           weights, scope, loss_collection, reduction)
        _summary(add_summaries, generator_minimax_loss=loss)
    return loss


def modified_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, label_smoothing=0.25, real_weights=1.0,
                                generated_weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY_NONZERO, add_summaries=False):
    """Returns the minimax_discriminator_loss."""
    return minimax_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, label_smoothing, real_weights,
                                      generated_weights, scope or "discriminator_modified_loss", loss_collection, reduction, add_summaries)


def modified_generator_loss(discriminator_gen_outputs, label_smoothing=0.0, weights=1.0, scope=None, loss_collection=_LOSSES,
                            reduction=_BY_NONZERO, add_summaries=False):
    """Returns the cross entropy of classifying generated data as real."""
    with tf.name_scope(scope, "generator_modified_loss", [discriminator_gen_outputs]) as scope:
        loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(discriminator_gen_outputs), discriminator_gen_outputs, weights,
                                               label_smoothing, scope, loss_collection, reduction)
        _summary(add_summaries, generator_modified_loss=loss)
    return loss


def least_squares_generator_loss(discriminator_gen_outputs, real_label=1, weights=1.0, scope=None, loss_collection=_LOSSES,
                                 reduction=_BY_NONZERO, add_summaries=False):
    """Returns half the squared distance of the outputs from the label of real data."""
    with tf.name_scope(scope, "lsq_generator_loss", (discriminator_gen_outputs, real_label)) as scope:
        each = tf.squared_difference(tf.to_float(discriminator_gen_outputs), real_label) / 2.0
        loss = tf.losses.compute_weighted_loss(each, weights, scope, loss_collection, reduction)
        _summary(add_summaries, generator_lsq_loss=loss)
    return loss


def least_squares_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, real_label=1, fake_label=0, real_weights=1.0,
                                     generated_weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY_NONZERO,
                                     add_summaries=False):
    """Returns half the squared distances of the outputs from their labels."""
    with tf.name_scope(scope, "lsq_discriminator_loss", (discriminator_gen_outputs, real_label)) as scope:
        real = tf.losses.compute_weighted_loss(tf.squared_difference(tf.to_float(discriminator_real_outputs), real_label) / 2.0,
                                               real_weights, scope, None, reduction)
        gen = tf.losses.compute_weighted_loss(tf.squared_difference(tf.to_float(discriminator_gen_outputs), fake_label) / 2.0,
                                              generated_weights, scope, None, reduction)
        loss = real + gen
        tf.losses.add_loss(loss, loss_collection)
        _summary(add_summaries, discriminator_gen_lsq_loss=gen, discriminator_real_lsq_loss=real, discriminator_lsq_loss=loss)
    return loss


def wasserstein_gradient_penalty(real_data, generated_data, generator_inputs, discriminator_fn, discriminator_scope, epsilon=1e-10,
                                 target=1.0, one_sided=False, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_BY_NONZERO,
                                 add_summaries=False):
    """Returns a penalty on the distance of the norms of the discriminator's gradients from a target, between real and
    generated data.
    """
    with tf.name_scope(scope, "wasserstein_gradient_penalty", (real_data, generated_data)) as scope:
        real_data, generated_data = tf.convert_to_tensor(real_data), tf.convert_to_tensor(generated_data)
        if real_data.shape.ndims is None or generated_data.shape.ndims is None:
            raise ValueError("real_data and generated_data must have known rank.")
        difference = generated_data - real_data
        rows = difference.shape[0].value or tf.shape(difference)[0]
        alpha = tf.random_uniform([rows] + [1] * (real_data.shape.ndims - 1))
        between = real_data + alpha * difference
        with tf.name_scope(None), tf.variable_scope(discriminator_scope, reuse=True):
            outputs = discriminator_fn(between, generator_inputs)
        outputs = outputs[0] if isinstance(outputs, tuple) else outputs
        gradient = tf.gradients(outputs, between)[0]
        slopes = tf.sqrt(tf.reduce_sum(tf.square(gradient), axis=list(range(1, real_data.shape.ndims))) + epsilon)
        away = slopes / target - 1.0
        away = tf.maximum(0., away) if one_sided else away
        loss = tf.losses.compute_weighted_loss(tf.square(away), weights, scope, loss_collection, reduction)
        _summary(add_summaries, gradient_penalty_loss=loss)
    return loss


_FIELDS = ("real_data", "generated_data", "generator_inputs", "discriminator_fn", "discriminator_scope", "discriminator_real_outputs",
           "discriminator_gen_outputs")


def of_model(loss):
    """Returns a loss function of a GANModel, whose fields are passed as the arguments of the loss."""
    fields = [n for n in inspect.signature(loss).parameters if n in _FIELDS]

    @functools.wraps(loss)
    def call(gan_model, **kwargs):
        return loss(**{n: getattr(gan_model, n) for n in fields if n not in kwargs}, **kwargs)
    del call.__wrapped__
    call.__doc__ = loss.__doc__
    return call
