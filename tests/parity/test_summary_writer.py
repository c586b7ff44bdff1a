"""Summary writers: the events that nodes write themselves, and the errors of a writer without a file."""
import glob
import itertools
import os

import numpy as np
import tensorflow as tf

from scenario import Fails, check

raw, v1 = tf.raw_ops, tf.compat.v1
folders = itertools.count()
COLOR = np.array([255, 0, 0, 255], np.uint8)


def written(folder):
    """For each event file of a folder its events in order, without their times."""
    found = []
    for path in sorted(glob.glob(folder + "/events*")):
        assert path.endswith(".tail"), path
        events = list(v1.train.summary_iterator(path))
        for event in events:
            event.wall_time = 0 if event.wall_time > 1e6 else event.wall_time
            event.ClearField("source_metadata")
        found.append([str(event) for event in events])
    return found


def values(writer):
    pictures = np.random.RandomState(1).rand(3, 2, 2, 3).astype(np.float32)
    metadata = v1.SummaryMetadata(plugin_data=v1.SummaryMetadata.PluginData(plugin_name="p")).SerializeToString()
    summary = v1.Summary(value=[v1.Summary.Value(tag="q", simple_value=3)]).SerializeToString()
    event = v1.Event(step=9, wall_time=5.0, graph_def=b"g").SerializeToString()
    at = dict(writer=writer, step=tf.constant(7, tf.int64))
    return [
        raw.WriteScalarSummary(tag="a", value=1.5, **at), raw.WriteScalarSummary(tag="a", value=np.int64(3), **at),
        raw.WriteScalarSummary(tag=["b"], value=[2.0, 1.0], writer=writer, step=tf.constant([0], tf.int64)),
        raw.WriteHistogramSummary(tag="h", values=[1.0, 2.0, 2.0], **at), raw.WriteHistogramSummary(tag="h", values=[True, False], **at),
        raw.WriteHistogramSummary(tag="h", values=[1.0, np.nan], **at),
        raw.WriteImageSummary(tag="i", tensor=pictures, bad_color=COLOR, max_images=2, **at),
        raw.WriteImageSummary(tag="i", tensor=pictures, bad_color=COLOR, max_images=1, **at),
        raw.WriteImageSummary(tag="i", tensor=pictures[0], bad_color=COLOR, **at),
        raw.WriteImageSummary(tag="i", tensor=pictures, bad_color=COLOR[:1], **at),
        raw.WriteAudioSummary(tag="s", tensor=np.zeros((2, 4, 1), np.float32), sample_rate=8000.0, **at),
        raw.WriteSummary(tensor=[1, 2], tag="t", summary_metadata=metadata, **at),
        raw.WriteSummary(tensor=["x"], tag="t", summary_metadata="", **at),
        raw.WriteRawProtoSummary(tensor=summary, **at), raw.WriteRawProtoSummary(tensor=[summary] * 2, **at),
        raw.WriteRawProtoSummary(tensor=b"\xff", **at), raw.WriteGraphSummary(tensor=v1.GraphDef().SerializeToString(), **at),
        raw.WriteGraphSummary(tensor=b"\xff", **at), raw.ImportEvent(writer=writer, event=event),
        raw.ImportEvent(writer=writer, event=b"\xff")]


def test_nodes_write_tensorflows_events(tmp_path):
    folder = str(tmp_path)

    def steps():
        writer = raw.SummaryWriter(shared_name="w")
        one = lambda: raw.WriteScalarSummary(writer=writer, step=tf.constant(1, tf.int64), tag="z", value=0.5)
        create = lambda where: raw.CreateSummaryFileWriter(writer=writer, logdir=where, max_queue=10, flush_millis=100000,
                                                           filename_suffix=".tail")
        flush, close = raw.FlushSummaryWriter(writer=writer), raw.CloseSummaryWriter(writer=writer)
        return [Fails(one()), Fails(flush), Fails(close), create([folder]), create(folder), create(folder + "/unused"), *values(writer),
                flush, one(), close, Fails(one()), Fails(close), create(folder + "/more"), one(), one(), flush]
    check(steps)
    first, more = written(folder), written(folder + "/more")
    assert sorted(os.listdir(folder))[2:] == ["more"]
    assert [len(events) for events in first] == [16, 16] and first[0] == first[1], first
    assert [len(events) for events in more] == [3, 3] and more[0] == more[1], more


def test_a_full_queue_flushes(tmp_path):
    def steps():
        folder = str(tmp_path / str(next(folders)))
        writer = raw.SummaryWriter(shared_name="f" + folder)
        event = lambda: raw.WriteScalarSummary(writer=writer, step=tf.constant(1, tf.int64), tag="z", value=0.5)
        size = lambda: tf.strings.length(tf.io.read_file(raw.MatchingFiles(pattern=folder + "/events*")[-1]))
        return [raw.CreateSummaryFileWriter(writer=writer, logdir=folder, max_queue=1, flush_millis=1000000, filename_suffix=".tail"),
                event(), event(), tf.greater(size(), 100), raw.CloseSummaryWriter(writer=writer)]
    check(steps)
