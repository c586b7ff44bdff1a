"""tf.layers, initializers and embeddings: TensorFlow's variables and nodes, and its numbers for a seed."""
import ctypes as C

import numpy as np
import pytest
import tensorflow as tf

import compare
import trainlib
import weftlib
from trainlib import Out, reference_variables  # noqa: F401
from weftlib import NO

v1 = tf.compat.v1
lib = weftlib.lib
PARTS = 3
SEED = 7


class L:
    """tf.layers with TensorFlow 1's default initializer: TensorFlow 2 behavior, on in these tests, has another one."""
    flatten, dropout = v1.layers.flatten, v1.layers.dropout
    max_pooling2d, average_pooling2d = v1.layers.max_pooling2d, v1.layers.average_pooling2d
    batch_normalization = v1.layers.batch_normalization

    @staticmethod
    def dense(x, units, **kw):
        return v1.layers.dense(x, units, **{"kernel_initializer": v1.glorot_uniform_initializer(), **kw})

    @staticmethod
    def conv2d(x, *args, **kw):
        return v1.layers.conv2d(x, *args, **{"kernel_initializer": v1.glorot_uniform_initializer(), **kw})


class Initial(C.Structure):
    _fields_ = [("kind", C.c_int), ("a", C.c_double), ("b", C.c_double), ("has_seed", C.c_bool), ("seed", C.c_int64),
                ("value", C.c_void_p), ("fan", C.c_int), ("spread", C.c_int)]


class LayerOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("name", C.c_char_p), ("reuse", C.c_int), ("activation", C.c_char_p), ("kernel", C.POINTER(Initial)),
                ("bias", C.POINTER(Initial)), ("use_bias", C.c_int), ("trainable", C.c_int), ("l1", C.c_double),
                ("l2", C.c_double), ("stride_h", C.c_int), ("stride_w", C.c_int), ("dilation_h", C.c_int),
                ("dilation_w", C.c_int), ("padding", C.c_char_p), ("channels_first", C.c_bool)]


class DropoutOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("name", C.c_char_p), ("training", C.c_bool), ("when", C.POINTER(Out)), ("has_seed", C.c_bool),
                ("seed", C.c_int64)]


class BatchNormOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("name", C.c_char_p), ("reuse", C.c_int), ("training", C.c_bool), ("when", C.POINTER(Out)),
                ("momentum", C.c_double), ("epsilon", C.c_double), ("center", C.c_int), ("scale", C.c_int),
                ("trainable", C.c_int), ("channels_first", C.c_bool), ("fused", C.c_int)]


class Layers:
    """The calls of both sides by one name."""

    def __init__(self, graph):
        self.g = graph

    def dense(self, x, units, **o):
        return self.g.make("layer_dense", x, C.c_int64(units), C.byref(LayerOpts(**o)))

    def conv2d(self, x, filters, size, **o):
        return self.g.make("layer_conv2d", x, C.c_int64(filters), *size, C.byref(LayerOpts(**o)))

    def pool(self, kind, x, size, **o):
        return self.g.make("layer_" + kind + "_pooling2d", x, *size, C.byref(LayerOpts(**o)))

    def flatten(self, x):
        return self.g.make("layer_flatten", None, x)

    def dropout(self, x, rate, **o):
        return self.g.make("layer_dropout", x, float(rate), C.byref(DropoutOpts(**o)))

    def batch_norm(self, x, **o):
        return self.g.make("layer_batch_normalization", x, C.byref(BatchNormOpts(**o)))


def both(inputs, theirs, mine):
    """theirs(tensors) and mine(layers, outs) on graphs with the same inputs and seed; the output is compared too."""
    with tf.Graph().as_default() as g:
        v1.set_random_seed(SEED)
        given = [inputs] if not isinstance(inputs, list) else inputs
        x = [v1.placeholder(t, s, name=f"x{i}") for i, (t, s) in enumerate(given)]
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        lib.weft_graph_set_seed(ours.ptr, C.c_int64(SEED))
        y = theirs(*x)
        v1.global_variables_initializer()
    o = mine(Layers(ours), *[ours.find(f"x{i}:0") for i in range(len(x))])
    variables = (Out * 50)()
    ours.make("variables_initializer", None, lib.weft_variables(ours.ptr, b"variables", variables, 50), variables)
    return g, ours, before, y, o


def same_numbers(g, ours, y, o, feeds, more=(), runs=3, updates=()):
    s = weftlib.Session(ours)
    with v1.Session(graph=g) as tfs:
        tfs.run("init"), s.run((), targets=["init"])
        names = [v.name for v in g.get_collection("variables")] + list(more)
        for i in range(runs):
            want, got = tfs.run([y] + names, feeds), s.run([o] + names, feeds)
            for n, a, b in zip(["y"] + names, want, got):
                d = compare.difference(f"run {i}: {n}", a, b, 10.)
                assert d is None, d
            for u in updates:
                tfs.run(u, feeds), s.run((), feeds, [u])


def data(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def dense_theirs(x):
    y = L.dense(x, 5, activation=tf.nn.relu)
    y = L.dense(y, 4, name="out", use_bias=False, kernel_initializer=v1.truncated_normal_initializer(stddev=.1))
    with v1.variable_scope("s"):
        y = L.dense(y, 3, bias_initializer=v1.constant_initializer(.5))
    with v1.name_scope("n"):
        return L.dense(y, 2, activation=tf.tanh)


def dense_mine(l, x):
    y = l.dense(x, 5, activation=b"Relu")
    normal, half = Initial(kind=6, b=.1), Initial(kind=3, a=.5)
    y = l.dense(y, 4, name=b"out", use_bias=NO, kernel=C.pointer(normal))
    lib.weft_scope_push_variables(l.g.ptr, b"s", 0, None)
    y = l.dense(y, 3, bias=C.pointer(half))
    lib.weft_scope_pop(l.g.ptr)
    lib.weft_scope_push_name(l.g.ptr, b"n")
    y = l.dense(y, 2, activation=b"Tanh")
    lib.weft_scope_pop(l.g.ptr)
    return y


def test_dense():
    g, ours, before, y, o = both((tf.float32, [None, 6]), dense_theirs, dense_mine)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    trainlib.same_collections(g, ours, ["variables", "trainable_variables"])
    same_numbers(g, ours, y, o, {"x0:0": data(4, 6)})


@pytest.mark.parametrize("shape", [[2, 3, 6], [None, 3, 6], [None, None, 6]])
def test_dense_of_more_axes(shape):
    g, ours, before, y, o = both((tf.float32, shape), lambda x: L.dense(x, 4), lambda l, x: l.dense(x, 4))
    if None not in shape:
        trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    same_numbers(g, ours, y, o, {"x0:0": data(2, 3, 6)})


def test_a_layer_can_be_used_twice():
    def theirs(x):
        return L.dense(L.dense(x, 4, name="d"), 4, name="d", reuse=True)
    def mine(l, x):
        return l.dense(l.dense(x, 4, name=b"d"), 4, name=b"d", reuse=2)
    g, ours, before, y, o = both((tf.float32, [3, 4]), theirs, mine)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    with pytest.raises(weftlib.Error, match="Variable d/kernel already exists"):
        Layers(ours).dense(ours.find("x0:0"), 4, name=b"d")


def images_theirs(x):
    y = L.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    y = L.conv2d(y, 5, (2, 3), strides=(2, 1), kernel_initializer=v1.initializers.he_normal())
    y = L.max_pooling2d(y, 2, 1)
    return L.flatten(L.average_pooling2d(y, 2, 2, padding="same"))


def images_mine(l, x):
    he = Initial(kind=8, a=2.)
    y = l.conv2d(x, 4, (3, 3), padding=b"SAME", activation=b"Relu")
    y = l.conv2d(y, 5, (2, 3), stride_h=2, kernel=C.pointer(he))
    y = l.pool("max", y, (2, 2), stride_h=1, stride_w=1)
    return l.flatten(l.pool("average", y, (2, 2), padding=b"SAME"))


def test_images():
    g, ours, before, y, o = both((tf.float32, [None, 8, 9, 3]), images_theirs, images_mine)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    same_numbers(g, ours, y, o, {"x0:0": data(2, 8, 9, 3)})


def channels_first_theirs(x):
    first = {"data_format": "channels_first"}
    y = L.conv2d(x, 4, (2, 3), strides=(2, 1), activation=tf.nn.relu, **first)
    y = L.conv2d(y, 5, 2, padding="same", **first)
    y = L.batch_normalization(y, axis=1, training=True)
    return L.average_pooling2d(L.max_pooling2d(y, 2, 1, **first), 2, 2, padding="same", **first)


def channels_first_mine(l, x):
    y = l.conv2d(x, 4, (2, 3), stride_h=2, activation=b"Relu", channels_first=True)
    y = l.conv2d(y, 5, (2, 2), padding=b"SAME", channels_first=True)
    y = l.batch_norm(y, training=True, channels_first=True)
    y = l.pool("max", y, (2, 2), stride_h=1, stride_w=1, channels_first=True)
    return l.pool("average", y, (2, 2), padding=b"SAME", channels_first=True)


def test_images_with_their_channels_first():
    """The nodes are TensorFlow's; its CPU cannot run them, so the numbers are those of the images turned round."""
    g, ours, before, y, o = both((tf.float32, [None, 3, 8, 9]), channels_first_theirs, channels_first_mine)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)

    def last_theirs(x):
        y = L.conv2d(x, 4, (2, 3), strides=(2, 1), activation=tf.nn.relu)
        y = L.batch_normalization(L.conv2d(y, 5, 2, padding="same"), training=True)
        return L.average_pooling2d(L.max_pooling2d(y, 2, 1), 2, 2, padding="same")
    with tf.Graph().as_default() as last:
        v1.set_random_seed(SEED)
        want = last_theirs(v1.placeholder(tf.float32, [None, 8, 9, 3], name="x0"))
        v1.global_variables_initializer()
    x, s = data(2, 8, 9, 3), weftlib.Session(ours)
    s.run((), targets=["init"])
    with v1.Session(graph=last) as tfs:
        tfs.run("init")
        for v in last.get_collection("variables"):
            value = tfs.run(v)
            np.testing.assert_allclose(s.run([v.name])[0], value, rtol=1e-5)
        np.testing.assert_allclose(s.run([o], {"x0:0": x.transpose(0, 3, 1, 2)})[0].transpose(0, 2, 3, 1),
                                   tfs.run(want, {"x0:0": x}), rtol=1e-4, atol=1e-5)


INITIALIZERS = {
    "glorot_uniform": (v1.glorot_uniform_initializer, Initial(kind=8, a=1, fan=2, spread=1)),
    "glorot_normal": (v1.glorot_normal_initializer, Initial(kind=8, a=1, fan=2)),
    "he_uniform": (v1.initializers.he_uniform, Initial(kind=8, a=2, spread=1)),
    "lecun_normal": (v1.initializers.lecun_normal, Initial(kind=8)),
    "scaling": (lambda: v1.variance_scaling_initializer(3., "fan_out", "untruncated_normal"),
                Initial(kind=8, a=3, fan=1, spread=2)),
    "uniform": (lambda: v1.random_uniform_initializer(-2., 3.), Initial(kind=4, a=-2, b=3)),
    "normal": (lambda: v1.random_normal_initializer(1., 2.), Initial(kind=5, a=1, b=2)),
    "truncated": (lambda: v1.truncated_normal_initializer(1., 2., seed=3), Initial(kind=6, a=1, b=2, has_seed=True, seed=3)),
    "ones": (v1.ones_initializer, Initial(kind=2)),
    "orthogonal": (lambda: v1.orthogonal_initializer(2.), Initial(kind=9, a=2)),
    "unit_scaling": (lambda: v1.uniform_unit_scaling_initializer(1.3), Initial(kind=11, a=1.3)),
    "zeros": (v1.zeros_initializer, Initial(kind=1)), "constant": (lambda: v1.constant_initializer(.25), Initial(kind=3, a=.25)),
    "lecun_uniform": (v1.initializers.lecun_uniform, Initial(kind=8, spread=1)),
    "he_normal": (v1.initializers.he_normal, Initial(kind=8, a=2)),
    "identity": (lambda: v1.initializers.identity(3.), Initial(kind=10, a=3)),
}


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers(name):
    make, initial = INITIALIZERS[name]
    g, ours, before, y, o = both((tf.float32, [2, 40]), lambda x: L.dense(x, 30, kernel_initializer=make()),
                                 lambda l, x: l.dense(x, 30, kernel=C.pointer(initial)))
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    same_numbers(g, ours, y, o, {"x0:0": data(2, 40)}, runs=1)


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (2, 3, 4)])
def test_orthogonal_variables(shape):
    with tf.Graph().as_default() as g:
        v1.set_random_seed(SEED)
        ours = trainlib.Graph(g)
        v = v1.get_variable("v", shape, initializer=v1.orthogonal_initializer())
    lib.weft_graph_set_seed(ours.ptr, C.c_int64(SEED))
    o = ours.make("get_variable", "v", 1, len(shape), (C.c_int64 * len(shape))(*shape), C.byref(Initial(kind=9)), True)
    trainlib.no_differences(g.as_graph_def(), ours.export())
    s = weftlib.Session(ours)
    s.run((), targets=["v/Assign"])
    with v1.Session(graph=g) as tfs:
        tfs.run(v.initializer)
        np.testing.assert_allclose(s.run([o])[0], tfs.run(v), rtol=1e-4, atol=1e-5)


def test_regularizers():
    regularizer = lambda w: .2 * tf.nn.l2_loss(w) + .1 * tf.reduce_sum(tf.abs(w))
    g, ours, before, y, o = both((tf.float32, [2, 4]), lambda x: L.dense(x, 3, kernel_regularizer=regularizer),
                                 lambda l, x: l.dense(x, 3, l1=.1, l2=.2))
    name = trainlib.names_in(ours.export_meta(), "regularization_losses")
    assert name == ["dense/kernel/Regularizer/add:0"]
    loss = g.get_collection("regularization_losses")[0]
    s = weftlib.Session(ours)
    with v1.Session(graph=g) as tfs:
        tfs.run("init"), s.run((), targets=["init"])
        np.testing.assert_allclose(s.run(name)[0], tfs.run(loss), rtol=1e-5)
    alone = ours.make("l2_regularizer", .5, ours.find("dense/kernel/read:0"))
    assert ours.node_name(alone) == "l2_regularizer"


@pytest.mark.parametrize("training", [True, False])
def test_dropout(training):
    g, ours, before, y, o = both((tf.float32, [None, 50]), lambda x: L.dropout(x, .4, training=training),
                                 lambda l, x: l.dropout(x, .4, training=training))
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    same_numbers(g, ours, y, o, {"x0:0": data(4, 50)})


@pytest.mark.parametrize("on", [True, False])
def test_dropout_when_a_value_says_so(on):
    g, ours, before, y, o = both([(tf.float32, [None, 50]), (tf.bool, [])], lambda x, t: L.dropout(x, .4, training=t, seed=5),
                                 lambda l, x, t: l.dropout(x, .4, when=C.pointer(t), has_seed=True, seed=5))
    same_numbers(g, ours, y, o, {"x0:0": data(4, 50), "x1:0": np.array(on)})


@pytest.mark.parametrize("shape,unfused", [([None, 4, 5, 3], False), ([None, 3], False), ([None, 4, 5, 3], True),
                                           ([2, 3, 3, 4, 2], False)])
@pytest.mark.parametrize("training", [True, False])
def test_batch_normalization(shape, unfused, training):
    how = {"fused": False} if unfused else {}
    g, ours, before, y, o = both((tf.float32, shape), lambda x: L.batch_normalization(x, training=training, momentum=.9, **how),
                                 lambda l, x: l.batch_norm(x, training=training, momentum=.9, fused=NO if unfused else 0))
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    want, got = ([t.name for t in g.get_collection("update_ops")], trainlib.names_in(ours.export_meta(), "update_ops"))
    assert want == got
    trainlib.same_collections(g, ours, ["variables", "trainable_variables"])
    same_numbers(g, ours, y, o, {"x0:0": data(*[6 if d is None else d for d in shape])},
                 updates=got)


@pytest.mark.parametrize("shape", [[4, 4, 5, 3], [4, 3]])
@pytest.mark.parametrize("dtype", [tf.float16, tf.float64])
@pytest.mark.parametrize("training", [True, False])
def test_batch_normalization_of_other_types(shape, dtype, training):
    g, ours, before, y, o = both((dtype, shape), lambda x: L.batch_normalization(x, training=training),
                                 lambda l, x: l.batch_norm(x, training=training))
    kept = [n for n in g.as_graph_def().node if not n.op == "Cast"]  # TensorFlow counts casts that it leaves out
    assert [(n.name, n.op) for n in kept] == [(n.name, n.op) for n in ours.export().node if n.op != "Cast"]
    trainlib.same_collections(g, ours, ["variables", "trainable_variables"])


def test_batch_normalization_that_is_not_trained():
    g, ours, before, y, o = both((tf.float32, [2, 4, 5, 3]), lambda x: L.batch_normalization(x, training=True, trainable=False),
                                 lambda l, x: l.batch_norm(x, training=True, trainable=NO))
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    assert not g.get_collection("update_ops") and not trainlib.names_in(ours.export_meta(), "update_ops")


@pytest.mark.parametrize("shape", [[None, 4, 5, 3], [None, 3]])
@pytest.mark.parametrize("on", [True, False])
def test_batch_normalization_when_a_value_says_so(shape, on):
    g, ours, before, y, o = both([(tf.float32, shape), (tf.bool, [])], lambda x, t: L.batch_normalization(x, training=t),
                                 lambda l, x, t: l.batch_norm(x, when=C.pointer(t)))
    feeds = {"x0:0": data(*[6 if d is None else d for d in shape]), "x1:0": np.array(on)}
    nodes = [{n.name: (n.op, sorted(n.input)) for n in d.node[before:]} for d in (g.as_graph_def(), ours.export())]
    assert nodes[0] == nodes[1]
    theirs, mine = g.get_collection("update_ops"), trainlib.names_in(ours.export_meta(), "update_ops")
    assert [u.name for u in theirs] == mine
    s = weftlib.Session(ours)
    with v1.Session(graph=g) as tfs:
        tfs.run("init"), s.run((), targets=["init"])
        for i in range(3):
            np.testing.assert_allclose(s.run([o], feeds)[0], tfs.run(y, feeds), rtol=1e-4, atol=1e-5)
            tfs.run(theirs, feeds), s.run(mine, feeds)
            for v in g.get_collection("variables"):
                np.testing.assert_allclose(s.run([v.name])[0], tfs.run(v), rtol=1e-4, atol=1e-5, err_msg=f"{i} {v.name}")


@pytest.mark.parametrize("div", [False, True])
@pytest.mark.parametrize("n", [1, PARTS])
def test_embedding_lookup(n, div):
    with tf.Graph().as_default() as g:
        v1.set_random_seed(SEED)
        rows = [4, 4, 3] if div else [4, 4, 4]
        parts = [v1.get_variable(f"p{k}", [rows[k], 2]) for k in range(n)]
        ids = v1.placeholder(tf.int64, [None, 2], name="ids")
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        y = tf.nn.embedding_lookup(parts, ids) if n == 1 else v1.nn.embedding_lookup(
            parts, ids, partition_strategy="div" if div else "mod")
    o = ours.make("embedding_lookup", None, n, trainlib.outs([ours.find(f"p{k}:0") for k in range(n)]),
                  ours.find("ids:0"), div)
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    s = weftlib.Session(ours)
    feeds = {"ids:0": np.array([[0, 1], [3, 2]] if n == 1 else [[0, 10], [5, 3], [9, 0]])}
    with v1.Session(graph=g) as tfs:
        for p in parts:
            tfs.run(p.initializer), s.run((), targets=[p.initializer.name])
        np.testing.assert_array_equal(s.run([o], feeds)[0], tfs.run(y, feeds))


def sparse_opts(ours, combiner=b"mean", weights=None, **values):
    class Opts(C.Structure):
        _fields_ = [("size", C.c_size_t), ("name", C.c_char_p), ("combiner", C.c_char_p), ("weights", C.POINTER(weftlib.Out)),
                    ("max_norm", C.c_double), ("div", C.c_bool), ("fast", C.c_bool), ("has_default", C.c_bool),
                    ("default_id", C.c_int64)]
    return C.byref(Opts(combiner=combiner, weights=weights and C.pointer(ours.find(weights)), **values))


@pytest.mark.parametrize("combiner, weights, options", [
    ("mean", None, {}), ("sum", "w:0", {"max_norm": 2.0}), ("sqrtn", "w:0", {"div": True}), ("mean", "w:0", {"default_id": 1})])
@pytest.mark.parametrize("n", [1, PARTS])
@pytest.mark.parametrize("safe", [False, True])
def test_sparse_lookups_combine_rows(safe, n, combiner, weights, options):
    with tf.Graph().as_default() as g:
        v1.set_random_seed(SEED)
        parts = [v1.get_variable(f"p{k}", [4, 2]) for k in range(n)]
        ids = tf.SparseTensor(v1.placeholder(tf.int64, [None, 2], "at"), v1.placeholder(tf.int64, [None], "ids"),
                              v1.placeholder(tf.int64, [2], "dims"))
        given = v1.placeholder(tf.float32, [None], "w")
        given = tf.SparseTensor(ids.indices, given, ids.dense_shape) if weights else None
        ours, before = trainlib.Graph(g), len(g.as_graph_def().node)
        how = {"combiner": combiner, "partition_strategy": "div" if "div" in options else "mod", "max_norm": options.get("max_norm")}
        if safe:
            how["default_id"] = options.get("default_id")
        y = (v1.nn.safe_embedding_lookup_sparse if safe else v1.nn.embedding_lookup_sparse)(parts, ids, given, **how)
    found = [ours.find(name) for name in ("at:0", "ids:0", "dims:0")[:3 if safe else 2]]
    options = dict(options, has_default=True) if "default_id" in options else options
    o = ours.make("safe_embedding_lookup_sparse" if safe else "embedding_lookup_sparse", n,
                  trainlib.outs([ours.find(p.name) for p in parts]), *found, sparse_opts(ours, combiner.encode(), weights, **options))
    trainlib.no_differences(g.as_graph_def(), ours.export(), before)
    feeds = {"at:0": [[0, 0], [0, 1], [2, 0]], "ids:0": [1, 3, 1], "dims:0": [4, 2], "w:0": np.float32([2, 0.5, 1])}
    feeds = {k: np.array(v) for k, v in feeds.items()}
    s = weftlib.Session(ours)
    with v1.Session(graph=g) as tfs:
        for p in parts:
            tfs.run(p.initializer), s.run((), targets=[p.initializer.name])
        np.testing.assert_allclose(s.run([o], feeds)[0], tfs.run(y, feeds), rtol=1e-6)


def test_refusals():
    with tf.Graph().as_default() as g:
        v1.placeholder(tf.float32, [None, None], name="x")
        ours = trainlib.Graph(g)
    l, x = Layers(ours), ours.find("x:0")
    with pytest.raises(weftlib.Error, match="last dimension of the inputs to a dense layer should be defined"):
        l.dense(x, 3)
    with pytest.raises(weftlib.Error, match="images have 4 axes"):
        l.conv2d(x, 3, (2, 2))
    with pytest.raises(weftlib.Error, match="in the range"):
        l.dropout(x, 1.5, training=True)
