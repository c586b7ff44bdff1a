"""Recipes of convolutions and pools of any rank, images, sound and signals; values.py has the names in them."""
RECIPES = """
# ---- convolutions and pools of any rank ----
tf.nn.conv3d(VOLUME, FILTER3, [1, 1, 1, 1, 1], 'SAME') ; strides=[1, 2, 1, 2, 1], padding='VALID', dilations=[1, 1, 1, 1, 1],
    data_format='NDHWC', filters=FILTER3
tf.nn.conv3d_transpose(VOLUME, tf.transpose(FILTER3, [0, 1, 2, 4, 3]), [2, 8, 8, 8, 2], 2) ; padding='VALID',
    strides=[1, 2, 2, 2, 1], dilations=1, data_format='NDHWC', filters=FILTER3, input=VOLUME
tf.nn.conv3d_backprop_filter(VOLUME, [2, 2, 2, 3, 2], tf.ones([2, 4, 4, 4, 2]), [1, 1, 1, 1, 1], 'SAME') ;
    dilations=[1, 1, 1, 1, 1], data_format='NDHWC'
tf.nn.conv3d_backprop_filter_v2(VOLUME, [2, 2, 2, 3, 2], tf.ones([2, 4, 4, 4, 2]), [1, 1, 1, 1, 1], 'SAME') ;
    dilations=[1, 1, 1, 1, 1], data_format='NDHWC'
tf.nn.max_pool3d(VOLUME, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, data_format='NDHWC'
tf.nn.avg_pool3d(VOLUME, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, data_format='NDHWC'
tf.nn.max_pool_v2(IMAGE, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, data_format='NHWC'
tf.nn.avg_pool_v2(IMAGE, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, data_format='NHWC'
tf.nn.max_pool1d(SEQUENCE, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, data_format='NWC'
tf.nn.avg_pool1d(SEQUENCE, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, data_format='NWC'
tf.nn.max_pool2d(IMAGE, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, data_format='NHWC'
tf.nn.avg_pool2d(IMAGE, 2, 2, 'SAME') ; padding='VALID', ksize=3, strides=1, input=IMAGE, data_format='NHWC'
tf.nn.pool(IMAGE, [2, 2], 'MAX', 'VALID') ; dilations=[2, 2], data_format='NHWC'
tf.nn.convolution(IMAGE, FILTER, 'SAME') ; dilations=[2, 2], data_format='NHWC', filters=FILTER
tf.nn.conv_transpose(IMAGE, tf.transpose(FILTER, [0, 1, 3, 2]), [2, 12, 12, 2], 2) ; padding='VALID', data_format='NHWC'
tf.nn.conv_transpose(IMAGE, tf.transpose(FILTER, [0, 1, 3, 2]), [2, 6, 6, 2], 1) ; dilations=2
tf.nn.conv1d_transpose(SEQUENCE, tf.ones([2, 3, 4]), [2, 6, 3], 2) ; padding='VALID', data_format='NWC'
tf.nn.conv1d_transpose(SEQUENCE, tf.ones([2, 3, 4]), [2, 3, 3], 1) ; dilations=2
tf.nn.atrous_conv2d_transpose(IMAGE, tf.transpose(FILTER, [0, 1, 3, 2]), [2, 6, 6, 2], 2, 'SAME') ; rate=1
tf.nn.with_space_to_batch(IMAGE, [2, 2], 'SAME', uses.pooled, [2, 2]) ; spatial_dims=[1, 2], data_format='NHWC',
    dilation_rate=[3, 3]
tf.nn.conv2d_backprop_filter(IMAGE, [2, 2, 3, 2], tf.ones([2, 6, 6, 2]), [1, 1, 1, 1], 'SAME') ; use_cudnn_on_gpu=False,
    dilations=[1, 1, 1, 1], data_format='NHWC'
tf.conv(IMAGE, FILTER, [1, 1, 1, 1], 'SAME') ; padding='VALID', explicit_paddings=[], data_format='CHANNELS_LAST',
    dilations=[1, 2, 2, 1], batch_dims=1, groups=1
tf.nn.conv2d_backprop_input([2, 6, 6, 3], FILTER, tf.ones([2, 6, 6, 2]), [1, 1, 1, 1], 'SAME') ; use_cudnn_on_gpu=False,
    filters=FILTER, dilations=[1, 1, 1, 1], data_format='NHWC'
tf.nn.conv1d(SEQUENCE, tf.ones([2, 4, 3]), 1, 'SAME') ; use_cudnn_on_gpu=False, input=SEQUENCE
tf.nn.conv2d(IMAGE, FILTER, [1, 1, 1, 1], 'SAME') ; data_format='NHWC', filters=FILTER
tf.nn.avg_pool(IMAGE, 2, 2, 'SAME') ; data_format='NHWC', input=IMAGE
tf.nn.max_pool(IMAGE, 2, 2, 'SAME') ; data_format='NHWC', input=IMAGE
tf.nn.conv2d_transpose(IMAGE, tf.transpose(FILTER, [0, 1, 3, 2]), [2, 6, 6, 2], [1, 1, 1, 1]) ; data_format='NHWC',
    input=IMAGE, filters=FILTER
tf.nn.depthwise_conv2d_backprop_filter(IMAGE, [2, 2, 3, 2], tf.ones([2, 6, 6, 6]), [1, 1, 1, 1], 'SAME') ;
    dilations=[1, 1, 1, 1], data_format='NHWC'
tf.nn.depthwise_conv2d_native_backprop_filter(IMAGE, [2, 2, 3, 2], tf.ones([2, 6, 6, 6]), [1, 1, 1, 1], 'SAME') ;
    dilations=[1, 1, 1, 1], data_format='NHWC'
tf.nn.depthwise_conv2d_backprop_input([2, 6, 6, 3], FILTER, tf.ones([2, 6, 6, 6]), [1, 1, 1, 1], 'SAME') ;
    dilations=[1, 1, 1, 1], data_format='NHWC'
tf.nn.depthwise_conv2d_native_backprop_input([2, 6, 6, 3], FILTER, tf.ones([2, 6, 6, 6]), [1, 1, 1, 1], 'SAME') ;
    dilations=[1, 1, 1, 1], data_format='NHWC'
# ---- tf.image ----
tf.image.rot90(PICTURE) ; k=2
tf.image.transpose(PICTURE)
tf.image.transpose_image(PICTURE)
tf.image.resize_image_with_pad(IMAGE, 9, 12) ; method=1, align_corners=True
tf.image.rgb_to_yiq(IMAGE)
tf.image.rgb_to_yuv(IMAGE)
tf.image.yiq_to_rgb(IMAGE)
tf.image.yuv_to_rgb(IMAGE)
tf.image.adjust_gamma(IMAGE) ; gamma=2.0, gain=0.5
tf.image.psnr(IMAGE, tf.sqrt(IMAGE), 1.0)
tf.image.ssim(IMAGE, tf.sqrt(IMAGE), 1.0, 3) ; filter_size=5, filter_sigma=1.0, k1=0.02, k2=0.05, return_index_map=True
tf.image.ssim_multiscale(IMAGE, tf.sqrt(IMAGE), 1.0, (0.4, 0.6), 3) ; filter_size=2, filter_sigma=1.0, k1=0.02, k2=0.05,
    power_factors=(0.5, 0.5)
tf.image.image_gradients(IMAGE)
tf.image.sobel_edges(IMAGE)
tf.image.total_variation(IMAGE)
tf.image.extract_image_patches(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID') ; sizes=[1, 2, 2, 1]
tf.image.extract_patches(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')
tf.extract_image_patches(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID') ; sizes=[1, 2, 2, 1]
tf.extract_volume_patches(VOLUME, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], 'VALID')
tf.image.draw_bounding_boxes(IMAGE, tf.constant([[[0.1, 0.1, 0.9, 0.9]]] * 2)) ; colors=[[1.0, 2.0, 3.0]]
tf.image.crop_and_resize(IMAGE, [[0.1, 0.1, 1.4, 0.9]], [0], [3, 3]) ; method='nearest', extrapolation_value=2.0,
    box_indices=[1]
tf.image.non_max_suppression(SQUARE_BOXES, [0.5, 0.9, 0.3], 3) ; iou_threshold=0.1, score_threshold=0.4
tf.image.non_max_suppression_with_scores(SQUARE_BOXES, [0.5, 0.9, 0.3], 3) ; iou_threshold=0.1, score_threshold=0.4,
    soft_nms_sigma=0.5
tf.image.non_max_suppression_overlaps(SQUARE, [0.5, 0.9, 0.3], 3) ; overlap_threshold=0.1, score_threshold=0.4
tf.image.non_max_suppression_padded(SQUARE_BOXES, tf.constant([0.5, 0.9, 0.3]), 3) ; iou_threshold=0.1, score_threshold=0.4,
    pad_to_max_output_size=True
tf.image.non_max_suppression_padded(SQUARE_BOXES, tf.constant([0.5, 0.9, 0.3]), 3, pad_to_max_output_size=True) ; tile_size=256,
    sorted_input=False, canonicalized_coordinates=True
tf.image.combined_non_max_suppression(SQUARE_BOXES[None, :, None], tf.constant([[[0.5], [0.9], [0.3]]]), 3, 3) ;
    iou_threshold=0.1, score_threshold=0.4, pad_per_class=True, clip_boxes=False
tf.image.extract_glimpse(IMAGE, [2, 2], [[0.3, 0.4], [0.2, 0.3]]) ; centered=False, normalized=False, uniform_noise=False
tf.image.is_jpeg(uses.jpeg())
tf.io.is_jpeg(uses.jpeg())
tf.image.decode_image(uses.jpeg()) ; channels=1, dtype=tf.float32, expand_animations=False
tf.io.decode_image(uses.jpeg()) ; channels=1, dtype=tf.float32, expand_animations=False
tf.image.decode_bmp(uses.jpeg()) ; channels=3
tf.io.decode_bmp(uses.jpeg()) ; channels=3
tf.image.extract_jpeg_shape(uses.jpeg()) ; output_type=tf.int64
tf.io.extract_jpeg_shape(uses.jpeg()) ; output_type=tf.int64
tf.image.decode_and_crop_jpeg(uses.jpeg(), [1, 1, 3, 3]) ; channels=1, ratio=2, fancy_upscaling=False,
    try_recover_truncated=True, acceptable_fraction=0.5, dct_method='INTEGER_ACCURATE'
tf.io.decode_and_crop_jpeg(uses.jpeg(), [1, 1, 3, 3]) ; channels=1, ratio=2, fancy_upscaling=False,
    try_recover_truncated=True, acceptable_fraction=0.5, dct_method='INTEGER_ACCURATE'
tf.image.adjust_jpeg_quality(PICTURE, 50)
tf.image.random_jpeg_quality(PICTURE, 20, 90)
# ---- dilation, CTC, averages, dropout ----
tf.nn.dilation2d(IMAGE, FILTER[:, :, :, 0], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME') ; strides=[1, 2, 2, 1], rates=[1, 2, 2, 1],
    padding='VALID', filters=FILTER[:, :, :, 0], dilations=[1, 2, 2, 1]
tf.nn.erosion2d(IMAGE, FILTER[:, :, :, 0], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.nn.all_candidate_sampler(tf.constant([[1], [2]], tf.int64), 1, 4, True) ; num_sampled=3, seed=3
tf.nn.fixed_unigram_candidate_sampler(tf.constant([[1], [2]], tf.int64), 1, 2, False, 4, unigrams=[1.0, 2.0, 3.0, 4.0], seed=3) ;
    distortion=0.5, unique=True, vocab_file='missing', num_reserved_ids=1, num_shards=2, shard=0, unigrams=[4.0, 3.0, 2.0, 1.0]
tf.nn.compute_average_loss(V) ; sample_weight=W, global_batch_size=8
tf.nn.scale_regularization_loss(V)
tf.nn.collapse_repeated([[1, 1, 2, 2, 0], [3, 3, 3, 1, 1]], [4, 5]) ; ; it[1]
tf.nn.ctc_unique_labels([[3, 4, 4, 3], [5, 5, 6, 0]])
tf.nn.ctc_loss_v2([[1, 2], [2, 1]], uses.logits_in_time(), [1, 2], [4, 4]) ; blank_index=0,
    unique=tf.nn.ctc_unique_labels([[1, 2], [2, 1]])
tf.nn.ctc_beam_search_decoder_v2(uses.logits_in_time(), [4, 3]) ; beam_width=2, top_paths=2
tf.nn.experimental.stateless_dropout(X, 0.5, [1, 2]) ; rng_alg='auto_select', noise_shape=[3, 1]
tf.nn.experimental.general_dropout(X, 0.5, uses.sampler) ; noise_shape=[3, 1]
tf.quantization.quantize_and_dequantize(Y, -1.0, 1.0) ; signed_input=False, num_bits=4, range_given=True, round_mode='HALF_UP',
    narrow_range=True
tf.quantization.quantize_and_dequantize(Y, [-1.0, -1.0, -0.5], [1.0, 0.5, 1.0], axis=0)
tf.quantization.quantize_and_dequantize_v2(Y, -1.0, 1.0) ; signed_input=False, num_bits=4, range_given=True,
    round_mode='HALF_UP', narrow_range=True
tf.quantization.quantize_and_dequantize_v2(Y, [-1.0, -1.0, -0.5], [1.0, 0.5, 1.0], axis=0)
# ---- sound and signals ----
tf.audio.encode_wav(X, 8000)
tf.audio.decode_wav(uses.wav()) ; desired_channels=2, desired_samples=2
tf.signal.kaiser_window(6) ; beta=3.0, dtype=tf.float64
tf.signal.kaiser_bessel_derived_window(6) ; beta=3.0, dtype=tf.float64
tf.signal.mdct(tf.reshape(IMAGE, [2, 108]), 8) ; window_fn=None, pad_end=True, norm='ortho'
tf.signal.inverse_mdct(tf.reshape(IMAGE, [2, 27, 4])) ; window_fn=None, norm='ortho'
"""
