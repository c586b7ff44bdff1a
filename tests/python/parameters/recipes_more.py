"""Recipes of functions that no other file of recipes has: checks, metrics, scatters, signals, files, flags, messages."""

RECIPES = r"""
# ---- checks and shapes ----
tf.assert_rank_in(uses.hidden(X), [2, 3]) ; ranks=[1], data=[X], summarize=2, message='given'
tf.assert_same_float_dtype([X, Y]) ; dtype=tf.float64
tf.broadcast_dynamic_shape([3, 1], [1, 4])
tf.broadcast_static_shape(tf.TensorShape([3, 1]), tf.TensorShape([1, 4]))
tf.dimension_at_index(tf.TensorShape([3, 1]), 1)
tf.dimension_value(tf.Dimension(3))
tf.Dimension(3) ; ; it.value
tf.TensorShape([2, None]) ; ; it
tf.IndexedSlices(X, LABELS) ; dense_shape=tf.constant([4, 4])
tf.SparseTensorValue([[0]], [1.0], [2]) ; ; list(it)
tf.batch_to_space(tf.ones([4, 1, 1, 1]), [[0, 0], [0, 0]], 2) ; crops=[[0, 1], [0, 0]], block_size=2
tf.space_to_batch(tf.ones([1, 2, 2, 1]), [[0, 0], [0, 0]], 2) ; paddings=[[0, 2], [0, 0]]
tf.repeat([1, 2], 2) ; repeats=[1, 3], axis=0
tf.roll(X, 1, 0) ; shift=2, axis=1
tf.unravel_index([5, 7], [3, 4]) ; dims=[4, 3]
tf.searchsorted([[1.0, 3, 5]], [[3.0, 4]]) ; side='right', out_type=tf.int64
tf.histogram_fixed_width([0.5, 1.0, 3.0], [0.0, 5.0], nbins=5) ; value_range=[0.0, 3.0], nbins=3, dtype=tf.int64
tf.histogram_fixed_width_bins([0.5, 1.0, 3.0], [0.0, 5.0], nbins=5) ; value_range=[0.0, 3.0], nbins=3, dtype=tf.int64
tf.switch_case(tf.constant(1), [lambda: tf.constant(1), lambda: tf.constant(2)]) ; branch_index=tf.constant(5),
    default=lambda: tf.constant(9)
tf.vectorized_map(uses.double, X) ; fallback_to_while_loop=False, warn=False
tf.make_template('t', uses.halve) ; create_scope_now_=True, custom_getter_=uses.getter, unique_name_='given' ; it(X)
tf.custom_gradient(uses.own_gradient) ; ; tf.gradients(it(X), X)
tf.function(uses.grown) ; input_signature=[tf.TensorSpec([3, 4], tf.float32)], func=uses.halve, jit_compile=False,
    experimental_implements='given', experimental_autograph_options=tf.autograph.experimental.Feature.AUTO_CONTROL_DEPS,
    experimental_attributes={}, experimental_relax_shapes=True, experimental_compile=False, experimental_follow_type_hints=True ; it(X)
tf.function(uses.grown, [tf.TensorSpec([3, 4], tf.float32)]) ; ; uses.refused(lambda: it(V))
tf.config.run_functions_eagerly(False) ; run_eagerly=True ; uses.as_python()
tf.config.experimental_run_functions_eagerly(False) ; run_eagerly=True ; uses.as_python()
tf.GradientTape() ; persistent=True, watch_accessed_variables=False ; uses.derived(it)
tf.grad_pass_through(tf.round) ; ; tf.gradients(it(X), X)
tf.recompute_grad(uses.halve) ; ; tf.gradients(it(X), X)
tf.get_seed(3) ; op_seed=4
tf.no_regularizer(X)
tf.op_scope([X], 'given') ; default_name='other' ; uses.entered(it, lambda: tf.constant(1.0)).name
tf.variable_op_scope([X], 'given') ; default_name='other' ; uses.entered(it, lambda: tf.get_variable('v', [2])).name
tf.timestamp() ; ; it.dtype
tf.math.nextafter(X, Y)
tf.math.polyval([X, Y], 2.0) ; x=3.0
# ---- state ----
tf.scatter_max(uses.variable(), [0], [[5.0, 0.0]]) ; indices=[1]
tf.scatter_min(uses.variable(), [0], [[5.0, 0.0]]) ; indices=[1]
tf.scatter_nd_add(uses.variable(), [[0]], [[5.0, 1.0]]) ; indices=[[1]]
tf.scatter_nd_sub(uses.variable(), [[0]], [[5.0, 1.0]]) ; indices=[[1]]
tf.scatter_nd_update(uses.variable(), [[0]], [[5.0, 1.0]]) ; indices=[[1]], use_locking=False
tf.tensor_scatter_add(X, [[0]], [[1.0, 2, 3, 4]]) ; indices=[[1]]
tf.tensor_scatter_sub(X, [[0]], [[1.0, 2, 3, 4]]) ; indices=[[1]]
tf.tensor_scatter_update(X, [[0]], [[1.0, 2, 3, 4]]) ; indices=[[1]]
tf.tensor_scatter_nd_max(X, [[0]], [[1.0, 2, 3, 4]]) ; indices=[[1]]
tf.tensor_scatter_nd_min(X, [[0]], [[1.0, 2, 3, 4]]) ; indices=[[1]]
# ---- metrics ----
tf.metrics.average_precision_at_k(tf.constant([[1], [3], [0]], tf.int64), Y, 2) ; k=1, weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.metrics.precision_at_k(tf.constant([[1], [3], [0]], tf.int64), Y, 2) ; k=1, class_id=3, weights=[2.0, 1.0, 0.5] ;
    uses.measured(it)
tf.metrics.precision_at_top_k(tf.constant([[1], [3], [0]], tf.int64), tf.constant([[1, 2], [2, 0], [0, 3]], tf.int64), 2) ;
    k=2, class_id=1, weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.metrics.recall_at_top_k(tf.constant([[1], [3], [0]], tf.int64), tf.constant([[1, 2], [2, 0], [0, 3]], tf.int64), 2) ;
    k=2, class_id=1, weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.metrics.false_negatives_at_thresholds(BOOL, P, [0.2, 0.6]) ; thresholds=[0.4] ; uses.measured(it)
tf.metrics.false_positives_at_thresholds(BOOL, P, [0.2, 0.6]) ; thresholds=[0.4] ; uses.measured(it)
tf.metrics.true_negatives_at_thresholds(BOOL, P, [0.2, 0.6]) ; thresholds=[0.4] ; uses.measured(it)
tf.metrics.true_positives_at_thresholds(BOOL, P, [0.2, 0.6]) ; thresholds=[0.4] ; uses.measured(it)
tf.metrics.precision_at_thresholds(BOOL, P, [0.2, 0.6]) ; thresholds=[0.4] ; uses.measured(it)
tf.metrics.recall_at_thresholds(BOOL, P, [0.2, 0.6]) ; thresholds=[0.4] ; uses.measured(it)
tf.metrics.mean_cosine_distance(P, ZERO_ONE, 1) ; dim=0 ; uses.measured(it)
tf.metrics.mean_relative_error(ZERO_ONE, P, ZERO_ONE + 1) ; normalizer=ZERO_ONE + 2 ; uses.measured(it)
tf.metrics.percentage_below(P, 0.4) ; threshold=0.6 ; uses.measured(it)
tf.metrics.sensitivity_at_specificity(BOOL, P, 0.5) ; specificity=0.9, num_thresholds=5 ; uses.measured(it)
tf.metrics.specificity_at_sensitivity(BOOL, P, 0.5) ; sensitivity=0.9, num_thresholds=5 ; uses.measured(it)
# ---- sampling and moments ----
tf.nn.compute_accidental_hits(tf.constant([[1], [2]], tf.int64), tf.constant([2, 5], tf.int64), 1) ; seed=7
tf.nn.log_uniform_candidate_sampler(tf.constant([[1], [2]], tf.int64), 1, 3, True, 9, seed=3) ; num_sampled=2, unique=False,
    range_max=20, seed=5
tf.nn.uniform_candidate_sampler(tf.constant([[1], [2]], tf.int64), 1, 3, True, 9, seed=3) ; num_sampled=2, unique=False,
    range_max=20, seed=5
tf.nn.normalize_moments(tf.constant(4.0), V, V * V + 1, None) ; counts=tf.constant(2.0), shift=W
tf.nn.sufficient_statistics(X, [0]) ; axes=[1], shift=W
# ---- signals ----
tf.signal.frame(tf.reshape(tf.range(40), [4, 10]), 4, 3) ; frame_length=2, frame_step=2, pad_end=True, pad_value=7, axis=0
tf.signal.hamming_window(4) ; window_length=5, periodic=False
tf.signal.hann_window(4) ; window_length=5, periodic=False
tf.signal.vorbis_window(4) ; window_length=6
tf.signal.stft(tf.sin(tf.range(16.0)), 8, 4) ; frame_length=4, frame_step=3, fft_length=16, window_fn=None, pad_end=True
tf.signal.inverse_stft(tf.signal.stft(tf.sin(tf.range(16.0)), 8, 4), 8, 4) ; frame_length=6, frame_step=3, fft_length=16,
    window_fn=None
tf.signal.inverse_stft_window_fn(4) ; frame_step=2, forward_window_fn=tf.signal.hamming_window ; it(8, tf.float32)
tf.signal.linear_to_mel_weight_matrix() ; num_mel_bins=5, num_spectrogram_bins=65, sample_rate=16000, lower_edge_hertz=80.0,
    upper_edge_hertz=3000.0
tf.signal.mfccs_from_log_mel_spectrograms(X)
tf.signal.overlap_and_add(X, 2) ; frame_step=3
tf.signal.dct(X) ; type=3, n=6, norm='ortho'
tf.signal.idct(X) ; type=3, norm='ortho', n=6
tf.signal.rfft(X) ; fft_length=[6]
tf.signal.irfft(COMPLEX) ; fft_length=[4]
tf.signal.rfft2d(X) ; fft_length=[2, 6]
tf.signal.irfft2d(COMPLEX) ; fft_length=[2, 4]
# ---- strings ----
tf.strings.format('a {}', X) ; template='b {}', placeholder='a', summarize=1
tf.strings.regex_full_match(WORDS, 'one.*') ; pattern='t.*'
tf.strings.split(WORDS) ; sep='o', maxsplit=1, result_type='RaggedTensor'
tf.strings.ngrams(['a', 'b', 'c'], 2, pad_values='p') ; ngram_width=3, padding_width=1
# ---- files ----
tf.io.gfile.copy(uses.written('f'), 'g') ; dst='h', overwrite=True
tf.io.gfile.rename(uses.written('f'), 'g') ; dst='h', overwrite=True
tf.io.gfile.exists(uses.written('f')) ; path='g'
tf.io.gfile.glob(uses.written('f')) ; pattern='g*'
tf.io.gfile.isdir(uses.written('f')) ; path='.'
tf.io.gfile.join('a', 'b')
tf.io.gfile.listdir('.') ; path='nothing'
tf.io.gfile.makedirs('a/b') ; path='c/d'
tf.io.gfile.mkdir('a') ; path='c'
tf.io.gfile.remove(uses.written('f')) ; path='nothing'
tf.io.gfile.rmtree('nothing')
tf.io.gfile.stat(uses.written('f')) ; path='nothing' ; it.length
tf.io.gfile.walk('.') ; topdown=False, onerror=None ; list(it)
tf.compat.path_to_str('a')
tf.train.get_checkpoint_mtimes([uses.checkpoint()]) ; ; len(it)
tf.train.generate_checkpoint_state_proto('.', 'a') ; save_dir='b', model_checkpoint_path='c', all_model_checkpoint_paths=['a', 'b'],
    all_model_checkpoint_timestamps=[3.0], last_preserved_timestamp=2.0 ; [it.model_checkpoint_path, list(it.all_model_checkpoint_paths)]
tf.train.summary_iterator(uses.written('f', b'')) ; ; list(it)
tf.saved_model.load(tf.Session(graph=tf.Graph()), ['serve'], uses.saved_folder()) ; tags=['other'], import_scope='given' ; it is not None
# ---- messages ----
tf.train.BytesList(value=[b'a']) ; ; it.SerializeToString()
tf.train.FloatList(value=[1.0]) ; ; it.SerializeToString()
tf.train.Int64List(value=[1]) ; ; it.SerializeToString()
tf.train.Features(feature={'a': tf.train.Feature()}) ; ; it.SerializeToString()
tf.train.Example(features=tf.train.Features()) ; ; it.SerializeToString()
tf.train.FeatureList(feature=[tf.train.Feature()]) ; ; it.SerializeToString()
tf.train.FeatureLists(feature_list={'a': tf.train.FeatureList()}) ; ; it.SerializeToString()
tf.train.SequenceExample(context=tf.train.Features()) ; ; it.SerializeToString()
tf.train.JobDef(name='a') ; ; it.SerializeToString()
tf.train.ClusterDef(job=[tf.train.JobDef(name='a')]) ; ; it.SerializeToString()
tf.train.SaverDef(max_to_keep=3) ; ; it.SerializeToString()
tf.AttrValue(i=0) ; ; it.SerializeToString()
tf.NodeDef(name='a', op='b') ; ; it.SerializeToString()
tf.GraphDef(node=[tf.NodeDef(name='a')]) ; ; it.SerializeToString()
tf.MetaGraphDef(graph_def=tf.GraphDef()) ; ; it.SerializeToString()
tf.Event(step=3) ; ; it.SerializeToString()
tf.SessionLog(msg='a') ; ; it.SerializeToString()
tf.Summary(value=[]) ; ; it.SerializeToString()
tf.TensorInfo(name='a') ; ; it.SerializeToString()
tf.RunMetadata() ; ; it.SerializeToString()
tf.HistogramProto(min=1.0) ; ; it.SerializeToString()
tf.LogMessage(message='a') ; ; it.SerializeToString()
tf.NameAttrList(name='a') ; ; it.SerializeToString()
tf.SummaryMetadata(display_name='a') ; ; it.SerializeToString()
tf.summary.TaggedRunMetadata(tag='a') ; ; it.SerializeToString()
# ---- errors, logging, configuration ----
tf.errors.error_code_from_exception_type(tf.errors.NotFoundError)
tf.errors.exception_type_from_error_code(5) ; ; it.__name__
tf.logging.TaskLevelStatusMessage('a')
tf.logging.log(tf.logging.ERROR, 'a %d', 3)
tf.logging.log_if(tf.logging.ERROR, 'a', True) ; condition=False
tf.logging.log_every_n(tf.logging.ERROR, 'a', 2) ; n=3
tf.logging.log_first_n(tf.logging.ERROR, 'a', 2) ; n=3
tf.logging.set_verbosity(tf.logging.ERROR)
tf.logging.debug('a %d', 3)
tf.logging.info('a %d', 3)
tf.logging.warn('a %d', 3)
tf.logging.error('a %d', 3)
tf.logging.vlog(2, 'a %d', 3)
tf.test.is_gpu_available() ; cuda_only=True
tf.config.get_logical_device_configuration(tf.config.list_physical_devices('CPU')[0]) ; ; len(it)
tf.config.list_physical_devices() ; device_type='GPU' ; len(it) > 0
tf.config.list_logical_devices() ; device_type='GPU' ; len(it) > 0
tf.config.get_visible_devices() ; device_type='GPU' ; len(it) > 0
tf.config.LogicalDeviceConfiguration() ; memory_limit=5 ; it.memory_limit
tf.compat.forward_compatibility_horizon(2019, 1, 1) ; ; uses.entered(it, lambda: 1)
# ---- training ----
tf.train.SecondOrStepTimer(every_steps=2) ; every_secs=3, every_steps=5 ; [it.should_trigger_for_step(1),
    it.update_last_triggered_step(1), it.should_trigger_for_step(3)]
tf.train.SessionManager() ; graph=tf.get_default_graph(), local_init_op=tf.no_op(), recovery_wait_secs=1,
    ready_op=tf.constant([], tf.string), ready_for_local_init_op=tf.constant([], tf.string), local_init_feed_dict={},
    local_init_run_options=tf.RunOptions() ; it.prepare_session('', init_op=tf.no_op()) is not None
tf.train.SessionRunArgs(X) ; feed_dict={X: 1}, options=tf.RunOptions(timeout_in_ms=5) ; len(it)
tf.train.SessionRunContext(None, None) ; original_args=tf.train.SessionRunArgs(X) ; [it.original_args is None, it.stop_requested]
tf.train.SessionRunValues(1, None, None) ; results=2 ; it.results
tf.train.VocabInfo('a', 3, 1, 'b') ; old_vocab_size=2, axis=1, backup_initializer=tf.zeros_initializer(), new_vocab_size=4 ;
    [it.new_vocab_size, it.old_vocab_size, it.axis]
tf.train.global_step(uses.session_with_step(), tf.train.get_global_step())
tf.train.maybe_batch([tf.constant(3.0)], True, 2) ; keep_input=tf.constant(True), batch_size=3, num_threads=1, capacity=9,
    enqueue_many=False, shapes=[[]], dynamic_pad=True, allow_smaller_final_batch=True ; uses.fed(it, 1)
tf.train.maybe_batch_join([[tf.constant(3.0)]], True, 2) ; batch_size=3, capacity=9, enqueue_many=False, shapes=[[]],
    dynamic_pad=True, allow_smaller_final_batch=True ; uses.fed(it, 1)
tf.train.maybe_shuffle_batch([tf.constant(3.0)], 2, 9, 2, True) ; batch_size=3, capacity=12, min_after_dequeue=3, seed=4,
    enqueue_many=False, shapes=[[]], allow_smaller_final_batch=True, num_threads=1 ; uses.fed(it, 1)
tf.train.maybe_shuffle_batch_join([[tf.constant(3.0)]], 2, 9, 2, True) ; batch_size=3, capacity=12, min_after_dequeue=3,
    seed=4, enqueue_many=False, shapes=[[]], allow_smaller_final_batch=True ; uses.fed(it, 1)
tf.estimator.WarmStartSettings('a') ; vars_to_warm_start='b', var_name_to_vocab_info={'c': 1}, var_name_to_prev_var_name={'d': 'e'} ;
    list(it)[1:]
tf.estimator.FinalExporter('a', uses.serving) ; name='b', assets_extra={'x': 'y'}, as_text=True ; it.name
tf.estimator.LatestExporter('a', uses.serving) ; name='b', assets_extra={'x': 'y'}, as_text=True, exports_to_keep=2 ; it.name
tf.estimator.BestExporter('a', uses.serving) ; name='b', exports_to_keep=2 ; it.name
tf.estimator.export.PredictOutput(X) ; outputs={'a': X} ; it.outputs
tf.estimator.export.RegressionOutput(X) ; value=Y ; it.value
tf.estimator.export.TensorServingInputReceiver(X, {'x': X}) ; receiver_tensors_alternatives={'y': {'z': Y}} ; it._asdict()
tf.estimator.BaselineClassifier() ; n_classes=3, weight_column=None, label_vocabulary=['a', 'b'], optimizer='SGD',
    config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='m', loss_reduction='weighted_mean' ; uses.modeled(it)
tf.estimator.BaselineRegressor() ; label_dimension=1, weight_column='x', optimizer='SGD',
    config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='m', loss_reduction='weighted_mean' ; uses.modeled(it)
tf.estimator.DNNLinearCombinedRegressor(linear_feature_columns=[tf.feature_column.numeric_column('x')],
    dnn_feature_columns=[tf.feature_column.numeric_column('x')], dnn_hidden_units=[2]) ; label_dimension=1,
    weight_column='x', linear_optimizer='SGD', model_dir='m', loss_reduction='weighted_mean', linear_sparse_combiner='mean',
    config=tf.estimator.RunConfig(tf_random_seed=3), dnn_activation_fn=tf.nn.tanh, dnn_dropout=0.5, dnn_optimizer='SGD',
    input_layer_partitioner=tf.fixed_size_partitioner(1) ; uses.modeled(it)
tf.estimator.DNNRegressor([2], [tf.feature_column.numeric_column('x')]) ; loss_reduction='weighted_mean',
    input_layer_partitioner=tf.fixed_size_partitioner(1) ; uses.modeled(it)
tf.estimator.LinearRegressor([tf.feature_column.numeric_column('x')]) ; loss_reduction='weighted_mean' ; uses.modeled(it)
# ---- values of parameters that other recipes leave out ----
tf.argsort(X) ; direction='DESCENDING'
tf.sort(X) ; direction='DESCENDING'
tf.norm(X) ; ord=1
tf.assert_near(X, X + 1e-3) ; rtol=0.1, atol=0.1
tf.assert_near(X, X + 1e-3, 0.0, 1.0) ; rtol=0.5
tf.cond(BOOL[0, 0], uses.no_argument, uses.no_argument) ; fn1=uses.no_argument, fn2=uses.no_argument
tf.count_nonzero(X) ; input=Y
tf.select(BOOL, X, Y) ; x=Y, y=X
tf.where_v2(BOOL, X, Y) ; x=Y, y=X
tf.string_split(WORDS) ; input=['3 4']
tf.string_to_number(['1', '2']) ; input=['3']
tf.string_to_hash_bucket(WORDS, 5) ; input=['3']
tf.reverse(X, [0]) ; dims=[1]
tf.reverse_sequence(X, LABELS, 1) ; seq_dim=0
tf.setdiff1d([1, 2], [2]) ; index_dtype=tf.int64
tf.strided_slice(X, [0], [2]) ; var=uses.variable()
tf.sparse.concat(0, [uses.sparse(), uses.sparse()]) ; concat_dim=1
tf.sparse.split(sp_input=uses.sparse(), num_split=2, axis=1) ; split_dim=0, keyword_required=uses.sparse()
tf.layers.conv1d(SEQUENCE, 2, 2) ; data_format='channels_first' ; it.get_shape()
tf.layers.separable_conv2d(IMAGE, 2, 2) ; data_format='channels_first' ; it.get_shape()
tf.nn.fused_batch_norm(IMAGE, tf.ones([3]), tf.zeros([3])) ; data_format='NCHW'
tf.nn.depthwise_conv2d_native(IMAGE, FILTER, [1, 1, 1, 1], 'SAME') ; data_format='NCHW'
tf.nn.max_pool_with_argmax(IMAGE, [1, 2, 2, 1], [1, 1, 1, 1], 'SAME') ; data_format='NCHW'
tf.nn.weighted_cross_entropy_with_logits(ZERO_ONE, Y, 2.0) ; targets=X
tf.nn.ctc_loss(uses.ctc_labels(), uses.logits_in_time(), [4, 3]) ; logits=uses.logits_in_time()
tf.train.Scaffold() ; copy_from_scaffold=tf.train.Scaffold(init_op=tf.no_op('copied')) ; uses.scaffolded(it)
tf.train.QueueRunner(tf.FIFOQueue(2, tf.float32), [tf.no_op()]) ; import_scope='given' ; it.name
tf.summary.tensor_summary('s', X) ; summary_metadata=uses.plugin() ; it.op.node_def
tf.estimator.DNNLinearCombinedClassifier(linear_feature_columns=[tf.feature_column.numeric_column('x')],
    dnn_feature_columns=[tf.feature_column.numeric_column('x')], dnn_hidden_units=[2]) ; loss_reduction='weighted_mean',
    label_vocabulary=['a', 'b'], input_layer_partitioner=tf.fixed_size_partitioner(1) ; uses.modeled(it)
tf.import_graph_def(uses.other_graph().as_graph_def()) ; op_dict={}, producer_op_list=None ;
    len(tf.get_default_graph().as_graph_def().node)
# ---- contrib ----
tf.contrib.data.batch_and_drop_remainder(2) ; batch_size=3 ; uses.elements(tf.data.Dataset.range(5).apply(it))
tf.contrib.data.padded_batch_and_drop_remainder(2, []) ; batch_size=3 ; uses.elements(tf.data.Dataset.range(5).apply(it))
tf.contrib.data.sloppy_interleave(uses.repeated, 2) ; block_length=2 ; uses.elements(tf.data.Dataset.range(3).apply(it))
tf.contrib.learn.datasets.mnist.DataSet(np.arange(8).reshape(2, 2, 2, 1), np.array([1, 2])) ; dtype=tf.uint8, reshape=False,
    fake_data=True ; [it.images, it.num_examples]
tf.contrib.learn.datasets.mnist.DataSet([], [], fake_data=True) ; one_hot=True ; it.next_batch(1)
tf.contrib.learn.datasets.mnist.DataSet(np.arange(24).reshape(6, 2, 2, 1), np.arange(6), seed=uses.no_graph_seed()) ; seed=3 ;
    it.next_batch(6)
tf.contrib.learn.datasets.mnist.dense_to_one_hot(np.array([1, 0]), 3) ; num_classes=4
tf.contrib.lookup.HasherSpec('fasthash', None) ; hasher='stronghash', key=[1, 2] ; list(it)
tf.contrib.lookup.StrongHashSpec([1, 2]) ; key=[3, 4] ; it.key
tf.contrib.lookup.IdTableWithHashBuckets(uses.table(), 3) ; num_oov_buckets=5, hasher_spec=tf.contrib.lookup.StrongHashSpec([1, 2]) ;
    uses.looked_up(it, ['a', 'zz', 'q'])
tf.contrib.rnn.LSTMStateTuple(X, Y) ; c=Y, h=X ; list(it)
tf.contrib.training.byte_size_load_fn(uses.variable().op)
tf.contrib.layers.utils.NamedOutputs('a', X) ; name='b' ; it.name
"""
