"""Converts images to vectors, and labels to planes and masks."""
import weft as tf
from weft._core.contrib.layers import one_hot_encoding


def pixels_as_vector(images, scope=None):
    """Returns all numbers of each image in a row: (images, height * width * depth)."""
    with tf.name_scope(scope, "PixelsAsVector", [images]):
        count, height, width, depth = tf.convert_to_tensor(images).shape.as_list()
        return tf.reshape(images, [-1 if count is None else count, height * width * depth])


def pool_as_vector(images, scope=None):
    """Returns the mean of each channel of each image: (images, depth)."""
    with tf.name_scope(scope, "PoolAsVectors", [images]):
        return tf.reduce_mean(images, [1, 2])


def one_hot_planes(labels, num_classes, scope=None):
    """Returns the classes of images as one-hot images of one pixel: (images, 1, 1, num_classes)."""
    with tf.name_scope(scope, "OneHotPlanes", [labels]):
        labels = tf.convert_to_tensor(labels)
        if labels.shape.ndims != 1:
            raise ValueError("labels must be a vector, their shape is %s" % labels.shape)
        return tf.expand_dims(tf.expand_dims(one_hot_encoding(labels, num_classes), 1), 1)


def one_hot_mask(labels, num_classes, scope=None):
    """Returns the classes of pixels as one-hot images: (images, height, width, num_classes) from (images, height,
    width, 1).
    """
    with tf.name_scope(scope, "OneHotMask", [labels]):
        _, height, width, depth = tf.convert_to_tensor(labels).shape.as_list()
        if depth != 1:
            raise ValueError("labels must have a depth of 1, their shape is %s" % tf.convert_to_tensor(labels).shape)
        flat = one_hot_encoding(tf.to_int64(tf.reshape(labels, [-1])), num_classes)
        return tf.reshape(flat, [-1, height, width, num_classes])
