"""Recipes of more of tf.contrib.layers and tf.contrib.legacy_seq2seq; tf-slim has most layers."""
RECIPES = """
tf.contrib.layers.layer_norm(IMAGE) ; begin_norm_axis=2, begin_params_axis=-2, activation_fn=tf.nn.sigmoid
tf.contrib.layers.instance_norm(IMAGE) ; epsilon=0.5, param_initializers={'beta': tf.ones_initializer()}, data_format='NCHW'
tf.contrib.layers.group_norm(IMAGE, 3) ; epsilon=0.5, param_initializers={'beta': tf.ones_initializer()}, groups=1,
    channels_axis=1, reduction_axes=[1], mean_close_to_zero=True
tf.contrib.layers.unit_norm(X, 1) ; epsilon=0.5
tf.contrib.layers.poincare_normalize(X) ; axis=0, epsilon=0.5
tf.contrib.layers.bias_add(IMAGE) ; initializer=tf.ones_initializer(), data_format='NCHW'
tf.contrib.layers.conv1d(SEQUENCE, 2, 2) ; stride=2, padding='VALID', rate=2, normalizer_params={}, data_format='NCW'
tf.contrib.layers.conv3d(tf.expand_dims(IMAGE, -1), 2, 2) ; stride=2, padding='VALID', rate=2, normalizer_params={},
    data_format='NDHWC'
tf.contrib.layers.convolution(IMAGE, 2, 3) ; stride=2, padding='VALID', rate=2, normalizer_params={}, data_format='NHWC',
    conv_dims=3
tf.contrib.layers.convolution(SEQUENCE, 2, 3) ; padding='VALID', normalizer_params={}, data_format='NCW', conv_dims=2
tf.contrib.layers.conv3d_transpose(tf.expand_dims(IMAGE, -1), 2, 2) ; stride=2, padding='VALID', normalizer_params={},
    data_format='NDHWC'
tf.contrib.layers.conv2d_in_plane(IMAGE, 3) ; stride=2, padding='VALID', normalizer_params={}
tf.contrib.layers.max_pool3d(tf.expand_dims(IMAGE, -1), 2) ; stride=1, padding='SAME', data_format='NCDHW'
tf.contrib.layers.avg_pool3d(tf.expand_dims(IMAGE, -1), 2) ; stride=1, padding='SAME', data_format='NCDHW'
tf.contrib.layers.pool(IMAGE, 2, 'AVG') ; stride=2, padding='SAME', dilation_rate=2, data_format='NHWC'
tf.contrib.layers.spatial_softmax(IMAGE) ; temperature=0.5, data_format='NCHW'
tf.contrib.layers.maxout(X, 2) ; axis=0, num_units=1
tf.contrib.layers.elu(X, 2) ; scope='given', normalizer_params={}
tf.contrib.layers.dense_to_sparse(N) ; eos_token=5
tf.contrib.layers.images_to_sequence(IMAGE) ; data_format='NCHW'
tf.contrib.layers.sequence_to_images(SEQUENCE, 3) ; output_data_format='channels_first'
tf.contrib.layers.scale_gradient(X, 0.5) ; gradient_multiplier=2.0 ; tf.gradients(it, X)
tf.contrib.layers.legacy_fully_connected(X, 2) ; activation_fn=tf.nn.sigmoid, weight_init=tf.constant_initializer(0.5),
    bias_init=tf.ones_initializer(), weight_collections=['given'], bias_collections=['given'], output_collections=['given'],
    weight_regularizer=tf.nn.l2_loss, bias_regularizer=tf.nn.l2_loss
tf.contrib.layers.legacy_linear(X, 2) ; name='given'
tf.contrib.layers.legacy_relu(X, 2) ; name='given'
tf.contrib.layers.repeat(X, 2, tf.contrib.layers.fully_connected, 3) ; scope='given'
tf.contrib.layers.stack(X, tf.contrib.layers.fully_connected, [3, 2]) ; scope='given'
tf.contrib.layers.summarize_tensor(X) ; tag='given'
tf.contrib.layers.summarize_activation(tf.nn.relu6(Y))
tf.contrib.layers.summarize_tensors([X, Y]) ; summarizer=tf.contrib.layers.summarize_activation
tf.contrib.layers.summarize_collection('trainable_variables') ; name_filter='a', summarizer=tf.identity,
    collection=uses.variable().name.replace(':0', '')
tf.contrib.layers.summarize_variables() ; name_filter=uses.filter_of(), summarizer=uses.identity_of()
tf.contrib.layers.summarize_weights() ; name_filter=uses.filter_of('weights'), summarizer=uses.identity_of('weights')
tf.contrib.layers.summarize_biases() ; name_filter=uses.filter_of('biases'), summarizer=uses.identity_of('biases')
tf.contrib.layers.summarize_activations() ; name_filter=uses.filter_of('activations'),
    summarizer=uses.identity_of('activations')
tf.contrib.layers.embed_sequence(LABELS, 4, 2) ; unique=True, vocab_size=5, embed_dim=3
tf.contrib.layers.embedding_lookup_unique([X, Y], IDS) ; partition_strategy='div'
tf.contrib.layers.safe_embedding_lookup_sparse([X, Y], uses.sparse(6, tf.int64)) ; sparse_weights=uses.sparse(6, tf.float32),
    combiner='sum', partition_strategy='mod', max_norm=0.5, default_id=1
tf.contrib.layers.input_from_feature_columns({'i': tf.constant([[1], [2]], tf.int64)}, uses.old_columns()) ;
    weight_collections=['given'], cols_to_outs=uses.outs() ; [it, len(uses.outs())]
tf.contrib.layers.create_feature_spec_for_parsing(uses.old_columns()) ; ; str(it)
tf.contrib.layers.parse_feature_columns_from_examples(uses.old_examples(), uses.old_columns()) ; name='given',
    example_names=['a', 'b']
tf.contrib.layers.sparse_column_with_vocabulary_file('w', uses.written('f', 'a\\nb\\n')) ; num_oov_buckets=2, vocab_size=1,
    default_value=1, combiner='mean', dtype=tf.int64 ; uses.weighted(it)
tf.contrib.layers.weighted_sparse_column(tf.contrib.layers.sparse_column_with_keys('w', ['a', 'b']), 'n') ; dtype=tf.int32 ; it
tf.contrib.layers.scattered_embedding_column('w', 5, 2, 3)
tf.contrib.layers.adaptive_clipping_fn() ; std_factor=-0.5, static_max_norm=0.5,
    global_step=tf.train.get_or_create_global_step(), report_summary=True, epsilon=1.0 ; uses.clipped(it)
tf.contrib.legacy_seq2seq.tied_rnn_seq2seq([X, Y], [X, Y], uses.cell(4)) ; loop_function=uses.doubled_back, dtype=tf.float64
tf.contrib.legacy_seq2seq.embedding_rnn_decoder([LABELS, IDS], tf.ones([3, 5]), uses.cell(5), 5, 4, feed_previous=True) ;
    output_projection=uses.projection(), update_embedding_for_previous=False, feed_previous=False ; [it, tf.gradients(it[0],
    tf.trainable_variables())]
tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq([LABELS], [LABELS, IDS], uses.cell(5), 5, 5, 4) ;
    output_projection=uses.projection(), feed_previous=True, dtype=tf.float64
tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq([LABELS], [LABELS, IDS], uses.cell(5), 5, 4) ;
    output_projection=uses.projection(), feed_previous=True, dtype=tf.float64, num_decoder_symbols=6
tf.contrib.legacy_seq2seq.attention_decoder([X, Y], tf.ones([3, 4]), uses.three(), uses.cell(4)) ; output_size=2, num_heads=2,
    loop_function=uses.doubled_back, initial_state_attention=True, dtype=tf.float64
tf.contrib.legacy_seq2seq.embedding_attention_decoder([LABELS, IDS], tf.ones([3, 5]), uses.three(), uses.cell(5), 5, 4,
    feed_previous=True) ; num_heads=2, output_size=4, output_projection=uses.projection(), initial_state_attention=True,
    feed_previous=False, update_embedding_for_previous=False, dtype=tf.float64 ; [it, tf.gradients(it[0],
    tf.trainable_variables())]
tf.contrib.legacy_seq2seq.embedding_attention_seq2seq([LABELS], [LABELS, IDS], uses.cell(5), 5, 5, 4) ; num_heads=2,
    output_projection=uses.projection(), feed_previous=True, dtype=tf.float64
tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq([LABELS], {'a': [LABELS, IDS]}, uses.cell(5), {'a': uses.cell(5)}, 5, {'a': 5}, 4)
    ; feed_previous=True, dtype=tf.float64 ; it[0]['a']
tf.contrib.legacy_seq2seq.model_with_buckets([LABELS, IDS], [LABELS, IDS], [LABELS, IDS], [W[:3], W[:3]], [(1, 1), (2, 2)],
    uses.bucket_model) ; softmax_loss_function=uses.softmax_loss, per_example_loss=True
"""
