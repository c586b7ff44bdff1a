"""Recipes of tf.contrib; tf-slim has most layers, and what nobody has any more is compared with itself."""
RECIPES = """
tf.contrib.layers.fully_connected(X, 2) ; normalizer_params={}, weights_regularizer=tf.nn.l2_loss
tf.contrib.layers.conv2d(IMAGE, 2, 3) ; stride=2, padding='VALID', rate=2, normalizer_params={}, data_format='NHWC'
tf.contrib.layers.conv2d_transpose(IMAGE, 2, 3) ; stride=2, padding='VALID', normalizer_params={}
tf.contrib.layers.separable_conv2d(IMAGE, 2, 3) ; depth_multiplier=2, stride=2, padding='VALID', rate=2,
    normalizer_params={}, pointwise_initializer=tf.constant_initializer(0.5)
tf.contrib.layers.max_pool2d(IMAGE, 2) ; stride=1, padding='SAME'
tf.contrib.layers.avg_pool2d(IMAGE, 2) ; stride=1, padding='SAME'
tf.contrib.layers.flatten(IMAGE)
tf.contrib.layers.dropout(X) ; keep_prob=0.9
tf.contrib.layers.softmax(X)
tf.contrib.layers.batch_norm(X) ; decay=0.5, param_initializers={'beta': tf.ones_initializer()}, is_training=False,
    fused=False, param_regularizers={'beta': tf.nn.l2_loss}, updates_collections=None, data_format='NHWC',
    renorm=True, batch_weights=V[:3], zero_debias_moving_mean=True, renorm_clipping={}, renorm_decay=0.5,
    adjustment=uses.adjustment
tf.contrib.layers.one_hot_encoding(LABELS, 4) ; on_value=2.0, off_value=-1.0
tf.contrib.layers.linear(X, 2) ; scope='given', normalizer_params={}
tf.contrib.layers.relu(X, 2) ; scope='given', normalizer_params={}
tf.contrib.layers.relu6(X, 2) ; scope='given', normalizer_params={}
tf.contrib.layers.l1_regularizer(0.5) ; ; it(X)
tf.contrib.layers.l2_regularizer(0.5) ; ; it(X)
tf.contrib.layers.l1_l2_regularizer() ; scale_l1=0.5, scale_l2=0.25 ; it(X)
tf.contrib.layers.sum_regularizer([tf.contrib.layers.l2_regularizer(0.5)]) ; ; it(X)
tf.contrib.layers.apply_regularization(tf.contrib.layers.l2_regularizer(0.5), [X]) ; weights_list=[Y]
tf.contrib.layers.xavier_initializer() ; uniform=False ; it([2, 3])
tf.contrib.layers.variance_scaling_initializer() ; factor=1.0, mode='FAN_OUT', uniform=True ; it([2, 3])
tf.contrib.layers.optimize_loss(uses.loss(), tf.train.get_or_create_global_step(), 0.1, 'SGD') ; clip_gradients=0.5,
    variables=uses.two_variables()[:1], learning_rate=0.2, gradient_noise_scale=0.5, gradient_multipliers={'variable':
    2.0}, moving_average_decay=0.5, learning_rate_decay_fn=uses.slower, update_ops=[tf.no_op()], summaries=[],
    colocate_gradients_with_ops=True, increment_global_step=False ; uses.after(it, tf.trainable_variables(), 1)
tf.contrib.layers.real_valued_column('n') ; dimension=2, default_value=3.0, dtype=tf.float64, normalizer=uses.halve ;
    [uses.layer(it), str(tf.feature_column.make_parse_example_spec([it]))]
tf.contrib.layers.bucketized_column(tf.contrib.layers.real_valued_column('n'), [2.0, 5.0]) ; boundaries=[1.0] ;
    uses.layer(it)
tf.contrib.layers.sparse_column_with_hash_bucket('w', 5) ; combiner='mean', dtype=tf.int64, hash_keys=[1, 2] ;
    uses.weighted(it)
tf.contrib.layers.sparse_column_with_keys('w', ['a', 'b']) ; default_value=1, combiner='mean', dtype=tf.int64 ;
    uses.weighted(it)
tf.contrib.layers.sparse_column_with_integerized_feature('i', 5) ; combiner='mean', dtype=tf.int32 ; uses.weighted(it)
tf.contrib.layers.crossed_column([tf.contrib.layers.sparse_column_with_hash_bucket('w', 5),
    tf.contrib.layers.sparse_column_with_hash_bucket('v', 5)], 7) ; combiner='mean', hash_key=3,
    ckpt_to_load_from='c', tensor_name_in_ckpt='t' ; uses.weighted(it)
tf.contrib.layers.embedding_column(tf.contrib.layers.sparse_column_with_integerized_feature('i', 5), 2) ;
    combiner='sum', initializer=tf.ones_initializer(), ckpt_to_load_from='c', tensor_name_in_ckpt='t', max_norm=0.01 ;
    uses.layer(it)
tf.contrib.layers.one_hot_column(tf.contrib.layers.sparse_column_with_integerized_feature('i', 5)) ; ; uses.layer(it)
tf.contrib.metrics.accuracy(LABELS, IDS) ; weights=[2.0, 1.0, 0.5]
tf.contrib.metrics.streaming_accuracy(LABELS, IDS) ; weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.contrib.metrics.streaming_auc(P, ZERO_ONE) ; num_thresholds=5, curve='PR', weights=tf.ones_like(X) * ROWS ;
    uses.measured(it)
tf.contrib.metrics.streaming_mean(X) ; ; uses.measured(it)
tf.contrib.metrics.streaming_mean_absolute_error(P, ZERO_ONE) ; ; uses.measured(it)
tf.contrib.metrics.streaming_mean_squared_error(P, ZERO_ONE) ; ; uses.measured(it)
tf.contrib.metrics.streaming_root_mean_squared_error(P, ZERO_ONE) ; ; uses.measured(it)
tf.contrib.metrics.streaming_precision(X > 1, ZERO_ONE) ; ; uses.measured(it)
tf.contrib.metrics.streaming_recall(X > 1, ZERO_ONE) ; ; uses.measured(it)
tf.contrib.losses.absolute_difference(P, ZERO_ONE)
tf.contrib.losses.add_loss(tf.constant(1.0)) ; loss_collection='given' ; tf.get_collection('given') + tf.get_collection('losses')
tf.contrib.losses.compute_weighted_loss(X)
tf.contrib.losses.get_losses(None if uses.no_regularization() else 1) ; scope='nothing', loss_collection='given'
tf.contrib.losses.get_regularization_losses(None if uses.no_regularization() else 1) ; scope='nothing'
tf.contrib.losses.get_total_loss(uses.no_regularization()) ; name='given'
tf.contrib.losses.cosine_distance(P, ZERO_ONE, 1) ; axis=0, weights=[[2.0], [1.0], [0.5]]
tf.contrib.losses.cosine_distance(P, ZERO_ONE, dim=1) ; weights=[[2.0], [1.0], [0.5]]
tf.contrib.losses.hinge_loss(Y, ZERO_ONE)
tf.contrib.losses.log_loss(P, ZERO_ONE)
tf.contrib.losses.mean_pairwise_squared_error(P, ZERO_ONE) ; weights=[[2.0], [1.0], [0.5]]
tf.contrib.losses.mean_squared_error(P, ZERO_ONE)
tf.contrib.losses.sigmoid_cross_entropy(Y, ZERO_ONE) ; label_smoothing=0.25
tf.contrib.losses.softmax_cross_entropy(Y, ONE_HOT) ; label_smoothing=0.25, weights=[2.0, 1.0, 0.5]
tf.contrib.losses.sparse_softmax_cross_entropy(Y, LABELS) ; weights=[2.0, 1.0, 0.5]
tf.contrib.framework.get_variables() ; scope='first', suffix='second', collection='local_variables'
tf.contrib.framework.get_model_variables() ; scope='first', suffix='second'
tf.contrib.framework.get_trainable_variables() ; scope='first', suffix='second'
tf.contrib.framework.get_variables_to_restore() ; include=['first'], exclude=['first']
tf.contrib.framework.model_variable('v', [2, 2]) ; custom_getter=uses.slim_getter
tf.contrib.framework.variable('v', [2, 2]) ; custom_getter=uses.slim_getter
tf.contrib.framework.local_variable([1.0, 2.0]) ; validate_shape=False
tf.contrib.slim.repeat(X, 2, tf.contrib.layers.fully_connected, 3) ; scope='given'
tf.contrib.slim.stack(X, tf.contrib.layers.fully_connected, [3, 2]) ; scope='given'
tf.contrib.slim.learning.create_train_op(uses.loss(), tf.train.GradientDescentOptimizer(0.1)) ; global_step=None,
    update_ops=[tf.no_op()], variables_to_train=tf.trainable_variables(), clip_gradient_norm=1,
    summarize_gradients=True, gate_gradients=0, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE,
    colocate_gradients_with_ops=True, gradient_multipliers={'variable': 2.0}, check_numerics=False,
    transform_grads_fn=uses.same ; uses.after(it, tf.global_variables())
tf.contrib.slim.learning.clip_gradient_norms([(X, uses.variable())], 0.5) ; ; it[0][0]
tf.contrib.slim.prefetch_queue.prefetch_queue([X]) ; capacity=3, num_threads=2, dynamic_pad=True, shared_name='given'
    ; uses.fed(it.dequeue(), 1)
tf.contrib.slim.VariableDeviceChooser() ; num_tasks=2, job_name='worker', device_type='GPU', device_index=1, replica=3
    ; uses.placed(it)
tf.contrib.legacy_seq2seq.sequence_loss([X, Y], [LABELS, LABELS], [W[:3], W[:3]]) ; average_across_timesteps=False,
    average_across_batch=False, softmax_loss_function=uses.softmax_loss
tf.contrib.legacy_seq2seq.sequence_loss_by_example([X, Y], [LABELS, LABELS], [W[:3], W[:3]]) ;
    average_across_timesteps=False, softmax_loss_function=uses.softmax_loss
tf.contrib.legacy_seq2seq.rnn_decoder([X, Y], tf.ones([3, 3]), uses.cell()) ; loop_function=uses.loop_back
tf.contrib.legacy_seq2seq.basic_rnn_seq2seq([X, Y], [X, Y], uses.cell()) ; dtype=tf.float32
tf.contrib.legacy_seq2seq.basic_rnn_seq2seq([COMPLEX, COMPLEX], [COMPLEX, COMPLEX], uses.passing_cell(), tf.float32)
    ; dtype=tf.complex64 ; [t.dtype for t in it[0]]
tf.contrib.lookup.index_table_from_tensor(['a', 'b']) ; num_oov_buckets=2, default_value=5,
    hasher_spec=tf.contrib.lookup.StrongHashSpec([1, 2]), dtype=tf.string, mapping=['b', 'a'] ; uses.looked_up(it,
    ['b', 'z'])
tf.contrib.lookup.index_table_from_file(uses.written('f', 'a\\nb\\n')) ; num_oov_buckets=2, vocab_size=1,
    default_value=5, key_column_index=-2, value_column_index=-1 ; uses.looked_up(it, ['b', 'z'])
tf.contrib.lookup.index_table_from_file(uses.written('f', '7\\t1\\n8\\t0\\n'), 2, key_column_index=0,
    value_column_index=1) ; hasher_spec=tf.contrib.lookup.StrongHashSpec([1, 2]), key_column_index=1,
    value_column_index=-1 ; uses.looked_up(it, ['7', '0', 'z'])
tf.contrib.lookup.index_table_from_file(uses.written('f', '7 1\\t3\\n8 0\\t4\\n'), key_column_index=0, value_column_index=1)
    ; key_column_index=0, value_column_index=1, delimiter=' 1', vocab_size=1 ; it.init.name
tf.contrib.lookup.index_table_from_file(uses.written('f', '7\\n8\\n')) ; key_dtype=tf.int64, key_column_index=-2 ;
    it.key_dtype
tf.contrib.lookup.index_to_string_table_from_tensor(['a', 'b']) ; default_value='none', mapping=['b', 'a'] ;
    uses.looked_up(it, np.array([1, 5]))
tf.contrib.lookup.index_to_string_table_from_file(uses.written('f', 'a\\nb\\n')) ; default_value='none', vocab_size=1
    , key_column_index=-1, value_column_index=-2 ; uses.looked_up(it, np.array([1, 5]))
tf.contrib.lookup.index_to_string_table_from_file(uses.written('f', '7\\t1\\n8\\t0\\n'), key_column_index=0,
    value_column_index=1) ; key_column_index=1, value_column_index=0 ; uses.looked_up(it, np.array([0, 7]))
tf.contrib.lookup.index_to_string_table_from_file(uses.written('f', '7\\n8\\n')) ; key_column_index=-1,
    value_column_index=-2, delimiter=',' ; it.init.name
tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1) ; default_value=7, experimental_is_anonymous=True ; uses.looked_up(it, ['a'])
tf.contrib.lookup.index_to_string(tf.constant([1, 5], tf.int64), ['a', 'b']) ; default_value='none'
tf.contrib.lookup.string_to_index(['b', 'z'], ['a', 'b']) ; default_value=7
tf.contrib.training.HParams() ; a=1, hparam_def=3, model_structure='m' ; [it.values(), it.get_model_structure()]
tf.contrib.training.GreedyLoadBalancingStrategy(2, tf.contrib.training.byte_size_load_fn) ; ; it(uses.variable().op)
tf.contrib.learn.datasets.mnist.read_data_sets('d', fake_data=True) ; one_hot=True ; it.train.next_batch(2,
    fake_data=True)[1]
tf.contrib.learn.datasets.mnist.read_data_sets(uses.mnist(), validation_size=1) ; fake_data=True, one_hot=True,
    dtype=tf.uint8, reshape=False, validation_size=2 ; [it.train.images, it.train.labels, it.validation.images]
tf.contrib.learn.datasets.mnist.read_data_sets(uses.mnist(), validation_size=1, seed=uses.no_graph_seed()) ; seed=3 ;
    it.train.next_batch(3)
tf.contrib.learn.RunConfig() ; master='m', tf_random_seed=3, save_summary_steps=5, save_checkpoints_secs=7,
    save_checkpoints_steps=7, keep_checkpoint_max=3, num_cores=2, log_device_placement=True,
    gpu_memory_fraction=0.5, keep_checkpoint_every_n_hours=5, log_step_count_steps=6, model_dir='m',
    session_config=tf.ConfigProto(), evaluation_master='e' ; [uses.fields(it), uses.attributes(it)]
"""
