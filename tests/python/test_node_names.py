"""Names of nodes that small functions make, and of the nodes after them: a program fetches tensors by name, and a saved model
keeps the names."""
import numpy as np
import pytest

from both import both, both_raise


@pytest.mark.parametrize("make", ["zeros", "ones"])
def test_small_whole_tensors(make):
    def program(tf):
        n = tf.placeholder_with_default(2, [], name="n")
        fn = getattr(tf, make)
        return [fn(4), fn(np.int64(4)), fn([4]), fn(()), fn([n, 3]), fn([n, 3], tf.int32), fn((2, 3), tf.bool), fn(n), fn([40, 40]),
                fn(tf.shape(fn([2, 2])))]
    both(program)


def test_shapes_of_random_ops_with_tensors():
    both(lambda tf: tf.random_uniform([tf.placeholder_with_default(2, []), 3], -1, 1))


def test_sequence_masks():
    def program(tf):
        lengths, n = tf.constant([1, 3]), tf.placeholder_with_default(4, [])
        return [tf.sequence_mask(lengths), tf.sequence_mask(lengths, 5), tf.sequence_mask(lengths, n, tf.float32)]
    both(program)


def test_means_measure_outside_of_their_scope():
    def program(tf):
        x, y = tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 4.0]])
        made = [tf.metrics.accuracy(x, y), tf.metrics.mean_squared_error(x, y), tf.metrics.mean_absolute_error(x, y),
                tf.metrics.root_mean_squared_error(x, y), tf.metrics.accuracy(x, y, name="mine")]
        next_names = [tf.equal(x, y).name, tf.squared_difference(x, y).name, tf.abs(x).name, (x - y).name, tf.sqrt(x).name]
        return [*(update for _, update in made), *next_names, [t.name for pair in made for t in pair],
                [v.name for v in tf.local_variables()]]
    both(program, same_nodes=False)


def test_texts_that_are_replaced():
    def program(tf):
        s = tf.constant(["aab", "cab"])
        return [tf.regex_replace(s, "a", "x"), tf.regex_replace(s, "a", tf.constant("y")), tf.strings.regex_replace(s, "a+", "z", False)]
    both(program)


def test_sizes_of_pictures_and_grids():
    def program(tf):
        image = tf.ones([1, 4, 4, 1])
        made = [tf.image.resize_bilinear(image, [2, 2]), tf.image.resize_nearest_neighbor(image, (2, 3)), *tf.meshgrid([1, 2], [3, 4, 5]),
                *tf.meshgrid([1.0, 2.0], [3.0], indexing="ij")]
        return made + [t.name for t in made]
    both(program, same_nodes=False)


def test_outputs_of_both_directions_are_joined_outside():
    def program(tf):
        cells = [tf.nn.rnn_cell.GRUCell(2) for _ in range(2)]
        outputs, _, _ = tf.nn.static_bidirectional_rnn(*cells, [tf.ones([1, 3])] * 2, dtype=tf.float32)
        return [t.name for t in outputs]
    both(program, same_nodes=False)


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2d", "ifft3d"])
def test_numbers_keep_a_type_that_the_op_takes(name):
    def program(tf):
        whole = np.arange(8.0).reshape({"fft": [8], "ifft": [8], "fft2d": [2, 4], "ifft3d": [2, 2, 2]}[name])
        values = [whole + 0j, (whole + 0j).tolist(), whole.astype(np.complex64), whole, whole.astype(np.float32)]
        made = [getattr(tf, name)(v) for v in values]
        return made + [m.dtype.name for m in made]
    both(program, same_nodes=False)


def test_small_and_wide_floats():
    def program(tf):
        whole = np.arange(4.0)
        made = [tf.spectral.dct(whole), tf.spectral.idct(whole, norm="ortho"), tf.spectral.dct(whole.astype(np.float32)),
                tf.linspace(np.float16(0), np.float16(1), 3)]
        q, r = tf.qr(np.array([[3.0, 1.0], [4.0, 2.0]], np.float16))
        return made + [m.dtype.name for m in made] + [q, r]
    both(program, same_nodes=False, tolerance=2e-3)


def test_types_that_no_uniform_numbers_have():
    for kind in ("uint8", "bool", "string"):
        ours, theirs = both_raise(lambda tf, kind=kind: tf.random_uniform([2], maxval=3, dtype=kind))
        assert ours.partition(" Accepted")[2] == theirs.partition(" Accepted")[2]


@pytest.mark.parametrize("full", [False, True])
def test_factors_of_complex_matrices(full):
    def program(tf):
        tall = np.array([[1 + 2j, 3], [4, 5 - 1j], [1, 1j]])
        made = [tall, tall.T, tall.astype(np.complex64), np.array([[1j, 3], [0, 5 - 1j]]), np.stack([tall, tall[::-1] * 1j])]
        return [part for x in made for part in tf.qr(x, full_matrices=full)]
    both(program, same_nodes=False)


def test_softmax_along_other_axes():
    def program(tf):
        x = tf.constant(np.arange(24.0).reshape(2, 3, 4), tf.float32)
        return [tf.nn.softmax(x, axis=1), tf.nn.log_softmax(x, axis=0), tf.nn.softmax(x, axis=1, name="mine"), tf.nn.softmax(x, axis=2)]
    both(program)


def test_swish():
    def program(tf):
        x = tf.constant([[-1.0, 2.0]])
        made = [tf.nn.swish(x), tf.nn.silu(x, 2.0)]
        slope = tf.gradients(made[0] * made[1], x)
        return made + slope + [m.name for m in made]
    both(program, same_nodes=False)
    both(lambda tf: tf.nn.swish(tf.constant([[-1.0, 2.0]])))


def test_counts():
    def program(tf):
        whole = tf.constant([[1, 2, 1]], tf.int64)
        return [tf.bincount([1, 2, 1]), tf.bincount([1, 2, 5], minlength=2, maxlength=4, dtype=tf.int64),
                tf.bincount([1, 2], [1.0, 0.5], 5), tf.bincount([1.5, 2.0]), tf.bincount(whole),
                tf.bincount(whole, minlength=5), tf.bincount(tf.constant([], tf.int32))]
    both(program)


def test_weighted_means():
    def program(tf):
        x = tf.constant([[1, 2]])
        made = [tf.metrics.accuracy(x, x, weights=tf.constant([[1, 0]])), tf.metrics.mean(tf.constant([1.0, 2.0]), weights=[1.0, 3.0]),
                tf.metrics.mean(x, name="mine")]
        return [*(update for _, update in made), [t.name for pair in made for t in pair], tf.cast(x, tf.float32).name]
    both(program, same_nodes=False)


def test_steps_of_a_rate():
    def program(tf):
        step = tf.Variable(15, trainable=False, name="step", dtype=tf.int64)
        made = [tf.train.piecewise_constant(step, [10, 20], [0.1, 0.2, 0.3]),
                tf.train.piecewise_constant(tf.constant(1.0), [0.5, tf.constant(2.0)], [1, 2, 3], name="mine")]
        return [*made, [m.name for m in made], tf.constant(1).name, tf.cast(step, tf.int32).name]
    both(program, same_nodes=False)


def test_names_of_iterators():
    def program(tf):
        numbers = tf.data.Dataset.range(3)
        shared = tf.data.Iterator.from_structure(tf.int64, [])
        made = [shared.make_initializer(numbers), shared.make_initializer(numbers, name="mine"), shared.get_next(),
                numbers.make_initializable_iterator().initializer, numbers.make_one_shot_iterator().string_handle(),
                numbers.make_one_shot_iterator().string_handle("handle"),
                tf.data.Iterator.from_string_handle(tf.placeholder(tf.string, []), tf.int64).string_handle()]
        return [[m.name for m in made]]
    both(program)


def test_names_of_parsed_examples():
    def program(tf):
        batch, one = tf.placeholder(tf.string, [None]), tf.placeholder(tf.string, [])
        features = {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.VarLenFeature(tf.int64), "d": tf.FixedLenFeature([], tf.string, "x")}
        made = [tf.parse_example(batch, features), tf.parse_example(batch, features, name="mine"), tf.parse_single_example(one, features)]
        return [[t.name for m in made for t in (m["a"], m["b"].values, m["d"])], [str(m[k].shape) for m in made for k in "abd"]]
    both(program)


def test_names_of_dilated_convolutions():
    def program(tf):
        x, f = tf.ones([1, 6, 6, 1]), tf.ones([2, 2, 1, 1])
        made = [tf.nn.atrous_conv2d(x, f, 2, "SAME"), tf.nn.atrous_conv2d(x, f, 1, "SAME"),
                tf.nn.atrous_conv2d(x, f, 2, "VALID", name="mine")]
        return made + [[m.name for m in made]]
    both(program, same_nodes=False)


def test_names_that_outlive_a_function():
    """Nodes outside of a function's scope number the nodes after them."""
    def program(tf):
        x, row = tf.constant([[0.0, 2.0]]), tf.sparse_placeholder(tf.float32, [3, 4])
        made = [tf.linspace(0.0, 1.0, 5), tf.linspace(tf.constant([0.0, 1.0]), 2.0, 3, axis=-1), tf.nn.zero_fraction(x),
                tf.accumulate_n([x, x]), tf.scalar_mul(2.0, x), tf.count_nonzero(x), tf.eye(3), tf.eye(2, 3), tf.eye(2, batch_shape=[2]),
                tf.boolean_mask(x, [True]), tf.summary.scalar("s", 1.0), tf.summary.scalar("s", 1.0, family="f"),
                tf.summary.audio("a", x, 8000), tf.sparse.to_dense(row), tf.sparse.reorder(row).dense_shape, tf.sparse.reduce_sum(row),
                tf.sparse.eye(2).dense_shape, tf.metrics.mean(x)[1], tf.metrics.auc(tf.constant([0, 1]), tf.constant([0.2, 0.7]))[1],
                tf.signal.hann_window(4), tf.signal.hamming_window(5, False), tf.signal.fftshift(x), tf.constant(1)]
        return [[m.name for m in made]]
    both(program, same_nodes=False)


def test_scopes_of_linear_operators():
    def program(tf):
        first, second = tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorDiag([3.0, 4.0])
        made = [first.to_dense(), second.to_dense(), first.matmul([[1.0], [2.0]])]
        with tf.name_scope("inner"):
            made += [first.to_dense(), second.trace()]
        return made + [[m.name for m in made]]
    both(program, same_nodes=False)


def test_linspace():
    def program(tf):
        n = tf.placeholder_with_default(3, [])
        return [tf.linspace(0.0, 1.0, 5), tf.linspace(1.0, 2.0, 1), tf.linspace(np.float64(0), np.float64(7), n),
                tf.linspace(tf.constant([[0.0, 1.0]]), [[2.0, 5.0]], 4, axis=1), tf.linspace(0, 10, 5),
                [str(s.shape) for s in (tf.linspace(0.0, 1.0, 5), tf.linspace([0.0, 1.0], 2.0, 3, axis=-1), tf.linspace(0.0, 1.0, n))]]
    both(program, same_nodes=False)
