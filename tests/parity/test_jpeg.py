"""JPEG images that TensorFlow wrote: their shapes and the parts that are decoded from them."""
import numpy as np
import pytest
import tensorflow as tf

from scenario import Fails, check

v1 = tf.compat.v1
raw = tf.raw_ops


@pytest.fixture(scope="module")
def files():
    """A gray image and one in color, of sizes that are no multiples of a block."""
    y, x = np.mgrid[:21, :37]
    color = np.stack([x * 6, y * 12, (x + y) * 4], -1).astype(np.uint8)
    with tf.Graph().as_default(), v1.Session() as sess:
        return sess.run([raw.EncodeJpeg(image=i, quality=95) for i in (color[:, :, :1], color)])


def test_shapes(files):
    def build():
        return [raw.ExtractJpegShape(contents=f, output_type=t) for f in files for t in (tf.int32, tf.int64)] + [
            Fails(raw.ExtractJpegShape(contents=files[1][:40]))]
    check(build)


@pytest.mark.parametrize("channels", [0, 1, 3])
def test_parts(files, channels):
    def build():
        return [raw.DecodeAndCropJpeg(contents=f, crop_window=window, channels=channels, dct_method="INTEGER_ACCURATE")
                for f in files for window in ([0, 0, 21, 37], [5, 9, 7, 20], [20, 36, 1, 1])] + [
            Fails(raw.DecodeAndCropJpeg(contents=files[1], crop_window=window)) for window in ([0, 0, 22, 1], [-1, 0, 2, 2], [0, 0, 0, 1])]
    check(build)
