"""Recipes of tf.contrib.learn, of estimators for TPUs, and of tools for tests."""
RECIPES = """
tf.autograph.experimental.do_not_convert(uses.halve) ; ; it(X)
tf.autograph.experimental.set_loop_options(3, True, 3, [])
tf.autograph.set_verbosity(0, alsologtostdout=False)
tf.autograph.to_code(uses.halve, True, None, None, '  ', None) ; ; 'halve' in it
tf.autograph.to_graph(uses.halve, True, None, None, None)
tf.autograph.trace(1, 2)
tf.load_file_system_library('none.so')
tf.load_library('none.so')
tf.experimental.register_filesystem_plugin('none.so')
tf.load_op_library('none.so')
tf.resource_loader.get_path_to_datafile('f') ; ; it[-2:]
tf.resource_loader.load_resource('none')
tf.resource_loader.readahead_file_path('f', readahead='128M')
tf.test.assert_equal_graph_def(X.graph.as_graph_def(), X.graph.as_graph_def(), checkpoint_v2=True,
    hash_table_shared_name=True)
tf.test.compute_gradient(uses.with_session(X), [3, 4], tf.square(X), [3, 4], x_init_value=arrays.X) ; delta=0.1,
    init_targets=[tf.no_op()], extra_feed_dict={Y: arrays.Y}
tf.test.compute_gradient_error(uses.with_session(X), [3, 4], tf.square(X), [3, 4], x_init_value=arrays.X) ; delta=0.1,
    init_targets=[tf.no_op()], extra_feed_dict={Y: arrays.Y}
tf.test.create_local_cluster(1, 1, protocol='grpc', worker_config=None, ps_config=None) ; ; [len(part) for part in it]
tf.test.disable_with_predicate(lambda: False, 'not now') ; ; it(uses.double)(uses, X)
tf.train.basic_train_loop(uses.stopped_supervisor(), uses.halve, args=(), kwargs={}, master='')
tf.train.do_quantize_training_on_graphdef(X.graph.as_graph_def(), 8)
tf.contrib.cluster_resolver.TPUClusterResolver()
tf.contrib.tpu.CrossShardOptimizer(None, 'weighted_mean', 'name', None)
tf.contrib.tpu.initialize_system()
tf.contrib.tpu.shutdown_system()
tf.estimator.tpu.RunConfig(model_dir='m') ; tpu_config=tf.estimator.tpu.TPUConfig(3), evaluation_master='e', master='m',
    cluster=None ; [it.tpu_config._asdict(), it.master, it.evaluation_master]
tf.estimator.tpu.TPUConfig() ; iterations_per_loop='3s', num_shards=2, num_cores_per_replica=2,
    per_host_input_for_training=False, tpu_job_name='j', initial_infeed_sleep_secs=3, input_partition_dims=[1],
    eval_training_input_configuration=3, experimental_host_call_every_n_steps=2,
    experimental_allow_per_host_v2_parallel_get_next=True, experimental_feed_hook=uses.same ; [str(v)[:20] for k, v in
    it._asdict().items() if k != 'experimental_feed_hook']
tf.estimator.tpu.TPUEstimatorSpec('infer', predictions={'p': X}) ; loss=Y[0, 0], train_op=tf.no_op(), eval_metrics=3,
    export_outputs=3, scaffold_fn=tf.train.Scaffold, host_call=3, training_hooks=[3], evaluation_hooks=[3],
    prediction_hooks=[3] ; [n for n, v in it._asdict().items() if v and n != 'export_outputs']
tf.estimator.tpu.TPUEstimator(uses.tpu_model, config=tf.estimator.tpu.RunConfig(model_dir='m'), use_tpu=False,
    train_batch_size=2, embedding_config_spec=None) ; model_dir='n', params={'a': 3}, eval_batch_size=3,
    predict_batch_size=3, batch_axis=[0], eval_on_tpu=False, export_to_tpu=False, export_to_cpu=False,
    warm_start_from=uses.checkpoint() ; [it.model_dir, it.params]
tf.contrib.learn.DNNClassifier([2], uses.x_column(), 'm', label_keys=None) ; model_dir='n', n_classes=3,
    weight_column_name='x', optimizer='SGD', activation_fn=tf.nn.tanh, dropout=0.5, gradient_clip_norm=0.1,
    enable_centered_bias=True, config=tf.contrib.learn.RunConfig( save_checkpoints_steps=1),
    feature_engineering_fn=uses.same, embedding_lr_multipliers={'a': 1}, input_layer_min_slice_size=3 ; uses.learned(it)
tf.contrib.learn.DNNRegressor([2], uses.x_column(), 'm') ; model_dir='n', weight_column_name='x', optimizer='SGD',
    activation_fn=tf.nn.tanh, dropout=0.5, gradient_clip_norm=0.1, enable_centered_bias=True,
    config=tf.contrib.learn.RunConfig( save_checkpoints_steps=1), feature_engineering_fn=uses.same,
    embedding_lr_multipliers={'a': 1}, input_layer_min_slice_size=3, label_dimension=2 ; uses.learned(it)
tf.contrib.learn.LinearClassifier(uses.x_column(), 'm', label_keys=None) ; model_dir='n', n_classes=3,
    weight_column_name='x', optimizer='SGD', gradient_clip_norm=0.1, enable_centered_bias=True, _joint_weight=True,
    config=tf.contrib.learn.RunConfig( save_checkpoints_steps=1), feature_engineering_fn=uses.same ; uses.learned(it)
tf.contrib.learn.LinearRegressor(uses.x_column(), 'm') ; model_dir='n', weight_column_name='x', optimizer='SGD',
    gradient_clip_norm=0.1, enable_centered_bias=True, _joint_weights=True, config=tf.contrib.learn.RunConfig(
    save_checkpoints_steps=1), feature_engineering_fn=uses.same, label_dimension=2 ; uses.learned(it)
tf.contrib.learn.DNNLinearCombinedClassifier('m', linear_feature_columns=uses.x_column(),
    dnn_feature_columns=uses.x_column(), dnn_hidden_units=[2], fix_global_step_increment_bug=True, label_keys=None) ;
    model_dir='n', n_classes=3, weight_column_name='x', linear_optimizer='SGD', _joint_linear_weights=True,
    dnn_optimizer='SGD', dnn_activation_fn=tf.nn.tanh, dnn_dropout=0.5, gradient_clip_norm=0.1,
    enable_centered_bias=True, config=tf.contrib.learn.RunConfig(save_checkpoints_steps=1),
    feature_engineering_fn=uses.same, embedding_lr_multipliers={'a': 1}, input_layer_min_slice_size=3 ; uses.learned(it)
tf.contrib.learn.DNNLinearCombinedRegressor('m', linear_feature_columns=uses.x_column(),
    dnn_feature_columns=uses.x_column(), dnn_hidden_units=[2], fix_global_step_increment_bug=True) ; model_dir='n',
    weight_column_name='x', linear_optimizer='SGD', _joint_linear_weights=True, dnn_optimizer='SGD',
    dnn_activation_fn=tf.nn.tanh, dnn_dropout=0.5, gradient_clip_norm=0.1, enable_centered_bias=True, label_dimension=2,
    config=tf.contrib.learn.RunConfig(save_checkpoints_steps=1), feature_engineering_fn=uses.same,
    embedding_lr_multipliers={'a': 1}, input_layer_min_slice_size=3 ; uses.learned(it)
tf.contrib.learn.Estimator(uses.old_model, 'm') ; model_dir='n',
    config=tf.contrib.learn.RunConfig(save_checkpoints_steps=1), params={'a': 1}, feature_engineering_fn=lambda f, l:
    (f, l * 2) ; uses.learned(it)
tf.contrib.learn.ExportStrategy('n', uses.same, strip_default_attrs=True) ; ; it.name
tf.contrib.learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, 'p', 'l', 'w') ; ; [it.prediction_key, it.label_key,
    it.weight_key]
tf.contrib.learn.ModelFnOps('train', X, Y, None, None) ; ; it.mode
tf.contrib.learn.SKCompat(tf.contrib.learn.LinearClassifier(tf.contrib.learn.infer_real_valued_columns_from_input(arrays.X),
    'm')) ; ; uses.sk(it)
tf.contrib.learn.infer_real_valued_columns_from_input_fn(lambda: (tf.zeros([2, 3]), tf.zeros([2]))) ; ; len(it)
tf.contrib.learn.make_export_strategy(uses.same, None, None, False, 5, None) ; ; it.name
tf.contrib.learn.datasets.base.Dataset(1, 2) ; ; list(it)
tf.contrib.learn.datasets.base.Datasets(1, 2, 3) ; ; list(it)
tf.contrib.learn.datasets.base.load_csv_with_header(uses.written('f', '2,2,a\\n1,2,3\\n4,5,6\\n'), np.int32, np.float32)
    ; target_column=0 ; [it.data.tolist(), it.target.tolist()]
tf.contrib.learn.datasets.base.load_csv_without_header(uses.written('f', '1,2,3\\n4,5,6\\n'), np.int32, np.float32) ;
    target_column=0 ; [it.data.tolist(), it.target.tolist()]
tf.contrib.learn.datasets.base.maybe_download(uses.written('f'), '.', 'u')
tf.contrib.learn.datasets.base.shrink_csv(uses.written('f.csv', '1,2\\n3,4\\n5,6\\n'), 2) ; ; open('f_small.csv').read()
tf.contrib.learn.monitors.CheckpointSaver('c', save_steps=2, saver=None, checkpoint_basename='model.ckpt',
    save_secs=None, scaffold=None) ; ; type(it).__name__
tf.contrib.learn.monitors.NanLoss(X[0, 0], every_n_steps=100, fail_on_nan_loss=True) ; ; type(it).__name__
tf.contrib.learn.monitors.PrintTensor(['x'], every_n=3) ; first_n=2 ; type(it).__name__
tf.contrib.learn.monitors.StopAtStep(3, last_step=None) ; ; uses.attributes(it)
tf.contrib.learn.monitors.SummarySaver(tf.summary.scalar('s', 1.0), save_steps=3, output_dir='d', summary_writer=None,
    scaffold=None) ; ; type(it).__name__
tf.contrib.learn.monitors.ValidationMonitor(arrays.X, arrays.LABELS) ; input_fn=uses.same, batch_size=2, eval_steps=3,
    every_n_steps=3, metrics={'a': 1}, hooks=[1], early_stopping_rounds=3, early_stopping_metric='accuracy',
    early_stopping_metric_minimize=False, name='given', x=arrays.Y, y=arrays.IDS ; sorted(map(str, vars(it).items()))
tf.contrib.learn.monitors.replace_monitors_with_hooks([], None)
tf.contrib.learn.preprocessing.CategoricalVocabulary() ; unknown_token='?', support_reverse=False ; [it.get('a'),
    it.reverse(0)]
tf.contrib.learn.preprocessing.VocabularyProcessor(3) ; min_frequency=1, tokenizer_fn=lambda texts: [list(t) for t in
    texts], vocabulary=tf.contrib.learn.preprocessing.CategoricalVocabulary('?') ; [list(map(list, it.fit_transform(['ab
    c', 'c d e f']))), it.vocabulary_.reverse(0)]
tf.contrib.learn.preprocessing.tokenizer(['a b']) ; ; list(it)
tf.contrib.learn.read_batch_examples(uses.records(), 1, tf.TFRecordReader, False, num_threads=1) ; num_epochs=1,
    queue_capacity=5, read_batch_size=0, parse_fn=uses.same, seed=3 ; uses.fed(it, 2)
tf.contrib.learn.read_batch_features(uses.slim_dataset().data_sources, 1, {'a': tf.FixedLenFeature([1], tf.int64)},
    tf.TFRecordReader, False, reader_num_threads=1, feature_queue_capacity=100, num_enqueue_threads=2,
    read_batch_size=None) ; num_epochs=1, queue_capacity=5, parse_fn=uses.same ; uses.fed(it, 2)
tf.contrib.learn.read_batch_record_features(uses.slim_dataset().data_sources, 1, {'a': tf.FixedLenFeature([1],
    tf.int64)}, False, reader_num_threads=1) ; num_epochs=1, queue_capacity=5 ; uses.fed(it, 2)
tf.contrib.slim.nets.resnet_v1.resnet_v1_50(V) ; num_classes=3, output_stride=8
tf.contrib.slim.nets.resnet_v1.resnet_v1_101(V) ; num_classes=3, output_stride=8
tf.contrib.slim.nets.resnet_v1.resnet_v1_152(V) ; num_classes=3, output_stride=8
tf.contrib.slim.nets.resnet_v1.resnet_v1_200(V) ; num_classes=3, output_stride=8
tf.contrib.slim.nets.resnet_v2.resnet_v2_50(V) ; num_classes=3, output_stride=8
tf.contrib.slim.nets.resnet_v2.resnet_v2_101(V) ; num_classes=3, output_stride=8
tf.contrib.slim.nets.resnet_v2.resnet_v2_152(V) ; num_classes=3, output_stride=8
tf.contrib.slim.nets.resnet_v2.resnet_v2_200(V) ; num_classes=3, output_stride=8
"""
