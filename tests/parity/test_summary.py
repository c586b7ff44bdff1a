"""Summaries byte for byte: what programs build with tf.summary, and the old ops TensorFlow only runs from old graphs."""
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import gen_logging_ops

import weftlib

v1 = tf.compat.v1


def run_both(build, producer=None):
    """The same graph run by both: (bytes or error of TensorFlow, bytes or error of Weft)."""
    with tf.Graph().as_default() as g:
        build()
    graph_def = g.as_graph_def()
    if producer is not None:
        graph_def.versions.producer = producer
    last = graph_def.node[-1].name + ":0"
    with tf.Graph().as_default(), v1.Session() as s:
        tf.import_graph_def(graph_def, name="")
        try:
            want = s.run(last)
        except tf.errors.OpError as e:
            want = e
    try:
        got = weftlib.Session(weftlib.Graph(graph_def)).run([last])[0].item()
    except weftlib.Error as e:
        got = e
    return want, got


def test_a_training_program():
    def build():
        v1.summary.scalar("loss", tf.constant(0.25))
        v1.summary.histogram("weights", tf.constant(np.random.RandomState(1).randn(300, 7), tf.float32))
        v1.summary.image("input", tf.constant(np.random.RandomState(2).rand(4, 6, 5, 3), tf.float32))
        v1.summary.audio("sound", tf.constant(np.random.RandomState(3).uniform(-1.2, 1.2, (2, 50)), tf.float32), 8000.0)
        v1.summary.tensor_summary("tensor", tf.constant([[1, 2], [3, 4]]))
        v1.summary.text("text", tf.constant("words"))
        v1.summary.merge_all()
    want, got = run_both(build)
    assert want == got


def test_a_tag_must_not_come_twice():
    def build():
        one = [v1.summary.scalar("same", tf.constant(1.0), collections=[]),
               v1.summary.histogram("same", tf.constant([1.0]), collections=[])]
        tags = [tf.raw_ops.ScalarSummary(tags="a", values=1.0), tf.raw_ops.ScalarSummary(tags="a", values=2.0)]
        tf.raw_ops.MergeSummary(inputs=one + tags)
    want, got = run_both(build)
    assert isinstance(want, tf.errors.InvalidArgumentError) and got.code == want.error_code
    assert "Duplicate tag a found in summary inputs" in want.message and \
           "Duplicate tag a found in summary inputs" in got.message


@pytest.mark.parametrize("bad", [[255, 0, 0, 255], [1, 2, 3], [9]])
def test_pixels_that_are_no_numbers_take_the_bad_color(bad):
    image = np.random.RandomState(1).uniform(-1, 2, (1, 4, 4, len(bad) if len(bad) > 1 else 1)).astype(np.float32)
    image[0, 1, 2, 0], image[0, 3, 3, -1], image[0, 0, 0, 0] = np.nan, np.inf, -np.inf
    want, got = run_both(lambda: gen_logging_ops.image_summary(
        tag="im", tensor=tf.constant(image), max_images=3, bad_color=tf.make_tensor_proto(bad, dtype=tf.uint8)))
    assert want == got


def test_audio_of_old_graphs():
    graph_def = v1.GraphDef()
    graph_def.versions.producer = 10
    tag = graph_def.node.add(name="tag", op="Const")
    tag.attr["dtype"].type = tf.string.as_datatype_enum
    tag.attr["value"].tensor.CopyFrom(tf.make_tensor_proto("au"))
    sound = graph_def.node.add(name="sound", op="Const")
    sound.attr["dtype"].type = tf.float32.as_datatype_enum
    sound.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.linspace(-1, 1, 30, dtype=np.float32).reshape(3, 5, 2)))
    node = graph_def.node.add(name="audio", op="AudioSummary", input=["tag", "sound"])
    node.attr["sample_rate"].f = 8000
    node.attr["max_outputs"].i = 2
    with tf.Graph().as_default(), v1.Session() as s:
        tf.import_graph_def(graph_def, name="")
        want = s.run("audio:0")
    assert weftlib.Session(weftlib.Graph(graph_def)).run(["audio:0"])[0].item() == want
