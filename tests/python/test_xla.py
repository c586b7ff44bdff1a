"""tf.xla: the nodes, attributes, results and errors of compiled computations and scopes, as TensorFlow's."""
import numpy as np
import pytest

from both import both, both_raise, nodes, oracle, run, weft


def marked(tf, program, runs=True):
    """(the nodes with their attributes of XLA, the values) of a program."""
    with tf.Graph().as_default() as graph:
        made = tf.nest.flatten(program(tf))
        marks = {n.name: sorted((k, str(v)) for k, v in n.attr.items() if k.lower().startswith("_xla"))
                 for n in graph.as_graph_def().node}
        found = sorted((name, op, tuple(sorted(inputs)), marks[name]) for name, op, inputs in nodes(tf, graph))
        if not runs:
            return found, []
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return found, [sess.run(made) for _ in range(2)]


def same(program, same_nodes=True):
    ours, theirs = marked(weft, program), marked(oracle, program)
    for a, b in zip(ours[1], theirs[1], strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6) if y is not None else None
    if same_nodes:
        assert ours[0] == theirs[0]


def computation(tf, name):
    """What tf.xla.experimental.compile makes of a computation."""
    compiled = tf.xla.experimental.compile
    one = tf.constant(2.0)

    def updating(x):
        v = tf.get_variable("v", initializer=2.0)
        with tf.control_dependencies([v.assign_add(x)]):
            return v.read_value()

    def training(x):
        v = tf.get_variable("v", initializer=2.0)
        loss = tf.square(v - x)
        return loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return {
        "two": lambda: compiled(lambda x, y: x * y + 1.0, [one, 3.0]),
        "no input": lambda: compiled(lambda: (tf.constant(3.0), tf.constant(4))),
        "nested inputs": lambda: compiled(lambda x: x["a"] + x["b"][0], [{"a": one, "b": [tf.constant(1.0)]}]),
        "nested results": lambda: compiled(lambda x: {"a": x, "b": (x * 2.0,)}, [one]),
        "operation": lambda: compiled(lambda x: (x, tf.no_op()), [one]),
        "only operations": lambda: compiled(lambda x: tf.no_op(), [one]),
        "none": lambda: compiled(lambda x: None, [one]),
        "number": lambda: compiled(lambda x: 3, [one]),
        "variable": lambda: compiled(updating, [one]),
        "training": lambda: compiled(training, [tf.constant(1.0)]),
        "condition": lambda: compiled(lambda x: tf.cond(x > 0.0, lambda: x * 2.0, lambda: x), [one]),
        "loop": lambda: compiled(lambda x: tf.while_loop(lambda i: i < 5.0, lambda i: i + x, [x]), [one]),
        "summary": lambda: compiled(lambda x: (tf.summary.scalar("a", x), x)[1], [one]),
        "gradient inside": lambda: compiled(lambda x: tf.gradients(x * x, x), [one])}[name]()


@pytest.mark.parametrize("name", ["two", "no input", "nested inputs", "nested results", "operation", "only operations", "none", "number",
                                  "variable", "condition", "summary"])
def test_a_computation_has_tensorflows_nodes_and_results(name):
    same(lambda tf: computation(tf, name))


@pytest.mark.parametrize("name", ["training", "loop", "gradient inside"])
def test_a_computation_with_gradients_or_loops_has_tensorflows_results(name):
    """The nodes of gradients and loops have other constants, as everywhere."""
    same(lambda tf: computation(tf, name), same_nodes=False)
    found, _ = marked(weft, lambda tf: computation(tf, name), runs=False)
    inside = [row for row in found if "/" in row[0] and not row[0].startswith(("v/", "cluster/"))]
    assert inside and all(row[3] for row in inside)


def test_a_computation_ignores_control_edges_from_outside():
    def program(tf):
        with tf.control_dependencies([tf.no_op(name="before")]):
            return tf.xla.experimental.compile(lambda x: x * tf.constant(2.0), [tf.constant(1.0)])
    same(program, same_nodes=False)
    found, _ = marked(weft, program, runs=False)
    assert [row[0] for row in found if "^before" in row[2]] == ["Const", "cluster/pivot", "output0"]


@pytest.mark.parametrize("name", ["order", "object", "no function", "one tensor", "dict", "too many", "too few", "nested"])
def test_misuse_raises_the_same_kind_of_error(name):
    def program(tf):
        compiled, one = tf.xla.experimental.compile, tf.constant(2.0)
        return {
            "order": lambda: compiled(lambda x: (tf.no_op(), x), [one]),
            "object": lambda: compiled(lambda x: object(), [one]),
            "no function": lambda: compiled(3, [one]),
            "one tensor": lambda: compiled(lambda x: x, one),
            "dict": lambda: compiled(lambda x: x, {"x": one}),
            "too many": lambda: compiled(lambda x: x, [1.0, 2.0]),
            "too few": lambda: compiled(lambda x, y: x, [1.0]),
            "nested": lambda: compiled(lambda x: compiled(lambda y: y, [x]), [one])}[name]()
    both_raise(program)


def test_gradients_of_results_are_refused():
    for tf in (weft, oracle):
        with pytest.raises(RuntimeError, match="Please move gradient computation inside"):
            run(tf, lambda tf: tf.gradients(computation(tf, "two"), tf.get_default_graph().get_tensor_by_name("Const:0")))


@pytest.mark.parametrize("how", [{}, {"compile_ops": False}, {"compile_ops": lambda node: "add" in node.name},
                                 {"separate_compiled_gradients": True}])
def test_a_scope_marks_its_nodes_and_their_gradients(how):
    def program(tf):
        scope = tf.xla.experimental.jit_scope
        with scope(**how):
            a = tf.constant(2.0) * 3.0
            with scope(**how):
                b = a + 1.0
            with scope(compile_ops=False):
                c = b + 1.0
        with scope(**how):
            d = c * 2.0
        return tf.gradients(d * d, a)
    same(program)


def test_contrib_has_the_same_functions():
    assert weft.contrib.compiler.xla.compile is weft.xla.experimental.compile
    assert weft.contrib.compiler.jit.experimental_jit_scope is weft.xla.experimental.jit_scope


def test_blocks_of_a_grid_join_to_what_was_cut():
    """TensorFlow 2.15 has no kernel of these ops; a variable is cut and assigned, with a padding in each axis."""
    values = np.arange(15, dtype=np.float32).reshape(3, 5)
    grid = {"num_splits": [2, 3], "paddings": [1, 1]}
    with weft.Graph().as_default(), weft.Session() as sess:
        raw = weft.raw_ops
        v, w = (weft.Variable(x, use_resource=True) for x in (values, np.zeros_like(values)))
        blocks = raw.XlaSplitND(input=values, N=6, **grid)
        read = raw.ReadVariableXlaSplitND(resource=v.handle, T=weft.float32, N=6, **grid)
        joined = raw.XlaConcatND(inputs=blocks, num_concats=[2, 3], paddings=[1, 1])
        assigned = raw.AssignVariableXlaConcatND(resource=w.handle, inputs=[b * 2.0 for b in read], num_concats=[2, 3], paddings=[1, 1])
        sess.run(weft.global_variables_initializer())
        sess.run(assigned)
        cut, of_variable, whole, now = sess.run([blocks, read, joined, w])
    padded = np.pad(values, [(0, 1), (0, 1)])
    for i, (block, other) in enumerate(zip(cut, of_variable, strict=True)):
        wanted = padded[i // 3 * 2:i // 3 * 2 + 2, i % 3 * 2:i % 3 * 2 + 2]
        np.testing.assert_array_equal(block, wanted)
        np.testing.assert_array_equal(other, wanted)
    np.testing.assert_array_equal(whole, values)
    np.testing.assert_array_equal(now, values * 2)


def test_settings_of_eager_mode_are_kept():
    def program(tf):
        e = tf.config.experimental
        e.list_logical_devices()  # TensorFlow needs to have looked for its devices
        said = [e.get_synchronous_execution(), e.get_device_policy(), e.enable_mlir_bridge(), e.disable_mlir_bridge()]
        e.set_synchronous_execution(False)
        e.set_device_policy("silent_for_int32")
        said += [e.get_synchronous_execution(), e.get_device_policy()]
        e.set_synchronous_execution(None)
        e.set_device_policy(None)
        with tf.experimental.async_scope(), tf.experimental.function_executor_type(""):
            x = tf.experimental.Optional.from_value(tf.constant(3.0)).get_value()
        return [x, *said, e.get_synchronous_execution(), e.get_device_policy(), tf.experimental.output_all_intermediates(None)]
    both(program, same_nodes=False)
    both_raise(lambda tf: tf.config.experimental.set_device_policy("loud"))
