"""Recipes of small modules of tf.contrib that TensorFlow 2.15 lacks: each parameter has an effect here."""
RECIPES = """
tf.contrib.image.transform(IMAGE, [0.8, -0.6, 1.0, 0.6, 0.8, -0.5, 0.0, 0.0]) ; interpolation='BILINEAR', output_shape=[3, 4]
tf.contrib.image.rotate(IMAGE, 0.5) ; interpolation='BILINEAR'
tf.contrib.image.translate(IMAGE, [0.5, 1.5]) ; interpolation='BILINEAR'
tf.contrib.image.compose_transforms([1.0, 0.0, 2.0, 0.0, 1.0, 3.0, 0.0, 0.0])
tf.contrib.image.flat_transforms_to_matrices([1.0, 0.0, 2.0, 0.0, 1.0, 3.0, 0.0, 0.0])
tf.contrib.image.matrices_to_flat_transforms(SQUARE)
tf.contrib.image.angles_to_projective_transforms([0.5, 1.0], 5, 6)
tf.contrib.image.translations_to_projective_transforms([0.5, 1.0])
tf.contrib.image.connected_components(M)
tf.contrib.image.bipartite_match(X, 3) ; num_valid_rows=2, top_k=1
tf.contrib.image.dense_image_warp(IMAGE, IMAGE[:, :, :, :2])
tf.contrib.image.interpolate_spline(uses.spots(), uses.spots(), uses.spots() + 0.1, 2) ; order=3, regularization_weight=0.5
tf.contrib.image.sparse_image_warp(IMAGE[:1], uses.spots(), uses.spots() + 0.5) ; interpolation_order=3,
    regularization_weight=0.5, num_boundary_points=2 ; it[0]
tf.contrib.resampler.resampler(IMAGE, IMAGE[:, :, :, :2])
tf.contrib.losses.metric_learning.contrastive_loss(LABELS, X, Y) ; margin=3.0
tf.contrib.losses.metric_learning.triplet_semihard_loss(IDS, X) ; margin=3.0
tf.contrib.losses.metric_learning.lifted_struct_loss(IDS, X) ; margin=3.0
tf.contrib.losses.metric_learning.npairs_loss(IDS, X, Y) ; reg_lambda=0.5, print_losses=True
tf.contrib.sparsemax.sparsemax(Y)
tf.contrib.sparsemax.sparsemax_loss(Y, P, ONE_HOT)
tf.contrib.nn.alpha_dropout(X, 0.5) ; noise_shape=[3, 1], seed=3
tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits(Y, ONE_HOT)
tf.contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(Y, LABELS)
tf.contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(Y, ZERO_ONE)
tf.contrib.nn.scaled_softplus(Y, 0.5) ; clip=0.25
tf.contrib.text.skip_gram_sample(arrays.IDS) ; min_skips=2, max_skips=2, start=1, limit=2, seed=3
tf.contrib.text.skip_gram_sample(np.array(['a', 'b', 'a', 'c']), vocab_freq_table=uses.counts(), vocab_min_count=2,
    vocab_subsampling=0.5, corpus_size=5, batch_size=2, min_skips=1, max_skips=1) ; vocab_min_count=1, vocab_subsampling=0.01,
    corpus_size=50, batch_capacity=5, seed=3, vocab_freq_table=None, start=1, limit=3, batch_size=3 ; len(it)
tf.contrib.integrate.odeint(uses.slope, 1.0, [0.0, 1.0, 2.0]) ; rtol=0.01, atol=0.01, method='euler', options={'first_step':
    0.5}, full_output=True
tf.contrib.integrate.odeint_fixed(uses.slope, 1.0, [0.0, 1.0, 2.0]) ; dt=0.1, method='midpoint'
tf.contrib.linear_optimizer.SDCAOptimizer('id') ; example_id_column='key', num_loss_partitions=2, num_table_shards=3,
    symmetric_l1_regularization=0.5, symmetric_l2_regularization=2.0, adaptive=False, partitioner='p' ; [it.example_id_column,
    it.num_loss_partitions, it.num_table_shards, it.symmetric_l1_regularization, it.symmetric_l2_regularization, it.adaptive,
    it.partitioner]
tf.contrib.linear_optimizer.SparseFeatureColumn([0, 1], [2, 3], None) ; feature_values=[0.5, 1.5] ; [it.example_indices,
    it.feature_indices, it.numbers()]
tf.contrib.linear_optimizer.SdcaModel(uses.ascent()[0], uses.ascent()[1], uses.ascent()[2]) ; examples=uses.ascent(5.0)[0],
    variables=uses.ascent(3.0, 'other')[1], options={**uses.ascent()[2], 'loss_type': 'logistic_loss'} ; [it.minimize(),
    it.predictions(uses.ascent()[0])]
# ---- compilers ----
tf.xla.experimental.compile(uses.grown) ; computation=uses.halve, inputs=[X] ; uses.refused(lambda: it)
tf.xla.experimental.compile(uses.grown, [X]) ; computation=uses.halve
tf.xla.experimental.jit_scope() ; compile_ops=False, separate_compiled_gradients=True ; uses.marked(it)
tf.contrib.tensorrt.create_inference_graph(uses.drawn(), ['y']) ; input_graph_def=uses.drawn('z'), outputs=['missing'], max_batch_size=0,
    max_workspace_size_bytes=0, precision_mode='FP8', minimum_segment_size=0, maximum_cached_engines=0, is_dynamic_op='yes',
    input_saved_model_dir='both', output_saved_model_dir='alone'
tf.contrib.tensorrt.create_inference_graph(None, None, input_saved_model_dir=uses.saved_model()) ; input_saved_model_tags=['none'],
    input_saved_model_signature_key='none', output_saved_model_dir='written', session_config='wrong'
tf.config.experimental.set_device_policy('warn') ; device_policy='explicit' ; uses.policies()
tf.config.experimental.set_synchronous_execution(True) ; enable=False ; uses.policies()
tf.experimental.function_executor_type('') ; executor_type=None ; uses.entered(it)
tf.experimental.output_all_intermediates(True) ; state=False
"""
