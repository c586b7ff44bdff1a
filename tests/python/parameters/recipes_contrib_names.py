"""Recipes of tf.contrib.session_bundle, stat_summarizer, input_pipeline, batching and ndlstm, and of more of layers and factorization."""
RECIPES = """
tf.contrib.feature_column.sequence_input_layer({'i': uses.sparse(dtype=tf.int64)},
    [tf.feature_column.embedding_column(tf.feature_column.sequence_categorical_column_with_identity('i', 5), 2)]) ;
    feature_columns=tf.feature_column.indicator_column(tf.feature_column.sequence_categorical_column_with_identity('i', 5)),
    weight_collections=['given'], trainable=False ; [it[1], len(tf.get_collection('given')), len(tf.trainable_variables())]
tf.contrib.learn.models.linear_regression(X, Y) ; init_mean=0.5, init_stddev=0.0, y=X[:, 0]
tf.contrib.learn.models.linear_regression(X, Y, 0.5) ; init_stddev=0.0
tf.contrib.learn.models.linear_regression_zero_init(X, Y) ; y=X
tf.contrib.learn.models.logistic_regression(X, ONE_HOT) ; class_weight=2.0, init_mean=0.5
tf.contrib.learn.models.logistic_regression(X, ONE_HOT, None, 0.5) ; init_stddev=0.0
tf.contrib.learn.models.logistic_regression_zero_init(X, ONE_HOT) ; x=Y
tf.contrib.learn.datasets.mnist.extract_images(uses.packed(2051, [1, 2, 2])) ; f=uses.packed(2051, [2, 2, 2])
tf.contrib.learn.datasets.mnist.extract_labels(uses.packed(2049, [3])) ; f=uses.packed(2049, [4]), one_hot=True
tf.contrib.learn.datasets.mnist.extract_labels(uses.packed(2049, [3]), True) ; num_classes=4
tf.contrib.distribute.AllReduceCrossDeviceOps() ; num_packs=-1, all_reduce_alg='hierarchical_copy', agg_small_grads_max_bytes=9,
    agg_small_grads_max_group=3 ; [it._num_packs, it._all_reduce_alg, it._agg_small_grads_max_bytes, it._agg_small_grads_max_group]
tf.contrib.learn.datasets.mnist.load_mnist(uses.mnist(5001)) ; train_dir=uses.mnist(5002) ; it.train.images
tf.contrib.distribute.require_replica_context(tf.distribute.get_replica_context()) ; replica_ctx=3 ; ''
tf.contrib.distribute.run_standard_tensorflow_server(uses.of_cluster(None)) ;
    session_config=uses.of_cluster(tf.ConfigProto(device_count={'CPU': 2})) ; uses.cpus(it)
tf.contrib.distribute.get_cross_replica_context() ; ; str(type(it))
tf.contrib.session_bundle.exporter.classification_signature(X) ; classes_tensor=X, scores_tensor=Y ; str(it)
tf.contrib.session_bundle.exporter.regression_signature(X, Y) ; ; str(it)
tf.contrib.session_bundle.exporter.generic_signature({'a': X}) ; ; str(it)
tf.contrib.session_bundle.exporter.Exporter(tf.train.Saver([tf.get_variable('v', [2])])) ; ; uses.written_bundle(it)
tf.contrib.session_bundle.exporter.gfile_copy_callback(uses.some_file(), 'folder')
tf.contrib.session_bundle.gc.Path('/a', 3) ; path='/b', export_version=4
tf.contrib.session_bundle.gc.get_paths(uses.version_folders(), uses.parsed)
tf.contrib.session_bundle.gc.largest_export_versions(2) ; ; it(uses.versions())
tf.contrib.session_bundle.gc.one_of_every_n_export_versions(8) ; ; it(uses.versions())
tf.contrib.session_bundle.gc.mod_export_version(4) ; ; it(uses.versions())
tf.contrib.session_bundle.gc.negation(tf.contrib.session_bundle.gc.mod_export_version(4)) ; ; it(uses.versions())
tf.contrib.session_bundle.gc.union(tf.contrib.session_bundle.gc.mod_export_version(4), lambda paths: paths[:1]) ; ;
    it(uses.versions())
tf.contrib.session_bundle.manifest_pb2.TensorBinding(tensor_name='x') ; ; str(it)
tf.contrib.session_bundle.manifest_pb2.AssetFile(filename='a') ; ; str(it)
tf.contrib.session_bundle.manifest_pb2.ClassificationSignature() ; ; str(it)
tf.contrib.session_bundle.manifest_pb2.RegressionSignature() ; ; str(it)
tf.contrib.session_bundle.manifest_pb2.GenericSignature() ; ; str(it)
tf.contrib.session_bundle.manifest_pb2.Signature() ; ; str(it)
tf.contrib.session_bundle.manifest_pb2.Signatures() ; ; str(it)
tf.contrib.session_bundle.session_bundle.maybe_session_bundle_dir(uses.bundle())
tf.contrib.session_bundle.session_bundle.load_session_bundle_from_path(uses.bundle()) ; target='local',
    config=tf.ConfigProto(device_count={'CPU': 2}), meta_graph_def=uses.other_meta(uses.bundle('other')) ; uses.loaded(it)
tf.contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(uses.bundle()) ; target='local',
    config=tf.ConfigProto(device_count={'CPU': 2}), export_dir=uses.bundle('other') ; uses.loaded(it)
tf.contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(uses.saved_model(), ['serve']) ;
    tags=['train'], target='local', config=tf.ConfigProto(device_count={'CPU': 2}) ; uses.loaded(it)
tf.contrib.stat_summarizer.StatSummarizer() ; graph_def=b'no graph' ; uses.summarized(it)
tf.contrib.stat_summarizer.NewStatSummarizer() ; graph_def=b'no graph' ; uses.summarized(it)
tf.contrib.stat_summarizer.DeleteStatSummarizer(tf.contrib.stat_summarizer.StatSummarizer())
tf.contrib.input_pipeline.obtain_next(['a', 'b'], uses.counter())
tf.contrib.input_pipeline.seek_next(['a', 'b', 'c', 'd']) ; shuffle_seed=3, num_epochs=2
tf.contrib.batching.batch_function(1, 3, 10) ; allowed_batch_sizes=[3], max_enqueued_batches=5 ; it(lambda x: 2 * x)(X)
tf.contrib.batching.batch_function_v1(1, 3, 10) ; allowed_batch_sizes=[3], max_enqueued_batches=5, grad_timeout_micros=5,
    unbatch_timeout_micros=5 ; it(lambda x: 2 * x)(X)
tf.contrib.layers.bow_encoder(M, 3, 2) ; sparse_lookup=False, vocab_size=4, embed_dim=3
tf.contrib.layers.check_feature_columns([uses.number(), uses.ids()])
tf.contrib.layers.transform_features(uses.column_features(), [uses.number(), uses.ids()]) ; ; sorted((k.name, v) for k, v in
    it.items())
tf.contrib.layers.weighted_sum_from_feature_columns(uses.column_features(), [uses.number(), uses.ids()], 1) ;
    weight_collections=['given'], trainable=False, num_outputs=2 ; [it[0], it[2]]
tf.contrib.layers.joint_weighted_sum_from_feature_columns(uses.column_features(), [uses.ids()], 1) ; weight_collections=['given'],
    trainable=False, num_outputs=2 ; [it[0], it[2]]
tf.contrib.layers.sparse_ops.dense_to_sparse_tensor(N) ; ignore_value=5
tf.contrib.layers.sparse_ops.indicators_to_sparse_ids(M) ; ignore_value=1, dtype=tf.int32
tf.contrib.ndlstm.lstm1d.ndlstm_base(SEQUENCE, 2) ; reverse=True, dynamic=False
tf.contrib.ndlstm.lstm1d.ndlstm_base_dynamic(SEQUENCE, 2) ; reverse=True
tf.contrib.ndlstm.lstm1d.ndlstm_base_unrolled(SEQUENCE, 2) ; reverse=True
tf.contrib.ndlstm.lstm1d.sequence_to_final(SEQUENCE, 2) ; reverse=True
tf.contrib.ndlstm.lstm1d.sequence_softmax(SEQUENCE, 2) ; linear_name='given'
tf.contrib.ndlstm.lstm2d.images_to_sequence(IMAGE)
tf.contrib.ndlstm.lstm2d.sequence_to_images(SEQUENCE, 3)
tf.contrib.ndlstm.lstm2d.horizontal_lstm(IMAGE, 2) ; scope='given'
tf.contrib.ndlstm.lstm2d.get_blocks(IMAGE, [2, 3])
tf.contrib.ndlstm.lstm2d.separable_lstm(IMAGE, 2) ; kernel_size=[2, 3], nhidden=4
tf.contrib.ndlstm.lstm2d.reduce_to_sequence(IMAGE, 2)
tf.contrib.ndlstm.lstm2d.reduce_to_final(IMAGE, 2) ; nhidden=3
tf.contrib.ndlstm.misc.pixels_as_vector(IMAGE)
tf.contrib.ndlstm.misc.pool_as_vector(IMAGE)
tf.contrib.ndlstm.misc.one_hot_planes(LABELS, 4)
tf.contrib.ndlstm.misc.one_hot_mask(tf.reshape(M, [1, 3, 4, 1]), 4)
tf.contrib.factorization.WALSModel(3, 3, 2, row_init=arrays.SQUARE[:, :2], col_init=arrays.SQUARE[:, 1:]) ; unobserved_weight=0.5,
    regularization=0.2, row_init='random', col_init=2 * arrays.SQUARE[:, 1:], num_row_shards=2, num_col_shards=2, row_weights=2.0,
    col_weights=[1.0, 2.0, 3.0], use_factors_weights_cache=False, use_gramian_cache=False ; uses.factors(it)
"""
