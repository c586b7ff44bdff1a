"""tf.losses and tf.metrics: TensorFlow's names, collections, local variables and numbers."""
import ctypes as C

import numpy as np
import pytest
import tensorflow as tf

import compare
import trainlib
import weftlib
from trainlib import Out, reference_variables  # noqa: F401

v1 = tf.compat.v1
lib = weftlib.lib
REDUCTIONS = ["weighted_sum_by_nonzero_weights", "none", "weighted_sum", "weighted_mean", "weighted_sum_over_batch_size"]


class LossOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("name", C.c_char_p), ("weights", C.POINTER(Out)), ("reduction", C.c_int), ("collection", C.c_char_p),
                ("label_smoothing", C.c_double), ("delta", C.c_double), ("epsilon", C.c_double), ("axis", C.c_int)]


class MetricOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("name", C.c_char_p), ("weights", C.POINTER(Out)), ("thresholds", C.c_int)]


def inputs(sparse=False, unit=False, n=5):
    rng = np.random.RandomState(3)
    x = rng.rand(n, 4) if unit else rng.randn(n, 4)
    y = rng.randint(0, 4, n) if sparse else rng.rand(n, 4) > .5
    return {"x:0": x.astype(np.float32), "y:0": y.astype(np.int64 if sparse else np.float32)}


KINDS = {
    "absolute_difference": {}, "mean_squared_error": {}, "hinge_loss": {}, "huber_loss": {"delta": .7}, "log_loss": {},
    "cosine_distance": {"axis": 1}, "sigmoid_cross_entropy": {"label_smoothing": .1},
    "softmax_cross_entropy": {"label_smoothing": .2}, "sparse_softmax_cross_entropy": {},
    "mean_pairwise_squared_error": {},
}


@pytest.mark.parametrize("weighted", [None, "scalar", "rows"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_losses(kind, reduction, weighted):
    own = kind == "mean_pairwise_squared_error"  # reduces in its own way
    if own and reduction != REDUCTIONS[0]:
        return
    feeds = inputs(kind.startswith("sparse"), kind == "log_loss")
    rows = kind.endswith("softmax_cross_entropy")
    with tf.Graph().as_default() as g:
        x, y = (v1.placeholder(feeds[n].dtype, [None, *feeds[n].shape[1:]], name=n[0]) for n in ("x:0", "y:0"))
        w = tf.constant(.5 if weighted == "scalar" else np.array([1, 0, 2, .5, 0], np.float32).reshape(5, *([] if rows else [1])), name="w")
        ours = trainlib.Graph(g)
        more = {} if weighted is None else {"weights": w}
        loss = getattr(v1.losses, kind)(y, x, **({} if own else {"reduction": reduction}), **KINDS[kind], **more)
        v1.losses.get_total_loss()
    weight = ours.find("w:0")
    o = ours.make("loss", kind, ours.find("y:0"), ours.find("x:0"),
                  C.byref(LossOpts(reduction=REDUCTIONS.index(reduction), **KINDS[kind],
                                   **({} if weighted is None else {"weights": C.pointer(weight)}))))
    total = ours.make("total_loss", None, True)
    assert ours.node_name(o).split("/")[0] == loss.op.name.split("/")[0]
    if reduction != "none":
        assert ours.name(o) == loss.name
    assert trainlib.names_in(ours.export_meta(), "losses") == [ours.name(o)]
    assert ours.node_name(total) == "total_loss"
    with v1.Session(graph=g) as tfs:
        for name, a, b in zip(("loss", "total"), tfs.run([loss, "total_loss:0"], feeds), weftlib.Session(ours).run([o, total], feeds)):
            d = compare.difference(name, a, b, 5.)
            assert d is None, d


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_losses(kind):
    feeds = inputs(kind.startswith("sparse"), kind == "log_loss")
    with tf.Graph().as_default() as g:
        x, y = (v1.placeholder(feeds[n].dtype, [None, *feeds[n].shape[1:]], name=n[0]) for n in ("x:0", "y:0"))
        ours = trainlib.Graph(g)
        d = tf.gradients(getattr(v1.losses, kind)(y, x, **KINDS[kind]), x)[0]
    o = ours.make("loss", kind, ours.find("y:0"), ours.find("x:0"), C.byref(LossOpts(**KINDS[kind])))
    got = ours.gradients([ours.name(o)], ["x:0"])[0]
    with v1.Session(graph=g) as tfs:
        np.testing.assert_allclose(weftlib.Session(ours).run([got], feeds)[0], tfs.run(d, feeds), rtol=1e-4, atol=1e-6)


METRICS = ["mean", "accuracy", "mean_squared_error", "mean_absolute_error", "root_mean_squared_error", "true_positives",
           "false_positives", "false_negatives", "true_negatives", "precision", "recall", "auc"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", METRICS)
def test_metrics(kind, weighted):
    """Value and update over some batches, and which local variables hold the sums."""
    with tf.Graph().as_default() as g:
        x, y = v1.placeholder(tf.float32, [None], name="x"), v1.placeholder(tf.float32, [None], name="y")
        w = v1.placeholder(tf.float32, [None], name="w")
        ours = trainlib.Graph(g)
        f, more = getattr(v1.metrics, kind), {"weights": w} if weighted else {}
        if kind == "auc":
            more["num_thresholds"] = 20
        value, update = f(x, **more) if kind == "mean" else f(y, x, **more)
        local = v1.local_variables_initializer()
    weight, v, u = ours.find("w:0"), Out(), Out()
    opts = MetricOpts(thresholds=20, **({"weights": C.pointer(weight)} if weighted else {}))
    weftlib.check(lib.weft_metric(ours.ptr, kind.encode(), ours.find("y:0"), ours.find("x:0"), C.byref(opts),
                                  C.byref(v), C.byref(u)))
    found = (Out * 20)()
    n = lib.weft_variables(ours.ptr, b"local_variables", found, 20)
    init = ours.make("variables_initializer", None, n, found)
    names = lambda meta, c: sorted(trainlib.names_in(meta, c))
    want, got = v1.train.export_meta_graph(graph=g), ours.export_meta()
    for c in ("local_variables", "metric_variables"):
        assert names(got, c) == names(want, c)
    s, rng = weftlib.Session(ours), np.random.RandomState(0)
    with v1.Session(graph=g) as tfs:
        tfs.run(local), s.run((), targets=[ours.node_name(init)])
        for i in range(5):
            p = rng.rand(7)
            p = (p > .5) if kind in METRICS[1:2] + METRICS[5:11] else p
            feeds = {"x:0": p.astype(np.float32), "y:0": (rng.rand(7) > .4).astype(np.float32),
                     "w:0": rng.rand(7).astype(np.float32)}
            for name, a, b in (("update", update, u), ("value", value, v)):
                d = compare.difference(f"batch {i}: {name}", tfs.run(a, feeds), s.run([b], feeds)[0], 10.)
                assert d is None, d


def test_refusals():
    with tf.Graph().as_default() as g:
        v1.placeholder(tf.float32, [3], name="x"), v1.placeholder(tf.float32, [4], name="y")
        ours = trainlib.Graph(g)
    x, y = ours.find("x:0"), ours.find("y:0")
    with pytest.raises(weftlib.Error, match="unknown loss 'square'; known are 'absolute_difference', "):
        ours.make("loss", "square", y, x, None)
    with pytest.raises(weftlib.Error, match="Dimension|shape"):
        ours.make("loss", "mean_squared_error", y, x, None)
    with pytest.raises(weftlib.Error, match="there are no losses"):
        ours.make("total_loss", None, False)
    assert lib.weft_metric(ours.ptr, b"f1", y, x, None, C.byref(Out()), C.byref(Out()))
    assert b"unknown metric 'f1'; known are 'mean', " in lib.weft_error_message()
