"""Everything that draws: the same seeds of the graph and of the op give TensorFlow's numbers."""
import numpy as np

from machine import case

X = np.random.RandomState(0).randn(6, 4).astype(np.float32)
IMAGE = np.random.RandomState(1).rand(6, 5, 3).astype(np.float32)
IMAGES = np.random.RandomState(2).rand(4, 6, 5, 3).astype(np.float32)


def drawn(tf, initializer, shapes=((3, 4), (4, 3), (2, 3, 4, 5)), dtype=None):
    """Variables of these shapes, whose first values the initializer draws."""
    with tf.variable_scope(None, "v"):
        return [tf.get_variable("w%d" % i, shape, dtype or tf.float32, initializer) for i, shape in enumerate(shapes)]


@case(tolerance=1e-4)
def orthogonal(tf):
    return [drawn(tf, tf.orthogonal_initializer()), drawn(tf, tf.orthogonal_initializer(gain=2.0, seed=5)),
            drawn(tf, tf.initializers.orthogonal(0.5, 3, tf.float64), dtype=tf.float64),
            tf.orthogonal_initializer(seed=4)([5, 5])]


@case(nodes=False, tolerance=1e-6)
def initializers_of_version_2(tf):
    return [tf.compat.v2.random_normal_initializer(1.0, 2.0, seed=5)([3, 4]),
            tf.compat.v2.random_uniform_initializer(-2.0, 2.0, seed=6)([3, 4], tf.float64),
            tf.compat.v2.random_uniform_initializer(minval=0, maxval=9, seed=7)([5], tf.int32)]


@case(nodes=False)
def identity(tf):
    return [drawn(tf, tf.initializers.identity(), ((3, 4), (4, 4))), drawn(tf, tf.initializers.identity(2.0), ((4, 3),)),
            tf.initializers.identity(gain=3.0)([2, 2], tf.float64), drawn(tf, tf.keras.initializers.Identity(), ((3, 3),))]


@case
def initializers(tf):
    made = [tf.random_uniform_initializer(), tf.random_uniform_initializer(-1.0, 2.0, seed=3),
            tf.random_normal_initializer(), tf.random_normal_initializer(1.0, 0.5, seed=4),
            tf.truncated_normal_initializer(), tf.truncated_normal_initializer(1.0, 0.5, seed=4),
            tf.glorot_uniform_initializer(), tf.glorot_normal_initializer(seed=2), tf.variance_scaling_initializer(),
            tf.uniform_unit_scaling_initializer(), tf.uniform_unit_scaling_initializer(factor=1.4, seed=2),
            tf.initializers.he_normal(seed=8), tf.initializers.he_uniform(seed=1), tf.initializers.lecun_normal(seed=5),
            tf.initializers.lecun_uniform(seed=6), tf.initializers.random_uniform(0, 5), tf.initializers.random_normal(seed=3),
            tf.initializers.truncated_normal(stddev=2.0), tf.initializers.variance_scaling(3.0, "fan_out", "uniform")]
    return [drawn(tf, m) for m in made]


@case
def scalings(tf):
    return [drawn(tf, tf.variance_scaling_initializer(2.0, mode, distribution, seed=seed))
            for mode in ("fan_in", "fan_out", "fan_avg") for seed in (None, 7)
            for distribution in ("normal", "uniform", "truncated_normal", "untruncated_normal")]


@case(tolerance=1e-4)
def keras_initializers(tf):
    k = tf.keras.initializers
    made = [k.RandomUniform(), k.RandomNormal(), k.TruncatedNormal(), k.VarianceScaling(), k.Orthogonal(), k.glorot_uniform(),
            tf.keras.initializers.RandomUniform(minval=-1.0, maxval=1.0, seed=3),
            tf.keras.initializers.RandomNormal(0.5, 2.0, seed=1),
            tf.keras.initializers.TruncatedNormal(stddev=0.3, seed=2), k.VarianceScaling(2.0, "fan_out", "uniform", 4),
            tf.keras.initializers.Orthogonal(gain=0.5, seed=6), tf.keras.initializers.glorot_normal(seed=3),
            tf.keras.initializers.glorot_uniform(seed=7), tf.keras.initializers.he_normal(seed=5),
            tf.keras.initializers.he_uniform(seed=2), tf.keras.initializers.lecun_normal(seed=4),
            tf.keras.initializers.lecun_uniform(seed=9), k.get("he_normal"), k.get("orthogonal")]
    return [drawn(tf, m) for m in made] + [drawn(tf, k.Constant(3.0)), drawn(tf, k.Zeros())]


@case
def contrib_initializers(tf):
    made = [tf.contrib.layers.xavier_initializer(), tf.contrib.layers.xavier_initializer(uniform=False, seed=4),
            tf.contrib.layers.variance_scaling_initializer(),
            tf.contrib.layers.variance_scaling_initializer(1.0, "FAN_AVG", True, seed=3),
            tf.contrib.layers.xavier_initializer_conv2d(seed=2)]
    return [drawn(tf, m) for m in made]


@case
def numbers(tf):
    return [tf.random_normal([3]), tf.random_normal([3], 1.0, 2.0, tf.float64, seed=5), tf.random_uniform([4]),
            tf.random_uniform([2, 2], -1.0, 3.0, seed=3), tf.random_uniform([5], maxval=9, dtype=tf.int32),
            tf.random_uniform([5], -9, 9, tf.int64, seed=2), tf.truncated_normal([7]), tf.truncated_normal([3], 1.0, 0.2, seed=4),
            tf.random_shuffle(X), tf.random_shuffle(X, seed=3, name="s"), tf.multinomial(X, 5),
            tf.multinomial(tf.log([[10., 10.]]), 4, seed=2), tf.random.normal([3], seed=1), tf.random.uniform([3]),
            tf.random.truncated_normal([3]), tf.random.shuffle([1, 2, 3, 4]), tf.random.categorical(X, 3, seed=2),
            tf.random.categorical(X, 3, dtype=tf.int32), tf.random.multinomial(X, 2),
            tf.random_uniform([2], tf.constant(1.0), 2.0), tf.random_uniform([3], dtype=tf.float64),
            tf.random_normal([2], dtype=tf.float16)]


@case
def crops(tf):
    return [tf.random_crop(IMAGE, [3, 2, 3]), tf.random_crop(IMAGE, [3, 2, 3], seed=4),
            tf.image.random_crop(IMAGE, [2, 2, 3], seed=1)]


@case(tolerance=1e-4)
def gammas_and_poissons(tf):
    return [tf.random_gamma([3], [0.5, 2.0]), tf.random_poisson([2.0, 30.0], [4]), tf.random.gamma([2], 3.0, seed=2),
            tf.random.poisson([4.0], [3], seed=7)]


@case
def dropouts(tf):
    return [tf.nn.dropout(X, 0.5), tf.nn.dropout(X, rate=0.4), tf.nn.dropout(X, keep_prob=0.7, seed=3),
            tf.nn.dropout(X, 0.6, noise_shape=[6, 1], seed=2),
            tf.nn.dropout(tf.constant(X), keep_prob=tf.constant(0.5)),
            tf.nn.dropout(tf.constant(X), rate=tf.constant(0.25), seed=8),
            tf.nn.dropout(X.astype(np.float64), rate=0.5), tf.nn.dropout(X, rate=0.0), tf.nn.dropout(X, rate=0.3, name="d"),
            tf.nn.dropout(tf.placeholder_with_default(X, [None, 4]), rate=0.5, noise_shape=tf.constant([6, 1]))]


@case
def layers_dropout(tf):
    yes = tf.placeholder_with_default(True, [])
    return [tf.layers.dropout(X, training=True), tf.layers.dropout(X, noise_shape=[None, 1], training=True),
            tf.layers.dropout(X, 0.3, seed=4, training=True),
            tf.layers.dropout(X, noise_shape=[6, 1], training=True), tf.layers.dropout(X, training=False),
            tf.layers.dropout(tf.constant(X), rate=0.4, training=yes, seed=2, name="drop")]


@case(nodes=False, tolerance=1e-4)
def stateless(tf):
    return [tf.identity(m, name="m") for m in (
        tf.random.stateless_uniform([5], [1, 2]), tf.random.stateless_uniform([3], [1, 2], -5, 90, tf.int32),
        tf.random.stateless_uniform([3], [1, 2], 0., 3.),
        tf.random.stateless_normal([5], seed=[3, 4], mean=1.0, stddev=0.5, dtype=tf.float64),
        tf.random.stateless_truncated_normal([9], seed=[5, 6]),
        tf.random.stateless_parameterized_truncated_normal([9], seed=[5, 6], means=0.5, minvals=-1.0, maxvals=2.0))]


@case
def samplers(tf):
    labels = np.array([[1, 2], [3, 0], [5, 5]], np.int64)
    return [tf.nn.uniform_candidate_sampler(labels, 2, 3, True, 20),
            tf.nn.uniform_candidate_sampler(labels, 2, 3, False, 20, seed=4),
            tf.nn.log_uniform_candidate_sampler(labels, 2, 4, True, 20),
            tf.nn.log_uniform_candidate_sampler(labels, 2, 4, False, 9, seed=3),
            tf.nn.compute_accidental_hits(labels, np.array([1, 5, 9], np.int64), 2, seed=3)]


@case(tolerance=1e-4)
def sampled_losses(tf):
    w, b = tf.constant(np.random.RandomState(3).randn(20, 4).astype(np.float32)), tf.zeros([20])
    labels, x = tf.constant([[1], [3], [5], [7], [9], [11]], tf.int64), tf.constant(X)
    return [tf.nn.nce_loss(w, b, labels, x, 5, 20), tf.nn.sampled_softmax_loss(w, b, labels, x, 5, 20, seed=3),
            tf.nn.sampled_softmax_loss(w, b, tf.concat([labels, labels + 1], 1), x, 5, 20, num_true=2,
                                       remove_accidental_hits=False),
            tf.nn.sampled_softmax_loss(w, b, labels, x, 5, 20,
                                       sampled_values=tf.nn.uniform_candidate_sampler(labels, 1, 5, True, 20, seed=2))]


@case(nodes=False, tolerance=1e-4)
def sampled_losses_of_pieces(tf):
    w, b = tf.constant(np.random.RandomState(3).randn(20, 4).astype(np.float32)), tf.zeros([20])
    labels, x = tf.constant([[1], [3], [5], [7], [9], [11]], tf.int64), tf.constant(X)
    return [tf.nn.nce_loss([w[:10], w[10:]], [b[:10], b[10:]], labels, x, 5, 20, remove_accidental_hits=True, partition_strategy=s)
            for s in ("div", "mod")]


@case(tolerance=1e-4)
def images(tf):
    return [tf.image.random_flip_left_right(IMAGE, seed=1), tf.image.random_flip_left_right(IMAGE),
            tf.image.random_flip_up_down(IMAGE, seed=5),
            tf.image.random_flip_up_down(IMAGE), tf.image.random_brightness(IMAGE, 0.4),
            tf.image.random_brightness(IMAGE, 0.4, seed=2),
            tf.image.random_contrast(IMAGE, 0.2, 1.8), tf.image.random_contrast(IMAGE, 0.2, 1.8, seed=3),
            tf.image.random_hue(IMAGE, 0.2, seed=4),
            tf.image.random_hue(IMAGE, 0.2), tf.image.random_saturation(IMAGE, 0.5, 1.5),
            tf.image.random_saturation(IMAGE, 0.5, 1.5, seed=6)]


@case(tolerance=1e-4)
def batches_of_images(tf):
    return [tf.image.random_flip_left_right(IMAGES, seed=1), tf.image.random_flip_up_down(IMAGES),
            tf.image.random_brightness(IMAGES, 0.3), tf.image.random_contrast(IMAGES, 0.5, 1.5, seed=2),
            tf.image.sample_distorted_bounding_box([6, 5, 3], [[[0.1, 0.1, 0.9, 0.9]]], seed=3, min_object_covered=0.1)]
