"""Savers: the same nodes as TensorFlow's, and each side restores what the other saved."""
import ctypes as C
import os

import pytest
import tensorflow as tf

import weftlib
from weftlib import Out, check, lib

v1 = tf.compat.v1


class SaverOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("n", C.c_int), ("variables", C.POINTER(Out)), ("names", C.POINTER(C.c_char_p)), ("name", C.c_char_p),
                ("filename", C.c_char_p), ("max_to_keep", C.c_int), ("keep_every_hours", C.c_double),
                ("sharded", C.c_bool), ("reshape", C.c_bool), ("relative_paths", C.c_bool), ("pad_step", C.c_bool), ("version", C.c_int)]


class SaveOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("step", C.POINTER(C.c_int64)), ("global_step", C.POINTER(Out)), ("latest_filename", C.c_char_p),
                ("meta_suffix", C.c_char_p), ("write_meta_graph", C.c_int), ("write_state", C.c_int),
                ("relative_paths", C.c_bool), ("pad_step", C.c_bool)]


class Saver:
    def __init__(self, graph, variables=None, **opts):
        self.ptr = C.c_void_p()
        o = SaverOpts(**opts)
        if variables:
            o.n = len(variables)
            o.variables = (Out * o.n)(*[graph.find(v) for v in variables.values()])
            o.names = (C.c_char_p * o.n)(*[n.encode() for n in variables])
        check(lib.weft_saver_create(C.byref(self.ptr), graph.ptr, C.byref(o)))

    def save(self, session, path, step=None):
        o = SaveOpts(step=C.pointer(C.c_int64(step)) if step is not None else None)
        out = C.c_char_p()
        check(lib.weft_saver_save(self.ptr, session.ptr, path.encode(), C.byref(o), C.byref(out)))
        return out.value.decode()

    def restore(self, session, path):
        check(lib.weft_saver_restore(self.ptr, session.ptr, path.encode()))

    def definition(self):
        data, size = C.c_void_p(), C.c_size_t()
        check(lib.weft_saver_def(C.byref(data), C.byref(size), self.ptr))
        return v1.train.SaverDef.FromString(C.string_at(data, size.value))


@pytest.fixture
def folder(tmp_path):
    before = os.getcwd()
    os.chdir(tmp_path)
    yield str(tmp_path)
    os.chdir(before)


def variable(name, shape, resource=False, **more):
    return v1.get_variable(name, shape, use_resource=resource, **more)


def on_devices():
    with tf.device("/job:ps/task:0"):
        variable("w", [2, 3])
        variable("c", [1])
    with tf.device("/job:ps/task:1/device:GPU:0"):
        variable("b", [3])


def on_one_device():
    with tf.device("/job:ps/task:0"):
        variable("w", [2, 3])
        variable("b", [2, 3])


def plain():
    variable("w", [2, 3])
    variable("layer/b", [3], dtype=tf.float64)
    variable("count", [], dtype=tf.int64, initializer=v1.zeros_initializer())


def partitioned():
    variable("w", [5, 3], partitioner=v1.fixed_size_partitioner(2))
    variable("b", [3])


def resources():
    variable("r", [4], resource=True)
    variable("w", [2])


PROGRAMS = [plain, on_devices, on_one_device, partitioned, resources]


def comparable(attr):
    """A tensor has several encodings; its value is what counts."""
    if attr.HasField("tensor"):
        return attr.tensor.dtype, tf.make_ndarray(attr.tensor).tolist()
    return attr.SerializeToString(deterministic=True)


def nodes(graph_def, before):
    """What was added, without what TensorFlow 2 notes for its own use, and without the order of control edges."""
    out = {}
    for n in graph_def.node:
        if n.name in before:
            continue
        n.attr.pop("_has_manual_control_dependencies", None)
        n.attr.pop("_output_shapes", None)
        n.attr.pop("allow_missing_files", None)
        out[n.name] = (n.op, [i for i in n.input if i[0] != "^"], {i for i in n.input if i[0] == "^"}, n.device,
                       {k: comparable(n.attr[k]) for k in n.attr})
    return out


@pytest.mark.parametrize("opts", [{}, {"sharded": True}, {"reshape": True}, {"name": "other"}], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_nodes_are_tensorflows(program, opts):
    with tf.Graph().as_default() as g:
        program()
        meta = v1.train.export_meta_graph()
        before = {n.name for n in g.as_graph_def().node}
        want_def = v1.train.Saver(**opts).saver_def
        want = nodes(g.as_graph_def(), before)
    weft = weftlib.Graph()
    weft.load_meta(meta)
    saver = Saver(weft, **{k: v.encode() if isinstance(v, str) else v for k, v in opts.items()})
    got = nodes(weft.export(), before)
    assert sorted(got) == sorted(want)
    for name in want:
        assert got[name] == want[name], name
    assert saver.definition() == want_def


def test_the_nodes_of_a_list_are_tensorflows():
    with tf.Graph().as_default() as g:
        w, b = variable("w", [2, 3]), variable("b", [3])
        meta = v1.train.export_meta_graph()
        before = {n.name for n in g.as_graph_def().node}
        v1.train.Saver({"z": b, "a": w}, max_to_keep=0)
        want = nodes(g.as_graph_def(), before)
    weft = weftlib.Graph()
    weft.load_meta(meta)
    Saver(weft, {"z": "b", "a": "w"}, max_to_keep=-1)
    assert nodes(weft.export(), before) == want


@pytest.mark.parametrize("sharded", [False, True], ids=["plain", "sharded"])
@pytest.mark.parametrize("program", [plain, partitioned, resources], ids=lambda p: p.__name__)
def test_each_side_restores_what_the_other_saved(program, sharded, folder):
    with tf.Graph().as_default():
        program()
        variables = v1.global_variables()
        reads = [v.read_value().name for v in variables]
        saver = v1.train.Saver(sharded=sharded)
        init = v1.global_variables_initializer().name
        meta = v1.train.export_meta_graph()
        with v1.Session() as sess:
            sess.run(init)
            want = sess.run(reads)
            saver.save(sess, "tf/m", global_step=3) if os.mkdir("tf") is None else None
            weft = weftlib.Graph()
            weft.load_meta(meta)
            mine = Saver(weft, sharded=sharded, name=b"mine")
            session = weftlib.Session(weft)
            mine.restore(session, "tf/m-3")
            got = session.run(reads)
            for a, b in zip(want, got):
                assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
            assert mine.save(session, "weft/m", 4) == "weft/m-4"
            sess.run(init)
            saver.restore(sess, v1.train.latest_checkpoint("weft"))
            for a, b in zip(want, sess.run(reads)):
                assert a.tobytes() == b.tobytes()
            state = v1.train.get_checkpoint_state("weft")
            assert list(state.all_model_checkpoint_paths) == ["weft/m-4"]
    with tf.Graph().as_default(), v1.Session() as sess:  # the meta graph alone is enough
        v1.train.import_meta_graph("weft/m-4.meta").restore(sess, "weft/m-4")
        for a, b in zip(want, sess.run(reads)):
            assert a.tobytes() == b.tobytes()


def test_state_files_agree(folder):
    """The same saves leave the same state file and the same files behind."""
    with tf.Graph().as_default():
        plain()
        saver = v1.train.Saver(max_to_keep=2)
        init = v1.global_variables_initializer().name
        meta = v1.train.export_meta_graph()
        weft = weftlib.Graph()
        weft.load_meta(meta)
        mine = Saver(weft, max_to_keep=2, name=b"mine")
        session = weftlib.Session(weft)
        session.run(targets=[init])
        with v1.Session() as sess:
            sess.run(init)
            for where in ("", "sub/", "/abs/"):
                for step in (1, 2, 3):
                    for top in ("tf", "weft"):
                        here = os.path.join(folder, top)
                        path = (here if where[:1] == "/" else "") + where + "m"
                        os.makedirs(os.path.join(here, os.path.dirname(path)), exist_ok=True)
                        os.chdir(here)
                        if top == "tf":
                            saver.save(sess, path, global_step=step)
                        else:
                            mine.save(session, path, step)
                        os.chdir(folder)
    for sub in ("", "sub/", "abs/"):
        with open(f"tf/{sub}checkpoint") as a, open(f"weft/{sub}checkpoint") as b:
            assert a.read().replace(folder + "/tf", folder + "/weft") == b.read()
        assert sorted(os.listdir("tf/" + sub)) == sorted(os.listdir("weft/" + sub))
