"""Summaries and events: TensorFlow's nodes, and files that TensorBoard's own reader shows."""
import ctypes as C
import os

import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import weftlib
from test_saver import nodes
from weftlib import Out, check, lib

v1 = tf.compat.v1


class SummaryOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("family", C.c_char_p), ("n", C.c_int), ("collections", C.POINTER(C.c_char_p))]


class WriterOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("graph", C.c_void_p), ("max_queue", C.c_int), ("flush_secs", C.c_double), ("suffix", C.c_char_p)]


for name in ("scalar", "histogram", "image", "audio", "text", "tensor", "merge", "merge_all"):
    getattr(lib, "weft_summary_" + name).restype = Out


def opts(family=None, collections=None):
    o = SummaryOpts(family=family and family.encode())
    if collections:
        o.n, o.collections = len(collections), (C.c_char_p * len(collections))(*[c.encode() for c in collections])
    return C.byref(o)


def inputs():
    return [tf.constant(1.5, name="x"), tf.constant([[1., -2.], [3., 4.]], name="m"),
            tf.constant(np.arange(24).reshape(2, 2, 2, 3) * 10, tf.uint8, name="im"),
            tf.constant(np.linspace(-1, 1, 50).reshape(1, 50), tf.float32, name="au"), tf.constant("hello", name="tx"),
            tf.constant(8000., name="rate")]


def on_tensorflow():
    x, m, im, au, tx, rate = inputs()
    s = v1.summary
    s.scalar("loss x", x)
    s.scalar("loss x", x)
    s.histogram("/h", m)
    s.image("pictures", im, max_outputs=2)
    s.audio("sound", au, rate)
    s.text("words", tx)
    with tf.name_scope("deep"):
        s.scalar("inner", x)
        s.scalar("fam", x, family="fa mily")
    s.scalar("other", x, collections=["mine", "summaries"])
    return s.merge_all()


def on_weft(g):
    f = {n: g.find(n) for n in ("x", "m", "im", "au", "tx", "rate")}
    lib.weft_summary_scalar(g.ptr, b"loss x", f["x"], None)
    lib.weft_summary_scalar(g.ptr, b"loss x", f["x"], None)
    lib.weft_summary_histogram(g.ptr, b"/h", f["m"], None)
    lib.weft_summary_image(g.ptr, b"pictures", f["im"], 2, None)
    lib.weft_summary_audio(g.ptr, b"sound", f["au"], f["rate"], 0, None)
    lib.weft_summary_text(g.ptr, b"words", f["tx"], None)
    lib.weft_scope_push_name(g.ptr, b"deep")
    lib.weft_summary_scalar(g.ptr, b"inner", f["x"], None)
    lib.weft_summary_scalar(g.ptr, b"fam", f["x"], opts("fa mily"))
    lib.weft_scope_pop(g.ptr)
    lib.weft_summary_scalar(g.ptr, b"other", f["x"], opts(collections=["mine", "summaries"]))
    merged = lib.weft_summary_merge_all(g.ptr, None, None, None)
    check(lib.weft_graph_error(g.ptr))
    return merged


def weft_graph():
    with tf.Graph().as_default() as g:
        inputs()
        return weftlib.Graph(g.as_graph_def())


def test_the_nodes_and_collections_are_tensorflows():
    with tf.Graph().as_default() as g:
        on_tensorflow()
        want, meta = g.as_graph_def(), v1.train.export_meta_graph()
    mine = weft_graph()
    on_weft(mine)
    assert nodes(mine.export(), set()) == nodes(want, set())
    got = mine.export_meta()
    for key in ("summaries", "mine"):
        assert got.collection_def[key] == meta.collection_def[key]


def test_there_is_nothing_to_merge_in_an_empty_graph():
    g = weft_graph()
    assert lib.weft_summary_merge_all(g.ptr, None, None, None).node < 0
    check(lib.weft_graph_error(g.ptr))


def test_tensorboard_shows_what_was_written(tmp_path):
    g = weft_graph()
    merged = on_weft(g)
    session = weftlib.Session(g)
    summary = session.run([merged])[0].item()
    writer = C.c_void_p()
    check(lib.weft_event_writer_create(C.byref(writer), str(tmp_path).encode(), C.byref(WriterOpts(graph=g.ptr.value))))
    check(lib.weft_event_writer_add_session_log(writer, 1, None, None, C.c_int64(0)))
    for step in range(3):
        check(lib.weft_event_writer_add_summary(writer, summary, C.c_size_t(len(summary)), C.c_int64(step)))
    check(lib.weft_event_writer_add_scalar(writer, b"global_step/sec", C.c_double(12.5), C.c_int64(3)))
    run = v1.RunMetadata()
    run.step_stats.dev_stats.add(device="/cpu:0")
    run = run.SerializeToString()
    check(lib.weft_event_writer_add_run_metadata(writer, run, C.c_size_t(len(run)), b"step 3", C.c_int64(3)))
    lib.weft_event_writer_destroy(writer)

    seen = EventAccumulator(str(tmp_path)).Reload()
    tags = seen.Tags()
    assert set(tags["scalars"]) == {"loss_x", "loss_x_1", "deep/inner", "fa_mily/deep/fa_mily/fam", "other",
                                    "global_step/sec"}
    assert [(e.step, e.value) for e in seen.Scalars("loss_x")] == [(0, 1.5), (1, 1.5), (2, 1.5)]
    assert seen.Scalars("global_step/sec")[0].value == 12.5
    assert seen.Histograms("h")[0].histogram_value.num == 4
    assert seen.Images("pictures/image/0")[0].width == 2
    assert seen.Audio("sound/audio/0")[0].length_frames == 50
    assert seen.Tensors("words")[0].tensor_proto.string_val[0] == b"hello"
    assert seen.SummaryMetadata("words").plugin_data.plugin_name == "text"
    assert {n.name for n in seen.Graph().node} == {n.name for n in g.export().node}
    assert seen.MetaGraph().collection_def["mine"].node_list.value == ["other:0"]
    assert seen.RunMetadata("step 3").step_stats.dev_stats[0].device == "/cpu:0"
    events = list(v1.train.summary_iterator(str(tmp_path / os.listdir(tmp_path)[0])))
    assert events[0].file_version == "brain.Event:2"
    words = [v for e in events for v in e.summary.value if v.tag == "words"]
    assert [v.HasField("metadata") for v in words] == [True, False, False]
    assert events[3].session_log.status == 1
