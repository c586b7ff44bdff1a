"""Recipes of tf.contrib.gan, which nobody has any more: each parameter has an effect, or an error names it."""
RECIPES = """
tf.contrib.gan.GANModel(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) ; ; it.real_data
tf.contrib.gan.GANLoss(1, 2) ; ; list(it)
tf.contrib.gan.GANTrainOps(1, 2, 3, train_hooks=()) ; ; list(it)
tf.contrib.gan.GANTrainSteps(1, 2) ; ; list(it)
tf.contrib.gan.RunTrainOpsHook([tf.no_op()], 2) ; ; uses.attributes(it)
tf.contrib.gan.gan_model(uses.line, uses.line, X, Y, check_shapes=True) ; generator_scope='g', discriminator_scope='d' ;
    [it.discriminator_gen_outputs, it.discriminator_real_outputs]
tf.contrib.gan.gan_loss(uses.gan(), gradient_penalty_weight=0.5) ; generator_loss_fn=
    tf.contrib.gan.losses.least_squares_generator_loss, discriminator_loss_fn=
    tf.contrib.gan.losses.least_squares_discriminator_loss, gradient_penalty_weight=2.0, gradient_penalty_epsilon=0.5,
    gradient_penalty_target=2.0, gradient_penalty_one_sided=True, mutual_information_penalty_weight=1.0,
    aux_cond_generator_weight=1.0, aux_cond_discriminator_weight=1.0, tensor_pool_fn=lambda pair: (pair[0] * 2, pair[1]),
    add_summaries=False ; list(it)
tf.contrib.gan.gan_train_ops(uses.gan(), tf.contrib.gan.gan_loss(uses.gan()), tf.train.GradientDescentOptimizer(0.1),
    tf.train.GradientDescentOptimizer(0.1), check_for_unused_update_ops=True) ; ; len(it)
tf.contrib.gan.gan_train(tf.contrib.gan.GANTrainOps(tf.no_op(), tf.no_op(), uses.step_op()), None, save_checkpoint_secs=None,
    save_summaries_steps=None, hooks=[tf.train.StopAtStepHook(2)], master='', is_chief=True, scaffold=None, chief_only_hooks=None,
    config=None, get_hooks_fn=tf.contrib.gan.get_joint_train_hooks()) ; logdir='d' ; int(it)
tf.contrib.gan.get_joint_train_hooks(train_steps=tf.contrib.gan.GANTrainSteps(1, 1)) ; ; callable(it)
tf.contrib.gan.get_sequential_train_hooks(train_steps=tf.contrib.gan.GANTrainSteps(1, 1)) ; ; callable(it)
tf.contrib.gan.losses.least_squares_discriminator_loss(uses.gan())
tf.contrib.gan.losses.least_squares_generator_loss(uses.gan())
tf.contrib.gan.losses.minimax_discriminator_loss(uses.gan())
tf.contrib.gan.losses.minimax_generator_loss(uses.gan())
tf.contrib.gan.losses.modified_discriminator_loss(uses.gan())
tf.contrib.gan.losses.modified_generator_loss(uses.gan())
tf.contrib.gan.losses.wasserstein_discriminator_loss(uses.gan())
tf.contrib.gan.losses.wasserstein_generator_loss(uses.gan())
tf.contrib.gan.losses.wasserstein_gradient_penalty(uses.gan())
tf.contrib.gan.losses.wargs.least_squares_discriminator_loss(X, Y) ; real_label=2, fake_label=1, real_weights=2.0,
    generated_weights=3.0
tf.contrib.gan.losses.wargs.least_squares_generator_loss(X) ; real_label=2
tf.contrib.gan.losses.wargs.minimax_discriminator_loss(X, Y) ; real_weights=2.0, generated_weights=3.0
tf.contrib.gan.losses.wargs.minimax_generator_loss(X) ; label_smoothing=0.5
tf.contrib.gan.losses.wargs.modified_discriminator_loss(X, Y) ; real_weights=2.0, generated_weights=3.0
tf.contrib.gan.losses.wargs.modified_generator_loss(X) ; label_smoothing=0.5
tf.contrib.gan.losses.wargs.wasserstein_discriminator_loss(X, Y) ; real_weights=2.0, generated_weights=3.0
tf.contrib.gan.losses.wargs.wasserstein_generator_loss(X)
tf.contrib.gan.losses.wargs.wasserstein_gradient_penalty(X, Y, X, uses.gan().discriminator_fn, 'Discriminator') ; epsilon=0.5,
    target=2.0, one_sided=True, weights=2.0
"""
