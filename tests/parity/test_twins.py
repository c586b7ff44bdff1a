"""What programs subclass is Python (layers, cells, optimizers); C has twins of it.  Both build the same GraphDef.

A row has a program for the Python package and one for the C library.  They begin with one graph of inputs; every node that
they add must have the same name, op, inputs, control inputs, device and attributes.
"""
import ctypes as C
import os
import pathlib
import re
import sys

import pytest
import tensorflow as tf

import test_train_layers as layers
import test_train_rnn as recurrent
import trainlib
import weftlib
from weftlib import NO, Out, lib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(os.environ.get("WEFT_PYTHON", str(ROOT / "build" / "python")))
import weft  # noqa: E402

SEED = 7


def inputs(*shapes):
    """Begins a graph with placeholders x0, x1, ..."""
    return lambda: [weft.placeholder(weft.float32, shape, name="x%d" % i) for i, shape in enumerate(shapes)]


def twins(begin, python, library):
    """The GraphDefs of both, and how many nodes they share."""
    with weft.Graph().as_default() as g:
        weft.set_random_seed(SEED)
        given = begin()
        ours, before = trainlib.Graph(), len(g.as_graph_def().node)
        ours.load_meta(tf.compat.v1.MetaGraphDef.FromString(weft.train.export_meta_graph().SerializeToString()))
        lib.weft_graph_set_seed(ours.ptr, C.c_int64(SEED))
        python(*given)
        want = tf.compat.v1.GraphDef.FromString(g.as_graph_def().SerializeToString())
    library(layers.Layers(ours), *[ours.find(t.name) for t in given])
    return want, ours.export(), before


SAME = {"AddV2": "Add"}  # Python's + is TensorFlow 1's Add, C's is TensorFlow 2's
# How states begin, how a loop moves rows and how a gradient is computed is the library's own matter.
SKIP = ("BasicLSTMCellZeroState", "GRUCellZeroState", "gradients")


def differences(begin, python, library, keep=lambda name: True):
    want, got, before = twins(begin, python, library)
    kept = []
    for graph_def in (want, got):
        kept.append(tf.compat.v1.GraphDef(node=[n for n in graph_def.node[before:] if keep(n.name)]))
        for node in kept[-1].node:
            node.op = SAME.get(node.op, node.op)
    assert kept[0].node
    return trainlib.node_differences(*kept, skip=SKIP)


def pooled(kind):
    return lambda x: getattr(weft.layers, kind + "_pooling2d")(x, 2, 2), lambda l, x: l.pool(kind, x, (2, 2), stride_h=2, stride_w=2)


def dynamic_rnn(kind):
    make = (weft.nn.rnn_cell.BasicLSTMCell, weft.nn.rnn_cell.GRUCell)[kind]

    def library(l, x):
        out, state = Out(), (Out * 2)()
        weftlib.check(lib.weft_dynamic_rnn(l.g.ptr, kind, C.c_int64(5), x, C.byref(recurrent.RnnOpts()), C.byref(out), state))
    return lambda x: weft.nn.dynamic_rnn(make(5), x, dtype=weft.float32), library


def static_rnn(kind):
    make = (weft.nn.rnn_cell.BasicLSTMCell, weft.nn.rnn_cell.GRUCell)[kind]

    def library(l, *x):
        out, state = (Out * 9)(), (Out * 2)()
        weftlib.check(lib.weft_static_rnn(l.g.ptr, kind, C.c_int64(5), len(x), trainlib.outs(list(x)), C.byref(recurrent.RnnOpts()),
                                          out, state))
    return lambda *x: weft.nn.static_rnn(make(5), list(x), dtype=weft.float32), library


def in_cell(name):
    """The weights of a cell, and its arithmetic where it is not in a loop."""
    return "_cell/" in name and "while" not in name


def forward():
    x = weft.placeholder(weft.float32, [2], "x")
    w = weft.get_variable("w", [2], initializer=weft.constant_initializer([0.5, -0.5]))
    e = weft.get_variable("sub/e", [4, 2], initializer=weft.constant_initializer(0.3))
    rows = weft.gather(e, weft.constant([1, 3]))
    weft.train.get_or_create_global_step()
    return [weft.identity(weft.reduce_sum(weft.square(w * x - 1)) + weft.reduce_sum(rows * x), name="loss")]


def optimized(kind, **params):
    """An optimizer whose steps are a program's own, and call those that they replace."""
    base = getattr(weft.train, kind + "Optimizer")

    class Mine(base):
        def _apply_dense(self, grad, var):
            return super()._apply_dense(grad, var)

    def python(loss):
        step = weft.train.get_global_step()
        return Mine(**params, **({"global_step": step} if kind == "AdagradDA" else {})).minimize(loss, step)

    def library(l, loss):
        step = l.g.find("global_step:0")
        trainlib.Optimizer(l.g, kind, **params, **({"global_step": step} if kind == "AdagradDA" else {})).minimize(loss, step)
    return forward, python, library


IMAGES, PLANES = inputs([None, 8, 8, 3]), inputs([None, 3, 8, 8])
ROWS = {
    "dense": (inputs([None, 4]), lambda x: weft.layers.dense(x, 5, activation=weft.nn.relu),
              lambda l, x: l.dense(x, 5, activation=b"Relu")),
    "dense_without_bias": (inputs([None, 4]), lambda x: weft.layers.dense(x, 5, use_bias=False, name="out"),
                           lambda l, x: l.dense(x, 5, use_bias=NO, name=b"out")),
    "dense_of_more_axes": (inputs([2, 3, 4]), lambda x: weft.layers.dense(x, 5), lambda l, x: l.dense(x, 5)),
    "dense_twice": (inputs([None, 4]), lambda x: weft.layers.dense(weft.layers.dense(x, 5), 6), lambda l, x: l.dense(l.dense(x, 5), 6)),
    "conv2d": (IMAGES, lambda x: weft.layers.conv2d(x, 6, 3, activation=weft.nn.relu),
               lambda l, x: l.conv2d(x, 6, (3, 3), activation=b"Relu")),
    "conv2d_same": (IMAGES, lambda x: weft.layers.conv2d(x, 6, [3, 5], strides=2, padding="same"),
                    lambda l, x: l.conv2d(x, 6, (3, 5), stride_h=2, stride_w=2, padding=b"SAME")),
    "conv2d_channels_first": (PLANES, lambda x: weft.layers.conv2d(x, 6, 3, data_format="channels_first"),
                              lambda l, x: l.conv2d(x, 6, (3, 3), channels_first=True)),
    "conv2d_dilated": (IMAGES, lambda x: weft.layers.conv2d(x, 6, 3, dilation_rate=2, use_bias=False),
                       lambda l, x: l.conv2d(x, 6, (3, 3), dilation_h=2, dilation_w=2, use_bias=NO)),
    "max_pooling2d": (IMAGES, *pooled("max")),
    "average_pooling2d": (IMAGES, *pooled("average")),
    "flatten": (IMAGES, lambda x: weft.layers.flatten(x), lambda l, x: l.flatten(x)),
    "dropout": (inputs([None, 4]), lambda x: weft.layers.dropout(x, 0.25, training=True), lambda l, x: l.dropout(x, 0.25, training=True)),
    "dropout_off": (inputs([None, 4]), lambda x: weft.layers.dropout(x, 0.25), lambda l, x: l.dropout(x, 0.25)),
    "batch_normalization": (IMAGES, lambda x: weft.layers.batch_normalization(x, training=True),
                            lambda l, x: l.batch_norm(x, training=True)),
    "batch_normalization_of_rows": (inputs([None, 4]), lambda x: weft.layers.batch_normalization(x), lambda l, x: l.batch_norm(x)),
    "batch_normalization_channels_first": (PLANES, lambda x: weft.layers.batch_normalization(x, axis=1, training=True),
                                           lambda l, x: l.batch_norm(x, training=True, channels_first=True)),
    "batch_normalization_of_parts": (IMAGES, lambda x: weft.layers.batch_normalization(x, center=False, scale=False, momentum=0.9),
                                     lambda l, x: l.batch_norm(x, center=NO, scale=NO, momentum=0.9)),
    "static_basic_lstm": (inputs([3, 4], [3, 4]), *static_rnn(0)),
    "static_gru": (inputs([3, 4], [3, 4]), *static_rnn(1)),
    "dynamic_basic_lstm": (inputs([3, 6, 4]), *dynamic_rnn(0), in_cell),
    "dynamic_gru": (inputs([3, 6, 4]), *dynamic_rnn(1), in_cell),
    "gradient_descent": optimized("GradientDescent", learning_rate=0.1),
    "momentum": optimized("Momentum", learning_rate=0.1, momentum=0.9),
    "adam": optimized("Adam", learning_rate=0.1),
    "adagrad": optimized("Adagrad", learning_rate=0.1),
    "rms_prop": optimized("RMSProp", learning_rate=0.1, momentum=0.5),
    "adadelta": optimized("Adadelta", learning_rate=0.1),
    "proximal_gradient_descent": optimized("ProximalGradientDescent", learning_rate=0.1, l2_regularization_strength=0.01),
    "proximal_adagrad": optimized("ProximalAdagrad", learning_rate=0.1, l1_regularization_strength=0.01),
    "adagrad_da": optimized("AdagradDA", learning_rate=0.1, l1_regularization_strength=0.01),
    "ftrl": optimized("Ftrl", learning_rate=0.1, l1_regularization_strength=0.01, beta=0.2),
    "ftrl_shrinkage": optimized("Ftrl", learning_rate=0.1, l2_regularization_strength=0.02, l2_shrinkage_regularization_strength=0.1),
    "centered_rms_prop": optimized("RMSProp", learning_rate=0.1, centered=True),
    "nesterov_momentum": optimized("Momentum", learning_rate=0.1, momentum=0.9, use_nesterov=True),
}


def snake(name):
    """RMSProp is rms_prop."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def test_every_layer_cell_and_optimizer_of_the_library_has_a_row():
    header, kinds = ((ROOT / p).read_text() for p in ("include/weft/train.h", "train/model/optimizer_kinds.c"))
    optimizers = {snake(k) for k in re.findall(r'optimizer_kind \w+ =\s*\{\s*"(\w+)"', kinds)}
    cells = re.findall(r"WEFT_CELL_(\w+)", header[header.index("typedef enum weft_cell"):].split("}")[0])
    loops = {"%s_%s" % (how, c.lower()) for c in cells for how in re.findall(r"weft_err weft_(\w+)_rnn\(", header)}
    found = optimizers, set(re.findall(r"weft_layer_(\w+)\(", header)), loops
    assert [len(f) > 3 for f in found] == [True] * 3, "the sources have changed: %s" % (found,)
    assert set().union(*found) <= set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_python_and_c_build_the_same_graph(name):
    different = differences(*ROWS[name])
    assert not different, "\n" + "\n".join(different[:40])
