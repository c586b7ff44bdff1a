"""tf.image: functions that crop, pad, flip and rotate single images or batches.

A picture has three dimensions and a batch of them four.  The library builds and checks all of it: what is known while
the graph is built is checked at once, the rest by ops in the run. If the rank is unknown, a tf.cond of Python functions
chooses.
"""
import numpy as np

from weft._core.framework import library
from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.graph import Tensor, name_scope
from weft._core.ops import array_ops, math_ops, random_ops
from weft._core.ops.control_flow import cond


def size_operand(value):
    """Returns a size as an operand for the library: a number or a tensor."""
    return float(value) if isinstance(value, (int, np.integer)) else convert_to_tensor(value)


def sizes(images):
    """Returns (height, width) of images, as numbers if they are known."""
    dims = images.shape.as_list()
    shape = None if None not in dims[-3:-1] else array_ops.shape(images)
    return tuple(dims[i] if dims[i] is not None else shape[i] for i in (-3, -2))


def _boxed(kind, image, *numbers):
    """Returns the result of a helper of the library for an image and sizes."""
    with name_scope(None, kind, [image]) as scope:
        return library.helper(kind, scope, [convert_to_tensor(image, name="image"), *map(size_operand, numbers)])


# ---- cutting and padding ----

def central_crop(image, central_fraction):
    """Returns the center of an image or of the images of a batch.

    Args:
      image: a tensor of three or four dimensions.
      central_fraction: the part of height and width that stays, in (0, 1].
    """
    with name_scope(None, "central_crop", [image]) as scope:
        image = convert_to_tensor(image, name="image")
        fraction = constant_value(central_fraction) if isinstance(central_fraction, Tensor) else central_fraction
        if fraction is not None and not 0 < fraction <= 1:
            raise ValueError("central_fraction must be within (0, 1]")
        if isinstance(central_fraction, (int, float)) and central_fraction == 1:
            return image
        given = fraction if fraction is None else float(fraction)
        return library.helper("central_crop", scope, [image, central_fraction if given is None else given])


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Returns a rectangle of an image or of the images of a batch.

    Args:
      image: a tensor of three or four dimensions.
      offset_height: how many rows are above it.
      offset_width: how many columns are left of it.
      target_height: its height.
      target_width: its width.
    """
    return _boxed("crop_to_bounding_box", image, offset_height, offset_width, target_height, target_width)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Returns an image or the images of a batch padded with zeros.

    Args:
      image: a tensor of three or four dimensions.
      offset_height: how many rows of zeros are above.
      offset_width: how many columns of zeros are left.
      target_height: the height of the result.
      target_width: the width of the result.
    """
    return _boxed("pad_to_bounding_box", image, offset_height, offset_width, target_height, target_width)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """Returns an image or the images of a batch, cropped or padded around the center.

    Args:
      image: a tensor of three or four dimensions.
      target_height: the height of the result.
      target_width: the width of the result.
    """
    return _boxed("resize_image_with_crop_or_pad", image, target_height, target_width)


resize_with_crop_or_pad = resize_image_with_crop_or_pad


# ---- flipping ----

def _flip(image, axis, name):
    """Flips an image along an axis, which counts among the last three."""
    with name_scope(None, name, [image]) as scope:
        image = convert_to_tensor(image, name="image")
        if image.shape.ndims is not None:
            return library.helper(name, scope, [image])
        image = library.helper("checked_image", scope, [image])
        return cond(math_ops.equal(array_ops.rank(image), 3), lambda: array_ops.reverse(image, [axis]),
                    lambda: array_ops.reverse(image, [axis + 1]))


def flip_left_right(image):
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image):
    return _flip(image, 0, "flip_up_down")


def _perhaps(image, axis, seed, name):
    """Returns the image, flipped at random along an axis of its last three; in a batch each image is flipped
    independently.
    """
    def turned(each, scope):
        return library.helper("flip_at_random", scope, [image, float(axis), float(each), *random_ops.seed_operand(seed)])
    with name_scope(None, name, [image]) as scope:
        image = library.helper("checked_image", scope, [convert_to_tensor(image, name="image")])
        if image.shape.ndims is not None:
            return turned(image.shape.ndims == 4, scope)

        def in_branch(each):
            with name_scope(None, "flip") as branch:
                return turned(each, branch)
        return cond(math_ops.equal(array_ops.rank(image), 3), lambda: in_branch(False), lambda: in_branch(True))


def random_flip_left_right(image, seed=None):
    return _perhaps(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    return _perhaps(image, 0, seed, "random_flip_up_down")
