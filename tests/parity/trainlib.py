"""Training graphs built twice: TensorFlow and Weft start from one forward graph, each adds its part, both are compared.

The forward graph travels as a MetaGraphDef, so that Weft knows the variables.  What is compared is every node that was
added: op, inputs, control inputs, device and attributes; then the values over some steps.
"""
import ctypes as C

import pytest
import tensorflow as tf

import compare
import weftlib
from weftlib import Out, check, lib

v1 = tf.compat.v1
NONE = Out(-1, 0)
# Written by TensorFlow 2 only, or by neither in the other's way.
IGNORED = {"_has_manual_control_dependencies", "_output_shapes", "allowed_devices", "debug_name"}


@pytest.fixture(autouse=True)
def reference_variables():
    """Variables are references unless a test asks for resources, as in TensorFlow 1.  Import it to use it."""
    v1.disable_resource_variables()
    yield
    v1.enable_resource_variables()


class Gradient(C.Structure):
    _fields_ = [("dense", Out), ("indices", Out), ("values", Out), ("dense_shape", Out)]


class MinimizeOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("gate", C.c_int), ("colocate", C.c_bool), ("tree", C.c_bool), ("grad_loss", C.POINTER(Out))]


def text(s):
    return None if s is None else s.encode()


def outs(items):
    return (Out * max(len(items), 1))(*items)


def call(name, *args, result=Out):
    f = getattr(lib, name)
    f.restype = result
    return f(*args)


class Graph(weftlib.Graph):
    """A Weft graph that begins as a TensorFlow graph."""

    def __init__(self, graph=None):
        super().__init__()
        if graph is not None:
            self.load_meta(v1.train.export_meta_graph(graph=graph))

    def make(self, function, *args):
        """An output made by a function of the C library; strings and numbers are passed as C wants them."""
        given = [text(a) if isinstance(a, str) else C.c_double(a) if isinstance(a, float) else a for a in args]
        o = call("weft_" + function, self.ptr, *given)
        self.ok()
        return o

    def ok(self):
        code = lib.weft_graph_error(self.ptr)
        if code:
            error = weftlib.Error(code)
            lib.weft_graph_clear_error(self.ptr)
            raise error

    def name(self, out):
        return f"{self.node_name(out)}:{out.slot}"


class Optimizer:
    def __init__(self, graph, kind, name=None, **params):
        self.graph, self.ptr = graph, C.c_void_p()
        check(lib.weft_optimizer_create(C.byref(self.ptr), graph.ptr, kind.encode(), text(name)))
        for k, v in params.items():
            if isinstance(v, Out):
                check(lib.weft_optimizer_set_output(self.ptr, k.encode(), v))
            else:
                check(lib.weft_optimizer_set(self.ptr, k.encode(), C.c_double(v)))

    def compute(self, loss, variables, **opts):
        d = (Gradient * len(variables))()
        check(lib.weft_optimizer_compute(self.ptr, loss, len(variables), outs(variables),
                                         C.byref(MinimizeOpts(**opts)), d))
        return d

    def apply(self, variables, d, step=NONE, name=None):
        o = call("weft_optimizer_apply", self.ptr, len(variables), outs(variables), d, step, text(name))
        self.graph.ok()
        return o

    def minimize(self, loss, step=NONE, variables=(), name=None, **opts):
        o = call("weft_optimizer_minimize", self.ptr, loss, step, len(variables), outs(variables),
                 C.byref(MinimizeOpts(**opts)), text(name))
        self.graph.ok()
        return o

    def slot(self, variable, name):
        return call("weft_optimizer_slot", self.ptr, variable, name.encode())

    def __del__(self):
        lib.weft_optimizer_destroy(self.ptr)


def attribute(value):
    """An AttrValue as something that compares equal when it means the same."""
    if value.WhichOneof("value") == "tensor":
        array = tf.make_ndarray(value.tensor)
        return str(array.dtype), array.shape, array.tolist()
    return value.SerializeToString(deterministic=True)


def in_scope(name, scopes):
    return any(part in scopes or part.rsplit("_", 1)[0] in scopes for part in name.split("/"))


def described(node, skip):
    hidden = lambda name: name.split("/")[0] + "/..." if in_scope(name.lstrip("^"), skip) else name
    data = [i for i in node.input if not i.startswith("^")]
    attributes = {k: attribute(v) for k, v in node.attr.items() if k not in IGNORED}
    if "_class" in attributes:
        attributes["_class"] = [hidden(s.decode().replace("loc:@", "")) for s in node.attr["_class"].list.s]
    return {"op": node.op, "inputs": [hidden(i) for i in data],
            "control": sorted({hidden(i) for i in set(node.input) - set(data)}), "device": node.device, **attributes}


def node_differences(want, got, before=0, skip=("gradients",)):
    """What differs between two GraphDefs in the nodes after the first `before`, those in scopes of `skip` left out:
    how a gradient is computed is another test's matter."""
    a = {n.name: described(n, skip) for n in want.node[before:] if not in_scope(n.name, skip)}
    b = {n.name: described(n, skip) for n in got.node[before:] if not in_scope(n.name, skip)}
    different = [f"missing: {n} ({a[n]['op']})" for n in a if n not in b]
    different += [f"extra: {n} ({b[n]['op']})" for n in b if n not in a]
    for n in a:
        for k in sorted(set(a[n]) | set(b.get(n, a[n]))):
            if n in b and a[n].get(k) != b[n].get(k):
                different.append(f"{n}.{k}: {b[n].get(k)}, TensorFlow has {a[n].get(k)}")
    return different


def names_in(meta, collection):
    """The names in a collection of a MetaGraphDef."""
    c = meta.collection_def[collection]
    if c.WhichOneof("kind") == "bytes_list":
        return [variable_def(b).variable_name for b in c.bytes_list.value]
    return list(c.node_list.value)


def variable_def(data):
    from tensorflow.core.framework import variable_pb2
    return variable_pb2.VariableDef.FromString(data)


def same_collections(graph, ours, names):
    want, got = v1.train.export_meta_graph(graph=graph), ours.export_meta()
    for name in names:
        assert sorted(names_in(got, name)) == sorted(names_in(want, name)), name
        a = {v.variable_name: v for v in map(variable_def, want.collection_def[name].bytes_list.value)}
        b = {v.variable_name: v for v in map(variable_def, got.collection_def[name].bytes_list.value)}
        for v in a:
            for field in ("initializer_name", "snapshot_name", "initial_value_name", "is_resource", "trainable"):
                assert getattr(a[v], field) == getattr(b[v], field), (name, v, field)


def is_of_averages(difference):
    """Moving averages begin without TensorFlow's cond, and their updates lie with the variable: TensorFlow 2 leaves them to
    the worker, which then has to be sent both."""
    update = "AssignMovingAvg" in difference and ("._class:" in difference or ".device:" in difference)
    return update or "Average/Assign.inputs" in difference


def no_differences(want, got, before=0, **opts):
    different = node_differences(want, got, before, **opts)
    assert not different, "\n" + "\n".join(different[:40])


def same_values(graph, ours, init, train, fetches, feeds=lambda i: {}, steps=50, tol=20.0):
    """Runs both, step by step; names throughout.  fetches are read after each step."""
    s = weftlib.Session(ours)
    with v1.Session(graph=graph) as tfs:
        tfs.run(init)
        s.run((), targets=[init])
        for i in range(steps):
            tfs.run(train, feeds(i))
            s.run((), feeds(i), targets=[train])
            want, got = tfs.run(fetches, feeds(i)), s.run(fetches, feeds(i))
            for name, a, b in zip(fetches, want, got):
                d = compare.difference(f"step {i}: {name}", a, b, tol)
                assert d is None, d
