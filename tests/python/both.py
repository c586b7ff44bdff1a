"""both(program): runs program(tf) with Weft and with TensorFlow, each in a graph of its own, and compares.

A program returns what it wants compared: tensors are run (after the initializers), anything else is taken as it is.
The nodes that it made must have the same names, ops and inputs, in the same order; `+` makes Add here and AddV2 there.
"""
import numpy as np
import tensorflow.compat.v1 as oracle

import weft

oracle.disable_v2_behavior()

SAME = {"AddV2": "Add", "BatchMatMulV2": "BatchMatMul", "SelectV2": "Select", "FusedBatchNormV3": "FusedBatchNorm"}


def nodes(tf, graph):
    """(name, op, inputs); control inputs come last and have no order, so they are sorted."""
    return [(n.name, SAME.get(n.op, n.op), (*(i for i in n.input if i[0] != "^"), *sorted(i for i in n.input if i[0] == "^")))
            for n in graph.as_graph_def().node]


def is_tensor(x):
    return hasattr(x, "op") or hasattr(x, "outputs")


def run(tf, program, feeds=None):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        made = program(tf)
        found = nodes(tf, graph)
        made = made if isinstance(made, (list, tuple)) else [made]
        tensors = [m for m in made if is_tensor(m)]
        config = tf.ConfigProto()  # without TensorFlow's graph optimizer, which takes half of the time of a short run
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        with tf.Session(config=config) as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            values = sess.run(tensors, {k + ":0": v for k, v in (feeds or {}).items()}) if tensors else []
    return found, values, [m for m in made if not is_tensor(m)]


def both(program, feeds=None, same_nodes=True, tolerance=1e-5, in_order=True):
    ours, theirs = run(weft, program, feeds), run(oracle, program, feeds)
    if same_nodes:
        for a, b in zip(*(found if in_order else sorted(found) for found in (ours[0], theirs[0]))):
            assert a == b
        assert len(ours[0]) == len(theirs[0]), (ours[0][len(theirs[0]):], theirs[0][len(ours[0]):])
    for a, b in zip(ours[1], theirs[1], strict=True):
        compare(a, b, tolerance)
    assert ours[2] == theirs[2]


def compare(a, b, tolerance=1e-5):
    if isinstance(b, (list, tuple)):
        for x, y in zip(a, b, strict=True):
            compare(x, y, tolerance)
    elif isinstance(b, dict):
        assert a.keys() == b.keys()
        for k in b:
            compare(a[k], b[k], tolerance)
    elif b is None or isinstance(b, bytes):
        assert a == b
    else:
        assert np.asarray(a).dtype == np.asarray(b).dtype
        if np.asarray(b).dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(a, b)


def both_raise(program):
    """Both refuse, with the same class of exception (by name); gives the two messages."""
    said = []
    for tf in (weft, oracle):
        try:
            run(tf, program)
        except Exception as e:  # noqa: BLE001 - that is the question
            said.append(e)
        else:
            raise AssertionError("%s accepted it" % tf.__name__)
    assert type(said[0]).__name__ in [c.__name__ for c in type(said[1]).__mro__], said
    return [str(e) for e in said]


def same_in_folders(program, tmp_path, monkeypatch):
    """program(tf) gives the same value in both systems, each in a graph and a working folder of its own."""
    said = []
    for tf in (weft, oracle):
        folder = tmp_path / tf.__name__
        folder.mkdir()
        monkeypatch.chdir(folder)
        with tf.Graph().as_default():
            tf.set_random_seed(11)
            said.append(program(tf))
    assert said[0] == said[1]
    return said[0]


def outcome(fn):
    """What a call returns, or the name and first line of what it raises."""
    try:
        return fn()
    except Exception as e:  # noqa: BLE001 - that is the question
        return "%s: %s" % (type(e).__name__, str(e).split("\n")[0])
