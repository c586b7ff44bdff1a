"""tf.keras.preprocessing.image: random transformations of images.

Rotating and scaling need the package SciPy. As in Keras, NameError is raised without it.

Turning and scaling need the package SciPy, as in Keras, which raises NameError without it.
"""
import numpy as np

from weft._core.keras import image_files


def _ndimage():
    try:
        from scipy import ndimage
    except ImportError:
        raise NameError("name 'scipy' is not defined. Image transformations require SciPy. Install SciPy.") from None
    return ndimage


def apply_affine_transform(x, theta=0, tx=0, ty=0, shear=0, zx=1, zy=1, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest",
                           cval=0.0, order=1):
    """Returns an image that is rotated, shifted, sheared and scaled."""
    ndimage = _ndimage()
    if len({row_axis, col_axis, channel_axis}) != 3:
        raise ValueError("'row_axis', 'col_axis', and 'channel_axis' must be distinct")
    valid = {-3, -2, -1, 0, 1, 2}
    if not {row_axis, col_axis, channel_axis} <= valid:
        raise ValueError("'row_axis', 'col_axis', and 'channel_axis' must be in %s" % sorted(valid))
    if x.ndim != 3:
        raise ValueError("Input arrays must be multi-channel 2D images.")
    made = None
    for matrix in _matrices(theta, tx, ty, shear, zx, zy):
        made = matrix if made is None else np.dot(made, matrix)
    if made is None:
        return x
    h, w = x.shape[row_axis], x.shape[col_axis]
    center = np.array([[1, 0, h / 2 - 0.5], [0, 1, w / 2 - 0.5], [0, 0, 1]])
    back = np.array([[1, 0, -(h / 2 - 0.5)], [0, 1, -(w / 2 - 0.5)], [0, 0, 1]])
    made = np.dot(np.dot(center, made), back)
    x = np.rollaxis(x, channel_axis, 0)
    parts = [ndimage.affine_transform(c, made[:2, :2], made[:2, 2], order=order, mode=fill_mode, cval=cval) for c in x]
    return np.rollaxis(np.stack(parts, axis=0), 0, channel_axis + 1)


def _matrices(theta, tx, ty, shear, zx, zy):
    if theta != 0:
        t = np.deg2rad(theta)
        yield np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])
    if tx != 0 or ty != 0:
        yield np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear != 0:
        s = np.deg2rad(shear)
        yield np.array([[1, -np.sin(s), 0], [0, np.cos(s), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        yield np.array([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])


def flip_axis(x, axis):
    return np.flip(x, axis)


def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    return apply_affine_transform(x, theta=np.random.uniform(-rg, rg), row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(x, tx=tx, ty=ty, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis, fill_mode=fill_mode,
                                  cval=cval, order=interpolation_order)


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    return apply_affine_transform(x, shear=np.random.uniform(-intensity, intensity), row_axis=row_axis, col_axis=col_axis,
                                  channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    if len(zoom_range) != 2:
        raise ValueError("`zoom_range` should be a tuple or list of two floats. Received: %s" % (zoom_range,))
    zx, zy = (1, 1) if zoom_range[0] == 1 and zoom_range[1] == 1 else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return apply_affine_transform(x, zx=zx, zy=zy, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis, fill_mode=fill_mode,
                                  cval=cval, order=interpolation_order)


def apply_channel_shift(x, intensity, channel_axis=0):
    """Returns an image with the values of each channel shifted, within their original range."""
    x = np.rollaxis(x, channel_axis, 0)
    low, high = np.min(x), np.max(x)
    made = np.stack([np.clip(c + intensity, low, high) for c in x], axis=0)
    return np.rollaxis(made, 0, channel_axis + 1)


def random_channel_shift(x, intensity_range, channel_axis=0):
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis=channel_axis)


def apply_brightness_shift(x, brightness, scale=True):
    """Returns an image made brighter or darker by a factor."""
    image_files._pillow()
    from PIL import ImageEnhance
    low, high = np.min(x), np.max(x)
    local = low < 0 or high > 255
    made = ImageEnhance.Brightness(image_files.array_to_img(x, scale=local or scale)).enhance(brightness)
    made = image_files.img_to_array(made)
    return made / 255 * (high - low) + low if not scale and local else made


def random_brightness(x, brightness_range, scale=True):
    if len(brightness_range) != 2:
        raise ValueError("`brightness_range should be tuple or list of two floats. Received: %s" % (brightness_range,))
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]), scale)
