"""What Python's own operators mean on tensors and variables, and the attributes that programs use without asking."""
import numpy as np
import pytest

import weft
from both import both, both_raise, oracle

SYSTEMS = (weft, oracle)


def on_both(program):
    """program(tf, session) in a graph of its own, in both systems: what it returns, which must be the same."""
    found = []
    for tf in SYSTEMS:
        with tf.Graph().as_default(), tf.Session() as sess:
            found.append(program(tf, sess))
    assert repr(found[0]) == repr(found[1])
    return found[0]


def test_a_variable_is_true_and_equal_to_itself_alone():
    def program(tf, sess):
        v, w = tf.Variable(0.0), tf.Variable(0.0)
        return [bool(v), (v or 3) is v, not v, v == v, v == w, v != w, {v: 1, w: 2}[w], w in [v], v.ref() == v.ref(),
                v.ref() == w.ref(), v.ref().deref() is v]
    assert on_both(program)[0] is True


@pytest.mark.parametrize("use", [bool, list, len, np.array, float, int, lambda t: t or 1, lambda t: [1, 2][t],
                                 lambda t: 1.0 in t, lambda t: t.__array__()])
def test_what_a_tensor_is_not_is_an_error_of_the_same_class(use):
    both_raise(lambda tf: use(tf.constant([1.0, 2.0], name="t")))


@pytest.mark.parametrize("use", [list, len, float, int])
def test_what_a_variable_is_not_is_an_error_of_the_same_class(use):
    both_raise(lambda tf: use(tf.Variable([1.0, 2.0])))


def test_what_was_fed_is_fetched_as_it_was_fed():
    def program(tf, sess):
        x, s = tf.placeholder(tf.float32, []), tf.placeholder(tf.string)
        y, z = tf.placeholder(tf.float32, [2]), np.array([1, 2], np.float32)
        c = tf.constant(1.0)
        one, text = sess.run(x, {x: 3}), sess.run(s, {s: ["a", b"b"]})
        both_of_them, doubled = sess.run([[y, y], {"d": y * 2}], {y: z})
        return [type(one), one, text, type(sess.run(s, {s: "abc"})), both_of_them[1] is z, both_of_them[0], doubled["d"],
                sess.run([c, c + 1], {c: 5.0}), type(sess.run(x + 1, {x: 3}))]
    on_both(program)


def test_several_outputs_are_a_tuple_with_the_names_of_the_outputs():
    def program(tf, sess):
        made = [tf.unique([1, 1, 2]), tf.unique_with_counts([1, 1, 2]), tf.nn.top_k([1.0, 2.0, 3.0], 2), tf.qr([[1.0, 2.0], [3.0, 4.0]]),
                tf.raw_ops.Switch(data=1.0, pred=True), tf.raw_ops.Merge(inputs=[1, 2]), tf.raw_ops.IdentityN(input=[1.0, 2]),
                tf.raw_ops.CTCBeamSearchDecoder(inputs=tf.ones([2, 1, 3]), sequence_length=[2], beam_width=2, top_paths=2)]
        shape = [(type(m).__name__, getattr(m, "_fields", None), [type(p).__name__ for p in m if isinstance(p, list)]) for m in made]
        return [shape, sess.run(made[0]), sess.run(made[0].idx), sess.run(made[1].count)]
    on_both(program)


def test_every_op_with_several_outputs_names_them_as_tensorflow_does():
    from tensorflow.python.framework import op_def_registry

    from weft._core.framework import opdef
    several = [n for n in opdef.names() if len(opdef.get(n).outputs) > 1 and op_def_registry.get(n) is not None]
    assert len(several) > 60
    for name in several:
        assert opdef.get(name).result._fields == tuple(o.name for o in op_def_registry.get(name).output_arg), name


def test_attributes_of_graphs_operations_and_tensors():
    def program(tf, sess):
        graph = tf.get_default_graph()
        with tf.name_scope("outer"):
            a = tf.constant([1.0], name="a")
            stack = graph._name_stack
        b = tf.identity(a, name="b")
        a.note, b.op.note = "mine", "of the op"
        tf.add_to_collection("things", a)
        graph.finalize()
        ended = graph._finalized
        graph._unsafe_unfinalize()
        return [sorted(graph._nodes_by_name), graph._nodes_by_name["b"] is b.op, len(graph._nodes_by_id), stack, a.note, b.op.note,
                graph._finalized, ended, graph._collections["things"] == [a], a._op is a.op, a._dtype.name, a._name, a._shape_tuple(),
                a._rank(), a.ndim, a._value_index if hasattr(a, "_value_index") else 0, a._shape is not None,
                [t.name for t in b.op._input_types and b.op.inputs], a.ref() == a.ref(), a._id == a._id,
                a._id != b._id, b.op._get_control_flow_context(), graph._get_control_flow_context(),
                bool(sess._target), sess._graph is graph,
                sess._closed, sess._session is not None, sess._extend_graph(), graph.building_function, graph.version]
    on_both(program)


def test_attributes_that_only_tensorflow_1_has():
    with weft.Graph().as_default() as graph:
        with weft.name_scope("Outer"):
            a = weft.constant([1.0], name="a")
        with weft.device("/cpu:0"), weft.device("/job:ps"):
            assert list(graph._device_function_stack) == ["/cpu:0", "/job:ps"]
            b = weft.identity(a, name="b")
        assert b.op._inputs == [a] and b.op._outputs == [b] and b.op._control_inputs == []
        assert graph._last_id == 2 and "outer/a" in graph._names_in_use and "outer" in graph._names_in_use
        with pytest.raises(TypeError):
            graph._names_in_use["b"] = 2
        with weft.control_dependencies([a]):
            c = weft.no_op()
        assert a.op._control_outputs == [c] and a._as_graph_element() is a


def test_an_attribute_scope_gives_its_attributes_to_the_nodes_made_inside():
    def program(tf):
        value = tf.AttrValue(s=b"mine")
        with tf.get_default_graph()._attr_scope({"_mark": value}):
            a = tf.constant(1.0)
        b = tf.constant(2.0)
        return [a.op.get_attr("_mark"), "_mark" in b.op.node_def.attr]
    both(program)


def test_parts_of_a_variable_are_assigned():
    def program(tf, sess):
        v, w = tf.Variable([1.0, 2, 3]), tf.Variable(np.zeros((3, 4), np.float32))
        sess.run(tf.global_variables_initializer())
        first, rows = v[0].assign(9.0), w[1:3, ...].assign(np.ones((2, 4), np.float32))
        cell, column, tail = w[0, 1].assign(5.0), w[:, 2].assign([7.0, 8, 9]), v[tf.constant(1):].assign([5.0, 6.0], name="tail")
        cut = tf.strided_slice(v, [0], [2], [1], var=v, name="cut")
        made = [sess.run(o) for o in (first, rows, cell, column, tail, cut.assign([7.0, 7.0]))]
        return made + [o.op.name for o in (first, rows, tail)] + [first.op.type]
    on_both(program)


def test_rows_and_places_of_a_variable_are_updated():
    def program(tf, sess):
        v = tf.Variable([[1.0, 2], [3, 4]])
        sess.run(v.initializer)
        rows = tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([1]))
        made = [sess.run(getattr(v, "scatter_" + k)(rows)) for k in "sub update".split()]
        made += [sess.run(getattr(v, "scatter_nd_" + k)([[0, 1]], [3.0])) for k in "add sub update".split()]
        return made
    on_both(program)


def test_identity_reads_a_variable_and_takes_any_value():
    def program(tf):
        v = tf.Variable([1.0, 2.0])
        sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
        return [tf.identity(v), tf.identity(v._ref(), name="ref"), tf.identity([1.0, 2.0]), tf.identity(sparse).values]
    both(program)
