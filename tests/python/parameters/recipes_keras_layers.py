"""Recipes of tf.keras.layers, its regularizers, constraints and activations, and of tf.layers as classes.

A layer shows its parameters in its configuration; test_keras_layers.py compares what layers compute.
"""
RECIPES = """
# ---- the base ----
tf.keras.layers.Layer(name='a') ; trainable=False, dtype='float64', dynamic=True ; it.get_config()
tf.layers.Layer(name='a') ; trainable=False, dtype='float64' ; it.get_config()
tf.keras.layers.Input((3,)) ; shape=(None, 2), batch_size=4, dtype='int32', sparse=True, tensor=tf.ones([2, 3]), ragged=False,
    type_spec=None ; it.shape
tf.keras.layers.InputLayer((3,)) ; input_shape=(None, 2), batch_size=4, dtype='int32', input_tensor=tf.ones([2, 3]), sparse=True,
    ragged=False, type_spec=None, name='a' ; it.get_config()
tf.keras.layers.InputSpec() ; dtype='int32', shape=(2, 3), ndim=3, max_ndim=4, min_ndim=2, axes={1: 2}, allow_last_axis_squeeze=True ;
    repr(it)
tf.keras.layers.serialize(tf.keras.layers.Flatten(name='a')) ; use_legacy_format=True
tf.keras.layers.deserialize({'class_name': 'Flatten', 'config': {'name': 'a'}}) ; custom_objects={'Flatten': tf.keras.layers.Reshape},
    use_legacy_format=True ; it.get_config()
# ---- core ----
tf.keras.layers.Dense(2) ; units=3, activation='relu', use_bias=False, kernel_initializer='ones', bias_initializer='ones',
    kernel_regularizer='l2', bias_regularizer='l2', activity_regularizer='l2' ; it.get_config()
tf.keras.layers.ActivityRegularization() ; l1=0.5, l2=0.5 ; it.get_config()
tf.keras.layers.Identity() ; ; it(X)
tf.keras.layers.Flatten() ; data_format='channels_first' ; it.get_config()
tf.keras.layers.Reshape((4, 1)) ; target_shape=(2, -1) ; it.get_config()
tf.keras.layers.Permute((1, 3, 2)) ; dims=(2, 1, 3) ; it.get_config()
tf.keras.layers.RepeatVector(2) ; n=3 ; it.get_config()
tf.keras.layers.Lambda(lambda x: x * 2.0) ; function=lambda x: x + 1.0, output_shape=(4,), mask=lambda x, m: None, arguments={} ; it(X)
tf.keras.layers.Masking() ; mask_value=1.0 ; it.get_config()
tf.keras.layers.Embedding(9, 2) ; input_dim=10, output_dim=3, embeddings_initializer='ones', embeddings_regularizer='l2',
    activity_regularizer='l2', embeddings_constraint='non_neg', mask_zero=True, input_length=4 ; it.get_config()
# ---- activations ----
tf.keras.layers.ReLU() ; max_value=0.5, negative_slope=0.5, threshold=0.5 ; it.get_config()
tf.keras.layers.LeakyReLU() ; alpha=0.5 ; it.get_config()
tf.keras.layers.PReLU() ; alpha_initializer='ones', alpha_regularizer='l2', alpha_constraint='non_neg', shared_axes=[1] ;
    it.get_config()
tf.keras.layers.ELU() ; alpha=0.5 ; it.get_config()
tf.keras.layers.ThresholdedReLU() ; theta=0.5 ; it.get_config()
tf.keras.layers.Softmax() ; axis=(0, 1) ; it.get_config()
tf.keras.activations.get('relu') ; identifier='tanh' ; it(Y)
tf.keras.activations.serialize(tf.nn.relu) ; activation=tf.nn.tanh, use_legacy_format=True
tf.keras.activations.deserialize('relu') ; name='tanh', custom_objects={'relu': tf.nn.tanh}, use_legacy_format=True ; it(Y)
tf.keras.activations.elu(Y) ; alpha=0.5
tf.keras.activations.exponential(Y)
tf.keras.activations.hard_sigmoid(Y)
tf.keras.activations.linear(Y)
tf.keras.activations.mish(Y)
tf.keras.activations.relu(Y) ; alpha=0.5, max_value=0.5, threshold=0.5
tf.keras.activations.selu(Y)
tf.keras.activations.sigmoid(Y)
tf.keras.activations.softmax(Y) ; axis=0
tf.keras.activations.softplus(Y)
tf.keras.activations.softsign(Y)
tf.keras.activations.swish(Y)
tf.keras.activations.tanh(Y)
# ---- merge ----
tf.keras.layers.Add() ; ; it([X, Y])
tf.keras.layers.Subtract() ; ; it([X, Y])
tf.keras.layers.Multiply() ; ; it([X, Y])
tf.keras.layers.Average() ; ; it([X, Y])
tf.keras.layers.Maximum() ; ; it([X, Y])
tf.keras.layers.Minimum() ; ; it([X, Y])
tf.keras.layers.Concatenate() ; axis=0 ; it.get_config()
tf.keras.layers.Dot(1) ; axes=(1, 1), normalize=True ; it.get_config()
tf.keras.layers.add([X, Y])
tf.keras.layers.subtract([X, Y])
tf.keras.layers.multiply([X, Y])
tf.keras.layers.average([X, Y])
tf.keras.layers.maximum([X, Y])
tf.keras.layers.minimum([X, Y])
tf.keras.layers.concatenate([X, Y]) ; axis=0
tf.keras.layers.dot([X, Y], 1) ; axes=(1, 1), normalize=True
# ---- dropout and noise ----
tf.keras.layers.SpatialDropout1D(0.5) ; rate=0.25 ; it.get_config()
tf.keras.layers.SpatialDropout2D(0.5) ; rate=0.25, data_format='channels_first' ; it.get_config()
tf.keras.layers.SpatialDropout3D(0.5) ; rate=0.25, data_format='channels_first' ; it.get_config()
tf.keras.layers.GaussianNoise(0.5) ; stddev=0.25, seed=3 ; it.get_config()
tf.keras.layers.GaussianDropout(0.5) ; rate=0.25, seed=3 ; it.get_config()
tf.keras.layers.AlphaDropout(0.5) ; rate=0.25, noise_shape=[3, 1], seed=3 ; it.get_config()
# ---- convolutions ----
tf.keras.layers.Conv1D(2, 2) ; filters=4, kernel_size=1, strides=2, padding='causal', data_format='channels_last', dilation_rate=2,
    groups=2, activation='relu', use_bias=False, kernel_initializer='ones', bias_initializer='ones' ; it.get_config()
tf.keras.layers.Conv2D(2, 3) ; filters=4, kernel_size=1, strides=2, padding='same', data_format='channels_first', dilation_rate=2,
    groups=2, activation='relu', use_bias=False ; it.get_config()
tf.keras.layers.Conv3D(2, 2) ; filters=4, kernel_size=1, strides=2, padding='same', data_format='channels_last', dilation_rate=1,
    groups=1, activation='relu', use_bias=False, kernel_initializer='ones', bias_initializer='ones' ; it.get_config()
tf.keras.layers.Conv1DTranspose(2, 2) ; strides=2, padding='same', output_padding=0, data_format='channels_last', dilation_rate=2 ;
    it.get_config()
tf.keras.layers.Conv2DTranspose(2, 2) ; strides=2, padding='same', output_padding=0, data_format='channels_first', dilation_rate=1 ;
    it.get_config()
tf.keras.layers.Conv3DTranspose(2, 2) ; strides=2, padding='same', output_padding=0, data_format='channels_last', dilation_rate=1 ;
    it.get_config()
tf.keras.layers.DepthwiseConv1D(2) ; strides=2, padding='same', depth_multiplier=2, data_format='channels_last', dilation_rate=2,
    depthwise_initializer='ones', depthwise_regularizer='l2', depthwise_constraint='non_neg' ; it.get_config()
tf.keras.layers.DepthwiseConv2D(2) ; strides=2, padding='same', depth_multiplier=2, data_format='channels_first', dilation_rate=2,
    depthwise_initializer='ones', depthwise_regularizer='l2', depthwise_constraint='non_neg' ; it.get_config()
tf.keras.layers.SeparableConv1D(2, 2) ; strides=2, padding='same', depth_multiplier=2, data_format='channels_last', dilation_rate=2,
    depthwise_initializer='ones', depthwise_regularizer='l2', depthwise_constraint='non_neg', pointwise_initializer='ones',
    pointwise_regularizer='l2', pointwise_constraint='non_neg' ; it.get_config()
tf.keras.layers.SeparableConv2D(2, 2) ; strides=2, padding='same', depth_multiplier=2, data_format='channels_last', dilation_rate=2,
    depthwise_initializer='ones', depthwise_regularizer='l2', depthwise_constraint='non_neg', pointwise_initializer='ones',
    pointwise_regularizer='l2', pointwise_constraint='non_neg' ; it.get_config()
tf.keras.layers.LocallyConnected1D(2, 2) ; strides=2, padding='valid', data_format='channels_first', implementation=2 ; it.get_config()
tf.keras.layers.LocallyConnected2D(2, 5) ; strides=2, padding='valid', data_format='channels_last', implementation=3 ; it.get_config()
# ---- pooling ----
tf.keras.layers.MaxPooling1D() ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.keras.layers.AveragePooling1D() ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.keras.layers.MaxPooling3D() ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.keras.layers.AveragePooling3D() ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.keras.layers.GlobalMaxPooling1D() ; data_format='channels_first', keepdims=True ; it.get_config()
tf.keras.layers.GlobalMaxPooling2D() ; data_format='channels_first', keepdims=True ; it.get_config()
tf.keras.layers.GlobalMaxPooling3D() ; data_format='channels_first', keepdims=True ; it.get_config()
tf.keras.layers.GlobalAveragePooling1D() ; data_format='channels_first' ; it.get_config()
tf.keras.layers.GlobalAveragePooling2D() ; data_format='channels_first', keepdims=True ; it.get_config()
tf.keras.layers.GlobalAveragePooling3D() ; data_format='channels_first', keepdims=True ; it.get_config()
tf.keras.layers.UpSampling1D() ; size=3 ; it.get_config()
tf.keras.layers.UpSampling2D() ; size=3, data_format='channels_first', interpolation='bilinear' ; it.get_config()
tf.keras.layers.UpSampling3D() ; size=1, data_format='channels_first' ; it.get_config()
tf.keras.layers.ZeroPadding1D() ; padding=2 ; it.get_config()
tf.keras.layers.ZeroPadding2D() ; padding=2, data_format='channels_first' ; it.get_config()
tf.keras.layers.ZeroPadding3D() ; padding=2, data_format='channels_first' ; it.get_config()
tf.keras.layers.Cropping1D() ; cropping=0 ; it.get_config()
tf.keras.layers.Cropping2D() ; cropping=1, data_format='channels_first' ; it.get_config()
tf.keras.layers.Cropping3D() ; cropping=0, data_format='channels_first' ; it.get_config()
# ---- normalization ----
tf.keras.layers.BatchNormalization() ; axis=1, momentum=0.5, epsilon=0.1, center=False, scale=False, moving_mean_initializer='ones',
    moving_variance_initializer='zeros', fused=False, renorm_clipping=None, renorm_momentum=0.5, beta_constraint='non_neg',
    gamma_constraint='non_neg', renorm=False, virtual_batch_size=None, adjustment=None ; it.get_config()
tf.keras.layers.LayerNormalization() ; axis=1, epsilon=0.1, center=False, scale=False, beta_constraint='non_neg',
    gamma_constraint='non_neg' ; it.get_config()
# ---- recurrent ----
tf.keras.layers.SimpleRNNCell(2) ; units=3, activation='relu', use_bias=False, recurrent_initializer='ones', recurrent_regularizer='l2',
    recurrent_constraint='non_neg', dropout=0.5, recurrent_dropout=0.5 ; it.get_config()
tf.keras.layers.GRUCell(2) ; units=3, activation='relu', recurrent_activation='sigmoid', use_bias=False, recurrent_initializer='ones',
    recurrent_regularizer='l2', recurrent_constraint='non_neg', dropout=0.5, recurrent_dropout=0.5, reset_after=True ; it.get_config()
tf.keras.layers.LSTMCell(2) ; units=3, activation='relu', recurrent_activation='sigmoid', use_bias=False, recurrent_initializer='ones',
    unit_forget_bias=False, recurrent_regularizer='l2', recurrent_constraint='non_neg', dropout=0.5, recurrent_dropout=0.5 ;
    it.get_config()
tf.keras.layers.StackedRNNCells([tf.keras.layers.SimpleRNNCell(2)]) ; cells=[tf.keras.layers.SimpleRNNCell(3)] ; it.get_config()
tf.keras.layers.AbstractRNNCell() ; ; it.name
tf.keras.layers.RNN(tf.keras.layers.SimpleRNNCell(2)) ; cell=tf.keras.layers.GRUCell(2), return_sequences=True, return_state=True,
    go_backwards=True, stateful=True, unroll=True, time_major=True ; it.get_config()
tf.keras.layers.SimpleRNN(2, unroll=True) ; units=3, activation='relu', use_bias=False, recurrent_initializer='ones',
    recurrent_regularizer='l2', recurrent_constraint='non_neg', dropout=0.5, recurrent_dropout=0.5, return_sequences=True,
    return_state=True, go_backwards=True, stateful=True ; it.get_config()
tf.keras.layers.GRU(2, unroll=True) ; units=3, activation='relu', recurrent_activation='sigmoid', use_bias=False,
    recurrent_initializer='ones', recurrent_regularizer='l2', recurrent_constraint='non_neg', dropout=0.5, recurrent_dropout=0.5,
    return_sequences=True, return_state=True, go_backwards=True, stateful=True, reset_after=True ; it.get_config()
tf.keras.layers.LSTM(2, unroll=True) ; units=3, activation='relu', recurrent_activation='sigmoid', use_bias=False,
    recurrent_initializer='ones', unit_forget_bias=False, recurrent_regularizer='l2', recurrent_constraint='non_neg', dropout=0.5,
    recurrent_dropout=0.5, return_sequences=True, return_state=True, go_backwards=True, stateful=True ; it.get_config()
tf.keras.layers.Bidirectional(tf.keras.layers.SimpleRNN(2)) ; merge_mode='sum', weights=None,
    backward_layer=tf.keras.layers.SimpleRNN(2, go_backwards=True) ; it.get_config()
tf.keras.experimental.LinearModel(2) ; units=3, activation='relu', use_bias=False, kernel_initializer='ones', bias_initializer='ones',
    kernel_regularizer='l2', bias_regularizer='l1' ; [it.get_config(), it(tf.zeros([2, 3])).shape.as_list()]
tf.keras.experimental.WideDeepModel(tf.keras.Sequential([tf.keras.layers.Dense(2, name='a')], name='p'),
    tf.keras.Sequential([tf.keras.layers.Dense(2, name='b')], name='q')) ; activation='relu',
    linear_model=tf.keras.Sequential([tf.keras.layers.Dense(2, name='c')], name='r'),
    dnn_model=tf.keras.Sequential([tf.keras.layers.Dense(2, name='d')], name='s') ;
    [it(tf.zeros([2, 3])).op.type[:3], it.linear_model.name, it.dnn_model.name]
tf.layers.experimental.keras_style_scope() ; ; hasattr(it, '__enter__')
tf.user_ops.my_fact() ; ; it.op.type
tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2)) ; layer=tf.keras.layers.Flatten() ; it.get_config()
tf.keras.layers.Wrapper(tf.keras.layers.Dense(2, name='a')) ; layer=tf.keras.layers.Flatten(name='b') ; it.get_config()
tf.keras.layers.ConvLSTM1D(2, 2) ; kernel_size=1, strides=2, padding='same', data_format='channels_last', dilation_rate=1,
    activation='relu', unit_forget_bias=False, dropout=0.5, recurrent_dropout=0.5, return_sequences=True, return_state=True,
    go_backwards=True, stateful=True, recurrent_activation='sigmoid', recurrent_initializer='ones', recurrent_regularizer='l2',
    recurrent_constraint='non_neg' ; it.get_config()
tf.keras.layers.ConvLSTM2D(2, 2) ; strides=2, padding='same', data_format='channels_last', dilation_rate=1, unit_forget_bias=False,
    dropout=0.5, recurrent_dropout=0.5, return_sequences=True, return_state=True, go_backwards=True, stateful=True,
    recurrent_activation='sigmoid', recurrent_initializer='ones', recurrent_regularizer='l2', recurrent_constraint='non_neg' ;
    it.get_config()
tf.keras.layers.ConvLSTM3D(2, 2) ; strides=2, padding='same', data_format='channels_last', dilation_rate=1, unit_forget_bias=False,
    dropout=0.5, recurrent_dropout=0.5, return_sequences=True, return_state=True, go_backwards=True, stateful=True,
    recurrent_activation='sigmoid', recurrent_initializer='ones', recurrent_regularizer='l2', recurrent_constraint='non_neg' ;
    it.get_config()
# ---- attention ----
tf.keras.layers.Attention() ; use_scale=True, score_mode='concat' ; it.get_config()
tf.keras.layers.AdditiveAttention() ; use_scale=False ; it.get_config()
tf.keras.layers.MultiHeadAttention(2, 3) ; num_heads=1, key_dim=2, value_dim=2, dropout=0.5, use_bias=False, output_shape=5,
    attention_axes=(1,) ; it.get_config()
tf.keras.layers.EinsumDense('ab,bc->ac', 2) ; output_shape=3, bias_axes='c', activation='relu' ; it.get_config()
# ---- inputs ----
tf.keras.layers.DenseFeatures([tf.feature_column.numeric_column('n', 2)]) ; feature_columns=[tf.feature_column.numeric_column('n', (1, 2))],
    partitioner=None ; it({'n': tf.ones([2, 2])})
tf.keras.layers.Rescaling(2.0) ; scale=3.0, offset=1.0 ; it(X)
tf.keras.layers.Resizing(3, 2) ; height=2, width=3, interpolation='nearest', crop_to_aspect_ratio=False ; it(IMAGE)
tf.keras.layers.CenterCrop(3, 2) ; height=2, width=3 ; it(IMAGE)
tf.keras.layers.Normalization(mean=1.0, variance=2.0) ; axis=None, invert=True ; it(X)
tf.keras.layers.CategoryEncoding(4) ; num_tokens=5, output_mode='count', sparse=False ; it(M)
tf.keras.layers.Discretization([0.5]) ; bin_boundaries=[1.0], num_bins=None, epsilon=0.1, output_mode='count', sparse=False ; it(X)
tf.keras.layers.Hashing(5) ; num_bins=4, mask_value=1, salt=3, output_mode='count', sparse=False ; it(M)
tf.keras.layers.experimental.preprocessing.PreprocessingLayer(name='a') ; ; it.get_config()
tf.keras.layers.experimental.RandomFourierFeatures(4) ; output_dim=5, kernel_initializer='laplacian', scale=2.0 ; it.get_config()
tf.keras.layers.CuDNNLSTM(2) ; units=3, unit_forget_bias=False, recurrent_initializer='ones', recurrent_regularizer='l2',
    recurrent_constraint='non_neg', return_sequences=True, return_state=True, go_backwards=True, stateful=True ; it.get_config()
tf.keras.layers.CuDNNGRU(2) ; units=3, recurrent_initializer='ones', recurrent_regularizer='l2', recurrent_constraint='non_neg',
    return_sequences=True, return_state=True, go_backwards=True, stateful=True ; it.get_config()
# ---- initializers ----
tf.keras.initializers.TruncatedNormal() ; mean=1.0, stddev=2.0, seed=3 ; it.get_config()
tf.keras.initializers.deserialize('ones') ; config='zeros', custom_objects={'ones': tf.keras.initializers.Zeros}, use_legacy_format=True ;
    it([2, 2])
tf.keras.initializers.serialize(tf.keras.initializers.Ones()) ; use_legacy_format=True
tf.keras.initializers.he_normal() ; ; it.get_config()
tf.keras.initializers.he_uniform() ; ; it.get_config()
tf.keras.initializers.lecun_normal() ; ; it.get_config()
tf.keras.initializers.normal() ; mean=1.0, stddev=2.0, seed=3 ; it.get_config()
tf.keras.initializers.uniform() ; minval=1.0, maxval=2.0, seed=3 ; it.get_config()
# ---- regularizers and constraints ----
tf.keras.regularizers.Regularizer() ; ; it(X)
tf.keras.regularizers.L1() ; l1=0.5 ; it(X)
tf.keras.regularizers.L2() ; l2=0.5 ; it(X)
tf.keras.regularizers.L1L2() ; l1=0.5, l2=0.5 ; it(X)
tf.keras.regularizers.l1_l2() ; l1=0.5, l2=0.5 ; it(X)
tf.keras.regularizers.get('l2') ; identifier='l1' ; it(X)
tf.keras.regularizers.serialize(tf.keras.regularizers.l2()) ; use_legacy_format=True
tf.keras.regularizers.deserialize('l2') ; config='l1', custom_objects={'l2': tf.keras.regularizers.L1}, use_legacy_format=True ; it(X)
tf.keras.constraints.Constraint() ; ; it(X)
tf.keras.constraints.MaxNorm() ; max_value=1, axis=1 ; it(X)
tf.keras.constraints.MinMaxNorm() ; min_value=0.5, max_value=2.0, rate=0.5, axis=1 ; it(X)
tf.keras.constraints.NonNeg() ; ; it(Y)
tf.keras.constraints.UnitNorm() ; axis=1 ; it(X)
tf.keras.constraints.RadialConstraint() ; ; it(IMAGE[:, :3, :3, :][:1] + tf.zeros([3, 3, 3, 3])).shape
tf.keras.constraints.get('max_norm') ; identifier='unit_norm' ; it(X)
tf.keras.constraints.serialize(tf.keras.constraints.MaxNorm()) ; use_legacy_format=True
tf.keras.constraints.deserialize('max_norm') ; config='unit_norm', custom_objects={'max_norm': tf.keras.constraints.UnitNorm},
    use_legacy_format=True ; it(X)
# ---- tf.layers as classes ----
tf.layers.Dense(2) ; units=3, use_bias=False ; it.get_config()
tf.layers.Conv1D(2, 2) ; filters=3, kernel_size=1, strides=2, padding='same', dilation_rate=2, data_format='channels_first',
    use_bias=False ; it.get_config()
tf.layers.Conv2D(2, 2) ; filters=3, kernel_size=1, strides=2, padding='same', dilation_rate=2, data_format='channels_first',
    use_bias=False ; it.get_config()
tf.layers.Conv3D(2, 2) ; filters=3, kernel_size=1, strides=2, padding='same', dilation_rate=1, data_format='channels_last',
    use_bias=False ; it.get_config()
tf.layers.Conv2DTranspose(2, 2) ; filters=3, kernel_size=1, strides=2, padding='same', data_format='channels_first', use_bias=False ;
    it.get_config()
tf.layers.Conv3DTranspose(2, 2) ; filters=3, kernel_size=1, strides=2, padding='same', data_format='channels_last', use_bias=False ;
    it.get_config()
tf.layers.SeparableConv1D(2, 2) ; strides=2, padding='same', dilation_rate=2, depth_multiplier=2, data_format='channels_last',
    use_bias=False, depthwise_initializer=tf.constant_initializer(0.5), pointwise_initializer=tf.constant_initializer(0.5),
    depthwise_regularizer=tf.nn.l2_loss, pointwise_regularizer=tf.nn.l2_loss, depthwise_constraint=uses.halve,
    pointwise_constraint=uses.halve ; it.get_config()
tf.layers.SeparableConv2D(2, 2) ; strides=2, padding='same', dilation_rate=2, depth_multiplier=2, data_format='channels_last',
    use_bias=False, depthwise_initializer=tf.constant_initializer(0.5), pointwise_initializer=tf.constant_initializer(0.5),
    depthwise_regularizer=tf.nn.l2_loss, pointwise_regularizer=tf.nn.l2_loss, depthwise_constraint=uses.halve,
    pointwise_constraint=uses.halve ; it.get_config()
tf.layers.separable_conv1d(SEQUENCE, 2, 2) ; strides=2, padding='same', dilation_rate=2, depth_multiplier=2,
    data_format='channels_last', use_bias=False, depthwise_initializer=tf.constant_initializer(0.5),
    pointwise_initializer=tf.constant_initializer(0.5), depthwise_regularizer=tf.nn.l2_loss, pointwise_regularizer=tf.nn.l2_loss,
    depthwise_constraint=uses.halve, pointwise_constraint=uses.halve
tf.layers.conv3d(VOLUME, 2, 2) ; strides=2, padding='same', dilation_rate=1, data_format='channels_last', use_bias=False
tf.layers.conv3d_transpose(VOLUME, 2, 2) ; strides=2, padding='same', data_format='channels_last', use_bias=False
tf.layers.MaxPooling1D(2, 2) ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.layers.MaxPooling2D(2, 2) ; pool_size=3, strides=1, padding='same', data_format='channels_last' ; it.get_config()
tf.layers.MaxPooling3D(2, 2) ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.layers.AveragePooling1D(2, 2) ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.layers.AveragePooling2D(2, 2) ; pool_size=3, strides=1, padding='same', data_format='channels_last' ; it.get_config()
tf.layers.AveragePooling3D(2, 2) ; pool_size=3, strides=1, padding='same', data_format='channels_first' ; it.get_config()
tf.layers.max_pooling1d(SEQUENCE, 2, 2) ; padding='same', data_format='channels_first'
tf.layers.max_pooling3d(VOLUME, 2, 2) ; padding='same', data_format='channels_first'
tf.layers.average_pooling1d(SEQUENCE, 2, 2) ; padding='same', data_format='channels_first'
tf.layers.average_pooling3d(VOLUME, 2, 2) ; padding='same', data_format='channels_first'
tf.layers.Dropout() ; rate=0.9, noise_shape=[3, 1], seed=3 ; it.get_config()
tf.layers.Flatten() ; data_format='channels_first' ; it.get_config()
tf.layers.BatchNormalization() ; axis=1, momentum=0.5, epsilon=0.1, center=False, scale=False, fused=False, renorm_momentum=0.5,
    moving_mean_initializer=tf.ones_initializer(), moving_variance_initializer=tf.zeros_initializer(), renorm=False,
    renorm_clipping=None, virtual_batch_size=None, adjustment=None, beta_constraint=uses.halve, gamma_constraint=uses.halve ;
    it.get_config()
"""
