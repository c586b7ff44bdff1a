"""How far convolutions are from float64, compared with TensorFlow's, and what an infinite input reaches.

Convolutions with fewer products (kernels/conv/conv_winograd_1d.c, kernels/conv/conv_winograd_2d.c) round worse than plain
sums.  Their RMS error may be 1.6 times that of TensorFlow's float kernels as they are installed: with oneDNN, if the
build has it.  TensorFlow's gradient towards the input is not the same kernel everywhere: without oneDNN (as on
aarch64) it adds up one short sum for each tap of the filter, which rounds less than one long sum.
"""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
# batch, height, width, channels in and out, filter, stride, padding, and the dilation if it is not 1
SHAPES = [(8, 14, 14, 32, 64, 5, 1, "SAME"), (32, 28, 28, 16, 32, 5, 1, "SAME"), (8, 28, 28, 8, 16, 3, 1, "SAME"),
          (8, 28, 28, 16, 16, 3, 1, "SAME"), (16, 14, 14, 64, 64, 3, 1, "SAME"), (4, 12, 12, 16, 48, 5, 1, "VALID"),
          (32, 14, 14, 32, 64, 5, 1, "SAME"), (2, 56, 56, 64, 64, 3, 1, "SAME"), (8, 7, 7, 128, 128, 3, 1, "SAME"),
          (32, 8, 8, 16, 16, 5, 1, "SAME"), (4, 16, 16, 32, 32, 5, 1, "VALID"), (8, 15, 13, 16, 32, 3, 2, "SAME"),
          (2, 16, 16, 32, 32, 3, 1, "SAME"),
          (32, 28, 28, 1, 32, 5, 1, "SAME"), (64, 14, 14, 1, 32, 3, 1, "VALID"), (8, 32, 32, 3, 64, 3, 1, "SAME"),
          (4, 64, 64, 3, 64, 7, 2, "SAME"), (1, 14, 14, 256, 256, 3, 1, "SAME"), (1, 7, 7, 512, 512, 3, 1, "SAME"),
          (4, 14, 14, 256, 512, 1, 1, "SAME"), (4, 28, 28, 64, 256, 1, 1, "SAME"), (4, 14, 14, 32, 64, 5, 2, "SAME"),
          (4, 28, 28, 32, 64, 1, 2, "SAME"), (1, 8, 8, 64, 64, 5, 1, "SAME"), (64, 14, 14, 16, 32, 3, 1, "SAME"),
          (64, 8, 8, 64, 64, 3, 1, "SAME"), (1, 32, 32, 1, 1, 3, 1, "SAME"), (4, 16, 16, 2, 4, 5, 1, "SAME"),
          (4, 16, 16, 4, 200, 3, 1, "SAME"), (4, 16, 16, 200, 4, 3, 1, "SAME"), (2, 12, 12, 1, 512, 3, 1, "SAME"),
          (8, 9, 11, 24, 40, 5, 1, "SAME"), (2, 17, 17, 48, 96, 7, 1, "SAME"), (1, 28, 28, 128, 128, 5, 1, "SAME"),
          (2, 8, 8, 300, 300, 2, 1, "SAME"), (1, 100, 100, 3, 3, 11, 4, "SAME"), (64, 1, 100, 32, 32, 3, 1, "SAME"),
          (4, 24, 24, 32, 32, 3, 1, "SAME", 2), (4, 24, 24, 16, 64, 5, 1, "VALID", 2), (2, 20, 20, 64, 64, 3, 1, "SAME", 4),
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
    n, h, w, ci, co, k, stride, padding, rate = (*shape, 1)[:9]
    reach = (k - 1) * rate + 1
    r = np.random.RandomState(n * h + k)
    out = [(s + stride - 1) // stride if padding == "SAME" else (s - reach) // stride + 1 for s in (h, w)]
    x, f = r.randn(n, h, w, ci), r.randn(k, k, ci, co) * 0.1
    return [v.astype(np.float32) for v in (x, f, r.randn(n, *out, co))]


def run(tf, x, f, dy, shape, dtype):
    """The result, and the gradients towards the input and the filter."""
    stride, padding, rate = (*shape[6:], 1)[:3]
    with tf.Graph().as_default():
        ins = [tf.placeholder(dtype, v.shape) for v in (x, f, dy)]
        if rate > 1 and tf.__name__ != "weft":  # TensorFlow's CPU kernels have no gradient of a dilated Conv2D
            y = tf.nn.atrous_conv2d(ins[0], ins[1], rate, padding)
        else:
            y = tf.nn.conv2d(ins[0], ins[1], [1, stride, stride, 1], padding, dilations=[1, rate, rate, 1])
        grads = tf.gradients(y, ins[:2], [ins[2]])
        with tf.Session() as sess:
            return sess.run([y] + grads, dict(zip(ins, (x, f, dy))))


def rms(a, b):
    return float(np.sqrt(np.mean((a.astype(np.float64) - b) ** 2)))


def errors(tf, weft, shape):
    x, f, dy = data(shape)
    exact = run(tf, *(v.astype(np.float64) for v in (x, f, dy)), shape, tf.float64)
    ours, theirs = (run(lib, x, f, dy, shape, lib.float32) for lib in (weft, tf))
    mine, plain = ([rms(a, e) for a, e in zip(made, exact)] for made in (ours, theirs))
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
