"""Recipes of tf.contrib.seq2seq and tf.contrib.crf, which TensorFlow 2.15 lacks: each parameter has an effect here."""
RECIPES = """
tf.contrib.seq2seq.LuongAttention(4, uses.memory(), [2, 3]) ; memory_sequence_length=[1, 2], scale=True,
    probability_fn=tf.sigmoid, score_mask_value=-1.0, custom_key_value_fn=uses.keys_and_values ; uses.asked(it)
tf.contrib.seq2seq.BahdanauAttention(4, uses.memory(), [2, 3]) ; normalize=True, probability_fn=tf.sigmoid,
    score_mask_value=-1.0, custom_key_value_fn=uses.keys_and_values ; uses.asked(it)
tf.contrib.seq2seq.LuongMonotonicAttention(4, uses.memory(), [2, 3]) ; scale=True, score_mask_value=-1.0,
    sigmoid_noise=0.5, score_bias_init=1.0, mode='hard', memory_sequence_length=[1, 2] ; uses.asked(it)
tf.contrib.seq2seq.LuongMonotonicAttention(4, uses.memory(), sigmoid_noise=0.5) ; sigmoid_noise_seed=3 ;
    uses.asked(it)
tf.contrib.seq2seq.BahdanauMonotonicAttention(4, uses.memory(), [2, 3]) ; normalize=True, score_mask_value=-1.0,
    sigmoid_noise=0.5, score_bias_init=1.0, mode='recursive', memory_sequence_length=[1, 2] ; uses.asked(it)
tf.contrib.seq2seq.BahdanauMonotonicAttention(4, uses.memory(), sigmoid_noise=0.5) ; sigmoid_noise_seed=3 ;
    uses.asked(it)
tf.contrib.seq2seq.monotonic_attention(P, P, 'parallel') ; mode='hard'
tf.contrib.seq2seq.safe_cumprod(P) ;
tf.contrib.seq2seq.hardmax(Y)
tf.contrib.seq2seq.AttentionWrapper(uses.cell(4), uses.luong()) ; attention_layer_size=2, alignment_history=True,
    cell_input_fn=uses.joined, output_attention=False, initial_cell_state=tf.ones([2, 4]),
    attention_layer=uses.doubling(), attention_fn=uses.attention_fn, attention_mechanism=uses.two_attentions() ;
    [uses.attended(it), it.dtype]
tf.contrib.seq2seq.AttentionWrapperState(X, X, X, X, X, X) ; ; it.clone(attention=Y)
tf.contrib.seq2seq.BasicDecoderOutput(X, Y)
tf.contrib.seq2seq.BeamSearchDecoderOutput(X, Y, X)
tf.contrib.seq2seq.BeamSearchDecoderState(X, Y, X, X, X)
tf.contrib.seq2seq.FinalBeamSearchDecoderOutput(X, Y)
tf.contrib.seq2seq.BasicDecoder(uses.cell(4), uses.training_helper(), tf.ones([2, 4])) ; output_layer=uses.doubling()
    ; uses.decoded(it)
tf.contrib.seq2seq.BeamSearchDecoder(uses.beam_cell(), uses.embedding_rows(), [1, 2], 0, uses.beam_state(), 3) ;
    end_token=3, output_layer=uses.doubling(), length_penalty_weight=1.0, coverage_penalty_weight=0.5,
    reorder_tensor_arrays=False ; uses.beams_of(it)
tf.contrib.seq2seq.CustomHelper(uses.starts, uses.first_id, uses.next_row) ; sample_ids_shape=[2],
    sample_ids_dtype=tf.int64 ; [str(it.sample_ids_shape), it.sample_ids_dtype.name]
tf.contrib.seq2seq.InferenceHelper(uses.twice, [4], tf.float32, uses.memory()[:, 0], uses.ended) ;
    next_inputs_fn=uses.twice ; uses.decoded(uses.decoder(it))
tf.contrib.seq2seq.TrainingHelper(uses.memory()[:, :2], [2, 2]) ; time_major=True, sequence_length=[1, 2] ;
    uses.decoded(uses.decoder(it))
tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(uses.memory()[:, :2], [2, 2], uses.embedding_rows(), 0.5) ;
    sampling_probability=0.0, seed=3, scheduling_seed=4, time_major=True ; uses.decoded(uses.decoder(it))
tf.contrib.seq2seq.ScheduledOutputTrainingHelper(uses.memory()[:, :2], [2, 2], 0.5) ; sampling_probability=0.0,
    seed=3, next_inputs_fn=uses.twice, time_major=True, auxiliary_inputs=uses.memory()[:, :2] ;
    uses.decoded(uses.decoder(it))
tf.contrib.seq2seq.GreedyEmbeddingHelper(uses.embedding_rows(), [1, 2], 0) ; end_token=3 ;
    uses.decoded(uses.decoder(it))
tf.contrib.seq2seq.SampleEmbeddingHelper(uses.embedding_rows(), [1, 2], 0) ; softmax_temperature=0.5, seed=3 ;
    uses.decoded(uses.decoder(it))
tf.contrib.seq2seq.dynamic_decode(uses.decoder()) ; output_time_major=True, impute_finished=True,
    maximum_iterations=2, parallel_iterations=3, swap_memory=True ; uses.with_gradient(it)
tf.contrib.seq2seq.gather_tree([[[1, 2]], [[3, 4]]], [[[0, 0]], [[1, 0]]], [2], 9)
tf.contrib.seq2seq.gather_tree_from_array(tf.ones([2, 1, 2, 3]), tf.constant([[[0, 0]], [[1, 0]]]), tf.constant([[2,
    2]]))
tf.contrib.seq2seq.tile_batch(X, 2) ; multiplier=3
tf.contrib.seq2seq.sequence_loss(uses.memory(), [[1, 2, 3], [0, 1, 2]], [[1.0, 1.0, 0.5], [1.0, 0.0, 0.0]]) ;
    average_across_timesteps=False, average_across_batch=False, softmax_loss_function=uses.softmax_loss,
    sum_over_timesteps=True, sum_over_batch=True
tf.contrib.seq2seq.sequence_loss(uses.memory(), [[1, 2, 3], [0, 1, 2]], [[1.0, 1.0, 0.5], [1.0, 0.0, 0.0]],
    average_across_timesteps=False, average_across_batch=False) ; sum_over_timesteps=True, sum_over_batch=True
tf.contrib.seq2seq.SequenceLoss() ; average_across_timesteps=True, average_across_batch=True,
    sum_over_timesteps=False, sum_over_batch=False, softmax_loss_function=uses.softmax_loss ; it([[1, 2, 3], [0, 1,
    2]], uses.memory(), [[1.0, 1.0, 0.5], [1.0, 0.0, 0.0]])
tf.contrib.crf.crf_log_likelihood(uses.chain_inputs(), [[0, 1, 2], [2, 1, 0]], [3, 2]) ;
    transition_params=uses.chain()
tf.contrib.crf.crf_multitag_log_likelihood(uses.chain_inputs(), uses.chain_inputs() > 0, [3, 2]) ;
    transition_params=uses.chain()
tf.contrib.crf.crf_log_norm(uses.chain_inputs(), [3, 2], uses.chain())
tf.contrib.crf.crf_sequence_score(uses.chain_inputs(), [[0, 1, 2], [2, 1, 0]], [3, 2], uses.chain())
tf.contrib.crf.crf_multitag_sequence_score(uses.chain_inputs(), uses.chain_inputs() > 0, [3, 2], uses.chain())
tf.contrib.crf.crf_unary_score([[0, 1, 2], [2, 1, 0]], [3, 2], uses.chain_inputs())
tf.contrib.crf.crf_binary_score([[0, 1, 2], [2, 1, 0]], [3, 2], uses.chain())
tf.contrib.crf.crf_decode(uses.chain_inputs(), uses.chain(), [3, 2])
tf.contrib.crf.crf_constrained_decode(uses.chain_inputs(), uses.chain_inputs() > 0, uses.chain(), [3, 2])
tf.contrib.crf.viterbi_decode(arrays.SQUARE, arrays.SQUARE)
tf.contrib.crf.CrfForwardRnnCell(uses.chain()) ; ; it(uses.chain(), uses.chain())
tf.contrib.crf.CrfDecodeForwardRnnCell(uses.chain()) ; ; it(uses.chain(), uses.chain())
tf.contrib.crf.CrfDecodeBackwardRnnCell(3) ; ; it(tf.constant([[0, 1, 2], [2, 1, 0]]), tf.constant([[1], [2]]))
"""
