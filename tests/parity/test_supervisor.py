"""The Supervisor: TensorFlow's default ops and collections, and runs that go on where the other side stopped."""
import ctypes as C
import os

import tensorflow as tf
from google.protobuf import text_format

import weftlib
from test_saver import SaveOpts, nodes
from weftlib import Feed, Out, check, lib

v1 = tf.compat.v1
P = C.POINTER
lib.weft_supervisor_saver.restype = C.c_void_p


class Opts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("is_chief", C.c_int), ("logdir", C.c_char_p), ("init_op", P(Out)), ("local_init_op", P(Out)),
                ("ready_op", P(Out)), ("ready_for_local_init_op", P(Out)), ("summary_op", P(Out)),
                ("global_step", P(Out)), ("n_init_feed", C.c_int), ("init_feed", P(Feed)), ("init_fn", C.c_void_p),
                ("init_arg", C.c_void_p), ("recovered_fn", C.c_void_p), ("recovered_arg", C.c_void_p),
                ("local_init_timeout_ms", C.c_int64),
                ("saver", C.c_void_p), ("use_saver", C.c_int), ("summary_writer", C.c_void_p),
                ("use_summary_writer", C.c_int), ("save_summaries_secs", C.c_double), ("save_model_secs", C.c_double),
                ("recovery_wait_secs", C.c_double), ("stop_grace_secs", C.c_double),
                ("checkpoint_basename", C.c_char_p)]


class Supervisor:
    def __init__(self, graph, **opts):
        self.graph, self.ptr = graph, C.c_void_p()
        check(lib.weft_supervisor_create(C.byref(self.ptr), graph.ptr, C.byref(Opts(**opts))))

    def session(self):
        sess = weftlib.Session.__new__(weftlib.Session)
        sess.graph, sess.ptr = self.graph, C.c_void_p()
        check(lib.weft_supervisor_session(C.byref(sess.ptr), self.ptr, b"", None, None))
        return sess

    def stop(self):
        check(lib.weft_supervisor_stop(self.ptr, C.c_bool(False), C.c_bool(False)))

    def close(self):
        lib.weft_supervisor_destroy(self.ptr)


def model():
    with v1.variable_scope("", use_resource=False):
        step = v1.train.get_or_create_global_step()
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        v1.get_local_variable("local", [])
        v1.summary.scalar("mean", tf.reduce_mean(w))
        v1.assign_add(step, 1, name="train")


def added(graph_def, before):
    """The nodes of tf.boolean_mask, which picks the names to report, are TensorFlow's own affair."""
    return {n: v for n, v in nodes(graph_def, before).items() if "/boolean_mask/" not in n}


def test_the_default_ops_are_tensorflows():
    with tf.Graph().as_default() as g:
        model()
        before, names = v1.train.export_meta_graph(), {n.name for n in g.as_graph_def().node}
        v1.train.Supervisor(logdir=None)
        want, meta = added(g.as_graph_def(), names), v1.train.export_meta_graph()
    mine = weftlib.Graph()
    mine.load_meta(before)
    sv = Supervisor(mine)
    got = added(mine.export(), names)
    assert sorted(got) == sorted(want)
    for name in want:
        assert got[name] == want[name], name
    after = mine.export_meta()
    for key in ("init_op", "local_init_op", "ready_op", "summary_op", "savers"):
        assert after.collection_def[key] == meta.collection_def[key], key
    sv.close()


def test_each_side_goes_on_where_the_other_stopped(tmp_path):
    folder = str(tmp_path / "log")
    with tf.Graph().as_default():
        model()
        meta = v1.train.export_meta_graph()

    def on_weft(steps):
        g = weftlib.Graph()
        g.load_meta(meta)
        sv = Supervisor(g, logdir=folder.encode(), save_model_secs=1000.)
        sess = sv.session()
        first = sess.run(["global_step:0"])[0]
        for _ in range(steps):
            sess.run(targets=["train"])
        saver = C.c_void_p(lib.weft_supervisor_saver(sv.ptr))
        step = C.c_int64(int(first) + steps)
        check(lib.weft_saver_save(saver, sess.ptr, (folder + "/model.ckpt").encode(), C.byref(SaveOpts(step=C.pointer(step))),
                                  None))
        sv.stop()
        del sess
        sv.close()
        return int(first)

    def on_tensorflow(steps):
        with tf.Graph().as_default():
            model()
            sv = v1.train.Supervisor(logdir=folder, save_model_secs=0)  # its thread may save an older step later
            with sv.managed_session() as sess:
                first = sess.run("global_step:0")
                for _ in range(steps):
                    sess.run("train")
                sv.saver.save(sess, sv.save_path, global_step=sv.global_step)
            return int(first)

    assert on_weft(3) == 0
    assert on_tensorflow(4) == 3
    assert on_weft(5) == 7
    assert v1.train.latest_checkpoint(folder) == folder + "/model.ckpt-12"
    text = v1.GraphDef()
    with open(os.path.join(folder, "graph.pbtxt")) as f:
        text_format.Parse(f.read(), text)
    assert {"global_step", "w", "train"} <= {n.name for n in text.node}
