"""Loops, branches, arrays, losses and sparse tensors as programs write them."""
import collections

import numpy as np
import pytest

import weft
from both import both, both_raise, oracle

State = collections.namedtuple("State", "i array d")


def on_both(program, tolerance=1e-5):
    """program(tf, session) in a graph of its own, in both systems: the values that it returns, which must be the same."""
    both_values = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            both_values.append(program(tf, sess))
    _same(both_values[0], both_values[1], tolerance)
    return both_values[0]


def _same(ours, theirs, tolerance):
    if isinstance(theirs, (list, tuple)):
        assert type(ours).__name__ == type(theirs).__name__ and len(ours) == len(theirs), (ours, theirs)
        for a, b in zip(ours, theirs):
            _same(a, b, tolerance)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for k in theirs:
            _same(ours[k], theirs[k], tolerance)
    elif isinstance(theirs, (np.ndarray, np.generic)) and np.asarray(theirs).dtype.kind == "f":
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    else:
        assert repr(ours) == repr(theirs)


# ---- TensorArray ----

def test_a_tensor_array_is_a_loop_variable():
    def program(tf):
        array = tf.TensorArray(tf.float32, 5)
        _, made = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32) * 2)), [0, array])
        alone = tf.while_loop(lambda a: tf.constant(False), lambda a: a.write(0, 1.0), [tf.TensorArray(tf.float32, 1).write(0, 7.0)])
        return [made.stack(), made.stack().shape.as_list(), type(made).__name__, alone.stack()]
    both(program, in_order=False)


def test_a_tensor_array_in_a_nest_goes_round():
    def program(tf, sess):
        start = State(tf.constant(0), tf.TensorArray(tf.int32, 0, dynamic_size=True), {"a": 1.0, "b": (tf.constant(2.0),)})
        end = tf.while_loop(lambda s: s.i < 3, lambda s: (State(s.i + 1, s.array.write(s.i, s.i * s.i),
                                                                {"a": s.d["a"] + 1, "b": (s.d["b"][0] * 2,)}),), [start])
        return sess.run([end[0].array.stack(), end[0].d])
    on_both(program)


def test_gradients_flow_through_tensor_arrays():
    def program(tf, sess):
        x = tf.constant([1.0, 2.0, 3.0])
        rows, out = tf.TensorArray(tf.float32, 3).unstack(x), tf.TensorArray(tf.float32, 3)
        _, out, _ = tf.while_loop(lambda i, o, a: i < 3, lambda i, o, a: (i + 1, o.write(i, a * rows.read(i)), a + 1.0),
                                  [tf.constant(0), out, x[0]])
        return sess.run([out.stack()] + tf.gradients(out.stack(), x))
    on_both(program)


def test_methods_of_a_tensor_array():
    def program(tf):
        x = tf.constant([[1.0, 2], [3, 4]], name="x")
        array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
        first, again = array.read(0), array.identity().read(1)
        cut = tf.TensorArray(tf.float32, 3, infer_shape=False).split([1.0, 2, 3, 4, 5, 6], [1, 2, 3])
        scattered = tf.TensorArray(tf.float32, 4, element_shape=[2]).scatter([1, 3], x)
        gradient = array.grad("g").write(0, [5.0, 6.0])
        return [first, again, array.stack(), array.concat(), array.size(), cut.read(1), scattered.gather([3, 1]), gradient.read(0),
                str(scattered.element_shape), array.concat().shape.as_list(), scattered.dtype.name, scattered.dynamic_size]
    both(program, same_nodes=False)


@pytest.mark.parametrize("wrong", [
    lambda tf: tf.TensorArray(tf.float32, 2).write(0, [1.0, 2.0]).write(1, [1.0, 2.0, 3.0]),
    lambda tf: tf.TensorArray(tf.float32, 2, element_shape=[3]).write(1, [1.0, 2.0]),
    lambda tf: tf.TensorArray(tf.float32),
    lambda tf: tf.map_fn(lambda a: a, tf.constant(1.0)),
    lambda tf: tf.while_loop(lambda i: i < 2, lambda i: i, []),
    lambda tf: tf.while_loop(lambda i: i < 2, lambda i: (i + 1, i), [0]),
    lambda tf: tf.cond(tf.constant(True), lambda: (1, 2), lambda: 1),
    lambda tf: tf.cond(tf.constant(True), lambda: {"a": 1}, lambda: {"b": 1}),
    lambda tf: tf.cond(tf.constant(True), lambda: 1, lambda: 2.0),
    lambda tf: tf.cond(True, lambda: 1, lambda: 2),
    lambda tf: tf.losses.mean_squared_error(tf.ones([2, 3]), tf.ones([2, 3]), weights=tf.ones([3])),
    lambda tf: tf.losses.softmax_cross_entropy(tf.ones([2, 3]), tf.ones([2, 4])),
])
def test_what_tensorflow_refuses_is_refused(wrong):
    both_raise(wrong)


# ---- loops over rows ----

E5 = np.array([1, 2, 3, 4, 5], np.float32)


@pytest.mark.parametrize("loop", [
    lambda tf, x: tf.map_fn(lambda a: a * 2, x),
    lambda tf, x: tf.map_fn(lambda a: (a, a + 1), x, dtype=(tf.float32, tf.float32), name="mine"),
    lambda tf, x: tf.map_fn(lambda a: {"p": a[0], "q": a[1] * 2}, (x, x), dtype={"p": tf.float32, "q": tf.float32}),
    lambda tf, x: tf.map_fn(lambda a: tf.cast(a, tf.int32), x, dtype=tf.int32, parallel_iterations=1),
    lambda tf, x: tf.map_fn(lambda a: a, x, infer_shape=False),
    lambda tf, x: tf.scan(lambda a, b: a + b, x),
    lambda tf, x: tf.scan(lambda a, b: a + b, x, reverse=True),
    lambda tf, x: tf.scan(lambda a, b: a * 2 + b, x, initializer=10.0, reverse=True, parallel_iterations=1),
    lambda tf, x: tf.scan(lambda a, b: (a[0] + b[0], a[1] * b[1]), (x, x + 1), initializer=(0.0, 1.0)),
    lambda tf, x: tf.scan(lambda a, b: {"s": a["s"] + b["s"]}, {"s": x}, infer_shape=False),
    lambda tf, x: tf.foldl(lambda a, b: a - b, x),
    lambda tf, x: tf.foldr(lambda a, b: a - b, x),
    lambda tf, x: tf.foldl(lambda a, b: a * 2 + b, x, initializer=10.0),
    lambda tf, x: tf.foldr(lambda a, b: {"s": a["s"] * b[0] + b[1]}, (x, x), initializer={"s": tf.constant(1.0)}),
    lambda tf, x: tf.foldl(lambda a, b: (a[0] + b[0], a[1] - b[1]), (x, x)),
])
@pytest.mark.parametrize("known", [True, False])
def test_loops_over_rows_have_tensorflows_nodes(loop, known):
    def program(tf):
        x = tf.constant(E5, name="x") if known else tf.placeholder(tf.float32, [None], name="x")
        made = loop(tf, x)
        flat = list(made.values()) if isinstance(made, dict) else list(made) if isinstance(made, tuple) else [made]
        return flat + [isinstance(made, tuple), [m.shape.ndims and m.shape.as_list() for m in flat]]
    both(program, feeds=None if known else {"x": E5}, in_order=False)


def test_a_loop_over_no_rows_gives_no_rows():
    def program(tf, sess):
        x = tf.placeholder(tf.float32, [None, 3])
        return [sess.run(tf.map_fn(tf.reduce_sum, x), {x: np.ones((n, 3))}) for n in (2, 0)]
    on_both(program)


def test_gradients_of_loops_over_rows():
    def program(tf, sess):
        x = tf.constant(E5)
        made = [tf.scan(lambda a, b: a * b, x), tf.scan(lambda a, b: a * b, x, reverse=True), tf.foldr(lambda a, b: a * b, x),
                tf.map_fn(lambda a: a * a, x)]
        return sess.run([tf.gradients(m, x) for m in made])
    on_both(program)


# ---- branches and loops ----

def test_branches_return_nests():
    def program(tf, sess):
        p = tf.placeholder_with_default(True, [])
        pair = collections.namedtuple("Pair", "a b")
        made = [tf.cond(p, lambda: {"x": tf.constant(1), "y": [tf.constant(2), (tf.constant(3),)]},
                        lambda: {"x": tf.constant(4), "y": [tf.constant(5), (tf.constant(6),)]}),
                tf.cond(p, lambda: pair(tf.constant(1), 2.0), lambda: pair(tf.constant(4), 3.0)),
                tf.cond(p, lambda: [tf.constant(1)], lambda: [tf.constant(2)]),
                tf.cond(p, lambda: [tf.constant(1)], lambda: [tf.constant(2)], strict=True),
                tf.cond(p, lambda: (1, 2.0), lambda: (3, 4.0)),
                tf.cond(p, lambda: tf.SparseTensor([[0]], [1.0], [2]), lambda: tf.SparseTensor([[1]], [2.0], [2]))]
        array = tf.TensorArray(tf.float32, 2)
        written = tf.cond(p, lambda: array.write(0, 1.0).write(1, 2.0), lambda: array.write(0, 3.0).write(1, 4.0))
        return [sess.run(made + [written.stack()], {p: v}) for v in (True, False)]
    on_both(program)


def test_a_branch_of_an_operation_gives_a_tensor():
    def program(tf, sess):
        v, p = tf.Variable(0), tf.placeholder(tf.bool, [])
        sess.run(v.initializer)
        step = tf.cond(p, lambda: tf.assign_add(v, 1).op, tf.no_op)
        for go in (True, False, True):
            sess.run(step, {p: go})
        return [sess.run(v), hasattr(step, "dtype")]
    on_both(program)


def test_cases_are_exclusive_when_asked():
    def program(tf, sess):
        x = tf.placeholder_with_default(2, [])
        one = tf.case([(x < 1, lambda: {"a": 1}), (x < 3, lambda: {"a": 2})], default=lambda: {"a": 3})
        two = tf.case([(x < 3, lambda: tf.constant(1)), (x < 5, lambda: tf.constant(2))], default=lambda: tf.constant(3), exclusive=True)
        three = tf.case({x < 3: lambda: tf.constant(1), x > 5: lambda: tf.constant(2)}, exclusive=True)
        said = []
        for case, value in ((two, 2), (three, 4)):
            with pytest.raises(tf.errors.InvalidArgumentError) as e:
                sess.run(case, {x: value})
            said.append(type(e.value).__name__)
        return [sess.run(one, {x: v}) for v in (0, 2, 9)] + [sess.run(two, {x: 4}), sess.run(three), said]
    on_both(program)


def test_loops_keep_the_structure_of_their_variables():
    def program(tf, sess):
        i = tf.constant(0)
        v = tf.Variable(0.0)
        sess.run(v.initializer)
        made = [tf.while_loop(lambda i: i < 3, lambda i: i + 1, [i]), tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (i,)),
                tf.while_loop(lambda i: i < 3, lambda i: i + 1, [i], return_same_structure=True),
                tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j * 2.0), (i, 1.0)),
                tf.while_loop(lambda i, j: i < 3, lambda i, j: [i + 1, j * 2.0], [i, 1.0], maximum_iterations=2),
                tf.while_loop(lambda i: i < 9, lambda i: i + 1, [i], maximum_iterations=tf.constant(4)),
                tf.while_loop(lambda d: d["i"] < 3, lambda d: [{"i": d["i"] + 1, "x": d["x"] * 2}], [{"i": i, "x": 1.0}]),
                tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * 2.0), [i, tf.SparseTensor([[0]], [1.0], [2])]),
                tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.concat([x, x], 0)), [i, tf.constant([1.0])],
                              shape_invariants=[i.shape, tf.TensorShape([None])]),
                tf.while_loop(lambda i, w: i < 3, lambda i, w: (i + 1, w + 1.0), [i, v])]
        return sess.run(made)
    on_both(program)


# ---- losses ----

def test_losses_of_logits_above_rank_two():
    def program(tf, sess):
        np.random.seed(0)
        logits, hot = np.random.rand(2, 3, 4).astype(np.float32), np.eye(4, dtype=np.float32)[[[0, 1, 2], [3, 2, 1]]]
        ids, weights = np.array([[0, 1, 2], [3, 2, 1]]), np.array([[1.0, 0, 2], [0.5, 1, 1]], np.float32)
        losses, unknown = tf.losses, tf.placeholder(tf.float32, [None, None, None])
        made = [losses.softmax_cross_entropy(hot, logits), losses.softmax_cross_entropy(hot, logits, weights=weights),
                losses.softmax_cross_entropy(hot.astype(np.int32), logits, label_smoothing=0.1),
                losses.softmax_cross_entropy(hot, logits, reduction=losses.Reduction.NONE), losses.softmax_cross_entropy(hot, unknown),
                losses.sparse_softmax_cross_entropy(ids, logits), losses.sparse_softmax_cross_entropy(ids, logits, weights=weights),
                losses.sparse_softmax_cross_entropy(ids[..., None], logits, weights=weights[..., None]),
                losses.sparse_softmax_cross_entropy(ids[0][:, None], logits[0]), losses.sigmoid_cross_entropy(hot, logits, weights=0.5),
                losses.mean_squared_error(hot, logits, weights=weights[..., None])]
        return sess.run(made, {unknown: logits})
    on_both(program)


@pytest.mark.parametrize("labels", [
    lambda tf: [[0, 1], [1, 0]], lambda tf: tf.constant([[0, 1], [1, 0]]), lambda tf: np.array([[0, 1], [1, 0]]),
    lambda tf: tf.one_hot([0, 1], 2, dtype=tf.int64), lambda tf: tf.constant([[0, 1], [1, 0]], tf.float64),
    lambda tf: [[True, False]] * 2,
])
def test_labels_of_any_number_type(labels):
    def program(tf):
        logits = tf.constant([[1.0, 2], [3, 4]])
        return [tf.nn.softmax_cross_entropy_with_logits(labels=labels(tf), logits=logits),
                tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.constant([[0, 1], [1, 0]]), logits=logits),
                tf.nn.softmax_cross_entropy_with_logits_v2(labels=logits, logits=logits, axis=0)]
    both(program, same_nodes=False)


def test_variables_begin_with_the_value_of_another():
    def program(tf, sess):
        a = tf.Variable(tf.ones([2]), name="a")
        made = [tf.Variable(a, name="b"), tf.Variable(a._ref(), name="c"), tf.get_variable("d", initializer=a.initialized_value()),
                tf.Variable(a.initialized_value() * 2, name="e")]
        sess.run(a.initializer)
        sess.run([m.initializer for m in made])
        return [sess.run(made), [m.dtype.name for m in made]]
    on_both(program)


# ---- sparse tensors ----

def test_operators_of_sparse_tensors():
    def program(tf, sess):
        def s():
            return tf.SparseTensor([[0, 0], [1, 2]], [2.0, 4.0], [2, 3])
        whole = tf.SparseTensor([[0, 0], [1, 2]], [2, 5], [2, 3])
        made = [s() * 2.0, s() * tf.constant(3.0), s() / 2.0, s() * [[1.0, 2, 3], [4, 5, 6]], s() / [[1.0, 2, 3]], s().__div__(2.0),
                tf.ones([2, 3]) * s(), s() * 2, tf.square(s()), tf.abs(s()), tf.sign(s()), tf.negative(s()), tf.sqrt(s()), tf.tanh(s()),
                tf.cast(s(), tf.int32), whole / 2, whole * 3, s().with_values([1.0, 2.0]), tf.sparse_add(s(), tf.ones([2, 3]))]
        value = sess.run(s())
        return sess.run(made) + [sess.run(tf.SparseTensor.from_value(value)), value._fields, str(s()).split("(")[0]]
    on_both(program)


def test_gradients_of_sparse_operators():
    def program(tf, sess):
        v, d, row = tf.Variable([2.0, 4.0]), tf.Variable([[1.0, 2, 3], [4, 5, 6]]), tf.Variable([1.0, 2, 3])
        sess.run(tf.global_variables_initializer())
        s = tf.SparseTensor([[0, 0], [1, 2]], v, [2, 3])
        return sess.run([tf.gradients((s * x).values, [v, x]) for x in (d, row)] + [tf.gradients((s / d).values, [v, d])])
    on_both(program)


@pytest.mark.parametrize("wrong", [lambda tf, s: 2.0 * s, lambda tf, s: s + s, lambda tf, s: -s, lambda tf, s: s // 2.0,
                                   lambda tf, s: s * s, lambda tf, s: tf.ones([2, 3]) + s, lambda tf, s: s[0]])
def test_operators_that_sparse_tensors_do_not_have(wrong):
    both_raise(lambda tf: wrong(tf, tf.SparseTensor([[0, 0]], [2.0], [2, 3])))
