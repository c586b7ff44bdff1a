"""More of what TensorFlow's own unit tests look at: edges of arrays, mathematics, networks, images, text, losses and variables."""

import functools

import numpy as np

from machine import Described, case


def said(call):
    """What a call gives, or the class of what it raises."""
    try:
        made = call()
    except Exception as e:  # noqa: BLE001 - the class is compared
        return type(e).__name__
    return "made" if hasattr(made, "graph") or isinstance(made, (list, tuple)) and made and hasattr(made[0], "graph") else made


def check(function=None, *, tolerance=1e-5):
    """A case whose tensors are compared by their values alone; their names and nodes are compared elsewhere."""

    def mark(f):
        @case(nodes=False, tolerance=tolerance)
        @functools.wraps(f)
        def values(tf):
            taken = Described(tf)
            nest = taken.take(f(tf))
            with tf.Session() as session:
                session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
                return without_names(nest, session.run(taken.tensors))

        return values

    return mark if function is None else mark(function)


def without_names(x, values):
    if hasattr(x, "at"):
        return values[x.at]
    if isinstance(x, dict):
        return {k: without_names(v, values) for k, v in x.items()}
    return [without_names(v, values) for v in x] if isinstance(x, list) else x


# ---- arrays ----


@check
def slices_of_all_kinds(tf):
    x = tf.constant(np.arange(24).reshape(2, 3, 4))
    n = tf.placeholder_with_default(1, [])
    return (
        [
            x[1], x[-1, ..., 2], x[:, ::-1], x[..., tf.newaxis, 1:3], x[n], x[n:, :n], x[:, 1:2][0], x[tf.newaxis, ..., -2::-1], x[0:0],
            x[1, 2, 3], x[:, -5:5], x[n : n + 1, n], x[..., ::2], x[0][::-2],
        ]
    ), [
        said(lambda: x[1, 2, 3, 4]), said(lambda: x[..., ...]), said(lambda: x[5]), said(lambda: x["a"]), said(lambda: x[1.5]),
        said(lambda: x[::0]), said(lambda: x[None].shape.as_list()),
    ]


@check
def shapes_at_run_time(tf):
    x = tf.placeholder_with_default(np.arange(12, dtype=np.float32).reshape(3, 4), [None, None])
    with tf.Session() as session:
        return [
            said(lambda t=t: session.run(t))
            for t in (
                tf.reshape(x, [-1]), tf.reshape(x, [5, -1]), tf.reshape(x, [2, 6]), tf.reshape(x, [0, -1]), tf.gather(x, [3]),
                tf.gather(x, [2]), tf.concat([x, x[:, :2]], 0), tf.concat([x, x[:, :2]], 1), tf.slice(x, [1, 1], [5, 1]),
                tf.tile(x, [1, 0]), tf.transpose(x, [1, 1]), tf.matmul(x, x), tf.split(x, 3)[0], tf.one_hot([0, 5, -1], 3),
                tf.unstack(x[:3], num=3)[1], tf.pad(x, [[1, 0], [0, 0]]), tf.reverse_sequence(x, [1, 2, 5], 1), tf.diag_part(x),
            )
        ]


@check
def stacking_and_taking_apart(tf):
    a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[5, 6], [7, 8]])
    return (
        [tf.stack([a, b], axis=i) for i in (0, 1, 2, -1, -3)], tf.unstack(a, axis=1), tf.unstack(a, axis=-2), tf.split(a, [1, -1], 1),
        tf.concat(a, 0), tf.parallel_stack([a, b]),
    ), [
        said(lambda: tf.stack([a, b], axis=3)), said(lambda: tf.unstack(a, axis=2)), said(lambda: tf.unstack(tf.placeholder(tf.int32))),
        said(lambda: tf.unstack(a, num=3)), said(lambda: tf.split(a, [1, 2])), said(lambda: tf.split(a, 3)),
        said(lambda: tf.concat([], 0)), said(lambda: tf.stack([])),
    ]


@check
def meshes_masks_and_parts(tf):
    x, y = tf.meshgrid([1, 2, 3], [4, 5])
    mask = tf.constant([True, False, True])
    return (
        x, y, tf.meshgrid([1, 2], [3], [5, 6], indexing="ij"), tf.boolean_mask(tf.constant([[1, 2], [3, 4], [5, 6]]), mask),
        tf.boolean_mask(tf.constant([[1, 2], [3, 4]]), [[True, False], [True, True]]),
        tf.boolean_mask(tf.constant([[1, 2, 3]]), mask, axis=1),
        [tf.boolean_mask(tf.constant([[1, 2], [3, 4]]), m) for m in ([[0.5, 0], [0, -1]], [0, 2], np.uint8([1, 0]), np.float64([0, 1]))],
        [
            said(lambda: tf.boolean_mask([1, 2], [True])), said(lambda: tf.boolean_mask([1, 2], tf.placeholder(tf.bool))),
            said(lambda: tf.boolean_mask([[1]], True)), said(lambda: tf.boolean_mask([1, 2], ["a", ""])),
        ],
        tf.dynamic_partition([1, 2, 3], [1, 0, 1], 2), tf.where([[True, False], [False, True]]), tf.where(mask, [1, 2, 3], [4, 5, 6]),
        tf.sequence_mask([1, 3, 0]), tf.sequence_mask([[1], [2]], 3, tf.int32), tf.invert_permutation([2, 0, 1]),
        tf.edit_distance(tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2]), tf.SparseTensor([[0, 0]], [1], [1, 1])),
    )


@check
def broadcasting_and_filling(tf):
    return (
        tf.broadcast_to([1, 2], [3, 2]), tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])), tf.fill([2], "a"),
        tf.zeros([2], tf.string), tf.ones_like([True, False]), tf.zeros_like([[1.5]], dtype=tf.int32), tf.eye(2, 3, [2]),
        tf.linspace(0.0, 1.0, 5), tf.range(3), tf.range(2, 9, 3), tf.range(5, 0, -2), tf.range(0.0, 1.0, 0.25),
        tf.range(3, dtype=tf.float64), tf.size(tf.ones([2, 3])), tf.rank(tf.ones([2, 3])), tf.shape_n([[1], [2]]),
        [
            said(lambda: tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))), said(lambda: tf.range(1, 5, 0)),
            said(lambda: tf.fill([[1]], 2)),
        ],
    )


# ---- mathematics ----


@check
def divisions_and_remainders(tf):
    a, b = tf.constant([-7, -3, 3, 7]), tf.constant([2, -2, -2, 2])
    f, g = tf.constant([-7.5, -3.0, 3.0, 7.5]), tf.constant([2.0, -2.0, -2.0, 2.0])
    return (
        a / b, a // b, a % b, f / g, f // g, f % g, tf.truncatediv(a, b), tf.truncatemod(a, b), tf.floormod(f, g), tf.div(a, b),
        tf.div(f, g), tf.realdiv(f, g), tf.div_no_nan(f, [0.0, 1, 0, 2]), tf.divide(7, 2), tf.mod(-7, 3), 2 / a, 2.0 // f, 5 % b, -a,
        abs(f), f**2, 2 ** a[2:],
    )


@check
def reductions_of_all_kinds(tf):
    x = tf.constant([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    n = tf.placeholder_with_default([0], [None])
    return (
        [f(x) for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min, tf.reduce_logsumexp)],
        [f(x, [0, 1]) for f in (tf.reduce_sum, tf.reduce_max)], [f(x, -1, keepdims=True) for f in (tf.reduce_mean, tf.reduce_logsumexp)],
        tf.reduce_sum(x, n), tf.reduce_sum(x, []), tf.reduce_mean(tf.constant([1, 2])), tf.reduce_all(x > 0, 1), tf.reduce_any(x > 4, 0),
        tf.reduce_join([["a", "b"], ["c", "d"]], 0, separator="-"), tf.count_nonzero(x, 1), tf.accumulate_n([x, x]), tf.add_n([x]),
        tf.reduce_sum(tf.zeros([0, 3]), 0), tf.reduce_max(tf.zeros([0, 3]), 0), tf.reduce_mean(tf.zeros([0])),
        [
            said(lambda: tf.reduce_sum(x, 2)), said(lambda: tf.add_n([])), said(lambda: tf.reduce_sum(x, axis=0, reduction_indices=1)),
            said(lambda: tf.reduce_sum("a")),
        ],
    )


@check
def cumulative_sums_and_segments(tf):
    x, ids = tf.constant([[1.0, 2], [3, 4], [5, 6]]), tf.constant([0, 0, 2])
    return (
        tf.cumsum(x), tf.cumsum(x, 1, exclusive=True), tf.cumsum(x, 0, reverse=True), tf.cumprod(x, 0, True, True),
        [f(x, ids) for f in (tf.segment_sum, tf.segment_mean, tf.segment_max, tf.segment_min, tf.segment_prod)],
        [f(x, [2, 0, 2], 4) for f in (tf.unsorted_segment_sum, tf.unsorted_segment_max, tf.unsorted_segment_mean)],
        tf.unsorted_segment_sum(x, [-1, 0, 1], 2), tf.sparse_segment_mean(x, [0, 2], [0, 0]), tf.bincount([1, 1, 3]),
        tf.bincount([1, 1, 3], minlength=6), tf.histogram_fixed_width([0.1, 0.5, 2.0, -1.0], [0.0, 1.0], 4),
        tf.confusion_matrix([0, 1, 1], [1, 1, 0]), tf.nn.top_k(x, 1), tf.nn.in_top_k(x, [0, 1, 1], 1),
    )


@check
def special_values(tf):
    x = tf.constant([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    return (
        [
            f(x)
            for f in (
                tf.sign, tf.sqrt, tf.log, tf.log1p, tf.exp, tf.expm1, tf.sigmoid, tf.tanh, tf.nn.softplus, tf.nn.relu, tf.nn.relu6,
                tf.nn.elu, tf.nn.selu, tf.nn.softsign, tf.square, tf.rsqrt, tf.reciprocal, tf.round, tf.floor, tf.ceil, tf.rint,
                tf.is_nan, tf.is_inf, tf.is_finite, tf.erf, tf.lgamma, tf.abs, tf.sin, tf.atan,
            )
        ],
        tf.maximum(x, 0.0), tf.minimum(x, 0.0), tf.pow(x, 0.0), tf.clip_by_value(x, -1.0, 1.0), tf.round([0.5, 1.5, 2.5, -0.5]),
        tf.cast([1.9, -1.9], tf.int32), tf.argmax([1.0, np.nan, 2.0]), tf.saturate_cast([300.0, -5.0], tf.uint8),
    )


@check
def gradients_at_edges(tf):
    x = tf.constant([0.0, 1.0, -1.0, 2.0])
    ys = [
        tf.abs(x), tf.nn.relu(x), tf.maximum(x, 0.0), tf.minimum(x, 1.0), tf.clip_by_value(x, 0.0, 1.0), tf.sign(x), tf.nn.elu(x),
        tf.nn.relu6(x * 3), tf.where(x > 0, x * x, -x), tf.reduce_max(tf.stack([x, x]), 0), tf.reduce_min(x), tf.pow(x, 2.0),
        tf.pow(2.0, x), tf.norm(x), tf.sqrt(x * x), tf.nn.top_k(x, 2)[0], tf.cumsum(x), tf.reverse(x, [0]),
        tf.segment_max(x, [0, 0, 1, 1]), tf.nn.leaky_relu(x), tf.reduce_prod(x), tf.floor(x) * x,
    ]
    return [tf.gradients(y, x)[0] for y in ys], [
        said(lambda: tf.gradients(tf.cast(x, tf.int32), x)), said(lambda: tf.gradients([], x)), said(lambda: tf.gradients(x, [])),
        said(lambda: tf.gradients(x * 2, x, grad_ys=[1.0, 2.0])),
    ]


@check(tolerance=1e-4)
def linear_algebra(tf):
    a = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    b = tf.constant([[1.0], [2.0]])
    return (
        tf.matrix_inverse(a), tf.matrix_determinant(a), tf.cholesky(a), tf.matrix_solve(a, b), tf.matrix_triangular_solve(a, b),
        tf.cholesky_solve(tf.cholesky(a), b), tf.self_adjoint_eigvals(a), tf.svd(a, compute_uv=False), tf.trace(a),
        tf.matrix_band_part(a, 0, -1), tf.matrix_diag([1.0, 2.0]), tf.matrix_set_diag(a, [9.0, 8.0]),
        tf.matrix_transpose(tf.stack([a, a])), tf.matmul(a, b, adjoint_a=True), tf.norm(a, "fro", [0, 1]), tf.norm(a, 1, 0),
        tf.norm(a, np.inf), tf.cross([1.0, 0, 0], [0.0, 1, 0]), tf.einsum("ij,jk->ki", a, b), tf.linalg.logdet(a), tf.tensordot(a, a, 2),
        tf.gradients(tf.matrix_determinant(a), a), tf.gradients(tf.cholesky(a), a), tf.global_norm([a, b, None]), tf.clip_by_norm(a, 1.0),
        tf.clip_by_average_norm(a, 0.5),
    )


# ---- networks ----


@check(tolerance=1e-4)
def pools_and_convolutions(tf):
    x = tf.constant(np.arange(50, dtype=np.float32).reshape(1, 5, 5, 2) / 10)
    k = tf.constant(np.arange(36, dtype=np.float32).reshape(3, 3, 2, 2) / 10 - 1)
    d = k[:, :, :, :1]
    return (
        tf.nn.conv2d(x, k, [1, 2, 2, 1], "SAME"), tf.nn.conv2d(x, k, [1, 1, 1, 1], "VALID", dilations=[1, 2, 2, 1]),
        tf.nn.conv2d(x, k, [1, 1, 1, 1], [[0, 0], [1, 0], [2, 1], [0, 0]]), tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"),
        tf.nn.separable_conv2d(x, d, tf.ones([1, 1, 2, 3]), [1, 2, 2, 1], "SAME"), tf.nn.atrous_conv2d(x, k, 2, "SAME"),
        tf.nn.conv2d_transpose(x, k, [1, 10, 10, 2], [1, 2, 2, 1]), tf.nn.conv1d(x[0], k[0], 2, "SAME"),
        tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"),
        tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), tf.nn.pool(x, [2, 2], "AVG", "SAME", strides=[2, 1]),
        tf.nn.convolution(x, k, "VALID", dilation_rate=[2, 1]), tf.nn.dilation2d(x, d[:, :, :, 0], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        tf.nn.fractional_max_pool(x, [1.0, 1.4, 1.4, 1.0], seed=5, deterministic=True)[0],
        [
            said(lambda: tf.nn.conv2d(x, k, [1, 0, 1, 1], "SAME")), said(lambda: tf.nn.max_pool(x, [1, 7, 7, 1], [1, 1, 1, 1], "VALID")),
            said(lambda: tf.nn.conv2d(x, k[:, :, :1], [1, 1, 1, 1], "SAME")), said(lambda: tf.nn.conv2d(x, k, [1, 1, 1, 1], "OTHER")),
        ],
    )


@check(tolerance=1e-4)
def normalizations_and_losses_of_networks(tf):
    x, labels = tf.constant([[1.0, 2, 3], [2, 1, 0.5]]), tf.constant([[0.0, 0, 1], [0.5, 0.5, 0]])
    mean, variance = tf.nn.moments(x, [0])
    return (
        tf.nn.softmax(x, 0), tf.nn.log_softmax(x), tf.nn.moments(x, [0, 1], keep_dims=True), tf.nn.weighted_moments(x, [1], labels),
        tf.nn.batch_normalization(x, mean, variance, 0.5, 2.0, 1e-3), tf.nn.l2_normalize(x, 1), tf.nn.l2_normalize(x, [0, 1], 0.1),
        tf.nn.l2_loss(x), tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
        tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=x), tf.nn.weighted_cross_entropy_with_logits(labels, x, 2.0),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x), tf.nn.log_poisson_loss(labels, x, True),
        tf.nn.lrn(tf.reshape(x, [1, 1, 2, 3]), 1), tf.nn.crelu(x), tf.nn.sufficient_statistics(x, [0]),
        tf.nn.normalize_moments(2.0, [1.0], [3.0], None), tf.nn.xw_plus_b(x, tf.ones([3, 2]), [1.0, 2]), tf.nn.zero_fraction([0.0, 1]),
        tf.nn.dropout(x, 1.0),
        [
            said(lambda: tf.nn.dropout(x, 0.0)), said(lambda: tf.nn.dropout(x, 1.5)), said(lambda: tf.nn.dropout(tf.constant([1]), 0.5)),
            said(lambda: tf.nn.softmax_cross_entropy_with_logits(x, labels)), said(lambda: tf.nn.softmax(x, 2)),
            said(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)),
        ],
    )


@check(tolerance=1e-4)
def library_losses(tf):
    y, p, w = tf.constant([[1.0, 0], [0, 1]]), tf.constant([[0.8, 0.3], [0.4, 0.6]]), tf.constant([[1.0], [0.0]])
    made = [
        f(y, p, weights=v)
        for f in (
            tf.losses.absolute_difference, tf.losses.mean_squared_error, tf.losses.log_loss, tf.losses.huber_loss, tf.losses.hinge_loss,
            tf.losses.sigmoid_cross_entropy,
        )
        for v in (1.0, w, 0.0)
    ]
    made += [
        tf.losses.softmax_cross_entropy(y, p, label_smoothing=0.1), tf.losses.sparse_softmax_cross_entropy([0, 1], p, weights=[1.0, 2]),
        tf.losses.cosine_distance(y, p, axis=1), tf.losses.mean_pairwise_squared_error(y, p),
    ]
    made += [tf.losses.mean_squared_error(y, p, reduction=r) for r in tf.losses.Reduction.all() if r != tf.losses.Reduction.NONE]
    return (
        made, tf.losses.get_total_loss(), len(tf.losses.get_losses()),
        [
            said(lambda: tf.losses.mean_squared_error(y, p[:1])), said(lambda: tf.losses.mean_squared_error(y, p, weights=[1.0, 2, 3])),
            said(lambda: tf.losses.mean_squared_error(None, p)), said(lambda: tf.losses.cosine_distance(y, p)),
            said(lambda: tf.losses.mean_squared_error(y, p, reduction="x")), said(lambda: tf.losses.compute_weighted_loss(y, w[0, :0])),
        ],
    )


@check(tolerance=1e-4)
def streaming_metrics(tf):
    y, p = tf.constant([1, 0, 1, 1]), tf.constant([0.9, 0.4, 0.2, 0.7])
    hard = tf.to_int32(p > 0.5)
    m = tf.metrics
    pairs = [
        m.accuracy(y, hard), m.precision(y, hard), m.recall(y, hard, weights=[1, 1, 0, 2]), m.auc(y, p),
        m.auc(y, p, curve="PR", num_thresholds=20), m.mean(p), m.mean_squared_error(tf.to_float(y), p), m.mean_iou(y, hard, 2),
        m.true_positives(y, hard), m.false_negatives(y, hard), m.precision_at_thresholds(y, p, [0.3, 0.8]),
        m.recall_at_k(tf.cast([[0], [1]], tf.int64), [[0.1, 0.9], [0.2, 0.8]], 1), m.root_mean_squared_error(tf.to_float(y), p),
        m.mean_per_class_accuracy(y, hard, 2), m.sensitivity_at_specificity(y, p, 0.5), m.percentage_below(p, 0.5),
        m.mean_cosine_distance([[1.0, 0]], [[0.6, 0.8]], 1), m.mean_relative_error(tf.to_float(y), p, [1.0, 1, 2, 1]),
        m.mean_tensor([[1.0, 2]], weights=0.5),
    ]
    values, updates = zip(*pairs)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return session.run(values[1]), session.run(updates), session.run(updates), session.run(values), len(tf.local_variables())


# ---- images and text ----


@check(tolerance=1e-4)
def images_at_edges(tf):
    x = tf.constant(np.arange(48, dtype=np.float32).reshape(1, 4, 4, 3) / 48)
    u = tf.constant(np.arange(48).reshape(4, 4, 3).astype(np.uint8) * 5)
    i = tf.image
    return (
        [i.resize_images(x, [3, 5], method=m) for m in range(4)], i.resize_images(x, [6, 6], align_corners=True),
        i.resize_image_with_crop_or_pad(x, 2, 6), i.central_crop(x[0], 0.5), i.crop_to_bounding_box(x, 1, 1, 2, 2),
        i.pad_to_bounding_box(x, 1, 0, 6, 5), i.flip_left_right(x), i.rot90(x[0], 3), i.transpose_image(x[0]), i.rgb_to_grayscale(x),
        i.rgb_to_hsv(x), i.hsv_to_rgb(x), i.adjust_brightness(u, 0.2), i.adjust_contrast(x, 2.0), i.adjust_hue(x, 0.1),
        i.adjust_saturation(x, 0.5), i.adjust_gamma(x, 2.0), i.per_image_standardization(x[0]), i.convert_image_dtype(u, tf.float32),
        i.convert_image_dtype(x, tf.uint8), i.crop_and_resize(x, [[0.0, 0, 1, 1], [0.2, 0.2, 1.2, 0.8]], [0, 0], [2, 2]),
        i.psnr(x, x * 0.9, 1.0), i.total_variation(x), i.sobel_edges(x), i.draw_bounding_boxes(x, [[[0.1, 0.1, 0.9, 0.9]]]),
        i.extract_glimpse(x, [2, 2], [[0.0, 0.5]]),
        i.non_max_suppression([[0.0, 0, 1, 1], [0, 0, 1, 0.9], [0, 2, 1, 3]], [0.5, 0.9, 0.4], 3, 0.5), i.grayscale_to_rgb(x[..., :1]),
        [
            said(lambda: i.central_crop(x[0], 0.0)), said(lambda: i.crop_to_bounding_box(x, 3, 3, 4, 4)),
            said(lambda: i.flip_up_down(tf.ones([2]))), said(lambda: i.resize_images(x, [3])), said(lambda: i.grayscale_to_rgb(x)),
            said(lambda: i.adjust_gamma(x, -1.0)),
        ],
    )


@check
def texts_of_all_kinds(tf):
    s = tf.constant(["ab c", "", "Ärger x y", "1,2"])
    t = tf.strings
    return (
        t.length(s), t.length(s, unit="UTF8_CHAR"), t.substr(s[:1], 1, 2), t.upper(["aé"]), t.lower(["AÉ"], encoding="utf-8"),
        tf.string_split(s), tf.string_split(s, ""), tf.string_split(["a,,b"], ",", skip_empty=False),
        t.join([["a", "b"], ["c", "d"]], "-"), t.strip([" a "]), t.regex_replace(s, "[a-z]", "_"), t.regex_full_match(s, ".*c"),
        tf.as_string([1.5, 2.0], precision=2), tf.as_string([3, -4], width=4, fill="0"), tf.as_string([True]),
        tf.string_to_number(["1.5", "-2"]), tf.string_to_number(["7"], tf.int64), tf.string_to_hash_bucket_fast(s, 10),
        tf.string_to_hash_bucket_strong(s, 10, [1, 2]), tf.string_to_hash_bucket(s, 10), tf.encode_base64(s),
        tf.decode_base64(tf.encode_base64(s)), tf.decode_raw(["abcd"], tf.uint8), tf.decode_raw(["abcd"], tf.int16, little_endian=False),
        t.unicode_script([65, 1046]), t.format("{} and {}", (1, "b")), tf.decode_csv(["1,a,2.5", ",b,"], [[7], ["x"], [0.5]]),
        tf.decode_csv(["1|x"], [[0], [""]], field_delim="|"), t.split([["a b"][0]]).values, tf.reduce_join([["a"], ["b"]], [0, 1]),
        tf.string_join(["x", s]), t.unicode_decode("aé", "UTF-8"), t.unicode_encode([97, 233], "UTF-8"),
        [
            said(lambda: t.substr("abc", [0, 1], 1)), said(lambda: tf.decode_csv(["1"], [])), said(lambda: t.length(s, unit="X")),
            said(lambda: tf.string_split("a b")), said(lambda: t.format("{}", (1, 2))),
        ],
    )


@check
def wrong_texts_at_run_time(tf):
    with tf.Session() as session:
        return [
            said(lambda f=f: session.run(f()))
            for f in (
                lambda: tf.string_to_number(["x"]),
                lambda: tf.decode_raw(["abc"], tf.int16),
                lambda: tf.strings.substr("abc", 5, 1),
                lambda: tf.decode_base64("*"),
                lambda: tf.decode_csv(["1,2"], [[0]]),
                lambda: tf.decode_csv(["a"], [[0]]),
                lambda: tf.decode_csv([""], [tf.constant([], tf.int32)]),
                lambda: tf.parse_tensor("x", tf.int32),
                lambda: tf.decode_json_example("{"),
                lambda: tf.image.decode_png("x"),
                lambda: tf.read_file("none"),
                lambda: tf.parse_single_example("", {"a": tf.FixedLenFeature([], tf.int64)}),
                lambda: tf.strings.regex_replace("a", "(", "b"),
                lambda: tf.check_numerics([np.inf], "told"),
                lambda: tf.assert_equal([1], [2]),
                lambda: tf.Assert(False, ["x"]),
                lambda: tf.assert_positive([-1.0]),
                lambda: tf.verify_tensor_all_finite([np.nan], "m"),
            )
        ]


# ---- variables, sessions and training ----


@check
def variables_in_sessions(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("w", initializer=v.initialized_value() * 2)
    u = tf.Variable(0, name="u", trainable=False)
    with tf.Session() as session:
        first = said(lambda: session.run(v)), session.run(tf.report_uninitialized_variables()), session.run(tf.is_variable_initialized(v))
        session.run(tf.variables_initializer([v]))
        session.run(w.initializer)
        session.run(u.initializer)
        v.load([5.0, 6.0], session)
        return (
            first, [session.run(t) for t in (v, w, v.assign_add([1.0, 1.0]), v.value(), tf.assign(u, 3), u.assign_sub(1), v[1], u + 1)],
            [
                said(lambda: v.assign([1.0])), said(lambda: tf.assign(v, [1.0], validate_shape=False).shape.as_list()),
                said(lambda: v.load([1.0], session)), said(lambda: tf.Variable(lambda: tf.ones([2])).shape.as_list()),
                said(lambda: tf.Variable()), said(lambda: tf.Variable(tf.placeholder(tf.float32))),
                said(lambda: tf.get_variable("w", [3])), said(lambda: tf.get_variable("no shape")),
                said(lambda: session.run(tf.count_up_to(u, 3))), said(lambda: session.run(tf.count_up_to(u, 1))),
            ],
            v.eval(session), str(v.dtype), v.op.name, v.device, v.get_shape().as_list(),
        )


@check
def what_a_session_takes(tf):
    a, b = tf.constant(1.0, name="a"), tf.placeholder(tf.float32, [2], name="b")
    c = tf.add(a, b, name="c")
    sparse = tf.sparse_placeholder(tf.float32)
    Pair = __import__("collections").namedtuple("Pair", "x y")
    with tf.Session() as session:
        feeds = {b: [1.0, 2.0]}
        return (
            [
                said(lambda f=f: session.run(f, feeds))
                for f in (
                    c, "c:0", [c, a], (c,), {"k": c, "l": [a, (a,)]}, Pair(a, c), [], {}, c.op, "c", None, 3, "none:0", [c, None],
                    tf.no_op(),
                )
            ]
            + [
                said(lambda f=f: session.run(c, f))
                for f in (
                    {}, {b: [1.0]}, {b: [[1.0, 2.0]]}, {"b:0": [1, 2]}, {b: ["x", "y"]}, {a: 5.0, b: [0.0, 0]}, {c: [9.0, 9.0]}, {b: a},
                    {3: 4}, {b: None}, {(a, b): (2.0, np.float32([1, 1]))}, {b: np.float64([1, 2])}, {b: np.int64([1, 2])},
                )
            ]
            + [
                said(lambda: session.run(tf.sparse_tensor_to_dense(sparse), {sparse: tf.SparseTensorValue([[0, 1]], [5.0], [1, 2])})),
                said(lambda: c.eval(feeds, session)), said(lambda: c.eval(feeds)), said(lambda: tf.get_default_session()),
            ]
        )


@check(tolerance=1e-4)
def every_optimizer_three_steps(tf):
    makers = [
        lambda: tf.train.GradientDescentOptimizer(0.1),
        lambda: tf.train.MomentumOptimizer(0.1, 0.9),
        lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        lambda: tf.train.AdamOptimizer(0.1),
        lambda: tf.train.AdagradOptimizer(0.1),
        lambda: tf.train.AdadeltaOptimizer(0.5),
        lambda: tf.train.RMSPropOptimizer(0.1),
        lambda: tf.train.RMSPropOptimizer(0.1, centered=True, momentum=0.5),
        lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.1),
        lambda: tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.1),
        lambda: tf.train.ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.2),
        lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_global_step()),
    ]
    step = tf.train.get_or_create_global_step()
    variables, trains = [], []
    for i, make in enumerate(makers):
        v, e = tf.Variable([1.0, -2.0], name="v%d" % i), tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="e%d" % i)
        loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.square(tf.nn.embedding_lookup(e, [1, 1])))
        optimizer = make()
        trains.append(optimizer.minimize(loss, var_list=[v, e]))
        variables += [v, e] + [optimizer.get_slot(v, n) for n in optimizer.get_slot_names()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(trains)
            session.run(step.assign_add(1))
        return session.run(variables), [v.name for v in tf.global_variables()]


@check(tolerance=1e-4)
def rates_at_steps(tf):
    t = tf.train
    steps = [tf.constant(i) for i in (0, 3, 7, 25)]
    return [
        [f(s) for s in steps]
        for f in (
            lambda s: t.exponential_decay(0.1, s, 5, 0.5),
            lambda s: t.exponential_decay(0.1, s, 5, 0.5, staircase=True),
            lambda s: t.polynomial_decay(0.1, s, 10, 0.01, 2.0),
            lambda s: t.polynomial_decay(0.1, s, 10, cycle=True),
            lambda s: t.piecewise_constant(s, [3, 10], [1.0, 0.5, 0.1]),
            lambda s: t.natural_exp_decay(0.1, s, 5, 0.5),
            lambda s: t.inverse_time_decay(0.1, s, 5, 0.5, True),
            lambda s: t.cosine_decay(0.1, s, 10, 0.1),
            lambda s: t.cosine_decay_restarts(0.1, s, 4),
            lambda s: t.linear_cosine_decay(0.1, s, 10),
        )
    ], [
        said(lambda: t.exponential_decay(0.1, None, 5, 0.5)), said(lambda: t.piecewise_constant(steps[0], [1, 2], [1.0])),
        said(lambda: t.piecewise_constant(steps[0], [1], [1.0, 2])),
    ]


@check(tolerance=1e-4)
def cells_and_loops_of_recurrent_networks(tf):
    x = tf.constant(np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3))
    n, lengths = tf.nn, tf.constant([4, 2])
    ones = tf.constant_initializer(0.1)
    found = []
    for i, make in enumerate(
        (
            lambda: n.rnn_cell.BasicRNNCell(2),
            lambda: n.rnn_cell.GRUCell(2),
            lambda: n.rnn_cell.BasicLSTMCell(2, 0.5),
            lambda: n.rnn_cell.LSTMCell(2, True, cell_clip=0.5, num_proj=3, proj_clip=0.4),
            lambda: n.rnn_cell.MultiRNNCell([n.rnn_cell.GRUCell(2), n.rnn_cell.BasicLSTMCell(3)]),
            lambda: n.rnn_cell.ResidualWrapper(n.rnn_cell.GRUCell(3)),
            lambda: n.rnn_cell.DropoutWrapper(n.rnn_cell.GRUCell(2), 1.0, 1.0),
        )
    ):
        with tf.variable_scope("s%d" % i, initializer=ones):
            found += n.dynamic_rnn(make(), x, lengths, dtype=tf.float32)
        with tf.variable_scope("t%d" % i, initializer=ones):
            found.append(n.static_rnn(make(), tf.unstack(x, axis=1), dtype=tf.float32)[0])
    cell = n.rnn_cell.GRUCell(2)
    return (
        found, [v.name for v in tf.global_variables()],
        [
            said(lambda: n.dynamic_rnn(cell, x)), said(lambda: n.dynamic_rnn(3, x, dtype=tf.float32)),
            said(lambda: n.static_rnn(cell, [], dtype=tf.float32)), said(lambda: n.static_rnn(cell, x, dtype=tf.float32)),
            said(lambda: n.dynamic_rnn(cell, x, [1.5, 2], dtype=tf.float32)),
            said(lambda: n.dynamic_rnn(cell, x[0, 0], dtype=tf.float32)), said(lambda: cell.zero_state(2, tf.float32).shape.as_list()),
            cell.state_size, cell.output_size,
        ],
    )


@check
def datasets_of_all_kinds(tf):
    d = tf.data.Dataset
    made = [
        d.range(7).batch(3), d.range(7).batch(3, drop_remainder=True), d.range(3).repeat(2).skip(1).take(4),
        d.zip((d.range(3), d.range(10, 20))), d.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}),
        d.range(5).filter(lambda v: v % 2 < 1), d.range(3).flat_map(lambda v: d.range(v)),
        d.range(4).shuffle(4, seed=3, reshuffle_each_iteration=False), d.range(2).interleave(lambda v: d.from_tensors(v).repeat(3), 2, 1),
        d.range(4).map(lambda v: tf.fill([v], v)).padded_batch(2, [None], tf.constant(9, tf.int64)), d.range(9).shard(4, 1),
        d.range(2).concatenate(d.range(2)),
        d.from_generator(lambda: iter([(1, [1.0]), (2, [2.0, 3.0])]), (tf.int32, tf.float32), ([], [None])),
        d.range(6).window(2, 3).flat_map(lambda w: w.batch(2)), d.from_tensors(1).cache().repeat(2),
        d.range(3).prefetch(1).map(lambda v: (v, -v), 2), d.range(0),
    ]
    found = []
    with tf.Session() as session:
        for dataset in made:
            item, rows = dataset.make_one_shot_iterator().get_next(), []
            try:
                while len(rows) < 20:
                    rows.append(session.run(item))
            except tf.errors.OutOfRangeError:
                found.append(rows)
    return (
        found, [str(tf.data.get_output_types(x)) for x in made],
        [
            said(lambda: d.from_tensor_slices(1)), said(lambda: d.zip(3)), said(lambda: d.range()), said(lambda: d.range(3).map(1)),
            said(lambda: d.from_tensor_slices(([1], [1, 2]))), said(lambda: d.range(3).filter(lambda v: v)),
        ],
    )
