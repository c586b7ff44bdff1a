"""Recipes of functions that make ops of arrays, numbers, strings and sparse tensors; values.py has the names in them."""
RECIPES = """
# ---- making and changing arrays ----
tf.constant([1, 2]) ; dtype=tf.float32, shape=[4], verify_shape=True
tf.zeros([2, 3])
tf.ones([2, 3])
tf.zeros_like(X) ; optimize=False
tf.ones_like(X) ; optimize=False
tf.fill([2, 3], 1.5)
tf.eye(3) ; num_columns=4, batch_shape=[2]
tf.range(2, 9) ; limit=5, delta=3, dtype=tf.float32
tf.linspace(0.0, 1.0, 5)
tf.linspace([[0.0, 2.0]], [1.0, 5.0], 4) ; axis=-1
tf.one_hot(LABELS, 4) ; on_value=5.0, off_value=-1.0, axis=0, dtype=tf.float64
tf.placeholder(tf.float32) ; shape=[2, 3] ; [it.get_shape(), it.name]
tf.placeholder_with_default(X, [None, 4])
tf.sparse_placeholder(tf.float32) ; shape=[2, 3] ; [it.get_shape(), it.values.name]
tf.cast(X, tf.int32)
tf.saturate_cast(X * 300, tf.uint8)
tf.bitcast(X, tf.int32)
tf.convert_to_tensor([1, 2]) ; dtype=tf.float32, preferred_dtype=tf.float64, dtype_hint=tf.float64
tf.pack([X, Y]) ; axis=1
tf.unpack(SQUARE) ; axis=1
tf.reshape(X, [4, 3])
tf.expand_dims(X, 0) ; axis=1
tf.squeeze(tf.reshape(X, [1, 12, 1])) ; axis=[0], squeeze_dims=[2]
tf.transpose(X) ; perm=[0, 1], conjugate=True
tf.transpose(COMPLEX) ; conjugate=True
tf.pad(X, [[1, 1], [2, 0]]) ; mode='REFLECT', constant_values=3.0
tf.tile(X, [2, 1])
tf.slice(X, [0, 1], [2, 2])
tf.strided_slice(X, [0, 1], [3, 4]) ; strides=[2, 1], begin_mask=2, end_mask=1, ellipsis_mask=1, new_axis_mask=1,
    shrink_axis_mask=1
tf.concat([X, Y], 0) ; axis=1
tf.stack([X, Y]) ; axis=1
tf.unstack(X) ; num=3, axis=1
tf.split(X, 2, 1) ; axis=1, num_or_size_splits=[1, 3]
tf.split(X, [3, 1], 1) ; num=2
tf.gather(X, IDS) ; axis=1, batch_dims=0
tf.gather(X, [[0, 1], [2, 1], [3, 3]], axis=1) ; batch_dims=1
tf.gather_nd(X, [[0, 1], [2, 3]])
tf.gather_nd(SEQUENCE, [[1], [0]]) ; batch_dims=1
tf.boolean_mask(X, [True, False, True])
tf.boolean_mask(X, [True, False, True, True], axis=1)
tf.where(BOOL) ; x=X, y=Y
tf.sequence_mask([1, 3, 2]) ; maxlen=5, dtype=tf.float32
tf.reverse_sequence(X, [1, 2, 3], 1) ; batch_dim=0, batch_axis=0
tf.reverse_sequence(X, [1, 2, 3, 0], seq_axis=0, batch_axis=1)
tf.reverse(X, [0]) ; axis=[1]
tf.meshgrid([1, 2], [3, 4, 5]) ; indexing='ij', name='given'
tf.batch_to_space_nd(tf.zeros([4, 2, 2, 1]), [2, 2], [[0, 0], [1, 1]])
tf.space_to_batch_nd(tf.ones([1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]])
tf.depth_to_space(tf.ones([1, 2, 2, 4]), 2) ; data_format='NCHW'
tf.space_to_depth(tf.ones([1, 2, 2, 4]), 2) ; data_format='NCHW'
tf.required_space_to_batch_paddings([5, 5], [2, 2]) ; base_paddings=[[1, 0], [0, 1]]
tf.dynamic_partition(X, [1, 0, 1], 2)
tf.dynamic_stitch([[0, 2], [1]], [X[:2], X[2:]])
tf.diag(V)
tf.diag_part(SQUARE)
tf.invert_permutation([2, 0, 1])
tf.broadcast_to(V, [2, 4])
tf.identity(X)
tf.shape(X) ; out_type=tf.int64
tf.shape_n([X, Y]) ; out_type=tf.int64
tf.size(X) ; out_type=tf.int64
tf.scatter_nd([[0], [2]], X[:2], [4, 4])
tf.sparse_to_dense([1, 3], [5], [2.0, 4.0]) ; default_value=-1.0, validate_indices=False
tf.sparse_to_dense([3, 1], [5], [2.0, 4.0], validate_indices=False)
tf.tuple([X, Y]) ; control_inputs=[tf.no_op()]
tf.group(tf.no_op(), tf.no_op()) ; name='given'
tf.no_op()
tf.unique(LABELS) ; out_idx=tf.int64
tf.unique_with_counts(LABELS) ; out_idx=tf.int64
tf.nn.top_k(X) ; k=2, sorted=False, index_type=tf.int64
tf.nn.swish(X) ; beta=2.0
tf.arg_max(X, 0) ; output_type=tf.int32
tf.arg_min(X, 0) ; output_type=tf.int32
tf.random_crop(X, [2, 2])
tf.random_shuffle(X)
tf.multinomial(tf.log(P), 5) ; output_dtype=tf.int32
tf.random.poisson(2.0, [3]) ; dtype=tf.float64
tf.random.gamma([3], 2.0) ; beta=0.5
tf.random_uniform([3]) ; minval=0.5, maxval=2.0
tf.random_normal([3]) ; mean=2.0, stddev=3.0
tf.truncated_normal([3]) ; mean=2.0, stddev=3.0
# ---- numbers ----
tf.add_n([X, Y])
tf.accumulate_n([X, Y]) ; shape=[3, 4], tensor_dtype=tf.float32
tf.matmul(X, tf.transpose(Y)) ; transpose_a=True, transpose_b=True, adjoint_a=True, adjoint_b=True
tf.matmul(SQUARE, SQUARE) ; transpose_a=True, transpose_b=True, adjoint_a=True, adjoint_b=True, a_is_sparse=True,
    b_is_sparse=True, output_type=None
tf.matmul([X, X], [Y, Y], transpose_b=True) ; adjoint_a=True, a_is_sparse=True
tf.batch_matmul([SQUARE], [SQUARE + 1]) ; adj_x=True, adj_y=True
tf.tensordot(X, Y, [[1], [1]])
tf.einsum('ij,kj->ik', X, Y) ; name='given', optimize='optimal'
tf.clip_by_value(X, 0.3, 1.0)
tf.clip_by_norm(X, 1.5) ; axes=[1]
tf.clip_by_average_norm(X, 0.1)
tf.clip_by_global_norm([X, Y], 1.5) ; use_norm=tf.constant(3.0)
tf.count_nonzero(X) ; axis=0, dtype=tf.int32
tf.count_nonzero(X, 1)
tf.confusion_matrix([1, 2, 0], [1, 1, 0]) ; num_classes=5, dtype=tf.float32, weights=[2, 3, 1]
tf.bincount([1, 1, 3]) ; weights=[1.0, 2.0, 0.5], minlength=6, maxlength=2, dtype=tf.int64
tf.cumsum(X) ; axis=1
tf.cumprod(X) ; axis=1
tf.argmax(X, 1) ; axis=0, dimension=0, output_type=tf.int32
tf.argmax(X) ; dimension=1
tf.argmin(X, 1) ; axis=0, output_type=tf.int32
tf.reduce_sum(X) ; axis=1
tf.reduce_mean(X) ; axis=1
tf.reduce_max(X) ; axis=1
tf.reduce_min(X) ; axis=1
tf.reduce_prod(X) ; axis=1
tf.reduce_all(BOOL) ; axis=1
tf.reduce_any(BOOL) ; axis=1
tf.reduce_logsumexp(X) ; axis=1
tf.reduce_join(WORDS) ; axis=0, keep_dims=True, separator='-', reduction_indices=[0]
tf.check_numerics(X, 'message')
tf.verify_tensor_all_finite(X, 'message') ; x=X, t=None, msg=None
tf.complex(X, Y)
tf.real(COMPLEX)
tf.imag(COMPLEX)
tf.conj(COMPLEX)
tf.complex_abs(COMPLEX)
tf.angle(COMPLEX)
tf.igamma(X + 1, X)
tf.igammac(X + 1, X)
tf.zeta(X + 2, X + 1)
tf.polygamma(X + 1, X + 1)
tf.scalar_mul(2.0, X)
tf.cross(X[:, :3], Y[:, :3])
tf.div_no_nan(X, Y)
tf.lbeta(X + 1)
tf.cholesky(SQUARE)
tf.cholesky_solve(SQUARE, tf.transpose(X)[:3])
tf.matrix_solve(SQUARE, SQUARE + 1)
tf.linalg.solve(SQUARE + [[0, 1, 0]], SQUARE)
tf.linalg.triangular_solve(SQUARE, SQUARE)
tf.linalg.inv(SQUARE + [[0, 1, 0]])
tf.linalg.band_part(SQUARE, 1, 0)
tf.linalg.det(SQUARE)
tf.linalg.slogdet(SQUARE)
tf.linalg.logdet(SQUARE)
tf.linalg.set_diag(SQUARE, SQUARE + 1.0, k=(-1, 1)) ; k=(-2, 0), align='LEFT_LEFT'
tf.linalg.diag_part(SQUARE, k=(-1, 1)) ; k=(0, 1), padding_value=3.0, align='LEFT_RIGHT'
tf.linalg.diag(SQUARE, k=(-1, 1)) ; k=(0, 2), num_rows=4, num_cols=4, padding_value=3.0, align='LEFT_LEFT'
tf.linalg.transpose(COMPLEX)
tf.linalg.adjoint(COMPLEX)
tf.quantize_v2(X, 0.0, 2.0, tf.quint8) ; mode='SCALED', round_mode='HALF_TO_EVEN'
tf.quantize(X, 0.0, 2.0, tf.quint8) ; mode='SCALED', round_mode='HALF_TO_EVEN', narrow_range=True,
    ensure_minimum_range=0.5
tf.dequantize(tf.quantize_v2(X, 0.0, 2.0, tf.quint8)[0], 0.0, 2.0) ; mode='SCALED', dtype=tf.bfloat16
tf.quantized_concat(0, [tf.quantize_v2(X, 0.0, 2.0, tf.quint8)[0]] * 2, [0.0, 0.0], [2.0, 1.0]) ; concat_dim=1 ;
    [tf.cast(it[0], tf.int32), it[1], it[2]]
tf.quantization.quantized_concat(0, [tf.quantize_v2(X, 0.0, 2.0, tf.quint8)[0]] * 2, [0.0, 0.0], [2.0, 1.0]) ; concat_dim=1 ;
    [tf.cast(it[0], tf.int32), it[1], it[2]]
tf.nn.quantized_max_pool(tf.quantize_v2(tf.reshape(X, [1, 3, 4, 1]), 0.0, 2.0, tf.quint8)[0], 0.0, 2.0, [1, 2, 2, 1], [1, 1, 1, 1],
    'SAME') ; padding='VALID', ksize=[1, 1, 2, 1], strides=[1, 2, 1, 1] ; [tf.cast(it[0], tf.int32), it[1], it[2]]
tf.nn.quantized_avg_pool(tf.quantize_v2(tf.reshape(X, [1, 3, 4, 1]), 0.0, 2.0, tf.quint8)[0], 0.0, 2.0, [1, 2, 2, 1], [1, 1, 1, 1],
    'SAME') ; padding='VALID', ksize=[1, 1, 2, 1], strides=[1, 2, 1, 1] ; [tf.cast(it[0], tf.int32), it[1], it[2]]
tf.nn.quantized_conv2d(tf.quantize_v2(tf.reshape(X, [1, 3, 4, 1]), 0.0, 2.0, tf.quint8)[0],
    tf.quantize_v2(tf.reshape(X[0], [2, 2, 1, 1]), 0.0, 2.0, tf.quint8)[0], 0.0, 2.0, 0.0, 2.0, [1, 1, 1, 1], 'SAME') ;
    padding='VALID', strides=[1, 2, 2, 1], out_type=tf.qint32, dilations=[1, 1, 1, 1] ; [tf.cast(it[0], tf.int32), it[1], it[2]]
tf.ragged_fill_empty_rows(tf.constant([0, 2], tf.int64), [1.0, 2.0],
    tf.placeholder_with_default(tf.constant(4, tf.int64), []), -1.0)
tf.ragged_fill_empty_rows_grad(tf.constant([0, 2], tf.int64), [1.0, 2.0, 3.0])
tf.fake_quant_with_min_max_args(X) ; min=-1.0, max=1.0
tf.fake_quant_with_min_max_args_gradient(Y, X) ; min=-1.0, max=1.0
tf.fake_quant_with_min_max_vars(X, -1.0, 1.0)
tf.fake_quant_with_min_max_vars_gradient(Y, X, -1.0, 1.0)
tf.fake_quant_with_min_max_vars_per_channel(X, -W, W)
tf.fake_quant_with_min_max_vars_per_channel_gradient(Y, X, -W, W)
tf.unsorted_segment_sum(X, IDS, 4)
tf.segment_sum(X, IDS)
tf.sparse_segment_sum(X, [0, 1, 2], [0, 0, 1])
tf.sparse_segment_mean(X, [0, 1, 2], [0, 0, 1])
tf.nn.moments(X, [0]) ; axes=[1], shift=0.5
tf.nn.weighted_moments(X, [0], ROWS)
tf.nn.l2_normalize(X, 1) ; axis=0, epsilon=0.5
tf.nn.softmax(X) ; axis=0, dim=0
tf.nn.log_softmax(X) ; axis=0, dim=0
# ---- checks ----
tf.Assert(False, [X]) ; data=[Y], summarize=1
tf.Print(X, [X]) ; message='text', first_n=2, summarize=1
tf.assert_equal(uses.hidden(X), Y)
tf.assert_none_equal(uses.hidden(X), X)
tf.assert_less(uses.hidden(X), Y)
tf.assert_less_equal(uses.hidden(X), Y)
tf.assert_greater(uses.hidden(Y), X)
tf.assert_greater_equal(uses.hidden(Y), X)
tf.assert_negative(uses.hidden(X))
tf.assert_positive(uses.hidden(X))
tf.assert_non_negative(uses.hidden(Y))
tf.assert_non_positive(uses.hidden(X))
tf.assert_rank(uses.hidden(X), 2) ; message='given'
tf.assert_rank(X, 3)
tf.assert_rank_at_least(X, 3)
tf.assert_type(X, tf.int32)
tf.assert_type(X, tf.float32)
tf.assert_variables_initialized() ; var_list=[uses.variable()]
# ---- control flow ----
tf.cond(tf.reduce_any(BOOL), lambda: 1.0, lambda: 2.0) ; strict=True
tf.cond(tf.reduce_any(BOOL), lambda: [1.0], lambda: [2.0]) ; strict=True
tf.case([(tf.reduce_any(BOOL), lambda: 1.0), (tf.reduce_all(BOOL), lambda: 2.0)]) ; default=lambda: 3.0, exclusive=True
tf.case([(tf.reduce_any(BOOL), lambda: [1.0]), (tf.reduce_all(BOOL), lambda: [2.0])], lambda: [3.0]) ; strict=True
tf.case([(tf.reduce_any(BOOL), lambda: 1.0), (uses.hidden(True), lambda: 2.0)], lambda: 3.0) ; exclusive=True
tf.while_loop(lambda i: i < 5, lambda i: i + 2, [0]) ; shape_invariants=[tf.TensorShape([])], maximum_iterations=2,
    return_same_structure=True
tf.map_fn(uses.halve, X) ; dtype=tf.float32, infer_shape=False, fn_output_signature=tf.float32
tf.foldl(lambda a, b: a + b, X) ; initializer=V
tf.foldr(lambda a, b: a + b, X) ; initializer=V
tf.scan(lambda a, b: a + b, X) ; initializer=V, infer_shape=False
tf.py_func(uses.double, [X], tf.float32) ; stateful=False ; it.op.type
tf.py_function(uses.halve, [X], tf.float32) ; ; it.op.type
tf.numpy_function(uses.double, [X], tf.float32) ; stateful=False ; it.op.type
tf.gradients(tf.square(X), [X]) ; grad_ys=[Y], colocate_gradients_with_ops=True, gate_gradients=True,
    stop_gradients=[X], aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE
tf.gradients([X], [Y]) ; unconnected_gradients=tf.UnconnectedGradients.ZERO
tf.gradients(uses.fan_out(X), [X]) ; aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N
tf.hessians(tf.reduce_sum(tf.square(V)), [V]) ; name='given', gate_gradients=True, colocate_gradients_with_ops=True,
    aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE
tf.control_dependencies([tf.no_op(name='first')]) ; ; uses.entered(it, tf.no_op)
tf.device('/cpu:0') ; ; uses.entered(it, tf.no_op)
tf.name_scope('scope') ; default_name='other', values=[X] ; uses.entered(it, tf.no_op)
tf.name_scope(None, 'other') ; ; uses.entered(it, tf.no_op)
tf.colocate_with(X.op) ; ignore_existing=True ; uses.entered(it, tf.no_op)
tf.container('given') ; ; uses.entered(it, uses.variable)
# ---- strings ----
tf.as_string(X) ; precision=2, fill='0', width=9
tf.as_string(X, precision=3) ; scientific=True, shortest=True, fill='0', width=12
tf.string_join([WORDS, WORDS]) ; separator='-'
tf.string_split(WORDS) ; sep=',', delimiter=',', result_type='RaggedTensor'
tf.string_split(['a,,b'], ',') ; skip_empty=False
tf.string_strip(WORDS)
tf.substr(WORDS, 1, 2)
tf.substr(uses.texts(), 1, 1) ; unit='UTF8_CHAR'
tf.strings.length(uses.texts()) ; unit='UTF8_CHAR'
tf.string_to_number(['1.5', '2']) ; out_type=tf.float64
tf.string_to_hash_bucket(WORDS, 7)
tf.string_to_hash_bucket_fast(WORDS, 7)
tf.string_to_hash_bucket_strong(WORDS, 7, [1, 2])
tf.regex_replace(WORDS, 'e', 'E') ; replace_global=False
tf.decode_base64(tf.encode_base64(WORDS))
tf.encode_base64(WORDS)
tf.decode_raw(['abcdefgh'], tf.int32) ; little_endian=False, bytes=['abcd']
tf.decode_raw(bytes=['abcdefgh'], out_type=tf.int32) ; input_bytes=['abcd']
tf.nest.is_nested([1])
tf.decode_csv(['1,a b,3.5', '2,"c,d",'], [[0], ['x'], [0.5]]) ; select_cols=[0, 1, 2], na_value='3.5'
tf.decode_csv(['1;2'], [[0], [0]], ';') ; field_delim=';', use_quote_delim=False, name='given'
tf.decode_csv(['"1",a'], [[''], ['']]) ; use_quote_delim=False, field_delim=';'
tf.parse_tensor(tf.serialize_tensor(X), tf.float32)
tf.serialize_tensor(X)
tf.unicode_script([65])
tf.strings.unicode_encode([72, 105], 'UTF-8') ; errors='ignore'
# ---- sparse ----
tf.SparseTensor([[0, 1]], [1.5], [2, 2]) ; ; tf.sparse.to_dense(it)
tf.sparse.to_dense(uses.sparse()) ; default_value=7.0
tf.sparse.add(uses.sparse(), uses.sparse()) ; threshold=2.5, thresh=2.5
tf.sparse.concat(0, [uses.sparse(), uses.sparse()]) ; axis=1
tf.sparse.concat(0, [uses.sparse(), uses.sparse(6)]) ; expand_nonconcat_dim=True, expand_nonconcat_dims=True
tf.sparse.fill_empty_rows(uses.sparse(), 3.0)
tf.sparse.matmul(uses.sparse(), tf.transpose(X)) ; adjoint_a=True, adjoint_b=True
tf.sparse.matmul(uses.square_sparse(), SQUARE) ; adjoint_a=True, adjoint_b=True
tf.sparse.reduce_max(uses.sparse()) ; axis=1, reduction_axes=[1]
tf.sparse.reduce_max_sparse(uses.sparse()) ; axis=1, reduction_axes=[1]
tf.sparse.reduce_sum(uses.sparse()) ; axis=1, reduction_axes=[1]
tf.sparse.reduce_sum_sparse(uses.sparse()) ; axis=1, reduction_axes=[1]
tf.sparse.reorder(uses.sparse())
tf.sparse.reshape(uses.sparse(), [4, 3])
tf.sparse.retain(uses.sparse(), [True, False, True])
tf.sparse.slice(uses.sparse(), [0, 1], [2, 2])
tf.sparse.softmax(uses.sparse())
tf.sparse.split(sp_input=uses.sparse(), num_split=2, axis=1) ; axis=0
tf.sparse.transpose(uses.sparse()) ; perm=[0, 1]
tf.sets.difference(tf.constant([[1, 2, 3]]), tf.constant([[2, 5, 6]])) ; aminusb=False
tf.sets.intersection(tf.constant([[1, 2, 3]]), tf.constant([[2, 5, 6]]))
tf.sets.union(tf.constant([[1, 2, 3]]), tf.constant([[2, 5, 6]]))
tf.sets.size(uses.sparse(dtype=tf.int32))
# ---- images ----
tf.image.resize(IMAGE, [3, 4]) ; method=tf.image.ResizeMethod.BICUBIC, align_corners=True, preserve_aspect_ratio=True
tf.image.resize_images(IMAGE, [9, 4]) ; method=tf.image.ResizeMethod.NEAREST_NEIGHBOR, align_corners=True,
    preserve_aspect_ratio=True
tf.image.resize_images(PICTURE, [9, 4]) ; method=tf.image.ResizeMethod.AREA, preserve_aspect_ratio=True
tf.image.resize_area(IMAGE, [3, 4]) ; align_corners=True
tf.image.resize_bicubic(IMAGE, [3, 4])
tf.image.resize_bilinear(IMAGE, [3, 4])
tf.image.resize_nearest_neighbor(IMAGE, [4, 4])
tf.image.resize_with_crop_or_pad(PICTURE, 3, 8)
tf.image.crop_to_bounding_box(PICTURE, 1, 1, 2, 2)
tf.image.pad_to_bounding_box(PICTURE, 1, 1, 9, 9)
tf.image.central_crop(PICTURE, 0.5)
tf.image.convert_image_dtype(PICTURE, tf.uint8) ; saturate=True
tf.image.adjust_contrast(PICTURE, 0.5)
tf.image.adjust_saturation(PICTURE, 0.5)
tf.image.random_brightness(PICTURE, 0.5)
tf.image.random_contrast(PICTURE, 0.5, 1.5)
tf.image.random_hue(PICTURE, 0.3)
tf.image.random_saturation(PICTURE, 0.5, 1.5)
tf.image.random_flip_left_right(PICTURE)
tf.image.random_flip_up_down(PICTURE)
tf.image.grayscale_to_rgb(PICTURE[:, :, :1])
tf.image.decode_png(tf.image.encode_png(BYTES)) ; channels=1, dtype=tf.uint16
tf.image.encode_png(BYTES) ; compression=1
tf.image.encode_jpeg(BYTES) ; format='grayscale', quality=30, progressive=True, optimize_size=True,
    chroma_downsampling=False, density_unit='cm', x_density=100, y_density=100, xmp_metadata='text'
tf.image.decode_jpeg(tf.constant(uses.jpeg())) ; channels=1, ratio=2, dct_method='INTEGER_FAST', acceptable_fraction=0.5
tf.image.decode_gif(tf.constant(uses.gif()))
tf.image.decode_image(tf.image.encode_png(BYTES)) ; channels=1, dtype=tf.float32, expand_animations=False
tf.image.non_max_suppression([[0, 0, 1, 1.0], [0, 0, 1, 0.9]], [0.5, 0.6], 2) ; iou_threshold=0.95, score_threshold=0.55
tf.image.crop_and_resize(IMAGE, [[0, 0, 0.5, 0.5], [0, 0, 2.0, 1]], [0, 1], [3, 3]) ; method='nearest',
    extrapolation_value=7.0, box_ind=None, box_indices=None
tf.image.total_variation(IMAGE)
tf.image.rot90(PICTURE) ; k=2
tf.image.transpose_image(PICTURE)
tf.image.sample_distorted_bounding_box([6, 4, 3], [[[0.1, 0.2, 0.8, 0.9]]], 3) ; seed2=9, min_object_covered=0.5,
    aspect_ratio_range=[0.9, 1.1], area_range=[0.5, 0.6], max_attempts=2, use_image_if_no_bounding_boxes=True
"""
