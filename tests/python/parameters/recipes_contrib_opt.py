"""Recipes of tf.contrib.opt, which TensorFlow 2.15 lacks: each parameter has an effect here."""
RECIPES = """
tf.contrib.opt.AdamWOptimizer(0.1) ; learning_rate=0.2, use_locking=True ; uses.optimized(it)
tf.contrib.opt.MomentumWOptimizer(0.1, 0.1, 0.9) ; use_locking=True ; uses.optimized(it)
tf.contrib.opt.DecoupledWeightDecayExtension(0.1) ; ; it._weight_decay
tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.RMSPropOptimizer) ; ; uses.optimized(it(0.1, 0.1))
tf.contrib.opt.LARSOptimizer(0.1) ; skip_list=['variable'], eeta=0.1 ; uses.optimized(it)
tf.contrib.opt.AdaMaxOptimizer() ; learning_rate=0.2 ; uses.optimized(it)
tf.contrib.opt.LazyAdamOptimizer() ; learning_rate=0.2 ; uses.optimized(it)
tf.contrib.opt.NadamOptimizer() ; learning_rate=0.2 ; uses.optimized(it)
tf.contrib.opt.AdamGSOptimizer() ; global_step=tf.train.get_or_create_global_step(), learning_rate=0.2 ; uses.optimized(it)
tf.contrib.opt.LazyAdamGSOptimizer() ; global_step=tf.train.get_or_create_global_step(), learning_rate=0.2 ; uses.optimized(it)
tf.contrib.opt.AddSignOptimizer() ; sign_decay_fn=tf.contrib.opt.get_linear_decay_fn(5) ; uses.optimized(it)
tf.contrib.opt.PowerSignOptimizer() ; base=3.0, sign_decay_fn=tf.contrib.opt.get_linear_decay_fn(5) ; uses.optimized(it)
tf.contrib.opt.GGTOptimizer() ; learning_rate=0.1, window=2, eps=0.5, svd_eps=0.1, sigma_eps=0.5 ; uses.optimized(it)
tf.contrib.opt.ShampooOptimizer() ; use_iterative_root=True, learning_rate=0.1, max_matrix_size=0, alpha=0.25 ; uses.optimized(it)
tf.contrib.opt.get_linear_decay_fn(10) ; ; uses.rate(it)
tf.contrib.opt.get_cosine_decay_fn(10) ; num_periods=1.0, zero_after=0.1 ; uses.rate(it)
tf.contrib.opt.get_restart_decay_fn(10) ; num_periods=3, zero_after=0.1 ; uses.rate(it)
tf.contrib.opt.RegAdagradOptimizer(0.1) ; ; uses.optimized(it)
tf.contrib.opt.MultitaskOptimizerWrapper(tf.train.AdamOptimizer(0.1)) ; ; uses.optimized(it)
tf.contrib.opt.clip_gradients_by_global_norm([(X, uses.variable())]) ; clip_norm=0.5 ; it[0][0]
tf.contrib.opt.VariableClippingOptimizer(uses.sgd(), {uses.one_variable(): [1]}, 0.5) ; use_locking=True,
    colocate_clip_ops_with_vars=True, max_norm=0.25 ; uses.after(it.minimize(uses.one_loss(), name=it.get_name()),
    tf.global_variables(), 1)
tf.contrib.opt.DropStaleGradientOptimizer(uses.sgd(), 0) ; staleness=-1, use_locking=True ; [it.get_name(), uses.optimized(it)]
tf.contrib.opt.ExternalOptimizerInterface(uses.one_loss()) ; var_list=[uses.one_variable(), uses.variable(name='other')],
    equalities=[uses.one_loss()], inequalities=[uses.one_loss()], var_to_bounds={uses.one_variable(): (0.0, 1.0)},
    method='SLSQP' ; uses.minimized(it)
tf.contrib.opt.ScipyOptimizerInterface(uses.one_loss()) ; var_list=[uses.one_variable(), uses.variable(name='other')],
    equalities=[uses.one_loss()], inequalities=[uses.one_loss()], var_to_bounds={uses.one_variable(): (0.0, 1.0)},
    method='SLSQP' ; uses.minimized(it)
tf.contrib.opt.MovingAverageOptimizer(uses.sgd()) ; average_decay=0.5, num_updates=tf.train.get_or_create_global_step(),
    sequential_update=False ; uses.optimized(it)
tf.contrib.opt.ElasticAverageCustomGetter('/cpu:0') ; worker_device='/cpu:1' ; uses.averaged_copies(it)
tf.contrib.opt.AGNCustomGetter('/cpu:0') ; worker_device='/cpu:1' ; uses.averaged_copies(it)
tf.contrib.opt.ModelAverageCustomGetter('/cpu:0') ; worker_device='/cpu:1' ; uses.averaged_copies(it)
tf.contrib.opt.ElasticAverageOptimizer(uses.sgd(), 1, uses.getter_of('ElasticAverageCustomGetter')) ; communication_period=2,
    moving_rate=0.5, rho=2.0, use_locking=False, synchronous=True ; [it.get_name(), uses.trained_copies(it)]
tf.contrib.opt.AGNOptimizer(uses.sgd(), 1, uses.getter_of('AGNCustomGetter')) ; communication_period=2 ; [it.get_name(),
    it._use_locking, uses.trained_copies(it)]
tf.contrib.opt.ModelAverageOptimizer(uses.sgd(), 1, True, uses.getter_of('ModelAverageCustomGetter')) ; interval_steps=2 ;
    [it.get_name(), it._use_locking, uses.trained_copies(it)]
"""
