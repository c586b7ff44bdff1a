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
"""
