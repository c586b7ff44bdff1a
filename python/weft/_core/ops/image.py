"""tf.image: decodes, resizes and flips images, and adjusts colors."""
import numpy as np

from weft._core.framework import dtypes, library, wrap
from weft._core.framework.absent import Named
from weft._core.framework.build import constant_value, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops, random_ops
from weft._core.ops.check_ops import assert_equal, assert_greater_equal
from weft._core.ops.control_flow import with_dependencies
from weft._core.ops.image_shape import sizes

wrap.functions("""
decode_png DecodePng contents channels=0 dtype=4
encode_png EncodePng image compression=-1
rgb_to_hsv RGBToHSV images
hsv_to_rgb HSVToRGB images
decode_gif DecodeGif contents
""", globals())


class ResizeMethod(metaclass=Named):
    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = range(4)


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                acceptable_fraction=1, dct_method="", name=None):
    return op("DecodeJpeg", name, contents=contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
              try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction, dct_method=dct_method)


def encode_jpeg(image, format="", quality=95, progressive=False, optimize_size=False, chroma_downsampling=True, density_unit="in",
                x_density=300, y_density=300, xmp_metadata="", name=None):
    return op("EncodeJpeg", name, image=image, format=format, quality=quality, progressive=progressive, optimize_size=optimize_size,
              chroma_downsampling=chroma_downsampling, density_unit=density_unit, x_density=x_density, y_density=y_density,
              xmp_metadata=xmp_metadata)


_METHODS = {0: "bilinear", 1: "nearest_neighbor", 2: "bicubic", 3: "area"}


def _resize(kind):
    def resize(images, size, align_corners=False, name=None, half_pixel_centers=False):
        if kind != "ResizeArea":
            return op(kind, name, images=images, size=size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
        if half_pixel_centers:
            raise TypeError("resize_area() got an unexpected keyword argument 'half_pixel_centers': areas have no centers")
        return op(kind, name, images=images, size=size, align_corners=align_corners)
    return resize


resize_bilinear, resize_nearest_neighbor = _resize("ResizeBilinear"), _resize("ResizeNearestNeighbor")
resize_bicubic, resize_area = _resize("ResizeBicubic"), _resize("ResizeArea")


def resize_images(images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None):
    with name_scope(name, "resize", [images, size]) as scope:
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims not in (3, 4):
            raise ValueError("'images' contains no shape." if images.shape.ndims is None else
                             "'images' must have either 3 or 4 dimensions.")
        if method not in _METHODS:
            raise ValueError("Resize method is not implemented.")
        if preserve_aspect_ratio:
            size = _fitted(images, size)
        size = library.operand(size, dtype=dtypes.int32, name="size")
        return library.helper("resize_images", scope, [images, size], flag=bool(align_corners), method=_METHODS[method])


resize = resize_images


def _fitted(images, size):
    """Returns the largest size within the given one that keeps the aspect ratio."""
    height, width = sizes(images)
    wanted = constant_value(convert_to_tensor(size, dtypes.int32))
    if wanted is not None and isinstance(height, int) and isinstance(width, int):
        scale = min(np.float32(wanted[0]) / np.float32(height), np.float32(wanted[1]) / np.float32(width))
        return [int(np.round(scale * np.float32(height))), int(np.round(scale * np.float32(width)))]
    have = math_ops.cast(array_ops.stack([height, width]), dtypes.float32)
    scale = math_ops.reduce_min(math_ops.cast(size, dtypes.float32) / have)
    return math_ops.cast(math_ops.round(scale * have), dtypes.int32)


def convert_image_dtype(image, dtype, saturate=False, name=None):
    image, dtype = convert_to_tensor(image, name="image"), as_dtype(dtype)
    if image.dtype.base_dtype == dtype:
        return array_ops.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        return library.helper("convert_image_dtype", scope, [image, float(dtype.as_datatype_enum)], flag=bool(saturate))


def _adjusted(kind, name, image, by, argument="image", dtype=None):
    """Returns an image that the library adjusted by a number."""
    with name_scope(name, kind, [image, by]) as scope:
        image = convert_to_tensor(image, name=argument)
        return library.helper(kind, scope, [image, library.operand(by, dtype=dtype)])


def _check_delta(max_delta):
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")


def _check_range(lower, upper):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def adjust_brightness(image, delta):
    return _adjusted("adjust_brightness", None, image, delta)


def random_brightness(image, max_delta, seed=None):
    _check_delta(max_delta)
    return adjust_brightness(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def adjust_contrast(images, contrast_factor):
    return _adjusted("adjust_contrast", None, images, contrast_factor, "images", dtypes.float32)


def random_contrast(image, lower, upper, seed=None):
    _check_range(lower, upper)
    return adjust_contrast(image, random_ops.random_uniform([], lower, upper, seed=seed))


def adjust_saturation(image, saturation_factor, name=None):
    return _adjusted("adjust_saturation", name, image, saturation_factor, dtype=dtypes.float32)


def random_saturation(image, lower, upper, seed=None):
    _check_range(lower, upper)
    return adjust_saturation(image, random_ops.random_uniform([], lower, upper, seed=seed))


def adjust_hue(image, delta, name=None):
    return _adjusted("adjust_hue", name, image, delta, dtype=dtypes.float32)


def random_hue(image, max_delta, seed=None):
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    _check_delta(max_delta)
    return adjust_hue(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def rgb_to_grayscale(images, name=None):
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims and images.shape[-1].value not in (None, 3):
            raise ValueError("Dimensions must be equal, but are %d and 3: the last dimension of 'images' holds the colors." % (
                images.shape[-1].value))
        have = images.dtype.base_dtype
        x = convert_image_dtype(images, dtypes.float32)
        gray = math_ops.tensordot(x, [0.2989, 0.587, 0.114], [-1, -1])
        return convert_image_dtype(array_ops.expand_dims(gray, -1), have, name=scope)


def _checked_grayscale(images):
    """Returns images with a last dimension of 1 or an unknown one, which an op checks in each run."""
    dims = images.shape.as_list() if images.shape.ndims is not None else None
    if dims and (len(dims) < 2 or dims[-1] not in (None, 1)):
        raise ValueError("A grayscale image (shape %s) must be at least two-dimensional." % images.shape if len(dims) < 2 else
                         "Last dimension of a grayscale image should be size 1.")
    checks = []
    if not images.shape.is_fully_defined():
        checks = [assert_equal(array_ops.shape(images)[-1], 1, message="Last dimension of a grayscale image should be size 1."),
                  assert_greater_equal(array_ops.rank(images), 2, message="A grayscale image must be at least two-dimensional.")]
    return with_dependencies(checks, images)


def grayscale_to_rgb(images, name=None):
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = _checked_grayscale(convert_to_tensor(images, name="images"))
        lead = array_ops.ones(array_ops.expand_dims(array_ops.rank(images) - 1, 0), dtypes.int32)
        made = array_ops.tile(images, array_ops.concat([lead, array_ops.expand_dims(3, 0)], 0), name=scope)
        if images.shape.ndims is not None:
            made.set_shape(images.shape[:-1].concatenate([3]))
        return made


def per_image_standardization(image):
    """Returns a picture, or each of a batch, less its mean and divided by its standard deviation.

    Args:
      image: a tensor of three or more dimensions.
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        return library.helper("per_image_standardization", scope, [convert_to_tensor(image, name="image")])


per_image_whitening = per_image_standardization  # the name before 1.0


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None, min_object_covered=0.1,
                                  aspect_ratio_range=None, area_range=None, max_attempts=None,
                                  use_image_if_no_bounding_boxes=None, name=None):
    """Returns (begin, size, box) of a random rectangle that contains enough of a box.

    The seeds are passed to the op unchanged.
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return op("SampleDistortedBoundingBoxV2", name, image_size=image_size, bounding_boxes=bounding_boxes,
                  min_object_covered=min_object_covered, seed=seed or 0, seed2=seed2 or 0,
                  aspect_ratio_range=aspect_ratio_range or [0.75, 1.33], area_range=area_range or [0.05, 1],
                  max_attempts=max_attempts or 100, use_image_if_no_bounding_boxes=bool(use_image_if_no_bounding_boxes))


random_crop = random_ops.random_crop
