"""Recipes of the estimators of boosted trees, which TensorFlow 2 lacks."""
RECIPES = """
tf.estimator.BoostedTreesClassifier(uses.tree_columns(), 1, 'm', n_trees=2, max_depth=2, pruning_mode='pre') ; n_batches_per_layer=2,
    n_classes=3,
    n_trees=3, max_depth=3, learning_rate=0.4, l1_regularization=0.05, l2_regularization=0.5, tree_complexity=0.02,
    min_node_weight=0.08,
    model_dir='n', config=tf.estimator.RunConfig(save_summary_steps=7), center_bias=True, quantile_sketch_epsilon=0.4,
    weight_column='w', feature_columns=uses.tree_columns()[:1], pruning_mode='later', train_in_memory=True ; uses.trees_fitted(it)
tf.estimator.BoostedTreesClassifier(uses.tree_columns(), 1, 'm', label_vocabulary=['a', 'b'], n_trees=2) ; label_vocabulary=['b', 'a'] ;
    uses.trees_fitted(it, True)
tf.estimator.BoostedTreesRegressor(uses.tree_columns(), 1, 'm', n_trees=2, max_depth=2, pruning_mode='pre') ; n_batches_per_layer=2,
    label_dimension=2,
    n_trees=3, max_depth=3, learning_rate=0.4, l1_regularization=0.05, l2_regularization=0.5, tree_complexity=0.02, min_node_weight=0.7,
    model_dir='n', config=tf.estimator.RunConfig(save_summary_steps=7), center_bias=True, quantile_sketch_epsilon=0.4,
    weight_column='w', feature_columns=uses.tree_columns()[:1], pruning_mode='later', train_in_memory=True ; uses.trees_fitted(it)
tf.estimator.BoostedTreesEstimator(uses.tree_columns(), 1, tf.estimator.BinaryClassHead(), 'm', n_trees=2, max_depth=2,
    pruning_mode='pre') ; n_batches_per_layer=2,
    head=tf.estimator.RegressionHead(),
    n_trees=3, max_depth=3, learning_rate=0.4, l1_regularization=0.05, l2_regularization=0.5, tree_complexity=0.02,
    min_node_weight=0.08,
    model_dir='n', config=tf.estimator.RunConfig(save_summary_steps=7), center_bias=True, quantile_sketch_epsilon=0.4,
    weight_column='w', feature_columns=uses.tree_columns()[:1], pruning_mode='later', train_in_memory=True ; uses.trees_fitted(it)
tf.estimator.experimental.boosted_trees_classifier_train_in_memory(uses.tree_input(), uses.tree_columns(), 'm', n_trees=2, max_depth=2,
    pruning_mode='pre') ;
    train_input_fn=uses.tree_input(scale=0.5), n_classes=3, train_hooks=[tf.train.StopAtStepHook(1)],
    n_trees=3, max_depth=3, learning_rate=0.4, l1_regularization=0.05, l2_regularization=0.5, tree_complexity=0.02,
    min_node_weight=0.08,
    model_dir='n', config=tf.estimator.RunConfig(save_summary_steps=7), center_bias=True, quantile_sketch_epsilon=0.4,
    weight_column='w', feature_columns=uses.tree_columns()[:1], pruning_mode='later' ; uses.trees_seen(it)
tf.estimator.experimental.boosted_trees_regressor_train_in_memory(uses.tree_input(), uses.tree_columns(), 'm', n_trees=2, max_depth=2,
    pruning_mode='pre') ;
    train_input_fn=uses.tree_input(scale=0.5), label_dimension=2, train_hooks=[tf.train.StopAtStepHook(1)],
    n_trees=3, max_depth=3, learning_rate=0.4, l1_regularization=0.05, l2_regularization=0.5, tree_complexity=0.02, min_node_weight=0.7,
    model_dir='n', config=tf.estimator.RunConfig(save_summary_steps=7), center_bias=True, quantile_sketch_epsilon=0.4,
    weight_column='w', feature_columns=uses.tree_columns()[:1], pruning_mode='later' ; uses.trees_seen(it)
tf.estimator.experimental.boosted_trees_classifier_train_in_memory(uses.tree_input(True), uses.tree_columns(), 'm',
    label_vocabulary=['a', 'b'], n_trees=2) ; label_vocabulary=['b', 'a'] ; uses.trees_seen(it)
tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeClassifier(uses.tree_learner(), 20, num_trees=2,
    model_dir='m') ;
    n_classes=3, learner_config=uses.tree_learner(3), examples_per_layer=40, num_trees=3,
    feature_columns=uses.tree_columns()[:1], weight_column_name='w', model_dir='n',
    config=tf.contrib.learn.RunConfig(save_summary_steps=7),
    feature_engineering_fn=lambda x, y: ({k: -v for k, v in x.items()}, y), logits_modifier_function=tf.identity, center_bias=False,
    output_leaf_index=True, override_global_step_value=3, num_quantiles=3 ; uses.trees_fitted(it)
tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeClassifier(uses.tree_learner(), 20, num_trees=2,
    model_dir='m',
    label_keys=['a', 'b'], feature_columns=uses.tree_columns()) ; label_keys=['b', 'a'] ; uses.trees_fitted(it, True)
tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeRegressor(uses.tree_learner(), 20, num_trees=2,
    model_dir='m') ;
    label_dimension=2, learner_config=uses.tree_learner(3), examples_per_layer=40, num_trees=3,
    feature_columns=uses.tree_columns()[:1], weight_column_name='w', model_dir='n',
    config=tf.contrib.learn.RunConfig(save_summary_steps=7),
    feature_engineering_fn=lambda x, y: ({k: -v for k, v in x.items()}, y), logits_modifier_function=tf.identity, center_bias=False,
    output_leaf_index=True, override_global_step_value=3, num_quantiles=3 ; uses.trees_fitted(it)
tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeRegressor(uses.tree_learner(), 20, num_trees=2,
    model_dir='m', feature_columns=uses.tree_columns(),
    feature_engineering_fn=lambda x, y: (x, None if y is None else {'y': y, 'z': 1 - y}), label_name='y') ;
    label_name='z' ; uses.trees_fitted(it)
tf.contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeEstimator(uses.tree_learner(), 20,
    tf.estimator.BinaryClassHead(), num_trees=2, model_dir='m') ;
    head=tf.estimator.RegressionHead(), learner_config=uses.tree_learner(3), examples_per_layer=40, num_trees=3,
    feature_columns=uses.tree_columns()[:1], weight_column_name='w', model_dir='n',
    config=tf.contrib.learn.RunConfig(save_summary_steps=7),
    feature_engineering_fn=lambda x, y: ({k: -v for k, v in x.items()}, y), logits_modifier_function=tf.identity, center_bias=False,
    output_leaf_index=True, override_global_step_value=3, num_quantiles=3 ; uses.trees_fitted(it)
tf.contrib.boosted_trees.proto.learner_pb2.TreeRegularizationConfig() ; l1=1.0, l2=1.0, tree_complexity=1.0 ; it.SerializeToString()
tf.contrib.boosted_trees.proto.learner_pb2.TreeConstraintsConfig() ; max_tree_depth=1, min_node_weight=1.0,
    max_number_of_unique_feature_columns=1 ; it.SerializeToString()
tf.contrib.boosted_trees.proto.learner_pb2.LearningRateFixedConfig() ; learning_rate=1.0 ; it.SerializeToString()
tf.contrib.boosted_trees.proto.learner_pb2.LearningRateDropoutDrivenConfig() ; dropout_probability=1.0,
    probability_of_skipping_dropout=1.0, learning_rate=1.0 ; it.SerializeToString()
tf.contrib.boosted_trees.proto.learner_pb2.LearningRateLineSearchConfig() ; max_learning_rate=1.0, num_steps=1 ; it.SerializeToString()
tf.contrib.boosted_trees.proto.learner_pb2.AveragingConfig() ; average_last_n_trees=1.0,
    average_last_percent_trees=1.0 ; it.SerializeToString()
tf.contrib.boosted_trees.proto.learner_pb2.LearningRateConfig() ;
    fixed=tf.contrib.boosted_trees.proto.learner_pb2.LearningRateFixedConfig(learning_rate=1.0),
    dropout=tf.contrib.boosted_trees.proto.learner_pb2.LearningRateDropoutDrivenConfig(learning_rate=1.0),
    line_search=tf.contrib.boosted_trees.proto.learner_pb2.LearningRateLineSearchConfig(num_steps=1) ; it.SerializeToString()
tf.contrib.boosted_trees.proto.learner_pb2.LearnerConfig() ; num_classes=2, feature_fraction_per_tree=0.5,
    feature_fraction_per_level=0.5,
    regularization=tf.contrib.boosted_trees.proto.learner_pb2.TreeRegularizationConfig(l1=1.0),
    constraints=tf.contrib.boosted_trees.proto.learner_pb2.TreeConstraintsConfig(max_tree_depth=1),
    learning_rate_tuner=uses.tree_learner().learning_rate_tuner, pruning_mode=1, growing_mode=1, multi_class_strategy=1,
    averaging_config=tf.contrib.boosted_trees.proto.learner_pb2.AveragingConfig(average_last_n_trees=1.0),
    weak_learner_type=1 ; it.SerializeToString()
"""
