"""tf.image: pictures cut, padded, flipped and turned, alone or in batches.

A picture has three dimensions and a batch of them four.  What is known while the graph is built is checked then; the rest
is checked by ops when it runs.  A function that gets a tensor of unknown rank takes it for one picture, as TensorFlow does,
unless it can ask for the rank when it runs.

The library builds all of it where the sizes are known.  Sizes that are tensors stay here: they are checked by assertions,
which are conds of Python functions, and so are random flips.
"""
import numpy as np

from weft._core.framework import dtypes, library
from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.graph import Tensor, control_dependencies, name_scope
from weft._core.ops import array_ops, math_ops, random_ops
from weft._core.ops.check_ops import assert_greater_equal
from weft._core.ops.control_flow import Assert, cond


def known(value):
    """A number, if it is known while the graph is built; else None."""
    found = constant_value(convert_to_tensor(value))
    return None if found is None else int(found)


def checked(image, *conditions):
    """The image, once each (condition, message) holds: ValueError if it is known not to."""
    asserts = []
    for condition, message in conditions:
        value = constant_value(condition) if isinstance(condition, Tensor) else condition
        if value is None:
            asserts.append(Assert(condition, [message]))
        elif not value:
            raise ValueError(message)
    with control_dependencies(asserts):
        return array_ops.identity(image, name="control_dependency")


def of_known_rank(image):
    """A picture or a batch as the library takes it: one of unknown rank is checked when it runs."""
    image = convert_to_tensor(image, name="image")
    if image.shape.ndims is not None:
        return image
    with control_dependencies([assert_greater_equal(array_ops.rank(image), 3, message="'image' must be at least three-dimensional.")]):
        return array_ops.identity(image, name="control_dependency")


def at_least_3d(image):
    """A picture or a batch whose last three sizes are positive."""
    image = of_known_rank(image)
    if image.shape.ndims is None:
        return image
    if image.shape.ndims < 3:
        raise ValueError("'image' (shape %s) must be at least three-dimensional." % image.shape)
    sizes = image.shape.as_list()[-3:]
    if 0 in sizes:
        raise ValueError("inner 3 dims of 'image.shape' must be > 0: %s" % image.shape)
    return array_ops.identity(image, name="control_dependency")


def _are_known(image, *numbers):
    """Whether the library can build it: the sizes of the picture and all numbers are known while the graph is built."""
    known_sizes = image.shape.ndims in (3, 4) and None not in image.shape.as_list()[-3:-1]
    return known_sizes and all(isinstance(n, (int, np.integer)) for n in numbers)


def _by_library(kind, scope, image, *numbers):
    return library.helper(kind, scope, [image, *map(float, numbers)])


class Batch:
    """A picture as a batch of one, or a batch as it is; `unpacked` gives back what it was."""

    def __init__(self, image):
        image = convert_to_tensor(image, name="image")
        rank = image.shape.ndims
        if rank not in (None, 3, 4):
            raise ValueError("'image' (shape %s) must have either 3 or 4 dimensions." % image.shape)
        self.single = rank != 4
        self.images = array_ops.expand_dims(image, 0) if self.single else image
        if self.images.shape.ndims is None:
            self.images.set_shape([None] * 4)

    def sizes(self):
        """(height, width), numbers where they are known."""
        return sizes(self.images)

    def unpacked(self, images):
        return array_ops.squeeze(images, [0]) if self.single else images


def sizes(images):
    """(height, width) of pictures, numbers where they are known."""
    dims = images.shape.as_list()
    shape = None if None not in dims[-3:-1] else array_ops.shape(images)
    return tuple(dims[i] if dims[i] is not None else shape[i] for i in (-3, -2))


# ---- cutting and padding ----

def central_crop(image, central_fraction):
    """The middle of a picture or of the pictures of a batch.

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
        rank = image.shape.ndims
        if rank not in (3, 4):
            raise ValueError("`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = %s." % rank)
        if isinstance(central_fraction, (int, float)) and _are_known(image):
            return _by_library("central_crop", scope, image, central_fraction)
        image = at_least_3d(image)
        begin, size = zip(*(_middle(n, central_fraction) for n in sizes(image)))
        lead = [0] * (rank - 3)
        return array_ops.slice(image, array_ops.stack([*lead, *begin, 0]), array_ops.stack([-1] * len(lead) + [*size, -1]))


def _middle(n, fraction):
    """(begin, size) of the middle of n pixels."""
    if isinstance(n, int) and isinstance(fraction, (int, float)):
        begin = int((n - n * fraction) / 2)
        return begin, n - begin * 2
    whole = math_ops.to_double(n)
    begin = math_ops.cast((whole - whole * math_ops.cast(fraction, dtypes.float64)) / 2, dtypes.int32)
    return begin, n - begin * 2


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """A rectangle of a picture or of the pictures of a batch.

    Args:
      image: a tensor of three or four dimensions.
      offset_height: how many rows are above it.
      offset_width: how many columns are left of it.
      target_height: its height.
      target_width: its width.
    """
    with name_scope(None, "crop_to_bounding_box", [image]) as scope:
        image = convert_to_tensor(image, name="image")
        if _are_known(image, offset_height, offset_width, target_height, target_width):
            return _by_library("crop_to_bounding_box", scope, image, offset_height, offset_width, target_height, target_width)
        batch = Batch(image)
        height, width = batch.sizes()
        images = checked(
            batch.images, (offset_width >= 0, "offset_width must be >= 0."),
            (offset_height >= 0, "offset_height must be >= 0."), (target_width > 0, "target_width must be > 0."),
            (target_height > 0, "target_height must be > 0."),
            (width >= target_width + offset_width, "width must be >= target + offset."),
            (height >= target_height + offset_height, "height must be >= target + offset."))
        made = array_ops.slice(images, array_ops.stack([0, offset_height, offset_width, 0]),
                               array_ops.stack([-1, target_height, target_width, -1]))
        made.set_shape([images.shape[0].value, known(target_height), known(target_width), images.shape[3].value])
        return batch.unpacked(made)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """A picture or the pictures of a batch with zeros around them.

    Args:
      image: a tensor of three or four dimensions.
      offset_height: how many rows of zeros are above.
      offset_width: how many columns of zeros are left.
      target_height: the height of the result.
      target_width: the width of the result.
    """
    with name_scope(None, "pad_to_bounding_box", [image]) as scope:
        image = convert_to_tensor(image, name="image")
        if _are_known(image, offset_height, offset_width, target_height, target_width):
            return _by_library("pad_to_bounding_box", scope, image, offset_height, offset_width, target_height, target_width)
        batch = Batch(image)
        height, width = batch.sizes()
        below, right = target_height - offset_height - height, target_width - offset_width - width
        images = checked(batch.images, (offset_height >= 0, "offset_height must be >= 0"),
                         (offset_width >= 0, "offset_width must be >= 0"), (right >= 0, "width must be <= target - offset"),
                         (below >= 0, "height must be <= target - offset"))
        pads = array_ops.reshape(array_ops.stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2])
        made = array_ops.pad(images, pads)
        made.set_shape([images.shape[0].value, known(target_height), known(target_width), images.shape[3].value])
        return batch.unpacked(made)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """A picture or the pictures of a batch, cut or padded around the middle.

    Args:
      image: a tensor of three or four dimensions.
      target_height: the height of the result.
      target_width: the width of the result.
    """
    def most(a, b):
        return max(a, b) if isinstance(a, int) and isinstance(b, int) else math_ops.maximum(a, b)

    def least(a, b):
        return min(a, b) if isinstance(a, int) and isinstance(b, int) else math_ops.minimum(a, b)
    with name_scope(None, "resize_image_with_crop_or_pad", [image]) as scope:
        image = convert_to_tensor(image, name="image")
        if _are_known(image, target_height, target_width):
            return _by_library("resize_image_with_crop_or_pad", scope, image, target_height, target_width)
        batch = Batch(image)
        height, width = batch.sizes()
        images = checked(batch.images, (target_width > 0, "target_width must be > 0."),
                         (target_height > 0, "target_height must be > 0."))
        made = crop_to_bounding_box(images, most((height - target_height) // 2, 0), most((width - target_width) // 2, 0),
                                    least(target_height, height), least(target_width, width))
        made = pad_to_bounding_box(made, most((target_height - height) // 2, 0), most((target_width - width) // 2, 0),
                                   target_height, target_width)
        # The sizes of the result are known to be right; TensorFlow has this op for its checks of them.
        if not isinstance(height, int) or not isinstance(width, int):
            made = array_ops.identity(made, name="control_dependency")
        return batch.unpacked(made)


resize_with_crop_or_pad = resize_image_with_crop_or_pad


# ---- flipping ----

def _flip(image, axis, name):
    """axis: of the last three."""
    with name_scope(None, name, [image]) as scope:
        image = of_known_rank(image)
        if image.shape.ndims is not None:
            return library.helper(name, scope, [image])
        return cond(math_ops.equal(array_ops.rank(image), 3), lambda: array_ops.reverse(image, [axis]),
                    lambda: array_ops.reverse(image, [axis + 1]))


def flip_left_right(image):
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image):
    return _flip(image, 0, "flip_up_down")


def _perhaps(image, axis, seed, name):
    """The image turned around along an axis of its last three, or as it is; of a batch each image by itself."""
    with name_scope(None, name, [image]) as scope:
        image = at_least_3d(image)
        if image.shape.ndims == 4:
            return _perhaps_each(image, axis + 1, seed)
        if image.shape.ndims is None:
            return cond(math_ops.equal(array_ops.rank(image), 3), lambda: _perhaps_one(image, axis, seed, scope),
                        lambda: _perhaps_each(image, axis + 1, seed))
        return _perhaps_one(image, axis, seed, scope)


def _perhaps_one(image, axis, seed, scope):
    drawn = random_ops.random_uniform([], 0, 1.0, seed=seed)
    made = cond(math_ops.less(drawn, .5), lambda: array_ops.reverse(image, [axis]), lambda: image, name=scope)
    made.set_shape(image.shape)
    return made


def _perhaps_each(images, axis, seed):
    rows = array_ops.shape(images)[0]
    drawn = random_ops.random_uniform([rows], 0, 1.0, seed=seed)
    flips = math_ops.round(array_ops.reshape(drawn, [rows, 1, 1, 1]))
    flips = math_ops.cast(flips, images.dtype.base_dtype)
    return flips * array_ops.reverse(images, [axis]) + (1 - flips) * images


def random_flip_left_right(image, seed=None):
    return _perhaps(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    return _perhaps(image, 0, seed, "random_flip_up_down")
