"""tf.image: decoding, resizing, flipping, colours."""
import numpy as np

from weft._core.framework import dtypes, wrap
from weft._core.framework.absent import Named
from weft._core.framework.build import constant_value, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops, random_ops
from weft._core.ops.control_flow import cond

wrap.functions("""
decode_png DecodePng contents channels=0 dtype=4
encode_png EncodePng image compression=-1
encode_jpeg EncodeJpeg image format='' quality=95
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


_RESIZE = {0: "ResizeBilinear", 1: "ResizeNearestNeighbor", 2: "ResizeBicubic", 3: "ResizeArea"}


def _resize(kind):
    def resize(images, size, align_corners=False, name=None, half_pixel_centers=False):
        size = convert_to_tensor(size, dtypes.int32, name="size")
        if kind != "ResizeArea":
            return op(kind, name, images=images, size=size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
        if half_pixel_centers:
            raise TypeError("resize_area() got an unexpected keyword argument 'half_pixel_centers': areas have no centers")
        return op(kind, name, images=images, size=size, align_corners=align_corners)
    return resize


resize_bilinear, resize_nearest_neighbor = _resize("ResizeBilinear"), _resize("ResizeNearestNeighbor")
resize_bicubic, resize_area = _resize("ResizeBicubic"), _resize("ResizeArea")


def resize_images(images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None):
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images)
        single = images.shape.ndims == 3
        x = array_ops.expand_dims(images, 0) if single else images
        if preserve_aspect_ratio:
            size = _fitted(x, size)
        made = op(_RESIZE[method], images=x, size=convert_to_tensor(size, dtypes.int32, name="size"), align_corners=align_corners)
        known = constant_value(convert_to_tensor(size))
        if known is not None:
            made.set_shape([x.shape.as_list()[0], int(known[0]), int(known[1]), x.shape.as_list()[3]])
        return array_ops.squeeze(made, [0]) if single else made


resize = resize_images


def _fitted(images, size):
    """The largest size within the given one that keeps the ratio of height to width."""
    height, width = _size(images)
    wanted = constant_value(convert_to_tensor(size, dtypes.int32))
    if wanted is not None and isinstance(height, int) and isinstance(width, int):
        scale = min(np.float32(wanted[0]) / np.float32(height), np.float32(wanted[1]) / np.float32(width))
        return [int(np.round(scale * np.float32(height))), int(np.round(scale * np.float32(width)))]
    have = math_ops.cast(array_ops.stack([height, width]), dtypes.float32)
    scale = math_ops.reduce_min(math_ops.cast(size, dtypes.float32) / have)
    return math_ops.cast(math_ops.round(scale * have), dtypes.int32)


def convert_image_dtype(image, dtype, saturate=False, name=None):
    image, dtype = convert_to_tensor(image, name="image"), as_dtype(dtype)
    have = image.dtype.base_dtype
    if have == dtype:
        return array_ops.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        if have.is_integer and dtype.is_floating:
            return math_ops.multiply(math_ops.cast(image, dtype), 1.0 / have.max, name=scope)
        if have.is_floating and dtype.is_integer:
            scaled = math_ops.multiply(image, dtype.max + 0.5)
            return math_ops.saturate_cast(scaled, dtype, name=scope) if saturate else math_ops.cast(scaled, dtype, name=scope)
        if have.is_integer and dtype.is_integer:
            return _between_integers(image, have, dtype, math_ops.saturate_cast if saturate else math_ops.cast, scope)
        return math_ops.cast(image, dtype, name=scope)


def _between_integers(image, have, dtype, cast, scope):
    """Both types have the whole range of brightness: by a factor or a divisor of a power of two."""
    if have.max > dtype.max:
        return cast(image // ((have.max + 1) // (dtype.max + 1)), dtype, name=scope)
    return math_ops.multiply(cast(image, dtype), (dtype.max + 1) // (have.max + 1), name=scope)


def central_crop(image, central_fraction):
    if not 0 < central_fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    image = convert_to_tensor(image)
    shape, begin, size = array_ops.shape(image), [], []
    for n in (shape[0], shape[1]):
        whole = math_ops.to_double(n)
        begin.append(math_ops.cast((whole - whole * central_fraction) / 2, dtypes.int32))
        size.append(n - begin[-1] * 2)
    return array_ops.slice(image, array_ops.stack(begin + [0]), array_ops.stack(size + [-1]))


def flip_left_right(image):
    image = convert_to_tensor(image)
    return array_ops.reverse(image, [image.shape.ndims - 2])


def flip_up_down(image):
    image = convert_to_tensor(image)
    return array_ops.reverse(image, [image.shape.ndims - 3])


def _perhaps(image, axis, seed, name):
    """The image turned around along an axis of its last three, or as it is; of a batch each image by itself."""
    with name_scope(None, name, [image]) as scope:
        image = array_ops.identity(convert_to_tensor(image, name="image"), name="control_dependency")
        if image.shape.ndims == 4:
            return _perhaps_each(image, axis + 1, seed)
        drawn = random_ops.random_uniform([], 0, 1.0, seed=seed)
        made = cond(math_ops.less(drawn, .5), lambda: array_ops.reverse(image, [axis]), lambda: image, name=scope)
        made.set_shape(image.shape)
        return made


def _perhaps_each(images, axis, seed):
    rows = array_ops.shape(images)[0]
    drawn = random_ops.random_uniform([rows], 0, 1.0, images.dtype.base_dtype, seed)
    flips = math_ops.round(array_ops.reshape(drawn, [rows, 1, 1, 1]))
    return flips * array_ops.reverse(images, [axis]) + (1 - flips) * images


def random_flip_left_right(image, seed=None):
    return _perhaps(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    return _perhaps(image, 0, seed, "random_flip_up_down")


def _as_float(adjust, image, saturate=False):
    """Adjusted as float, and back to the type it had; to be called in the name scope of the public function."""
    image = convert_to_tensor(image)
    have = image.dtype.base_dtype
    if have.is_floating:
        return array_ops.identity(adjust(image))
    return convert_image_dtype(adjust(convert_image_dtype(image, dtypes.float32)), have, saturate=saturate)


def adjust_brightness(image, delta):
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")

        def brighter(x):
            return math_ops.add(x, math_ops.cast(convert_to_tensor(delta), x.dtype.base_dtype), name=scope)
        return _as_float(brighter, image, saturate=True)


def random_brightness(image, max_delta, seed=None):
    return adjust_brightness(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def adjust_contrast(images, contrast_factor):
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        return _as_float(lambda x: op("AdjustContrastv2", scope, images=x, contrast_factor=convert_to_tensor(
            contrast_factor, dtypes.float32, name="contrast_factor")), images, saturate=True)


def random_contrast(image, lower, upper, seed=None):
    return adjust_contrast(image, random_ops.random_uniform([], lower, upper, seed=seed))


def adjust_saturation(image, saturation_factor, name=None):
    with name_scope(name, "adjust_saturation", [image]):
        return _as_float(lambda x: op("AdjustSaturation", images=x, scale=saturation_factor), convert_to_tensor(image, name="image"))


def random_saturation(image, lower, upper, seed=None):
    return adjust_saturation(image, random_ops.random_uniform([], lower, upper, seed=seed))


def adjust_hue(image, delta, name=None):
    with name_scope(name, "adjust_hue", [image]):
        return _as_float(lambda x: op("AdjustHue", images=x, delta=delta), convert_to_tensor(image, name="image"))


def random_hue(image, max_delta, seed=None):
    return adjust_hue(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def rgb_to_grayscale(images, name=None):
    with name_scope(name, "rgb_to_grayscale", [images]):
        def gray(x):
            return math_ops.reduce_sum(x * convert_to_tensor([0.2989, 0.587, 0.114], x.dtype.base_dtype), -1, keepdims=True)
        return _as_float(gray, images)


def grayscale_to_rgb(images, name=None):
    with name_scope(name, "grayscale_to_rgb", [images]):
        images = convert_to_tensor(images)
        return array_ops.tile(images, [1] * (images.shape.ndims - 1) + [3])


def per_image_standardization(image):
    image = math_ops.cast(convert_to_tensor(image), dtypes.float32)
    count = math_ops.cast(array_ops.size(image), dtypes.float32)
    mean = math_ops.reduce_mean(image)
    variance = math_ops.reduce_mean(math_ops.square(image)) - math_ops.square(mean)
    deviation = math_ops.sqrt(math_ops.maximum(variance, 0.0))
    return (image - mean) / math_ops.maximum(deviation, math_ops.rsqrt(count))


# ---- cutting and padding ----

def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    image = convert_to_tensor(image)
    lead = [0] * (image.shape.ndims - 3)
    return array_ops.slice(image, array_ops.stack(lead + [offset_height, offset_width, 0]),
                           array_ops.stack([-1] * len(lead) + [target_height, target_width, -1]))


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    image = convert_to_tensor(image)
    lead = image.shape.ndims - 3
    height, width = _size(image)
    pads = [[0, 0]] * lead + [[offset_height, target_height - offset_height - height],
                              [offset_width, target_width - offset_width - width], [0, 0]]
    out = array_ops.pad(image, array_ops.stack([array_ops.stack(p) for p in pads]))
    known = [v if isinstance(v, int) else None for v in (target_height, target_width)]
    out.set_shape(image.shape.as_list()[:lead] + known + image.shape.as_list()[-1:])
    return out


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None, min_object_covered=0.1,
                                  aspect_ratio_range=None, area_range=None, max_attempts=None,
                                  use_image_if_no_bounding_boxes=None, name=None):
    """(begin, size, box) of a rectangle that holds enough of a box; the seeds are the op's as they are given."""
    with name_scope(name, "sample_distorted_bounding_box"):
        return op("SampleDistortedBoundingBoxV2", name, image_size=image_size, bounding_boxes=bounding_boxes,
                  min_object_covered=min_object_covered, seed=seed or 0, seed2=seed2 or 0,
                  aspect_ratio_range=aspect_ratio_range or [0.75, 1.33], area_range=area_range or [0.05, 1],
                  max_attempts=max_attempts or 100, use_image_if_no_bounding_boxes=bool(use_image_if_no_bounding_boxes))


random_crop = random_ops.random_crop


def _size(image):
    """Height and width: numbers where they are known."""
    dims, shape = image.shape.as_list(), array_ops.shape(image)
    at = len(dims) - 3
    return [shape[at + i] if dims[at + i] is None else dims[at + i] for i in (0, 1)]


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """Cut or padded around its middle."""
    def most(a, b):
        return max(a, b) if isinstance(a, int) and isinstance(b, int) else math_ops.maximum(a, b)

    def least(a, b):
        return min(a, b) if isinstance(a, int) and isinstance(b, int) else math_ops.minimum(a, b)
    image = convert_to_tensor(image)
    height, width = _size(image)
    image = crop_to_bounding_box(image, most((height - target_height) // 2, 0), most((width - target_width) // 2, 0),
                                 least(target_height, height), least(target_width, width))
    return pad_to_bounding_box(image, most((target_height - height) // 2, 0), most((target_width - width) // 2, 0),
                               target_height, target_width)


resize_with_crop_or_pad = resize_image_with_crop_or_pad
