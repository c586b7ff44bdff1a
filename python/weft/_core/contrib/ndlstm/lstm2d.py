"""LSTMs over images: tensors of (images, height, width, depth)."""
import weft as tf
from weft._core.contrib.ndlstm import lstm1d


def images_to_sequence(tensor):
    """Returns images as a sequence of columns: (width, images * height, depth)."""
    images, height, width, depth = tf.convert_to_tensor(tensor).shape.as_list()
    rows = -1 if images is None or height is None else images * height
    return tf.reshape(tf.transpose(tensor, [2, 0, 1, 3]), [width, rows, depth])


def sequence_to_images(tensor, num_image_batches):
    """Returns the sequence of columns as images again.

    Args:
      tensor: (width, images * height, depth).
      num_image_batches: how many images there are.
    """
    width, rows, depth = tf.convert_to_tensor(tensor).shape.as_list()
    height = -1 if rows is None else rows // num_image_batches
    return tf.transpose(tf.reshape(tensor, [width, num_image_batches, height, depth]), [1, 2, 0, 3])


def horizontal_lstm(images, num_filters_out, scope=None):
    """Returns an LSTM from left to right and one from right to left over each row, half of the outputs from each.

    Args:
      images: (images, height, width, depth), the number of images known.
      num_filters_out: how many outputs a pixel has.
      scope: the scope of the variables.
    """
    with tf.variable_scope(scope, "HorizontalLstm", [images]):
        count = tf.convert_to_tensor(images).shape.as_list()[0]
        if count is None:
            raise ValueError("horizontal_lstm() needs the number of images: set it with set_shape()")
        sequence = images_to_sequence(images)
        with tf.variable_scope("lr"):
            right = lstm1d.ndlstm_base(sequence, num_filters_out // 2)
        with tf.variable_scope("rl"):
            left = lstm1d.ndlstm_base(sequence, num_filters_out - num_filters_out // 2, reverse=True)
        return sequence_to_images(tf.concat([right, left], 2), count)


def get_blocks(images, kernel_size):
    """Returns the images as blocks that do not overlap: the pixels of a block are the numbers of one pixel.

    Args:
      images: (images, height, width, depth).
      kernel_size: the height and the width of a block.
    """
    with tf.variable_scope("image_blocks"):
        rows, columns = kernel_size
        count, height, width, depth = tf.convert_to_tensor(images).shape.as_list()
        parts = tf.reshape(images, [-1, height // rows, rows, width // columns, columns, depth])
        return tf.reshape(tf.transpose(parts, [0, 1, 3, 2, 4, 5]),
                          [-1 if count is None else count, height // rows, width // columns, rows * columns * depth])


def separable_lstm(images, num_filters_out, kernel_size=None, nhidden=None, scope=None):
    """Runs LSTMs over the rows, and then over the columns of their outputs.

    Args:
      images: (images, height, width, depth), the number of images known.
      num_filters_out: how many outputs a pixel has.
      kernel_size: the height and the width of blocks that are taken as pixels; None for pixels.
      nhidden: how many outputs the first LSTMs have; num_filters_out if None.
      scope: the scope of the variables.
    """
    with tf.variable_scope(scope, "SeparableLstm", [images]):
        if kernel_size is not None:
            images = get_blocks(images, kernel_size)
        hidden = horizontal_lstm(images, num_filters_out if nhidden is None else nhidden)
        with tf.variable_scope("vertical"):
            made = horizontal_lstm(tf.transpose(hidden, [0, 2, 1, 3]), num_filters_out)
        return tf.transpose(made, [0, 2, 1, 3])


def reduce_to_sequence(images, num_filters_out, scope=None):
    """Returns the last outputs of an LSTM down each column: (width, images, num_filters_out).

    Args:
      images: (images, height, width, depth), all known.
      num_filters_out: how many outputs a column has.
      scope: the scope of the variables.
    """
    with tf.variable_scope(scope, "ReduceToSequence", [images]):
        count, height, width, depth = tf.convert_to_tensor(images).shape.as_list()
        down = tf.reshape(tf.transpose(images, [1, 0, 2, 3]), [height, count * width, depth])
        reduced = lstm1d.sequence_to_final(down, num_filters_out)
        return tf.transpose(tf.reshape(reduced, [count, width, num_filters_out]), [1, 0, 2])


def reduce_to_final(images, num_filters_out, nhidden=None, scope=None):
    """Returns the last output of an LSTM over the last outputs of LSTMs down each column: (images, num_filters_out).

    Args:
      images: (images, height, width, depth), all known.
      num_filters_out: how many outputs an image has.
      nhidden: how many outputs a column has; num_filters_out if None.
      scope: the scope of the variables.
    """
    with tf.variable_scope(scope, "ReduceToFinal", [images]):
        columns = reduce_to_sequence(images, num_filters_out if nhidden is None else nhidden)
        return lstm1d.sequence_to_final(columns, num_filters_out)
