"""Dataset.save, load and snapshot: what either system writes, both read."""
import glob

import numpy as np
import pytest

from both import compare, oracle, weft as ours
from test_data_ops import built, number, started as described


def started(tf, dataset):
    """All elements; numbers alone as numbers."""
    return [e[2] if isinstance(e, tuple) and isinstance(e[0], str) else e for e in described(tf, dataset)]


SYSTEMS = {"weft": ours, "tensorflow": oracle}


def elements(tf):
    """A nest of every kind of component: numbers, rows, texts, with shapes that differ."""
    rows = np.float32(np.arange(10).reshape(5, 2))
    data = tf.data.Dataset.from_tensor_slices({"a": np.arange(5, dtype=np.int64), "b": (rows, [b"a", b"bb", b"", b"d", b"e" * 300])})
    return data.map(lambda d: dict(d, c=tf.range(d["a"])))


def written(tf, folder, make=elements, **given):
    with tf.Graph().as_default():
        saved = make(tf).save(str(folder), **given)
        with tf.Session() as sess:
            assert sess.run(saved) is None


def loaded(tf, folder, **given):
    with tf.Graph().as_default():
        data = tf.data.Dataset.load(str(folder), **given)
        specs = str(data.element_spec).replace("tf.", "").replace("<dtype: '", "").replace("'>", "")
        return specs, started(tf, data)


@pytest.mark.parametrize("reader", SYSTEMS)
@pytest.mark.parametrize("writer", SYSTEMS)
@pytest.mark.parametrize("compression", [None, "GZIP", "SNAPPY"])
def test_either_reads_what_either_wrote(tmp_path, writer, reader, compression):
    written(SYSTEMS[writer], tmp_path, compression=compression)
    with oracle.Graph().as_default():
        want = started(oracle, elements(oracle))
    found = loaded(SYSTEMS[reader], tmp_path, compression=compression)
    compare(found[1], want)
    assert found[0] == loaded(oracle, tmp_path, compression=compression)[0]


@pytest.mark.parametrize("reader", SYSTEMS)
@pytest.mark.parametrize("writer", SYSTEMS)
def test_shards(tmp_path, writer, reader):
    written(SYSTEMS[writer], tmp_path, lambda tf: tf.data.Dataset.range(7), shard_func=lambda x: x % 3)
    assert len(glob.glob(str(tmp_path / "*" / "*.shard"))) == 3
    tf = SYSTEMS[reader]
    spec = number(tf)
    assert loaded(tf, tmp_path, element_spec=spec, reader_func=lambda shards: shards.flat_map(lambda s: s))[1] == [0, 3, 6, 1, 4, 2, 5]
    assert sorted(loaded(tf, tmp_path)[1]) == list(range(7))
    if tf is oracle:
        return  # it folds the data sets below into constants that it cannot store
    folder = glob.glob(str(tmp_path / "*" / "00000001.shard"))[0]
    with tf.Graph().as_default():
        one = built(tf, "SnapshotDatasetReader", spec, shard_dir=folder, start_index=np.int64(1), compression="", version=2)
        chunk = built(tf, "SnapshotChunkDataset", spec, chunk_file=folder + "/00000000.snapshot", compression="")
        nested = tf.raw_ops.SnapshotNestedDatasetReader(inputs=[one._variant_tensor, chunk._variant_tensor], output_types=[tf.variant],
                                                        output_shapes=[[]])
        both = tf.data.experimental.from_variant(nested, tf.data.DatasetSpec(spec)).flat_map(lambda x: x)
        assert [started(tf, one), started(tf, chunk), started(tf, both)] == [[4], [1, 4], [4, 1, 4]]


def test_a_data_set_is_saved_while_it_is_read(tmp_path):
    for tf, name in ((ours, "a"), (oracle, "b")):
        with tf.Graph().as_default():
            data = tf.data.Dataset.range(4)
            zero = data.map(lambda x: x * 0)  # for a function of the graph that gives a shard
            node = zero._variant_tensor.op
            name_of = node.get_attr("f").name if tf is oracle else node.node_def.attr["f"].func.name
            shard = tf.AttrValue()
            shard.func.name = name_of
            graph = tf.get_default_graph().as_graph_def()
            made = graph.node.add(name="saved", op="SaveDatasetV2", input=[data._variant_tensor.op.name, "path"])
            path = graph.node.add(name="path", op="Const")
            path.attr["dtype"].type = tf.string.as_datatype_enum
            path.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(str(tmp_path / name)))
            made.attr["shard_func"].CopyFrom(shard)
            made.attr["output_types"].list.type.append(tf.int64.as_datatype_enum)
            made.attr["output_shapes"].list.shape.add()
            made.attr["Tshard_func_args"].list.SetInParent()
        with tf.Graph().as_default():
            saved, = tf.import_graph_def(graph, return_elements=["saved:0"], name="")
            assert started(tf, tf.data.experimental.from_variant(saved, number(tf))) == [0, 1, 2, 3]
        assert loaded(ours, tmp_path / name, element_spec=number(ours))[1] == [0, 1, 2, 3]


def counted(tf, folder, seen, **given):
    """The elements of a snapshot, and how many were computed for it."""
    with tf.Graph().as_default():
        def see(x):
            seen.append(int(x))
            return x + 10
        data = tf.data.Dataset.range(6).map(lambda x: tf.reshape(tf.py_func(see, [x], tf.int64), []))
        return started(tf, data.apply(tf.data.experimental.snapshot(str(folder), **given)))


@pytest.mark.parametrize("given", [{}, {"compression": None}, {"compression": "GZIP"}, {"shard_func": lambda x: x % 2}],
                         ids=["plain", "uncompressed", "gzip", "shards"])
def test_snapshots_are_written_once(tmp_path, given):
    seen = []
    with ours.Graph().as_default():
        def pipeline(add):
            return ours.data.Dataset.range(6).map(lambda x: x + add)
        first, same, other = (pipeline(add).snapshot(str(tmp_path), **given) for add in (10, 10, 20))
        assert [sorted(started(ours, d)) for d in (first, same)] == [list(range(10, 16))] * 2
        assert len(glob.glob(str(tmp_path / "*" / "snapshot.metadata"))) == 1
        assert sorted(started(ours, other)) == list(range(20, 26))
        assert len(glob.glob(str(tmp_path / "*" / "snapshot.metadata"))) == 2
    want = counted(oracle, tmp_path / "theirs", seen, **given)
    found = counted(ours, tmp_path / "ours", seen, **given)
    assert sorted(found) == sorted(want) == list(range(10, 16))
    shards = [len(glob.glob(str(tmp_path / name / "*" / "*" / "*.shard"))) for name in ("ours", "theirs")]
    assert shards[0] == shards[1]


def test_an_unfinished_snapshot_is_not_read(tmp_path):
    with ours.Graph().as_default():
        data = ours.data.Dataset.range(6).snapshot(str(tmp_path))
        iterator = ours.data.make_initializable_iterator(data)
        one = iterator.get_next()
        with ours.Session() as sess:
            sess.run(iterator.initializer)
            assert sess.run(one) == 0
        assert not glob.glob(str(tmp_path / "*" / "snapshot.metadata"))
        assert started(ours, data) == list(range(6))


def test_what_is_wrong_is_said(tmp_path):
    with ours.Graph().as_default():
        data = ours.data.Dataset.range(3)
        with pytest.raises(ours.errors.NotFoundError, match="element_spec"):
            ours.data.Dataset.load(str(tmp_path / "none"))
        with pytest.raises(ours.errors.NotFoundError, match="metadata"):
            started(ours, ours.data.Dataset.load(str(tmp_path / "none"), number(ours)))
        with pytest.raises(NotImplementedError, match="checkpoint_args"):
            data.save(str(tmp_path), checkpoint_args={})
        with pytest.raises(NotImplementedError, match="SparseTensor"):
            ours.data.Dataset.from_tensors(ours.SparseTensor([[0]], [1], [2])).save(str(tmp_path))
        with ours.Session() as sess, pytest.raises(ours.errors.InvalidArgumentError, match="compression"):
            sess.run(data.save(str(tmp_path), compression="RAR"))
