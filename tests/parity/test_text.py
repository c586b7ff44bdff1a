"""Graphs as TensorFlow writes them for people: weft inspect sees in the text what it sees in the bytes."""
import os
import pathlib
import subprocess

import pytest
import tensorflow as tf

v1 = tf.compat.v1
ROOT = pathlib.Path(__file__).resolve().parents[2]
WEFT = pathlib.Path(os.environ.get("WEFT_BUILD", ROOT / "build")) / "bin" / "weft"


def training():
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    v = v1.get_variable("v", [4, 3], use_resource=False)
    v1.train.AdamOptimizer().minimize(tf.reduce_sum(tf.nn.softmax(x @ v)))


def strange_constants():
    tf.constant(["a\n\x00\"'\\", "\u00e9"]), tf.constant([1.5, float("inf"), float("nan"), -1e-30, 7e30])
    tf.constant([2**62, -(2**62)], tf.int64), tf.constant([True, False]), tf.constant(1 + 2j)


def functions():
    v1.data.make_one_shot_iterator(tf.data.Dataset.range(5).map(lambda a: a * 2)).get_next()
    v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])


@pytest.mark.parametrize("build", [training, strange_constants, functions])
def test_a_text_is_the_graph_it_describes(build, tmp_path):
    with tf.Graph().as_default() as g:
        build()
    for name, as_text in (("g.pbtxt", True), ("g.pb", False)):
        v1.train.write_graph(g.as_graph_def(add_shapes=True), str(tmp_path), name, as_text)
    said = [subprocess.run([WEFT, "inspect", tmp_path / name], capture_output=True, text=True, check=True).stdout
            for name in ("g.pbtxt", "g.pb")]
    assert said[0].replace("pbtxt", "pb") == said[1]
    assert f"a GraphDef of {len(g.as_graph_def().node)} nodes" in said[1]
