"""bfloat16, which numpy does not have: constants, variables, feeds and fetches."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import weft
from both import both, oracle

VALUES = [3, 3.5, [1, 2], [1.00390625, 1.01171875, 1e-3, -7], np.float32(.1), np.array([3], np.int64), [[1.], [2.]]]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_of_python(value):
    def program(tf):
        x = tf.constant(value, tf.bfloat16)
        return [tf.cast(t, tf.float32) for t in (x, x * 3, tf.ones([2], tf.bfloat16), tf.fill([2], x) if x.shape == [] else x)]
    both(program, same_nodes=False)


def test_variables_feeds_and_fetches():
    def run(tf):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", [2], tf.bfloat16, initializer=tf.constant_initializer(3))
            x = tf.placeholder(tf.bfloat16, [3])
            sess.run(v.initializer)
            fetched = sess.run([v + 1, x * 2], {x: np.array([1.5, 2.25, np.nan], np.float32)})
            again = sess.run(x, {x: fetched[1]})
            proto = tf.make_tensor_proto([1.5, 2.], tf.bfloat16)
            return [np.asarray(f, np.float32) for f in (*fetched, again, tf.make_ndarray(proto))], fetched[0].dtype.name
    (ours, kind), (theirs, their_kind) = run(weft), run(oracle)
    for a, b in zip(ours, theirs):
        np.testing.assert_array_equal(a, b)
    assert kind == their_kind


def test_without_ml_dtypes(tmp_path):
    """Fetched numbers are float32 then."""
    (tmp_path / "ml_dtypes.py").write_text("raise ImportError('not here')\n")
    program = """import weft as tf
with tf.Session() as s:
    x = tf.placeholder(tf.bfloat16, [2])
    got = s.run(tf.constant(3, tf.bfloat16) * x, {x: [1.5, 2.5]})
    print(got.dtype, got.tolist(), s.run(x, {x: got}).tolist(), tf.bfloat16.size)
"""
    path = os.pathsep.join([str(tmp_path), str(pathlib.Path(weft.__file__).parent.parent)])
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == "float32 [4.5, 7.5] [4.5, 7.5] 2", done.stderr
