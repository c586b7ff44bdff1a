"""Recipes of layers, losses, metrics, cells and the functions of tf.nn; values.py has the names in them."""
RECIPES = """
# ---- tf.nn ----
tf.nn.conv2d(IMAGE, FILTER, [1, 1, 1, 1], 'SAME') ; padding='VALID', strides=[1, 2, 2, 1], dilations=[1, 2, 2, 1]
tf.nn.conv2d_transpose(IMAGE, tf.transpose(FILTER, [0, 1, 3, 2]), [2, 12, 12, 2], [1, 2, 2, 1]) ; padding='VALID'
tf.nn.conv2d_transpose(IMAGE, tf.transpose(FILTER, [0, 1, 3, 2]), [2, 6, 6, 2], [1, 1, 1, 1]) ; dilations=[1, 2, 2, 1]
tf.nn.conv1d(SEQUENCE, tf.ones([2, 4, 3]), 1, 'SAME') ; stride=2, padding='VALID', dilations=2, data_format='NCW'
tf.nn.depthwise_conv2d(IMAGE, FILTER, [1, 1, 1, 1], 'SAME') ; rate=[2, 2], padding='VALID', dilations=[2, 2],
    data_format='NHWC', strides=[1, 2, 2, 1]
tf.nn.depthwise_conv2d_native(IMAGE, FILTER, [1, 1, 1, 1], 'SAME') ; padding='VALID', dilations=[1, 2, 2, 1],
    strides=[1, 2, 2, 1]
tf.nn.separable_conv2d(IMAGE, FILTER, tf.ones([1, 1, 6, 2]), [1, 1, 1, 1], 'SAME') ; padding='VALID', rate=[2, 2],
    dilations=[2, 2], data_format='NHWC', strides=[1, 2, 2, 1]
tf.nn.atrous_conv2d(IMAGE, FILTER, 2, 'SAME') ; padding='VALID', rate=1
tf.nn.convolution(IMAGE, FILTER, 'SAME') ; strides=[2, 2], dilation_rate=[2, 2], padding='VALID'
tf.nn.max_pool(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME') ; padding='VALID', ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1]
tf.nn.avg_pool(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME') ; padding='VALID', ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1]
tf.nn.max_pool_with_argmax(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME') ; padding='VALID', include_batch_in_index=True,
    Targmax=tf.int32, output_dtype=tf.int32
tf.nn.bias_add(X, W)
tf.nn.bias_add(tf.reshape(X, [1, 4, 3, 1]), W) ; data_format='NCHW'
tf.nn.batch_normalization(X, 0.5, 2.0, 0.1, 3.0, 0.001)
tf.nn.batch_norm_with_global_normalization(None, None, None, V[:3], W[:3], 0.001, True, None, IMAGE, V[:3], W[:3]) ;
    t=IMAGE, m=V[:3], v=W[:3]
tf.nn.batch_norm_with_global_normalization(IMAGE, V[:3], W[:3], V[:3], W[:3], 0.001, True) ;
    input=IMAGE, mean=V[:3], variance=W[:3], scale_after_normalization=False
tf.nn.fused_batch_norm(IMAGE, W[:3], V[:3]) ; epsilon=0.1, mean=V[:3], variance=W[:3], exponential_avg_factor=0.5
tf.nn.fused_batch_norm(IMAGE, W[:3], V[:3], V[:3], W[:3], is_training=False) ; epsilon=0.1 ; it[0]
tf.nn.dropout(X, 0.5) ; keep_prob=0.9, noise_shape=[3, 1], rate=0.1
tf.nn.dropout(X, rate=0.5) ; noise_shape=[3, 1], rate=0.1
tf.nn.lrn(IMAGE) ; depth_radius=1, bias=2.0, alpha=0.5, beta=0.75
tf.nn.leaky_relu(Y)
tf.nn.crelu(Y) ; axis=0
tf.nn.embedding_lookup(X, IDS) ; max_norm=0.5
tf.nn.embedding_lookup([X, Y], [0, 3, 5, 1]) ; partition_strategy='div', max_norm=0.5, validate_indices=False
tf.nn.embedding_lookup_sparse(X, uses.sparse(dtype=tf.int64), None) ; combiner='sum', max_norm=0.5
tf.nn.embedding_lookup_sparse([X, Y], uses.sparse(dtype=tf.int64), uses.sparse()) ; partition_strategy='div',
    combiner='sqrtn', max_norm=0.5, sp_weights=None
tf.nn.safe_embedding_lookup_sparse([X, Y], uses.sparse(dtype=tf.int64)) ; sparse_weights=uses.sparse(),
    combiner='sum', default_id=1, partition_strategy='mod'
tf.nn.in_top_k(X, LABELS, 2)
tf.nn.log_poisson_loss(X, Y)
tf.nn.nce_loss(tf.concat([X, Y], 0), tf.zeros([6]), tf.constant([[1], [3], [0]]), X, 2, 6) ; num_true=1,
    sampled_values=uses.sampled(), remove_accidental_hits=True, partition_strategy='div'
tf.nn.sampled_softmax_loss(tf.concat([X, Y], 0), tf.zeros([6]), tf.constant([[1], [3], [0]]), X, 2, 6) ;
    sampled_values=uses.sampled(), remove_accidental_hits=False, partition_strategy='div', num_true=1
tf.nn.sigmoid_cross_entropy_with_logits(labels=ZERO_ONE, logits=Y) ; name='given'
tf.nn.softmax_cross_entropy_with_logits(labels=ONE_HOT, logits=Y) ; dim=0, axis=0, name='given'
tf.nn.softmax_cross_entropy_with_logits_v2(labels=ONE_HOT, logits=Y) ; dim=0, axis=0, name='given'
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS, logits=Y) ; name='given'
tf.nn.weighted_cross_entropy_with_logits(ZERO_ONE, Y, 2.0) ; pos_weight=3.0
tf.nn.relu_layer(X, tf.transpose(Y), V[:3])
tf.nn.xw_plus_b(X, tf.transpose(Y), V[:3])
tf.nn.ctc_loss(uses.ctc_labels(), uses.logits_in_time(), [4, 4]) ; preprocess_collapse_repeated=True,
    ctc_merge_repeated=False
tf.nn.ctc_loss(uses.ctc_labels(), tf.transpose(uses.logits_in_time(), [1, 0, 2]), [4, 4], time_major=False)
tf.nn.ctc_loss(uses.ctc_labels(), uses.logits_in_time(), [1, 4]) ; ignore_longer_outputs_than_inputs=True
tf.nn.ctc_greedy_decoder(uses.logits_in_time(), [4, 3]) ; merge_repeated=False, blank_index=0
tf.nn.ctc_beam_search_decoder(uses.logits_in_time(), [4, 3]) ; beam_width=2, top_paths=2, merge_repeated=False
tf.nn.erosion2d(IMAGE, FILTER[:, :, :, 0], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.nn.pool(IMAGE, [2, 2], 'MAX', 'VALID') ; strides=[2, 2], dilation_rate=[2, 2], padding='SAME', pooling_type='AVG'
# ---- recurrent networks ----
tf.nn.dynamic_rnn(uses.cell(), SEQUENCE, dtype=tf.float32) ; sequence_length=[1, 3], initial_state=tf.ones([2, 3]),
    time_major=True
tf.nn.bidirectional_dynamic_rnn(uses.cell(), uses.cell(), SEQUENCE, dtype=tf.float32) ; sequence_length=[1, 3],
    initial_state_fw=tf.ones([2, 3]), initial_state_bw=tf.ones([2, 3]), time_major=True
tf.nn.static_rnn(uses.cell(), [X, Y], dtype=tf.float32) ; sequence_length=[1, 2, 0], initial_state=tf.ones([3, 3])
tf.nn.static_bidirectional_rnn(uses.cell(), uses.cell(), [X, Y], dtype=tf.float32) ; sequence_length=[1, 2, 0],
    initial_state_fw=tf.ones([3, 3]), initial_state_bw=tf.ones([3, 3])
tf.nn.raw_rnn(uses.cell(), uses.rnn_loop) ; ; it[1]
tf.nn.rnn_cell.BasicRNNCell(3) ; activation=tf.nn.relu ; it(X, tf.ones([3, 3]))
tf.nn.rnn_cell.BasicLSTMCell(3) ; activation=tf.nn.relu, forget_bias=0.0 ; uses.stepped(it)
tf.nn.rnn_cell.GRUCell(3) ; activation=tf.nn.relu ; it(X, tf.ones([3, 3]))
tf.nn.rnn_cell.LSTMCell(3) ; activation=tf.nn.relu, forget_bias=0.0, use_peepholes=True, cell_clip=0.05, num_proj=2,
    proj_clip=0.01, num_unit_shards=2, num_proj_shards=2 ; uses.stepped(it)
tf.nn.rnn_cell.LSTMCell(3, num_proj=2) ; proj_clip=0.01, num_proj_shards=2, num_unit_shards=2 ; uses.stepped(it)
tf.nn.rnn_cell.MultiRNNCell([uses.cell(), uses.cell()]) ; state_is_tuple=False ; uses.stepped(it)
tf.nn.rnn_cell.DropoutWrapper(uses.cell()) ; input_keep_prob=0.5, output_keep_prob=0.5, state_keep_prob=0.5,
    variational_recurrent=True, input_size=4, dropout_state_filter_visitor=uses.visit ; uses.stepped(it)
tf.nn.rnn_cell.DropoutWrapper(uses.cell(), 0.5, 0.5, 0.5) ; seed=7 ; uses.stepped(it)
tf.nn.rnn_cell.DropoutWrapper(uses.cell(), 0.5, 0.5, 0.5, True, 4, tf.float32) ; seed=7 ; uses.stepped(it)
tf.nn.rnn_cell.ResidualWrapper(uses.cell(4)) ; residual_fn=uses.residual ; uses.stepped(it)
tf.nn.rnn_cell.DeviceWrapper(uses.cell(), '/cpu:0') ; ; uses.stepped(it)
# ---- tf.layers ----
tf.layers.dense(X, 2) ; activity_regularizer=tf.nn.l2_loss
tf.layers.dense(X, 2) ; kernel_constraint=uses.halve, bias_constraint=uses.halve, trainable=False ; uses.descended(it)
tf.layers.conv2d(IMAGE, 2, 3) ; strides=2, padding='same', data_format='channels_first', dilation_rate=2
tf.layers.conv2d(IMAGE, 2, 3) ; kernel_constraint=uses.halve, bias_constraint=uses.halve ; uses.descended(it)
tf.layers.conv2d_transpose(IMAGE, 2, 3) ; strides=2, padding='same', data_format='channels_first'
tf.layers.conv2d_transpose(IMAGE, 2, 3) ; kernel_constraint=uses.halve, bias_constraint=uses.halve ; uses.descended(it)
tf.layers.separable_conv2d(IMAGE, 2, 3) ; strides=2, padding='same', dilation_rate=2, depth_multiplier=2,
    depthwise_initializer=tf.constant_initializer(0.5), pointwise_initializer=tf.constant_initializer(0.5),
    depthwise_regularizer=tf.nn.l2_loss, pointwise_regularizer=tf.nn.l2_loss
tf.layers.separable_conv2d(IMAGE, 2, 3) ; depthwise_constraint=uses.halve, pointwise_constraint=uses.halve,
    bias_constraint=uses.halve ; uses.descended(it)
tf.layers.conv1d(SEQUENCE, 2, 2) ; strides=2, padding='same', dilation_rate=2
tf.layers.max_pooling2d(IMAGE, 2, 2) ; padding='same', data_format='channels_first'
tf.layers.average_pooling2d(IMAGE, 2, 2) ; padding='same', data_format='channels_first'
tf.layers.dropout(X, training=True) ; rate=0.9, noise_shape=[3, 1], training=False
tf.layers.flatten(IMAGE) ; data_format='channels_first'
tf.layers.batch_normalization(X) ; training=True, moving_mean_initializer=tf.constant_initializer(0.5),
    moving_variance_initializer=tf.constant_initializer(0.5), axis=[1], renorm=True, renorm_clipping={'rmax': 2.0},
    renorm_momentum=0.5, fused=False, virtual_batch_size=1, adjustment=uses.adjustment
tf.layers.batch_normalization(X, training=True) ; momentum=0.5, epsilon=0.1, axis=0 ; uses.updated(it)
tf.layers.batch_normalization(X) ; beta_constraint=uses.halve, gamma_constraint=uses.halve ; uses.descended(it)
tf.layers.Dense(2) ; activity_regularizer=tf.nn.l2_loss ; it(X)
tf.keras.layers.Dense(2, kernel_initializer='ones') ; kernel_initializer='zeros', bias_initializer='ones',
    activation='relu' ; it(X)
tf.keras.layers.Conv2D(2, 3, kernel_initializer='ones') ; strides=2, padding='same', dilation_rate=2,
    activation='relu', kernel_initializer='zeros', bias_initializer='ones', data_format='channels_last' ; it(IMAGE)
tf.keras.layers.MaxPool2D() ; pool_size=3, strides=1, padding='same', data_format='channels_last' ; it(IMAGE)
tf.keras.layers.AvgPool2D() ; pool_size=3, strides=1, padding='same', data_format='channels_last' ; it(IMAGE)
tf.keras.layers.Activation('relu') ; activation='tanh' ; it(X)
tf.keras.layers.Flatten() ; ; it(IMAGE)
tf.keras.layers.Dropout(0.5) ; rate=0.1 ; it(X, training=True)
tf.keras.utils.to_categorical([1, 2, 0]) ; num_classes=5, dtype='int32'
tf.keras.backend.categorical_crossentropy(ONE_HOT, P) ; from_logits=True, axis=0
# ---- initializers ----
tf.constant_initializer(0.5) ; value=[1.0, 2, 3, 4], dtype=tf.float64 ; it([2, 2])
tf.constant_initializer([1.0, 2, 3]) ; verify_shape=True ; it([3])
tf.zeros_initializer() ; ; it([2, 2])
tf.ones_initializer() ; ; it([2, 2])
tf.random_uniform_initializer() ; minval=-2.0, maxval=2.0 ; it([2, 2])
tf.random_normal_initializer() ; mean=1.0, stddev=2.0 ; it([2, 2])
tf.truncated_normal_initializer() ; mean=1.0, stddev=2.0 ; it([2, 2])
tf.orthogonal_initializer() ; gain=2.0 ; it([2, 3])
tf.glorot_uniform_initializer() ; ; it([2, 3])
tf.glorot_normal_initializer() ; ; it([2, 3])
tf.variance_scaling_initializer() ; scale=3.0, mode='fan_out', distribution='uniform' ; it([2, 3])
tf.uniform_unit_scaling_initializer() ; factor=3.0 ; it([2, 3])
tf.initializers.he_normal() ; ; it([2, 3])
tf.initializers.he_uniform() ; ; it([2, 3])
tf.initializers.lecun_normal() ; ; it([2, 3])
tf.initializers.lecun_uniform() ; ; it([2, 3])
tf.initializers.identity() ; gain=2.0 ; it([3, 3])
tf.fixed_size_partitioner(2) ; axis=1 ; uses.partitioned(it)
tf.variable_axis_size_partitioner(40) ; axis=1, max_shards=2, bytes_per_string_element=8 ; uses.partitioned(it)
tf.min_max_variable_partitioner(2, min_slice_size=16) ; max_partitions=3, axis=1, min_slice_size=64 ;
    uses.partitioned(it)
# ---- losses ----
tf.losses.absolute_difference(ZERO_ONE, P)
tf.losses.compute_weighted_loss(X)
tf.losses.cosine_distance(ZERO_ONE, P, 1) ; axis=0
tf.losses.cosine_distance(ZERO_ONE, P, dim=1) ; weights=[[2.0], [1.0], [0.5]]
tf.losses.huber_loss(ZERO_ONE, Y) ; delta=0.25
tf.losses.sigmoid_cross_entropy(ZERO_ONE, Y) ; label_smoothing=0.25
tf.losses.softmax_cross_entropy(ONE_HOT, Y) ; label_smoothing=0.25, weights=[2.0, 1.0, 0.5]
tf.losses.sparse_softmax_cross_entropy(LABELS, Y) ; weights=[2.0, 1.0, 0.5]
tf.losses.mean_pairwise_squared_error(ZERO_ONE, P) ; weights=[[2.0], [1.0], [0.5]]
tf.losses.add_loss(tf.constant(1.0))
tf.losses.get_losses() ; scope='nothing', loss_collection='given'
tf.losses.get_total_loss(uses.no_regularization()) ; add_regularization_losses=False, name='given', scope='loss'
tf.losses.get_regularization_loss() ; scope='nothing'
tf.losses.get_regularization_losses() ; scope='nothing'
# ---- metrics ----
tf.metrics.mean_tensor(X) ; ; uses.measured(it)
tf.image.sample_distorted_bounding_box([6, 4, 3], [[[0.1, 0.2, 0.8, 0.9]]], seed=3) ; seed2=9, min_object_covered=0.5
tf.metrics.accuracy(LABELS, IDS) ; weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.metrics.auc(ZERO_ONE, P) ; weights=tf.ones_like(X) * ROWS, num_thresholds=5, curve='PR',
    summation_method='minoring', thresholds=[0.1, 0.3, 0.6] ; uses.measured(it)
tf.metrics.false_negatives(ZERO_ONE, BOOL) ; ; uses.measured(it)
tf.metrics.false_positives(ZERO_ONE, BOOL) ; ; uses.measured(it)
tf.metrics.true_negatives(ZERO_ONE, BOOL) ; ; uses.measured(it)
tf.metrics.true_positives(ZERO_ONE, BOOL) ; ; uses.measured(it)
tf.metrics.mean(X) ; ; uses.measured(it)
tf.metrics.mean_absolute_error(ZERO_ONE, P) ; ; uses.measured(it)
tf.metrics.mean_squared_error(ZERO_ONE, P) ; ; uses.measured(it)
tf.metrics.root_mean_squared_error(ZERO_ONE, P) ; ; uses.measured(it)
tf.metrics.precision(ZERO_ONE, X > 1) ; ; uses.measured(it)
tf.metrics.recall(ZERO_ONE, X > 1) ; ; uses.measured(it)
tf.metrics.mean_per_class_accuracy(LABELS, IDS, 4) ; weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.metrics.mean_iou(LABELS, IDS, 4) ; weights=[2.0, 1.0, 0.5] ; uses.measured(it)
tf.metrics.recall_at_k(tf.cast([[1], [3], [0]], tf.int64), X, 2) ; class_id=1, weights=[2.0, 1.0, 0.5] ;
    uses.measured(it)
"""
