"""Summary writers with a database: the rows that nodes write are TensorFlow's, but for ids, times and empty rows."""
import sqlite3

import numpy as np
import tensorflow as tf

from scenario import Fails, check

raw, v1 = tf.raw_ops, tf.compat.v1
COLOR = np.array([255, 0, 0, 255], np.uint8)
TYPES = ("float64", "int8", "uint8", "int16", "uint16", "int32", "int64", "uint32", "uint64", "float16", "complex64", "bfloat16", "bool")


def rows(path):
    """The tables of a database: ids become the names of what they stand for, and times whether they are there or small."""
    db = sqlite3.connect(path)

    def get(query, *keys):
        return sorted(db.execute(query, keys).fetchall(), key=repr)

    def when(column):
        return "CASE WHEN %s < 1e6 THEN %s ELSE %s IS NULL END" % ((column,) * 3)
    tables = {t: [(name, kind.upper(), *more) for _, name, kind, *more in db.execute("PRAGMA table_info(%s)" % t)]
              for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    indexes = get("SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'")
    run = "(SELECT run_name FROM Runs WHERE Runs.run_id = %s.run_id)"
    tensors = get("SELECT tag_name, %s, step, dtype, %s, shape, Tensors.data, (SELECT group_concat(idx || '=' || hex(s.data)) FROM "
                  "(SELECT * FROM TensorStrings ORDER BY idx) s WHERE s.tensor_rowid = Tensors.rowid) FROM Tensors JOIN Tags "
                  "ON series = tag_id WHERE step IS NOT NULL" % (run % "Tags", when("computed_time")))
    nodes = get("SELECT node_id, node_name, op, device, hex(node_def) FROM Nodes")
    inputs = get("SELECT node_id, idx, input_node_id, input_node_idx, is_control FROM NodeInputs")
    found = [
        tables, indexes, tensors, nodes, inputs,
        get("SELECT tag_name, display_name, plugin_name, plugin_data, description, %s FROM Tags JOIN Descriptions ON id = tag_id" %
            run % "Tags"),
        get("SELECT run_name, experiment_name, user_name, %s, %s, %s, is_watching FROM Runs LEFT JOIN Experiments ON "
            "Runs.experiment_id = Experiments.experiment_id LEFT JOIN Users ON Experiments.user_id = Users.user_id" % (
                when("Runs.started_time"), when("Experiments.started_time"), when("finished_time"))),
        get("SELECT hex(graph_def), %s FROM Graphs" % run % "Graphs"), get("SELECT count(*), count(email) FROM Users"),
        get("SELECT (SELECT count(*) FROM Ids) - (SELECT count(*) FROM Users) - (SELECT count(*) FROM Experiments) - "
            "(SELECT count(*) FROM Tags) - (SELECT count(*) FROM Graphs) - (SELECT count(*) FROM Runs)")]
    db.close()
    return found


def graph():
    g = v1.GraphDef()
    g.versions.producer = 5
    g.node.add(name="a", op="Foo", device="/cpu:0")
    g.node.add(name="b", op="Bar", input=["a:2", "a", "^a"]).attr["N"].i = 3
    return g


def event():
    e = v1.Event(step=9, wall_time=223.5)
    plugin = v1.SummaryMetadata(display_name="d", summary_description="words")
    plugin.plugin_data.plugin_name, plugin.plugin_data.content = "mine", b"\x00c"
    add = e.summary.value.add
    add(tag="tensor", metadata=plugin).tensor.CopyFrom(v1.make_tensor_proto([[1, 2]]))
    add(tag="image").image.CopyFrom(v1.Summary.Image(height=3, width=4, encoded_image_string=b"png"))
    add(tag="sound").audio.CopyFrom(v1.Summary.Audio(encoded_audio_string=b"wav"))
    add(tag="nothing")
    add(tag="scalar", simple_value=3, metadata=plugin)
    add(tag="histogram").histo.CopyFrom(v1.HistogramProto(bucket_limit=[1, 2], bucket=[3, 4]))
    return e


def writes(writer):
    at = dict(writer=writer, step=tf.constant(7, tf.int64))
    metadata = v1.SummaryMetadata(plugin_data=v1.SummaryMetadata.PluginData(plugin_name="p")).SerializeToString()
    pictures = (np.arange(24) * 5).reshape(2, 2, 2, 3).astype(np.uint8)
    lost = graph()
    lost.node.add(name="c", op="Baz", input=["z"])
    typed = [raw.WriteSummary(tensor=tf.cast([[1, 2]], t), tag=t, summary_metadata="", **at) for t in TYPES]
    return [
        *typed, raw.WriteScalarSummary(tag="a", value=1.5, **at), raw.WriteScalarSummary(tag="a", value=2.5, **at),
        raw.WriteScalarSummary(tag="i", value=np.int64(3), **at), raw.WriteScalarSummary(tag="v", value=[3.0, 4.0], **at),
        raw.WriteScalarSummary(tag="a", value=3.5, writer=writer, step=tf.constant(-8, tf.int64)),
        raw.WriteSummary(tensor=["x", "", "yz"], tag="strings", summary_metadata=metadata, **at),
        raw.WriteSummary(tensor="x\x00y", tag="string", summary_metadata="", **at),
        raw.WriteSummary(tensor=tf.zeros([0, 3]), tag="empty", summary_metadata="", **at),
        raw.WriteSummary(tensor=[1, 2], tag="", summary_metadata=b"\x01\xff", **at),
        raw.WriteHistogramSummary(tag="h", values=[-1.0, 0.0, 2.0, 2.0], **at),
        raw.WriteImageSummary(tag="p", tensor=tf.constant(pictures)[:, :, :1], bad_color=COLOR, max_images=1, **at),
        raw.WriteAudioSummary(tag="s", tensor=np.zeros((2, 4, 1), np.float32), sample_rate=8000.0, **at),
        raw.WriteRawProtoSummary(tensor=event().summary.SerializeToString(), **at),
        Fails(raw.WriteGraphSummary(tensor=lost.SerializeToString(), **at)),
        raw.WriteGraphSummary(tensor=graph().SerializeToString(), **at),
        raw.ImportEvent(writer=writer, event=event().SerializeToString()), raw.FlushSummaryWriter(writer=writer)]


def test_nodes_write_tensorflows_rows(tmp_path):
    def steps():
        # Each system takes the next file, because both run this graph.
        place = v1.Variable("", dtype=tf.string, use_resource=False, shape=[])
        count = tf.size(raw.MatchingFiles(pattern=str(tmp_path / "*.db")))
        choose = place.assign(tf.strings.join([str(tmp_path) + "/", tf.strings.as_string(count), ".db"])).op

        def writer(name, experiment, run, user, under=""):
            handle = raw.SummaryWriter(shared_name=name)
            return handle, raw.CreateSummaryDbWriter(writer=handle, db_uri=tf.strings.join([place, under]), run_name=run,
                                                     experiment_name=experiment, user_name=user)
        (one, create), (again, create_again) = writer("a", "e", "r", "u"), writer("b", "e", "r", "u")
        (alone, create_alone), (anonymous, create_anonymous) = writer("c", "", "r", "u"), writer("d", "x", "", "u")
        (useless, create_useless), (_, missing) = writer("e", "x", "y", ""), writer("f", "", "", "", "/no/file")
        scalar = lambda w: raw.WriteScalarSummary(writer=w, step=tf.constant(1, tf.int64), tag="z", value=0.5)
        close = lambda w: raw.CloseSummaryWriter(writer=w)
        return [choose, Fails(scalar(one)), create, create, *writes(one), scalar(one), close(one), create_again,
                scalar(again), create_alone, scalar(alone), create_anonymous, scalar(anonymous), create_useless, scalar(useless),
                close(useless), Fails(scalar(useless)), Fails(missing)]
    check(steps)
    theirs, ours = (rows(str(tmp_path / name)) for name in ("0.db", "1.db"))
    assert len(ours[2]) > 30
    for a, b in zip(theirs, ours):
        assert a == b
