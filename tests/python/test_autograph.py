"""tf.function and tf.autograph convert `if`, `while`, `for`, `return`, `break`, `continue` as TensorFlow does."""
import collections

import numpy as np
import pytest

from both import both, both_raise, oracle, weft

Pair = collections.namedtuple("Pair", ["first", "second"])


def branches(tf, x):
    if x > 2.0:
        y = x * x
        z = Pair(x, [y])
    elif x > 0.0:
        temporary = x + 1.0
        y = temporary * 10.0
        z = Pair(y, [x])
    else:
        y, z = 1.0, Pair(x, [x])
    if not x > 5.0:
        y += 0.5
    return y, z.first, z.second[0], (x if x > 1.0 else -x)


def returns(tf, x):
    if x > 3.0:
        return x * 10.0
    if x > 2.0:
        if x > 2.5:
            return x * 100.0
        return x * 1000.0
    x = x + 1.0
    return x


def loops(tf, x):
    i, total = 0, tf.constant(0.0)
    while total < 10.0 and i < 20:
        total += x
        i += 1
    for k in tf.range(6):
        if k > 3:
            break
        if k < 1:
            continue
        total += tf.cast(k, tf.float32)
    for row in tf.constant([[1.0, 2.0], [3.0, 4.0]]):
        total += tf.reduce_sum(row) * x
    for n in range(3):
        if n == 2:
            break
        total += n
    return total, i


def nested(tf, x):
    rows = tf.TensorArray(tf.float32, size=3)
    for i in tf.range(3):
        inner, j = 0.0, 0
        while j < i + 1:
            if tf.cast(j, tf.float32) > x:
                inner += 100.0
            else:
                inner += 1.0
            j += 1
        rows = rows.write(i, inner)
    return rows.stack()


def helper(tf, x, limit=3.0):
    if x > limit:
        return x - limit
    return x


class Model:
    def __init__(self, scale):
        self.scale, self.seen = scale, 0.0

    def apply(self, tf, x):
        if x > 1.0:
            self.seen = x
        else:
            self.seen = -x
        return x * self.scale if self.seen > 0.0 else x

    def total(self, values):
        return float(len(values)) + abs(values[0])


def calls(tf, x):
    scale = 2.0

    def inner(y, *, add=1.0):
        nonlocal scale
        scale = scale + 1.0
        if y > 0.0:
            return y * scale + add
        return -y
    model = Model(3.0)
    values = [helper(tf, v) for v in (x, x + 1.0)]
    return inner(x), inner(x, add=5.0), model.apply(tf, x), model.total(values), helper(tf, x, limit=1.0), int(x), float(3)


def logic(tf, x):
    a, b = x > 1.0, x < 3.0
    made = 0.0
    if a and b:
        made += 1.0
    if a or b:
        made += 10.0
    if not a and not b:
        made += 100.0
    if a and (b or x > 5.0) and True:
        made += 1000.0
    return made


SCALARS = [branches, returns, loops, nested, calls, logic]


@pytest.mark.parametrize("fn", SCALARS)
@pytest.mark.parametrize("value", [-1.0, 0.5, 1.5, 2.25, 2.75, 7.0])
def test_functions_are_converted(fn, value):
    def program(tf):
        x = tf.placeholder_with_default(np.float32(value), [])
        return tf.nest.flatten(tf.function(bound(tf, fn))(x))
    both(program, same_nodes=False)


def bound(tf, fn):
    """The function without its first parameter, with a source of its own."""
    def run(x):
        return fn(tf, x)
    return run


@pytest.mark.parametrize("fn", [branches, returns, loops, nested, calls])
def test_to_graph_converts_without_a_function(fn):
    def program(tf):
        x = tf.placeholder_with_default(np.float32(2.75), [])
        return tf.nest.flatten(tf.autograph.to_graph(fn)(tf, x))
    both(program, same_nodes=False)


def test_options_of_loops():
    def program(tf):
        def options(x):
            i = tf.constant(0)
            while i < 100:
                tf.autograph.experimental.set_loop_options(maximum_iterations=4, parallel_iterations=1,
                                                           shape_invariants=[(x, tf.TensorShape([None]))])
                x = tf.concat([x, [tf.cast(i, tf.float32)]], 0)
                i += 1
            return x, i
        return tf.function(options)(tf.constant([5.0]))
    both(program, same_nodes=False)


def test_gradients_pass_through_converted_functions():
    def program(tf):
        x = tf.placeholder_with_default(np.float32(1.5), [])
        made = [tf.function(bound(tf, f))(x) for f in (returns, loops, nested)]
        return [tf.gradients(y, x)[0] for y in (made[0], made[1][0], made[2])]
    ours, theirs = [], []
    for tf, out in ((weft, ours), (oracle, theirs)):
        with tf.Graph().as_default(), tf.Session() as sess:
            out += sess.run([g for g in program(tf) if g is not None])
    np.testing.assert_allclose(ours[:2], theirs[:2])


def test_effects_in_converted_functions_are_in_order():
    def curve(tf):
        with tf.Graph().as_default(), tf.Session() as sess:
            v, count = (tf.Variable(x, use_resource=True) for x in (1.0, 0))

            @tf.function
            def step(x):
                v.assign_add(1.0)
                if v > x:
                    v.assign(v * 10.0)
                for i in tf.range(3):
                    count.assign_add(i)
                    if count > 5:
                        v.assign_sub(tf.cast(count, tf.float32))
                while v > 50.0:
                    v.assign(v * 0.5)
                assert_ran = v.read_value()
                return assert_ran, count
            made = step(tf.constant(3.0))
            sess.run(tf.global_variables_initializer())
            return [sess.run(made) for _ in range(5)]
    np.testing.assert_allclose(np.array(curve(weft), float), np.array(curve(oracle), float))


def test_a_loop_over_a_data_set():
    def program(tf):
        data = tf.data.Dataset.range(5)

        @tf.function
        def total():
            made = tf.constant(0, tf.int64)
            for x in data:
                if x > 1:
                    made += x
            return made
        return total()
    both(program, same_nodes=False)


def test_what_is_not_converted():
    def program(tf):
        @tf.autograph.experimental.do_not_convert
        def plain(x):
            return 1.0 if isinstance(x, float) else (x if x is not None else 2.0)

        @tf.function
        def f(x):
            return plain(x)
        square = tf.function(lambda x: x * x)
        return [f(tf.constant(3.0)), square(3.0)]
    both(program, same_nodes=False)

    def refused(tf):
        def f(x):
            if x > 1.0:
                return x
            return -x
        return tf.function(f, autograph=False)(tf.constant(2.0))
    both_raise(refused)


@pytest.mark.parametrize("name", ["types", "shape", "assertion"])
def test_misuse_raises_the_same_kind_of_error(name):
    def program(tf):
        def types(x):
            if x > 1.0:
                y = tf.constant(1)
            else:
                y = tf.constant(1.0)
            return y

        def shape(x):
            y = tf.constant([1.0])
            while x > 1.0:
                x = x - 1.0
                y = tf.concat([y, y], 0)
            return y

        def assertion(x):
            assert x > 0.0
            return x
        return tf.function({"types": types, "shape": shape, "assertion": assertion}[name])(tf.constant(2.0))
    both_raise(program)


def test_a_variable_without_a_value_is_named():
    def one_branch(x):
        if x > 1.0:
            y = x
        return y + 1.0

    def in_a_loop(x):
        while x > 1.0:
            x = x - 1.0
            y = x
        return y + 1.0
    for fn in (one_branch, in_a_loop):
        with weft.Graph().as_default(), pytest.raises(UnboundLocalError, match="'y' cannot be used"):
            weft.function(fn)(weft.constant(2.0))


def test_the_source_of_a_converted_function():
    text = weft.autograph.to_code(returns)
    assert text.startswith("def returns(tf, x):") and "ag__.if_stmt(" in text and "return x * 10" not in text
    for wrong in (weft.autograph.to_code, weft.autograph.to_graph):
        with pytest.raises(ValueError, match="is not a function"):
            wrong(3)
        with pytest.raises(ValueError, match="it is a lambda"):
            wrong(lambda x: x)
        with pytest.raises(NotImplementedError, match="tf.equal and tf.TensorArray"):
            wrong(returns, experimental_optional_features=weft.autograph.experimental.Feature.LISTS)


def test_a_traceback_has_the_lines_of_the_program():
    def broken(x):
        if x > 1.0:
            x = x + 1.0
        raise KeyError("here")
    with weft.Graph().as_default(), pytest.raises(KeyError) as raised:
        weft.function(broken)(weft.constant(1.0))
    last = raised.traceback[-1]
    assert str(last.path) == __file__ and last.lineno + 1 == broken.__code__.co_firstlineno + 3


def test_defun_of_contrib_is_a_function():
    with weft.Graph().as_default(), weft.Session() as sess:
        made = weft.contrib.eager.defun(returns, autograph=True)
        assert sess.run(made(weft, weft.placeholder_with_default(np.float32(4.0), []))) == 40.0
        with pytest.raises(TypeError, match="input_signature"):
            weft.contrib.eager.defun(returns, input_signature=[3])
