"""Checkpoints: what TensorFlow saved Weft restores, the other way round, and the same errors."""
import glob
import itertools
import os
import shutil
import tempfile

import numpy as np
import pytest
import tensorflow as tf

import compare
import weftlib
from scenario import OnTensorFlow, OnWeft, check

v1 = tf.compat.v1
raw = tf.raw_ops

VALUES = {
    "w": np.arange(6, dtype=np.float32).reshape(2, 3), "layer/b": np.array([1, -2], np.int64), "scalar": np.float64(7.5),
    "strings": np.array([[b"abc", b""], [b"x" * 300, b"\x00\xff"]], dtype=object), "empty": np.zeros([0, 3], np.float32),
    "half": np.array([1.5, -2], np.float16), "complex": np.array([1 + 2j], np.complex64), "bool": np.array([True, False]),
    "bytes": np.arange(5, dtype=np.uint8), "large": np.random.RandomState(1).rand(300, 400).astype(np.float32),
}
V1_NAMES = ["w", "layer/b", "scalar", "strings", "half", "bytes", "large"]


@pytest.fixture
def folder():
    d = tempfile.mkdtemp(prefix="weft-checkpoints-")
    yield d
    shutil.rmtree(d, ignore_errors=True)


def save(prefix, names=None, specs=None, values=None):
    names = names or list(VALUES)
    return raw.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=specs or [""] * len(names),
                      tensors=[tf.constant(v) for v in (values or [VALUES[n] for n in names])])


def restore(prefix, names=None, specs=None, dtypes=None):
    names = names or list(VALUES)
    dtypes = dtypes or [tf.constant(VALUES[n]).dtype for n in names]
    return raw.RestoreV2(prefix=prefix, tensor_names=names, shape_and_slices=specs or [""] * len(names), dtypes=dtypes)


SYSTEMS = {"tensorflow": OnTensorFlow, "weft": OnWeft}


def run(system, build):
    with tf.Graph().as_default() as g:
        step = build()
    return SYSTEMS[system](g).play([step])[0]


def expect(got, want):
    assert not isinstance(got, Exception) and isinstance(got, list), got
    assert not [d for d in (compare.difference(str(i), w, g) for i, (w, g) in enumerate(zip(want, got))) if d]


PAIRS = list(itertools.product(SYSTEMS, SYSTEMS))


@pytest.mark.parametrize("writer,reader", PAIRS)
def test_each_restores_what_the_other_saved(folder, writer, reader):
    prefix = folder + "/model.ckpt-7"
    assert run(writer, lambda: save(prefix)) == []
    assert sorted(os.listdir(folder)) == ["model.ckpt-7.data-00000-of-00001", "model.ckpt-7.index"]
    expect(run(reader, lambda: restore(prefix)), VALUES.values())


def test_files_are_the_same_bytes(folder):
    for system in SYSTEMS:
        run(system, lambda: save(f"{folder}/{system}"))
    for end in (".index", ".data-00000-of-00001"):
        with open(f"{folder}/tensorflow{end}", "rb") as a, open(f"{folder}/weft{end}", "rb") as b:
            assert a.read() == b.read(), end


@pytest.mark.parametrize("writer,reader", PAIRS)
def test_many_names_fill_several_blocks(folder, writer, reader):
    names = [f"a/long/scope/of/some/model/variable_{i:05d}/part" for i in range(9000)]
    values = list(np.arange(9000, dtype=np.int32))
    assert run(writer, lambda: save(folder + "/m", names, None, values)) == []
    some = names[::97]
    expect(run(reader, lambda: restore(folder + "/m", some, None, [tf.int32] * len(some))), values[::97])


WHOLE = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("writer,reader", PAIRS)
def test_slices_are_cut_anew(folder, writer, reader):
    p = folder + "/p"
    assert run(writer, lambda: save(p, ["w", "w"], ["4 3 0,3:-", "4 3 3,1:-"], [WHOLE[:3], WHOLE[3:]])) == []
    f = [tf.float32]
    expect(run(reader, lambda: restore(p, ["w"], [""], f)), [WHOLE])
    expect(run(reader, lambda: restore(p, ["w"], ["4 3 2,2:0,2"], f)), [WHOLE[2:4, :2]])
    expect(run(reader, lambda: restore(p, ["w"], ["4 3 3,1:-"], f)), [WHOLE[3:]])


@pytest.mark.parametrize("writer,merger,reader", list(itertools.product(SYSTEMS, repeat=3)))
def test_merging_makes_one_of_several(folder, writer, merger, reader):
    parts = [f"{folder}/tmp{i}/part-{i:05d}-of-00002" for i in range(2)]
    run(writer, lambda: save(parts[0], ["w", "strings"]))
    run(writer, lambda: save(parts[1], ["layer/b", "large"]))
    merged = run(merger, lambda: raw.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=folder + "/m"))
    assert merged == [], merged
    assert sorted(os.listdir(folder)) == ["m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"]
    names = ["large", "strings", "w", "layer/b"]
    expect(run(reader, lambda: restore(folder + "/m", names)), [VALUES[n] for n in names])


@pytest.mark.parametrize("writer,reader", PAIRS)
def test_version_one(folder, writer, reader):
    p = folder + "/v1"
    saved = run(writer, lambda: raw.Save(filename=p, tensor_names=V1_NAMES, data=[tf.constant(VALUES[n]) for n in V1_NAMES]))
    assert saved == [], saved
    for n in V1_NAMES:
        dtype = tf.constant(VALUES[n]).dtype
        expect(run(reader, lambda: raw.Restore(file_pattern=p, tensor_name=n, dt=dtype)), [VALUES[n]])
    expect(run(reader, lambda: restore(p, ["w", "half"])), [VALUES["w"], VALUES["half"]])
    run(writer, lambda: raw.SaveSlices(filename=p + "s", tensor_names=["w", "w"], shapes_and_slices=["4 3 0,2:-", "4 3 2,2:-"],
                                       data=[WHOLE[:2], WHOLE[2:]]))
    part = lambda spec: raw.RestoreSlice(file_pattern=p + "?", tensor_name="w", shape_and_slice=spec, dt=tf.float32)
    expect(run(reader, lambda: part("4 3 1,2:0,2")), [WHOLE[1:3, :2]])
    expect(run(reader, lambda: part("")), [WHOLE])


def test_errors_are_tensorflows(folder):
    f, i = [tf.float32], [tf.int32]
    fed = lambda v: v1.placeholder_with_default(tf.constant(v), None)

    def build():
        p = folder + "/e"
        specs = lambda names, s, d=f: raw.RestoreV2(prefix=p, tensor_names=fed(names), shape_and_slices=fed(s), dtypes=d)
        steps = [save(p, ["w", "layer/b"]), restore(p, ["zz"], None, f), restore(p, ["w"], None, i),
                 restore(folder + "/none", ["w"]), specs(["w"], ["2 4 0,1:1,2"]), specs(["w", "b"], [""], f + f),
                 raw.SaveV2(prefix=p + "2", tensor_names=fed(["w", "b"]), shape_and_slices=fed(["", ""]), tensors=[[1.]]),
                 save(p + "3", ["w", "w"], None, [[1.], [2.]]), save(folder + "/no/such/dir", ["w"]),
                 save(p + "4", ["w"], ["4 3 0,2:-"], [WHOLE[:3]]), save(p + "5", ["w"], ["4 3 0,2:-"], [WHOLE[:2]]),
                 restore(p + "5", ["w"], None, f), restore(p + "5", ["w"], ["4 3 2,2:-"], f),
                 raw.MergeV2Checkpoints(checkpoint_prefixes=[p + "none"], destination_prefix=p + "m"),
                 raw.Save(filename=p + "v1", tensor_names=["w"], data=[[1.]]),
                 raw.Restore(file_pattern=p + "v1", tensor_name="zz", dt=tf.int32),
                 raw.Restore(file_pattern=p + "v1", tensor_name="w", dt=tf.int32),
                 raw.Restore(file_pattern=p + "none*", tensor_name="w", dt=tf.int32)]
        return steps
    check(build)


def code_of(outcome):
    return getattr(outcome, "code", outcome)


@pytest.mark.parametrize("at", [0, 7, 100])
@pytest.mark.parametrize("end", [".index", ".data-00000-of-00001"])
def test_damage_is_noticed(folder, end, at):
    p = folder + "/d"
    run("tensorflow", lambda: save(p, ["large", "strings"]))
    with open(p + end, "r+b") as f:
        f.seek(at)
        b = f.read(1)
        f.seek(at)
        f.write(bytes([b[0] ^ 1]))
    outcomes = [code_of(run(s, lambda: restore(p, ["large", "strings"]))) for s in SYSTEMS]
    assert outcomes[0] == outcomes[1] == tf.errors.DATA_LOSS


def test_nothing_is_left_behind_by_a_save_that_fails(folder):
    assert code_of(run("weft", lambda: save(folder + "/x", ["w", "w"]))) == tf.errors.INVALID_ARGUMENT
    assert os.listdir(folder) == []


@pytest.mark.parametrize("writer,reader", PAIRS)
def test_a_saver_of_a_model(folder, writer, reader):
    """tf.train.Saver's graph: variables, a partitioned one, a sharded save."""
    with tf.Graph().as_default() as g:
        a = v1.get_variable("a", initializer=np.arange(4, dtype=np.float32), use_resource=False)
        b = v1.get_variable("b", initializer=np.int64(3), use_resource=True)
        part = v1.get_variable("part", [4, 3], initializer=v1.ones_initializer(), partitioner=v1.fixed_size_partitioner(2))
        change = [tf.group(v1.assign_add(a, tf.ones([4])), b.assign_add(4))]
        saver = v1.train.Saver(sharded=True)
        definition = saver.as_saver_def()
        init = v1.global_variables_initializer()
        reads = [tf.identity(x).name for x in (a, b, part.as_tensor())]
    filename = definition.filename_tensor_name
    for system, init_first in ((writer, True), (reader, False)):
        if system == "tensorflow":
            s = v1.Session(graph=g)
            do = lambda fetches, targets, feeds: s.run([fetches, targets], feeds)[0]
        else:
            w = weftlib.Session(weftlib.Graph(g.as_graph_def()))
            do = lambda fetches, targets, feeds: w.run(fetches, feeds, targets)
        feeds = {filename: folder + "/model"}
        if init_first:
            do([], [init.name], {})
            do([], [c.name for c in change], {})
            do([definition.save_tensor_name], [], feeds)
        else:
            do([], [definition.restore_op_name], feeds)
        got = do(reads, [], {})
        expect(list(got), [np.arange(4, dtype=np.float32) + 1, np.int64(7), np.ones([4, 3], np.float32)])
    assert len(glob.glob(folder + "/model.data-*")) == 1
