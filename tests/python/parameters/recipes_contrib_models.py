"""Recipes of tf.contrib.bayesflow, ffmpeg, kfac and tensor_forest."""
RECIPES = """
tf.contrib.bayesflow.entropy.elbo_ratio(uses.normal().log_prob, uses.normal(), z=X) ; z=Y, n=3, form='sample', name='given'
tf.contrib.bayesflow.entropy.entropy_shannon(uses.normal(), z=X, form='sample') ; z=Y, n=3, seed=5, form='default', name='given'
tf.contrib.bayesflow.entropy.renyi_ratio(tf.distributions.Normal(1.0, 1.0).log_prob, uses.normal(), 0.5, z=X) ; z=Y, n=3,
    seed=5, name='given'
tf.contrib.bayesflow.halton_sequence.sample(2, num_samples=3) ; num_samples=4, sample_indices=[5], dtype=tf.float64, name='given'
tf.contrib.bayesflow.hmc.chain(3, 0.1, 2, tf.ones([2, 2]), lambda x: -tf.reduce_sum(x * x, -1), event_dims=(1,), seed=3) ;
    event_dims=(0, 1), name='given', seed=4
tf.contrib.bayesflow.hmc.kernel(0.1, 2, tf.ones([2, 2]), lambda x: -tf.reduce_sum(x * x, -1), event_dims=(1,), seed=3) ;
    event_dims=(0, 1), x_log_prob=tf.ones([2]), x_grad=tf.ones([2, 2]), name='given', seed=4
tf.contrib.bayesflow.hmc.leapfrog_integrator(0.1, 2, tf.ones([2]), tf.ones([2]), lambda x: (tf.reduce_sum(x * x), 2 * x),
    2 * tf.ones([2])) ; name='given'
tf.contrib.bayesflow.hmc.leapfrog_step(0.1, tf.ones([2]), tf.ones([2]), lambda x: (tf.reduce_sum(x * x), 2 * x), 2 * tf.ones([2])) ;
    name='given'
tf.contrib.bayesflow.hmc.sample_chain(3, lambda x: -tf.reduce_sum(x * x, -1), tf.ones([2, 2]), 0.1, 2, seed=3) ; num_burnin_steps=2,
    num_steps_between_results=1, seed=4, name='given'
tf.contrib.bayesflow.metropolis_hastings.evolve(uses.walker('x'), uses.walker('density'), uses.walker('ratio'), lambda x: -tf.square(x),
    lambda x: (x + 1, None), seed=3) ; n_steps=2, seed=4, name='given' ; it.name
tf.contrib.bayesflow.metropolis_hastings.normal_random_proposal(seed=3) ; scale=2.0, seed=4, name='given' ; it(X)[0]
tf.contrib.bayesflow.metropolis_hastings.uniform_random_proposal(seed=3) ; step_size=2.0, seed=4, name='given' ; it(X)[0]
tf.contrib.bayesflow.monte_carlo.expectation(tf.square, X, uses.normal().log_prob, False) ; log_prob=None,
    use_reparametrization=True, axis=1,
    keep_dims=True, name='given', p=uses.normal(), z=Y, n=3, seed=5 ; [it, len(tf.get_default_graph().get_operations())]
tf.contrib.bayesflow.monte_carlo.expectation(tf.square, p=uses.normal(), n=3, seed=1) ; n=4, seed=5, z=Y
tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler(tf.square, uses.normal().log_prob, uses.normal(), z=X) ; z=Y, n=3, seed=5,
    name='given'
tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace(tf.square, uses.normal().log_prob, uses.normal(),
    z=X) ; z=Y, n=3, seed=5,
    name='given'
tf.contrib.bayesflow.stochastic_gradient_estimators.get_mean_baseline() ; ema_decay=0.5, name='given' ; it(None, X)
tf.contrib.bayesflow.stochastic_gradient_estimators.get_score_function_with_advantage() ; advantage_fn=lambda _, loss: 2 * loss,
    name='given' ; it(uses.observed(), X, X)
tf.contrib.bayesflow.stochastic_gradient_estimators.get_score_function_with_baseline() ; baseline_fn=lambda _, loss: loss / 2,
    name='given' ; it(uses.observed(), X, X)
tf.contrib.bayesflow.stochastic_gradient_estimators.get_score_function_with_constant_baseline(0.5) ; name='given' ;
    it(uses.observed(), X, X)
tf.contrib.bayesflow.stochastic_gradient_estimators.score_function(uses.observed(), X, Y) ; baseline=0.5, name='given'
tf.contrib.bayesflow.stochastic_graph.surrogate_loss([uses.sampled_loss()]) ; stochastic_tensors=[], name='given'
tf.contrib.bayesflow.stochastic_tensor.MeanValue() ; stop_gradient=True ; it.stop_gradient
tf.contrib.bayesflow.stochastic_tensor.SampleValue() ; shape=[2], stop_gradient=True ; [it.stop_gradient, list(it.shape)]
tf.contrib.bayesflow.stochastic_tensor.ObservedStochasticTensor(uses.normal(), X) ; name='given' ;
    [it.value(), it.name]
tf.contrib.bayesflow.stochastic_tensor.StochasticTensor(tf.distributions.Bernoulli(probs=1.0)) ; name='given',
    dist_value_type=tf.contrib.bayesflow.stochastic_tensor.MeanValue(), loss_fn=None ; [it.value(), it.name, it.loss(tf.ones([])) is None]
tf.contrib.bayesflow.stochastic_tensor.value_type(tf.contrib.bayesflow.stochastic_tensor.MeanValue) ; ; uses.current_type(it)
tf.contrib.bayesflow.variational_inference.elbo(tf.square(uses.registered().value())) ; keep_batch_dim=False, form='sample', name='given',
    variational_with_prior={tf.contrib.bayesflow.stochastic_tensor.ObservedStochasticTensor(uses.normal(), X):
    tf.distributions.Normal(2.0, 1.0)}
tf.contrib.bayesflow.variational_inference.elbo_with_log_joint(tf.zeros([3, 4]), [uses.observed()]) ; keep_batch_dim=False,
    form='sample', name='given', variational=[uses.observed(), uses.observed()]
tf.contrib.bayesflow.variational_inference.register_prior(uses.observed(), uses.normal())
tf.contrib.ffmpeg.decode_audio(tf.contrib.ffmpeg.encode_audio(X, 'wav', 8000), 'wav', 8000, 4) ; stream='x'
tf.contrib.ffmpeg.decode_video(b'') ; ; it.shape.ndims
tf.contrib.ffmpeg.encode_audio(X, 'wav', 8000)
tf.contrib.kfac.layer_collection.LayerCollection() ; graph=tf.get_default_graph(), name='given' ; it.name
tf.contrib.kfac.optimizer.KfacOptimizer(0.5, 0.9, 0.1, uses.layers()) ; var_list=tf.trainable_variables()[:1], momentum=0.5,
    momentum_type='adam', norm_constraint=1e-4, name='given', estimation_mode='empirical', colocate_gradients_with_ops=False,
    batch_size=4, cov_devices=['/cpu:0'], inv_devices=['/cpu:0'] ; uses.kfac_step(it)
tf.contrib.tensor_forest.client.eval_metrics.get_metric('accuracy') ; ; it(LABELS, LABELS)[1]
tf.contrib.tensor_forest.client.eval_metrics.get_prediction_key('accuracy')
tf.contrib.tensor_forest.ForestHParams(num_classes=2, num_features=3) ; num_trees=3, max_nodes=20, bagging_fraction=0.5,
    num_splits_to_consider=4, feature_bagging_fraction=0.7, max_fertile_nodes=5, split_after_samples=7, valid_leaf_threshold=2,
    dominate_method='hoeffding', dominate_fraction=0.9, model_name='all_sparse', split_finish_name='dominate_hoeffding',
    split_pruning_name='half', collate_examples=True, checkpoint_stats=True, use_running_stats_method=True,
    initialize_average_splits=True, inference_tree_paths=True, param_file='x', split_name='equal',
    early_finish_check_every_samples=5, prune_every_samples=3 ; sorted(it.fill().values().items(), key=str)
tf.contrib.tensor_forest.RandomForestGraphs(uses.forest_params()) ; device_assigner=uses.assigner(), variables=uses.forest_variables(),
    tree_variables_class=uses.tree_class(), tree_graphs=lambda *a: None, training=False, tree_configs=['x'], tree_stats=['x'] ;
    uses.forest_made(it)
tf.contrib.tensor_forest.TrainingLossForest(uses.forest_params()) ; loss_fn=tf.losses.absolute_difference ;
    uses.forest_loss(it)
tf.contrib.tensor_forest.client.random_forest.TensorForestLossHook(3) ; early_stopping_loss_threshold=0.5, loss_op=tf.constant(2.0) ;
    [it.early_stopping_rounds, it.early_stopping_loss_threshold, it.loss_op is None]
tf.contrib.tensor_forest.client.random_forest.TensorForestEstimator(uses.forest_params(), model_dir='m') ; model_dir='n',
    device_assigner=uses.assigner(), feature_engineering_fn=lambda x, y: ({'x': -x['x']}, y),
    config=tf.contrib.learn.RunConfig(save_summary_steps=7),
    weight_column='w', keys_column='k', graph_builder_class=tf.contrib.tensor_forest.TrainingLossForest, early_stopping_rounds=2,
    early_stopping_loss_threshold=0.5, num_trainers=2, trainer_id=1, report_feature_importances=True, local_eval=True, version='1',
    head=tf.contrib.estimator.binary_classification_head(), include_all_in_serving=True ; uses.forest_fitted(it)
tf.contrib.tensor_forest.client.random_forest.CoreTensorForestEstimator(uses.forest_params(),
    tf.contrib.estimator.binary_classification_head(), model_dir='m') ; feature_columns=[tf.feature_column.numeric_column('x', [4])],
    graph_builder_class=tf.contrib.tensor_forest.TrainingLossForest, device_assigner=uses.assigner(), model_dir='n',
    config=tf.estimator.RunConfig(save_summary_steps=7), weight_column='w', keys_column='k', early_stopping_rounds=2,
    early_stopping_loss_threshold=0.5,
    num_trainers=2, trainer_id=1, report_feature_importances=True, local_eval=True ; uses.forest_fitted(it)
tf.contrib.tensor_forest.python.tensor_forest.ForestVariables(uses.forest_params()) ; device_assigner=uses.assigner(), training=False,
    tree_variables_class=uses.tree_class(), tree_configs=['x'], tree_stats=['x'] ; uses.variables_made(it)
tf.contrib.tensor_forest.python.tensor_forest.RandomTreeGraphs(uses.forest_variables()[0], uses.forest_params(), 0) ; ; it.tree_num
tf.contrib.tensor_forest.python.tensor_forest.TreeVariables(uses.forest_params(), 0, True) ; tree_config='x', tree_stat='x' ;
    it.tree.op.name
tf.contrib.bayesflow.entropy.elbo_ratio(uses.normal().log_prob, uses.normal(), n=3, seed=1, form='sample') ; n=4, seed=5,
    form='analytic_entropy'
tf.contrib.bayesflow.entropy.entropy_shannon(uses.normal(), n=3, seed=1, form='sample') ; n=4, seed=5
tf.contrib.bayesflow.entropy.renyi_ratio(tf.distributions.Normal(1.0, 1.0).log_prob, uses.normal(), 0.5, n=3, seed=1) ; n=4, seed=5
tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler(tf.square, tf.distributions.Normal(1.0, 1.0).log_prob, uses.normal(),
    n=3, seed=1) ; n=4, seed=5
tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace(tf.square, tf.distributions.Normal(1.0, 1.0).log_prob,
    uses.normal(), n=3, seed=1) ; n=4, seed=5
"""
