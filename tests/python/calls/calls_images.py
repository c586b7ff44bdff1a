"""tf.image: pictures turned, compared, cut into windows, and boxes in them."""
import numpy as np

from machine import case

R = np.random.RandomState(5)
IMAGES = R.rand(2, 16, 14, 3).astype(np.float32)
OTHER = (IMAGES * 0.9 + 0.05 * R.rand(2, 16, 14, 3)).astype(np.float32)
BYTES = (IMAGES[0] * 255).astype(np.uint8)
BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1]], np.float32)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5], np.float32)


@case(nodes=False)
def turned(tf):
    image = tf.image
    with tf.Session() as sess:
        return sess.run([image.rot90(IMAGES[0]), image.rot90(IMAGES, k=3), image.rot90(BYTES, 2),
                        image.rot90(IMAGES[0], tf.placeholder_with_default(5, [])),
                        image.transpose(IMAGES), image.transpose_image(BYTES), image.resize_image_with_pad(IMAGES, 20, 30),
                        image.resize_image_with_pad(IMAGES[0], 8, 30, method=1),
                         image.resize_image_with_pad(IMAGES, 9, 9, align_corners=True)])


@case(nodes=False)
def colors(tf):
    image = tf.image
    return [image.rgb_to_yiq(IMAGES), image.yiq_to_rgb(IMAGES), image.rgb_to_yuv(IMAGES[0]), image.yuv_to_rgb(IMAGES),
            image.adjust_gamma(IMAGES, 2.0, 0.5), image.adjust_gamma(BYTES, 0.7), image.adjust_gamma(IMAGES, tf.constant(1.5))]


@case(nodes=False, tolerance=1e-4)
def compared(tf):
    image = tf.image
    large = np.random.RandomState(6).rand(2, 50, 47, 2).astype(np.float32)
    with tf.Session() as sess:
        return sess.run([image.psnr(IMAGES, OTHER, 1.0), image.psnr(BYTES, BYTES[::-1], 255), image.ssim(IMAGES, OTHER, 1.0),
                        image.ssim(BYTES, BYTES[::-1], 255, filter_size=5, filter_sigma=1.0, k1=0.02, k2=0.05),
                        image.ssim(IMAGES, OTHER, 1.0, return_index_map=True),
                         image.ssim_multiscale(large, large * 0.9, 1.0, [0.3, 0.4], 8)])


@case(nodes=False)
def neighbors(tf):
    x = tf.constant(IMAGES)
    return [tf.image.sobel_edges(x), tf.image.image_gradients(x), tf.image.total_variation(x), tf.image.total_variation(x[0])]


@case
def windows(tf):
    return [tf.image.extract_image_patches(IMAGES, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], "SAME"),
            tf.image.extract_patches(IMAGES, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
            tf.extract_image_patches(IMAGES, sizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID", name="p"),
            tf.extract_volume_patches(IMAGES[None], [1, 1, 2, 2, 1], [1, 1, 2, 2, 1], "VALID")]


@case(nodes=False)
def boxes(tf):
    image = tf.image
    boxes_, scores = tf.constant(BOXES), tf.constant(SCORES)
    drawn = np.array([[[0.1, 0.2, 0.8, 0.9], [0, 0, 0.5, 0.5]]] * 2, np.float32)
    with tf.Session() as sess:
        return sess.run([image.draw_bounding_boxes(IMAGES, drawn), image.draw_bounding_boxes(IMAGES, drawn, colors=[[1.0, 2.0, 3.0]]),
                        image.crop_and_resize(IMAGES, drawn[0], [0, 1], [4, 5]),
                        image.crop_and_resize(IMAGES, drawn[0], crop_size=[4, 5], box_indices=[1, 1]),
                        image.non_max_suppression(BOXES, SCORES, 3), image.non_max_suppression(BOXES, SCORES, 3, 0.9, score_threshold=0.7),
                        image.non_max_suppression_with_scores(BOXES, SCORES, 4, soft_nms_sigma=0.5),
                        image.non_max_suppression_overlaps(np.eye(5, dtype=np.float32), SCORES, 3),
                        image.non_max_suppression_padded(boxes_, scores, 4, pad_to_max_output_size=True),
                        image.non_max_suppression_padded(boxes_[None], scores[None], 4, pad_to_max_output_size=True)])


@case(nodes=False)
def resized(tf):
    image = tf.image
    return [image.convert_image_dtype(BYTES, tf.uint16), image.convert_image_dtype(BYTES, tf.int8),
            image.convert_image_dtype(BYTES.astype(np.int32) * 1000000, tf.uint8, saturate=True),
            image.resize_bicubic(IMAGES, [7, 20]), image.resize_area(IMAGES, [7, 9]), image.resize_images(IMAGES, [20, 20], 2),
            image.resize_images(IMAGES[0], [5, 5], image.ResizeMethod.AREA)]


@case(nodes=False)
def files(tf):
    jpeg, png = tf.image.encode_jpeg(BYTES), tf.image.encode_png(BYTES)
    return [tf.image.is_jpeg(jpeg), tf.io.is_jpeg(png), tf.image.decode_image(jpeg, channels=3, expand_animations=False),
            tf.io.decode_image(png, dtype=tf.float32, expand_animations=False), tf.image.decode_image(png, dtype=tf.float64, channels=3),
            tf.image.extract_jpeg_shape(jpeg), tf.io.extract_jpeg_shape(jpeg, tf.int64), tf.image.decode_and_crop_jpeg(jpeg, [2, 3, 5, 4]),
            tf.io.decode_and_crop_jpeg(jpeg, [0, 0, 3, 3], channels=1, ratio=2), tf.image.adjust_jpeg_quality(IMAGES[0], 50),
            tf.image.adjust_jpeg_quality(BYTES, tf.constant(30))]


@case(nodes=False)
def random_quality(tf):
    tf.set_random_seed(4)
    return [tf.image.random_jpeg_quality(BYTES, 20, 90, seed=3)]


@case(nodes=False)
def detections(tf):
    both = np.stack([SCORES, SCORES[::-1]], 1)[None]
    suppress = tf.image.combined_non_max_suppression
    return [suppress(BOXES[None, :, None], both, 3, 4), suppress(BOXES[None, :, None], both, 2, 9, 0.9, 0.6, True, clip_boxes=False),
            tf.image.extract_glimpse(IMAGES, [3, 4], [[0.1, 0.2], [0.0, -0.3]]),
            tf.image.extract_glimpse(IMAGES, [3, 4], [[7.0, 8.0], [8.0, 7.0]], centered=False, normalized=False, name="g")]
