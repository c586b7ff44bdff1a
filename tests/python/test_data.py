"""tf.data in Python: the same elements as TensorFlow's from the same program, one-shot and initialized."""
import collections
import signal
import subprocess
import sys

import numpy as np
import pytest

import scripts
from both import compare, oracle, weft as ours

BOTH = (ours, oracle)
PIPELINES = {}
Pair = collections.namedtuple("Pair", "a b")


def pipeline(fn):
    PIPELINES[fn.__name__] = fn
    return fn


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    at = tmp_path_factory.mktemp("data")
    for i in range(2):
        (at / f"{i}.txt").write_text(f"{i},a\n{i + 10},b\n")
        with oracle.python_io.TFRecordWriter(str(at / f"{i}.tfrecord")) as w:
            for j in range(5):
                w.write(oracle.train.Example(features=oracle.train.Features(feature={
                    "x": oracle.train.Feature(float_list=oracle.train.FloatList(value=[i, j])),
                    "y": oracle.train.Feature(int64_list=oracle.train.Int64List(value=[j]))})).SerializeToString())
        (at / f"{i}.bin").write_bytes(bytes(range(6)))
    return at


@pipeline
def slices_of_a_tuple(tf, files):
    return tf.data.Dataset.from_tensor_slices((np.arange(5), [b"a", b"b", b"c", b"d", b"e"])).batch(2)


@pipeline
def slices_of_a_dict(tf, files):
    return tf.data.Dataset.from_tensor_slices({"b": np.arange(4.), "a": (np.arange(4), np.eye(4, dtype=np.float32))}).map(
        lambda e: {"sum": e["b"] + 1, "row": e["a"][1] * 2.0})


@pipeline
def lists(tf, files):
    return tf.data.Dataset.from_tensors([1, 2, 3]).map(lambda x: [x, x + 1]).map(lambda x, y: (x, [[y, x], [x, x]][0]))


@pipeline
def named_tuples(tf, files):
    return tf.data.Dataset.range(3).map(lambda x: Pair(x, (x + 1, x * x)))


@pipeline
def captures(tf, files):
    scale, shift = tf.constant(3, tf.int64), tf.constant([1, 2], tf.int64)
    return tf.data.Dataset.range(4).map(lambda x: x * scale + shift).flat_map(
        lambda v: tf.data.Dataset.from_tensor_slices(v).map(lambda x: (x, v * scale)))


@pipeline
def long_chain(tf, files):
    return tf.data.Dataset.range(40).filter(lambda x: tf.equal(x % 2, 0)).map(
        lambda x: tf.cast(x, tf.float32), num_parallel_calls=3).shuffle(7, seed=3).repeat(2).batch(
            6, drop_remainder=True).prefetch(2)


@pipeline
def seeds_of_the_graph(tf, files):
    return tf.data.Dataset.range(20).shuffle(20).repeat(2)


@pipeline
def conditions_and_loops(tf, files):
    return tf.data.Dataset.range(6).map(lambda n: tf.cond(n > 2, lambda: n * 10, lambda: tf.while_loop(
        lambda i: i < 5, lambda i: i + 2, [n])))


@pipeline
def padded(tf, files):
    return tf.data.Dataset.range(1, 6).map(lambda n: (tf.fill([n], n), tf.fill([n], "x"))).padded_batch(
        2, padded_shapes=([None], [6]), padding_values=(np.int64(-1), "-"))


@pipeline
def padded_by_default(tf, files):
    return tf.data.Dataset.range(4).map(lambda n: {"v": tf.fill([n, 2], tf.cast(n, tf.float32))}).padded_batch(
        3, padded_shapes={"v": [-1, 2]})


@pipeline
def zipped(tf, files):
    a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 20)
    return tf.data.Dataset.zip((a, {"x": b, "y": tf.data.Dataset.zip((b, a))}))


@pipeline
def in_order(tf, files):
    d = tf.data.Dataset.range(10)
    return d.shard(3, 1).concatenate(d.skip(7)).concatenate(d.take(2)).cache().repeat(2)


@pipeline
def interleaved(tf, files):
    return tf.data.Dataset.range(1, 5).interleave(
        lambda n: tf.data.Dataset.from_tensors(n).repeat(n), cycle_length=2, block_length=2)


@pipeline
def transformations(tf, files):
    e = tf.data.experimental
    return tf.data.Dataset.range(9).apply(e.shuffle_and_repeat(4, 2, seed=8)).apply(
        e.map_and_batch(lambda x: (x, x * 2), 4)).apply(e.unbatch()).apply(
            e.parallel_interleave(lambda a, b: tf.data.Dataset.from_tensors(a + b), cycle_length=2))


@pipeline
def generators(tf, files):
    def numbers(n):
        for i in range(n):
            yield i, [i] * i
    return tf.data.Dataset.from_generator(numbers, (tf.int64, tf.float32), ([], [None]), args=(5,)).repeat(2)


@pipeline
def generator_of_dicts(tf, files):
    return tf.data.Dataset.from_generator(lambda: iter([{"a": b"x", "b": 1}, {"a": b"", "b": 2}]),
                                          {"a": tf.string, "b": tf.int32})


@pipeline
def functions_of_the_program(tf, files):
    return tf.data.Dataset.range(5).map(lambda x: tf.py_func(lambda v: v * v, [x], tf.int64), num_parallel_calls=2)


@pipeline
def records(tf, files):
    def parse(record):
        e = tf.parse_single_example(record, {"x": tf.FixedLenFeature([2], tf.float32),
                                             "y": tf.FixedLenFeature([], tf.int64)})
        return e["x"], e["y"]
    return tf.data.TFRecordDataset([str(files / f"{i}.tfrecord") for i in range(2)]).map(parse).batch(3)


@pipeline
def records_of_listed_files(tf, files):
    names = tf.data.Dataset.list_files(str(files / "*.tfrecord"), shuffle=False)
    return tf.data.TFRecordDataset(names).map(lambda r: tf.parse_single_example(
        r, {"y": tf.FixedLenFeature([], tf.int64)}))


@pipeline
def records_in_parallel(tf, files):
    return tf.data.TFRecordDataset([str(files / f"{i}.tfrecord") for i in range(2)], num_parallel_reads=2)


@pipeline
def lines(tf, files):
    return tf.data.TextLineDataset([str(files / f"{i}.txt") for i in range(2)]).skip(1).map(
        lambda line: tuple(tf.decode_csv(line, [[0], [""]])))


@pipeline
def fixed(tf, files):
    return tf.data.FixedLengthRecordDataset(str(files / "0.bin"), 2, 1, 1).map(lambda r: tf.decode_raw(r, tf.uint8))


@pipeline
def grouped(tf, files):
    shift = tf.constant(1, tf.int64)
    return tf.data.Dataset.range(11).map(lambda x: (x, tf.fill([x % 4], x))).apply(tf.data.experimental.group_by_window(
        lambda x, _: x % 2 + shift, lambda key, group: group.padded_batch(3, ([], [None])), window_size=3))


@pipeline
def bucketed(tf, files):
    return tf.data.Dataset.range(1, 10).map(lambda n: {"v": tf.fill([n], n)}).apply(
        tf.data.experimental.bucket_by_sequence_length(lambda e: tf.shape(e["v"])[0], [3, 6], [2, 2, 3],
                                                       padded_shapes={"v": [None]})).apply(
            tf.data.experimental.ignore_errors())


@pipeline
def numbered(tf, files):
    return tf.data.Dataset.range(5, 9).apply(tf.data.experimental.enumerate_dataset(3)).apply(
        tf.data.experimental.scan(np.int64(0), lambda s, e: (s + e[1], (s, e[0]))))


def elements(tf, fetch, sess):
    out = []
    while True:
        try:
            out.append(sess.run(fetch))
        except tf.errors.OutOfRangeError as e:
            assert "End of sequence" in str(e)
            return out


def walk(tf, name, files, once):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(7)
        d = PIPELINES[name](tf, files)
        types, shapes = tf.data.get_output_types(d), tf.data.get_output_shapes(d)
        it = tf.data.make_one_shot_iterator(d) if once else tf.data.make_initializable_iterator(d)
        fetch = it.get_next()
        out = []
        for _ in range(1 if once else 2):
            if not once:
                sess.run(it.initializer)
            out.append(elements(tf, fetch, sess))
        return out, tf.nest.flatten(types), [s.as_list() if s.ndims is not None else None
                                             for s in flat_shapes(shapes)]


def flat_shapes(x):
    if isinstance(x, dict):
        return [s for k in sorted(x) for s in flat_shapes(x[k])]
    if isinstance(x, tuple):
        return [s for v in x for s in flat_shapes(v)]
    return [x]


@pipeline
def caches_of_data_sets_that_a_function_makes(tf, files):
    """Each has its own, also where the next data set is made at the address of the last one."""
    return tf.data.Dataset.range(200).flat_map(lambda i: tf.data.Dataset.from_tensors(i).cache().repeat(2))


@pytest.mark.parametrize("name", PIPELINES)
def test_same_elements(name, files):
    got, want = (walk(tf, name, files, False) for tf in BOTH)
    compare(got[0], want[0])
    assert [t.name for t in got[1]] == [t.name for t in want[1]]
    assert got[2] == want[2]


@pytest.mark.parametrize("name", ["captures", "long_chain", "generators", "functions_of_the_program", "records"])
def test_same_elements_in_one_shot(name, files):
    got, want = (walk(tf, name, files, True) for tf in BOTH)
    compare(got[0], want[0])


def reinitialized(tf):
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.data.Dataset.range(3).map(lambda x: x * 2)
        b = tf.data.Dataset.range(5, 7)
        it = tf.data.Iterator.from_structure(a.output_types, a.output_shapes)
        first, second, fetch = it.make_initializer(a), it.make_initializer(b, name="second"), it.get_next()
        handle = tf.placeholder(tf.string, [])
        fed = tf.data.Iterator.from_string_handle(handle, a.output_types, a.output_shapes).get_next()
        one = b.make_one_shot_iterator()
        strings = sess.run([it.string_handle(), one.string_handle()])
        out = []
        for init in (first, second, first):
            sess.run(init)
            out.append(elements(tf, fetch, sess))
        sess.run(second)
        for i in (0, 1, 0, 1):
            out.append(sess.run(fed, {handle: strings[i]}))
        return out


def test_iterators_set_again_and_fed():
    assert reinitialized(ours) == reinitialized(oracle)


def placeholders(tf):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2])
        it = tf.data.Dataset.from_tensor_slices(x).map(lambda r: r * 2).batch(2).make_initializable_iterator()
        y = tf.reduce_sum(it.get_next()) * 3
        out = []
        for n in (3, 5):
            sess.run(it.initializer, {x: np.ones((n, 2), np.float32)})
            out.append(elements(tf, y, sess))
        with pytest.raises(ValueError, match="Cannot capture a placeholder"):
            tf.data.Dataset.from_tensor_slices(x).make_one_shot_iterator()
        return out


def test_data_that_is_fed():
    assert placeholders(ours) == placeholders(oracle)


def test_values_of_whole_data_sets():
    def values(tf):
        with tf.Graph().as_default(), tf.Session() as sess:
            k = tf.constant(2, tf.int64)
            total = tf.data.Dataset.range(6).reduce((np.int64(1), 0.5), lambda s, x: (s[0] + x * k, s[1] * 2.0))
            return sess.run([total, tf.data.experimental.get_single_element(tf.data.Dataset.range(4).batch(4))])
    compare(values(ours), values(oracle))


def wrong(tf, build, error):
    with tf.Graph().as_default(), pytest.raises(error) as raised:
        build(tf)
    return str(raised.value)


WRONG = {
    "filter by a number": (lambda tf: tf.data.Dataset.range(2).filter(lambda x: x), ValueError),
    "zip of what is none": (lambda tf: tf.data.Dataset.zip((1, 2)), TypeError),
    "two types in a row": (lambda tf: tf.data.Dataset.range(2).concatenate(
        tf.data.Dataset.from_tensors(1.0)), TypeError),
    "no initializer": (lambda tf: tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).initializer, ValueError),
    "rows that differ in number": (lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [1])), ValueError),
    "a generator that is none": (lambda tf: tf.data.Dataset.from_generator([1], tf.int32), TypeError),
    "apply of what makes none": (lambda tf: tf.data.Dataset.range(2).apply(lambda d: 3), TypeError),
}


@pytest.mark.parametrize("what", WRONG)
def test_same_errors(what):
    for tf in BOTH:
        wrong(tf, *WRONG[what])


def test_flat_map_without_a_data_set():
    wrong(ours, lambda tf: tf.data.Dataset.range(2).flat_map(lambda x: x), TypeError)


def test_an_error_in_a_function_names_its_node_and_passes_over_the_element():
    def course(tf):
        with tf.Graph().as_default(), tf.Session() as sess:
            def check(x):
                with tf.control_dependencies([tf.Assert(tf.not_equal(x, 1), ["one is wrong"])]):
                    return tf.identity(x)
            fetch = tf.data.Dataset.range(4).map(check).make_one_shot_iterator().get_next()
            out = [sess.run(fetch)]
            with pytest.raises(tf.errors.InvalidArgumentError, match="one is wrong"):
                sess.run(fetch)
            return out + elements(tf, fetch, sess)
    assert course(ours) == course(oracle) == [0, 2, 3]


def test_a_generator_that_fails_says_how():
    def bad():
        yield 1
        raise RuntimeError("the disk is gone")
    with ours.Graph().as_default(), ours.Session() as sess:
        fetch = ours.data.Dataset.from_generator(bad, ours.int64, []).prefetch(1).make_one_shot_iterator().get_next()
        assert sess.run(fetch) == 1
        with pytest.raises(ours.errors.UnknownError, match="the disk is gone"):
            sess.run(fetch)


def test_old_names_of_contrib():
    with ours.Graph().as_default(), ours.Session() as sess:
        d = ours.contrib.data.Dataset.range(5).map(lambda x: x + 1, num_threads=2, output_buffer_size=3).apply(
            ours.contrib.data.batch_and_drop_remainder(2))
        fetch = ours.contrib.data.Iterator.from_structure(d.output_types, d.output_shapes)
        sess.run(fetch.make_initializer(d))
        compare(elements(ours, fetch.get_next(), sess), [np.array([1, 2]), np.array([3, 4])])


def test_a_session_that_ends_in_the_middle_stops_what_works_ahead():
    def forever():
        while True:
            yield 1
    with ours.Graph().as_default():
        d = ours.data.Dataset.from_generator(forever, ours.int64, []).map(lambda x: x, num_parallel_calls=2).prefetch(2)
        fetch = d.make_one_shot_iterator().get_next()
        for _ in range(3):
            with ours.Session() as sess:
                assert sess.run(fetch) == 1


BLOCKED = '''
import threading
import weft as tf

started = threading.Event()


def rows():
    yield 1
    started.set()
    threading.Event().wait()  # what it waits for never comes


def main(_):
    one = tf.data.Dataset.from_generator(rows, tf.int64, []).%s.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        print(sess.run(one), flush=True)
        started.wait()
        %s
    print("done")


tf.app.run()
'''


def test_a_generator_that_never_comes_back_does_not_keep_the_program(tmp_path):
    script = tmp_path / "blocked.py"
    script.write_text(BLOCKED % ("prefetch(2)", "pass"))
    code, out, err = scripts.run(script, cwd=tmp_path)
    assert (code, out) == (0, "1\ndone\n"), err


def test_a_generator_that_waits_is_interrupted(tmp_path):
    script = tmp_path / "blocked.py"
    script.write_text((BLOCKED % ("repeat(1)", "sess.run(one)")).replace("started.wait()", "").replace(
        "started.set()", "print('waits', flush=True)"))
    task = scripts.start(script, cwd=tmp_path)
    assert [task.stdout.readline() for _ in range(2)] == ["1\n", "waits\n"]
    task.send_signal(signal.SIGINT)
    out, err = task.communicate(timeout=120)
    assert task.returncode != 0 and out == "" and "KeyboardInterrupt" in err.splitlines()[-1], err


# ---- a program ----

ON_TENSORFLOW = ("import runpy, sys, tensorflow.compat.v1 as tf; tf.disable_v2_behavior(); sys.modules['tensorflow'] = tf; "
                 "del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')")


@pytest.fixture(scope="module")
def mnist(tmp_path_factory):
    """1000 pictures of ten patterns under noise, in two files of records."""
    at = tmp_path_factory.mktemp("mnist")
    random = np.random.RandomState(1)
    patterns = random.randint(0, 200, (10, 784))
    for part in range(2):
        with ours.python_io.TFRecordWriter(str(at / f"part-{part}.tfrecords")) as w:
            for _ in range(500):
                label = random.randint(10)
                image = np.clip(patterns[label] + random.randint(-50, 50, 784), 0, 255).astype(np.uint8)
                w.write(ours.train.Example(features=ours.train.Features(feature={
                    "image_raw": ours.train.Feature(bytes_list=ours.train.BytesList(value=[image.tobytes()])),
                    "label": ours.train.Feature(int64_list=ours.train.Int64List(value=[label]))})).SerializeToString())
    return at


def losses(out):
    return [float(line.split()[-1]) for line in out.splitlines() if line.startswith("step ")]


def test_a_program_trains_on_records_as_tensorflow_does(mnist, tmp_path):
    script = scripts.PROGRAMS / "mnist_records.py"
    code, out, err = scripts.run(script, "--data=%s" % mnist, cwd=tmp_path)
    assert code == 0, err
    theirs = subprocess.run([sys.executable, "-c", ON_TENSORFLOW, str(script), "--data=%s" % mnist], cwd=tmp_path,
                            capture_output=True, text=True, timeout=120)
    assert theirs.returncode == 0, theirs.stderr
    assert len(losses(out)) == 6
    np.testing.assert_allclose(losses(out), losses(theirs.stdout), rtol=1e-3)
    assert float(out.split()[-1]) > 0.95


def test_a_cluster_trains_on_records(mnist, tmp_path):
    found = scripts.cluster(scripts.PROGRAMS / "mnist_records.py", 1, 2, "--data=%s" % mnist, "--steps=120", cwd=tmp_path)
    for role, (code, _, err) in found.items():
        assert code == 0, (role, err)
    # One of them made half of the steps, and knows it.
    assert max(float(out.split()[-1]) for (job, _), (_, out, _) in found.items() if job == "worker") > 0.8


# ---- between the two ----

def build(tf):
    k = tf.constant(3, tf.int64)
    d = tf.data.Dataset.range(12).map(lambda x: (x * k, tf.cast(x, tf.float32)), num_parallel_calls=2)
    d = d.flat_map(lambda a, b: tf.data.Dataset.from_tensors((a + k, b)).repeat(2)).filter(lambda a, b: a > 5)
    d = d.shuffle(5, seed=3).batch(4)
    it = tf.data.make_initializable_iterator(d)
    return it.initializer, it.get_next(), tf.data.make_one_shot_iterator(d).get_next()


def test_tensorflow_runs_the_graph_that_weft_made():
    with ours.Graph().as_default() as graph, ours.Session() as sess:
        init, fetch, once = build(ours)
        sess.run(init)
        wants = elements(ours, fetch, sess), elements(ours, once, sess)
        names = [[t.name for t in f] for f in (fetch, once)]
        data = graph._as_graph_def_bytes()
    with oracle.Graph().as_default(), oracle.Session() as sess:
        oracle.import_graph_def(oracle.GraphDef.FromString(data), name="")
        sess.run(init.name)
        for want, name in zip(wants, names):
            compare(want, elements(oracle, tuple(name), sess))


def test_clients_iterate_on_a_server():
    server = ours.train.Server.create_local_server()
    found = []
    for tf in BOTH:
        with tf.Graph().as_default(), tf.Session(server.target) as sess:
            init, fetch, once = build(tf)
            sess.run(init)
            found.append((elements(tf, fetch, sess), elements(tf, once, sess)))
    compare(found[0], found[1])
    assert len(found[0][0]) == 6
