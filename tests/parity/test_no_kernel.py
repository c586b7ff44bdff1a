"""Ops that TensorFlow defines without a kernel for CPUs: Weft defines them too, with the same shapes and the same error.

Each op is built from its definition with placeholders of unknown shape, and read by both systems as a GraphDef.
"""
import os
import re
import sys

import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

import ran
import weftlib

sys.path.append(os.environ.get("WEFT_PYTHON", str(weftlib.ROOT / "build" / "python")))
import weft  # noqa: E402

v1 = tf.compat.v1
# TensorFlow builds those of sparse matrices only behind a node that makes one: test_csr_matrices.py has them.
WITHOUT = sorted(o["name"] for o in weftlib.ops() if not o["kernel"] and not o["name"].startswith(("_", "SparseMatrix")))


def value_of(a):
    """A value of an attribute: its default, or the first that its definition allows."""
    made = v1.AttrValue()
    if a.HasField("default_value"):
        made.CopyFrom(a.default_value)
    elif a.type == "type":
        made.type = a.allowed_values.list.type[0]
    elif a.type == "int":
        made.i = max(2, a.minimum)
    elif a.type == "string":
        made.s = a.allowed_values.list.s[0] if a.HasField("allowed_values") else b"any"
    elif a.type == "shape":
        made.shape.unknown_rank = True
    else:
        assert a.type == "list(int)", (a.name, a.type)
        made.list.i.extend([1, 2, 2, 1])
    return made


def graph_of(name):
    """A GraphDef with the op as its node `made`."""
    op = op_def_registry.get(name)
    attrs = {a.name: value_of(a) for a in op.attr}
    with v1.Graph().as_default() as g:
        for a in op.input_arg:
            kind = attrs[a.type_attr].type if a.type_attr else a.type
            for _ in range(attrs[a.number_attr].i if a.number_attr else 1):
                v1.placeholder(kind)
    made = g.as_graph_def()
    node = made.node.add(name="made", op=name, input=[n.name for n in made.node if n.op == "Placeholder"])
    for key, value in attrs.items():
        node.attr[key].CopyFrom(value)
    return made.SerializeToString()


def dims(tensors):
    return [None if o.shape.ndims is None else o.shape.as_list() for o in tensors]


def seen(t, text):
    """What a system says of the node: the shapes of its outputs, and the error of running it."""
    values = {t.int32: 1, t.int64: 1, t.float32: 1.0, t.complex64: 1j, t.string: b"x", t.bfloat16: 1.0}
    with t.Graph().as_default() as g:
        parsed = t.GraphDef()
        parsed.ParseFromString(text)
        t.import_graph_def(parsed, name="")
        op = g.get_operation_by_name("made")
        shapes = dims(op.outputs)
        feeds = {i: values[i.dtype] for i in op.inputs if i.dtype in values}
        with t.Session() as sess, pytest.raises(t.errors.InvalidArgumentError) as error:
            sess.run(op, feeds)
    return shapes, error.value


@pytest.mark.parametrize("name", WITHOUT)
def test_shapes_and_error_are_tensorflows(name):
    # TensorFlow for x86_64 has kernels for GPUs too, and XLA adds its own as soon as something was compiled by it.
    found = [k for k in kernels.get_registered_kernels_for_op(name).kernel if k.device_type in ("CPU", "DEFAULT")]
    assert not found, "TensorFlow can run it"
    text = graph_of(name)
    theirs, ours = seen(v1, text), seen(weft, text)
    assert ours[0] == theirs[0]
    wanted = "No OpKernel was registered to support Op '%s' used by {{node made}}" % name
    for error in (theirs[1], ours[1]):
        assert wanted in str(error)


# TensorFlow's kernels of these write no output, unless oneDNN for x86 replaces the nodes.
FUSED = sorted(o["name"] for o in weftlib.ops() if re.match("Quantized(Depthwise)?(Conv2D|MatMul)(And|With|Per)|QuantizedDepthwise",
                                                             o["name"]))


def fused(t, name, **given):
    """The shapes of a fused op of known and of unknown inputs, and the error of running it."""
    shapes = {"input": [2, 5, 5, 2], "filter": [2, 2, 2, 1], "a": [4, 2], "b": [2, 3], "bias": [3], "summand": [2, 4, 4, 3]}
    kinds = {"input": t.quint8, "filter": t.qint8, "a": t.quint8, "b": t.qint8}
    if "Sum" in name:
        kinds["summand"] = t.qint8 if "Signed" in name else t.quint8 if name.endswith("Requantize") else t.float32
    inputs = [a.name for a in op_def_registry.get(name).input_arg]
    more = {"strides": [1, 1, 1, 1], "padding": "VALID"} if "Conv" in name else {}
    more.update({"Toutput": t.float32} if name.endswith("Dequantize") else {}, **given)
    with t.Graph().as_default():
        ones = {n: t.cast(t.ones(shapes.get(n, [])), kinds.get(n, t.float32)) for n in inputs}
        unknown = {n: t.placeholder(kinds.get(n, t.float32)) for n in inputs}
        made, other = (getattr(t.raw_ops, name)(**x, **more) for x in (ones, unknown))
        op = made.op if isinstance(made, t.Tensor) else made[0].op
        other = other.op if isinstance(other, t.Tensor) else other[0].op
        with t.Session() as sess, pytest.raises(t.errors.InternalError) as error:
            sess.run(op.outputs[0])
    return dims(op.outputs), dims(other.outputs), "Missing 0-th output from {{node %s}}" % op.name in str(error.value)


@pytest.mark.parametrize("name", FUSED)
def test_fused_quantized_ops_have_tensorflows_shapes_and_error(name):
    assert fused(weft, name) == fused(v1, name)
    ran.names.add(name)  # it fails, so that the watched session does not count it
    if name.endswith("Relu") and "Conv" in name:
        padded = {"padding_list": [0, 0, 1, 1, 2, 1, 0, 0]}
        assert fused(weft, name, **padded) == fused(v1, name, **padded)


def test_the_fused_ops_are_found():
    assert len(FUSED) == 20


def recurrent(t, version):
    """The node that the gradient of a recurrent layer makes: its op, its inputs' ops, its attributes."""
    with t.Graph().as_default():
        x, h = t.placeholder(t.float32, [4, 6, 8]), t.placeholder(t.float32, [1, 6, 9])
        w, n = t.placeholder(t.float32, [77]), {} if version != "V3" else {"sequence_lengths": [4] * 6, "num_proj": 3, "time_major": False}
        made = getattr(t.raw_ops, "CudnnRNN" + version)(input=x, input_h=h, input_c=h, params=w, rnn_mode="gru", dropout=0.25,
                                                        direction="bidirectional", **n)
        op = t.gradients([made[0], made[1]], [w])[0].op
        inputs = [(i.op.type, i.op.outputs.index(i)) if i.op.type.startswith("Cudnn") else i.shape.as_list() for i in op.inputs]
        attrs = {k: op.get_attr(k) for k in op.node_def.attr if k != "T"}
        return op.type, inputs, attrs, dims(op.outputs), dims(made)


@pytest.mark.parametrize("version", ["", "V2", "V3"])
def test_gradients_of_recurrent_layers_are_tensorflows(version):
    assert recurrent(weft, version) == recurrent(v1, version)


def classified(t):
    with t.Graph().as_default():
        x = t.placeholder(t.float32, [5, 2, 4])
        made = t.raw_ops.CTCLossV2(inputs=x, labels_indices=[[0, 0], [1, 0]], labels_values=[1, 2], sequence_length=[5, 4])
        return dims(made), t.gradients(made[0], x)[0].op.type


def test_the_gradient_of_ctc_is_tensorflows():
    assert classified(weft) == classified(v1)


def configured(t):
    """What setting an option of a file system says: local files have none."""
    with t.Graph().as_default(), t.Session() as sess, pytest.raises(t.errors.OpError) as error:
        sess.run(t.raw_ops.FileSystemSetConfiguration(scheme="file", key="a", value="b"))
    return type(error.value).__name__


def test_file_systems_have_no_options():
    assert configured(weft) == configured(v1)
    ran.names.add("FileSystemSetConfiguration")  # it fails, so that the watched session does not count it
