"""Recipes of what tf.contrib had for states of sequences, masks, quantization and mixtures; TensorFlow 2.15 lacks it all."""
RECIPES = """
tf.contrib.training.batch_sequences_with_states('k', {'x': SEQUENCE[0]}, {'c': V}, 3, {'s': V[:2]}, 2, 1) ; input_key='m',
    input_sequences={'x': SEQUENCE[1]}, input_context={'c': V * 2}, input_length=2, initial_states={'s': V[:2] + 1}, num_unroll=1,
    batch_size=2, num_threads=1, capacity=2, allow_small_batch=False, pad=False, make_keys_unique=True, make_keys_unique_seed=3 ;
    uses.segments(it)
tf.contrib.training.SequenceQueueingStateSaver(1, 3, 3, 'k', {'x': SEQUENCE[0]}, {'c': V}, {'s': V[:2]}) ; batch_size=2, num_unroll=1,
    input_length=2, input_key='m', input_sequences={'x': SEQUENCE[1]}, input_context={'c': V * 2}, initial_states={'s': V[:2] + 1},
    capacity=2, allow_small_batch=True ; uses.saver(it)
tf.contrib.training.NextQueuedSequenceBatch(uses.state_saver()) ; ; uses.batch_run(it)
tf.contrib.model_pruning.MaskedBasicLSTMCell(3) ; activation=tf.nn.relu, forget_bias=0.0, dtype=tf.float32 ; uses.stepped(it)
tf.contrib.model_pruning.MaskedLSTMCell(3) ; activation=tf.nn.relu, forget_bias=0.0, use_peepholes=True, cell_clip=0.05, num_proj=2,
    num_proj_shards=2, num_unit_shards=2, dtype=tf.float32 ; uses.stepped(it)
tf.contrib.model_pruning.MaskedLSTMCell(3, num_proj=2) ; proj_clip=0.01, num_proj_shards=2, dtype=tf.float32 ; uses.stepped(it)
tf.contrib.model_pruning.MaskedBasicLSTMCell(3) ; dtype=tf.float64, reuse=True ; uses.built_cell(it)
tf.contrib.model_pruning.MaskedLSTMCell(3) ; dtype=tf.float64, reuse=True ; uses.built_cell(it)
tf.contrib.model_pruning.graph_def_from_checkpoint(uses.pruned_checkpoint(), ['out']) ; output_node_names=['x'] ; len(it.node)
tf.contrib.model_pruning.strip_pruning_vars_fn(uses.pruned_graph(), ['out']) ; output_node_names=['x'] ; len(it.node)
tf.contrib.model_pruning.train(uses.train_op(), None, uses.count('masks'), number_of_steps=2) ; logdir='given',
    mask_update_op=uses.count('others'), train_step_fn=uses.one_step ; [it, uses.counted]
tf.contrib.training.batch_sequences_with_states('k', {'x': SEQUENCE[0]}, {'c': V}, 3, {'s': V[:2]}, 3, 1, make_keys_unique=True) ;
    make_keys_unique_seed=3 ; uses.segments(it)
tf.contrib.model_pruning.masked_conv2d(IMAGE, 2, 3, normalizer_fn=tf.contrib.layers.batch_norm) ; normalizer_params={'scale': True}
tf.contrib.model_pruning.masked_fully_connected(X, 2, normalizer_fn=tf.contrib.layers.batch_norm) ; normalizer_params={'scale': True}
tf.contrib.factorization.gmm([IMAGE[0, :, 0] * 30.0], 'random', 2, 3) ; random_seed=12 ; uses.started(it)
tf.contrib.memory_stats.BytesInUse()
tf.contrib.memory_stats.MaxBytesInUse()
tf.contrib.memory_stats.BytesLimit()
tf.contrib.periodic_resample.periodic_resample(X, [6, -1]) ; shape=[-1, 8]
tf.contrib.model_pruning.apply_mask(uses.variable()) ; prune_option='weight2'
tf.contrib.model_pruning.masked_conv2d(IMAGE, 2, 3) ; stride=2, padding='VALID', rate=2, data_format='NCHW', normalizer_params=dict(),
    variables_collections=['given'], outputs_collections='given'
tf.contrib.model_pruning.masked_fully_connected(X, 2) ; normalizer_params=dict(), variables_collections=['given'],
    outputs_collections='given'
tf.contrib.model_pruning.Pruning(sparsity=0.25) ; spec=uses.pruning(), global_step=uses.variable(), sparsity=0.75 ; uses.pruned(it)
tf.contrib.factorization.GmmAlgorithm([X], 2, initial_means=X[:2]) ; num_classes=3, initial_means=X[1:], params='m',
    covariance_type='diag', random_seed=5 ; uses.mixed(it)
tf.contrib.factorization.gmm([X], X[:2], 2, 3) ; num_clusters=3, initial_clusters=X[1:], params='m', covariance_type='diag',
    random_seed=5 ; it[1]
tf.contrib.factorization.GMM(2, initial_clusters=uses.mixture_rows()[:2]) ; num_clusters=3, model_dir='given', random_seed=5, params='m',
    initial_clusters=uses.mixture_rows()[1:3], covariance_type='diag', config=tf.contrib.learn.RunConfig(model_dir='config') ;
    uses.fitted_mixture(it)
tf.contrib.quantize.create_training_graph(uses.layered()) ; input_graph=tf.Graph(), quant_delay=3
tf.contrib.factorization.GMM(2) ; random_seed=5 ; uses.fitted_mixture(it)
tf.contrib.factorization.GmmAlgorithm([X], 2) ; random_seed=5, num_classes=3 ; uses.mixed(it)
tf.contrib.quantize.experimental_create_training_graph(uses.layered()) ; input_graph=tf.Graph(), quant_delay=3, weight_bits=4,
    activation_bits=4, symmetric=True, freeze_bn_delay=3, scope='none'
tf.contrib.quantize.experimental_create_eval_graph(uses.layered()) ; input_graph=tf.Graph(), quant_delay=3, weight_bits=4,
    activation_bits=4, scope='none'
tf.contrib.quantize.create_eval_graph(uses.layered()) ; input_graph=tf.Graph()
"""
