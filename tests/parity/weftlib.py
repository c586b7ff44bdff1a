"""The C library through ctypes: just enough to import a GraphDef, feed, fetch and differentiate."""
import ctypes as C
import json
import os
import pathlib
import sys

import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import ran  # noqa: E402


class Out(C.Structure):
    _fields_ = [("node", C.c_int32), ("slot", C.c_uint16), ("graph", C.c_uint16)]


class Feed(C.Structure):
    _fields_ = [("to", Out), ("value", C.c_void_p)]


class SessionOpts(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("intra", C.c_int), ("inter", C.c_int), ("soft", C.c_bool), ("log", C.c_bool), ("timeout_ms", C.c_int64),
                ("target", C.c_char_p), ("config", C.c_void_p), ("config_size", C.c_size_t)]


class Request(C.Structure):
    _fields_ = [("size", C.c_size_t),
                ("n_feed", C.c_int), ("feeds", C.POINTER(Feed)), ("n_fetch", C.c_int),
                ("fetches", C.POINTER(Out)), ("fetched", C.POINTER(C.c_void_p)), ("n_target", C.c_int),
                ("targets", C.POINTER(Out)), ("timeout_ms", C.c_int64), ("trace", C.c_bool),
                ("metadata", C.POINTER(C.c_void_p)), ("metadata_size", C.POINTER(C.c_size_t)),
                ("partition_graphs", C.c_bool)]


def _load():
    lib = C.CDLL(os.environ.get("WEFT_LIBRARY", str(ROOT / "build/lib/libweft.so")))
    for name in ("weft_error_message", "weft_error_name", "weft_op_name", "weft_op_definition", "weft_node_name",
                 "weft_node_op", "weft_node_device"):
        getattr(lib, name).restype = C.c_char_p
    for name in ("weft_tensor_dims", "weft_tensor_data", "weft_graph_node"):
        getattr(lib, name).restype = C.c_void_p
    lib.weft_tensor_count.restype = C.c_int64
    lib.weft_tensor_bytes.restype = C.c_size_t
    lib.weft_graph_find.restype = Out
    return lib


lib = _load()
STRING, RESOURCE, VARIANT = 7, 20, 21
NO = 2  # WEFT_NO


class Error(Exception):
    def __init__(self, code):
        self.code = code
        self.name = lib.weft_error_name(code).decode()
        self.message = lib.weft_error_message().decode("utf-8", "replace")
        super().__init__(f"{self.name}: {self.message}")


def check(code):
    if code:
        raise Error(code)


def ops():
    """Every registered op as a dict: name, definition, doc, kernel, gradient, stateful, cases."""
    out = []
    for i in range(lib.weft_op_count()):
        text = C.c_char_p()
        check(lib.weft_op_json(C.byref(text), i))
        out.append(json.loads(text.value.decode()))
        lib.weft_free(text)
    return out


def tensor(array):
    """A new weft_tensor from something numpy takes; destroy it with lib.weft_tensor_destroy."""
    original, array = array, np.asarray(array)
    if array.dtype.kind == "S":  # numpy's own string type drops trailing zero bytes
        array = np.asarray(original, dtype=object)
    t = C.c_void_p()
    dims = (C.c_int64 * max(array.ndim, 1))(*array.shape)
    if array.dtype.kind in "OSU":
        check(lib.weft_tensor_create(C.byref(t), STRING, array.ndim, dims, None))
        for i, s in enumerate(array.ravel()):
            s = s.encode() if isinstance(s, str) else bytes(s)
            check(lib.weft_tensor_set_string(t, C.c_int64(i), s, C.c_size_t(len(s))))
        return t
    array = np.asarray(array, order="C")
    dtype = tf.as_dtype(array.dtype).as_datatype_enum
    check(lib.weft_tensor_create(C.byref(t), dtype, array.ndim, dims, C.c_void_p(array.ctypes.data)))
    return t


def numpy_of(t):
    rank = lib.weft_tensor_rank(t)
    dims = C.cast(lib.weft_tensor_dims(t), C.POINTER(C.c_int64))
    shape = tuple(dims[i] for i in range(rank))
    dtype = lib.weft_tensor_dtype(t)
    if dtype == STRING:
        values = []
        for i in range(lib.weft_tensor_count(t)):
            data, size = C.c_void_p(), C.c_size_t()
            check(lib.weft_tensor_string(t, C.c_int64(i), C.byref(data), C.byref(size)))
            values.append(C.string_at(data, size.value))
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out.reshape(shape)
    np_type = tf.as_dtype(dtype).as_numpy_dtype
    size = lib.weft_tensor_bytes(t)
    raw = C.string_at(lib.weft_tensor_data(t), size) if size else b""
    return np.frombuffer(raw, dtype=np_type).reshape(shape).copy()


class Graph:
    def __init__(self, graph_def=None):
        self.ptr, self.known, self.called = C.c_void_p(), -1, set()
        check(lib.weft_graph_create(C.byref(self.ptr)))
        if graph_def is not None:
            self.load(graph_def)

    def load(self, graph_def):
        data = graph_def if isinstance(graph_def, bytes) else graph_def.SerializeToString()
        self.called = set() if isinstance(graph_def, bytes) else {
            n.op for f in graph_def.library.function for n in f.node_def}
        check(lib.weft_graph_import(self.ptr, data, C.c_size_t(len(data)), None))

    def load_meta(self, meta, prefix=None):
        data = meta.SerializeToString()
        check(lib.weft_graph_import_meta(self.ptr, data, C.c_size_t(len(data)), prefix and prefix.encode()))

    def export_meta(self):
        data, size = C.c_void_p(), C.c_size_t()
        check(lib.weft_graph_export_meta(C.byref(data), C.byref(size), self.ptr))
        out = tf.compat.v1.MetaGraphDef.FromString(C.string_at(data, size.value))
        lib.weft_free(data)
        return out

    def find(self, name):
        o = lib.weft_graph_find(self.ptr, name.encode())
        if o.node < 0:
            raise KeyError(name)
        return o

    def shape(self, name):
        dims = (C.c_int64 * 16)()
        rank = lib.weft_out_shape(self.ptr, self.find(name), dims)
        return None if rank < 0 else [None if dims[i] < 0 else dims[i] for i in range(rank)]

    def export(self):
        data, size = C.c_void_p(), C.c_size_t()
        check(lib.weft_graph_export(C.byref(data), C.byref(size), self.ptr))
        out = tf.compat.v1.GraphDef.FromString(C.string_at(data, size.value))
        lib.weft_free(data)
        return out

    def ops(self):
        """The ops of its nodes and functions, those that gradients added included."""
        size = lib.weft_graph_size(self.ptr)
        if self.known != size:
            names = {lib.weft_node_op(C.c_void_p(lib.weft_graph_node(self.ptr, i))).decode() for i in range(size)}
            self.names = names | self.called
            self.known = size  # last: threads of a scenario share the graph
        return self.names

    def node_name(self, out):
        return lib.weft_node_name(C.c_void_p(lib.weft_graph_node(self.ptr, out.node))).decode()

    def gradients(self, ys, xs, grad_ys=None):
        """Names in, Out structures (or None where unconnected) out."""
        y = (Out * len(ys))(*[self.find(n) for n in ys])
        x = (Out * len(xs))(*[self.find(n) for n in xs])
        gy = (Out * len(ys))(*[self.find(n) for n in grad_ys]) if grad_ys else None
        dx = (Out * len(xs))()
        ran.names.update("gradient of " + name for name in self.ops())
        code = lib.weft_gradients(self.ptr, len(ys), y, gy, len(xs), x, dx)
        if code:
            error = Error(code)
            lib.weft_graph_clear_error(self.ptr)
            raise error
        return [None if o.node < 0 else Out(o.node, o.slot, o.graph) for o in dx]

    def __del__(self):
        if lib is not None:
            lib.weft_graph_destroy(self.ptr)


class Session:
    def __init__(self, graph, **opts):
        self.graph = graph
        self.ptr = C.c_void_p()
        check(lib.weft_session_create(C.byref(self.ptr), graph.ptr, C.byref(SessionOpts(**opts))))

    def run(self, fetches=(), feeds=None, targets=(), timeout_ms=0):
        """Fetches are names or Outs; feeds a dict from name to value; targets node names."""
        out = lambda x: x if isinstance(x, Out) else self.graph.find(x)
        feeds = feeds or {}
        fetched = (C.c_void_p * max(len(fetches), 1))()
        values = [tensor(v) for v in feeds.values()]
        try:
            fed = (Feed * max(len(feeds), 1))(*[Feed(out(n), v.value) for n, v in zip(feeds, values)])
            want = (Out * max(len(fetches), 1))(*[out(f) for f in fetches])
            goal = (Out * max(len(targets), 1))(*[self._node(n) for n in targets])
            request = Request(n_feed=len(feeds), feeds=fed, n_fetch=len(fetches), fetches=want, fetched=fetched,
                              n_target=len(targets), targets=goal, timeout_ms=timeout_ms)
            check(lib.weft_session_run(self.ptr, C.byref(request)))
            ran.names.update(self.graph.ops())
            return [numpy_of(C.c_void_p(fetched[i])) for i in range(len(fetches))]
        finally:
            for v in values:
                lib.weft_tensor_destroy(v)
            for i in range(len(fetches)):
                lib.weft_tensor_destroy(C.c_void_p(fetched[i]))

    def _node(self, name):
        return self.graph.find("^" + name)

    def close(self):
        lib.weft_session_destroy(self.ptr)
        self.ptr = C.c_void_p()

    def __del__(self):
        if lib is not None:
            lib.weft_session_destroy(self.ptr)
