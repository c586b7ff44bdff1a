"""input_map of import_graph_def and import_meta_graph: what reads a replaced input, its shapes and the errors, as in
TensorFlow."""
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import both
import weft


def exported(tf):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = tf.square(x, name="y")
        tf.reduce_sum(y, 1, name="z")
        tf.zeros(tf.shape(x, name="sh"), name="zeros")
        with tf.control_dependencies([y]):
            tf.identity(tf.reshape(y, [-1], name="r"), name="c")
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + y), [0, x], name="loop")
    return graph.as_graph_def()


def nodes(graph):
    """(name, inputs, nodes waited for, shapes)."""
    return [(op.name, [i.name for i in op.inputs], sorted(c.name for c in op.control_inputs), [str(o.shape) for o in op.outputs])
            for op in graph.get_operations()]


def imported(tf, map_of, **more):
    with tf.Graph().as_default() as graph:
        made = both.outcome(lambda: tf.import_graph_def(exported(tf), input_map=map_of(tf), **more))
        if isinstance(made, str):
            assert len(graph.get_operations()) > 1 or "were not found" not in made  # Then the nodes are in the graph.
            return re.sub(r" for '.*| \(.*?\)|'", "", made)  # without how each system shows a node
        return nodes(graph), [e.name for e in made or ()]


def matrix(tf, shape=(7, 8), kind="float32"):
    return tf.placeholder(kind, shape, name="given")


MAPS = {
    "another shape": (lambda tf: {"x": matrix(tf)}, {"return_elements": ["y:0", "x:0", "z"]}),
    "an unknown shape": (lambda tf: {"x:0": matrix(tf, None)}, {"name": ""}),
    "a rank that does not fit": (lambda tf: {"x:0": matrix(tf, [7])}, {}),
    "another type": (lambda tf: {"x:0": matrix(tf, [7, 8], "int32")}, {}),
    "an output in the middle": (lambda tf: {"y:0": matrix(tf)}, {"return_elements": ["y:0", "x:0", "z"]}),
    "an array": (lambda tf: {"y:0": np.zeros([7, 8], np.float32)}, {"return_elements": ["y:0"]}),
    "an array without a name": (lambda tf: {"y:0": np.zeros([7, 8], np.float32)}, {"name": ""}),
    "a control edge": (lambda tf: {"^y": matrix(tf)}, {"return_elements": ["y:0"]}),
    "an output that no node reads": (lambda tf: {"z:0": matrix(tf)}, {}),
    "an output that is not there": (lambda tf: {"z:4": matrix(tf)}, {}),
    "a node that is not there": (lambda tf: {"nothing": matrix(tf)}, {}),
    "a control edge that is not there": (lambda tf: {"^nothing": matrix(tf)}, {}),
    "a wrong element to return": (lambda tf: {"y:0": matrix(tf)}, {"return_elements": ["x:3"]}),
    "a variable": (lambda tf: {"y:0": tf.Variable(np.zeros([7, 8], np.float32), name="v")}, {"return_elements": ["y:0"]}),
}


@pytest.mark.parametrize("what", MAPS)
def test_nodes_after_a_replaced_input_are_those_of_tensorflow(what):
    assert imported(weft, *MAPS[what][:1], **MAPS[what][1]) == imported(oracle, *MAPS[what][:1], **MAPS[what][1])


def test_import_meta_graph_takes_shapes_from_the_replaced_input():
    def program(tf):
        meta = tf.MetaGraphDef(graph_def=exported(tf))
        meta.meta_info_def.tensorflow_version = "1.15.0"
        meta.meta_info_def.stripped_op_list.SetInParent()
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph(meta, input_map={"x:0": matrix(tf)})
            return nodes(graph)
    assert program(weft) == program(oracle)
