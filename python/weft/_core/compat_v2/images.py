"""tf.compat.v2.image: pictures are resized around the centers of their pixels, and random changes take two seeds."""
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops import array_ops, image as pictures, image_functions, image_shape, math_ops, random_ops, stateless
from weft._core.ops.check_ops import assert_greater_equal
from weft._core.ops.control_flow import cond


class ResizeMethod(metaclass=Named):
    """How pictures are resized."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"
    LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = "lanczos3", "lanczos5", "gaussian", "mitchellcubic"


_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5",
            "gaussian": "gaussian", "mitchellcubic": "mitchellcubic"}
_OPS = {"bilinear": "ResizeBilinear", "bicubic": "ResizeBicubic"}


def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None):
    """Returns pictures of another size; pixels lie at the centers of their squares."""
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims not in (3, 4):
            raise ValueError("'images' contains no shape." if images.shape.ndims is None else
                             "'images' must have either 3 or 4 dimensions.")
        if method not in (*_KERNELS, "nearest", "area"):
            raise ValueError("Resize method is not implemented: %s" % (method,))
        batch = array_ops.expand_dims(images, 0) if images.shape.ndims == 3 else images
        if preserve_aspect_ratio:
            size = pictures._fitted(batch, size)
        made = _resized(batch, convert_to_tensor(size, dtypes.int32, name="size"), method, antialias)
        return array_ops.squeeze(made, [0]) if images.shape.ndims == 3 else made


def _resized(batch, size, method, antialias):
    """Returns a batch of pictures of another size."""
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return op("ResizeNearestNeighbor", images=batch, size=size, half_pixel_centers=True)
    if method == ResizeMethod.AREA:
        return op("ResizeArea", images=batch, size=size)
    if method in _OPS and not antialias:
        return op(_OPS[method], images=batch, size=size, half_pixel_centers=True)
    have = math_ops.cast(array_ops.shape(batch)[1:3], dtypes.float32)
    return op("ScaleAndTranslate", images=batch, size=size, scale=math_ops.cast(size, dtypes.float32) / have,
              translation=array_ops.zeros([2]), kernel_type=_KERNELS[method], antialias=antialias)


def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    """Returns a picture resized with its aspect ratio, and padded with zeros."""
    return image_functions.resized_with_pad(image, target_height, target_width, lambda batch, size: resize(
        batch, size, method, antialias=antialias))


def extract_glimpse(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    """Returns a part of each image around a point; pixels outside of the image are noise."""
    return op("ExtractGlimpseV2", name, input=input, size=size, offsets=offsets, centered=centered, normalized=normalized,
              uniform_noise=False, noise=noise)


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None,
                                  area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """Returns (begin, size, box) of a random rectangle that contains enough of a box."""
    seeds = random_ops.get_seed(seed) if seed else (0, 0)
    return pictures.sample_distorted_bounding_box(image_size, bounding_boxes, *seeds, min_object_covered, aspect_ratio_range,
                                                  area_range, max_attempts, use_image_if_no_bounding_boxes, name)


def stateless_sample_distorted_bounding_box(image_size, bounding_boxes, seed, min_object_covered=0.1, aspect_ratio_range=None,
                                            area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """Returns (begin, size, box) of a random rectangle that contains enough of a box and depends on the seed alone."""
    return op("StatelessSampleDistortedBoundingBox", name, image_size=image_size, bounding_boxes=bounding_boxes,
              min_object_covered=min_object_covered, seed=seed, aspect_ratio_range=aspect_ratio_range or [0.75, 1.33],
              area_range=area_range or [0.05, 1], max_attempts=max_attempts or 100,
              use_image_if_no_bounding_boxes=bool(use_image_if_no_bounding_boxes))


# ---- random changes that depend on a seed of two numbers alone ----

def stateless_random_brightness(image, max_delta, seed):
    """Adds a random number between -max_delta and max_delta to all pixels."""
    pictures._check_delta(max_delta)
    return pictures.adjust_brightness(image, stateless.stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_contrast(image, lower, upper, seed):
    """Scales the contrast by a random factor."""
    pictures._check_range(lower, upper)
    return pictures.adjust_contrast(image, stateless.stateless_uniform([], seed, lower, upper))


def stateless_random_saturation(image, lower, upper, seed=None):
    """Scales the saturation by a random factor."""
    pictures._check_range(lower, upper)
    return pictures.adjust_saturation(image, stateless.stateless_uniform([], seed, lower, upper))


def stateless_random_hue(image, max_delta, seed):
    """Turns the hue by a random angle; 1 is the whole circle."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    pictures._check_delta(max_delta)
    return pictures.adjust_hue(image, stateless.stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """Encodes a picture as a JPEG of random quality, and decodes it."""
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = stateless.stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtypes.int32)
    return image_functions.adjust_jpeg_quality(image, quality)


def _flip(image, seed, flip):
    image = convert_to_tensor(image, name="image")
    if image.shape.ndims == 3:
        return cond(stateless.stateless_uniform([], seed) < 0.5, lambda: flip(image), lambda: image)
    if image.shape.ndims != 4:
        raise ValueError("'image' (shape %s) must have either 3 or 4 dimensions." % image.shape)
    drawn = stateless.stateless_uniform([array_ops.shape(image)[0]], seed)
    chosen = math_ops.cast(array_ops.reshape(math_ops.round(drawn), [-1, 1, 1, 1]), image.dtype)
    return chosen * flip(image) + (1 - chosen) * image


def stateless_random_flip_left_right(image, seed):
    """Mirrors each picture with probability 1/2."""
    return _flip(image, seed, image_shape.flip_left_right)


def stateless_random_flip_up_down(image, seed):
    """Turns each picture upside down with probability 1/2."""
    return _flip(image, seed, image_shape.flip_up_down)


def stateless_random_crop(value, size, seed, name=None):
    """Returns a random part of a tensor, of the given size."""
    with name_scope(name, "random_crop", [value, size]):
        value, size = convert_to_tensor(value, name="value"), convert_to_tensor(size, dtypes.int32, name="size")
        have = array_ops.shape(value)
        with control_dependencies([assert_greater_equal(have, size, message="Need value.shape >= size, got ")]):
            limit = have - size + 1
        drawn = stateless.stateless_uniform(array_ops.shape(have), seed, 0, size.dtype.max, size.dtype)
        return array_ops.slice(value, drawn % limit, size)


FUNCTIONS = {"image." + f.__name__: f for f in (
    ResizeMethod, resize, resize_with_pad, extract_glimpse, sample_distorted_bounding_box, stateless_random_brightness,
    stateless_random_contrast, stateless_random_saturation, stateless_random_hue, stateless_random_jpeg_quality,
    stateless_random_flip_left_right, stateless_random_flip_up_down, stateless_random_crop,
    stateless_sample_distorted_bounding_box)}
