"""The ops of boosted trees have TensorFlow's definitions and shapes. TensorFlow 2.15 has no kernel for them; what they
compute is tested in tests/python/test_boosted_trees_ops.py.
"""
import pytest
import tensorflow as tf

import weftlib
from test_no_kernel import dims, graph_of, weft

v1 = tf.compat.v1
OPS = sorted(o["name"] for o in weftlib.ops() if "BoostedTrees" in o["name"])


def shapes(t, text):
    """The shapes of the node's outputs, for inputs of unknown shape."""
    with t.Graph().as_default() as g:
        parsed = t.GraphDef()
        parsed.ParseFromString(text)
        t.import_graph_def(parsed, name="")
        return dims(g.get_operation_by_name("made").outputs)


@pytest.mark.parametrize("name", OPS)
def test_shapes_are_tensorflows(name):
    text = graph_of(name)
    assert shapes(weft, text) == shapes(v1, text)


def test_the_ops_are_found():
    assert len(OPS) == 29
