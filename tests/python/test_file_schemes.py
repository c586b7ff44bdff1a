"""Paths with a scheme: file:// is this machine, and file systems that there are not give TensorFlow's error."""
import gzip
import os
import re
import zlib

import pytest

import weft
from both import oracle

TF = {"weft": weft, "tensorflow": oracle}


def outcome(call, *args):
    """The value, or the class of the error."""
    try:
        return call(*args)
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__


def all_over(tf, folder):
    """Uses files in many ways below a folder that is given with its scheme; gives what came out, without the folder."""
    g, path = tf.gfile, folder + "/x.txt"
    with g.GFile(path, "w") as f:
        f.write("hello\nworld\n")
    got = [g.GFile(path).read(), g.GFile(path).size(), g.Exists(path), g.Exists(path + "?"), g.IsDirectory(folder),
           g.ListDirectory(folder),
           g.Glob(folder + "/*"), g.Stat(path).length, list(g.Walk(folder)), g.MakeDirs(folder + "/q/r"),
           g.Copy(path, folder + "/q/y"),
           g.Rename(folder + "/q/y", folder + "/q/z"), sorted(g.ListDirectory(folder + "/q")), g.Remove(folder + "/q/z"),
           g.DeleteRecursively(folder + "/q"), outcome(g.GFile(folder + "/none").read)]
    with tf.python_io.TFRecordWriter(folder + "/records") as w:
        w.write(b"one"), w.write(b"two")
    got.append(list(tf.python_io.tf_record_iterator(folder + "/records")))
    tf.train.write_graph(tf.GraphDef(), folder, "graph.pbtxt")
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=3.0, use_resource=False)
        saver = tf.train.Saver()
        lines = tf.data.make_one_shot_iterator(tf.data.TextLineDataset(path)).get_next()
        records = tf.data.make_one_shot_iterator(tf.data.TFRecordDataset(folder + "/records")).get_next()
        key, text = tf.WholeFileReader().read(tf.train.string_input_producer([path], shuffle=False))
        table = tf.contrib.lookup.index_table_from_file(path) if hasattr(tf, "contrib") else None
        sess.run([v.initializer, tf.tables_initializer()])
        got += [sess.run(tf.read_file(path)), sess.run(tf.write_file(folder + "/deep/er/w", "abc")),
                sess.run(tf.matching_files(folder + "/*.txt")).tolist(),
                sess.run([lines, records]), saver.save(sess, folder + "/ck/m", global_step=7), saver.restore(sess, folder + "/ck/m-7"),
                tf.train.latest_checkpoint(folder + "/ck"), tf.train.checkpoint_exists(folder + "/ck/m-7"),
                sorted(g.ListDirectory(folder + "/ck")),
                tf.train.list_variables(folder + "/ck"), tf.train.get_checkpoint_state(folder + "/ck").model_checkpoint_path]
        del table, key, text
        writer = tf.summary.FileWriter(folder + "/events")
        writer.add_graph(sess.graph), writer.close()
        got += [len(g.ListDirectory(folder + "/events"))]
    with tf.Graph().as_default():
        got += [tf.train.import_meta_graph(folder + "/ck/m-7.meta") is not None]
    return [tf.compat.as_text(repr(x)).replace(folder, "FOLDER") for x in got]


def test_file_is_this_machine(tmp_path):
    found = {}
    for name, tf in TF.items():
        for scheme in "file://", "file://localhost", "":
            folder = tmp_path / (name + str(len(scheme)))
            folder.mkdir()
            found[name, scheme] = all_over(tf, scheme + str(folder))
    for scheme in "file://", "file://localhost", "":
        assert found["weft", scheme] == found["tensorflow", scheme]
    assert not os.path.exists("file:")


@pytest.mark.parametrize("path", ["hdfs://name/dir/file", "s3://bucket/dir/file", "nothing://x/y"])
def test_other_file_systems_are_unimplemented(path, tmp_path):
    said = {}
    for name, tf in TF.items():
        def words(call, *args, tf=tf):
            with pytest.raises(tf.errors.UnimplementedError) as e:
                call(*args)
            return e.value.message
        g = tf.gfile
        made = [words(c, *args) for c, *args in (
            [g.GFile(path).read], [g.GFile(path, "w").write, "x"], [g.Exists, path], [g.Glob, path + "*"], [g.Stat, path],
            [g.MakeDirs, path], [g.MkDir, path], [g.Remove, path], [g.DeleteRecursively, path], [g.Copy, path, str(tmp_path / "x")],
            [g.Rename, path, path + "2"],
            [tf.python_io.TFRecordWriter, path], [tf.summary.FileWriter, path])]
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", initializer=3.0, use_resource=False)
            sess.run(v.initializer)
            saver = tf.train.Saver()
            lines = tf.data.make_one_shot_iterator(tf.data.TextLineDataset(path)).get_next()
            made += [words(sess.run, tf.read_file(path)), words(sess.run, tf.matching_files(path)),
                     words(sess.run, lines)]
            # These name the folder or the index file in one of the two.
            words(sess.run, tf.write_file(path, "x")), words(saver.save, sess, path), words(saver.restore, sess, path)
        made += [g.IsDirectory(path), outcome(g.ListDirectory, path), tf.train.latest_checkpoint(path)]
        said[name] = made
    for ours, theirs in zip(said["weft"], said["tensorflow"], strict=True):
        if isinstance(theirs, str) and "scheme" in theirs:
            at = theirs.index("File system scheme")
            assert theirs[at:theirs.index(")", at) + 1] in ours and "mount" in ours
        else:
            assert ours == theirs


def test_damaged_records_are_refused_as_in_tensorflow(tmp_path):
    """Cut at every place of a record, with a bit flipped in each of its parts, compressed or no records at all."""
    path = str(tmp_path / "records")
    with weft.python_io.TFRecordWriter(path) as w:
        for _ in range(3):
            w.write(b"x" * 50)
    whole = (tmp_path / "records").read_bytes()
    flipped = [bytes(b ^ (i == at) for i, b in enumerate(whole)) for at in (66, 75, 83, 128, 131)]
    cases = [whole, *(whole[:n] for n in (0, 5, 132, 133, 143, 144, 150, 193, 194, 197)), *flipped, b"a text\n" * 9,
             zlib.compress(whole), gzip.compress(whole)]

    def read(tf, name, options):
        got = []
        try:
            for record in tf.python_io.tf_record_iterator(name, options):
                got.append(record)
        except tf.errors.OpError as e:
            return got, type(e).__name__, re.match(r"(\w+ record at \d+)?", e.message).group()
        return got, "end", ""

    for kind in ("", "ZLIB", "GZIP"):
        for case in cases:
            (tmp_path / "records").write_bytes(case)
            found = [read(tf, path, tf.python_io.TFRecordOptions(kind)) for tf in TF.values()]
            assert found[0] == found[1], (kind, len(case), found)
    for name in (str(tmp_path / "none"), str(tmp_path)):
        found = [read(tf, name, None) for tf in TF.values()]
        assert found[0] == found[1], found
