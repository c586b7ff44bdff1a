"""MonitoredTrainingSession: TensorFlow's scaffold, and each side goes on where the other stopped."""
import ctypes as C

import tensorflow as tf

import weftlib
from test_supervisor import added, model
from weftlib import Feed, Out, check, lib

v1 = tf.compat.v1
P = C.POINTER


class Opts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("target", C.c_char_p), ("config", C.c_void_p), ("is_chief", C.c_int), ("bare", C.c_bool),
                ("checkpoint_dir", C.c_char_p), ("checkpoint_path", C.c_char_p), ("n_hook", C.c_int),
                ("n_chief_hook", C.c_int), ("hooks", P(C.c_void_p)), ("chief_hooks", P(C.c_void_p)),
                ("init_op", P(Out)), ("local_init_op", P(Out)), ("ready_op", P(Out)),
                ("ready_for_local_init_op", P(Out)), ("summary_op", P(Out)), ("n_init_feed", C.c_int),
                ("init_feed", P(Feed)), ("init_fn", C.c_void_p), ("init_arg", C.c_void_p), ("saver", C.c_void_p),
                ("save_checkpoint_secs", C.c_double), ("save_checkpoint_steps", C.c_int64),
                ("save_summaries_steps", C.c_int64), ("save_summaries_secs", C.c_double),
                ("log_step_count_steps", C.c_int64), ("summary_dir", C.c_char_p), ("max_wait_secs", C.c_double),
                ("stop_grace_secs", C.c_double)]


def monitored(graph, **opts):
    sess = weftlib.Session.__new__(weftlib.Session)
    sess.graph, sess.ptr = graph, C.c_void_p()
    check(lib.weft_monitored_create(C.byref(sess.ptr), graph.ptr, C.byref(Opts(**opts))))
    return sess


def test_the_scaffold_is_tensorflows():
    with tf.Graph().as_default() as g:
        model()
        before, names = v1.train.export_meta_graph(), {n.name for n in g.as_graph_def().node}
        v1.train.Scaffold().finalize()
        want = added(g.as_graph_def(), names)
        collections = {k: [getattr(x, "name", None) for x in g.get_collection(k)]
                       for k in ("init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "summary_op")}
    mine = weftlib.Graph()
    mine.load_meta(before)
    monitored(mine, bare=True)
    got = added(mine.export(), names)
    assert sorted(got) == sorted(want)
    for name in want:
        assert got[name] == want[name], name
    after = mine.export_meta().collection_def
    for key, value in collections.items():
        assert list(after[key].node_list.value) == value, key


def test_each_side_goes_on_where_the_other_stopped(tmp_path):
    folder = str(tmp_path / "m")
    with tf.Graph().as_default():
        model()
        meta = v1.train.export_meta_graph()

    def on_weft(steps):
        g = weftlib.Graph()
        g.load_meta(meta)
        hook = C.c_void_p()
        check(lib.weft_hook_stop_at_step(C.byref(hook), C.c_int64(steps), C.c_int64(0)))
        sess = monitored(g, checkpoint_dir=folder.encode(), n_hook=1, hooks=(C.c_void_p * 1)(hook.value))
        first = int(sess.run(["global_step:0"])[0])
        while not lib.weft_monitored_should_stop(sess.ptr):
            sess.run(targets=["train"])
        check(lib.weft_monitored_close(sess.ptr, 0))
        del sess
        lib.weft_hook_destroy(hook)
        return first

    def on_tensorflow(steps):
        with tf.Graph().as_default():
            model()
            hooks = [v1.train.StopAtStepHook(num_steps=steps)]
            with v1.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks) as sess:
                first = int(sess.run("global_step:0"))
                while not sess.should_stop():
                    sess.run("train")
            return first

    lib.weft_monitored_should_stop.restype = C.c_bool
    assert on_weft(3) == 0
    assert on_tensorflow(4) == 3
    assert on_weft(5) == 7
    assert v1.train.latest_checkpoint(folder) == folder + "/model.ckpt-12"
