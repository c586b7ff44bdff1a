"""Calls at the corners of what TensorFlow takes: products that broadcast, tensors where lists are usual, complex numbers, bounds of other
shapes, second gradients of loops, and constants as messages."""
import itertools

import numpy as np
import pytest

import weft
from both import both, both_raise, oracle


def numbers(*shape):
    return np.arange(1.0, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


# ---- products of many matrices ----

PRODUCTS = [((1, 2, 3), (4, 3, 2)), ((4, 2, 3), (1, 3, 2)), ((2, 1, 2, 3), (1, 5, 3, 2)), ((2, 3), (4, 3, 2)), ((2, 2, 2, 3), (2, 3, 2)),
            ((0, 2, 3), (1, 3, 2)), ((4, 2, 3), (4, 3, 2))]


@pytest.mark.parametrize("known", [True, False, None])
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_a_product_broadcasts_and_so_does_its_gradient(shapes, known):
    def program(tf):
        x, y = (tf.placeholder_with_default(numbers(*s), s if known else None if known is None else [None] * len(s)) for s in shapes)
        z = tf.matmul(x, y)
        return [z, *tf.gradients(z, [x, y]), str(z.shape)]
    both(program, same_nodes=False)


def test_products_of_short_integers():
    both(lambda tf: tf.matmul(tf.cast(numbers(2, 2, 3), tf.int16), tf.cast(numbers(2, 3, 2), tf.int16)), same_nodes=False)
    for message in both_raise(lambda tf: tf.matmul(numbers(2, 2, 3), numbers(3, 3, 2))):
        assert "2" in message and "3" in message


# ---- small functions ----

def test_the_stack_of_a_tensor_is_the_tensor():
    both(lambda tf: tf.stack(tf.constant([[1, 2], [3, 4]])))
    assert both_raise(lambda tf: tf.stack(tf.constant([1, 2]), axis=1))[0] == "Argument `axis` = 1 not in range [-1, 1)"


@pytest.mark.parametrize("name", ["reduce_variance", "reduce_std"])
def test_the_variance_of_complex_numbers_is_real(name):
    both(lambda tf: [getattr(tf.math, name)(tf.constant([[1 + 2j, 3], [0, 1j]]), axis) for axis in (None, 0, [1])])
    assert "integer" in both_raise(lambda tf: getattr(tf.math, name)(tf.constant([1, 2])))[0]


def test_complex_numbers_are_normalized():
    both(lambda tf: [tf.nn.l2_normalize(tf.constant([[1 + 2j, 3], [0, 1j]], t), 1) for t in (tf.complex64, tf.complex128)],
         same_nodes=False)


def test_which_tensors_are_numeric():
    both(lambda tf: [tf.debugging.is_numeric_tensor(tf.placeholder(getattr(tf, t))) for t in (
        "float32", "complex64", "qint8", "bool", "string", "variant")])


def test_bounds_do_not_enlarge_what_they_clip():
    both(lambda tf: tf.clip_by_value(numbers(2, 3), [[1.0], [2.0]], 5.0))
    for message in both_raise(lambda tf: tf.clip_by_value(numbers(3), numbers(2, 3), 9.0)):
        assert "(3,) and (2, 3)" in message


@pytest.mark.parametrize("name", ["assert_rank", "assert_rank_at_least"])
def test_a_rank_is_a_scalar(name):
    assert both_raise(lambda tf: getattr(tf, name)(numbers(2), [1]))[0] == "Rank must be a scalar."


# ---- second gradients ----

LOOPS = {"scan": lambda tf, x: tf.scan(lambda a, b: a * b, x), "map_fn": lambda tf, x: tf.map_fn(lambda a: a**3, x),
         "dynamic_rnn": lambda tf, x: tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.reshape(x, [1, 3, 1]), dtype=tf.float32)[0]}


@pytest.mark.parametrize("name", LOOPS)
def test_the_second_gradient_of_a_loop_over_rows_is_an_error(name):
    def program(tf):
        x = tf.constant([2.0, 3.0, 4.0])
        return tf.gradients(tf.gradients(LOOPS[name](tf, x), x), x)
    assert all("Second-order gradient for while loops not supported" in m for m in both_raise(program))


# ---- constants as messages ----

TYPES = [None, "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
         "bool", "complex64", "complex128", "string"]
VALUES = [1, 1.5, True, 1j, "a", b"a", [1, 2], [1.0, 1.0], [1, 1, 1], [], [[]], ["a", b"b"], [[1, 2], [3, 4]], [True, False], 2**40,
          np.float16(1.5), np.int64(5), np.array([1, 2], np.uint8), np.array(["a", "bc"]), np.zeros((0, 3)), np.ones((2, 3), np.float32),
          np.arange(6)[::2], np.array([np.nan, np.inf, -1.5]), np.array([1 + 1j, 2])]


def message_of(tf, value, kind, shape):
    try:
        made = tf.make_tensor_proto(value, None if kind is None else getattr(tf, kind), shape)
    except (TypeError, ValueError, OverflowError) as e:
        return "refused with %s" % ("an overflow" if isinstance(e, OverflowError) else "a wrong value")
    found = tf.make_ndarray(made) if shape != [0] else np.zeros(0)
    return made.SerializeToString(), str(found.dtype), str(found.tolist()).replace("b'", "'")


@pytest.mark.parametrize("kind", TYPES)
def test_a_constant_is_the_same_message(kind):
    for value, shape in itertools.product(VALUES, [None, [], [2], [3], [2, 3], [0]]):
        if kind in (None, "string") and (shape == [0] or not np.size(value)):
            continue  # TensorFlow keeps the text of an empty tensor, and cannot read it back
        assert message_of(weft, value, kind, shape) == message_of(oracle, value, kind, shape), (value, kind, shape)


def test_the_shape_of_a_message_is_checked():
    assert weft.make_tensor_proto([1, 2], shape=[2], verify_shape=True).int_val == []
    for message in both_raise(lambda tf: tf.make_tensor_proto([1, 2], shape=[1, 2], verify_shape=True)):
        assert "Expected Tensor's shape: (1, 2)" in message.replace("[1, 2]", "(1, 2)")


# ---- waiting for a placeholder ----

WAITING = {
    "a group": lambda tf, p: tf.group(p),
    "a constant": lambda tf, p: tf.constant(2.0) + 1,
    "a reader": lambda tf, p: tf.constant(2.0) + p,
    "a tuple": lambda tf, p: tf.tuple([p, p * 2]),
    "a branch": lambda tf, p: tf.cond(p > 0, lambda: p + 1, lambda: p - 1),
    "a loop": lambda tf, p: tf.while_loop(lambda i: i < 3.0, lambda i: i + p, [0.0]),
}


def waited(tf, name, target=""):
    with tf.Graph().as_default():
        p = tf.placeholder(tf.float32, [])
        with tf.control_dependencies([p]):
            made = WAITING[name](tf, p)
        with tf.Session(target) as sess:
            fed = sess.run(made, {p: 1.0})
            with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
                sess.run(made)
            return fed


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_for_a_fed_placeholder_runs(name):
    wanted = waited(oracle, name)
    assert waited(weft, name) == wanted
    assert waited(weft, name, weft.train.Server.create_local_server().target) == wanted


# ---- elements of a generator ----

ELEMENTS = [1, 1.5, True, None, "a", [1, 2], [1, 2.5], [1, None], [], np.float64(1.5), np.array([1.5, 2.0]), np.bool_(True), [True], 1j]


@pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64", "float16", "bool", "string"])
def test_a_generator_gives_what_tensorflow_converts(kind):
    def given(tf, value):
        with tf.Graph().as_default(), tf.Session() as sess:
            element = tf.data.make_one_shot_iterator(tf.data.Dataset.from_generator(lambda: iter([value]), getattr(tf, kind))).get_next()
            try:
                found = sess.run(element)
            except tf.errors.InvalidArgumentError:
                return "refused"
            return str(np.asarray(found).dtype), np.asarray(found).tolist()
    for value in ELEMENTS:
        assert given(weft, value) == given(oracle, value), value


# ---- positions of iterators ----

@pytest.mark.parametrize("made", [
    lambda tf: tf.data.Dataset.range(20).shuffle(20).repeat(2), lambda tf: tf.data.Dataset.range(20).shuffle(5, seed=3).repeat(2),
    lambda tf: tf.data.Dataset.range(20).repeat(2).shuffle(9, reshuffle_each_iteration=False),
    lambda tf: tf.data.Dataset.zip((tf.data.Dataset.range(40).shuffle(40), tf.data.experimental.RandomDataset())).map(lambda a, b: a),
    lambda tf: tf.data.experimental.sample_from_datasets([tf.data.Dataset.range(20)] * 2)])
def test_a_shuffle_without_a_seed_goes_on_where_it_was_saved(tmp_path, made):
    def run(sess, get, count):
        return [int(sess.run(get)) for _ in range(count)]

    def graph():
        it = weft.data.make_initializable_iterator(made(weft))
        weft.add_to_collection(weft.GraphKeys.SAVEABLE_OBJECTS, weft.data.experimental.make_saveable_from_iterator(it))
        return it.initializer, it.get_next(), weft.train.Saver()
    with weft.Graph().as_default(), weft.Session() as sess:
        init, get, saver = graph()
        sess.run(init)
        first = run(sess, get, 7)
        path = saver.save(sess, str(tmp_path / "m"))
        wanted = run(sess, get, 33)
        assert sorted(first + wanted) == sorted([*range(20)] * 2) or sorted(first + wanted) == [*range(40)]
    with weft.Graph().as_default(), weft.Session() as sess:
        init, get, saver = graph()
        for _ in range(2):
            sess.run(init)
            saver.restore(sess, path)
            assert run(sess, get, 33) == wanted
