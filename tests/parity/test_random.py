"""Random ops give TensorFlow's numbers for the same seeds: exactly, run after run, whatever is fetched together."""
import numpy as np
import pytest
import tensorflow as tf

import weftlib

v1 = tf.compat.v1
raw = tf.raw_ops
FLOATS = ["float16", "bfloat16", "float32", "float64"]


class Both:
    """One graph in a session of TensorFlow and one of Weft."""

    def __init__(self, build):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.names = [t.name for t in build()]
        self.theirs = v1.Session(graph=self.graph)
        self.ours = weftlib.Session(weftlib.Graph(self.graph.as_graph_def()))

    def run(self, names=None):
        names = names or self.names
        return list(zip(names, self.theirs.run(names), self.ours.run(names)))


def assert_same(runs, ulps=0):
    for name, want, got in runs:
        assert want.dtype == got.dtype and want.shape == got.shape, name
        if ulps and want.dtype in (np.float32, np.float64):
            np.testing.assert_array_max_ulp(want, got, ulps)
        else:
            assert want.tobytes() == got.tobytes(), f"{name}: {got.ravel()[:5]}, TensorFlow has {want.ravel()[:5]}"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [raw.RandomUniform, raw.RandomStandardNormal, raw.TruncatedNormal])
def test_floats(op, dtype):
    shapes = [[], [1], [7], [4, 5], [0, 3], [200003]]
    both = Both(lambda: [op(shape=tf.constant(s, tf.int32), dtype=dtype, seed=87654321, seed2=i)
                         for i, s in enumerate(shapes)])
    # The normal ones go through the math library's log, sin and cos: the last bit is its own.
    ulps = 0 if op is raw.RandomUniform else 2
    for _ in range(3):
        assert_same(both.run(), ulps)


@pytest.mark.parametrize("seeds", [(1, 0), (0, 1), (-5, 17), (2**62 + 3, -2**60), (2**32, 2**33)])
def test_all_bits_of_the_seeds_count(seeds):
    both = Both(lambda: [raw.RandomUniform(shape=[9], dtype=tf.float32, seed=seeds[0], seed2=seeds[1])])
    assert_same(both.run())
    assert_same(both.run())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(dtype):
    ranges = [(0, 10), (-7, 100), (5, 6), (np.iinfo(dtype).min, np.iinfo(dtype).max), (0, 2**31 - 1)]
    both = Both(lambda: [raw.RandomUniformInt(shape=[1001], minval=dtype(a), maxval=dtype(b), seed=3, seed2=i)
                         for i, (a, b) in enumerate(ranges)])
    for _ in range(2):
        assert_same(both.run())


@pytest.mark.parametrize("n", [1, 2, 4, 5, 10, 1000, 70001])
def test_shuffles(n):
    both = Both(lambda: [raw.RandomShuffle(value=np.arange(n), seed=5, seed2=9),
                         raw.RandomShuffle(value=np.arange(2 * n).reshape(n, 2), seed=5, seed2=9)])
    for _ in range(3):
        assert_same(both.run())


@pytest.mark.parametrize("dtype", FLOATS)
def test_multinomial(dtype):
    logits = np.random.RandomState(1).randn(6, 50)
    both = Both(lambda: [raw.Multinomial(logits=tf.constant(logits, dtype), num_samples=n, seed=5, seed2=9,
                                         output_dtype=t) for n in (1, 4, 7) for t in (tf.int32, tf.int64)])
    for _ in range(3):
        assert_same(both.run())


def test_a_node_goes_on_where_it_was_whatever_else_is_fetched():
    both = Both(lambda: [raw.RandomUniform(shape=[5], dtype=tf.float32, seed=1, seed2=2),
                         raw.RandomStandardNormal(shape=[5], dtype=tf.float64, seed=1, seed2=3),
                         raw.RandomShuffle(value=np.arange(9), seed=1, seed2=4)])
    a, b, c = both.names
    for names in ([a], [a, b], [b], [c, a], [c], [a, b, c], [a]):
        assert_same(both.run(names), 2)


def test_another_session_starts_afresh():
    build = lambda: [raw.RandomUniform(shape=[5], dtype=tf.float32, seed=1, seed2=2)]
    both = Both(build)
    first = both.run()[0][2]
    both.ours.run(both.names)
    again = weftlib.Session(weftlib.Graph(both.graph.as_graph_def())).run(both.names)[0]
    assert first.tobytes() == again.tobytes()


def test_without_seeds_two_nodes_and_two_sessions_differ():
    build = lambda: [raw.RandomUniform(shape=[8], dtype=tf.float32), raw.RandomUniform(shape=[8], dtype=tf.float32)]
    seen = set()
    for _ in range(2):
        both = Both(build)
        for _ in range(2):
            seen.update(got.tobytes() for _, _, got in both.run())
    assert len(seen) == 8


def test_dropout_and_initializers_of_a_seeded_graph():
    def build():
        v1.set_random_seed(42)
        x = tf.ones([3, 40])
        return [tf.nn.dropout(x, rate=0.5), v1.truncated_normal([4, 4], stddev=0.1), v1.random_normal([6]),
                v1.random_uniform([6], -3, 3), v1.random_shuffle(tf.range(12)), v1.multinomial(tf.zeros([2, 5]), 3)]
    both = Both(build)
    for _ in range(2):
        assert_same(both.run(), 2)
