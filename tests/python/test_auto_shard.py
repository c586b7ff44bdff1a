"""AutoShardDataset: each policy gives a worker the elements that TensorFlow gives it."""
import pytest

from both import oracle, weft

NAMES = ["f%d.rec" % i for i in range(4)]
OFF, AUTO, FILE, DATA, HINT = range(-1, 4)


def records(tf):
    return tf.data.TFRecordDataset(NAMES)


def listed(tf):
    return tf.data.Dataset.list_files("f?.rec", shuffle=False)


def named(tf):
    return tf.data.Dataset.from_tensor_slices(NAMES)


def hinted(tf, data):
    return data.shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)


FILES = {
    "records": records,
    "records with steps behind": lambda tf: records(tf).map(lambda x: x + "!").skip(1).batch(2).prefetch(1),
    "shuffled and repeated": lambda tf: records(tf).shuffle(5, seed=1).repeat(2),
    "kept in memory": lambda tf: records(tf).cache().repeat(2),
    "interleaved": lambda tf: named(tf).interleave(tf.data.TFRecordDataset, cycle_length=2),
    "interleaved in parallel": lambda tf: named(tf).interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2),
    "listed": lambda tf: listed(tf).flat_map(tf.data.TFRecordDataset),
    "behind two functions": lambda tf: tf.data.Dataset.range(4).flat_map(
        lambda i: tf.data.Dataset.from_tensors("f" + tf.as_string(i) + ".rec").flat_map(tf.data.TFRecordDataset)),
    "lines": lambda tf: tf.data.TextLineDataset(["f%d.txt" % i for i in range(4)]),
    "pieces": lambda tf: tf.data.FixedLengthRecordDataset(["f%d.txt" % i for i in range(4)], 7),
    "side by side": lambda tf: tf.data.Dataset.zip((records(tf), records(tf).map(lambda x: x + "?"))),
    "one after another": lambda tf: tf.data.TFRecordDataset(NAMES[:2]).concatenate(tf.data.TFRecordDataset(NAMES[2:])),
}
OTHERS = {
    "numbers": lambda tf: tf.data.Dataset.range(10),
    "names alone": named,
    "a generator": lambda tf: tf.data.Dataset.from_generator(lambda: iter(range(6)), tf.int64, []),
    "batches": lambda tf: tf.data.Dataset.range(10).batch(3),
    "too few": lambda tf: tf.data.Dataset.range(1),
    "files read whole": lambda tf: listed(tf).map(tf.io.read_file).map(tf.strings.length),
    "hinted": lambda tf: hinted(tf, records(tf)).batch(2),
    "hinted twice": lambda tf: tf.data.Dataset.zip((hinted(tf, tf.data.Dataset.range(6)), hinted(tf, records(tf)).take(5))),
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for i, name in enumerate(NAMES):
        with oracle.python_io.TFRecordWriter(name) as writer:
            for j in range(3):
                writer.write(b"%d-%d" % (i, j))
        (tmp_path / ("f%d.txt" % i)).write_text("".join("line %d\n" % j for j in range(i, i + 3)))


def share(tf, make, policy, workers, index):
    """The elements of a worker, or the class of the error that ends them."""
    with tf.Graph().as_default(), tf.Session() as sess:
        data = make(tf)
        parts = dict(output_types=tf.nest.flatten(tf.data.get_output_types(data)),
                     output_shapes=tf.nest.flatten(tf.data.get_output_shapes(data)))
        part = tf.raw_ops.AutoShardDataset(
            input_dataset=data._variant_tensor, num_workers=tf.constant(workers, tf.int64), index=tf.constant(index, tf.int64),
            auto_shard_policy=policy, **parts)
        iterator = tf.raw_ops.Iterator(shared_name="", container="", **parts)
        row, seen = tf.raw_ops.IteratorGetNext(iterator=iterator, **parts), []
        try:
            sess.run(tf.raw_ops.MakeIterator(dataset=part, iterator=iterator))
            while True:
                seen.append([v.tolist() if hasattr(v, "tolist") else v for v in sess.run(row)])
        except tf.errors.OutOfRangeError:
            return seen
        except tf.errors.OpError as e:
            return type(e).__name__


@pytest.mark.parametrize("policy", [OFF, AUTO, FILE, DATA, HINT])
@pytest.mark.parametrize("name", [*FILES, *OTHERS])
def test_each_worker_gets_its_part(name, policy):
    make = {**FILES, **OTHERS}[name]
    for workers, index in ((2, 1), (2, 0), (5, 0)):
        ours, theirs = (share(tf, make, policy, workers, index) for tf in (weft, oracle))
        if (name, policy in (AUTO, FILE), workers) == ("hinted", True, 5):
            assert "Error" in ours and "Error" in theirs  # too few files, and a hint that nothing replaces
        else:
            assert ours == theirs, (workers, index)


@pytest.mark.parametrize("name", FILES)
def test_workers_divide_the_files_without_rest(name):
    make = FILES[name]
    whole = share(weft, make, OFF, 2, 0)
    parts = [share(weft, make, FILE, 2, i) for i in range(2)]
    if "steps" not in name:
        assert sorted(map(str, whole)) == sorted(str(row) for part in parts for row in part)


def test_files_beside_other_sources_are_divided_by_elements():
    """TensorFlow divides the files and then the elements, so that most elements belong to no worker."""
    make = lambda tf: tf.data.Dataset.zip((records(tf), tf.data.Dataset.range(12)))  # noqa: E731
    parts = [share(weft, make, AUTO, 2, i) for i in range(2)]
    assert sorted(n for part in parts for _, n in part) == list(range(12))
    assert share(weft, make, FILE, 2, 0) == share(oracle, make, FILE, 2, 0) == "NotFoundError"


def test_a_shard_without_a_strategy_names_the_policy():
    with weft.Graph().as_default(), weft.Session() as sess:
        row = hinted(weft, weft.data.Dataset.range(4)).make_one_shot_iterator().get_next()
        with pytest.raises(weft.errors.FailedPreconditionError, match="AutoShardPolicy.HINT"):
            sess.run(row)


def test_a_divided_data_set_can_be_written_as_a_graph():
    with weft.Graph().as_default(), weft.Session() as sess:
        data = records(weft).map(lambda x: x + "!")
        kinds = dict(output_types=[weft.string], output_shapes=[[]])
        part = weft.raw_ops.AutoShardDataset(input_dataset=data._variant_tensor, num_workers=weft.constant(2, weft.int64),
                                             index=weft.constant(1, weft.int64), **kinds)
        graph = weft.GraphDef.FromString(sess.run(weft.raw_ops.DatasetToGraph(input_dataset=part)))
        assert [n.op for n in graph.node if "Shard" in n.op] == ["AutoShardDataset"]
