"""Recipes of tf.estimator's heads and of the columns of sequences; the calls files compare what they make."""
RECIPES = """
tf.estimator.BinaryClassHead() ; weight_column='w', thresholds=[0.4], label_vocabulary=['a', 'b'], loss_reduction='sum',
    loss_fn=uses.absolute_loss, name='h' ; [it.name, it.logits_dimension, it.loss_reduction, sorted(it.metrics()), uses.head_loss(it)]
tf.estimator.MultiClassHead(3) ; n_classes=4, weight_column='w', label_vocabulary=['a', 'b', 'c'], loss_reduction='sum', name='h',
    loss_fn=uses.absolute_loss ; [it.name, it.logits_dimension, it.loss_reduction, sorted(it.metrics()), uses.head_loss(it)]
tf.estimator.MultiLabelHead(2) ; n_classes=3, weight_column='w', thresholds=[0.4], label_vocabulary=['a', 'b'], loss_reduction='sum',
    loss_fn=uses.absolute_loss, classes_for_class_based_metrics=[1], name='h' ;
    [it.name, it.logits_dimension, it.loss_reduction, sorted(it.metrics()), uses.head_loss(it)]
tf.estimator.RegressionHead() ; label_dimension=2, weight_column='w', loss_reduction='sum', loss_fn=uses.absolute_loss,
    inverse_link_fn=tf.exp, name='h' ; [it.name, it.logits_dimension, it.loss_reduction, sorted(it.metrics()), uses.head_loss(it)]
tf.estimator.PoissonRegressionHead() ; label_dimension=2, weight_column='w', loss_reduction='sum', compute_full_loss=False, name='h' ;
    [it.name, it.logits_dimension, it.loss_reduction, sorted(it.metrics()), uses.head_loss(it)]
tf.estimator.LogisticRegressionHead() ; weight_column='w', loss_reduction='sum', name='h' ;
    [it.name, it.logits_dimension, it.loss_reduction, sorted(it.metrics()), uses.head_loss(it)]
tf.estimator.MultiHead([tf.estimator.RegressionHead(name='a'), tf.estimator.RegressionHead(name='b')]) ; head_weights=[1.0, 3.0],
    heads=[tf.estimator.RegressionHead(name='c')] ; [it.name, it.logits_dimension, sorted(it.metrics())]
tf.estimator.BaselineEstimator(tf.estimator.RegressionHead()) ; model_dir='m', optimizer='SGD',
    head=tf.estimator.RegressionHead(loss_reduction='sum'), config=tf.estimator.RunConfig(tf_random_seed=3) ; uses.modeled(it)
tf.estimator.DNNLinearCombinedEstimator(tf.estimator.RegressionHead(), linear_feature_columns=[tf.feature_column.numeric_column('x')],
    dnn_feature_columns=[tf.feature_column.numeric_column('x')], dnn_hidden_units=[2]) ; dnn_hidden_units=[3], linear_optimizer='SGD',
    dnn_optimizer='SGD', dnn_activation_fn=tf.nn.tanh, dnn_dropout=0.5, config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='m',
    batch_norm=True, linear_sparse_combiner='mean', head=tf.estimator.RegressionHead(loss_reduction='sum'),
    input_layer_partitioner=tf.fixed_size_partitioner(1) ; uses.modeled(it)
tf.estimator.DNNEstimator(tf.estimator.RegressionHead(), [2], [tf.feature_column.numeric_column('x')]) ; model_dir='m', hidden_units=[3],
    config=tf.estimator.RunConfig(tf_random_seed=3), optimizer='SGD', activation_fn=tf.nn.tanh, dropout=0.5, batch_norm=True,
    input_layer_partitioner=tf.fixed_size_partitioner(1), warm_start_from='w' ; [it.model_dir == 'm', it.config.tf_random_seed]
tf.estimator.LinearEstimator(tf.estimator.RegressionHead(), [tf.feature_column.numeric_column('x')]) ; model_dir='m', optimizer='SGD',
    config=tf.estimator.RunConfig(tf_random_seed=3), partitioner=tf.fixed_size_partitioner(1), sparse_combiner='mean',
    warm_start_from='w' ; [it.model_dir == 'm', it.config.tf_random_seed]
tf.estimator.classifier_parse_example_spec([tf.feature_column.numeric_column('x')], 'y') ; label_key='z', label_dtype=tf.string,
    label_default=3, weight_column='w' ; sorted((k, str(v)) for k, v in it.items())
tf.estimator.regressor_parse_example_spec([tf.feature_column.numeric_column('x')], 'y') ; label_key='z', label_dtype=tf.float64,
    label_default=3.0, label_dimension=2, weight_column='w' ; sorted((k, str(v)) for k, v in it.items())
tf.feature_column.sequence_categorical_column_with_hash_bucket('w', 5) ; hash_bucket_size=7, dtype=tf.int64, key='v' ;
    uses.sequence(tf.feature_column.indicator_column(it))
tf.feature_column.sequence_categorical_column_with_identity('i', 5) ; num_buckets=4, default_value=1, key='j' ;
    uses.sequence(tf.feature_column.indicator_column(it))
tf.feature_column.sequence_categorical_column_with_vocabulary_list('w', ['a', 'b']) ; vocabulary_list=['b', 'a'], dtype=tf.string,
    default_value=1, num_oov_buckets=2, key='v' ; uses.sequence(tf.feature_column.indicator_column(it))
tf.feature_column.sequence_categorical_column_with_vocabulary_file('w', uses.written('f', 'a\\nb\\n')) ; vocabulary_size=1,
    num_oov_buckets=2, default_value=1, dtype=tf.int64, key='v' ; uses.sequence(tf.feature_column.indicator_column(it))
tf.feature_column.sequence_numeric_column('n') ; shape=(2,), default_value=3.0, dtype=tf.float64, normalizer_fn=uses.halve, key='m' ;
    uses.sequence(it)
tf.feature_column.shared_embedding_columns([uses.identity_column()], 2) ; dimension=3, combiner='sum',
    initializer=tf.ones_initializer(), max_norm=0.01, trainable=False, shared_embedding_collection_name='given',
    use_safe_embedding_lookup=False, ckpt_to_load_from=uses.checkpoint(), tensor_name_in_ckpt='first' ; uses.layer(it[0])
tf.keras.experimental.SequenceFeatures([tf.feature_column.sequence_numeric_column('n')]) ; trainable=False, name='given',
    feature_columns=[tf.feature_column.sequence_numeric_column('n', 2)] ;
    it({'n': tf.SparseTensor([[0, 0], [0, 1]], [1.0, 2.0], [2, 2])})[0]
tf.graph_util.must_run_on_cpu(tf.NodeDef(op='VariableV2')) ; pin_variables_on_cpu=True, node=tf.NodeDef(op='Const')
tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), tf.ones([2], name='o').op.name) ; input_name='o:0'
tf.estimator.experimental.linear_logit_fn_builder(1, [tf.feature_column.numeric_column('x')]) ; units=2, sparse_combiner='mean' ;
    it({'x': tf.ones([2, 1])})
tf.estimator.experimental.dnn_logit_fn_builder(1, [2], [tf.feature_column.numeric_column('x', 3)], tf.nn.relu, None, None, False) ;
    units=2, hidden_units=[3], activation_fn=tf.nn.tanh, dropout=0.5, batch_norm=True,
    input_layer_partitioner=tf.fixed_size_partitioner(1) ; it({'x': tf.ones([2, 3])}, 'train')
tf.estimator.experimental.call_logit_fn(lambda features, mode, params, config: tf.constant([mode, str(params), str(config)]), {}, 'train',
    {}, None) ; mode='eval', params={'a': 1}, config=3
tf.HistogramProto() ; min=1.0, max=2.0, num=3.0, sum=4.0, sum_squares=5.0, bucket_limit=[1.0], bucket=[2.0] ; it.SerializeToString()
tf.LogMessage() ; level=20, message='m' ; it.SerializeToString()
"""
