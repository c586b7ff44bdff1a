"""weft_image_*: the nodes and numbers of tf.image, those of a seed too."""
import ctypes as C

import numpy as np
import pytest
import tensorflow as tf

import trainlib
import weftlib
from trainlib import reference_variables  # noqa: F401

v1 = tf.compat.v1
I = v1.image
N, D = C.c_int64, C.c_double
SEED = C.byref(N(3))
FLOAT, UINT8 = 1, 4
CASES = {
    "resize": (lambda x: I.resize_images(x, [5, 9]), "resize", (N(5), N(9), None, False)),
    "resize_corners": (lambda x: I.resize_images(x, [12, 4], align_corners=True), "resize", (N(12), N(4), b"bilinear", True)),
    "resize_nearest": (lambda x: I.resize_images(x, [5, 9], I.ResizeMethod.NEAREST_NEIGHBOR), "resize",
                       (N(5), N(9), b"nearest_neighbor", False)),
    "crop": (lambda x: I.crop_to_bounding_box(x, 1, 2, 4, 3), "crop", (N(1), N(2), N(4), N(3))),
    "central_crop": (lambda x: I.central_crop(x, .6), "central_crop", (D(.6),)),
    "resize_same": (lambda x: I.resize_images(x, [8, 7]), "resize", (N(8), N(7), b"area", False)),
    "pad": (lambda x: I.pad_to_bounding_box(x, 1, 2, 12, 9), "pad", (N(1), N(2), N(12), N(9))),
    "crop_or_pad": (lambda x: I.resize_image_with_crop_or_pad(x, 5, 10), "crop_or_pad", (N(5), N(10))),
    "pad_or_crop": (lambda x: I.resize_image_with_crop_or_pad(x, 11, 4), "crop_or_pad", (N(11), N(4))),
    "saturation": (lambda x: I.adjust_saturation(x, .4), "saturation", (D(.4),)),
    "hue": (lambda x: I.adjust_hue(x, .2), "hue", (D(.2),)),
    "flip_left_right": (I.flip_left_right, "flip", (False,)),
    "flip_up_down": (I.flip_up_down, "flip", (True,)),
    "brightness": (lambda x: I.adjust_brightness(x, .2), "brightness", (D(.2),)),
    "contrast": (lambda x: I.adjust_contrast(x, 1.7), "contrast", (D(1.7),)),
    "standardize": (I.per_image_standardization, "standardize", ()),
    "to_float": (lambda x: I.convert_image_dtype(x, tf.float32), "convert", (FLOAT, False)),
    "to_shorts": (lambda x: I.convert_image_dtype(x, tf.int16), "convert", (5, False)),
    "to_signed": (lambda x: I.convert_image_dtype(x, tf.int8, saturate=True), "convert", (6, True)),
    "to_double": (lambda x: I.convert_image_dtype(x, tf.float64), "convert", (2, False)),
    "to_bytes": (lambda x: I.convert_image_dtype(x, tf.uint8, saturate=True), "convert", (UINT8, True)),
}
RANDOM = {
    "random_crop": (lambda x: tf.image.random_crop(x, [4, 5, 3], seed=3), "random_crop", (3, (N * 3)(4, 5, 3), SEED)),
    "random_flip": (lambda x: I.random_flip_left_right(x, seed=3), "random_flip", (False, SEED)),
    "random_flip_up_down": (lambda x: I.random_flip_up_down(x, seed=3), "random_flip", (True, SEED)),
    "random_brightness": (lambda x: I.random_brightness(x, .3, seed=3), "random_brightness", (D(.3), SEED)),
    "random_saturation": (lambda x: I.random_saturation(x, .5, 1.5, seed=3), "random_saturation", (D(.5), D(1.5), SEED)),
    "random_hue": (lambda x: I.random_hue(x, .3, seed=3), "random_hue", (D(.3), SEED)),
    "random_contrast": (lambda x: I.random_contrast(x, .5, 1.5, seed=3), "random_contrast", (D(.5), D(1.5), SEED)),
}


def compare(build, function, args, shape, dtype, runs=1, known=None):
    """known: the static shape, if it is not the shape of the value."""
    with tf.Graph().as_default() as g:
        v1.set_random_seed(7)
        x = v1.placeholder(dtype, known or shape, name="x")
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        want = build(x)
    weftlib.lib.weft_graph_set_seed(ours.ptr, N(7))
    got = ours.make("image_" + function, ours.find("x:0"), *args)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    value = np.random.RandomState(0).rand(*shape)
    value = (value * 255).astype(np.uint8) if dtype == tf.uint8 else value.astype(np.float32)
    s = weftlib.Session(ours)
    with v1.Session(graph=g) as tfs:
        for _ in range(runs):
            a, b = tfs.run(want, {"x:0": value}), s.run([got], {"x:0": value})[0]
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b.astype(np.float64), a.astype(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.uint8])
@pytest.mark.parametrize("shape", [(8, 7, 3), (2, 8, 7, 3)])
@pytest.mark.parametrize("name", CASES)
def test_images(name, shape, dtype):
    compare(*CASES[name], shape, dtype)


@pytest.mark.parametrize("name", ["crop", "central_crop", "pad", "crop_or_pad", "flip_up_down", "standardize"])
def test_images_of_unknown_size(name):
    compare(*CASES[name], (2, 8, 7, 3), tf.float32, known=[None, None, 7, None])


@pytest.mark.parametrize("dtype", [tf.float32, tf.uint8])
@pytest.mark.parametrize("name", RANDOM)
def test_images_drawn_at_random(name, dtype):
    compare(*RANDOM[name], (8, 7, 3), dtype, runs=6)


def test_refusals():
    with tf.Graph().as_default() as g:
        v1.placeholder(tf.float32, [5], name="row")
        v1.placeholder(tf.float32, [8, 8, 3], name="x")
        ours = trainlib.Graph(g)
    with pytest.raises(weftlib.Error, match=r"flip: 'image' \(shape \[5\]\) must be at least three-dimensional"):
        ours.make("image_flip", ours.find("row:0"), False)
    with pytest.raises(weftlib.Error, match=r"crop_to_bounding_box: width must be >= target \+ offset. Got 8 and 9"):
        ours.make("image_crop", ours.find("x:0"), N(0), N(6), N(2), N(3))
    with pytest.raises(weftlib.Error, match="height must be <= target - offset"):
        ours.make("image_pad", ours.find("x:0"), N(1), N(0), N(8), N(8))
    with pytest.raises(weftlib.Error, match="target_height must be > 0"):
        ours.make("image_crop_or_pad", ours.find("x:0"), N(0), N(8))
    with pytest.raises(weftlib.Error, match="Resize method cubist is not implemented"):
        ours.make("image_resize", ours.find("x:0"), N(2), N(2), b"cubist", False)
    with pytest.raises(weftlib.Error, match=r"central_fraction must be within \(0, 1\], got 2"):
        ours.make("image_central_crop", ours.find("x:0"), D(2))
