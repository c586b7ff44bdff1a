"""tf.keras.preprocessing.image: converts images to arrays and back, and reads image files with the package Pillow."""
import io
import os

import numpy as np

from weft._core.keras.session import floatx, image_data_format


def _pillow():
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("Could not import PIL.Image. The use of `load_img` requires PIL.") from None
    return Image


def _format(data_format):
    data_format = image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Unknown data_format: %s" % data_format)
    return data_format


def img_to_array(img, data_format=None, dtype=None):
    """Returns an image as an array of height, width and channels."""
    data_format = _format(data_format)
    x = np.asarray(img, dtype=dtype or floatx())
    if x.ndim == 3:
        return x.transpose(2, 0, 1) if data_format == "channels_first" else x
    if x.ndim == 2:
        return x.reshape((1, *x.shape) if data_format == "channels_first" else (*x.shape, 1))
    raise ValueError("Unsupported image shape: %s" % (x.shape,))


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """Returns an array as an image."""
    data_format, image = _format(data_format), _pillow()
    x = np.asarray(x, dtype=dtype or floatx())
    if x.ndim != 3:
        raise ValueError("Expected image array to have rank 3 (single image). Got array with shape: %s" % (x.shape,))
    if data_format == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        top = np.max(x)
        x = (x / top if top != 0 else x) * 255
    channels = x.shape[2]
    if channels == 1:
        return image.fromarray(x[:, :, 0].astype("int32"), "I") if np.max(x) > 255 else image.fromarray(x[:, :, 0].astype("uint8"), "L")
    if channels in (3, 4):
        return image.fromarray(x.astype("uint8"), "RGB" if channels == 3 else "RGBA")
    raise ValueError("Unsupported channel number: %s" % channels)


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Writes an array to an image file."""
    img = array_to_img(x, data_format=data_format, scale=scale)
    if img.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        img = img.convert("RGB")
    img.save(path, format=file_format, **kwargs)


def load_img(path, grayscale=False, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """Returns the image in a file."""
    image = _pillow()
    color_mode = "grayscale" if grayscale else color_mode
    if isinstance(path, io.BytesIO):
        img = image.open(path)
    else:
        with open(os.fspath(path), "rb") as f:
            img = image.open(io.BytesIO(f.read()))
    modes = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}
    if color_mode not in modes:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    if not (color_mode == "grayscale" and img.mode in ("L", "I;16", "I")) and img.mode != modes[color_mode]:
        img = img.convert(modes[color_mode])
    if target_size is None:
        return img
    size = (target_size[1], target_size[0])
    if img.size == size:
        return img
    kinds = {n: getattr(image, n.upper()) for n in ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")}
    if interpolation not in kinds:
        raise ValueError("Invalid interpolation method %s specified. Supported methods are %s" % (interpolation, ", ".join(kinds)))
    if not keep_aspect_ratio:
        return img.resize(size, kinds[interpolation])
    width, height = img.size
    wide, high = size
    crop_height, crop_width = min(height, int(width * high / wide)), min(width, int(height * wide / high))
    top, left = int((height - crop_height) / 2), int((width - crop_width) / 2)
    return img.resize(size, kinds[interpolation], [left, top, left + crop_width, top + crop_height])
