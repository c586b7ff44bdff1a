"""tf.image: functions that rotate and compare images, extract windows, and work on boxes in them."""
import numpy as np

from weft._core.framework import dtypes, library, wrap
from weft._core.framework.build import constant, constant_value, convert_to_tensor, either, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops import array_ops, image as pictures, image_shape, math_ops, random_ops
from weft._core.ops.check_ops import assert_equal, assert_greater_equal
from weft._core.ops.control_flow import cond
from weft._core.ops.functional_ops import map_fn

wrap.functions("""
decode_bmp DecodeBmp contents channels=0
decode_and_crop_jpeg DecodeAndCropJpeg contents crop_window channels=0 ratio=1 fancy_upscaling=True try_recover_truncated=False acceptable_fraction=1 dct_method=''
extract_jpeg_shape ExtractJpegShape contents output_type=3
extract_patches ExtractImagePatches@ExtractImagePatches images sizes:ksizes strides rates padding
""", globals())  # noqa: E501


# ---- files ----

def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """Returns the pixels of a PNG, JPEG, GIF or BMP file.

    Args:
      contents: the bytes of the file, a string.
      channels: how many color channels to decode to; 0 or None for those of the file.
      dtype: the type of the pixels; floats are in [0, 1].
      name: a name for the operation.
      expand_animations: whether a GIF gives all its frames, and so one dimension more.
    """
    with name_scope(name, "decode_image", []):
        dtype = as_dtype(dtype)
        direct = dtype in (dtypes.uint8, dtypes.uint16, dtypes.float32)
        made = op("DecodeImage", contents=contents, channels=channels or 0, dtype=dtype if direct else dtypes.uint16,
                  expand_animations=expand_animations)
        return made if direct else pictures.convert_image_dtype(made, dtype)


def is_jpeg(contents, name=None):
    """Returns whether a file begins as a JPEG does.

    Args:
      contents: the bytes of the file, a string.
      name: a name for the operation.
    """
    with name_scope(name, "is_jpeg", []):
        return math_ops.equal(op("Substr", input=contents, pos=0, len=3), b"\xff\xd8\xff", name=name)


def adjust_jpeg_quality(image, jpeg_quality, name=None):
    """Returns an image after it was encoded as a JPEG and decoded again.

    Args:
      image: a picture of 1 or 3 channels.
      jpeg_quality: the quality of the JPEG, from 0 to 100.
      name: a name for the operation.
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        picture = convert_to_tensor(image, name="image")
        channels, have = picture.shape.as_list()[-1], picture.dtype.base_dtype
        picture = pictures.convert_image_dtype(picture, dtypes.uint8, saturate=True)
        if not hasattr(jpeg_quality, "op"):
            jpeg_quality = constant(jpeg_quality, dtypes.int32)
        picture = op("EncodeJpegVariableQuality", images=picture, quality=jpeg_quality)
        return pictures.convert_image_dtype(op("DecodeJpeg", contents=picture, channels=channels or 0), have, saturate=True)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """Calls `adjust_jpeg_quality` with a random quality.

    Args:
      image: a picture of 1 or 3 channels.
      min_jpeg_quality: the lowest quality.
      max_jpeg_quality: the highest quality.
      seed: a number that the random numbers follow from.
    """
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_ops.random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


# ---- turning and padding ----

def transpose(image, name=None):
    """Returns a picture or a batch of pictures with rows and columns exchanged.

    Args:
      image: a tensor of three or four dimensions.
      name: a name for the operation.
    """
    with name_scope(name, "transpose", [image]) as scope:
        image = _picture(image, scope)
        return array_ops.transpose(image, [1, 0, 2] if image.shape.ndims == 3 else [0, 2, 1, 3], name=name)


def _picture(image, scope):
    """Returns the image as a tensor, with checks that it has three or four dimensions, none of them empty."""
    image = library.helper("checked_image", scope, [convert_to_tensor(image, name="image")])
    if image.shape.ndims not in (None, 3, 4):
        raise ValueError("'image' (shape %s) must be three-dimensional or four-dimensional." % image.shape)
    if image.shape.ndims is None:  # TensorFlow treats it as a batch.
        image = array_ops.identity(image)
        image.set_shape([None] * 4)
    return image


def rot90(image, k=1, name=None):
    """Returns a picture or a batch of pictures turned counterclockwise by quarters.

    Args:
      image: a tensor of three or four dimensions.
      k: by how many quarters.
      name: a name for the operation.
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = _picture(image, scope)
        rows = 0 if image.shape.ndims == 3 else 1
        swap = [1, 0, 2] if rows == 0 else [0, 2, 1, 3]
        turned = [lambda: image, lambda: array_ops.transpose(array_ops.reverse_v2(image, [rows + 1]), swap),
                  lambda: array_ops.reverse_v2(image, [rows, rows + 1]),
                  lambda: array_ops.reverse_v2(array_ops.transpose(image, swap), [rows + 1])]
        k = convert_to_tensor(k, dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = math_ops.mod(k, 4)
        made = cond(math_ops.equal(k, 1), turned[1], lambda: cond(math_ops.equal(k, 2), turned[2], lambda: cond(
            math_ops.equal(k, 3), turned[3], turned[0])))
        made.set_shape([None if d in (rows, rows + 1) else image.shape[d].value for d in range(image.shape.ndims)])
        return made


def resize_image_with_pad(image, target_height, target_width, method=pictures.ResizeMethod.BILINEAR, align_corners=False):
    """Returns an image resized with its aspect ratio, and padded with zeros.

    Args:
      image: a tensor of three or four dimensions.
      target_height: the height of the result.
      target_width: the width of the result.
      method: one of `tf.pictures.ResizeMethod`.
      align_corners: whether the corners keep their values.
    """
    return resized_with_pad(image, target_height, target_width, lambda batch, size: pictures.resize_images(
        batch, size, method, align_corners))


def resized_with_pad(image, target_height, target_width, resizer):
    """Returns an image that `resizer` resized with its aspect ratio, padded with zeros."""
    with name_scope(None, "resize_image_with_pad", [image]) as scope:
        image = convert_to_tensor(image, name="image")
        if image.shape.ndims not in (None, 3, 4):
            raise ValueError("'image' (shape %s) must have either 3 or 4 dimensions." % image.shape)
        single = image.shape.ndims != 4
        batch = array_ops.expand_dims(image, 0) if single else image
        batch.set_shape([None] * 4)
        for size, what in ((target_height, "target_height"), (target_width, "target_width")):
            known = constant_value(convert_to_tensor(size)) if hasattr(size, "op") else size
            if known is not None and known <= 0:
                raise ValueError("%s must be > 0." % what)
        batch = library.helper("checked_image", scope, [batch])
        dims = batch.shape.as_list()
        parts = array_ops.unstack(array_ops.shape(batch)) if None in dims else dims
        height, width = (parts[i] if dims[i] is None else dims[i] for i in (1, 2))
        h, w, th, tw = (math_ops.cast(v, dtypes.float32) for v in (height, width, target_height, target_width))
        ratio = math_ops.maximum(w / tw, h / th)
        new = h / ratio, w / ratio
        size = [math_ops.cast(math_ops.floor(v), dtypes.int32) for v in new]
        rest = [(whole - part) / 2 for whole, part in zip((th, tw), new, strict=True)]
        rest = [math_ops.floor(v) for v in rest]
        top, left = (math_ops.maximum(0, math_ops.cast(v, dtypes.int32)) for v in rest)
        made = resizer(batch, size)
        made = image_shape.pad_to_bounding_box(made, top, left, target_height, target_width)
        return array_ops.squeeze(made, [0]) if single else made


# ---- colors ----

_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _colors(public, table, doc):
    def convert(images):
        images = convert_to_tensor(images, name="images")
        kernel = convert_to_tensor(table, images.dtype.base_dtype, name="kernel")
        return math_ops.tensordot(images, kernel, axes=[[images.shape.ndims - 1], [0]])
    convert.__name__ = convert.__qualname__ = public
    convert.__module__ = __name__
    convert.__doc__ = "%s\n\n    Args:\n      images: pictures of three channels, floats.\n    " % doc
    return convert


rgb_to_yiq = _colors("rgb_to_yiq", _YIQ, "Pictures in RGB as YIQ.")
yiq_to_rgb = _colors("yiq_to_rgb", _FROM_YIQ, "Pictures in YIQ as RGB.")
rgb_to_yuv = _colors("rgb_to_yuv", _YUV, "Pictures in RGB as YUV.")
yuv_to_rgb = _colors("yuv_to_rgb", _FROM_YUV, "Pictures in YUV as RGB.")


def adjust_gamma(image, gamma=1, gain=1):
    """Returns `gain * image ** gamma`.

    Args:
      image: a picture; integers are converted to [0, 1] and back.
      gamma: the exponent, which is not negative.
      gain: the factor.
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        picture = convert_to_tensor(image, name="image")
        have = picture.dtype.base_dtype
        direct = have in (dtypes.float16, dtypes.float32)
        as_float = picture if direct else pictures.convert_image_dtype(picture, dtypes.float32)
        if not hasattr(gamma, "op"):
            if gamma < 0:
                raise ValueError("Gamma should be a non-negative real number.")
            made = gain * as_float ** gamma
        else:
            with control_dependencies([assert_greater_equal(gamma, 0.0, message="Gamma should be a non-negative real number.")]):
                made = gain * as_float ** gamma
        return pictures.convert_image_dtype(made, have, saturate=True)


# ---- comparing ----

def _same_sizes(a, b):
    """Checks that two batches of images have equal heights, widths and channels, and returns the ops that must run
    first.
    """
    a.shape[-3:].assert_is_compatible_with(b.shape[-3:]) if a.shape.ndims and b.shape.ndims else None
    for one in (a, b):
        if one.shape.ndims is not None and one.shape.ndims < 3:
            raise ValueError("a picture has three dimensions or more, not the shape %s" % one.shape)
    return [assert_equal(array_ops.shape(a)[-3:], array_ops.shape(b)[-3:])]


def psnr(a, b, max_val, name=None):
    """Returns the peak signal-to-noise ratio of two batches of pictures, in decibels.

    Args:
      a: pictures.
      b: pictures of the same shape.
      max_val: the range of the pixels.
      name: a name for the operation.
    """
    with name_scope(name, "PSNR", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        top = pictures.convert_image_dtype(math_ops.cast(max_val, a.dtype), dtypes.float32)
        checks = _same_sizes(a, b)
        a, b = pictures.convert_image_dtype(a, dtypes.float32), pictures.convert_image_dtype(b, dtypes.float32)
        error = math_ops.reduce_mean(math_ops.squared_difference(a, b), [-3, -2, -1])
        made = 20 * math_ops.log(top) / math_ops.log(10.0) - np.float32(10 / np.log(10)) * math_ops.log(error)
        with control_dependencies(checks):
            return array_ops.identity(made)


def _gaussian(size, sigma):
    place = math_ops.cast(math_ops.range(size), dtypes.float32) - math_ops.cast(size - 1, dtypes.float32) / 2.0
    exponent = math_ops.square(place) * (-0.5 / math_ops.square(math_ops.cast(sigma, dtypes.float32)))
    square = array_ops.reshape(exponent, [1, -1]) + array_ops.reshape(exponent, [-1, 1])
    return array_ops.reshape(op("Softmax", logits=array_ops.reshape(square, [1, -1])), array_ops.stack([size, size, 1, 1]))


def _per_channel(a, b, max_val, size, sigma, k1, k2, whole=False):
    """Returns the two factors of structural similarity for each channel: their product, and only the second one."""
    size = convert_to_tensor(size, dtypes.int32)
    kernel = array_ops.tile(_gaussian(size, sigma), [1, 1, array_ops.shape(a)[-1], 1])
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2

    def blurred(x):
        shape = array_ops.shape(x)
        flat = array_ops.reshape(x, array_ops.concat([[-1], shape[-3:]], 0))
        y = op("DepthwiseConv2dNative", input=flat, filter=kernel, strides=[1, 1, 1, 1], padding="VALID")
        return array_ops.reshape(y, array_ops.concat([shape[:-3], array_ops.shape(y)[1:]], 0))
    mean_a, mean_b = blurred(a), blurred(b)
    both, squares = mean_a * mean_b * 2.0, math_ops.square(mean_a) + math_ops.square(mean_b)
    light = (both + c1) / (squares + c1)
    contrast = (blurred(a * b) * 2.0 - both + c2) / (blurred(math_ops.square(a) + math_ops.square(b)) - squares + c2)
    if whole:
        return light * contrast, contrast
    return math_ops.reduce_mean(light * contrast, [-3, -2]), math_ops.reduce_mean(contrast, [-3, -2])


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """Returns the structural similarity of two batches of pictures.

    Args:
      img1: pictures.
      img2: pictures of the same shape.
      max_val: the range of the pixels.
      filter_size: the size of the window.
      filter_sigma: the width of the Gaussian in the window.
      k1: a small number that keeps the first factor stable.
      k2: likewise for the second factor.
      return_index_map: whether the result has a value for each window.
    """
    with name_scope(None, "SSIM", [img1, img2]):
        a, b, top = _for_similarity(img1, img2, max_val)
        value, _ = _per_channel(a, b, top, filter_size, filter_sigma, k1, k2, return_index_map)
        return math_ops.reduce_mean(value, [-1])


def _for_similarity(img1, img2, max_val):
    a, b = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
    with control_dependencies(_same_sizes(a, b)):
        a = array_ops.identity(a)
    top = pictures.convert_image_dtype(math_ops.cast(max_val, a.dtype), dtypes.float32)
    return pictures.convert_image_dtype(a, dtypes.float32), pictures.convert_image_dtype(b, dtypes.float32), top


def ssim_multiscale(img1, img2, max_val, power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size=11, filter_sigma=1.5,
                    k1=0.01, k2=0.03):
    """Returns the structural similarity of two batches of pictures over several scales.

    Args:
      img1: pictures.
      img2: pictures of the same shape.
      max_val: the range of the pixels.
      power_factors: the weight of each scale, of which the next one is half as large.
      filter_size: the size of the window.
      filter_sigma: the width of the Gaussian in the window.
      k1: a small number that keeps the first factor stable.
      k2: likewise for the second factor.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        a, b, top = _for_similarity(img1, img2, max_val)
        factors = []
        for scale in range(len(power_factors)):
            if scale:
                a, b = _halved(a), _halved(b)
            value, contrast = _per_channel(a, b, top, filter_size, filter_sigma, k1, k2)
            last = scale == len(power_factors) - 1
            factors.append(op("Relu", features=value if last else contrast))
        powers = math_ops.pow(array_ops.stack(factors, axis=-1), constant(list(power_factors), dtypes.float32))
        return math_ops.reduce_mean(math_ops.reduce_prod(powers, [-1]), [-1])


def _halved(x):
    """Returns the mean of each square of four pixels. An odd last row or column is used twice."""
    shape = array_ops.shape(x)
    flat = array_ops.reshape(x, array_ops.concat([[-1], shape[-3:]], 0))
    odd = math_ops.mod(array_ops.shape(flat)[1:3], 2)
    ends = array_ops.concat([[0], odd, [0]], 0)
    flat = op("MirrorPad", input=flat, paddings=array_ops.stack([array_ops.zeros_like(ends), ends], axis=1), mode="SYMMETRIC")
    y = op("AvgPool", value=flat, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return array_ops.reshape(y, array_ops.concat([shape[:-3], array_ops.shape(y)[1:]], 0))


# ---- differences of neighbors ----

def image_gradients(image):
    """Returns the differences of each pixel to the next ones below and to the right.

    Args:
      image: pictures, a tensor of four dimensions.
    """
    if image.get_shape().ndims != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, w, d], not %s." % image.get_shape())
    shape = array_ops.shape(image)
    batch, height, width, depth = (shape[i] for i in range(4))
    down, right = image[:, 1:, :, :] - image[:, :-1, :, :], image[:, :, 1:, :] - image[:, :, :-1, :]
    row = array_ops.zeros(array_ops.stack([batch, 1, width, depth]), image.dtype)
    column = array_ops.zeros(array_ops.stack([batch, height, 1, depth]), image.dtype)
    return (array_ops.reshape(array_ops.concat([down, row], 1), shape), array_ops.reshape(array_ops.concat([right, column], 2), shape))


def sobel_edges(image):
    """Returns the edges of pictures along the height and the width, as a last dimension of length 2.

    Args:
      image: pictures, a tensor of four dimensions.
    """
    static, shape = image.get_shape(), array_ops.shape(image)
    kernels = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], np.float32)
    kernels = np.expand_dims(np.transpose(kernels, (1, 2, 0)), -2)
    filters = array_ops.tile(constant(kernels, image.dtype), [1, 1, shape[-1], 1])
    padded = op("MirrorPad", input=image, paddings=[[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    made = op("DepthwiseConv2dNative", input=padded, filter=filters, strides=[1, 1, 1, 1], padding="VALID")
    made = array_ops.reshape(made, array_ops.concat([shape, [2]], 0))
    made.set_shape(static.concatenate([2]))
    return made


def total_variation(images, name=None):
    """Returns the sum of the differences of neighboring pixels, for each picture.

    Args:
      images: a picture, or a batch of them.
      name: a name for the operation.
    """
    with name_scope(name, "total_variation"):
        rank = images.get_shape().ndims
        if rank not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        if rank == 3:
            down, right, axes = images[1:, :, :] - images[:-1, :, :], images[:, 1:, :] - images[:, :-1, :], None
        else:
            down, right = images[:, 1:, :, :] - images[:, :-1, :, :], images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        return math_ops.reduce_sum(math_ops.abs(down), axis=axes) + math_ops.reduce_sum(math_ops.abs(right), axis=axes)


# ---- windows and boxes ----

def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """Returns the windows of images, each flattened into the channels.

    Args:
      images: pictures, a tensor of four dimensions.
      ksizes: the sizes of a window, four numbers.
      strides: the distance of windows, four numbers.
      rates: the distance of the pixels of a window, four numbers.
      padding: 'SAME' or 'VALID'.
      name: a name for the operation.
      sizes: another name of `ksizes`.
    """
    return op("ExtractImagePatches", name, images=images, ksizes=list(either("sizes", sizes, "ksizes", ksizes)), strides=list(strides),
              rates=list(rates), padding=padding)


def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """Returns the windows of volumes, each flattened into the channels.

    Args:
      input: volumes, a tensor of five dimensions.
      ksizes: the sizes of a window, five numbers.
      strides: the distance of windows, five numbers.
      padding: 'SAME' or 'VALID'.
      name: a name for the operation.
    """
    return op("ExtractVolumePatches", name, input=input, ksizes=list(ksizes), strides=list(strides), padding=padding)


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Returns images in which boxes are drawn.

    Args:
      images: pictures, a tensor of four dimensions.
      boxes: for each picture, boxes as [top, left, bottom, right] in [0, 1].
      name: a name for the operation.
      colors: a list of colors that the boxes take in turn; by default ten fixed ones.
    """
    if colors is None:
        return op("DrawBoundingBoxes", name, images=images, boxes=boxes)
    return op("DrawBoundingBoxesV2", name, images=images, boxes=boxes, colors=colors)


def crop_and_resize(image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0, name=None, box_indices=None):
    """Returns parts of images, all resized to the same size.

    Args:
      image: pictures, a tensor of four dimensions.
      boxes: boxes as [top, left, bottom, right] in [0, 1].
      box_ind: for each box, the number of its picture.
      crop_size: the height and width of the results.
      method: 'bilinear' or 'nearest'.
      extrapolation_value: the value outside of a picture.
      name: a name for the operation.
      box_indices: another name of `box_ind`.
    """
    return op("CropAndResize", name, image=image, boxes=boxes, box_ind=either("box_indices", box_indices, "box_ind", box_ind),
              crop_size=crop_size, method=method, extrapolation_value=extrapolation_value)


def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None):
    """Returns a part of each image around a point; pixels outside of the image are noise.

    Args:
      input: pictures, a tensor of four dimensions, floats.
      size: the height and width of the parts.
      offsets: for each picture, the row and column of the point.
      centered: whether the offsets count from the center.
      normalized: whether the offsets are parts of the size; else they are pixels.
      uniform_noise: whether the noise is uniform; else it is Gaussian.
      name: a name for the operation.
    """
    return op("ExtractGlimpse", name, input=input, size=size, offsets=offsets, centered=centered, normalized=normalized,
              uniform_noise=uniform_noise)


# ---- non-maximum suppression ----

def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5,
                                 score_threshold=float("-inf"), pad_per_class=False, clip_boxes=True, name=None):
    """Returns the best boxes of all classes, for each picture of a batch: boxes, scores, classes and how many are
    valid.

    Args:
      boxes: a tensor of [batch, boxes, 1 or classes, 4].
      scores: a tensor of [batch, boxes, classes].
      max_output_size_per_class: how many boxes of one class to choose at most.
      max_total_size: how many boxes of one picture to choose at most.
      iou_threshold: from which overlap on a box is dropped.
      score_threshold: from which score on a box counts.
      pad_per_class: whether the result is no longer than all classes can fill.
      clip_boxes: whether boxes are cut to [0, 1].
      name: a name for the operation.
    """
    with name_scope(name, "combined_non_max_suppression"):
        return op("CombinedNonMaxSuppression", boxes=boxes, scores=scores, max_output_size_per_class=max_output_size_per_class,
                  max_total_size=max_total_size, iou_threshold=convert_to_tensor(iou_threshold, name="iou_threshold"),
                  score_threshold=convert_to_tensor(score_threshold, name="score_threshold"), pad_per_class=pad_per_class,
                  clip_boxes=clip_boxes)


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """Returns the indices of the boxes with the highest scores that do not overlap much.

    Args:
      boxes: boxes as [top, left, bottom, right].
      scores: the score of each box.
      max_output_size: how many to choose at most.
      iou_threshold: from which overlap on a box is dropped.
      score_threshold: from which score on a box counts.
      name: a name for the operation.
    """
    with name_scope(name, "non_max_suppression"):
        return op("NonMaxSuppressionV3", boxes=boxes, scores=scores, max_output_size=max_output_size,
                  iou_threshold=convert_to_tensor(iou_threshold, name="iou_threshold"),
                  score_threshold=convert_to_tensor(score_threshold, name="score_threshold"))


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), soft_nms_sigma=0.0,
                                    name=None):
    """Returns the indices of the boxes with the highest scores that do not overlap much, and their scores.

    Args:
      boxes: boxes as [top, left, bottom, right].
      scores: the score of each box.
      max_output_size: how many to choose at most.
      iou_threshold: from which overlap on a box is dropped.
      score_threshold: from which score on a box counts.
      soft_nms_sigma: above 0, overlapping boxes get lower scores instead.
      name: a name for the operation.
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        made = op("NonMaxSuppressionV5", boxes=boxes, scores=scores, max_output_size=max_output_size,
                  iou_threshold=convert_to_tensor(iou_threshold, name="iou_threshold"),
                  score_threshold=convert_to_tensor(score_threshold, name="score_threshold"),
                  soft_nms_sigma=convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma"), pad_to_max_output_size=False)
        return made[0], made[1]


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"), name=None):
    """Returns the indices of the boxes with the highest scores that do not overlap much, for given overlaps.

    Args:
      overlaps: a square matrix, the overlap of each box with each other.
      scores: the score of each box.
      max_output_size: how many to choose at most.
      overlap_threshold: from which overlap on a box is dropped.
      score_threshold: from which score on a box counts.
      name: a name for the operation.
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        return op("NonMaxSuppressionWithOverlaps", overlaps=overlaps, scores=scores, max_output_size=max_output_size,
                  overlap_threshold=convert_to_tensor(overlap_threshold, name="overlap_threshold"), score_threshold=score_threshold)


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None, sorted_input=False, canonicalized_coordinates=False,
                               tile_size=512):
    """Returns the indices of the boxes with the highest scores that do not overlap much, padded with zeros, and their
    number.

    Args:
      boxes: boxes as [top, left, bottom, right]; there may be batch dimensions.
      scores: the score of each box.
      max_output_size: how many to choose at most.
      iou_threshold: from which overlap on a box is dropped.
      score_threshold: from which score on a box counts.
      pad_to_max_output_size: whether the result always has `max_output_size` numbers.
      name: a name for the operation.
      sorted_input: says that the scores fall, so that the order of the boxes counts.
      canonicalized_coordinates: says that the corners are in order; the result is the same.
      tile_size: how many boxes TensorFlow looks at together; the result is the same.
    """
    with name_scope(name, "non_max_suppression_padded"):
        boxes, scores = convert_to_tensor(boxes, name="boxes"), convert_to_tensor(scores, name="scores")

        def one(pair, pad):
            rated, lowest = pair[1], score_threshold
            if sorted_input:  # Then the order decides, whatever the scores are.
                order = -math_ops.cast(math_ops.range(array_ops.shape(rated)[0]), dtypes.float32)
                rated = array_ops.where(rated > lowest, order, array_ops.fill(array_ops.shape(rated), np.float32(-3e38)))
                lowest = -2e38
            made = op("NonMaxSuppressionV4", boxes=pair[0], scores=rated, max_output_size=max_output_size, iou_threshold=iou_threshold,
                      score_threshold=lowest, pad_to_max_output_size=pad)
            return made[0], made[1]
        if boxes.shape.ndims == 2:
            return one((boxes, scores), pad_to_max_output_size)
        if not pad_to_max_output_size:
            raise ValueError("`pad_to_max_output_size` (value False) must be True for batched input")
        batch = array_ops.shape(boxes)[:-2]
        flat = (array_ops.reshape(boxes, array_ops.concat([[-1], array_ops.shape(boxes)[-2:]], 0)),
                array_ops.reshape(scores, array_ops.concat([[-1], array_ops.shape(scores)[-1:]], 0)))
        chosen, count = map_fn(lambda pair: one(pair, True), flat, dtype=(dtypes.int32, dtypes.int32))
        return (array_ops.reshape(chosen, array_ops.concat([batch, array_ops.shape(chosen)[1:]], 0)), array_ops.reshape(count, batch))


transpose_image = transpose
