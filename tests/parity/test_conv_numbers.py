"""How far convolutions are from float64, compared with TensorFlow's, and what an infinite input reaches.

Convolutions with fewer products (kernels/conv/conv_winograd_1d.c, kernels/conv/conv_winograd_2d.c) round worse than plain sums.  Their RMS error may
be 1.6 times that of TensorFlow's float kernels as they are installed: with oneDNN, if the build has it.  TensorFlow's
gradient towards the input is not the same kernel everywhere: without oneDNN (as on aarch64) it adds up 25 short sums,
which no kernel that reads each window once does.  That direction is therefore also a forward convolution, of dy with
the filter turned round, and is measured against the larger error of the two.
"""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
# batch, height, width, channels in and out, filter, stride, padding
SHAPES = [(8, 14, 14, 32, 64, 5, 1, "SAME"), (32, 28, 28, 16, 32, 5, 1, "SAME"), (8, 28, 28, 8, 16, 3, 1, "SAME"),
          (8, 28, 28, 16, 16, 3, 1, "SAME"), (16, 14, 14, 64, 64, 3, 1, "SAME"), (4, 12, 12, 16, 48, 5, 1, "VALID"),
          (32, 14, 14, 32, 64, 5, 1, "SAME"), (2, 56, 56, 64, 64, 3, 1, "SAME"), (8, 7, 7, 128, 128, 3, 1, "SAME"),
          (32, 8, 8, 16, 16, 5, 1, "SAME"), (4, 16, 16, 32, 32, 5, 1, "VALID"), (8, 15, 13, 16, 32, 3, 2, "SAME"),
          (2, 16, 16, 32, 32, 3, 1, "SAME"),
          (8, 10, 80, 128, 16, 5, 1, "SAME")]  # some rows of the filter meet padding only, in the first chunk of an image
BOUND = 1.6

# TensorFlow in a process of its own: the other parity tests turn oneDNN off.
PROGRAM = """
import os, sys, json
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ.pop("TF_ENABLE_ONEDNN_OPTS", None)
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow.compat.v1 as tf
sys.path.insert(0, %r)
import weft
import test_conv_numbers as t
tf.disable_eager_execution()
print("ANSWER", json.dumps([t.errors(tf, weft, s) for s in t.SHAPES]))
"""


def data(shape):
    n, h, w, ci, co, k, stride, padding = shape
    r = np.random.RandomState(n * h + k)
    out = [(s + stride - 1) // stride if padding == "SAME" else (s - k) // stride + 1 for s in (h, w)]
    x, f = r.randn(n, h, w, ci), r.randn(k, k, ci, co) * 0.1
    return [v.astype(np.float32) for v in (x, f, r.randn(n, *out, co))]


def run(tf, x, f, dy, shape, dtype):
    """The result, and the gradients towards the input and the filter."""
    stride, padding = shape[6:]
    with tf.Graph().as_default():
        ins = [tf.placeholder(dtype, v.shape) for v in (x, f, dy)]
        y = tf.nn.conv2d(ins[0], ins[1], [1, stride, stride, 1], padding)
        grads = tf.gradients(y, ins[:2], [ins[2]])
        with tf.Session() as sess:
            return sess.run([y] + grads, dict(zip(ins, (x, f, dy))))


def rms(a, b):
    return float(np.sqrt(np.mean((a.astype(np.float64) - b) ** 2)))


def forward_again(tf, x, f, dy, shape):
    """The RMS error of the gradient towards the input, computed as TensorFlow's forward convolution (stride 1)."""
    k, padding = shape[5], shape[7]
    low = (k - 1) // 2 if padding == "SAME" else 0
    pads = [(0, 0), (k - 1 - low, low if padding == "SAME" else k - 1), (k - 1 - low, low if padding == "SAME" else k - 1),
            (0, 0)]
    dy, f = np.pad(dy, pads), f[::-1, ::-1].transpose(0, 1, 3, 2).copy()
    made = []
    for dtype in (np.float32, np.float64):
        with tf.Graph().as_default(), tf.Session() as sess:
            y = tf.nn.conv2d(tf.constant(dy.astype(dtype)), tf.placeholder(dtype, f.shape, name="f"), [1, 1, 1, 1], "VALID")
            made.append(sess.run(y, {"f:0": f.astype(dtype)}))
    assert made[0].shape == x.shape
    return rms(made[0], made[1])


def errors(tf, weft, shape):
    x, f, dy = data(shape)
    exact = run(tf, *(v.astype(np.float64) for v in (x, f, dy)), shape, tf.float64)
    ours, theirs = (run(lib, x, f, dy, shape, lib.float32) for lib in (weft, tf))
    mine, plain = ([rms(a, e) for a, e in zip(made, exact)] for made in (ours, theirs))
    if shape[6] == 1:
        plain[1] = max(plain[1], forward_again(tf, x, f, dy, shape))
    return [a / b for a, b in zip(mine, plain)]


@pytest.fixture(scope="module")
def ratios():
    root = os.path.dirname(os.path.dirname(HERE))
    package = os.environ.get("WEFT_PYTHON", os.path.join(root, "build", "python"))
    done = subprocess.run([sys.executable, "-c", PROGRAM % package], cwd=HERE, capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.split("ANSWER", 1)[1])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_error_is_at_most_1_6_times_tensorflows(ratios, shape):
    found = dict(zip(("forward", "input", "filter"), ratios[SHAPES.index(shape)]))
    if shape[6] > 1:
        found.pop("input")  # a strided one is plain tiles; TensorFlow's adds up short sums
    assert max(found.values()) <= BOUND, found


FINITE_SHAPES = [(8, 14, 14, 32, 64, 5, 1, "SAME"), (8, 14, 14, 32, 64, 5, 1, "VALID"), (4, 16, 16, 16, 32, 3, 1, "SAME"),
                 (4, 16, 16, 16, 32, 3, 1, "VALID"), (4, 13, 15, 16, 32, 3, 2, "SAME"), (2, 16, 16, 64, 16, 5, 1, "SAME")]


@pytest.mark.parametrize("shape", FINITE_SHAPES, ids=str)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan], ids=str)
@pytest.mark.parametrize("which", ["input", "filter", "gradient"])
def test_an_infinite_number_reaches_what_its_windows_hold(shape, value, which):
    """Non-finite results exactly where TensorFlow's are; all others as without the number."""
    import tensorflow.compat.v1 as tf
    sys.path.insert(0, os.environ.get("WEFT_PYTHON", os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "python")))
    import weft
    tf.disable_eager_execution()
    ins = data(shape)
    at = {"input": (1, 6, 7, 3), "filter": (1, 2, 3, 4), "gradient": (1, 5, 4, 3)}[which]
    ins[("input", "filter", "gradient").index(which)][at] = value
    ours, theirs = (run(lib, *ins, shape, lib.float32) for lib in (weft, tf))
    for name, a, b in zip(("forward", "input", "filter"), ours, theirs):
        finite, inside = np.isfinite(a), np.isfinite(b)
        if which == "filter" and name != "filter":  # at the border, where padding times infinity is each kernel's own
            k = shape[5] - 1
            finite, inside = finite[:, k:-k, k:-k], inside[:, k:-k, k:-k]
        assert np.array_equal(finite, inside), name
        both = np.isfinite(a) & np.isfinite(b)
        assert both.any()
        np.testing.assert_allclose(a[both], b[both], rtol=1e-4, atol=1e-4, err_msg=name)
