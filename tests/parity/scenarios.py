"""Small programs built by TensorFlow and run by both: what test_flow.py and test_functions.py share."""
import numpy as np
import tensorflow as tf

import weftlib

v1 = tf.compat.v1
PLAIN = v1.ConfigProto()
PLAIN.graph_options.rewrite_options.disable_meta_optimizer = True


def collector(scenarios):
    """scenario(*rows of feeds) for a module's table."""
    def scenario(*rows):
        """A function that takes placeholders of these values and returns tensors; `init` in its graph is run first."""
        def add(fn):
            scenarios[fn.__name__] = (fn, rows)
            return fn
        return add
    return scenario


def compare(fn, rows, threads, times, shape_of):
    """Each row of feeds, so many times, in one session of either; shape_of(value) is what its placeholder knows."""
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(5)
        feeds = [v1.placeholder(np.asarray(v).dtype, shape_of(v)) for v in rows[0]]
        fetches = [t.name for t in tf.nest.flatten(fn(*feeds))]
        has_init = any(op.name == "init" for op in graph.get_operations())
    theirs = v1.Session(graph=graph, config=PLAIN)
    ours = weftlib.Session(weftlib.Graph(graph.as_graph_def()), intra=1, inter=threads)
    if has_init:
        theirs.run("init")
        ours.run(targets=["init"])
    for row in rows * times:
        fed = {p.name: v for p, v in zip(feeds, row)}
        for fetch, want, got in zip(fetches, theirs.run(fetches, fed), ours.run(fetches, fed)):
            assert np.shape(want) == got.shape, fetch
            np.testing.assert_allclose(got, want, rtol=3e-5, atol=1e-6, err_msg=fetch)
    theirs.close()
