"""tf.keras.preprocessing.image: images as arrays, and random changes of them."""
from weft._core.keras.image_changes import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    random_brightness,
    random_channel_shift,
    random_rotation,
    random_shear,
    random_shift,
    random_zoom,
)
from weft._core.keras.image_files import array_to_img, img_to_array, load_img, save_img
from weft._core.keras.image_generator import DirectoryIterator, ImageDataGenerator, Iterator, NumpyArrayIterator
from weft._core.public import publish as _publish

__all__ = [
    "DirectoryIterator", "ImageDataGenerator", "Iterator", "NumpyArrayIterator", "apply_affine_transform",
    "apply_brightness_shift", "apply_channel_shift", "array_to_img", "img_to_array", "load_img", "random_brightness",
    "random_channel_shift", "random_rotation", "random_shear", "random_shift", "random_zoom", "save_img",
]
__getattr__ = _publish(__name__)
