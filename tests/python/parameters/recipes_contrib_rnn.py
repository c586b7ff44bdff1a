"""Recipes of the cells of tf.contrib.rnn and tf.contrib.cudnn_rnn that TensorFlow 2.15 lacks: each parameter has an effect."""
RECIPES = """
tf.contrib.rnn.CoupledInputForgetGateLSTMCell(4, num_proj=2, layer_norm=True) ; proj_clip=0.1, num_proj_shards=2,
    norm_gain=0.5, norm_shift=0.5, initializer=tf.constant_initializer(0.5), num_unit_shards=2, activation=tf.nn.relu,
    state_is_tuple=False, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.LayerNormBasicLSTMCell(4) ; input_size=4, activation=tf.nn.relu, dropout_keep_prob=0.5,
    dropout_prob_seed=3, reuse=True ; [uses.run_cell(it), it._seed, it._input_size]
tf.contrib.rnn.TimeFreqLSTMCell(2, feature_size=2) ; cell_clip=0.1, initializer=tf.constant_initializer(0.5),
    num_unit_shards=2, feature_size=3, frequency_skip=2, reuse=True ; it(X, tf.ones([3, 12]))
tf.contrib.rnn.GridLSTMCell(2, True, feature_size=2, frequency_skip=2, num_frequency_blocks=[2]) ; cell_clip=0.1,
    initializer=tf.constant_initializer(0.5), num_unit_shards=2, use_peepholes=False, start_freqindex_list=[0],
    end_freqindex_list=[4], state_is_tuple=False, reuse=True ; it(X, it.zero_state(3, tf.float32))
tf.contrib.rnn.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2], start_freqindex_list=[1],
    end_freqindex_list=[4]) ; start_freqindex_list=[0], end_freqindex_list=[3], frequency_skip=2, feature_size=3, cell_clip=0.1,
    initializer=tf.constant_initializer(0.5), reuse=True ; it(X, it.zero_state(3, tf.float32))
tf.contrib.rnn.BidirectionalGridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2],
    start_freqindex_list=[0], end_freqindex_list=[3]) ; backward_slice_offset=1, start_freqindex_list=[1],
    end_freqindex_list=[4], frequency_skip=2, feature_size=3, cell_clip=0.1, initializer=tf.constant_initializer(0.5),
    reuse=True ; it(X, it.zero_state(3, tf.float32))
tf.contrib.rnn.PhasedLSTMCell(4) ; reuse=True ; it((X[:, :1], X), it.zero_state(3, tf.float32))
tf.contrib.rnn.GLSTMCell(4) ; initializer=tf.constant_initializer(0.5), num_proj=2, number_of_groups=2,
    activation=tf.nn.relu, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.NASCell(4) ; num_proj=2, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.ConvLSTMCell(2, [6, 6, 3], 2, [3, 3]) ; initializers=tf.constant_initializer(0.5) ; it(IMAGE,
    it.zero_state(2, tf.float32))
tf.contrib.rnn.Conv1DLSTMCell(input_shape=[6, 3], output_channels=2, kernel_shape=[3]) ; use_bias=False ; it(IMAGE[:,
    0], it.zero_state(2, tf.float32))
tf.contrib.rnn.Conv2DLSTMCell(input_shape=[6, 6, 3], output_channels=2, kernel_shape=[3, 3]) ; use_bias=False ;
    it(IMAGE, it.zero_state(2, tf.float32))
tf.contrib.rnn.Conv3DLSTMCell(input_shape=[6, 6, 3, 1], output_channels=2, kernel_shape=[3, 3, 3]) ; use_bias=False ;
    it(tf.expand_dims(IMAGE, -1), it.zero_state(2, tf.float32))
tf.contrib.rnn.UGRNNCell(4) ; activation=tf.nn.relu, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.IntersectionRNNCell(3, 3) ; y_activation=tf.nn.tanh, num_in_proj=None, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.SRUCell(4) ; reuse=True ; uses.run_cell(it)
tf.contrib.rnn.IndRNNCell(4) ; reuse=True ; uses.run_cell(it)
tf.contrib.rnn.IndyGRUCell(4) ; reuse=True ; uses.run_cell(it)
tf.contrib.rnn.IndyLSTMCell(4) ; reuse=True ; uses.run_cell(it)
tf.contrib.rnn.AttentionCellWrapper(uses.cell(), 2) ; attn_size=2, attn_vec_size=2, input_size=3, reuse=True ;
    uses.run_cell(it)
tf.contrib.rnn.HighwayWrapper(uses.cell(4)) ; ; uses.run_cell(it)
tf.contrib.rnn.EmbeddingWrapper(uses.cell(), 5, 4) ; reuse=True ; it(IDS, tf.ones([3, 3]))
tf.contrib.rnn.InputProjectionWrapper(uses.cell(), 2) ; input_size=4, reuse=True ; [uses.run_cell(it), it._input_size]
tf.contrib.rnn.OutputProjectionWrapper(uses.cell(), 2) ; reuse=True ; uses.run_cell(it)
tf.contrib.rnn.CompiledWrapper(uses.cell()) ; ; uses.run_cell(it)
tf.contrib.rnn.FusedRNNCellAdaptor(uses.cell()) ; ; it(SEQUENCE, dtype=tf.float32)
tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.FusedRNNCellAdaptor(uses.cell())) ; ; it(SEQUENCE,
    dtype=tf.float32)
tf.contrib.rnn.LSTMBlockCell(4) ; cell_clip=0.1, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.LSTMBlockFusedCell(4) ; cell_clip=0.1, reuse=True ; it(tf.cast(SEQUENCE, it.dtype or
    'float32'), dtype=it.dtype or 'float32')
tf.contrib.rnn.LSTMBlockWrapper() ; trainable=False ; [it.name, it.dtype, it.trainable]
tf.contrib.rnn.GRUBlockCell(4) ; cell_size=4, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.GRUBlockCellV2(4) ; cell_size=4, reuse=True ; uses.run_cell(it)
tf.contrib.rnn.stack_bidirectional_rnn([uses.cell()], [uses.cell()], [X, Y], dtype=tf.float32) ;
    initial_states_fw=[tf.ones([3, 3])], initial_states_bw=[tf.ones([3, 3])], sequence_length=[1, 2, 2]
tf.contrib.rnn.stack_bidirectional_dynamic_rnn([uses.cell()], [uses.cell()], SEQUENCE, dtype=tf.float32) ;
    initial_states_fw=[tf.ones([2, 3])], initial_states_bw=[tf.ones([2, 3])], sequence_length=[1, 2] ; [it,
    tf.gradients(it[0], tf.trainable_variables())]
tf.contrib.rnn.transpose_batch_time(SEQUENCE)
tf.contrib.rnn.best_effort_input_batch_size([SEQUENCE])
tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4) ; reuse=True ; uses.run_cell(it)
tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4) ; reuse=True ; uses.run_cell(it)
tf.contrib.cudnn_rnn.CudnnLSTM(2, 3, dropout=0.5) ; input_mode='skip_input', direction='bidirectional', seed=3,
    dtype=tf.float64 ; [it(SEQUENCE), it.dtype]
tf.contrib.cudnn_rnn.CudnnGRU(2, 3, dropout=0.5) ; input_mode='skip_input', direction='bidirectional' ; [it(SEQUENCE),
    it.dtype]
tf.contrib.cudnn_rnn.CudnnRNNTanh(2, 3, dropout=0.5) ; input_mode='skip_input', direction='bidirectional' ;
    [it(SEQUENCE), it.dtype]
tf.contrib.cudnn_rnn.CudnnRNNRelu(2, 3, dropout=0.5) ; input_mode='skip_input', direction='bidirectional' ;
    [it(SEQUENCE), it.dtype]
"""
