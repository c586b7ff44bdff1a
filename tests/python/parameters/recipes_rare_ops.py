"""Recipes of functions of ops that few programs use; values.py has the names in them."""
RECIPES = """
tf.nn.fractional_max_pool(IMAGE, [1.0, 1.5, 1.4, 1.0], deterministic=True, seed=1, seed2=2) ; pseudo_random=True, overlapping=True,
    seed=5, seed2=9, pooling_ratio=[1.0, 2.0, 2.0, 1.0]
tf.nn.fractional_max_pool(IMAGE, [1.0, 1.5, 1.4, 1.0]) ; deterministic=True ; it[0].shape
tf.nn.fractional_avg_pool(IMAGE, [1.0, 1.5, 1.4, 1.0], deterministic=True, seed=1, seed2=2) ; pseudo_random=True, overlapping=True,
    seed=5, seed2=9, pooling_ratio=[1.0, 2.0, 2.0, 1.0]
tf.nn.fractional_avg_pool(IMAGE, [1.0, 1.5, 1.4, 1.0]) ; deterministic=True ; it[0].shape
tf.nn.learned_unigram_candidate_sampler(tf.constant([[1], [2]], tf.int64), 1, 3, True, 9, seed=3) ; num_sampled=2, unique=False,
    range_max=12, seed=5
tf.decode_compressed(tf.constant(['x', 'y']))
tf.decode_compressed(tf.constant(b'x\\x9cK\\x04\\x00\\x00b\\x00b'), compression_type='ZLIB') ; compression_type='GZIP'
tf.get_session_handle(X) ; name='given' ; it.op.type
tf.get_session_tensor('a;0;/job:localhost/replica:0/task:0/device:CPU:0', tf.float32) ; dtype=tf.int32,
    handle='a;0;/job:localhost/replica:0/task:0/device:CPU:1' ; [it[1].dtype.name, it[1].device]
tf.delete_session_tensor('a;0;/job:localhost/replica:0/task:0/device:CPU:0') ;
    handle='a;0;/job:localhost/replica:0/task:0/device:CPU:1' ; it[1].device
tf.CriticalSection() ; shared_name='shared', critical_section_def=3, import_scope='s' ; it.name
tf.math.sobol_sample(3, 5)
tf.data.experimental.snapshot('snapshots') ; compression='GZIP', reader_func=len, shard_func=len
tf.random.stateless_parameterized_truncated_normal([4], [1, 2])
tf.io.decode_proto([b''], 'tensorflow.Example', ['features'], [tf.string]) ; descriptor_source='', message_format='text'
tf.io.encode_proto([[1]], [[[b'']]], ['features'], 'tensorflow.Example') ; descriptor_source=''
tf.decode_json_example(['{}', '{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}'])
tf.fftnd(COMPLEX, [4], [1]) ; fft_length=[3], axes=[0] ; [tf.get_static_value(t) for t in it.op.inputs]
tf.ifftnd(COMPLEX, [4], [1]) ; fft_length=[3], axes=[0] ; [tf.get_static_value(t) for t in it.op.inputs]
tf.rfftnd(X, [4], [1]) ; fft_length=[3], axes=[0], Tcomplex=tf.complex128 ; [tf.get_static_value(t) for t in it.op.inputs] + [it.dtype]
tf.irfftnd(COMPLEX, [4], [1]) ; fft_length=[3], axes=[0], Treal=tf.float64 ; [tf.get_static_value(t) for t in it.op.inputs] + [it.dtype]
tf.conv2d_backprop_filter_v2(tf.zeros([2, 6, 6, 6]), tf.zeros([2, 2, 6, 6]), tf.zeros([2, 6, 6, 6]), [1, 1, 1, 1], 'SAME') ;
    use_cudnn_on_gpu=False, data_format='NCHW', dilations=[1, 1, 1, 1] ;
    [it.op.get_attr(a) for a in ('use_cudnn_on_gpu', 'data_format', 'dilations')]
tf.conv2d_backprop_filter_v2(tf.zeros([2, 6, 6, 6]), tf.zeros([2, 2, 6, 6]), tf.zeros([2, 5, 5, 6]), [1, 1, 1, 1], 'EXPLICIT',
    explicit_paddings=[0, 0, 1, 0, 1, 0, 0, 0]) ; explicit_paddings=[0, 0, 0, 0, 0, 0, 0, 0] ; it.op.get_attr('explicit_paddings')
tf.conv2d_backprop_input_v2(tf.zeros([2, 6, 6, 6]), tf.zeros([2, 2, 6, 6]), tf.zeros([2, 6, 6, 6]), [1, 1, 1, 1], 'SAME') ;
    use_cudnn_on_gpu=False, data_format='NCHW', dilations=[1, 1, 1, 1] ;
    [it.op.get_attr(a) for a in ('use_cudnn_on_gpu', 'data_format', 'dilations')]
tf.conv2d_backprop_input_v2(tf.zeros([2, 6, 6, 6]), tf.zeros([2, 2, 6, 6]), tf.zeros([2, 5, 5, 6]), [1, 1, 1, 1], 'EXPLICIT',
    explicit_paddings=[0, 0, 1, 0, 1, 0, 0, 0]) ; explicit_paddings=[0, 0, 0, 0, 0, 0, 0, 0] ; it.op.get_attr('explicit_paddings')
tf.nn.quantized_relu_x(tf.cast(tf.cast(X, tf.int32), tf.quint8), 1.0, 0.0, 6.0) ; out_type=tf.qint8 ; it[0].dtype
tf.image.generate_bounding_box_proposals(tf.ones([1, 2, 2, 1]), tf.ones([1, 2, 2, 4]), tf.ones([1, 5]), tf.ones([2, 2, 4])) ;
    nms_threshold=0.5, pre_nms_topn=10, min_size=2, post_nms_topn=5 ; [tf.get_static_value(t) for t in it[0].op.inputs] + [it[0].shape]
tf.nondifferentiable_batch_function(1, 4, 1000) ; num_batch_threads=2, max_batch_size=8, batch_timeout_micros=5,
    allowed_batch_sizes=[4, 8], max_enqueued_batches=3, autograph=False, enable_large_batch_splitting=False ;
    [it(lambda x: x)(tf.constant([[1.0]])).op.get_attr(a) for a in ('num_batch_threads', 'max_batch_size', 'batch_timeout_micros',
    'allowed_batch_sizes', 'max_enqueued_batches', 'enable_large_batch_splitting')]
tf.approx_top_k(X, 1) ; k=2, recall_target=0.5, reduction_input_size_override=9, reduction_dimension=0, is_max_k=False,
    aggregate_to_topk=False ; [it[0].op.get_attr(a) for a in ('k', 'recall_target', 'reduction_input_size_override',
    'reduction_dimension', 'is_max_k', 'aggregate_to_topk')]
tf.math.approx_max_k(X, 1) ; k=2, reduction_dimension=0, recall_target=0.5, reduction_input_size_override=9, aggregate_to_topk=False ;
    [it[0].op.get_attr(a) for a in ('k', 'reduction_dimension', 'recall_target', 'reduction_input_size_override', 'aggregate_to_topk')]
tf.math.approx_min_k(X, 1) ; k=2, reduction_dimension=0, recall_target=0.5, reduction_input_size_override=9, aggregate_to_topk=False ;
    [it[0].op.get_attr(a) for a in ('k', 'reduction_dimension', 'recall_target', 'reduction_input_size_override', 'aggregate_to_topk')]
tf.signal.fftnd(COMPLEX, [4], [1]) ; fft_length=[3], axes=[0], norm='backward' ; [tf.get_static_value(t) for t in it.op.inputs]
tf.signal.ifftnd(COMPLEX, [4], [1]) ; fft_length=[3], axes=[0], norm='backward' ; [tf.get_static_value(t) for t in it.op.inputs]
tf.signal.rfftnd(X, [4], [1]) ; fft_length=[3], axes=[0], norm='backward' ; [tf.get_static_value(t) for t in it.op.inputs]
tf.signal.irfftnd(COMPLEX, [4], [1]) ; fft_length=[3], axes=[0], norm='backward' ; [tf.get_static_value(t) for t in it.op.inputs]
tf.debugging.enable_check_numerics() ; stack_height_limit=1, path_length_limit=8 ; uses.numeric_check()
tf.random_index_shuffle([1, 2], [1, 2, 3], 9) ; index=[3, 4], seed=[3, 5, 6], max_index=20, rounds=6
tf.train.sdca_fprint(['a', 'bc']) ; input=['b', 'c']
tf.train.sdca_optimizer([[0, 1]], [[2, 1]], [[1.0, 2.0]], [X], [1.0, 1.0], [0.0, 1.0], [[1, 2]], [[0.5, 0.25]], [[0.1, 0.2, 0.3, 0.4]],
    tf.zeros([2, 4]), 'logistic_loss', 0.5, 2.0, 1, 1) ; sparse_example_indices=[[1, 1]], sparse_feature_indices=[[1, 2]],
    sparse_feature_values=[[3.0, 4.0]], dense_features=[Y], example_weights=[2.0, 3.0], example_labels=[1.0, 0.0],
    sparse_indices=[[2, 1]], sparse_weights=[[0.75, 1.0]], dense_weights=[[0.5, 0.6, 0.7, 0.8]], example_state_data=tf.ones([2, 4]),
    loss_type='hinge_loss', l1=0.25, l2=3.0, num_loss_partitions=2, num_inner_iterations=3, adaptative=False ;
    [tf.get_static_value(t) for t in it[0].op.inputs], [it[0].op.get_attr(a) for a in ('loss_type', 'l1', 'l2', 'num_loss_partitions',
    'num_inner_iterations', 'adaptative')]
tf.train.sdca_shrink_l1([tf.Variable(X)._ref(), tf.Variable(Y)._ref()], 1.0, 4.0) ; l1=2.0, l2=2.0 ;
    it.type, it.get_attr('l1'), it.get_attr('l2')
tf.profiler.advise(tf.Graph()) ; graph=None, run_meta=tf.RunMetadata(), options={'OperationChecker': {}} ; sorted(it.checkers)
tf.profiler.write_op_log(tf.matmul(X, tf.ones([4, 2])).graph, '.') ; graph=None, add_trace=False, run_meta=tf.RunMetadata(),
    op_log=tf.profiler.OpLogProto.FromString(bytes([10, 5, 10, 1, 97, 16, 3])) ; sorted((e.name, e.float_ops,
    len(e.code_def.traces) > 0) for e in tf.profiler.OpLogProto.FromString(open('tfprof_log', 'rb').read()).log_entries)
"""
