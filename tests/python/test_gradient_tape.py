"""tf.GradientTape in a graph: what it records, watches and returns, and its errors, as TensorFlow's."""
import numpy as np
import pytest

from both import both, both_raise, oracle, weft


def resource(tf, value, **given):
    return tf.Variable(value, use_resource=True, **given)


def recorded(tf, fn, value=(3.0, 4.0), **given):
    """(the tape, x, what fn computes of x) with x watched."""
    x = tf.constant(np.array(value, np.float32))
    with tf.GradientTape(**given) as tape:
        tape.watch(x)
        y = fn(x)
    return tape, x, y


def shown(made):
    """Gradients that may be missing."""
    return ["none" if d is None else d for d in made]


def test_gradients_follow_what_is_watched():
    def program(tf):
        tape, x, y = recorded(tf, lambda x: tf.sin(x * x))
        c = tf.constant(4.0)
        with tf.GradientTape(persistent=True) as late:
            first = c * c
            late.watch(c)
            second = first * c
        with tf.GradientTape() as other:
            other.watch(c)
            z = c * 3.0 + x
        return [tape.gradient(y, x), *shown(late.gradient(second, [c, first])), *shown([late.gradient(first, c)]),
                *shown(other.gradient(z, [c, x]))]
    both(program, same_nodes=False)


def test_trainable_variables_are_watched_when_they_are_read():
    def program(tf):
        v, w = resource(tf, 2.0, name="v"), resource(tf, 5.0, name="w", trainable=False)
        before = v.read_value()
        with tf.GradientTape(persistent=True) as tape:
            u = resource(tf, 7.0, name="u")
            y = v * v * w * before
        with tf.GradientTape(watch_accessed_variables=False) as chosen:
            chosen.watch(w)
            z = v * w
        return [*shown(tape.gradient(y, [v, w, u, before])), [x.name for x in tape.watched_variables()],
                *shown(chosen.gradient(z, [v, w])), [x.name for x in chosen.watched_variables()]]
    both(program, same_nodes=False)


def test_assignments_and_lookups_are_differentiated():
    def program(tf):
        v, table = resource(tf, 2.0), resource(tf, np.ones((4, 2), np.float32))
        with tf.GradientTape(persistent=True) as tape:
            y = v.assign(v * 3.0) * 2.0
            rows = tf.nn.embedding_lookup(table, [1, 1, 2])
        found = tape.gradient(rows, table)
        assert type(found).__name__ == "IndexedSlices"
        return [tape.gradient(y, v), tf.convert_to_tensor(found)]
    both(program, same_nodes=False)


def test_pauses_resets_and_nested_tapes():
    def program(tf):
        x = tf.constant(3.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            with tape.stop_recording():
                held = x * x
            y = held * x
        with tf.GradientTape() as fresh:
            fresh.watch(x)
            old = x * x
            fresh.reset()
            z = old * x
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                cube = x * x * x
            slope = inner.gradient(cube, x)
        twice = tf.GradientTape()
        with twice:
            twice.watch(x)
            a = x * x
        b = a * a
        with twice:
            c = a * a
        return [*shown(tape.gradient(y, [x, held])), *shown(fresh.gradient(z, [x, old])), slope, outer.gradient(slope, x),
                *shown(twice.gradient([c, b], [x]))]
    both(program, same_nodes=False)


def test_gradients_inside_a_persistent_tape_are_recorded():
    def program(tf):
        x = tf.constant([3.0, 4.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = x * x * x
            first = tape.gradient(z, x)
            with tape.stop_recording():
                held = tape.gradient(z, x)
            y = z * held
        return [first, tape.gradient(first, x), tape.gradient(y, x)]
    both(program, same_nodes=False)


def test_targets_sources_and_gradients_of_outputs():
    def program(tf):
        tape, x, y = recorded(tf, lambda x: x * 2.0, persistent=True)
        other = tf.constant(2.0)
        made = tape.gradient(y, {"a": x, "b": [other]}, output_gradients=tf.constant([5.0, 6.0]),
                             unconnected_gradients=tf.UnconnectedGradients.ZERO)
        assert sorted(made) == ["a", "b"]
        integers = recorded(tf, lambda x: tf.cast(x, tf.int32) * 2)
        return [made["a"], made["b"][0], tape.gradient([y, x], x), *shown([tape.gradient(y, other)]), tape.gradient(y, []),
                tape.gradient(x, x), tape.gradient(y, other, unconnected_gradients="zero"),
                *shown([integers[0].gradient(integers[2], integers[1])])]
    both(program, same_nodes=False)


def test_ragged_sparse_and_custom_gradients():
    def program(tf):
        @tf.custom_gradient
        def hundred(x):
            return x * x, lambda d: d * 100.0
        ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
        with tf.GradientTape() as tape:
            tape.watch(ragged)
            y = tf.reduce_sum(ragged * ragged)
        mine = recorded(tf, hundred)
        held = recorded(tf, lambda x: tf.stop_gradient(x) * x)
        sparse = recorded(tf, lambda x: tf.sparse_tensor_dense_matmul(tf.SparseTensor([[0, 0], [1, 1]], x, [2, 2]), tf.ones([2, 2])))
        return [tape.gradient(y, ragged).flat_values] + [t.gradient(z, x) for t, x, z in (mine, held, sparse)]
    both(program, same_nodes=False)


@pytest.mark.parametrize("pfor", [True, False])
def test_jacobians(pfor):
    def program(tf):
        tape, x, y = recorded(tf, lambda x: x * x * tf.reduce_sum(x), value=[[3.0, 4.0], [5.0, 6.0]], persistent=True)
        v = resource(tf, [1.0, 2.0])
        with tf.GradientTape() as of_variable:
            z = v * tf.reduce_sum(v)
        rows = recorded(tf, lambda x: tf.sin(x) * x, value=[[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
        how = {"experimental_use_pfor": pfor, "parallel_iterations": 3}
        made = tape.jacobian(y, {"x": x, "y": y}, **how)
        batch = rows[0].batch_jacobian(rows[2], rows[1], **how)
        return [made["x"], made["y"], of_variable.jacobian(z, v, **how), batch, made["x"].shape.as_list(), batch.shape.as_list()]
    both(program, same_nodes=False)


def test_unconnected_jacobians():
    def program(tf):
        tape, x, y = recorded(tf, lambda x: x * x, value=[[3.0], [4.0]], persistent=True)
        other = tf.constant(2.0)
        rows = tf.reshape(y, [-1])
        with tape:
            flat = tf.reshape(y, [2])
        return [tape.batch_jacobian(y, tf.constant([[1.0], [2.0]])), *shown([tape.jacobian(flat, other), tape.jacobian(rows, x)]),
                tape.jacobian(flat, other, unconnected_gradients="zero")]
    both(program, same_nodes=False)


def test_a_keras_model_is_trained_as_by_tensorflow():
    """With optimizers of Keras and of tf.train, five steps each."""
    def curve(tf, optimizer):
        with tf.Graph().as_default(), tf.Session() as sess:
            model = tf.keras.Sequential([tf.keras.layers.Dense(3, "tanh", kernel_initializer="ones"), tf.keras.layers.BatchNormalization(),
                                         tf.keras.layers.Dense(1, kernel_initializer="ones")])
            x, y = tf.constant([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]]), tf.constant([[1.0], [0.0], [2.0]])
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            grads = tape.gradient(loss, model.trainable_variables)
            step = optimizer(tf).apply_gradients(zip(grads, model.trainable_variables))
            sess.run(tf.global_variables_initializer())
            return [sess.run([loss, step])[0] for _ in range(5)]
    for optimizer in (lambda tf: tf.keras.optimizers.Adam(0.1), lambda tf: tf.train.MomentumOptimizer(0.1, 0.9)):
        found = [curve(tf, optimizer) for tf in (weft, oracle)]
        np.testing.assert_allclose(*found, rtol=1e-4)
        assert found[0][-1] < found[0][0]


def misuse(name):
    """A program that uses a tape wrongly."""
    def program(tf):
        tape, x, y = recorded(tf, lambda x: x * x)
        calls = {
            "twice": lambda: (tape.gradient(y, x), tape.gradient(y, x)),
            "jacobian twice": lambda: (tape.jacobian(y, x), tape.jacobian(y, x)),
            "no target": lambda: tape.gradient(None, x),
            "no source": lambda: tape.gradient(y, None),
            "a word as source": lambda: tape.gradient(y, "x"),
            "unconnected": lambda: tape.gradient(y, x, unconnected_gradients="some"),
            "shape": lambda: tape.gradient(y, x, output_gradients=tf.ones([3])),
            "dtype": lambda: tape.gradient(y, x, output_gradients=tf.constant([1, 2])),
            "none": lambda: tape.gradient([y, y * 1.0], x, output_gradients=[None, tf.ones([2])]),
            "sparse": lambda: tape.gradient(y, tf.SparseTensor([[0], [1]], x, [2])),
            "rank": lambda: tape.batch_jacobian(y, x),
            "batch": lambda: tape.batch_jacobian(tf.reshape(y, [1, 2]), tf.reshape(x, [2, 1])),
            "never entered": lambda: tf.GradientTape().gradient(y, x),
            "watch before": lambda: tf.GradientTape().watch(x),
            "pause before": lambda: tf.GradientTape().stop_recording().__enter__(),
            "reset before": lambda: tf.GradientTape().reset(),
            "pause after": lambda: tape.stop_recording().__enter__(),
            "reset after": lambda: tape.reset(),
            "reference variable": lambda: tape.gradient(y, tf.Variable(1.0, use_resource=False))}
        if name is None:
            return sorted(calls)
        if name == "entered twice":
            with tape, tape:
                return []
        if name.startswith("watch "):
            with tf.GradientTape() as other:
                other.watch({"watch a word": "x", "watch a number": 3.0, "watch None": None}[name])
        return calls[name]()
    return program


@pytest.mark.parametrize("name", [*misuse(None)(weft), "entered twice", "watch a word", "watch a number", "watch None"])
def test_misuse_raises_the_same_kind_of_error(name):
    both_raise(misuse(name))


def test_an_op_without_a_gradient_is_an_error():
    def program(tf):
        tape, x, y = recorded(tf, lambda x: tf.raw_ops.AdjustHue(images=tf.ones([1, 1, 3]) * x[0], delta=0.1))
        return tape.gradient(y, x)
    said = both_raise(program)
    assert all("AdjustHue" in s for s in said)


def test_too_few_output_gradients_are_an_error():
    """TensorFlow 2.15 reads beyond the end of its list."""
    with weft.Graph().as_default():
        tape, x, y = recorded(weft, lambda x: x * x)
        with pytest.raises(ValueError, match="1 output_gradients are given for 2 targets"):
            tape.gradient([y, y], x, output_gradients=[weft.ones([2])])


def test_conditions_and_loops_are_differentiated():
    """TensorFlow's tape refuses them in a graph; the gradients are those of tf.gradients."""
    cell = {"dtype": weft.float32}
    with weft.Graph().as_default(), weft.Session() as sess:
        x = weft.constant([3.0, 4.0])
        sequence = weft.ones([2, 3, 4])
        with weft.GradientTape(persistent=True) as tape:
            tape.watch([x, sequence])
            made = [weft.cond(weft.reduce_sum(x) > 1.0, lambda: x * x, lambda: x),
                    weft.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1], weft.map_fn(lambda a: a * a, x)]
            output, _ = weft.nn.dynamic_rnn(weft.nn.rnn_cell.BasicRNNCell(5), sequence, **cell)
        pairs = [(tape.gradient(y, x), weft.gradients(y, x)[0]) for y in made]
        pairs.append((tape.gradient(output, sequence), weft.gradients(output, sequence)[0]))
        sess.run(weft.global_variables_initializer())
        for ours, wanted in sess.run(pairs):
            np.testing.assert_array_equal(ours, wanted)
            assert np.any(wanted)
