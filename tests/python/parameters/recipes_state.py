"""Recipes of variables, queues, tables, optimizers and the rest of tf.train; values.py has the names in them."""
RECIPES = """
# ---- variables ----
tf.Variable([1.0, 2.0]) ; dtype=tf.float64, expected_shape=[2], validate_shape=False, variable_def=None,
    import_scope='given', shape=[2]
tf.Variable([1.0, 2.0]) ; constraint=uses.halve ; uses.descended(it)
tf.Variable(uses.hidden([1.0, 2.0]), validate_shape=False)
tf.get_variable('v', [2, 4]) ; shape=[4, 2], validate_shape=False
tf.get_variable('v', [2, 4]) ; constraint=uses.halve ; uses.descended(it)
tf.get_variable('v', initializer=uses.hidden([1.0, 2.0]), validate_shape=False) ; dtype=tf.float32
tf.get_local_variable('v', [2, 4]) ; trainable=True
tf.variable_scope('scope') ; initializer=tf.zeros_initializer(), values=[X], auxiliary_name_scope=False,
    default_name='other', dtype=tf.float64, constraint=uses.halve ; uses.entered(it, lambda: tf.get_variable('v', [2,
    4]))
tf.variable_scope(None, 'other') ; reuse=False ; uses.entered(it, lambda: tf.get_variable('v', [2, 4]))
tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer()) ; ; [uses.descended(it[0]), it[0].name]
tf.assign(uses.variable(), tf.ones([2, 2])) ; validate_shape=False, use_locking=False
tf.assign(uses.variable(), tf.ones([3, 1])) ; validate_shape=False
tf.assign_add(uses.variable(), tf.ones([2, 2]))
tf.assign_sub(uses.variable(), tf.ones([2, 2]))
tf.scatter_add(uses.variable(), [1], tf.ones([1, 2])) ; use_locking=True
tf.scatter_sub(uses.variable(), [1], tf.ones([1, 2])) ; use_locking=True
tf.scatter_mul(uses.variable(), [1], tf.ones([1, 2])) ; use_locking=True
tf.scatter_div(uses.variable(), [1], tf.ones([1, 2])) ; use_locking=True
tf.scatter_update(uses.variable(), [1], tf.ones([1, 2])) ; use_locking=False
tf.count_up_to(tf.Variable(0), 3)
tf.is_variable_initialized(uses.variable())
tf.report_uninitialized_variables() ; var_list=uses.two_variables()
tf.variables_initializer(uses.two_variables()) ; ; it.name
tf.initialize_variables(uses.two_variables()) ; ; it.name
tf.tables_initializer() ; ; it.name
tf.global_variables() ; scope='first'
tf.local_variables() ; scope='first'
tf.trainable_variables() ; scope='first'
tf.model_variables() ; scope='first'
tf.moving_average_variables() ; scope='first'
tf.get_collection('given') ; scope='first'
tf.add_to_collection('given', X)
tf.add_to_collections(['given', 'other'], X)
tf.get_collection_ref('given')
# ---- queues, readers, tables ----
tf.FIFOQueue(5, [tf.float32]) ; capacity=1, shapes=[[]], names=['a'], shared_name='given' ; [it.dtypes, it.shapes,
    it.names, it.name]
tf.FIFOQueue(5, [tf.float32]) ; shapes=[[3]] ; uses.dequeued(it, [X[0, 0]], [X[1, 1]])
tf.FIFOQueue(5, [tf.float32], names=['a']) ; ; uses.dequeued(it, {'a': X}, {'a': Y})
tf.PaddingFIFOQueue(5, [tf.float32], [[None]]) ; names=['a'], shared_name='given' ; [it.dtypes, it.shapes, it.names,
    it.name]
tf.RandomShuffleQueue(5, 0, [tf.float32]) ; shapes=[[]], names=['a'], shared_name='given', min_after_dequeue=1 ;
    [it.dtypes, it.shapes, it.names, it.name]
tf.PriorityQueue(5, [tf.float32], [[]]) ; names=['p', 'a'], shared_name='given', shapes=[[2]] ; [it.dtypes, it.shapes,
    it.names, it.name]
tf.TensorArray(tf.float32, 2) ; size=3, dynamic_size=True, clear_after_read=False, tensor_array_name='given',
    element_shape=[3, 4], infer_shape=False, colocate_with_first_write_call=False ; it.write(0, X).write(1, Y).stack()
tf.ConditionalAccumulator(tf.float32) ; shape=[2], shared_name='given', reduction_type='SUM' ; [it.dtype, it.name]
tf.FixedLengthRecordReader(4) ; header_bytes=2, footer_bytes=1, hop_bytes=1 ; uses.read(it, uses.written('f',
    'abcdefghijklmnop'))
tf.TextLineReader() ; skip_header_lines=1 ; uses.read(it, uses.written('f'))
tf.TFRecordReader() ; options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP) ; uses.read(it,
    uses.records())
tf.WholeFileReader() ; ; uses.read(it, uses.written('f'))
tf.IdentityReader() ; ; uses.read(it, 'a', 'b')
tf.LMDBReader() ; options=3 ; it.reader_ref.op.type
tf.parse_example(uses.examples(), {'a': tf.FixedLenFeature([], tf.int64)}) ; example_names=['n', 'm']
tf.parse_single_example(uses.examples()[0], {'a': tf.FixedLenFeature([], tf.int64)}) ; example_names='n'
tf.FixedLenFeature([1], tf.int64) ; default_value=7 ; tf.parse_single_example(uses.examples()[0], {'z': it, 'a':
    tf.VarLenFeature(tf.int64)})
tf.FixedLenSequenceFeature([], tf.int64, True) ; default_value=7 ; tf.parse_example(uses.examples(), {'a': it})
tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2]) ; key_dtype=tf.string, value_dtype=tf.int64 ;
    uses.looked_up(tf.lookup.StaticHashTable(it, -1), ['b', 'c'])
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a'], [1]), -1) ; experimental_is_anonymous=True ;
    uses.looked_up(it, ['a', 'c'])
tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a'], tf.constant([0], tf.int64)), 3) ;
    lookup_key_dtype=tf.string, experimental_is_anonymous=True ; uses.looked_up(it, ['a', 'c'])
tf.lookup.TextFileInitializer(uses.written('f', 'a 1\\nb 2\\n'), tf.string, 0, tf.int64, 1, delimiter=' ') ;
    vocab_size=1, value_index_offset=3, key_index=0 ; uses.looked_up(tf.lookup.StaticHashTable(it, -1), ['a', 'b'])
# ---- optimizers ----
tf.train.GradientDescentOptimizer(0.1) ; learning_rate=0.2 ; uses.trained(it)
tf.train.MomentumOptimizer(0.1, 0.9) ; ; uses.trained(it)
tf.train.AdamOptimizer() ; ; uses.trained(it)
tf.train.AdamOptimizer() ; ; uses.trained(it, True)
tf.train.AdagradOptimizer(0.1) ; initial_accumulator_value=0.5 ; uses.trained(it)
tf.train.AdadeltaOptimizer() ; ; uses.trained(it)
tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()) ;
    initial_gradient_squared_accumulator_value=0.5, l1_regularization_strength=0.5, l2_regularization_strength=0.5 ;
    uses.trained(it)
tf.train.FtrlOptimizer(0.1) ; learning_rate_power=-0.75, initial_accumulator_value=0.5,
    l1_regularization_strength=0.5, l2_regularization_strength=0.5, l2_shrinkage_regularization_strength=0.5,
    beta=0.5, accum_name='a', linear_name='l' ; uses.trained(it)
tf.train.FtrlOptimizer(0.1) ; l2_shrinkage_regularization_strength=0.5, beta=0.5 ; uses.trained(it, True)
tf.train.RMSPropOptimizer(0.1) ; momentum=0.5 ; uses.trained(it)
tf.train.RMSPropOptimizer(0.1, momentum=0.5) ; centered=True ; uses.trained(it, True)
tf.train.ProximalAdagradOptimizer(0.1) ; initial_accumulator_value=0.5, l1_regularization_strength=0.5,
    l2_regularization_strength=0.5 ; uses.trained(it)
tf.train.ProximalGradientDescentOptimizer(0.1) ; l1_regularization_strength=0.5, l2_regularization_strength=0.5 ;
    uses.trained(it)
tf.train.GradientDescentOptimizer(0.1).minimize(uses.loss()) ; global_step=tf.train.get_or_create_global_step(),
    var_list=uses.two_variables()[:1], gate_gradients=0, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE,
    colocate_gradients_with_ops=True, grad_loss=tf.constant(2.0) ; uses.after(it, tf.trainable_variables())
tf.train.GradientDescentOptimizer(0.1).compute_gradients(uses.loss()) ; var_list=tf.trainable_variables(),
    gate_gradients=2, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE, colocate_gradients_with_ops=True,
    grad_loss=tf.constant(2.0)
tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.ones([2, 2]), uses.variable())]) ;
    global_step=tf.train.get_or_create_global_step() ; uses.after(it, tf.global_variables())
tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2) ; total_num_replicas=3,
    variable_averages=tf.train.ExponentialMovingAverage(0.5), variables_to_average=uses.two_variables()[:1] ;
    it.minimize(uses.loss(), global_step=tf.train.get_or_create_global_step()).name
tf.train.ExponentialMovingAverage(0.5) ; decay=0.9, num_updates=1 ; uses.averaged(it)
# ---- learning rates ----
tf.train.exponential_decay(0.1, tf.constant(7), 5, 0.5) ; staircase=True, decay_rate=0.25
tf.train.natural_exp_decay(0.1, tf.constant(7), 5, 0.5) ; staircase=True
tf.train.inverse_time_decay(0.1, tf.constant(7), 5, 0.5) ; staircase=True
tf.train.polynomial_decay(0.1, tf.constant(7), 5) ; end_learning_rate=0.05, power=2.0, cycle=True
tf.train.polynomial_decay(0.1, tf.constant(3), 5) ; end_learning_rate=0.05, power=2.0, cycle=True
tf.train.piecewise_constant(tf.constant(7), [5, 10], [0.1, 0.2, 0.3])
tf.train.cosine_decay(0.1, tf.constant(3), 5) ; alpha=0.5
tf.train.cosine_decay_restarts(0.1, tf.constant(7), 5) ; t_mul=1.5, m_mul=0.5, alpha=0.5
tf.train.linear_cosine_decay(0.1, tf.constant(3), 5) ; num_periods=1.5, alpha=0.5, beta=0.5
tf.train.noisy_linear_cosine_decay(0.1, tf.constant(3), 5) ; initial_variance=2.0, variance_decay=0.9,
    num_periods=1.5, alpha=0.5, beta=0.5
# ---- input ----
tf.train.batch([X], 2) ; batch_size=1, num_threads=2, capacity=5, enqueue_many=True, shapes=[[3, 4]],
    dynamic_pad=True, allow_smaller_final_batch=True ; uses.fed(it, 1)
tf.train.batch_join([[X], [X]], 2) ; batch_size=1, capacity=5, enqueue_many=True, shapes=[[3, 4]], dynamic_pad=True,
    allow_smaller_final_batch=True ; uses.fed(it, 1)
tf.train.shuffle_batch([X], 2, 10, 2) ; num_threads=2, enqueue_many=True, shapes=[[3, 4]],
    allow_smaller_final_batch=True ; [x.shape for x in uses.fed(it, 1)]
tf.train.shuffle_batch_join([[X]], 2, 10, 2) ; enqueue_many=True, shapes=[[3, 4]], allow_smaller_final_batch=True ;
    [x.shape for x in uses.fed(it, 1)]
tf.train.string_input_producer(['a', 'b']) ; cancel_op=tf.no_op('c') ; [r.cancel_op.type for r in
    tf.get_collection('queue_runners')]
tf.train.string_input_producer(['a', 'b'], shuffle=False) ; num_epochs=1, shuffle=True, capacity=5, element_shape=[] ;
    uses.fed(it.dequeue(), 3)
tf.train.range_input_producer(3, shuffle=False) ; num_epochs=1, shuffle=True, capacity=5 ; uses.fed(it.dequeue(), 4)
tf.train.slice_input_producer([X], shuffle=False) ; num_epochs=1, shuffle=True, capacity=5 ; uses.fed(it, 4)
tf.train.input_producer(['a', 'b']) ; cancel_op=tf.no_op('c') ; [r.cancel_op.type for r in
    tf.get_collection('queue_runners')]
tf.train.input_producer(X, shuffle=False) ; num_epochs=1, shuffle=True, capacity=5, element_shape=[4],
    summary_name='s' ; uses.fed(it.dequeue(), 4)
tf.train.limit_epochs(X) ; num_epochs=2
tf.train.match_filenames_once('*')
# ---- cluster, sessions ----
tf.train.ClusterSpec({'ps': ['a:1'], 'worker': ['b:1', 'c:2']}) ; ; [it.as_dict(), it.jobs]
tf.train.replica_device_setter(ps_tasks=2) ; ps_tasks=3, ps_device='/job:p', worker_device='/job:w',
    merge_devices=False, ps_ops=['Const'], ps_strategy=uses.second_ps, cluster=tf.train.ClusterSpec({'ps': ['a:1']}) ;
    uses.placed(it)
tf.DeviceSpec() ; job='ps', replica=1, task=2, device_type='CPU', device_index=3 ; it.to_string()
tf.ConfigProto() ; log_device_placement=True, allow_soft_placement=True, device_filters=['/job:ps'],
    intra_op_parallelism_threads=2, inter_op_parallelism_threads=3, gpu_options=tf.GPUOptions(allow_growth=True),
    device_count={'CPU': 2} ; it.SerializeToString()
tf.GPUOptions() ; per_process_gpu_memory_fraction=0.5, allow_growth=True, force_gpu_compatible=True ;
    it.SerializeToString()
tf.RunOptions() ; trace_level=3, timeout_in_ms=500 ; it.SerializeToString()
tf.GraphOptions() ; infer_shapes=True ; it.SerializeToString()
tf.OptimizerOptions() ; opt_level=-1 ; it.SerializeToString()
tf.Session() ; graph=uses.other_graph(), config=tf.ConfigProto(operation_timeout_in_ms=9) ; [n.name for n in
    it.graph.as_graph_def().node]
tf.InteractiveSession() ; graph=uses.other_graph(), config=tf.ConfigProto(operation_timeout_in_ms=9) ; uses.closed(it)
tf.train.Server({'a': ['localhost:0', 'localhost:0'], 'b': ['localhost:0']}, job_name='a', task_index=1) ;
    job_name='b', task_index=0, protocol='grpc', config=tf.ConfigProto(isolate_session_state=True), start=False ;
    uses.served(it)
tf.train.Supervisor(logdir='out', saver=None) ; is_chief=False, init_op=tf.no_op('i'), init_feed_dict={},
    local_init_op=tf.no_op('l'), ready_op=tf.constant([], tf.string, name='r'),
    ready_for_local_init_op=tf.constant([], tf.string, name='q'), logdir=None, summary_op=tf.constant('s', name='t'),
    saver=tf.train.Saver(uses.two_variables()), global_step=tf.train.get_or_create_global_step(),
    save_summaries_secs=3, save_model_secs=4, recovery_wait_secs=5, stop_grace_secs=6, checkpoint_basename='other',
    summary_writer=None, init_fn=uses.say_init, graph=uses.with_step(), session_manager=tf.train.SessionManager(),
    local_init_run_options=tf.RunOptions() ; uses.supervised(it)
tf.train.MonitoredTrainingSession(hooks=[uses.stop_at(3)], master='', is_chief=True) ; checkpoint_dir='out',
    scaffold=tf.train.Scaffold(init_fn=uses.say_init), hooks=[uses.stop_at(2)], chief_only_hooks=[uses.stop_at(1)],
    save_checkpoint_secs=1, save_summaries_steps=1, save_summaries_secs=1,
    config=tf.ConfigProto(log_device_placement=False), stop_grace_period_secs=3, log_step_count_steps=1,
    max_wait_secs=3, save_checkpoint_steps=1, summary_dir='sums', save_graph_def=False ; uses.monitored(it)
tf.train.MonitoredTrainingSession(hooks=[uses.stop_at(3)], checkpoint_dir='out', is_chief=True,
    save_checkpoint_steps=2) ; save_checkpoint_steps=1, save_summaries_steps=1, summary_dir='sums',
    log_step_count_steps=1, save_checkpoint_secs=None, save_summaries_secs=None ; uses.monitored(it)
tf.train.MonitoredSession(hooks=[uses.stop_at(3)]) ; hooks=[uses.stop_at(2)], stop_grace_period_secs=3,
    session_creator=tf.train.ChiefSessionCreator(tf.train.Scaffold(init_fn=uses.say_init)) ; uses.monitored(it)
tf.train.SingularMonitoredSession(hooks=[uses.stop_at(3)]) ; hooks=[uses.stop_at(2)], stop_grace_period_secs=3,
    scaffold=tf.train.Scaffold(init_fn=uses.say_init), checkpoint_dir='out', checkpoint_filename_with_path=None,
    config=tf.ConfigProto() ; uses.monitored(it)
tf.train.ChiefSessionCreator() ; scaffold=tf.train.Scaffold(init_fn=uses.say_init), config=tf.ConfigProto(),
    checkpoint_dir='out', master='', checkpoint_filename_with_path=uses.checkpoint() ; uses.session_of(it)
tf.train.ServerDef() ; job_name='ps', task_index=2, protocol='grpc', cluster=tf.train.ClusterSpec({'ps':
    ['a:1']}).as_cluster_def() ; it.SerializeToString()
tf.distribute.Server({'a': ['localhost:0', 'localhost:0']}, job_name='a', task_index=1) ; task_index=0,
    protocol='grpc' ; uses.served(it)
tf.train.Coordinator() ; clean_stop_exception_types=(ValueError,) ; uses.stopped(it)
tf.train.Scaffold() ; init_op=tf.no_op('i'), init_feed_dict={}, init_fn=uses.init, ready_op=tf.constant('r'),
    ready_for_local_init_op=tf.constant('l'), local_init_op=tf.no_op('x'), summary_op=tf.constant('s'),
    saver=tf.train.Saver(uses.two_variables()), local_init_feed_dict={} ; uses.scaffolded(it)
tf.train.StopAtStepHook(last_step=3) ; num_steps=2 ; uses.hooked(it)
tf.train.StopAtStepHook(num_steps=2) ; last_step=3 ; uses.hooked(it)
tf.train.CheckpointSaverHook('out', save_steps=2) ; save_secs=0.001, save_steps=3,
    saver=tf.train.Saver(uses.two_variables()), checkpoint_basename='other.ckpt',
    scaffold=tf.train.Scaffold(saver=tf.train.Saver(uses.two_variables())), listeners=[uses.listener()],
    save_graph_def=False ; uses.hooked(it)
tf.train.SummarySaverHook(2, output_dir='out', summary_op=tf.summary.scalar('s', 1.0)) ; save_steps=3,
    save_secs=0.001, summary_writer=tf.summary.FileWriter('other'), scaffold=tf.train.Scaffold() ; uses.hooked(it)
tf.train.StepCounterHook(2, output_dir='out') ; every_n_steps=3, every_n_secs=0.001, output_dir='other' ;
    uses.hooked(it)
tf.train.ProfilerHook(2, output_dir='.') ; save_steps=3, save_secs=0.001, show_dataflow=False, show_memory=True ;
    uses.hooked(it)
tf.train.FinalOpsHook(tf.constant(2.0)) ; final_ops_feed_dict={'X:0': arrays.X} ; [uses.hooked(it), it.final_ops_values]
tf.train.FeedFnHook(uses.feeds) ; ; uses.hooked(it)
tf.train.NanTensorHook(tf.constant(np.nan)) ; fail_on_nan_loss=False ; uses.hooked(it)
tf.train.LoggingTensorHook({'x': X}, every_n_iter=2) ; every_n_iter=3, every_n_secs=0.001, at_end=True,
    formatter=uses.format ; uses.logged(it)
tf.train.GlobalStepWaiterHook(0) ; ; uses.hooked(it)
tf.train.get_or_create_global_step() ; graph=uses.other_graph() ; it.graph is tf.get_default_graph()
tf.train.create_global_step() ; graph=uses.other_graph() ; it.graph is tf.get_default_graph()
tf.train.get_global_step() ; graph=uses.with_step()
tf.train.assert_global_step(tf.train.get_or_create_global_step())
tf.train.add_queue_runner(tf.train.QueueRunner(tf.FIFOQueue(2, tf.float32), [tf.no_op()])) ; collection='given'
tf.train.QueueRunner(tf.FIFOQueue(2, tf.float32), [tf.no_op()]) ; close_op=tf.no_op('c'), cancel_op=tf.no_op('d'),
    queue_closed_exception_types=(ValueError,), queue_runner_def=None ; [it.close_op, it.cancel_op, it.name,
    len(it.enqueue_ops)]
tf.train.start_queue_runners(uses.session()) ; start=False, coord=tf.train.Coordinator(), daemon=False,
    collection='given' ; len(it)
tf.summary.scalar('s', 1.0)
tf.summary.histogram('s', X)
tf.summary.image('s', IMAGE) ; max_outputs=1
tf.summary.audio('s', X, 8000) ; max_outputs=1
tf.summary.text('s', WORDS)
tf.summary.tensor_summary('s', X) ; summary_description='text', display_name='shown' ; it.op.node_def
tf.summary.merge([tf.summary.scalar('s', 1.0)])
tf.summary.merge_all(uses.summaries()) ; scope='first', key='given'
tf.scalar_summary('s', 1.0)
tf.histogram_summary('s', X)
tf.image_summary('s', IMAGE) ; max_images=1
"""
