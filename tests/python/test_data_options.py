"""tf.data: cache files, windows, options and parameters, compared with TensorFlow."""
import os

import pytest

import weft
from both import oracle, outcome, same_in_folders


@pytest.fixture
def same(tmp_path, monkeypatch):
    return lambda program: same_in_folders(program, tmp_path, monkeypatch)


def elements(tf, dataset, most=30):
    """The first elements of a data set, as lists."""
    iterator = tf.data.make_initializable_iterator(dataset)
    following, out = iterator.get_next(), []
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        try:
            for _ in range(most):
                got = sess.run(following)
                out.append([g.tolist() if hasattr(g, "tolist") else g for g in (got if isinstance(got, tuple) else (got,))])
        except tf.errors.OutOfRangeError:
            out.append("the end")
    return out


def pairs(tf, first, last):
    return tf.data.Dataset.range(first, last).map(lambda x: (x, tf.as_string(x)))


def test_a_cache_file_outlives_the_data_set(same):
    def program(tf):
        out = [elements(tf, pairs(tf, 0, 3).cache("./c")), sorted(os.listdir("."))]
        out += [tf.train.list_variables("./c"), tf.train.load_variable("./c", "      1_0")]
        with tf.Graph().as_default():  # another program's data set: the file has the elements
            out.append(elements(tf, pairs(tf, 10, 12).cache("./c").repeat(2)))
        return out
    same(program)


def test_a_pass_that_stops_early_leaves_no_file(same):
    def program(tf):
        made = tf.data.Dataset.range(5).cache("./c")
        return [elements(tf, made, 2), sorted(os.listdir(".")), elements(tf, made), sorted(os.listdir("."))]
    same(program)


def test_each_system_reads_the_cache_of_the_other(tmp_path):
    for writer, reader in ((weft, oracle), (oracle, weft)):
        path = str(tmp_path / writer.__name__)
        with writer.Graph().as_default():
            written = elements(writer, pairs(writer, 0, 12).cache(path))
        with reader.Graph().as_default():
            assert elements(reader, pairs(reader, 50, 51).cache(path)) == written


def test_a_cache_of_another_data_set_is_refused(tmp_path):
    with weft.Graph().as_default():
        elements(weft, weft.data.Dataset.range(2).cache(str(tmp_path / "c")))
        with pytest.raises(weft.errors.InvalidArgumentError, match="it is of another data set"):
            elements(weft, weft.data.Dataset.from_tensors("x").cache(str(tmp_path / "c")))


@pytest.mark.parametrize("options", [{"size": 3, "shift": 2, "drop_remainder": True}, {"size": 2},
                                     {"size": 3, "shift": 1, "stride": 2}])
def test_windows(same, options):
    def program(tf):
        d = tf.data.Dataset
        return [elements(tf, d.range(7).window(**options).flat_map(lambda w: w.batch(9))),
                elements(tf, d.from_tensor_slices({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}).window(**options).flat_map(
                    lambda w: d.zip((w["a"].batch(9), w["b"].batch(9))))),
                elements(tf, d.range(7).window(**options).shuffle(5, seed=3).map(lambda w: w.skip(1)).flat_map(lambda w: w))]
    same(program)


def test_options_are_kept(same):
    def program(tf):
        o, other = tf.data.Options(), tf.data.Options()
        out = [outcome(lambda: setattr(o, "bogus", 1)), o.experimental_deterministic,
               outcome(lambda: setattr(o, "experimental_deterministic", 3))]
        o.experimental_deterministic, other.experimental_slack, o.threading.private_threadpool_size = False, True, 3
        made = tf.data.Dataset.range(3).with_options(o).with_options(other).map(lambda x: x)
        found = made.options()
        return out + [elements(tf, made), found.deterministic, found.experimental_slack,
                      found.experimental_threading.private_threadpool_size, found.experimental_optimization.map_fusion,
                      tf.data.Dataset.range(3).options().deterministic, o.merge(other).experimental_slack]
    same(program)


def test_parameters_of_transformations(same):
    def program(tf):
        d = tf.data.Dataset
        return [elements(tf, made, 8) for made in (
            d.range(5, output_type=tf.int32), d.range(4).batch(3, num_parallel_calls=2, deterministic=True, name="b"),
            d.range(4).map(lambda x: x + 1, num_parallel_calls=2, name="m"), d.range(3).enumerate(5, name="e"),
            d.range(3).interleave(lambda x: d.from_tensors(x).repeat(3), 2, 2, name="i"),
            d.range(9).shuffle(4, seed=1, reshuffle_each_iteration=False, name="s"), d.from_tensors(1, name="t"))]
    same(program)
