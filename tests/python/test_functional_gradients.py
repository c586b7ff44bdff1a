"""Gradients of If, Case, While and calls of functions: TensorFlow builds the graph, both differentiate it twice.

Some graphs with our gradients also run in TensorFlow, which shows that their functions are whole.
"""
import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as oracle

import weft
from both import compare

oracle.disable_v2_behavior()
CASES = {}


def case(*feeds, second=False):
    """second: the second derivative too, and TensorFlow runs the graph that has our gradients."""
    def keep(build):
        CASES[build.__name__] = build, feeds, second
        return build
    return keep


def placeholder(name, shape=(), dtype="float32"):
    return oracle.placeholder(dtype, shape, name=name)


def variable(value):
    return oracle.get_variable("v", initializer=np.float32(value), use_resource=True)


def loop(body, *first, times=3, **more):
    """What a loop makes of the variables in so many iterations."""
    out = oracle.while_loop(lambda i, *_: i < times, lambda i, *v: (i + 1,) + body(i, *v), (oracle.constant(0),) + first, **more)
    return list(out[1:])


@case({"p:0": True, "x:0": [1, 2, 3]}, {"p:0": False, "x:0": [1, 2, 3]})
def conditional(tf):
    x = placeholder("x", [3])
    y = tf.cond(placeholder("p", [], "bool"), lambda: tf.reduce_sum(x * x) * tf.sin(x[0]), lambda: tf.reduce_sum(tf.exp(x)))
    return [y], [x]


@case({"p:0": True, "x:0": [1, 2]}, {"p:0": False, "x:0": [1, 2]}, second=True)
def conditional_with_variable(tf):
    x, v = placeholder("x", [2]), variable([1, 2])
    y = tf.cond(placeholder("p", [], "bool"), lambda: tf.reduce_sum(x * v), lambda: tf.reduce_sum(tf.exp(x) * v * v))
    return [y], [x, v.handle]


@case({"p:0": True}, {"p:0": False})
def conditional_that_gathers(tf):
    v = variable(np.arange(6).reshape(3, 2))
    return [tf.cond(placeholder("p", [], "bool"), lambda: tf.gather(v, [0, 2, 0]), lambda: tf.zeros([3, 2]))], [v.handle]


@case({"p:0": True, "x:0": [1, 1], "z:0": [1, 2]}, {"p:0": False, "x:0": [1, 1], "z:0": [1, 2]})
def conditional_with_results_that_nobody_reads(tf):
    x, z = placeholder("x", [2]), placeholder("z", [2])
    a, _, _ = tf.cond(placeholder("p", [], "bool"), lambda: (x * 2.0, tf.constant(1), z), lambda: (x, tf.constant(2), x))
    return [a], [x, z]


@case({"p:0": True, "x:0": 2.0}, {"p:0": True, "x:0": 2.0}, {"p:0": False, "x:0": 2.0})
def conditional_that_assigns_once(tf):
    v, x = variable(1), placeholder("x")

    def assign():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return x * v.read_value()
    return [tf.cond(placeholder("p", [], "bool"), assign, lambda: x)], [x]


@case({"i:0": 0, "x:0": [1, 2]}, {"i:0": 1, "x:0": [1, 2]}, {"i:0": 7, "x:0": [1, 2]}, second=True)
def cases(tf):
    x = placeholder("x", [2])
    return [tf.switch_case(placeholder("i", [], "int32"), [lambda: x * x, lambda: tf.sin(x), lambda: x * 3.0])], [x]


@case({"i:0": 0}, {"i:0": 1})
def cases_with_variable(tf):
    v = variable([1, 2])
    return [tf.switch_case(placeholder("i", [], "int32"), [lambda: v * v, lambda: v * 3.0])], [v.handle]


@case({"n:0": 0, "x:0": 1.5}, {"n:0": 1, "x:0": 1.5}, {"n:0": 4, "x:0": 1.5}, second=True)
def iterations(tf):
    x = placeholder("x")
    return loop(lambda i, y: (y * x + tf.sin(y),), x, times=placeholder("n", [], "int32")), [x]


@case({"x:0": 1.5, "z:0": 2.0})
def iterations_that_swap_variables(tf):
    x, z = placeholder("x"), placeholder("z")
    return loop(lambda i, a, b: (b * x, a * 2.0), x, z), [x, z]


@case({"x:0": [1, 2]}, second=True)
def branches_in_iterations(tf):
    x, v = placeholder("x", [2]), variable([1, 2])
    return loop(lambda i, y: (tf.cond(tf.equal(i % 2, 0), lambda: y * v, lambda: y + v * x),), x), [x, v.handle]


@case({"x:0": 1.2}, second=True)
def iterations_in_iterations(tf):
    x = placeholder("x")
    return loop(lambda i, y: (loop(lambda j, z: (z * x,), y, times=2)[0] + tf.cos(y),), x), [x]


@case({"x:0": [1.5, 2, 3]})
def iterations_that_fill_an_array(tf):
    x = placeholder("x", [3])
    array, _ = loop(lambda i, t, a: (t.write(i, a * x[i]), a * x[i]), tf.TensorArray(tf.float32, 3, element_shape=[]),
                    tf.constant(1.0))
    return [array.stack()], [x]


@case({"x:0": [1, 1]})
def iterations_that_draw(tf):
    x = placeholder("x", [2])
    return loop(lambda i, y: (y * tf.random_uniform([2], seed=5),), x), [x]


@case({"x:0": [1, 2]})
def a_call_with_a_variable(tf):
    x, v = placeholder("x", [2]), variable([1, 2])
    f = tf2.function(lambda a: tf.tanh(a * v) * a)
    return [f(x) + f(2.0 * x)], [x, v.handle]


def built(build):
    with oracle.Graph().as_default() as graph:
        oracle.enable_control_flow_v2()
        try:
            ys, xs = build(oracle)
            init = oracle.global_variables_initializer()
        finally:
            oracle.disable_control_flow_v2()
        return graph.as_graph_def().SerializeToString(), [t.name for t in ys], [t.name for t in xs], init.name


def gradients(tf, graph, ys, xs, second):
    """The names of ys and of their derivatives; which there are."""
    tensors = [graph.get_tensor_by_name(n) for n in ys]
    xs = [graph.get_tensor_by_name(n) for n in xs]
    found = tensors + [d if d is None else tf.convert_to_tensor(d) for d in tf.gradients(tensors, xs)]
    if second:
        found += tf.gradients([d for d in found[len(ys):] if d is not None], xs)
    return [d.name for d in found if d is not None], [d is None for d in found]


def run(tf, definition, init, feeds, make, before=None):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(definition), name="")
        with tf.Session() as s:
            if before:  # TensorFlow cannot differentiate what a session has run
                s.run(init)
                s.run(before, feeds[0])
            names = make(graph)
            s.run(init)
            values = [s.run(names, f) for f in feeds]
        return values, graph.as_graph_def().SerializeToString()


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    build, feeds, second = CASES[name]
    definition, ys, xs, init = built(build)
    none, values, names = {}, {}, []
    for tf in weft, oracle:
        def make(graph, tf=tf):
            nonlocal names
            found, none[tf] = gradients(tf, graph, ys, xs, second)
            names = names or found
            return found
        values[tf], graph = run(tf, definition, init, feeds, make, ys if tf is weft and "draw" not in name else None)
        if tf is weft:
            ours = graph
    assert none[weft] == none[oracle]
    compare(values[weft], values[oracle], 2e-4)
    if second:
        compare(run(oracle, ours, init, feeds, lambda graph: names)[0], values[oracle], 2e-4)


@pytest.mark.parametrize("where", ["cond", "while_loop"])
def test_a_graph_is_imported_into_a_branch_or_a_loop(where):
    """What is imported there runs there: a branch that is not taken draws no numbers, and gradients pass through."""
    with oracle.Graph().as_default() as graph:
        oracle.enable_control_flow_v2()
        a = placeholder("a")
        oracle.cond(a > 0.0, lambda: a * oracle.random_uniform([], seed=3), lambda: oracle.sin(a), name="y")
        oracle.disable_control_flow_v2()
        definition = graph.as_graph_def().SerializeToString()
    said = []
    for tf in weft, oracle:
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [])

            def imported(v, tf=tf):
                return tf.import_graph_def(tf.GraphDef.FromString(definition), {"a:0": v}, ["y/Identity:0"])[0]
            if where == "cond":
                z = tf.cond(x > 1.0, lambda: imported(x) * 2.0, lambda: x)  # noqa: B023 - called at once
            else:
                z = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, imported(v) * 0.5 + x), [0, x])[1]  # noqa: B023
            dx, = tf.gradients(z, x)
            with tf.Session() as s:
                said.append([s.run([z, dx], {x: v}) for v in (1.1, 0.5, 2.0)])
    compare(*said)


def test_a_body_that_would_draw_again_is_refused():
    """A body with its own Switch is computed again for the gradient; random numbers would differ then."""
    with oracle.Graph().as_default() as g:
        oracle.enable_control_flow_v2()
        try:
            x = placeholder("x")

            def branch():
                drawn = oracle.raw_ops.Switch(data=x * oracle.random_uniform([]), pred=oracle.constant(True))
                return oracle.raw_ops.Merge(inputs=[drawn.output_false, drawn.output_true]).output
            y = oracle.cond(placeholder("p", [], "bool"), branch, lambda: x)
        finally:
            oracle.disable_control_flow_v2()
        definition, name = g.as_graph_def().SerializeToString(), y.name
    with weft.Graph().as_default():
        x, y = weft.import_graph_def(weft.GraphDef.FromString(definition), return_elements=["x:0", name])
        with pytest.raises(NotImplementedError, match=r"computes its body again, and .*RandomUniform"):
            weft.gradients(y, x)
