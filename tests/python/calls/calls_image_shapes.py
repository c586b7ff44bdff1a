"""tf.image: batches, pictures whose rank is not known while the graph is built, and arguments that cannot be."""
import numpy as np

from machine import case

R = np.random.RandomState(3)
ONE = R.rand(6, 5, 3).astype(np.float32)
MANY = R.rand(2, 6, 5, 3).astype(np.float32)
BYTES = R.randint(0, 255, (2, 6, 5, 3)).astype(np.uint8)


def unknown(tf, value):
    return tf.placeholder_with_default(value, None)


def raised(make):
    try:
        make()
    except Exception as e:  # noqa: BLE001 - the type is compared
        return e
    return None


@case(nodes=False)
def each_picture_of_a_batch_is_standardized_by_itself(tf):
    image = tf.image
    return [image.per_image_standardization(x) for x in (ONE, MANY, BYTES, unknown(tf, MANY), unknown(tf, ONE))]


@case(nodes=False)
def batches_are_cropped(tf):
    image = tf.image
    sizes = tf.placeholder_with_default(MANY, [None] * 4)
    return [image.central_crop(MANY, 0.5), image.central_crop(sizes, 0.3), image.central_crop(ONE, tf.constant(0.5)),
            image.central_crop(ONE, 1.0), image.crop_to_bounding_box(MANY, 1, 2, 3, 2),
            image.resize_image_with_crop_or_pad(sizes, 4, 8)]


@case(nodes=False)
def pictures_of_unknown_rank(tf):
    image = tf.image
    return [image.flip_left_right(unknown(tf, ONE)), image.flip_up_down(unknown(tf, MANY)),
            image.crop_to_bounding_box(unknown(tf, ONE), 1, 2, 3, 2), image.pad_to_bounding_box(unknown(tf, ONE), 1, 2, 9, 9),
            image.resize_image_with_crop_or_pad(unknown(tf, ONE), 4, 8), image.random_flip_left_right(unknown(tf, MANY), seed=3),
            image.random_flip_up_down(BYTES, seed=4), image.grayscale_to_rgb(unknown(tf, ONE[..., :1])),
            image.resize_image_with_pad(unknown(tf, ONE), 4, 8)]


@case(nodes=False)
def types_are_kept(tf):
    image = tf.image
    wide = ONE.astype(np.float64)
    return [image.resize_images(BYTES, [6, 5]), image.adjust_contrast(wide, 0.5), image.adjust_hue(wide, 0.2),
            image.adjust_saturation(wide, 0.5)]


@case(nodes=False)
def wrong_arguments_are_refused_while_the_graph_is_built(tf):
    image, flat = tf.image, ONE[..., 0]
    return [raised(make) for make in (
        lambda: image.crop_to_bounding_box(ONE, -1, 1, 2, 2), lambda: image.crop_to_bounding_box(ONE, 1, 1, 9, 2),
        lambda: image.crop_to_bounding_box(ONE, 1, 1, 0, 2), lambda: image.pad_to_bounding_box(ONE, 1, 1, 3, 3),
        lambda: image.pad_to_bounding_box(ONE, -1, 1, 9, 9), lambda: image.resize_image_with_crop_or_pad(ONE, 0, 8),
        lambda: image.flip_left_right(flat), lambda: image.rgb_to_grayscale(ONE[..., :1]), lambda: image.grayscale_to_rgb(tf.constant(ONE)),
        lambda: image.per_image_standardization(flat), lambda: image.central_crop(unknown(tf, ONE), 0.5),
        lambda: image.resize_images(unknown(tf, ONE), [3, 3]), lambda: image.resize_images(ONE, [3]),
        lambda: image.random_hue(ONE, 0.7), lambda: image.random_brightness(ONE, -0.1),
        lambda: image.random_contrast(ONE, 0.5, 0.2), lambda: image.random_saturation(ONE, -0.5, 0.2))]


@case(nodes=False)
def results_have_tensorflows_names(tf):
    image, x = tf.image, tf.placeholder(tf.float32, [6, 5, 3])
    return [t.name for t in (
        image.per_image_standardization(x), image.flip_left_right(x), image.flip_up_down(x), image.central_crop(x, 0.5),
        image.crop_to_bounding_box(x, 1, 1, 2, 2), image.pad_to_bounding_box(x, 1, 1, 9, 9),
        image.resize_image_with_crop_or_pad(x, 4, 8), image.grayscale_to_rgb(x[..., :1]))]
