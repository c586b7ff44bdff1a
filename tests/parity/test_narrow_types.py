"""float8 and 4-bit integers run in the ops for which TensorFlow has kernels of these types, and in no others.

TensorFlow's list of kernels says which; Weft is asked by a session that runs each op.
"""
import os
import sys

import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

import weftlib
from test_no_kernel import value_of

sys.path.append(os.environ.get("WEFT_PYTHON", str(weftlib.ROOT / "build" / "python")))
import weft  # noqa: E402

v1 = tf.compat.v1
SMALL = {name: getattr(tf.dtypes.experimental, name).as_datatype_enum for name in ("float8_e5m2", "float8_e4m3fn", "int4", "uint4")}
FED = ("resource", "variant")
# Their kernels take every type and fail in a run, or their other types come from inputs that cannot be fed.
LEFT_OUT = {"StatefulStandardNormal", "NonDeterministicInts"}


def attributes():
    """(op, attribute) for each attribute of an op that takes every type, where all inputs are tensors that can be fed."""
    for o in weftlib.ops():
        d = op_def_registry.get(o["name"])
        if d is None or not o["kernel"] or o["name"].startswith("_") or o["name"] in LEFT_OUT:
            continue
        if any(a.is_ref or tf.as_dtype(a.type).name in FED if a.type else a.type_list_attr for a in d.input_arg):
            continue
        if any(a.type not in ("type", "int", "string", "shape", "bool", "float", "list(int)") for a in d.attr):
            continue
        for a in d.attr:
            if a.type == "type" and not a.HasField("allowed_values") and any(i.type_attr == a.name for i in d.input_arg):
                yield o["name"], a.name


def runs_in_tensorflow(name, attr, kind):
    for k in kernels.get_registered_kernels_for_op(name).kernel:
        limits = [c for c in k.constraint if c.name == attr]
        if k.device_type in ("CPU", "DEFAULT") and (not limits or any(kind in c.allowed_values.list.type for c in limits)):
            return True
    return False


def filled(a):
    """A value of an attribute that has none."""
    made = v1.AttrValue()
    if a.type == "type" and not a.HasField("allowed_values") and not a.HasField("default_value"):
        made.type = tf.float32.as_datatype_enum
    elif a.type in ("bool", "float") and not a.HasField("default_value"):
        made.b = False
    elif a.type == "list(int)" and not a.HasField("default_value"):
        made.list.i.extend([1] * max(1, a.minimum))
    else:
        return value_of(a)
    return made


def refused_by_weft(name, attr, kind):
    """Whether Weft says that it has no kernel; None if the node cannot be built from inputs of unknown shapes."""
    d = op_def_registry.get(name)
    attrs = {a.name: filled(a) for a in d.attr}
    attrs[attr].type = kind
    with weft.Graph().as_default() as g:
        inputs = []
        for a in d.input_arg:
            of = attrs[a.type_attr].type if a.type_attr else a.type
            inputs += [weft.placeholder(of) for _ in range(attrs[a.number_attr].i if a.number_attr else 1)]
        made = weft.GraphDef()
        made.ParseFromString(g.as_graph_def().SerializeToString())
        node = made.node.add(name="made", op=name, input=[i.op.name for i in inputs])
        for key, value in attrs.items():
            node.attr[key].ParseFromString(value.SerializeToString())
    with weft.Graph().as_default() as g, weft.Session() as sess:
        try:
            weft.import_graph_def(made, name="")
            feeds = {i.name: b"x" if i.dtype == weft.string else weft.make_ndarray(weft.make_tensor_proto(1, i.dtype)) for i in inputs}
            sess.run("made", feeds)
        except weft.errors.OpError as e:
            return "No OpKernel was registered to support Op '%s'" % name in str(e)
        except (ValueError, TypeError):
            return None
    return False


ATTRIBUTES = sorted(attributes())


def test_many_ops_are_asked():
    assert len(ATTRIBUTES) > 60


@pytest.mark.parametrize("kind", sorted(SMALL))
def test_kernels_of_narrow_types_are_tensorflows(kind):
    asked, wrong = 0, []
    for name, attr in ATTRIBUTES:
        found = refused_by_weft(name, attr, SMALL[kind])
        asked += found is not None
        if found is not None and found == runs_in_tensorflow(name, attr, SMALL[kind]):
            wrong.append((name, attr, "refused" if found else "runs"))
    assert not wrong
    assert asked > 50
