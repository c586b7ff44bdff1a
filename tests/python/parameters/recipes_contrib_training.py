"""Recipes of tf.contrib's training half: slim's data sets, networks and evaluation, variables, and tf.contrib.training."""
RECIPES = """
tf.contrib.framework.deprecated('2030-01-01', 'Use that.', warn_once=False) ; ; it(uses.halve)(X)
tf.contrib.framework.deprecated_args('2030-01-01', 'Use that.', 'x') ; ; it(tf.identity)(X)
tf.contrib.framework.deprecated_arg_values('2030-01-01', 'Use that.', name='x', warn_once=False) ; ; it(tf.identity)(X)
tf.contrib.framework.get_graph_from_inputs([X], graph=X.graph) ; ; it is X.graph
tf.contrib.framework.get_placeholders(tf.get_default_graph())
tf.contrib.framework.reduce_sum_n([X, Y])
tf.contrib.framework.smart_cond(X[0, 0] > 0, lambda: tf.ones([2]), lambda: tf.zeros([2]))
tf.contrib.framework.smart_constant_value(tf.constant(True))
tf.contrib.framework.with_same_shape(X, Y)
tf.contrib.framework.with_shape([3, 4], X)
tf.contrib.framework.zero_initializer(uses.variable()) ; use_locking=False, name='given'
tf.contrib.framework.assert_scalar_int(N[0, 0])
tf.contrib.framework.convert_to_tensor_or_sparse_tensor(arrays.X) ; dtype=tf.int32
tf.contrib.framework.remove_squeezable_dimensions(X[:, :1], X[:, 0]) ; expected_rank_diff=1
tf.contrib.layers.utils.append_tensor_alias(X, 'a') ; ; tf.contrib.layers.utils.get_tensor_aliases(it)
tf.contrib.layers.utils.channel_dimension(X.shape, 'channels_first') ; min_rank=3
tf.contrib.layers.utils.collect_named_outputs('c', 'a', X) ; ; tf.get_collection('c')
tf.contrib.layers.utils.constant_value(tf.constant(2.0)) ; dtype=tf.int32
tf.contrib.layers.utils.convert_collection_to_dict('c') ; clear_collection=True ; [it, tf.get_collection('c')]
tf.contrib.layers.utils.gather_tensors_aliases([X])
tf.contrib.layers.utils.get_tensor_aliases(X)
tf.contrib.layers.utils.last_dimension(X.shape) ; min_rank=3
tf.contrib.layers.utils.get_variable_collections({'a': ['b']}, 'a')
tf.contrib.layers.utils.n_positive_integers(2, 3)
tf.contrib.layers.utils.smart_cond(X[0, 0] > 0, lambda: tf.ones([2]), lambda: tf.zeros([2]))
tf.contrib.layers.utils.static_cond(True, lambda: 3, lambda: 4)
tf.contrib.layers.utils.two_element_tuple(3)
tf.contrib.slim.add_arg_scope(uses.halve) ; ; it(X)
tf.contrib.slim.add_model_variable(uses.variable()) ; ; len(tf.contrib.slim.get_model_variables())
tf.contrib.slim.arg_scope([tf.contrib.slim.fully_connected], activation_fn=None) ; ; uses.entered(it, lambda:
    tf.contrib.slim.fully_connected(Y, 2))
tf.contrib.slim.arg_scope_func_key(tf.contrib.slim.conv2d) ; ; it is not None
tf.contrib.slim.arg_scoped_arguments(tf.contrib.slim.conv2d)
tf.contrib.slim.has_arg_scope(tf.contrib.slim.conv2d)
tf.contrib.slim.assert_or_get_global_step() ; graph=tf.Graph(), global_step_tensor=tf.train.create_global_step()
tf.contrib.slim.assign_from_checkpoint(uses.checkpoint(), uses.two_variables()) ; ignore_missing_vars=True ; len(it[1])
tf.contrib.slim.assign_from_checkpoint_fn(uses.checkpoint(), uses.two_variables()) ; ignore_missing_vars=True,
    reshape_variables=True ; it is not None
tf.contrib.slim.assign_from_values({'variable': np.ones((2, 2))} if uses.variable() is not None else 0) ; ; len(it[1])
tf.contrib.slim.assign_from_values_fn({'variable': np.ones((2, 2))} if uses.variable() is not None else 0) ; ;
    callable(it)
tf.contrib.slim.filter_variables(uses.two_variables()) ; include_patterns=['first'], exclude_patterns=['first'],
    reg_search=False ; [v.op.name for v in it]
tf.contrib.slim.get_local_variables() ; scope='a', suffix='b'
tf.contrib.slim.get_unique_variable(uses.variable().op.name) ; ; it.op.name
tf.contrib.slim.get_variable_full_name(uses.variable())
tf.contrib.slim.get_variables_by_name(uses.variable().op.name) ; scope='a' ; [v.op.name for v in it]
tf.contrib.slim.get_variables_by_suffix(uses.variable().op.name) ; scope='a' ; [v.op.name for v in it]
tf.contrib.slim.global_variable([1.0, 2.0]) ; validate_shape=False ; it.op.name
tf.contrib.slim.dataset.Dataset('d', tf.TFRecordReader, 'c', 3, {'a': 'b'}) ; ; [it.data_sources, it.num_samples]
tf.contrib.slim.data_provider.DataProvider({'x': X}, 3) ; ; it.get(['x'])
tf.contrib.slim.dataset_data_provider.DatasetDataProvider(uses.slim_dataset(), shuffle=False, num_readers=1) ;
    reader_kwargs={'options': None}, num_epochs=1, common_queue_capacity=20, common_queue_min=10, record_key='given',
    scope='given' ; uses.fed(it.get(['a']), 3)
tf.contrib.slim.parallel_reader.ParallelReader(tf.TextLineReader, tf.FIFOQueue(4, [tf.string, tf.string])) ;
    num_readers=2, reader_kwargs={'skip_header_lines': 1} ;
    uses.fed(it.read(tf.train.string_input_producer([uses.written('f')]))[1][:2], 0)
tf.contrib.slim.parallel_reader.get_data_files([uses.written('f')])
tf.contrib.slim.parallel_reader.parallel_read(uses.written('f'), tf.TextLineReader, shuffle=False, num_readers=1) ;
    num_epochs=1, reader_kwargs={'skip_header_lines': 1}, dtypes=[tf.string, tf.string], capacity=20,
    min_after_dequeue=3, scope='given' ; uses.fed(it, 2)
tf.contrib.slim.parallel_reader.single_pass_read(uses.written('f'), tf.TextLineReader) ;
    reader_kwargs={'skip_header_lines': 1} ; uses.fed(it, 2)
tf.contrib.slim.tfexample_decoder.ItemHandler('k')
tf.contrib.slim.tfexample_decoder.ItemHandlerCallback(['k'], lambda k: k['k'] * 2) ; ; it.tensors_to_item({'k': X})
tf.contrib.slim.tfexample_decoder.BackupHandler(tf.contrib.slim.tfexample_decoder.Tensor('k'),
    tf.contrib.slim.tfexample_decoder.Tensor('l')) ; ; it.keys
tf.contrib.slim.tfexample_decoder.BoundingBox() ; keys=['xmin', 'ymin', 'xmax', 'ymax'], prefix='p' ;
    it.tensors_to_item({k: V for k in it.keys})
tf.contrib.slim.tfexample_decoder.Tensor('k') ; shape_keys=['s'], shape=[4, 3], default_value=1 ;
    it.tensors_to_item({'k': X, 's': tf.constant([4, 3])})
tf.contrib.slim.tfexample_decoder.LookupTensor('k', uses.table()) ; shape_keys=['s'], shape=[2, 1], default_value='z' ;
    uses.looked_up_item(it)
tf.contrib.slim.tfexample_decoder.SparseTensor(shape=[6], densify=True) ; indices_key='i', values_key='v',
    shape_key='s', shape=[5], densify=False, default_value=2.0 ; uses.sparse_item(it)
tf.contrib.slim.tfexample_decoder.Image() ; image_key='i', format_key='f', shape=[16, 8, 3], channels=1, repeated=True,
    dct_method='INTEGER_FAST' ; uses.image_item(it)
tf.contrib.slim.tfexample_decoder.BoundingBoxSequence(prefix='q') ; keys=['a', 'b', 'c', 'd'], prefix='p',
    return_dense=False, default_value=2.0 ; [it.keys, it.tensors_to_item({k: uses.sparse(dtype=tf.float32) for k in
    it.keys})]
tf.contrib.slim.tfexample_decoder.KeypointsSequence(prefix='q') ; keys=['a', 'b'], prefix='p', return_dense=False,
    default_value=2.0 ; [it.keys, it.tensors_to_item({k: uses.sparse(dtype=tf.float32) for k in it.keys})]
tf.contrib.slim.tfexample_decoder.NumBoxesSequence(['a', 'b']) ; keys=['a'], check_consistency=False ;
    it.tensors_to_item({k: uses.sparse() for k in it.keys})
tf.contrib.slim.tfexample_decoder.TFExampleDecoder({'a': tf.FixedLenFeature([1], tf.int64)}, {'a':
    tf.contrib.slim.tfexample_decoder.Tensor('a')}) ; ; it.decode(tf.constant(uses.examples()[0]))
tf.contrib.slim.tfexample_decoder.TFSequenceExampleDecoder({'a': tf.FixedLenFeature([1], tf.int64)}, {}, {'a':
    tf.contrib.slim.tfexample_decoder.Tensor('a')}) ; ; it.list_items()
tf.contrib.slim.evaluation.evaluate(uses.session(), eval_op=X, final_op=X, num_evals=2) ;
    initial_op=uses.variable().initializer, eval_op=Y, final_op=Y, summary_op=tf.summary.scalar('s', 1.0),
    summary_writer=tf.summary.FileWriter('w'), global_step=tf.constant(3)
tf.contrib.slim.evaluation.evaluate_once('', uses.checkpoint(), 'logs', final_op=uses.two_variables()[0].value(),
    hooks=[]) ; num_evals=2, initial_op=tf.no_op(), initial_op_feed_dict={}, eval_op=tf.no_op(), eval_op_feed_dict={},
    final_op_feed_dict={}, summary_op=None, summary_op_feed_dict={}, variables_to_restore=tf.global_variables(),
    session_config=tf.ConfigProto(), hooks=[]
tf.contrib.slim.evaluation.evaluation_loop('', uses.checkpoint() and '.', 'logs',
    final_op=uses.two_variables()[0].value(), max_number_of_evaluations=1) ; num_evals=2, initial_op=tf.no_op(),
    initial_op_feed_dict={}, init_fn=lambda s, t: None, eval_op=tf.no_op(), eval_op_feed_dict={}, final_op_feed_dict={},
    summary_op=None, summary_op_feed_dict={}, variables_to_restore=tf.global_variables(), eval_interval_secs=0,
    session_config=tf.ConfigProto(), timeout=3, timeout_fn=lambda: True, hooks=[]
tf.contrib.slim.learning.train_step(uses.session(), X, tf.constant(2), {'should_log': tf.constant(True)})
tf.contrib.slim.model_analyzer.analyze_ops(X.graph) ; print_info=True
tf.contrib.slim.model_analyzer.analyze_vars(uses.two_variables()) ; print_info=True
tf.contrib.slim.model_analyzer.tensor_description(X)
tf.contrib.slim.nets.alexnet.alexnet_v2(tf.zeros([1, 224, 224, 3])) ; num_classes=3, is_training=False,
    dropout_keep_prob=0.25, spatial_squeeze=False ; uses.built(it)
tf.contrib.slim.nets.alexnet.alexnet_v2_arg_scope() ; weight_decay=0.5 ; uses.entered(tf.contrib.slim.arg_scope(it),
    lambda: tf.contrib.slim.conv2d(IMAGE, 2, 3))
tf.contrib.slim.nets.alexnet.trunc_normal(0.5) ; ; it([2], tf.float32)
tf.contrib.slim.nets.overfeat.overfeat(tf.zeros([1, 231, 231, 3])) ; num_classes=3, is_training=False,
    dropout_keep_prob=0.25, spatial_squeeze=False ; uses.built(it)
tf.contrib.slim.nets.overfeat.overfeat_arg_scope() ; weight_decay=0.5 ; uses.entered(tf.contrib.slim.arg_scope(it),
    lambda: tf.contrib.slim.conv2d(IMAGE, 2, 3))
tf.contrib.slim.nets.vgg.vgg_arg_scope() ; weight_decay=0.5 ; uses.entered(tf.contrib.slim.arg_scope(it), lambda:
    tf.contrib.slim.conv2d(IMAGE, 2, 3))
tf.contrib.slim.nets.vgg.vgg_a(tf.zeros([1, 224, 224, 3])) ; num_classes=3, is_training=False, dropout_keep_prob=0.25,
    spatial_squeeze=False ; uses.built(it)
tf.contrib.slim.nets.vgg.vgg_16(tf.zeros([1, 224, 224, 3])) ; num_classes=3, is_training=False, dropout_keep_prob=0.25,
    spatial_squeeze=False ; uses.built(it)
tf.contrib.slim.nets.vgg.vgg_19(tf.zeros([1, 224, 224, 3])) ; num_classes=3, is_training=False, dropout_keep_prob=0.25,
    spatial_squeeze=False ; uses.built(it)
tf.contrib.slim.nets.resnet_utils.Block('s', None, []) ; ; list(it)
tf.contrib.slim.nets.resnet_utils.conv2d_same(IMAGE, 2, 3, 1) ; rate=2, stride=2
tf.contrib.slim.nets.resnet_utils.stack_blocks_dense(IMAGE, []) ; output_stride=2
tf.contrib.slim.nets.resnet_utils.subsample(IMAGE, 2)
tf.contrib.slim.nets.resnet_v1.resnet_arg_scope() ; weight_decay=0.5, batch_norm_decay=0.5, batch_norm_epsilon=0.5,
    batch_norm_scale=False ; uses.entered(tf.contrib.slim.arg_scope(it), lambda: tf.contrib.slim.conv2d(IMAGE, 2, 3))
tf.contrib.slim.nets.resnet_v1.bottleneck(IMAGE, 4, 2, 1) ; rate=2
tf.contrib.slim.nets.resnet_v2.bottleneck(IMAGE, 4, 2, 1) ; rate=2
tf.contrib.slim.nets.resnet_v1.resnet_v1(IMAGE, [tf.contrib.slim.nets.resnet_v1.resnet_v1_block('b', 1, 2, 2)]) ;
    num_classes=3, is_training=False, global_pool=False, output_stride=8, include_root_block=False, scope='given' ;
    uses.built(it)
tf.contrib.slim.nets.resnet_v2.resnet_v2(IMAGE, [tf.contrib.slim.nets.resnet_v2.resnet_v2_block('b', 1, 2, 2)]) ;
    num_classes=3, is_training=False, global_pool=False, output_stride=4, include_root_block=False, scope='given' ;
    uses.built(it)
tf.contrib.slim.nets.resnet_v1.resnet_v1_block('b', 1, 2, 2) ; ; it.args
tf.contrib.slim.nets.resnet_v2.resnet_v2_block('b', 1, 2, 2) ; ; it.args
tf.contrib.slim.queues.QueueRunners(uses.session()) ; ; uses.entered(it, lambda: 3)
tf.contrib.slim.summaries.add_histogram_summary(X) ; prefix='p'
tf.contrib.slim.summaries.add_image_summary(IMAGE) ; prefix='p'
tf.contrib.slim.summaries.add_scalar_summary(V[0]) ; prefix='p'
tf.contrib.slim.summaries.add_zero_fraction_summary(ZERO_ONE) ; prefix='p'
tf.contrib.slim.summaries.add_histogram_summaries([X]) ; prefix='p'
tf.contrib.slim.summaries.add_image_summaries([IMAGE]) ; prefix='p'
tf.contrib.slim.summaries.add_scalar_summaries([V[0]]) ; prefix='p'
tf.contrib.slim.summaries.add_zero_fraction_summaries([ZERO_ONE]) ; prefix='p'
tf.contrib.training.RandomStrategy(5) ; seed=3 ; [it(None) for _ in range(9)]
tf.contrib.training.StopAfterNEvalsHook(2) ; log_progress=False ; uses.attributes(it)
tf.contrib.training.SummaryAtEndHook('logs') ; log_dir='other', summary_writer=tf.summary.FileWriter('w'),
    summary_op=tf.summary.scalar('s', 1.0), feed_dict={} ; uses.hooked(it)
tf.contrib.training.add_gradients_summaries([(X, uses.variable())]) ; ; len(it)
tf.contrib.training.multiply_gradients([(X, uses.variable())], {'variable': 2.0}) ; ; it[0][0]
tf.contrib.training.checkpoints_iterator(uses.checkpoint() and '.', min_interval_secs=0, timeout=1, timeout_fn=lambda:
    True) ; ; len(list(it))
tf.contrib.training.wait_for_new_checkpoint(uses.checkpoint() and '.', timeout=0.1, seconds_to_sleep=0.1) ;
    last_checkpoint='./ckpt-5'
tf.contrib.training.clip_gradient_norms_fn(0.5) ; ; it([(X, uses.variable())])[0][0]
tf.contrib.training.create_train_op(uses.loss(), tf.train.GradientDescentOptimizer(0.1)) ; global_step=None,
    update_ops=[tf.no_op()], variables_to_train=tf.trainable_variables(), transform_grads_fn=uses.same,
    summarize_gradients=True, gate_gradients=0, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE,
    colocate_gradients_with_ops=True, check_numerics=False ; uses.after(it, tf.trainable_variables(), 1)
tf.contrib.training.evaluate_once(uses.checkpoint(), final_ops=uses.two_variables()[0].value(),
    hooks=[tf.contrib.training.StopAfterNEvalsHook(1)]) ; scaffold=tf.train.Scaffold(), eval_ops=tf.no_op(),
    feed_dict={}, final_ops_feed_dict={}, hooks=[], config=tf.ConfigProto(), master=''
tf.contrib.training.evaluate_repeatedly(uses.checkpoint() and '.', final_ops=uses.two_variables()[0].value(),
    max_number_of_evaluations=1, hooks=[tf.contrib.training.StopAfterNEvalsHook(1)]) ; scaffold=tf.train.Scaffold(),
    eval_ops=tf.no_op(), feed_dict={}, final_ops_feed_dict={}, hooks=[], config=tf.ConfigProto(), master='',
    eval_interval_secs=1, timeout=2, timeout_fn=lambda: True
tf.contrib.training.parse_values('a=1,b=[2,3],c=4', {'a': int, 'b': float}, ignore_unknown=True)
tf.contrib.training.train(uses.step_op(), None, save_checkpoint_secs=None, save_summaries_steps=None,
    hooks=[tf.train.StopAtStepHook(2)]) ; logdir='d', master='', is_chief=True, scaffold=tf.train.Scaffold(),
    chief_only_hooks=[], save_checkpoint_secs=None, save_summaries_steps=None, config=tf.ConfigProto(), max_wait_secs=3,
    run_metadata=tf.RunMetadata()
"""
