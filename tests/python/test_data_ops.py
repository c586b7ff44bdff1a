"""Ops and names of tf.data that read, cut, save and fill: the same as TensorFlow's from the same program."""
import os
import re
import sqlite3

import numpy as np
import pytest

from both import oracle, outcome, weft as ours
from test_composite_elements import both_of, drained, plain
from weft._core.framework import opdef

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def built(tf, kind, *specs, **inputs):
    """The data set that an op of the graph makes."""
    nest = specs[0] if len(specs) == 1 else specs
    made = getattr(tf.raw_ops, kind)(output_types=[s.dtype for s in specs], output_shapes=[s.shape for s in specs], **inputs)
    return tf.data.experimental.from_variant(getattr(made, "handle", made), nest)


def long(tf, value):
    return tf.constant(value, tf.int64)


def number(tf):
    return tf.TensorSpec([], tf.int64)


def row(tf):
    return tf.TensorSpec([None], tf.int64)


def first_error(tf, run):
    """The value, or the class of the error and its text without what each system adds."""
    try:
        return run()
    except (tf.errors.OpError, ValueError, TypeError) as e:
        return type(e).__name__


def started(tf, dataset):
    """All elements of a data set that cannot be made again."""
    iterator, seen = tf.data.make_initializable_iterator(dataset), []
    one = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        try:
            while True:
                seen.append(plain(sess.run(one)))
        except tf.errors.OutOfRangeError:
            return seen


@program
def rebatched(tf):
    batches = tf.data.Dataset.range(10).batch(4)._variant_tensor
    seen = [drained(tf, built(tf, kind, row(tf), input_dataset=batches, num_replicas=long(tf, n)))
            for n in (1, 2, 3, 4, 5, 0) for kind in ("RebatchDataset", "ExperimentalRebatchDataset")[:1 + (n == 2)]]
    for sizes in ([3], [2, 1], [2, 0, 1], [5, 2], [7], 3):
        for drop in (False, True):
            seen.append(drained(tf, built(tf, "RebatchDatasetV2", row(tf), input_dataset=batches, batch_sizes=long(tf, sizes),
                                          drop_remainder=tf.constant(drop))))
    text = tf.data.Dataset.from_tensor_slices(["a", "bb", "c", "d", "e"]).batch(2)._variant_tensor
    seen.append(drained(tf, built(tf, "RebatchDatasetV2", tf.TensorSpec([None], tf.string), input_dataset=text, batch_sizes=long(
        tf, [3]), drop_remainder=tf.constant(False))))
    return seen + [drained(tf, built(tf, "RebatchDataset", number(tf), input_dataset=tf.data.Dataset.range(4)._variant_tensor,
                                     num_replicas=long(tf, 2)))]


@program
def windows(tf):
    numbers, words = tf.data.Dataset.range(7), tf.data.Dataset.from_tensor_slices([b"a", b"bc", b"d"])
    seen = [drained(tf, built(tf, "SlidingWindowDataset", row(tf), input_dataset=numbers._variant_tensor, window_size=long(tf, size),
                              window_shift=long(tf, shift), window_stride=long(tf, stride), drop_remainder=drop))
            for size, shift, stride, drop in ((3, 1, 1, True), (3, 2, 1, False), (2, 3, 2, True), (2, 1, 2, False), (0, 1, 1, True),
                                              (3, 0, 1, True), (3, 1, 0, True), (20, 1, 1, False), (20, 1, 1, True), (2, 5, 1, True))]
    return seen + [drained(tf, built(tf, "ExperimentalSlidingWindowDataset", tf.TensorSpec([None], tf.string),
                                     input_dataset=words._variant_tensor, window_size=long(tf, 2), window_shift=long(tf, 1),
                                     window_stride=long(tf, 1)))]


@program
def chosen(tf):
    numbers = tf.data.Dataset.range(30)._variant_tensor
    seen = [drained(tf, built(tf, "SamplingDataset", number(tf), input_dataset=numbers, rate=rate, seed=long(tf, seed),
                              seed2=long(tf, seed2))) for rate, seed, seed2 in ((.5, 1, 2), (.3, 7, 0), (1., 0, 1), (0., 1, 1))]
    few = tf.data.Dataset.range(3)._variant_tensor
    seen += [drained(tf, built(tf, kind, number(tf), input_dataset=few, sleep_microseconds=long(tf, 3000)))
             for kind in ("SleepDataset", "ExperimentalSleepDataset")]
    seen.append(started(tf, built(tf, "RandomDatasetV2", number(tf), seed=long(tf, 3), seed2=long(tf, 4),
                                  seed_generator=tf.raw_ops.DummySeedGenerator()).take(3)))
    mixed = built(tf, "ShuffleDatasetV2", number(tf), input_dataset=few, buffer_size=long(tf, 4),
                  seed_generator=tf.raw_ops.DummySeedGenerator())
    return seen + [sorted(started(tf, mixed)), drained(tf, built(
        tf, "ChooseFastestDataset", number(tf), input_datasets=[few, few], num_experiments=2))]


@program
def listed(tf):
    both = (number(tf), tf.TensorSpec([1], tf.int64))
    tensors = [long(tf, 1), long(tf, [2]), long(tf, 3), long(tf, [4])]
    seen = [drained(tf, built(tf, "ListDataset", *both, tensors=tensors[:n])) for n in (4, 3)]
    data = tf.data.experimental.from_list
    seen += [both_of(tf, data(v)) for v in ([(1, "a"), (2, "b")], [{"a": [1, 2]}, {"a": [3]}], [[1, 2], [3, 4]])]
    for path in ("b1.txt", "a2.txt", "a1.txt"):
        with open(path, "w"):
            pass
    names = tf.TensorSpec([], tf.string)
    for patterns in (["b*.txt", "a*.txt"], "a*.txt", ["none*"]):
        files = tf.raw_ops.MatchingFilesDataset(patterns=patterns)
        seen.append(drained(tf, tf.data.experimental.from_variant(files, names)))
    return seen + [outcome(lambda: data([])), outcome(lambda: data(3)), outcome(lambda: data([(1, 2), 3])).split(".")[0]]


@program
def numbered(tf):
    data, seen = tf.data.Dataset, []
    sources = [data.range(9), data.range(9).batch(2), data.range(3).repeat(3), data.range(3).repeat(), data.from_tensors(long(tf, 3)),
               data.range(3).concatenate(data.range(5, 9)), data.range(9).take(4), data.range(9).skip(4), data.range(9).shard(2, 1),
               data.range(9).prefetch(2), data.range(9).cache(), data.zip((data.range(9), data.range(9)))]
    with tf.Session() as sess:
        for source in sources:
            specs = tf.nest.flatten(source.element_spec)
            for i in (2, 8, 20, -1):
                made = tf.raw_ops.GetElementAtIndex(dataset=source._variant_tensor, index=long(tf, i), output_types=[
                    s.dtype for s in specs], output_shapes=[s.shape for s in specs])
                seen.append(first_error(tf, lambda made=made: plain(sess.run(made))))
        batches = [data.range(9).batch(3), data.range(9).batch(3, True), data.range(9), data.range(9).batch(3).unbatch(),
                   data.range(9).batch(3).repeat(2).prefetch(1).filter(lambda x: x[0] > 1), data.range(9).batch(3).batch(2),
                   data.range(9).padded_batch(4, []), data.range(9).batch(3).concatenate(data.range(9).batch(3)),
                   data.zip((data.range(9).batch(3), data.range(9).batch(3))), data.range(9).batch(3).shuffle(3).cache().take(2),
                   data.range(9).batch(3).window(3), data.range(9).batch(3).shard(2, 1), data.range(9).batch(3).enumerate(),
                   data.range(9).batch(3).map(lambda x: x + 1), data.range(9).batch(3).flat_map(data.from_tensors)]
        return seen + [sess.run(tf.raw_ops.ComputeBatchSize(input_dataset=b._variant_tensor)) for b in batches]


@program
def compressed(tf):
    packed = tf.raw_ops.CompressElement(components=[long(tf, [1, 2]), tf.constant("abc")])
    tests = [lambda types=types: tf.raw_ops.UncompressElement(compressed=packed, output_types=types, output_shapes=[None] * len(types))
             for types in ([tf.int64, tf.string], [tf.int64], [tf.int32, tf.string])]
    with tf.Session() as sess:
        return [first_error(tf, lambda test=test: plain(sess.run(test()))) for test in tests]


@program
def old_names(tf):
    """The names that ops had while they were experiments, for which TensorFlow 2 has no kernels."""
    numbers, seen = tf.data.Dataset.range(6), []
    graph, prefix = tf.Graph(), "Experimental" if tf is ours else ""
    with graph.as_default():
        again = tf.data.Dataset.range(6)
        again.map(lambda x: x * 2)
        again.apply(tf.data.experimental.take_while(lambda x: x < 3))
        again.apply(tf.data.experimental.group_by_window(lambda x: x % 2, lambda k, d: d.batch(3), 3))
        again.apply(tf.data.experimental.ignore_errors())
        definition = graph.as_graph_def()
    names = []
    for node in definition.node:
        if node.op in ("MapDataset", "TakeWhileDataset", "GroupByWindowDataset", "IgnoreErrorsDataset"):
            names.append(node.name)
            node.op = prefix + node.op
            if prefix and "metadata" in node.attr:
                del node.attr["metadata"]
    made = tf.import_graph_def(definition, return_elements=[n + ":0" for n in names], name="old")
    for name, variant in zip(names, made):
        spec = row(tf) if name.startswith("Group") else number(tf)
        seen.append((re.sub(r"\W.*", "", name), drained(tf, tf.data.experimental.from_variant(variant, spec))))
    for kind, more in (("MaxIntraOpParallelismDataset", {"max_intra_op_parallelism": long(tf, 2)}),
                       ("PrivateThreadPoolDataset", {"num_threads": long(tf, 2)}), ("NonSerializableDataset", {})):
        seen.append(drained(tf, built(tf, prefix + kind, number(tf), input_dataset=numbers._variant_tensor, **more)))
    return sorted(map(str, seen))


@program
def records(tf):
    seen = []
    words = tf.data.Dataset.from_tensor_slices([b"a", b"", b"bc"])
    for kind in (None, "", "ZLIB", "GZIP"):
        write = tf.data.experimental.TFRecordWriter("r", kind).write(words)
        with tf.Session() as sess:
            sess.run(write)
        seen += [write.type.removeprefix("Experimental"), drained(tf, tf.data.TFRecordDataset("r", kind))]
    return seen + [outcome(lambda: tf.data.experimental.TFRecordWriter("r").write(tf.data.Dataset.range(3))),
                   outcome(lambda: tf.data.experimental.TFRecordWriter("r").write(3))]


@program
def databases(tf):
    with sqlite3.connect("d.db") as db:
        db.execute("create table t(a integer, b text, c real, d blob)")
        db.executemany("insert into t values(?, ?, ?, ?)", [(1, "x", 1.5, b"\0\1"), (2, None, 2.5, None), (None, "\u00e9", None, b"q"),
                                                            (300, "7", -0.5, b"")])
    kinds = (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.bool, tf.float64, tf.string)
    query = tf.data.experimental.SqlDataset
    return [both_of(tf, query("sqlite", "d.db", "select a, b, c, d from t", (tf.int64, tf.string, tf.float64, tf.string)))] + [
        drained(tf, query("sqlite", "d.db", "select %s from t" % column, (kind,))) for column in "abc" for kind in kinds] + [
        drained(tf, query(*given)) for given in (
            ("sqlite", "d.db", "select c from t", (tf.float32,)), ("sqlite", "d.db", "select a, b from t", (tf.int64,)),
            ("mysql", "d.db", "select a from t", (tf.int64,)), ("sqlite", "d.db", "selec a from t", (tf.int64,)),
            ("sqlite", "d.db", "select a from u", (tf.int64,)), ("sqlite", "d.db", "select a from t where a > 999", (tf.int64,)))]


@program
def tables(tf):
    kinds, seen = tf.data.experimental, []

    def looked_up(make, keys=("a", "c", "zz")):
        with tf.Graph().as_default(), tf.Session() as sess:
            table = make()
            sess.run(tf.tables_initializer())
            return plain(sess.run([table.lookup(tf.constant(list(keys))), table.size()]))

    def pairs(values):
        return tf.data.Dataset.from_tensor_slices((["a", "b", "c"], values))
    for given in ({}, {"default_value": 7}, {"num_oov_buckets": 2}, {"vocab_size": 1}, {"vocab_size": 5}, {"vocab_size": 0},
                  {"num_oov_buckets": -1}, {"vocab_size": 1, "num_oov_buckets": 2}, {"key_dtype": tf.float32}, {"hasher_spec": None}):
        for dtype in (np.int64, np.int32, np.float32):
            seen.append(first_error(tf, lambda: looked_up(lambda: kinds.table_from_dataset(pairs(np.array([10, 20, 30], dtype)), **given))))
        seen.append(first_error(tf, lambda: looked_up(lambda: kinds.index_table_from_dataset(
            tf.data.Dataset.from_tensor_slices(["a", "b", "c"]), **given))))
    seen.append(outcome(lambda: kinds.table_from_dataset(pairs(["x", "y", "z"]))))
    seen.append(looked_up(lambda: kinds.table_from_dataset(pairs(["x", "y", "z"]), default_value="q")))
    seen.append(looked_up(lambda: tf.lookup.StaticHashTable(kinds.DatasetInitializer(pairs(np.arange(3))), -1)))
    double = tf.data.Dataset.from_tensor_slices((["a", "a"], np.array([1, 2])))
    seen.append(first_error(tf, lambda: looked_up(lambda: kinds.table_from_dataset(double))))
    three = tf.data.Dataset.zip(tuple([tf.data.Dataset.range(3)] * 3))
    return seen + [outcome(lambda: kinds.DatasetInitializer(three)), outcome(lambda: kinds.DatasetInitializer(
        tf.data.Dataset.from_tensors(([1], 2)))), kinds.table_from_dataset(pairs(np.arange(3)), default_value=-1, name="T").name]


@program
def padded(tf):
    data = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0, 2.0], [3.0, 4.0]]})
    pad = tf.data.experimental.pad_to_cardinality
    return [both_of(tf, data.apply(pad(4))), both_of(tf, data.apply(pad(3, "m"))), drained(tf, data.apply(pad(1)).take(5)),
            drained(tf, data.filter(lambda e: e["a"] > 0).apply(pad(2))), drained(tf, data.repeat().apply(pad(4)).take(5)),
            outcome(lambda: tf.data.Dataset.range(3).apply(pad(4))),
            drained(tf, data.apply(tf.data.experimental.copy_to_device("/cpu:0")))]


@program
def positions(tf):
    """Iterators are saved with the variables, and go on where they were."""
    data = tf.data.Dataset.range(20).shuffle(5, seed=3).repeat().map(lambda x: x * 2)
    first, second = tf.data.make_initializable_iterator(data), tf.data.make_one_shot_iterator(tf.data.Dataset.range(9))
    one, two = first.get_next(), second.get_next()
    for iterator in (first, second):
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run([v.initializer, first.initializer])
        seen = [sess.run([one, two]) for _ in range(4)] + [os.path.basename(saver.save(sess, "./model"))]
        after = [sess.run([one, two]) for _ in range(30)[:4]]
        saver.restore(sess, "./model")
        again = [sess.run([one, two]) for _ in range(4)]
    with tf.Session() as sess:
        seen.append(first_error(tf, lambda: saver.restore(sess, "./model")))
    with tf.Session() as sess:
        sess.run([first.initializer])
        sess.run(two)
        saver.restore(sess, "./model")
        later = [sess.run([one, two]) for _ in range(4)]
    names = sorted(name for name, _ in tf.train.list_variables("./model"))
    return seen + [after == again == later, after, names, [t.name for t in tf.get_collection("iterators")], outcome(
        lambda: tf.data.experimental.make_saveable_from_iterator(first, "bogus"))]


@program
def hooks(tf):
    """An Estimator's input goes on where it was."""
    got = []

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        step = tf.assign_add(tf.train.get_global_step(), 1)
        seen = tf.py_func(lambda x: got.append(int(x)), [features], [])
        return tf.estimator.EstimatorSpec(mode, loss=tf.cast(features, tf.float32) + 0 * w, train_op=tf.group(step, seen))

    estimator = tf.estimator.Estimator(model_fn, "m", tf.estimator.RunConfig(save_checkpoints_steps=2, log_step_count_steps=1000))
    for steps in (5, 3):
        hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
        estimator.train(lambda: tf.data.Dataset.range(100), steps=steps, hooks=[hook])
    files = sorted(f for f in os.listdir("m") if "events" not in f and f.startswith("input"))
    with open("m/checkpoint_input") as f:
        return [got, files, re.sub(r'"[^"]*/', '"', f.read())]


def example(tf, **features):
    kinds = {int: ("int64_list", tf.train.Int64List), float: ("float_list", tf.train.FloatList), bytes: ("bytes_list", tf.train.BytesList)}
    made = {}
    for name, values in features.items():
        field, kind = kinds[type(values[0])]
        made[name] = tf.train.Feature(**{field: kind(value=values)})
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


@program
def parsed(tf):
    """Features of Examples by one op, in the order of their keys: sparse, dense and ragged ones."""
    texts = [example(tf, s=[1, 2], d=[1.5, 2.5], r=[b"a"]), example(tf, d=[3.5, 4.5], a=[7]), example(tf, s=[5], r=[b"b", b"c"])]
    specs = {"a": tf.TensorSpec([None], tf.int64), "d": tf.TensorSpec([None, 2], tf.float32),
             "r": tf.RaggedTensorSpec([None, None], tf.string, 1, tf.int32), "s": tf.SparseTensorSpec([None, None], tf.int64)}
    wires = {"output_types": [tf.int64, tf.float32, tf.variant, tf.variant], "output_shapes": [[None], [None, 2], None, None]}
    data, seen = tf.data.Dataset.from_tensor_slices(texts).batch(2), []
    for calls, key in ((2, "d"), (0, "d"), (1, "none")):
        made = tf.raw_ops.ParseExampleDatasetV2(
            input_dataset=data._variant_tensor, num_parallel_calls=long(tf, calls), dense_defaults=[tf.constant([0.0, 9.0]), long(tf, 3)],
            sparse_keys=["s"], dense_keys=[key, "a"], sparse_types=[tf.int64], dense_shapes=[[2], []], ragged_keys=["r"],
            ragged_value_types=[tf.string], ragged_split_types=[tf.int32], **wires)
        named = specs if key == "d" else {"a": specs["a"], "none": specs["d"], "r": specs["r"], "s": specs["s"]}
        seen.append(drained(tf, tf.data.experimental.from_variant(made, named)))
    return seen


@program
def parsed_in_order(tf):
    """The first version of the op, whose order cannot be left to chance by an attribute of its own."""
    texts = [example(tf, s=[1, 2], d=[1.5, 2.5]), example(tf, d=[3.5, 4.5]), example(tf, s=[5], d=[0.5, 1.0])]
    specs = {"d": tf.TensorSpec([None, 2], tf.float32), "s": tf.SparseTensorSpec([None, None], tf.int64)}
    made = tf.raw_ops.ParseExampleDataset(
        input_dataset=tf.data.Dataset.from_tensor_slices(texts).batch(2)._variant_tensor, num_parallel_calls=long(tf, 2),
        dense_defaults=[tf.constant([0.0, 9.0])], sparse_keys=["s"], dense_keys=["d"], sparse_types=[tf.int64], dense_shapes=[[2]],
        output_types=[tf.float32, tf.variant], output_shapes=[[None, 2], None])
    return [drained(tf, tf.data.experimental.from_variant(made, specs))]


@program
def shared_threads(tf):
    threads = tf.raw_ops.ThreadPoolHandle(num_threads=2, display_name="threads")
    return [started(tf, built(tf, "ThreadPoolDataset", number(tf), input_dataset=tf.data.Dataset.range(4)._variant_tensor,
                              thread_pool=threads))]


@program
def sparse_batches(tf):
    rows = tf.data.Dataset.from_tensor_slices([[1, 0, 2], [0, 0, 3], [4, 5, 6]])
    return [drained(tf, rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [4])))]


@program
def cached(tf):
    """Sparse and ragged elements in a file, which a second pass reads."""
    sparse = tf.SparseTensor([[0, 1], [2, 0]], ["a", "bc"], [3, 2])
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    data = tf.data.Dataset.from_tensor_slices({"s": sparse, "r": ragged, "d": np.arange(3)})
    return [drained(tf, d) for d in (data.cache("c"), data.take(0).cache("c"), data.batch(2).cache("d"), data.take(0).batch(2).cache("d"))]


@program
def shared(tf):
    data, seen = tf.data.Dataset.range(9).map(lambda x: x * 10), []
    for policy, workers, index in ((0, 2, 1), (2, 2, 0), (1, 2, 0), (-1, 2, 1), (0, 1, 0), (0, 2, 2), (3, 2, 0)):
        part = built(tf, "AutoShardDataset", number(tf), input_dataset=data._variant_tensor, num_workers=long(tf, workers),
                     index=long(tf, index), auto_shard_policy=policy)
        seen.append(drained(tf, part))
    iterator = tf.data.make_one_shot_iterator(data)
    with tf.Session() as sess:
        return seen + [sess.run(tf.raw_ops.IteratorGetDevice(resource=iterator._iterator_resource))]


@program
def calls_without_results(tf):
    """An op of Python's that gives nothing is there to be run."""
    seen = []
    made = [f(lambda x: seen.append(int(x)), [3], types) for f in (tf.py_func, tf.numpy_function) for types in ([], ())]
    with tf.Session() as sess:
        sess.run([tf.group(*made), made[0]])
    return [seen, [m.type for m in made], [m.name for m in made]]


def test_kept_by_last_component():
    """TensorFlow has the op and no kernel for it: elements whose last component is true, without that component."""
    with ours.Graph().as_default():
        pairs = ours.data.Dataset.range(6).map(lambda x: (x, ours.equal(x % 2, 0)))
        made = ours.raw_ops.FilterByLastComponentDataset(input_dataset=pairs._variant_tensor, output_types=[ours.int64], output_shapes=[[]])
        assert [v for _, _, v in started(ours, ours.data.experimental.from_variant(made, number(ours)))] == [0, 2, 4]


def test_assertions_about_transformations():
    """TensorFlow's see what its optimizer has made of a data set; these see what the program wrote."""
    tf, seen = ours, []
    with tf.Graph().as_default():
        numbers = tf.data.Dataset.range(5)
        for kind, names in (("AssertNextDataset", ["Map", "Ba.*"]), ("AssertNextDataset", ["Filter"]), ("AssertNextDataset", ["Map"] * 3),
                            ("AssertPrevDataset", ['name: "ShuffleDatasetV3"', 'name: "RangeDataset"']),
                            ("AssertPrevDataset", ['name: "MapDataset"']), ("AssertPrevDataset", ["MapDataset"])):
            made = built(tf, kind, number(tf), input_dataset=numbers.shuffle(1)._variant_tensor, transformations=names)
            seen.append(drained(tf, made.map(lambda x: x).batch(9)))
    assert [s[0][2] if s[0] != "InvalidArgumentError" else s for s in seen] == [
        [0, 1, 2, 3, 4], ["InvalidArgumentError"], ["InvalidArgumentError"], [0, 1, 2, 3, 4], ["InvalidArgumentError"],
        ["InvalidArgumentError"]]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_data_ops(name, tmp_path, monkeypatch):
    said = []
    for tf in (ours, oracle):
        (tmp_path / tf.__name__).mkdir()
        monkeypatch.chdir(tmp_path / tf.__name__)
        with tf.Graph().as_default():
            tf.set_random_seed(11)
            said.append(PROGRAMS[name](tf))
    for i, (mine, theirs) in enumerate(zip(*said, strict=True)):
        assert mine == theirs, i


EXPERIMENTS = ("chosen", "databases", "shared_threads", "sparse_batches", "listed", "parsed_in_order", "records", "shared")


@pytest.fixture
def experimental_names(monkeypatch):
    """Ops are made here under the names that they had as experiments."""
    add = ours.Graph._add

    def older(self, kind, name, inputs, attrs, *args, **given):
        if "Experimental" + kind in opdef.names():
            name, kind = name or kind, "Experimental" + kind
            attrs = [a for a in attrs if a[0] in opdef.get(kind).attrs]
        return add(self, kind, name, inputs, attrs, *args, **given)
    monkeypatch.setattr(ours.Graph, "_add", older)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experimental_names(name, tmp_path, monkeypatch, experimental_names):
    """TensorFlow 2 has no kernels for these names, so it judges from the program with today's."""
    test_data_ops(name, tmp_path, monkeypatch)


def test_assertions_with_experimental_names(experimental_names):
    test_assertions_about_transformations()


def test_batches_of_unbounded_size_hold_what_there_is():
    with ours.Graph().as_default(), ours.Session() as sess:
        words = ours.data.Dataset.from_tensor_slices(["a", "b", "c"]).batch(2**31 - 1).make_one_shot_iterator().get_next()
        assert sess.run(words).tolist() == [b"a", b"b", b"c"]


def test_batches_of_large_rows_grow():
    with ours.Graph().as_default(), ours.Session() as sess:
        rows = ours.data.Dataset.range(8).map(lambda i: ours.fill([40 << 20], ours.cast(i, ours.uint8))).batch(9)
        found = sess.run(rows.map(lambda x: ours.stack([x[:, 0], x[:, -1]], 1)).make_one_shot_iterator().get_next())
        assert found.tolist() == [[i, i] for i in range(8)]  # 256 MB have room for six at first
