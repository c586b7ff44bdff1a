"""Statistics of a pipeline: histograms of the time and of the bytes of its elements, as TensorFlow's."""
import glob

import numpy as np
import pytest

from both import oracle, weft as ours
from test_data_ops import built, number


def text(tf):
    return tf.TensorSpec([], tf.string)


def histograms(tf, summary):
    found = tf.Summary.FromString(summary)
    return {v.tag: v.histo for v in found.value}


def watched(tf, dataset, spec, handle, tag="", prefix="", kind="SetStatsAggregatorDataset"):
    return built(tf, kind, spec, input_dataset=dataset._variant_tensor, stats_aggregator=handle, tag=tag, counter_prefix=prefix)


def bytes_of(tf, old=False, tag="", strings=False):
    """The histogram of bytes after all elements, and what the op says before."""
    o = "Experimental" if old else ""
    with tf.Graph().as_default():
        handle = getattr(tf.raw_ops, o + "StatsAggregatorHandle")()
        values = [b"a", b"a longer text that is not stored inside", b""] if strings else np.arange(9, dtype=np.int64)
        spec = text(tf) if strings else number(tf)
        dataset = tf.data.Dataset.from_tensor_slices(values)
        dataset = built(tf, o + "BytesProducedStatsDataset", spec, input_dataset=dataset._variant_tensor, tag="bytes")
        dataset = built(tf, o + "LatencyStatsDataset", spec, input_dataset=dataset._variant_tensor, tag="time")
        dataset = watched(tf, dataset, spec, handle, tag, kind=o + "SetStatsAggregatorDataset")
        iterator = tf.data.make_initializable_iterator(dataset)
        one, summary = iterator.get_next(), getattr(tf.raw_ops, o + "StatsAggregatorSummary")(iterator=handle)
        with tf.Session() as sess:
            before = sess.run(summary)
            sess.run(iterator.initializer)
            for _ in range(len(values)):
                sess.run(one)
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(one)
            seen = histograms(tf, sess.run(summary))
    name = tag + "::" if tag else ""
    time = seen.pop(name + "time")
    assert time.num == len(values)
    return before, {k: v.SerializeToString() for k, v in seen.items()}


@pytest.mark.parametrize("given", [{}, {"old": True}, {"tag": "mine"}, {"strings": True}], ids=str)
def test_histograms_are_tensorflows(given):
    assert bytes_of(ours, **given) == bytes_of(oracle, **given)


def written(tf, folder):
    """The events that the second version of an aggregator writes: step, tag and count of each."""
    with tf.Graph().as_default():
        handle = tf.raw_ops.StatsAggregatorHandleV2()
        writer = tf.raw_ops.SummaryWriter()
        made = tf.raw_ops.CreateSummaryFileWriter(writer=writer, logdir=str(folder), max_queue=1, flush_millis=1, filename_suffix=".stats")
        joined = tf.raw_ops.StatsAggregatorSetSummaryWriter(stats_aggregator=handle, summary=writer)
        dataset = tf.data.Dataset.range(3)
        dataset = built(tf, "BytesProducedStatsDataset", number(tf), input_dataset=dataset._variant_tensor, tag="bytes")
        iterator = tf.data.make_initializable_iterator(watched(tf, dataset, number(tf), handle))
        one, summary = iterator.get_next(), tf.raw_ops.StatsAggregatorSummary(iterator=handle)
        with tf.Session() as sess:
            sess.run(made)
            sess.run(joined)
            sess.run(iterator.initializer)
            for _ in range(3):
                sess.run(one)
            last = sess.run(summary)
            sess.run(tf.raw_ops.FlushSummaryWriter(writer=writer))
            sess.run(tf.raw_ops.CloseSummaryWriter(writer=writer))
    path, = glob.glob(str(folder / "*.stats"))
    return last, [(e.step, v.tag, v.histo.num, v.histo.sum) for e in tf.train.summary_iterator(path) for v in e.summary.value]


def test_the_second_version_writes_events(tmp_path):
    found = [written(tf, tmp_path / name) for tf, name in ((ours, "a"), (oracle, "b"))]
    assert found[0] == found[1]


def joined_to_the_first(tf, folder):
    """What the first version says to a writer, and how many events it writes."""
    with tf.Graph().as_default():
        handle, writer = tf.raw_ops.StatsAggregatorHandle(), tf.raw_ops.SummaryWriter()
        made = tf.raw_ops.CreateSummaryFileWriter(writer=writer, logdir=str(folder), max_queue=1, flush_millis=1, filename_suffix="")
        joined = tf.raw_ops.StatsAggregatorSetSummaryWriter(stats_aggregator=handle, summary=writer)
        with tf.Session() as sess:
            sess.run(made)
            try:
                sess.run(joined)
            except tf.errors.OpError as e:
                return type(e).__name__
    return None


def test_the_first_version_has_no_writer(tmp_path):
    assert joined_to_the_first(ours, tmp_path / "a") == joined_to_the_first(oracle, tmp_path / "b")
