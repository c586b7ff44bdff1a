"""Data sets as TensorFlow's Python makes them: the same elements in the same order, and the same end."""
import gzip

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

import weftlib

v1 = tf.compat.v1
raw = tf.raw_ops
D = v1.data.Dataset
experimental = tf.data.experimental
PLAIN = v1.ConfigProto()
PLAIN.graph_options.rewrite_options.disable_meta_optimizer = True

PIPELINES = {}


def pipeline(fn):
    """A function that makes a data set."""
    PIPELINES[fn.__name__] = fn
    return fn


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    at = tmp_path_factory.mktemp("data")
    for i in range(3):
        with tf.io.TFRecordWriter(str(at / f"{i}.tfrecord")) as w:
            for j in range(4 + i):
                w.write(b"record %d of %d" % (j, i))
        (at / f"{i}.txt").write_bytes(b"line 0 of %d\r\n\nline 2" % i + (b"" if i else b"\n"))
        (at / f"{i}.bin").write_bytes(b"head" + bytes(range(i, i + 12)) + b"tail!")
        with gzip.open(at / f"{i}.bin.gz", "wb") as f:
            f.write(b"head" + bytes(range(i, i + 12)) + b"tail!")
    with tf.io.TFRecordWriter(str(at / "z.tfrecord"), tf.io.TFRecordOptions(compression_type="ZLIB")) as w:
        w.write(b"compressed")
    return at


def named(files, ending):
    return [str(files / f"{i}{ending}") for i in range(3)]


def weave(files):
    """Numbers, rows and strings: an element of every kind."""
    return D.from_tensor_slices({"n": np.arange(7), "x": np.arange(14, dtype=np.float32).reshape(7, 2),
                                 "s": [b"a", b"bb", b"", b"d", b"e", b"f", b"g"]})


@pipeline
def tensors(files):
    return D.from_tensors((np.arange(3), "word"))


@pipeline
def slices(files):
    return weave(files)


@pipeline
def numbers(files):
    return D.range(2, 20, 3).concatenate(D.range(5, -5, -2)).concatenate(D.range(3, 3))


@pipeline
def other_numbers(files):
    return tf.data.Dataset.range(4, output_type=tf.float32)


@pipeline
def maps(files):
    k = tf.constant(3.0)
    return weave(files).map(lambda e: (e["x"] * k + tf.cast(e["n"], tf.float32), v1.string_join([e["s"], "!"])))


@pipeline
def parallel_maps(files):
    return D.range(50).map(lambda x: (x * x, tf.cast(x, tf.float32) / 2), num_parallel_calls=4)


@pipeline
def batches(files):
    return weave(files).batch(3)


@pipeline
def whole_batches(files):
    return weave(files).batch(3, drop_remainder=True).repeat(2)


@pipeline
def padded_batches(files):
    ragged = D.range(1, 8).map(lambda n: (tf.fill([n], n), tf.fill([2, n], tf.cast(n, tf.float32)), tf.fill([n], "s")))
    return ragged.padded_batch(3, ([None], [3, None], [8]), (tf.constant(-1, tf.int64), .5, "pad"))


@pipeline
def whole_padded_batches(files):
    return D.range(7).map(lambda n: tf.fill([n, 1], n)).padded_batch(2, [None, None], drop_remainder=True)


@pipeline
def unbatched(files):
    return weave(files).batch(4).apply(experimental.unbatch())


@pipeline
def filtered(files):
    return D.range(20).filter(lambda x: tf.equal(x % 3, 1))


@pipeline
def flat(files):
    return D.range(5).flat_map(lambda n: D.range(n).map(lambda i: (n, i)))


@pipeline
def interleaved(files):
    return D.range(1, 8).interleave(lambda n: D.from_tensors(n).repeat(n), cycle_length=3, block_length=2)


@pipeline
def interleaved_shorter(files):
    return D.range(6).interleave(lambda n: D.from_tensors(n).repeat(3 - n % 3), cycle_length=4, block_length=1)


@pipeline
def interleaved_in_parallel(files):
    return D.range(1, 8).interleave(lambda n: D.from_tensors(n).repeat(n % 4), cycle_length=3, block_length=2,
                                    num_parallel_calls=2)


@pipeline
def interleaved_of_old(files):
    return D.range(1, 8).apply(experimental.parallel_interleave(
        lambda n: D.from_tensors(n).repeat(n % 4 + 1), cycle_length=3, block_length=2))


@pipeline
def repeated(files):
    return D.range(3).repeat(2).concatenate(D.range(2).repeat(0)).concatenate(D.range(0).repeat())


@pipeline
def taken(files):
    return D.range(10).skip(2).take(5).concatenate(D.range(3).take(-1)).concatenate(D.range(3).skip(-1)).concatenate(
        D.range(3).skip(5))


@pipeline
def sharded(files):
    return D.range(10).shard(3, 1).concatenate(D.range(11).shard(4, 3)).concatenate(D.range(2).shard(3, 2))


@pipeline
def zipped(files):
    return D.zip((D.range(5), (D.range(3, 20), weave(files).map(lambda e: e["s"]))))


@pipeline
def prefetched(files):
    return D.range(30).map(lambda x: x + 1).prefetch(4).prefetch(0).prefetch(tf.data.AUTOTUNE)


@pipeline
def cached(files):
    return D.range(5).map(lambda x: tf.cast(x, tf.float32) + v1.random_uniform([], seed=3)).cache().repeat(3)


@pipeline
def random_maps(files):
    return D.range(4).map(lambda x: v1.random_uniform([], seed=3)).repeat(2)


@pipeline
def shuffled(files):
    return D.range(30).shuffle(7, seed=11).repeat(3)


@pipeline
def shuffled_wholly(files):
    return weave(files).shuffle(100, seed=5).repeat(2)


@pipeline
def shuffled_once(files):
    return D.range(20).shuffle(5, seed=2, reshuffle_each_iteration=False).repeat(2)


@pipeline
def shuffled_by_the_graphs_seed(files):
    return D.range(20).shuffle(8).shuffle(3)


@pipeline
def shuffled_and_repeated(files):
    return D.range(11).apply(experimental.shuffle_and_repeat(4, 3, seed=9))


@pipeline
def mapped_and_batched(files):
    return weave(files).apply(experimental.map_and_batch(lambda e: (e["x"] * 2, e["s"]), 3, num_parallel_calls=2))


@pipeline
def scanned(files):
    return D.range(6).apply(experimental.scan(tf.constant(1, tf.int64), lambda s, x: (s + x, (s, s * x))))


@pipeline
def taken_while(files):
    return D.range(9).apply(experimental.take_while(lambda x: x * x < 20))


@pipeline
def grouped(files):
    k = tf.constant(2, tf.int64)
    return D.range(11).apply(experimental.group_by_window(
        lambda x: (x * x) % 3, lambda key, group: group.map(lambda v: (key, v * k)), window_size_func=lambda key: key + 2))


@pipeline
def bucketed(files):
    return D.range(1, 10).map(lambda n: tf.fill([n], n)).apply(experimental.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 6], [2, 2, 3]))


@pipeline
def failures_ignored(files):
    return D.range(6).map(lambda x: tf.gather([1, 2, 3], 5 - x)).apply(experimental.ignore_errors())


@pipeline
def records(files):
    return v1.data.TFRecordDataset(named(files, ".tfrecord"))


@pipeline
def records_in_parallel(files):
    return v1.data.TFRecordDataset(named(files, ".tfrecord"), num_parallel_reads=2)


@pipeline
def compressed_records(files):
    return v1.data.TFRecordDataset(str(files / "z.tfrecord"), compression_type="ZLIB")


@pipeline
def lines(files):
    return v1.data.TextLineDataset(named(files, ".txt")).skip(1)


@pipeline
def fixed(files):
    return v1.data.FixedLengthRecordDataset(named(files, ".bin"), 4, header_bytes=4, footer_bytes=5)


@pipeline
def compressed_fixed(files):
    return v1.data.FixedLengthRecordDataset(named(files, ".bin.gz"), 4, header_bytes=4, footer_bytes=5,
                                            compression_type="GZIP")


@pipeline
def listed(files):
    return D.list_files(str(files / "*.txt"), shuffle=False).concatenate(
        D.list_files(str(files / "*.bin"), shuffle=True, seed=4)).interleave(
            lambda f: v1.data.TextLineDataset(f).take(1), cycle_length=1)


@pipeline
def windows(files):
    many = [D.range(7).window(*a).flat_map(lambda w: w.batch(10))
            for a in ((3,), (3, 2), (3, 1, 2), (3, 4), (3, 2, 1, True), (3, None, 2, True), (4, 1, 3))]
    joined = many[0]
    for more in many[1:]:
        joined = joined.concatenate(more)
    return joined


@pipeline
def windows_of_pairs(files):
    pairs = D.zip((D.range(5), D.range(5).map(lambda x: x * 10)))
    return pairs.window(2).flat_map(lambda a, b: D.zip((a.batch(3), b.batch(3))))


@pipeline
def with_options(files):
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return D.range(5).with_options(options).map(lambda x: x + 1)


@pipeline
def with_control_flow(files):
    return D.range(6).map(lambda n: v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i * 2),
                                                  [tf.constant(0, tf.int64), n])[1])


def wrapped(variant, like):
    """A data set of raw ops that has the elements of another."""
    return _Variant(variant, like)


class _Variant(v1.data.Dataset):
    def __init__(self, variant, like):
        self._variant, self._like = variant, like
        super().__init__()

    def _inputs(self):
        return []

    def _as_variant_tensor(self):
        return self._variant

    @property
    def element_spec(self):
        return self._like.element_spec


def outputs(d):
    return dict(output_types=tf.nest.flatten(v1.data.get_output_types(d)),
                output_shapes=tf.nest.flatten(v1.data.get_output_shapes(d)))


def same(op, **given):
    """An op that changes nothing, between two that do."""
    def build(files):
        d = D.range(7).map(lambda x: x * 2)
        return wrapped(op(input_dataset=d._variant_tensor, **given, **outputs(d)), d)
    return build


PIPELINES["model"] = same(raw.ModelDataset)
PIPELINES["optimize"] = same(raw.OptimizeDataset, optimizations=np.array([], dtype=object))
PIPELINES["optimize_v2"] = same(raw.OptimizeDatasetV2, optimizations_enabled=[], optimizations_disabled=[],
                                optimizations_default=[])
PIPELINES["finalize"] = same(raw.FinalizeDataset)
PIPELINES["intra_op"] = same(raw.MaxIntraOpParallelismDataset, max_intra_op_parallelism=1)
PIPELINES["thread_pool"] = same(raw.PrivateThreadPoolDataset, num_threads=1)
PIPELINES["non_serializable"] = same(raw.NonSerializableDataset)
PIPELINES["cardinality"] = same(raw.AssertCardinalityDataset, cardinality=7)
PIPELINES["shuffle_v3"] = lambda files: _raw_of(raw.ShuffleDatasetV3, buffer_size=4, seed=1, seed2=2,
                                                seed_generator=raw.DummySeedGenerator())
PIPELINES["shuffle_and_repeat_v2"] = lambda files: _raw_of(
    raw.ShuffleAndRepeatDatasetV2, buffer_size=4, seed=1, seed2=2, count=2, seed_generator=raw.DummySeedGenerator())
PIPELINES["cache_v2"] = lambda files: _raw_of(raw.CacheDatasetV2, filename="", cache=raw.DummyMemoryCache())
PIPELINES["parallel_batch"] = lambda files: _raw_of(raw.ParallelBatchDataset, like=[None], batch_size=3,
                                                    num_parallel_calls=2, drop_remainder=False)
PIPELINES["experimental_unbatch"] = lambda files: _raw_of(raw.ExperimentalUnbatchDataset, D.range(5).batch(2), like=[])


def _raw_of(op, d=None, like=None, **given):
    d = d or D.range(9)
    like = d if like is None else D.range(1).map(lambda x: v1.placeholder_with_default(
        tf.zeros([1] * len(like), tf.int64), like))
    return wrapped(op(input_dataset=d._variant_tensor, **given, **outputs(like)), like)


def function(fn, *specs):
    f = tf.function(fn).get_concrete_function(*specs)
    f.add_to_graph()
    return f


NUMBER = tf.TensorSpec([], tf.int64)


def with_function(op, fn, key="f", types=(tf.int64,), shapes=((),), **given):
    d = D.range(6)
    like = D.range(1) if types == (tf.int64,) and shapes == ((),) else D.range(1).batch(1)
    return wrapped(op(input_dataset=d._variant_tensor, other_arguments=[], output_types=list(types),
                      output_shapes=[list(s) for s in shapes], **{key: function(fn, NUMBER)}, **given), like)


def inner(x):
    return D.from_tensors(x).repeat(x % 3)._variant_tensor


PIPELINES["parallel_map_v1"] = lambda files: with_function(raw.ParallelMapDataset, lambda x: x + 1, num_parallel_calls=2)
PIPELINES["experimental_map_and_batch"] = lambda files: with_function(
    raw.ExperimentalMapAndBatchDataset, lambda x: x + 1, shapes=((None,),), batch_size=4, num_parallel_calls=2,
    drop_remainder=False)
PIPELINES["parallel_interleave_v2"] = lambda files: with_function(
    raw.ParallelInterleaveDatasetV2, inner, cycle_length=2, block_length=2, num_parallel_calls=2)
PIPELINES["parallel_interleave_v3"] = lambda files: with_function(
    raw.ParallelInterleaveDatasetV3, inner, cycle_length=2, block_length=1, num_parallel_calls=2)
PIPELINES["experimental_parallel_interleave"] = lambda files: with_function(
    raw.ExperimentalParallelInterleaveDataset, inner, cycle_length=2, block_length=1, sloppy=False,
    buffer_output_elements=1, prefetch_input_elements=1)
PIPELINES["parallel_interleave_v1"] = lambda files: with_function(
    raw.ParallelInterleaveDataset, inner, cycle_length=3, block_length=1, sloppy=False, buffer_output_elements=1,
    prefetch_input_elements=1)


@pipeline
def wrapped_variant(files):
    d = D.range(4)
    return wrapped(raw.UnwrapDatasetVariant(input_handle=raw.WrapDatasetVariant(input_handle=d._variant_tensor)), d)


@pipeline
def comma_separated(files):
    at = files / "rows.csv"
    at.write_text('a,b,c\n1,"x, y",2.5\n,z,\n3,,4\n')
    given = dict(filenames=[str(at)], compression_type="", buffer_size=64, header=True, field_delim=",", use_quote_delim=True,
                 na_value="", record_defaults=[tf.constant([9], tf.int64), tf.constant(["w"]), tf.constant([.5])],
                 output_shapes=[[], [], []], select_cols=tf.constant([], tf.int64))
    like = D.from_tensors((tf.constant(1, tf.int64), "s", 1.))
    return wrapped(raw.CSVDataset(**given), like).concatenate(
        wrapped(raw.CSVDatasetV2(exclude_cols=tf.constant([], tf.int64), **given), like))


@pipeline
def counted(files):
    return D.from_tensors(tf.stack([d.cardinality() for d in (D.range(7).batch(2), D.range(3).repeat(), D.range(3).filter(
        lambda x: x > 1))]))


@pipeline
def directed(files):
    which = D.from_tensor_slices(np.array([0, 1, 1, 0, 1, 0, 0, 0]))
    return experimental.choose_from_datasets([D.range(3), D.range(10, 15)], which)


@pipeline
def reduced_by_key(files):
    sums = experimental.Reducer(lambda key: (tf.constant(0, tf.int64), key), lambda s, x: (s[0] + x, s[1]), lambda n, key: (key, n))
    return D.range(10).apply(experimental.group_by_reducer(lambda x: x % 3, sums))


@pipeline
def random_numbers(files):
    return D.random(seed=5).take(6)


@pipeline
def distinct(files):
    return D.from_tensor_slices(["b", "a", "b", "c", "a"]).unique()


PIPELINES["random_v1"] = lambda files: wrapped(raw.RandomDataset(seed=3, seed2=4, output_types=[tf.int64], output_shapes=[[]]),
                                               D.range(1)).take(5)
PIPELINES["random_v2"] = lambda files: wrapped(raw.RandomDatasetV2(
    seed=3, seed2=4, seed_generator=raw.DummySeedGenerator(), output_types=[tf.int64], output_shapes=[[]]), D.range(1)).take(5)
PIPELINES["rewrite"] = same(raw.RewriteDataset, rewrite_name="")
PIPELINES["shared_threads"] = lambda files: _raw_of(raw.ThreadPoolDataset, thread_pool=raw.ThreadPoolHandle(
    num_threads=2, display_name="threads"))
# One element, since TensorFlow draws the order of several from the generator's own seed.
PIPELINES["shuffle_v2"] = lambda files: _raw_of(raw.ShuffleDatasetV2, D.range(1), buffer_size=4,
                                                seed_generator=raw.DummySeedGenerator())


# ---- ops that TensorFlow's Python no longer makes, and what they do: its rewriting of graphs trips over them ----

def older_batch(files):
    return _raw_of(raw.BatchDataset, like=[None], batch_size=4), D.range(9).batch(4)


def older_padded_batch(files):
    d = D.range(5).map(lambda n: tf.fill([n], n))
    old = raw.PaddedBatchDataset(input_dataset=d._variant_tensor, batch_size=2, output_shapes=[[None, None]],
                                 padded_shapes=[tf.constant([-1], tf.int64)], padding_values=[tf.constant(7, tf.int64)])
    new = d.padded_batch(2, [None], tf.constant(7, tf.int64))
    return wrapped(old, new), new


def records_from_offsets(files):
    names = named(files, ".tfrecord")
    new = v1.data.TFRecordDataset(names[:1]).skip(1).concatenate(v1.data.TFRecordDataset(names[1:]))
    old = raw.TFRecordDatasetV2(filenames=names, compression_type="", buffer_size=100,
                                byte_offsets=tf.constant([16 + len(b"record 0 of 0"), 0, 0], tf.int64))
    return wrapped(old, new), new


def older_fixed(files):
    names = named(files, ".bin")
    new = v1.data.FixedLengthRecordDataset(names, 6, header_bytes=4, footer_bytes=5)
    return wrapped(raw.FixedLengthRecordDataset(filenames=names, header_bytes=4, record_bytes=6, footer_bytes=5,
                                                buffer_size=100), new), new


def parallel_filter(files):
    """TensorFlow cannot write this op down again when its function takes nothing but the element."""
    return (with_function(raw.ParallelFilterDataset, lambda x: x % 2 > 0, key="predicate", num_parallel_calls=2),
            D.range(6).filter(lambda x: x % 2 > 0))


@pytest.mark.parametrize("build", [older_batch, older_padded_batch, records_from_offsets, older_fixed, parallel_filter])
def test_older_ops(build, files):
    graph = tf.Graph()
    with graph.as_default():
        its = [v1.data.make_initializable_iterator(d) for d in build(files)]
        old, new = [[t.name for t in tf.nest.flatten(it.get_next())] for it in its]
        inits = [it.initializer.name for it in its]
    theirs, ours = sessions(graph)
    theirs.run(inits[1])
    ours.run(targets=inits)
    want = elements(lambda: theirs.run(new))[0]
    assert_same(want, elements(lambda: ours.run(old))[0])
    assert_same(want, elements(lambda: ours.run(new))[0])
    theirs.close()


# ---- running them ----

def elements(run, limit=200):
    """What a run gives until the end of the sequence, and the code it ends with."""
    out = []
    for _ in range(limit):
        try:
            out.append(run())
        except weftlib.Error as e:
            return out, e.code, e.message
        except tf.errors.OpError as e:
            return out, e.error_code, e.message
    return out, 0, ""


def assert_same(wants, gots):
    assert len(wants) == len(gots)
    for want, got in zip(wants, gots):
        for w, g in zip(want, got):
            assert np.shape(w) == np.shape(g)
            if np.asarray(w).dtype.kind in "OS":
                assert np.asarray(w, dtype=object).ravel().tolist() == g.ravel().tolist()
            else:
                np.testing.assert_allclose(g, w, rtol=1e-6)


def sessions(graph, threads=2):
    return v1.Session(graph=graph, config=PLAIN), weftlib.Session(weftlib.Graph(graph.as_graph_def()), inter=threads)


@pytest.mark.parametrize("name", PIPELINES)
def test_same_elements(name, files):
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(42)
        it = v1.data.make_initializable_iterator(PIPELINES[name](files))
        fetches = [t.name for t in tf.nest.flatten(it.get_next())]
        init = it.initializer.name
    theirs, ours = sessions(graph)
    for _ in range(2):  # initialized again it begins again
        theirs.run(init)
        ours.run(targets=[init])
        want, code, _ = elements(lambda: theirs.run(fetches))
        got, our_code, message = elements(lambda: ours.run(fetches))
        assert_same(want, got)
        assert (code, our_code) == (11, 11) and "End of sequence" in message
    theirs.close()


EXPERIMENTS = ("comma_separated", "counted", "directed", "failures_ignored", "grouped", "intra_op", "maps", "non_serializable",
               "random_v1", "reduced_by_key", "scanned", "shared_threads", "taken_while", "thread_pool", "distinct")


def with_experimental_names(graph_def):
    """The graph with the names that its ops had while they were experiments (TensorFlow still makes one such op, which
    gets its later name), and how many have changed."""
    out, changed = type(graph_def).FromString(graph_def.SerializeToString()), 0
    known = {o["name"] for o in weftlib.ops()}
    for nodes in [out.node] + [f.node_def for f in out.library.function]:
        for node in nodes:
            old = node.op.removeprefix("Experimental") if node.op.startswith("Experimental") else "Experimental" + node.op
            if old in known:
                node.op, changed = old, changed + 1
                attrs = {a.name for a in op_def_registry.get(old).attr} if op_def_registry.get(old) else set(node.attr) - {"metadata"}
                for attr in set(node.attr) - attrs:
                    del node.attr[attr]
    return out, changed


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experimental_names(name, files):
    """TensorFlow 2 has no kernels for these names, so it judges from the graph with today's."""
    graph = tf.Graph()
    with graph.as_default():
        it = v1.data.make_initializable_iterator(PIPELINES[name](files))
        fetches, init = [t.name for t in tf.nest.flatten(it.get_next())], it.initializer.name
    older, changed = with_experimental_names(graph.as_graph_def())
    assert changed
    theirs, ours = v1.Session(graph=graph, config=PLAIN), weftlib.Session(weftlib.Graph(older))
    theirs.run(init)
    ours.run(targets=[init])
    assert_same(elements(lambda: theirs.run(fetches))[0], elements(lambda: ours.run(fetches))[0])
    theirs.close()


def test_positions_and_optional_elements():
    """An iterator's position is saved and taken up again; the end of a sequence is an optional without a value."""
    graph = tf.Graph()
    with graph.as_default():
        it = v1.data.make_initializable_iterator(D.range(3).map(lambda x: x * 10))
        fetch, init = it.get_next().name, it.initializer.name
        position = raw.SerializeIterator(resource_handle=it._iterator_resource)
        back = raw.DeserializeIterator(resource_handle=it._iterator_resource, serialized=position).name
        maybe = raw.IteratorGetNextAsOptional(iterator=it._iterator_resource, output_types=[tf.int64], output_shapes=[[]])
        there = raw.OptionalHasValue(optional=maybe).name
        counter = raw.DummyIterationCounter().op.name
    theirs, ours = sessions(graph)
    seen = []
    for run in (lambda n: theirs.run(n), lambda n: ours.run([n])[0] if ":" in n else ours.run(targets=[n])):
        run(init)
        run(counter)
        seen.append([int(run(fetch)), run(back), int(run(fetch)), bool(run(there)), bool(run(there))])
    assert [v for v in seen[0] if v is not None] == [v for v in seen[1] if v not in (None, [])] == [0, 10, True, False]
    theirs.close()


@pytest.mark.parametrize("name", ["slices", "maps", "shuffled", "records", "prefetched", "flat", "mapped_and_batched"])
def test_one_shot(name, files):
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(42)
        fetches = [t.name for t in tf.nest.flatten(v1.data.make_one_shot_iterator(PIPELINES[name](files)).get_next())]
    theirs, ours = sessions(graph)
    want, _, _ = elements(lambda: theirs.run(fetches))
    got, code, message = elements(lambda: ours.run(fetches))
    assert_same(want, got)
    assert code == 11 and "End of sequence" in message
    theirs.close()


def test_iterators_by_structure_and_by_name():
    graph = tf.Graph()
    with graph.as_default():
        a, b = D.range(9), D.range(10, 22).map(lambda x: x * 2)
        it = v1.data.Iterator.from_structure(v1.data.get_output_types(a), v1.data.get_output_shapes(a))
        inits = [it.make_initializer(a).name, it.make_initializer(b).name]
        other = v1.data.make_initializable_iterator(b, shared_name="other")
        handles = [it.string_handle().name, other.string_handle().name]
        which = v1.placeholder(tf.string, [])
        fed = v1.data.Iterator.from_string_handle(which, tf.int64, []).get_next().name
        again = raw.IteratorGetNextSync(iterator=raw.IteratorFromStringHandle(string_handle=which),
                                        output_types=[tf.int64], output_shapes=[[]])[0].name
        plain, reset = it.get_next().name, other.initializer.name
    theirs, ours = sessions(graph)
    for s, init in ((theirs, lambda n: theirs.run(n)), (ours, lambda n: ours.run(targets=[n]))):
        init(reset)
        init(inits[0])
    names = theirs.run(handles), [h[()] for h in ours.run(handles)]
    for i in (0, 1, 0, 1, 1):
        for fetch in (fed, again):
            want = theirs.run(fetch, {which.name: names[0][i]})
            assert ours.run([fetch], {which.name: names[1][i]})[0] == want
    theirs.run(inits[1])
    ours.run(targets=[inits[1]])
    assert elements(lambda: theirs.run(plain))[0] == [int(v[0]) for v in elements(lambda: ours.run([plain]))[0]]
    with pytest.raises(weftlib.Error, match="INVALID_ARGUMENT"):
        ours.run([fed], {which.name: "no handle"})
    theirs.close()


def test_one_value_of_many():
    graph = tf.Graph()
    with graph.as_default():
        fetches = [D.range(5).reduce(np.int64(1), lambda s, x: s + x * x).name,
                   experimental.get_single_element(D.range(3).batch(3)).name]
        empty = experimental.get_single_element(D.range(0)).name
        many = experimental.get_single_element(D.range(2)).name
        old = raw.IteratorGetNext(iterator=raw.Iterator(shared_name="x", container="", output_types=[tf.int64],
                                                        output_shapes=[[]]),
                                  output_types=[tf.int64], output_shapes=[[]])[0].name
    theirs, ours = sessions(graph)
    assert_same([theirs.run(fetches)], [ours.run(fetches)])
    for fetch in (empty, many, old):
        _, want, _ = elements(lambda: theirs.run(fetch), 1)
        _, got, _ = elements(lambda: ours.run([fetch]), 1)
        assert got == want != 0
    theirs.close()


WRONG = {
    "batches of unequal shapes": lambda: D.range(5).map(lambda n: tf.fill([n], n)).batch(2),
    "a file that is not there": lambda: v1.data.TFRecordDataset("/no/such/file"),
    "a function that fails": lambda: D.range(4).map(lambda n: tf.gather([1, 2], n)),
    "a function that fails ahead of time": lambda: D.range(4).map(lambda n: tf.gather([1, 2], n), num_parallel_calls=3),
    "a function that fails before it is asked": lambda: D.range(4).map(lambda n: tf.gather([1, 2], n)).prefetch(2),
    "no batch size": lambda: D.range(4).batch(v1.placeholder_with_default(tf.constant(0, tf.int64), [])),
    "no such shard": lambda: D.range(4).shard(3, v1.placeholder_with_default(tf.constant(4, tf.int64), [])),
    "rows of unequal number": lambda: D.from_tensor_slices((v1.placeholder_with_default(tf.zeros([2]), [None]),
                                                            v1.placeholder_with_default(tf.zeros([3]), [None]))),
}


@pytest.mark.parametrize("what", WRONG)
def test_same_errors(what):
    graph = tf.Graph()
    with graph.as_default():
        it = v1.data.make_initializable_iterator(WRONG[what]())
        fetches, init = [t.name for t in tf.nest.flatten(it.get_next())], it.initializer.name
    theirs, ours = sessions(graph)

    def course(start, run):
        """Codes and values of some runs: an element that failed is passed over."""
        _, code, _ = elements(start, 1)
        return [code] + [(c, [np.asarray(v[0]).tolist() for v in got])
                         for got, c, _ in (elements(run, 1) for _ in range(6))]
    want = course(lambda: theirs.run(init), lambda: theirs.run(fetches))
    got = course(lambda: ours.run(targets=[init]), lambda: ours.run(fetches))
    assert got == want
    theirs.close()


def test_a_wait_for_an_element_ends_at_its_deadline():
    graph = tf.Graph()
    with graph.as_default():
        forever = D.range(1).repeat().filter(lambda x: x > 0).prefetch(1)
        it = v1.data.make_initializable_iterator(forever)
        fetch, init = it.get_next().name, it.initializer.name
    ours = weftlib.Session(weftlib.Graph(graph.as_graph_def()))
    ours.run(targets=[init])
    with pytest.raises(weftlib.Error, match="DEADLINE"):
        ours.run([fetch], timeout_ms=200)
    ours.close()  # stops the thread that works ahead


def test_generator():
    """Its functions are the program's: here they are PyFuncs of TensorFlow's, so the graph is only looked at."""
    graph = tf.Graph()
    with graph.as_default():
        types = dict(output_types=[tf.int64], output_shapes=[[]])
        state = function(lambda: tf.constant(5, tf.int64))
        step = function(lambda s: raw.IteratorGetNext(iterator=raw.OneShotIterator(
            dataset_factory=function(lambda: D.range(4)._variant_tensor), **types), **types)[0] * s, NUMBER)
        last = function(lambda s: s, NUMBER)
        d = wrapped(raw.GeneratorDataset(
            init_func_other_args=[], next_func_other_args=[], finalize_func_other_args=[], init_func=state,
            next_func=step, finalize_func=last, **types), D.range(1))
        it = v1.data.make_initializable_iterator(d)
        fetch, init = it.get_next().name, it.initializer.name
    theirs, ours = sessions(graph)
    theirs.run(init)
    ours.run(targets=[init])
    assert_same(elements(lambda: theirs.run([fetch]))[0], elements(lambda: ours.run([fetch]))[0])
    theirs.close()
