"""Recipes of files, data sets, estimators, feature columns and protos; values.py has the names in them."""
RECIPES = """
# ---- files ----
tf.gfile.Open(uses.written('f')) ; mode='rb' ; it.read()
tf.gfile.Open('g', 'w') ; mode='a' ; it.mode
tf.gfile.Copy(uses.written('f'), uses.written('g')) ; overwrite=True
tf.gfile.Rename(uses.written('f'), uses.written('g')) ; overwrite=True
tf.gfile.Walk('.') ; in_order=False ; list(it)
tf.gfile.Glob('*')
tf.gfile.Exists('f')
tf.gfile.MakeDirs('a/b')
tf.gfile.MkDir('a')
tf.gfile.Remove(uses.written('f'))
tf.gfile.ListDirectory('.')
tf.gfile.IsDirectory('.')
tf.gfile.DeleteRecursively('a')
tf.gfile.Stat(uses.written('f')) ; ; it.length
tf.read_file(uses.written('f'))
tf.write_file('f', 'text')
tf.matching_files('*')
tf.python_io.TFRecordOptions() ; compression_type='GZIP', flush_mode=1, input_buffer_size=9, output_buffer_size=9,
    window_bits=9, compression_level=5, compression_method=1, mem_level=5, compression_strategy=1 ;
    [it.compression_type]
tf.python_io.TFRecordWriter('f') ; options=tf.python_io.TFRecordOptions('GZIP') ; uses.wrote(it)[:2]
tf.python_io.tf_record_iterator(uses.records()) ; options=tf.python_io.TFRecordOptions('GZIP') ; list(it)
tf.train.write_graph(tf.get_default_graph(), '.', 'g') ; as_text=False
tf.train.Saver(uses.two_variables()) ; reshape=True, sharded=True, max_to_keep=1, keep_checkpoint_every_n_hours=0.0,
    restore_sequentially=True, saver_def=None, builder=None, defer_build=True, allow_empty=True,
    write_version=tf.train.SaverDef.V1, pad_step_number=True, save_relative_paths=True, filename='other' ;
    uses.saved(it)
tf.train.Saver({'a': uses.variable()}).save(uses.session(), 'ckpt') ; global_step=7, latest_filename='latest',
    meta_graph_suffix='other', write_meta_graph=False, write_state=False, strip_default_attrs=True,
    save_debug_info=True
tf.train.Saver(uses.two_variables()).export_meta_graph('graph') ; collection_list=['given'], as_text=True,
    export_scope='first', clear_devices=True, clear_extraneous_savers=True, strip_default_attrs=True,
    save_debug_info=True ; [n.name for n in it.graph_def.node]
tf.train.export_meta_graph() ; filename='f', meta_info_def=None, graph_def=tf.GraphDef(), saver_def=None,
    collection_list=['given'], as_text=True, export_scope='first', clear_devices=True, clear_extraneous_savers=True,
    strip_default_attrs=True, save_debug_info=True ; [n.name for n in it.graph_def.node]
tf.train.latest_checkpoint('.') ; latest_filename='other'
tf.train.get_checkpoint_state('.') ; latest_filename='other'
tf.train.update_checkpoint_state('.', 'a') ; all_model_checkpoint_paths=['b', 'a'], latest_filename='other',
    all_model_checkpoint_timestamps=[1.0], last_preserved_timestamp=2.0 ; open('checkpoint').read()
tf.train.checkpoint_exists(uses.checkpoint())
tf.train.list_variables(uses.checkpoint()) ; ; [[n, list(s)] for n, s in it]
tf.train.load_variable(uses.checkpoint(), 'first')
tf.train.load_checkpoint(uses.checkpoint()) ; ; sorted(it.get_variable_to_shape_map())
tf.train.NewCheckpointReader(uses.checkpoint()) ; ; sorted(it.get_variable_to_shape_map())
tf.train.remove_checkpoint(uses.checkpoint()) ; checkpoint_format_version=tf.train.SaverDef.V1,
    meta_graph_suffix='other'
tf.train.init_from_checkpoint(uses.checkpoint(), {'first': uses.variable(name='x')})
tf.train.import_meta_graph(uses.meta_graph()) ; clear_devices=True, import_scope='given', input_map={} ; [n.name for n
    in tf.get_default_graph().as_graph_def().node]
tf.import_graph_def(uses.other_graph().as_graph_def()) ; input_map={'elsewhere:0': X},
    return_elements=['elsewhere:0'], name='given' ; [n.name for n in tf.get_default_graph().as_graph_def().node]
tf.graph_util.extract_sub_graph(uses.other_graph().as_graph_def(), ['elsewhere']) ; ; [n.name for n in it.node]
tf.graph_util.remove_training_nodes(uses.identities()) ; protected_nodes=['b'] ; [n.name for n in it.node]
tf.graph_util.convert_variables_to_constants(uses.session_of_two(), tf.get_default_graph().as_graph_def(),
    ['first/read', 'second/read']) ; variable_names_whitelist=['first'], variable_names_blacklist=['first'] ;
    sorted([n.name, n.op] for n in it.node)
tf.summary.FileWriter('out') ; graph=uses.other_graph(), max_queue=1, flush_secs=1,
    graph_def=uses.other_graph().as_graph_def(), filename_suffix='.given', session=uses.session() ; uses.events(it)
tf.saved_model.simple_save(uses.session_of_two(), 'out', {'x': X}, {'y': Y}) ; legacy_init_op=tf.no_op()
tf.saved_model.build_signature_def({}, {}, 'm') ; inputs={'x': tf.saved_model.build_tensor_info(X)},
    method_name='given', outputs={'y': tf.saved_model.build_tensor_info(Y)} ; it.SerializeToString()
tf.saved_model.Builder('out') ; ; it.save()
tf.saved_model.Builder('out').add_meta_graph_and_variables(uses.session_of_two(), ['serve']) ; signature_def_map={},
    assets_collection=[], legacy_init_op=tf.no_op(), clear_devices=True, main_op=tf.no_op(), strip_default_attrs=True,
    saver=tf.train.Saver(uses.two_variables())
# ---- data ----
tf.data.Dataset.from_tensor_slices(arrays.X).batch(2) ; batch_size=3, drop_remainder=True, num_parallel_calls=2,
    deterministic=False ; uses.elements(it)
tf.data.Dataset.range(9).map(uses.double) ; num_parallel_calls=2, deterministic=False ; uses.elements(it)
tf.data.Dataset.range(9).shuffle(5) ; buffer_size=2, reshuffle_each_iteration=False ; uses.elements(it)
tf.data.Dataset.range(9).repeat(2) ; count=1 ; uses.elements(it)
tf.data.Dataset.range(9).prefetch(2) ; buffer_size=1 ; uses.elements(it)
tf.data.Dataset.range(9).shard(2, 1) ; index=0 ; uses.elements(it)
tf.data.Dataset.range(9).cache() ; filename='cached' ; uses.elements(it)
tf.data.Dataset.range(3).interleave(uses.repeated, 2) ; cycle_length=1, block_length=2, num_parallel_calls=2,
    deterministic=False ; uses.elements(it)
tf.data.Dataset.range(1, 4).map(uses.filled).padded_batch(2, [None]) ; padded_shapes=[5],
    padding_values=tf.constant(7, tf.int64), drop_remainder=True ; uses.elements(it)
tf.data.Dataset.range(9).window(3) ; size=2, shift=1, stride=2, drop_remainder=True ;
    uses.elements(it.flat_map(uses.same))
tf.data.Dataset.from_generator(uses.generator, tf.int64) ; output_shapes=[], args=[2] ; uses.elements(it)
tf.data.Dataset.list_files(uses.written('f')) ; shuffle=False ; uses.elements(it)
tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3))) ; ; uses.elements(it)
tf.data.TextLineDataset(uses.written('f')) ; buffer_size=9, num_parallel_reads=2 ; uses.elements(it)
tf.data.TFRecordDataset(uses.records()) ; buffer_size=9, num_parallel_reads=2 ; uses.elements(it)
tf.data.FixedLengthRecordDataset(uses.written('f', 'abcdefghij'), 2) ; header_bytes=1, footer_bytes=3, buffer_size=9,
    num_parallel_reads=2 ; uses.elements(it)
tf.data.make_initializable_iterator(tf.data.Dataset.range(3)) ; ; [it.initializer.type, it.output_types]
tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)) ; ; it.output_types
tf.data.experimental.shuffle_and_repeat(3) ; count=2 ; uses.elements(tf.data.Dataset.range(4).apply(it).take(9))
tf.data.experimental.map_and_batch(uses.double, 2) ; num_parallel_batches=2, drop_remainder=True, num_parallel_calls=2
    ; uses.elements(tf.data.Dataset.range(5).apply(it))
tf.data.experimental.parallel_interleave(uses.repeated, 2) ; cycle_length=1, block_length=2, sloppy=True,
    buffer_output_elements=3, prefetch_input_elements=1 ; sorted(uses.elements(tf.data.Dataset.range(3).apply(it)))
tf.data.experimental.bucket_by_sequence_length(uses.length, [2], [2, 2]) ; padded_shapes=[4],
    padding_values=tf.constant(7, tf.int64), pad_to_bucket_boundary=True, no_padding=True, drop_remainder=True ;
    uses.elements(tf.data.Dataset.range(1, 4).map(uses.filled).apply(it))
tf.data.experimental.group_by_window(uses.parity, uses.batches, 2) ; window_size_func=None ;
    uses.elements(tf.data.Dataset.range(6).apply(it))
tf.data.experimental.Counter() ; start=3, step=2, dtype=tf.int32 ; uses.elements(it.take(3))
tf.data.experimental.enumerate_dataset() ; start=3 ; uses.elements(tf.data.Dataset.range(3).apply(it))
tf.data.experimental.unbatch() ; ; uses.elements(tf.data.Dataset.range(3).batch(2).apply(it))
tf.data.experimental.ignore_errors() ; ; uses.elements(tf.data.Dataset.range(3).apply(it))
tf.data.experimental.scan(tf.constant(0, tf.int64), uses.added) ; ; uses.elements(tf.data.Dataset.range(3).apply(it))
tf.data.experimental.take_while(uses.small) ; ; uses.elements(tf.data.Dataset.range(5).apply(it))
tf.data.experimental.get_single_element(tf.data.Dataset.range(1))
tf.data.experimental.sample_from_datasets([tf.data.Dataset.range(3), tf.data.Dataset.range(5, 9)], seed=3) ;
    weights=[.1, .9], seed=5, stop_on_empty_dataset=True ; uses.elements(it)
tf.data.experimental.rejection_resample(uses.parity, [.2, .8], [.5, .5], seed=1) ; ;
    len(uses.elements(tf.data.Dataset.range(30).apply(it))) > 4
tf.data.experimental.DistributeOptions() ; ; it.num_devices
tf.convert_to_tensor_or_indexed_slices(X) ; dtype=tf.float32, name='other'
tf.convert_to_tensor_or_sparse_tensor(X) ; dtype=tf.float32, name='other'
tf.compat.dimension_value(3)
tf.compat.forward_compatible(2019, 1, 1)
tf.is_symbolic_tensor(tf.constant(1))
tf.add_check_numerics_ops()
tf.control_flow_v2_enabled()
tf.executing_eagerly_outside_functions()
tf.disable_tensor_equality()
tf.disable_v2_tensorshape()
tf.data.get_output_types(tf.data.Dataset.range(3).batch(2))
tf.data.get_output_shapes(tf.data.Dataset.range(3).batch(2))
tf.data.get_output_classes(tf.data.Dataset.range(3).batch(2))
tf.data.ThreadingOptions() ; ; it.private_threadpool_size
tf.data.experimental.ThreadingOptions() ; ; it.private_threadpool_size
tf.data.experimental.AutotuneOptions() ; ; it.cpu_budget
tf.data.experimental.OptimizationOptions() ; ; it.map_fusion
tf.data.experimental.Reducer(uses.parity, uses.plus, uses.double) ; ; [it.init_func(3), it.reduce_func(1, 2),
    it.finalize_func(4)]
tf.data.experimental.group_by_reducer(uses.parity, tf.data.experimental.Reducer(uses.parity, uses.plus, uses.double)) ; ;
    uses.elements(tf.data.Dataset.range(6).apply(it))
tf.data.experimental.parse_example_dataset({'f': tf.FixedLenFeature([], tf.int64, 3)}) ; num_parallel_calls=2 ;
    uses.elements(tf.data.Dataset.from_tensors(['', '']).apply(it))
tf.data.experimental.make_batched_features_dataset(uses.empty_examples(), 2, {'f': tf.FixedLenFeature([], tf.int64, 3)},
    num_epochs=1, shuffle=False) ; batch_size=1, label_key='f', num_epochs=2, shuffle_buffer_size=3,
    prefetch_buffer_size=2, reader_num_threads=2, parser_num_threads=1, drop_final_batch=True ; uses.elements(it)
tf.data.experimental.unique() ; ; uses.elements(tf.data.Dataset.range(5).map(uses.parity).apply(it))
tf.data.experimental.cardinality(tf.data.Dataset.range(5).batch(2))
tf.data.experimental.assert_cardinality(5) ; ; uses.elements(tf.data.Dataset.range(5).apply(it))
tf.data.experimental.choose_from_datasets([tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9)],
    tf.data.Dataset.from_tensor_slices(tf.constant([0, 0, 0, 1, 1], tf.int64))) ; stop_on_empty_dataset=True ;
    uses.elements(it)
tf.data.experimental.RandomDataset(seed=3) ; seed=4 ; uses.elements(it.take(3))
tf.data.experimental.CsvDataset(uses.written('f', 'a,1\\nNA;2,\\n'), ['x', 5]) ; header=True, buffer_size=64,
    field_delim=';', use_quote_delim=False, na_value='a', select_cols=[0, 1] ; uses.elements(it)
tf.data.experimental.make_csv_dataset(uses.written('f', 'a,b\\n1,x\\n2,y\\n3,'), 2, num_epochs=1, shuffle=False) ;
    batch_size=1, column_names=['p', 'q'], column_defaults=[1.5, 'w'], label_name='b', select_columns=['a'],
    na_value='x', num_epochs=2, shuffle_buffer_size=3, prefetch_buffer_size=2, num_parallel_reads=2,
    num_rows_for_inference=1 ; uses.elements(it)
# ---- feature columns ----
tf.feature_column.numeric_column('n') ; shape=(2,), default_value=3.0, dtype=tf.float64, normalizer_fn=uses.halve ;
    [uses.layer(it), tf.feature_column.make_parse_example_spec([it])['n'].default_value]
tf.feature_column.bucketized_column(tf.feature_column.numeric_column('n'), [2.0, 5.0]) ; boundaries=[1.0] ;
    uses.layer(it)
tf.feature_column.categorical_column_with_identity('i', 5) ; num_buckets=9, default_value=1 ;
    uses.layer(tf.feature_column.indicator_column(it))
tf.feature_column.categorical_column_with_identity('i', 2) ; default_value=1 ;
    uses.layer(tf.feature_column.indicator_column(it))
tf.feature_column.categorical_column_with_hash_bucket('w', 5) ; hash_bucket_size=3, dtype=tf.string ;
    uses.layer(tf.feature_column.indicator_column(it))
tf.feature_column.categorical_column_with_hash_bucket('i', 5, tf.int64) ; dtype=tf.int32 ;
    uses.layer(tf.feature_column.indicator_column(it))
tf.feature_column.categorical_column_with_vocabulary_list('w', ['a', 'b']) ; dtype=tf.string, default_value=1,
    num_oov_buckets=2 ; uses.layer(tf.feature_column.indicator_column(it))
tf.feature_column.categorical_column_with_vocabulary_file('w', uses.written('f', 'a\\nb\\n')) ; vocabulary_size=1,
    num_oov_buckets=2, default_value=1, dtype=tf.string ; uses.layer(tf.feature_column.indicator_column(it))
tf.feature_column.crossed_column(['w', 'v'], 7) ; hash_bucket_size=3, hash_key=5 ;
    uses.layer(tf.feature_column.indicator_column(it))
tf.feature_column.embedding_column(uses.identity_column(), 2) ; dimension=3, combiner='sum',
    initializer=tf.ones_initializer(), max_norm=0.01, trainable=False, ckpt_to_load_from=uses.checkpoint(),
    tensor_name_in_ckpt='first', use_safe_embedding_lookup=False ; uses.layer(it)
tf.feature_column.weighted_categorical_column(uses.identity_column(), 'n') ; dtype=tf.float64 ;
    uses.layer(tf.feature_column.embedding_column(it, 2))
tf.feature_column.indicator_column(uses.identity_column()) ; ; uses.layer(it)
tf.feature_column.input_layer(uses.features(), [uses.embedding()]) ; weight_collections=['given'], trainable=False,
    cols_to_vars={}, cols_to_output_tensors={}
tf.feature_column.linear_model(uses.features(), [uses.identity_column()]) ; units=2, sparse_combiner='mean',
    weight_collections=['given'], trainable=False, cols_to_vars={}
tf.feature_column.make_parse_example_spec([tf.feature_column.numeric_column('n')]) ; ; sorted(it)
# ---- estimators ----
tf.estimator.RunConfig() ; model_dir='m', tf_random_seed=5, save_summary_steps=7, save_checkpoints_steps=8,
    save_checkpoints_secs=9, session_config=tf.ConfigProto(log_device_placement=True), keep_checkpoint_max=3,
    keep_checkpoint_every_n_hours=2, log_step_count_steps=4, device_fn=uses.on_cpu, protocol='grpc',
    session_creation_timeout_secs=60, train_distribute=None, eval_distribute=None, experimental_distribute=None,
    experimental_max_worker_delay_secs=3, checkpoint_save_graph_def=False ; uses.fields(it)
tf.estimator.Estimator(uses.model) ; model_dir='m', config=tf.estimator.RunConfig(save_summary_steps=1,
    tf_random_seed=3), params={'p': 2.0}, warm_start_from=uses.checkpoint() ; uses.fitted(it)
tf.estimator.EstimatorSpec('train', loss=tf.constant(1.0), train_op=tf.no_op()) ; predictions=X, eval_metric_ops={},
    export_outputs={}, training_chief_hooks=[tf.train.StopAtStepHook(1)], training_hooks=[tf.train.StopAtStepHook(1)],
    scaffold=tf.train.Scaffold(), evaluation_hooks=[tf.train.StopAtStepHook(1)],
    prediction_hooks=[tf.train.StopAtStepHook(1)] ; it._asdict()
tf.estimator.TrainSpec(uses.input_fn) ; max_steps=3, hooks=[tf.train.StopAtStepHook(1)],
    saving_listeners=[uses.listener()] ; uses.spec(it)
tf.estimator.EvalSpec(uses.input_fn) ; steps=3, hooks=[tf.train.StopAtStepHook(1)], start_delay_secs=3,
    throttle_secs=4, exporters=tf.estimator.LatestExporter('x', uses.serving) ; uses.spec(it)
tf.estimator.inputs.numpy_input_fn(arrays.X, shuffle=False) ; y=arrays.LABELS, batch_size=2, num_epochs=2,
    shuffle=True, queue_capacity=5, num_threads=1 ; uses.fed(it(), 1)
tf.estimator.inputs.pandas_input_fn(X, shuffle=False) ; y=X, target_column='a', shuffle=True
tf.contrib.learn.io.numpy_input_fn(arrays.X, shuffle=False) ; y=arrays.LABELS, batch_size=2, num_epochs=2,
    shuffle=True, queue_capacity=5, num_threads=1 ; uses.fed(it(), 1)
tf.estimator.DNNClassifier([2], [tf.feature_column.numeric_column('x')]) ; hidden_units=[3], n_classes=3,
    weight_column='x', label_vocabulary=['a', 'b'], optimizer='SGD', activation_fn=tf.nn.tanh, dropout=0.5,
    input_layer_partitioner=tf.fixed_size_partitioner(1), config=tf.estimator.RunConfig(tf_random_seed=3),
    model_dir='m', loss_reduction='sum_over_batch_size', batch_norm=True ; uses.modeled(it)
tf.estimator.DNNRegressor([2], [tf.feature_column.numeric_column('x')]) ; hidden_units=[3], label_dimension=1,
    weight_column='x', optimizer='SGD', activation_fn=tf.nn.tanh, dropout=0.5,
    config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='m', batch_norm=True ; uses.modeled(it)
tf.estimator.experimental.LinearSDCA('id') ; example_id_column='key', num_loss_partitions=2, num_table_shards=3,
    symmetric_l1_regularization=0.5, symmetric_l2_regularization=2.0, adaptive=True ; [it._example_id_column, it._num_loss_partitions,
    it._num_table_shards, it._symmetric_l1_regularization, it._symmetric_l2_regularization, it._adaptive]
tf.estimator.LinearClassifier([tf.feature_column.numeric_column('x')]) ; n_classes=3, weight_column='x',
    label_vocabulary=['a', 'b'], optimizer='SGD', config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='m',
    partitioner=tf.fixed_size_partitioner(1), loss_reduction='sum_over_batch_size', sparse_combiner='mean' ;
    uses.modeled(it)
tf.estimator.LinearRegressor([tf.feature_column.numeric_column('x')]) ; label_dimension=1, weight_column='x',
    optimizer='SGD', config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='m', sparse_combiner='mean' ;
    uses.modeled(it)
tf.estimator.DNNLinearCombinedClassifier(linear_feature_columns=[tf.feature_column.numeric_column('x')],
    dnn_feature_columns=[tf.feature_column.numeric_column('x')], dnn_hidden_units=[2]) ; dnn_hidden_units=[3],
    n_classes=3, linear_optimizer='SGD', dnn_optimizer='SGD', dnn_activation_fn=tf.nn.tanh, dnn_dropout=0.5,
    weight_column='x', config=tf.estimator.RunConfig(tf_random_seed=3), model_dir='m', batch_norm=True,
    linear_sparse_combiner='mean' ; uses.modeled(it)
tf.estimator.export.build_raw_serving_input_receiver_fn({'x': X}) ; default_batch_size=2 ; uses.received(it)
tf.estimator.export.build_parsing_serving_input_receiver_fn({'x': tf.FixedLenFeature([1], tf.float32)}) ;
    default_batch_size=2 ; uses.received(it)
tf.estimator.export.ServingInputReceiver({'x': X}, {'x': X}) ; receiver_tensors_alternatives={'y': {'z': Y}} ;
    it._asdict()
tf.estimator.export.ClassificationOutput(X) ; classes=WORDS ; [it.scores, it.classes]
# ---- text, flags, logging ----
tf.compat.as_bytes('\\xe9') ; encoding='latin-1'
tf.compat.as_text(b'abc') ; encoding='latin-1'
tf.compat.as_str(b'abc') ; encoding='latin-1'
tf.app.flags.DEFINE_string('walk_string', 'a', 'text') ; default_value=None ; uses.flag('walk_string')
tf.app.flags.DEFINE_integer('walk_integer', 3, 'text') ; lower_bound=1, upper_bound=2 ; uses.flag('walk_integer')
tf.app.flags.DEFINE_float('walk_float', 3.0, 'text') ; lower_bound=1.0, upper_bound=2.0 ; uses.flag('walk_float')
tf.app.flags.DEFINE_bool('walk_bool', True, 'text') ; ; uses.flag('walk_bool')
tf.app.flags.DEFINE_enum('walk_enum', 'a', ['a', 'b'], 'text') ; ; uses.flag('walk_enum')
tf.app.flags.DEFINE_list('walk_list', ['a'], 'text') ; ; uses.flag('walk_list')
tf.app.run(uses.main, ['program']) ; argv=['program', 'given']
tf.make_tensor_proto([1, 2]) ; dtype=tf.float32, shape=[2], verify_shape=True ; it.SerializeToString()
tf.as_dtype('float32') ; ; it.name
tf.nest.assert_same_structure([1], (1,)) ; check_types=False, expand_composites=True
tf.nest.flatten([1, [2]]) ; expand_composites=True
tf.nest.map_structure(uses.double, [1, [2]])
tf.nest.pack_sequence_as([1, [2]], [3, 4]) ; expand_composites=True
tf.train.Feature() ; int64_list=tf.train.Int64List(value=[1]) ; it.SerializeToString()
"""
