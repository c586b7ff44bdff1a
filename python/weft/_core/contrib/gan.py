"""tf.contrib.gan: models of a generator and a discriminator, their losses, and the loop that trains them in turn."""
import collections

import weft as tf
from weft._core.contrib import framework, gan_losses, learning, training
from weft._core.framework.absent import Named


class GANModel(collections.namedtuple("GANModel", (
        "generator_inputs", "generated_data", "generator_variables", "generator_scope", "generator_fn", "real_data",
        "discriminator_real_outputs", "discriminator_gen_outputs", "discriminator_variables", "discriminator_scope", "discriminator_fn"))):
    """The tensors, variables and functions of a generator and a discriminator."""


class GANLoss(collections.namedtuple("GANLoss", ("generator_loss", "discriminator_loss")), metaclass=Named):
    """The losses of the generator and the discriminator."""


class GANTrainOps(collections.namedtuple("GANTrainOps", (
        "generator_train_op", "discriminator_train_op", "global_step_inc_op", "train_hooks"))):
    """The ops that train both networks, and the one that counts steps."""

    def __new__(cls, generator_train_op, discriminator_train_op, global_step_inc_op, train_hooks=()):
        return super().__new__(cls, generator_train_op, discriminator_train_op, global_step_inc_op, train_hooks)


class GANTrainSteps(collections.namedtuple("GANTrainSteps", ("generator_train_steps", "discriminator_train_steps")), metaclass=Named):
    """How many times each network is trained in a step."""


wasserstein_generator_loss = gan_losses.of_model(gan_losses.wasserstein_generator_loss)
wasserstein_discriminator_loss = gan_losses.of_model(gan_losses.wasserstein_discriminator_loss)
minimax_generator_loss = gan_losses.of_model(gan_losses.minimax_generator_loss)
minimax_discriminator_loss = gan_losses.of_model(gan_losses.minimax_discriminator_loss)
modified_generator_loss = gan_losses.of_model(gan_losses.modified_generator_loss)
modified_discriminator_loss = gan_losses.of_model(gan_losses.modified_discriminator_loss)
least_squares_generator_loss = gan_losses.of_model(gan_losses.least_squares_generator_loss)
least_squares_discriminator_loss = gan_losses.of_model(gan_losses.least_squares_discriminator_loss)
wasserstein_gradient_penalty = gan_losses.of_model(gan_losses.wasserstein_gradient_penalty)


def gan_model(generator_fn, discriminator_fn, real_data, generator_inputs, generator_scope="Generator",
              discriminator_scope="Discriminator", check_shapes=True):
    """Builds a generator, and a discriminator of generated and of real data."""
    with tf.variable_scope(generator_scope) as gen_scope:
        generator_inputs = _tensors(generator_inputs)
        generated = generator_fn(generator_inputs)
    with tf.variable_scope(discriminator_scope) as dis_scope:
        gen_outputs = discriminator_fn(generated, generator_inputs)
    with tf.variable_scope(dis_scope, reuse=True):
        real_data = _tensors(real_data)
        real_outputs = discriminator_fn(real_data, generator_inputs)
    if check_shapes and hasattr(generated, "shape") and not generated.shape.is_compatible_with(real_data.shape):
        raise ValueError("Generator output shape (%s) must be the same shape as real data (%s)." % (generated.shape, real_data.shape))
    return GANModel(generator_inputs, generated, framework.get_trainable_variables(gen_scope), gen_scope, generator_fn, real_data,
                    real_outputs, gen_outputs, framework.get_trainable_variables(dis_scope), dis_scope, discriminator_fn)


def _tensors(given):
    if isinstance(given, dict):
        return {k: tf.convert_to_tensor(v) for k, v in given.items()}
    return [tf.convert_to_tensor(v) for v in given] if isinstance(given, (list, tuple)) else tf.convert_to_tensor(given)


def gan_loss(model, generator_loss_fn=wasserstein_generator_loss, discriminator_loss_fn=wasserstein_discriminator_loss,
             gradient_penalty_weight=None, gradient_penalty_epsilon=1e-10, gradient_penalty_target=1.0, gradient_penalty_one_sided=False,
             mutual_information_penalty_weight=None, aux_cond_generator_weight=None, aux_cond_discriminator_weight=None,
             tensor_pool_fn=None, add_summaries=True):
    """Returns the losses of a model, with a gradient penalty if that has a weight, and with what regularizes each part.
    """
    for name, value in (("mutual_information_penalty_weight", mutual_information_penalty_weight),
                        ("aux_cond_generator_weight", aux_cond_generator_weight),
                        ("aux_cond_discriminator_weight", aux_cond_discriminator_weight)):
        if value is not None:
            raise NotImplementedError("tf.contrib.gan.gan_loss(%s=...) is not in Weft: add that loss to the GANLoss" % name)
    gen = generator_loss_fn(model, add_summaries=add_summaries)
    pooled = model
    if tensor_pool_fn is not None:
        data, inputs = tensor_pool_fn((model.generated_data, model.generator_inputs))
        with tf.variable_scope(model.discriminator_scope, reuse=True):
            outputs = model.discriminator_fn(data, inputs)
        pooled = model._replace(generated_data=data, generator_inputs=inputs, discriminator_gen_outputs=outputs)
    dis = discriminator_loss_fn(pooled, add_summaries=add_summaries)
    if gradient_penalty_weight is not None:
        penalty = wasserstein_gradient_penalty(model, epsilon=gradient_penalty_epsilon, target=gradient_penalty_target,
                                               one_sided=gradient_penalty_one_sided, add_summaries=add_summaries)
        dis += gradient_penalty_weight * penalty
    return GANLoss(gen + tf.losses.get_regularization_loss(model.generator_scope.name),
                   dis + tf.losses.get_regularization_loss(model.discriminator_scope.name))


def _updates(model, check):
    """Returns the update ops of the generator and of the discriminator."""
    every = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    parts = [tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope.name) for scope in (model.generator_scope, model.discriminator_scope)]
    unused = [op for op in every if op not in parts[0] and op not in parts[1]]
    if check and unused:
        raise ValueError("There are unused update ops: %s" % unused)
    return parts


def gan_train_ops(model, loss, generator_optimizer, discriminator_optimizer, check_for_unused_update_ops=True, **kwargs):
    """Returns the ops that train a model; further keywords go to tf.contrib.training.create_train_op."""
    step = tf.train.get_or_create_global_step()
    generator_updates, discriminator_updates = _updates(model, check_for_unused_update_ops)
    with tf.name_scope("generator_train"):
        gen = learning.create_training_op(loss.generator_loss, generator_optimizer, None, generator_updates, model.generator_variables,
                                          **kwargs)
    with tf.name_scope("discriminator_train"):
        dis = learning.create_training_op(loss.discriminator_loss, discriminator_optimizer, None, discriminator_updates,
                                          model.discriminator_variables, **kwargs)
    return GANTrainOps(gen, dis, step.assign_add(1))


class RunTrainOpsHook(tf.train.SessionRunHook):
    """Runs training ops a number of times before each step."""

    def __init__(self, train_ops, train_steps):
        self._train_ops, self._train_steps = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops], train_steps

    def before_run(self, run_context):
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


def get_sequential_train_hooks(train_steps=GANTrainSteps(1, 1)):
    """Returns a function of GANTrainOps: hooks that train the generator, then the discriminator."""
    def get_hooks(train_ops):
        return [RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
                RunTrainOpsHook(train_ops.discriminator_train_op, train_steps.discriminator_train_steps)] + list(train_ops.train_hooks)
    return get_hooks


def get_joint_train_hooks(train_steps=GANTrainSteps(1, 1)):
    """Returns a function of GANTrainOps that makes hooks. They train both at once, then the one with more steps alone.
    """
    gen, dis = train_steps.generator_train_steps, train_steps.discriminator_train_steps

    def get_hooks(train_ops):
        both, rest = min(gen, dis), abs(gen - dis)
        more = train_ops.generator_train_op if gen > dis else train_ops.discriminator_train_op
        return [RunTrainOpsHook([train_ops.generator_train_op, train_ops.discriminator_train_op], both),
                RunTrainOpsHook(more, rest)] + list(train_ops.train_hooks)
    return get_hooks


def gan_train(train_ops, logdir, get_hooks_fn=get_sequential_train_hooks(), master="", is_chief=True, scaffold=None, hooks=None,
              chief_only_hooks=None, save_checkpoint_secs=600, save_summaries_steps=100, config=None):
    """Trains until a hook stops it; returns the last step."""
    return training.train(train_ops.global_step_inc_op, logdir, master=master, is_chief=is_chief, scaffold=scaffold,
                          hooks=list(get_hooks_fn(train_ops)) + list(hooks or []), chief_only_hooks=chief_only_hooks,
                          save_checkpoint_secs=save_checkpoint_secs, save_summaries_steps=save_summaries_steps, config=config)
