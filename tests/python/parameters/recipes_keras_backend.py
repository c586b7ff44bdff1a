"""Recipes of tf.keras.backend; values.py has the names in them."""
RECIPES = """
tf.keras.backend.set_epsilon(1e-7)
tf.keras.backend.set_floatx('float32')
tf.keras.backend.set_image_data_format('channels_last')
tf.keras.backend.set_learning_phase(1) ; ; tf.keras.backend.learning_phase()
tf.keras.backend.learning_phase_scope(1) ; ; uses.entered(it, tf.keras.backend.learning_phase)
tf.keras.backend.get_uid('given') ; ; [it, tf.keras.backend.get_uid('given')]
tf.keras.backend.manual_variable_initialization(False)
tf.keras.backend.variable(arrays.X) ; dtype='float64', constraint=uses.halve ; [it.name, tf.keras.backend.get_value(it),
    it.constraint is None]
tf.keras.backend.constant([1.0, 2.0]) ; dtype='float64', shape=[2, 1]
tf.keras.backend.placeholder((2, 3)) ; ndim=2, sparse=True, dtype='float64', name='given', ragged=False ; [it.dtype, it.name]
tf.keras.backend.is_sparse(uses.sparse())
tf.keras.backend.to_dense(uses.sparse())
tf.keras.backend.is_keras_tensor(X)
tf.keras.backend.shape(X)
tf.keras.backend.int_shape(X)
tf.keras.backend.ndim(X)
tf.keras.backend.dtype(X)
tf.keras.backend.count_params(X)
tf.keras.backend.zeros((2, 3)) ; dtype='float64' ; [it.name, tf.keras.backend.get_value(it)]
tf.keras.backend.ones((2, 3)) ; dtype='float64' ; [it.name, tf.keras.backend.get_value(it)]
tf.keras.backend.eye(3) ; dtype='float64' ; [it.name, tf.keras.backend.get_value(it)]
tf.keras.backend.zeros_like(X) ; dtype='float64'
tf.keras.backend.ones_like(X) ; dtype='float64'
tf.keras.backend.random_uniform_variable((2, 3), 0.0, 2.0, seed=3) ; dtype='float64' ; [it.name, tf.keras.backend.get_value(it)]
tf.keras.backend.random_normal_variable((2, 3), 0.0, 2.0, seed=3) ; dtype='float64' ; [it.name, tf.keras.backend.get_value(it)]
tf.keras.backend.random_normal((2, 3), seed=3) ; dtype='float64', mean=2.0, stddev=3.0
tf.keras.backend.random_uniform((2, 3), seed=3) ; dtype='float64', minval=-1.0, maxval=3.0
tf.keras.backend.truncated_normal((2, 3), seed=3) ; dtype='float64', mean=2.0, stddev=3.0
tf.keras.backend.random_bernoulli((2, 3), 0.5, seed=3) ; dtype='float64', p=0.1
tf.keras.backend.random_binomial((2, 3), 0.5, seed=3) ; dtype='float64', p=0.1
tf.keras.backend.update(uses.variable(), [[1.0, 2.0], [0.0, 1.0]])
tf.keras.backend.update_add(uses.variable(), [[1.0, 2.0], [0.0, 1.0]])
tf.keras.backend.update_sub(uses.variable(), [[1.0, 2.0], [0.0, 1.0]])
tf.keras.backend.moving_average_update(uses.variable(), [[1.0, 2.0], [0.0, 1.0]], 0.9)
tf.keras.backend.dot(X, tf.transpose(Y))
tf.keras.backend.dot(SEQUENCE, tf.transpose(Y))
tf.keras.backend.dot(uses.sparse(), tf.transpose(Y))
tf.keras.backend.batch_dot(X, Y)
tf.keras.backend.batch_dot(SEQUENCE, SEQUENCE, 2) ; axes=[1, 1]
tf.keras.backend.batch_dot(uses.unsized(SEQUENCE), SEQUENCE, [2, 2])
tf.keras.backend.gather(X, IDS)
tf.keras.backend.sum(X)
tf.keras.backend.prod(X)
tf.keras.backend.max(X)
tf.keras.backend.min(X)
tf.keras.backend.mean(X)
tf.keras.backend.mean(BOOL, 1)
tf.keras.backend.var(X)
tf.keras.backend.std(X)
tf.keras.backend.any(BOOL)
tf.keras.backend.all(BOOL)
tf.keras.backend.argmax(X) ; axis=0
tf.keras.backend.argmin(X) ; axis=0
tf.keras.backend.cumsum(X) ; axis=1
tf.keras.backend.cumprod(X) ; axis=1
tf.keras.backend.sqrt(Y)
tf.keras.backend.pow(X, 2.0)
tf.keras.backend.clip(Y, -0.2, 0.5) ; min_value=0.1, max_value=-0.4
tf.keras.backend.cast(X, 'int32') ; dtype='float64'
tf.keras.backend.cast_to_floatx(arrays.N)
tf.keras.backend.concatenate([X, Y]) ; axis=0
tf.keras.backend.reshape(X, (4, 3))
tf.keras.backend.permute_dimensions(SEQUENCE, (0, 2, 1))
tf.keras.backend.repeat_elements(X, 2, 1) ; axis=0
tf.keras.backend.repeat_elements(uses.unsized(X), 2, 1)
tf.keras.backend.repeat(X, 3)
tf.keras.backend.arange(5) ; stop=9, step=2, dtype='float32'
tf.keras.backend.tile(X, [2, 1]) ; n=[1, 3]
tf.keras.backend.flatten(X)
tf.keras.backend.batch_flatten(SEQUENCE)
tf.keras.backend.expand_dims(X) ; axis=0
tf.keras.backend.squeeze(ROWS, 1)
tf.keras.backend.stack([X, Y]) ; axis=1
tf.keras.backend.one_hot(LABELS, 5)
tf.keras.backend.reverse(X, 1) ; axes=[0, 1]
tf.keras.backend.temporal_padding(SEQUENCE) ; padding=(2, 0)
tf.keras.backend.spatial_2d_padding(IMAGE) ; padding=((2, 0), (0, 1)), data_format='channels_first'
tf.keras.backend.spatial_3d_padding(tf.reshape(IMAGE, [1, 2, 6, 6, 3])) ; padding=((2, 0), (0, 1), (1, 1)),
    data_format='channels_first'
tf.keras.backend.print_tensor(X)
tf.keras.backend.gradients(X * X, [X])
tf.keras.backend.stop_gradient(X)
tf.keras.backend.map_fn(uses.halve, X) ; dtype=tf.float32
tf.keras.backend.foldl(uses.folded, X) ; initializer=tf.ones([4])
tf.keras.backend.foldr(uses.folded, X) ; initializer=tf.ones([4])
tf.keras.backend.relu(Y) ; alpha=0.3, max_value=0.5, threshold=0.2
tf.keras.backend.relu(Y, 0.3, 0.5) ; alpha=0.1, max_value=6, threshold=0.2
tf.keras.backend.elu(Y) ; alpha=0.5
tf.keras.backend.softmax(Y) ; axis=0
tf.keras.backend.hard_sigmoid(Y)
tf.keras.backend.dropout(X, 0.5, seed=3) ; noise_shape=[3, 1], level=0.1
tf.keras.backend.l2_normalize(X) ; axis=1
tf.keras.backend.in_top_k(X, LABELS, 2)
tf.keras.backend.categorical_crossentropy(ONE_HOT, tf.nn.softmax(Y)) ; from_logits=True, axis=0
tf.keras.backend.categorical_crossentropy(ONE_HOT, P) ; from_logits=True, axis=0
tf.keras.backend.categorical_focal_crossentropy(ONE_HOT, P) ; from_logits=True, axis=0, alpha=0.5, gamma=3.0
tf.keras.backend.sparse_categorical_crossentropy(LABELS, P) ; from_logits=True, ignore_class=3
tf.keras.backend.sparse_categorical_crossentropy(tf.constant([[1, 2], [0, 3]]), SEQUENCE[:, :2], True) ; from_logits=False,
    ignore_class=2
tf.keras.backend.sparse_categorical_crossentropy(tf.constant([[1, 2, 0, 1], [0, 2, 1, 1]]), SEQUENCE, True, 1)
tf.keras.backend.binary_crossentropy(ZERO_ONE, tf.nn.sigmoid(Y)) ; from_logits=True
tf.keras.backend.binary_crossentropy(ZERO_ONE, P / 2) ; from_logits=True
tf.keras.backend.binary_focal_crossentropy(ZERO_ONE, P / 2) ; from_logits=True, apply_class_balancing=True, alpha=0.5,
    gamma=3.0
tf.keras.backend.ctc_label_dense_to_sparse(N, tf.constant([2, 1, 4])) ; ; tf.sparse_tensor_to_dense(it)
tf.keras.backend.ctc_batch_cost(tf.constant([[1, 2], [2, 0]]), tf.nn.softmax(SEQUENCE), [[3], [3]], [[2], [1]])
tf.keras.backend.ctc_decode(tf.nn.softmax(SEQUENCE), [3, 2]) ; greedy=False, beam_width=3, top_paths=1
tf.keras.backend.ctc_decode(tf.nn.softmax(SEQUENCE), [3, 2], False) ; beam_width=3, top_paths=2
tf.keras.backend.switch(tf.constant(True), X, Y) ; condition=BOOL, then_expression=tf.ones_like(Y), else_expression=tf.ones_like(X)
tf.keras.backend.in_train_phase(X, Y) ; training=True
tf.keras.backend.in_test_phase(X, Y) ; training=True
tf.keras.backend.normalize_batch_in_training(IMAGE, W[:3], V[:3], [0, 1, 2]) ; epsilon=0.1
tf.keras.backend.normalize_batch_in_training(X, W, V, [0]) ; epsilon=0.1
tf.keras.backend.normalize_batch_in_training(SEQUENCE, W[:3], V[:3], [0, 2]) ; epsilon=0.1
tf.keras.backend.batch_normalization(IMAGE, V[:3], W[:3], V[:3], W[:3]) ; epsilon=0.1, beta=None, gamma=None
tf.keras.backend.batch_normalization(X, V, W, V, W) ; epsilon=0.1, axis=1
tf.keras.backend.bias_add(X, W)
tf.keras.backend.bias_add(IMAGE, W[:3])
tf.keras.backend.bias_add(tf.transpose(IMAGE, [0, 3, 1, 2]), W[:3], 'channels_first')
tf.keras.backend.bias_add(SEQUENCE, Y) ; data_format='channels_last'
tf.keras.backend.conv1d(SEQUENCE, tf.ones([2, 4, 3])) ; strides=2, padding='same', dilation_rate=2,
    data_format='channels_first'
tf.keras.backend.conv1d(SEQUENCE, tf.ones([2, 4, 3]), padding='causal')
tf.keras.backend.conv2d(IMAGE, FILTER) ; strides=(2, 2), padding='same', dilation_rate=(2, 2),
    data_format='channels_first'
tf.keras.backend.conv2d(tf.transpose(IMAGE, [0, 3, 1, 2]), FILTER, data_format='channels_first')
tf.keras.backend.conv2d_transpose(IMAGE, tf.ones([2, 2, 4, 3]), (2, 7, 7, 4)) ; padding='same', output_shape=(None, 7, 7, 4),
    strides=(2, 2), data_format='channels_first'
tf.keras.backend.conv2d_transpose(IMAGE, tf.ones([2, 2, 4, 3]), (2, 8, 8, 4), dilation_rate=(2, 2)) ; dilation_rate=(1, 1)
tf.keras.backend.conv2d_transpose(IMAGE, tf.ones([2, 2, 4, 3]), (2, 12, 12, 4), (2, 2)) ; padding='same'
tf.keras.backend.depthwise_conv2d(IMAGE, FILTER) ; strides=(2, 2), padding='same', dilation_rate=(2, 2),
    data_format='channels_first'
tf.keras.backend.separable_conv2d(IMAGE, FILTER, tf.ones([1, 1, 6, 2])) ; strides=(2, 2), padding='same', dilation_rate=(2, 2),
    data_format='channels_first'
tf.keras.backend.pool2d(IMAGE, (2, 2)) ; strides=(2, 2), padding='same', pool_mode='avg', data_format='channels_first'
tf.keras.backend.conv3d(tf.reshape(IMAGE, [1, 2, 6, 6, 3]), tf.ones([2, 2, 2, 3, 2])) ; strides=(1, 2, 2), padding='same',
    data_format='channels_first', dilation_rate=(1, 1, 1)
tf.keras.backend.pool3d(tf.reshape(IMAGE, [1, 2, 6, 6, 3]), (1, 2, 2)) ; strides=(1, 2, 2), padding='same', pool_mode='avg',
    data_format='channels_first'
tf.keras.backend.local_conv1d(SEQUENCE, tf.ones([2, 8, 3]), (2,), (1,)) ; data_format='channels_first'
tf.keras.backend.local_conv2d(IMAGE, tf.ones([9, 12, 2]), (2, 2), (2, 2), (3, 3)) ; data_format='channels_first'
tf.keras.backend.resize_images(IMAGE, 2, 3, 'channels_last') ; interpolation='bilinear'
tf.keras.backend.resize_volumes(tf.reshape(IMAGE, [1, 2, 6, 6, 3]), 2, 1, 2, 'channels_last')
tf.keras.backend.get_value(tf.keras.backend.variable([1.0, 2.0]))
tf.keras.backend.eval(tf.keras.backend.variable([1.0, 2.0]) * 2)
tf.keras.backend.batch_get_value([tf.keras.backend.variable([1.0]), tf.keras.backend.variable([2.0])])
tf.keras.backend.get_session() ; op_input_list=[X] ; it.graph is tf.get_default_graph()
tf.keras.backend.set_session(None)
tf.keras.backend.function([X], [X * 2]) ; name='given', updates=[uses.variable().assign([[1., 2.], [3., 4.]])] ;
    it([np.ones((3, 4), np.float32)])
tf.keras.backend.rnn(uses.keras_step, SEQUENCE, [tf.zeros([2, 4])]) ; go_backwards=True, time_major=True, unroll=True,
    mask=tf.constant([[True, False, True], [True, True, False]]), zero_output_for_mask=True, return_all_outputs=False,
    constants=[tf.ones([2, 4])], input_length=3
tf.keras.backend.rnn(uses.keras_step, SEQUENCE, [tf.zeros([2, 4])], mask=tf.constant([[True, False, True], [True, True, False]])) ;
    go_backwards=True, unroll=True, zero_output_for_mask=True, return_all_outputs=False, constants=[tf.ones([2, 4])]
tf.keras.backend.rnn(uses.keras_step, SEQUENCE, [tf.zeros([2, 4])], unroll=True) ; go_backwards=True,
    mask=tf.constant([[True, False, True], [True, True, False]]), return_all_outputs=False
tf.keras.backend.batch_set_value([(tf.keras.backend.zeros((2,), name='a'), [1.0, 2.0])]) ; ; it is None
tf.keras.backend.set_value(tf.keras.backend.zeros((2,)), [1.0, 2.0]) ; ; it is None
tf.keras.initializers.get('zeros') ; ; it((2, 3))
tf.keras.initializers.lecun_uniform(3) ; seed=4 ; it((2, 3))
tf.keras.backend.name_scope('given') ; default_name='other', values=[X] ; uses.entered(it, uses.loss)
"""
