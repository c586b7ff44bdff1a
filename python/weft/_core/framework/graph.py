"""Graph, Operation and Tensor: handles of the library's objects, with TensorFlow's properties.

Nodes and outputs are numbers (an output is node * 65536 + slot). Their Python objects are made on first use and kept,
so that a node always has the same Operation.  Scopes are pushed onto the library's stack and popped in step.
"""
import bisect
import contextlib
import functools
import re
import threading
import traceback
import weakref

from weft import _weft
from weft._core.framework import absent, errors, numeric_checks, protos, tensor_shape
from weft._core.framework.details import GraphDetails, OperationDetails, TensorDetails, device_text
from weft._core.framework.dtypes import DType
from weft._core.framework.graph_collections import GraphCollections
from weft._core.framework.graph_keys import GraphKeys  # noqa: F401 - programs import it from here
from weft._core.framework.indexed_slices import IndexedSlices
from weft._core.framework.stack import made_at


class Operation(OperationDetails):
    """A node of a graph."""

    __slots__ = ("graph", "_id", "name", "type", "outputs", "_at", "_context", "__weakref__", "__dict__")

    def __init__(self, graph, node, at=None):
        self.graph, self._id, self._at = graph, node, at
        self.name, self.type, count = graph._c.node(node)
        self.outputs = [graph._TENSOR(self, i) for i in range(count)]
        self._context = None

    @property
    def _out(self):
        return self._id << 16

    @property
    def _id_value(self):
        return self._id

    @property
    def _made_at(self):
        """The program's stack where the node was made, formatted as Python prints it, or None for nodes of the library.
        """
        return "".join(traceback.format_list(self.traceback)).rstrip("\n") or None

    @property
    def _original_op(self):
        """For a node of a gradient, the operation whose gradient it belongs to; otherwise None."""
        found = re.search(r"(?:^|/)gradients(?:_\d+)?/(.+?)_grad(?:/|$)", self.name)
        out = -1 if found is None else self.graph._c.find("^" + found.group(1))
        return None if out < 0 else self.graph._operation(out >> 16)

    @property
    def inputs(self):
        return [self.graph._tensor(o) for o in self.graph._c.inputs(self._id)]

    @property
    def control_inputs(self):
        return [self.graph._operation(o >> 16) for o in self.graph._c.controls(self._id)]

    @property
    def device(self):
        return self.graph._c.device(self._id)

    @property
    def node_def(self):
        return protos.NodeDef.FromString(self.graph._c.node_def(self._id))

    @property
    def op_def(self):
        from weft._core.framework import opdef_proto
        return opdef_proto.get(self.type)

    @property
    def traceback(self):
        """The program's stack where it made the node, the innermost frame last."""
        return [traceback.FrameSummary(*frame, lookup_line=False) for frame in self._at or ()]

    def values(self):
        return tuple(self.outputs)

    def get_attr(self, name):
        from weft._core.framework.attrs import attr_to_python
        try:
            data = self.graph._c.attr(self._id, name)
        except errors.NotFoundError as e:
            raise ValueError(e.message) from None
        return attr_to_python(protos.AttrValue.FromString(data))

    def _set_attr(self, name, value):
        self.graph._c.set_attr(self._id, name, value.SerializeToString())

    def _set_device(self, device):
        self.graph._c.set_device(self._id, device_text(device) or "")

    def _add_control_input(self, op):
        self.graph._c.add_control(self._id, op._out)

    def _add_control_inputs(self, ops):
        for op in ops:
            self._add_control_input(op)

    def _update_input(self, index, tensor):
        self.graph._set_input(self._id, index, tensor._out)

    def colocation_groups(self):
        try:
            groups = [g for g in self.get_attr("_class") if g.startswith(b"loc:@")]
        except ValueError:
            groups = []
        return groups or [("loc:@" + self.name).encode()]

    def run(self, feed_dict=None, session=None):
        _session(session, self.graph, "execute operation", "run").run(self, feed_dict)

    def __str__(self):
        return str(self.node_def)

    def __repr__(self):
        return "<tf.Operation '%s' type=%s>" % (self.name, self.type)


class Tensor(TensorDetails):
    """An output of a node. operators.py adds its operators."""

    __slots__ = ("op", "value_index", "_out", "__weakref__", "__dict__")
    __array_priority__ = 100
    numpy = absent.EagerOnly("tf.Tensor.numpy")

    def __init__(self, op, index):
        self.op, self.value_index = op, index
        self._out = op._id << 16 | index

    @property
    def graph(self):
        return self.op.graph

    @property
    def name(self):
        return "%s:%d" % (self.op.name, self.value_index)

    @property
    def device(self):
        return self.op.device

    @property
    def dtype(self):
        return DType(self.op.graph._c.dtype(self._out))

    @property
    def shape(self):
        return tensor_shape.TensorShape(self.op.graph._c.shape(self._out))

    _shape = shape

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        try:
            self.op.graph._c.set_shape(self._out, tensor_shape.dims_of(shape))
        except errors.OpError as e:
            raise ValueError(e.message) from None

    def _shape_as_list(self):
        shape = self.shape
        return None if shape.ndims is None else shape.as_list()

    def consumers(self):
        return [self.graph._operation(i) for i in self.graph._readers_of(self._out)]

    def eval(self, feed_dict=None, session=None):
        return _session(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __bool__(self):
        raise errors.OperatorNotAllowedInGraphError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not None:` instead of "
            "`if t:` to test if a tensor is defined, and use TensorFlow ops such as tf.cond to execute "
            "subgraphs conditioned on the value of a tensor.")

    __nonzero__ = __bool__

    def __iter__(self):
        raise errors.OperatorNotAllowedInGraphError("Tensor objects are only iterable when eager execution is enabled. To "
                                                    "iterate over this tensor use tf.map_fn.")

    def __len__(self):
        raise TypeError("len is not well defined for a symbolic Tensor (%s). Please call `x.shape` rather than "
                        "`len(x)` for shape information." % self.name)

    def __array__(self, dtype=None):
        raise NotImplementedError("Cannot convert a symbolic tf.Tensor (%s) to a numpy array. This error may "
                                  "indicate that you're trying to pass a Tensor to a NumPy call, which is not supported." % self.name)

    def __repr__(self):
        return "<tf.Tensor '%s' shape=%s dtype=%s>" % (self.name, self.shape, self.dtype.name)

    def __str__(self):
        shape = self.shape
        return 'Tensor("%s"%s, dtype=%s%s)' % (
            self.name, "" if shape.ndims is None else ", shape=%s" % shape, self.dtype.name,
            ", device=%s" % self.device if self.device else "")


def _session(session, graph, what, method):
    from weft._core.session import client
    if session is None:
        session = client.get_default_session()
        if session is None:
            raise ValueError("Cannot %s using `%s()`: No default session is registered. Use `with sess.as_default()` "
                             "or pass an explicit session to `%s(session=sess)`" % (what, method, method))
        if session.graph is not graph:
            raise ValueError("Cannot use the default session to %s: the tensor's graph is different from the session's "
                             "graph. Pass an explicit session to `%s(session=sess)`." % (what, method))
    elif session.graph is not graph:
        raise ValueError("Cannot use the given session to %s: the tensor's graph is different from the session's "
                         "graph." % what)
    return session


_FORM = ' Tensor names must be of the form "<op_name>:<output_index>".'


class Graph(GraphDetails, GraphCollections):
    """A graph of the library, its scopes as context managers and its collections."""

    outer = None  # the outer graph, if this is the body of a function

    _TENSOR = Tensor  # the class of the outputs of its nodes

    def __init__(self):
        self._c = _weft.Graph()
        self._ops = {}
        self._finalized = False
        self._collections = {}      # key -> Python objects
        self._told = {}             # key -> the items that were copied to the library's list
        self._readers, self._read_by = {}, 0  # output -> the nodes among the first _read_by that read it
        self._seen = {}             # key -> how many items of the library's list are in the Python list
        # set by init_from_checkpoint, after which the init op must be built from the new initializers
        self._initializers_replaced = False
        self._variables = {}        # name of the variable's output -> Variable
        self._variable_store = {}   # full name -> Variable made by get_variable
        self._partitioned_store = {}  # full name -> PartitionedVariable made by get_variable
        self._scope_extras = {}     # variable scope handle -> what only Python knows of it
        self._context = None        # the current control flow context
        self._made_in = []          # (first node, end, stack) of calls in which the library made nodes
        self._order = None          # orders the stateful ops of the function that is being called
        self._calls = []            # the name scopes of the functions that are being called, the outermost first
        self._jit_scope = None      # the state of tf.xla.experimental.jit_scope, once it was opened
        self._skips_summaries = False  # whether tf.summary adds nothing, as in a computation of tf.xla
        self._adapting = False      # whether that context is adapting a node that the library adds
        self._controls = []         # the operations that new nodes wait for
        self._devices = []          # the devices of the open scopes, the outermost first
        self._extra_attrs = {}      # the attributes that every new node gets
        self._functions = []        # keeps the functions of py_func alive
        self._unfeedable, self._unfetchable = set(), set()
        self.seed, self._seeds_drawn = None, 0
        self._last_loss = None
        self._numeric_checks = numeric_checks.Checks()
        self._lock = threading.RLock()
        self._c.gradient_fn(functools.partial(_program_gradient, weakref.ref(self)))

    # ---- nodes ----

    def _operation(self, node, at=None):
        op = self._ops.get(node)
        if op is None:
            op = self._ops[node] = Operation(self, node, self._library_stack(node) if at is None else at)
        return op

    @contextlib.contextmanager
    def _made_by_library(self):
        """Gives nodes that the library makes inside the program's current stack and its current cond or loop context.
        """
        first = self._c.size()
        asks = self._context is not None and not self._adapting
        adapt = self._context.for_library() if asks else None
        if asks:
            self._c.adapter(adapt)
            self._adapting = True
        try:
            yield
            for node in range(first, self._c.size()) if self._extra_attrs else ():
                self._add_extra_attrs(self._operation(node))
        finally:
            if asks:
                self._c.adapter(None)
                self._adapting = False
            self._made_in.append((first, self._c.size(), made_at()))
        if numeric_checks.on:
            numeric_checks.check_added(self, first, self._c.size())

    def _library_stack(self, node):
        at = bisect.bisect_right(self._made_in, node, key=lambda row: row[0]) - 1
        return self._made_in[at][2] if at >= 0 and node < self._made_in[at][1] else None

    def _tensor(self, out):
        return None if out < 0 else self._operation(out >> 16).outputs[out & 0xffff]

    def _result(self, out):
        """Returns the tensor that a program gets for an output of a node that the library has added."""
        return self._tensor(self._numeric_checks.replaced.get(out, out))

    def _set_input(self, node, index, out):
        self._c.set_input(node, index, out)
        self._readers, self._read_by = {}, 0  # computed again when next needed

    def _readers_of(self, out):
        with self._lock:
            for i in range(self._read_by, self._c.size()):
                for o in dict.fromkeys(self._c.inputs(i)):
                    self._readers.setdefault(o, []).append(i)
                self._read_by = i + 1
            return self._readers.get(out, ())

    def _check_not_finalized(self):
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _add(self, kind, name, inputs, attrs, controls=(), device=None):
        """Adds a node, from outputs as numbers and attributes in the form that the extension takes, and returns its
        Operation.
        """
        self._check_not_finalized()
        context = self._context
        if context is not None:
            inputs, controls = context.adapt(kind, name, inputs, list(controls))
        try:
            node = self._c.op(kind, name, inputs, controls, attrs, device)
        except errors.InvalidArgumentError as e:  # TensorFlow raises ValueError here.
            from weft._core.framework import opdef
            raise opdef.refused_type(kind, e) or ValueError(e.message) from None
        op = self._operation(node, made_at())
        if self._extra_attrs:
            self._add_extra_attrs(op)
        if context is not None:
            context.added(op)
        return op

    def create_op(self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
                  compute_shapes=True, compute_device=True):
        from weft._core.framework.attrs import attr_rows
        return self._add(op_type, name, [t._out for t in inputs], attr_rows(attrs or {}))

    @property
    def version(self):
        return self._c.size()

    @property
    def finalized(self):
        return self._finalized

    def finalize(self):
        self._finalized = True

    def _unsafe_unfinalize(self):
        self._finalized = False

    @property
    def graph_def_versions(self):
        return self.as_graph_def().versions

    def get_operations(self):
        return [self._operation(i) for i in range(self._c.size())]

    def get_operation_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError("Operation names are strings (or similar), not %s." % type(name).__name__)
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError("Tensor names are strings (or similar), not %s." % type(name).__name__)
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        kinds = " or ".join(k for k, on in (("Tensor", allow_tensor), ("Operation", allow_operation)) if on)
        if not kinds:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            obj = convert()
        if isinstance(obj, (str, bytes)):
            return self._element_by_name(obj if isinstance(obj, str) else obj.decode(), allow_tensor, allow_operation)
        if (isinstance(obj, Tensor) and allow_tensor) or (isinstance(obj, Operation) and allow_operation):
            if obj.graph is not self:
                raise ValueError("%s %s is not an element of this graph." % (type(obj).__name__, obj))
            return obj
        raise TypeError("Can not convert a %s into a %s." % (type(obj).__name__, kinds))

    def _element_by_name(self, name, allow_tensor, allow_operation):
        if ":" in name:
            if not allow_tensor:
                raise ValueError("Name %r appears to refer to a Tensor, not an Operation." % name)
            node, _, number = name.rpartition(":")
            out = self._c.find(name)
            if out >= 0:
                return self._tensor(out)
            if ":" in node or not number.lstrip("-").isdigit():
                raise ValueError("The name %r looks a like a Tensor name, but is not a valid one.%s" % (name, _FORM))
            if self._c.find("^" + node) < 0:
                raise KeyError("The name %r refers to a Tensor which does not exist. The operation, %r, does not exist "
                               "in the graph." % (name, node))
            raise KeyError("The name %r refers to a Tensor which does not exist. The operation, %r, exists but only "
                           "has %d outputs." % (name, node, self._c.node(self._c.find("^" + node) >> 16)[2]))
        out = self._c.find("^" + name)
        if not allow_operation:
            raise ValueError("The name %r %s, not a Tensor.%s" % (
                name, "looks like an (invalid) Operation name" if out < 0 else "refers to an Operation", _FORM))
        if out < 0:
            raise KeyError("The name %r refers to an Operation not in the graph." % name)
        return self._operation(out >> 16)

    def is_feedable(self, tensor):
        return tensor not in self._unfeedable

    def prevent_feeding(self, tensor):
        self._unfeedable.add(tensor)

    def is_fetchable(self, tensor_or_op):
        return tensor_or_op not in self._unfetchable

    def prevent_fetching(self, op):
        self._unfetchable.add(op)

    def as_graph_def(self, from_version=None, add_shapes=False):
        """Returns the graph as a message.

        add_shapes: each node with outputs gets the attribute _output_shapes.  from_version has no effect, as in
        TensorFlow 2.15: all nodes are in the message.
        """
        if add_shapes:
            return protos.MetaGraphDef.FromString(self._c.export_meta()).graph_def
        return protos.GraphDef.FromString(self._c.export_graph())

    def _as_graph_def_bytes(self):
        return self._c.export_graph()

    # ---- scopes ----

    def as_default(self):
        return _default_graphs.entered(self)

    def unique_name(self, name, mark_as_used=True):
        return self._c.unique(name, mark_as_used)

    def get_name_scope(self):
        return self._c.prefix()

    @contextlib.contextmanager
    def name_scope(self, name):
        try:
            self._c.scope_name(name or None)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        prefix = self._c.prefix()
        try:
            yield prefix + "/" if prefix else ""
        finally:
            self._c.pop()

    @contextlib.contextmanager
    def _scope(self, push, *args):
        push(*args)
        try:
            yield
        finally:
            self._c.pop()

    @contextlib.contextmanager
    def device(self, device_name_or_function):
        with self._device_scope(device_name_or_function):
            self._devices.append(device_name_or_function)
            try:
                yield
            finally:
                self._devices.pop()

    def _device_scope(self, given):
        if hasattr(given, "_library_replica"):
            return self._scope(self._c.scope_replica, given._library_replica(self))
        if callable(given):
            from weft._core.framework.device_node import placer
            return self._scope(self._c.scope_device, placer(self, given))
        return self._scope(self._device_text, given)

    def _device_text(self, device):
        try:
            self._c.scope_device(device_text(device))
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None

    def control_dependencies(self, control_inputs):
        if control_inputs is None:
            return self._no_control()
        before = []
        for c in control_inputs:
            # For a resource variable or its update, the operation of the handle is used.
            if isinstance(c, IndexedSlices) or hasattr(c, "_handle"):
                c = c.op
            element = self.as_graph_element(c)
            before.append(element._out)
        return self._control_scope(before if self._context is None else self._context.waits(before))

    @contextlib.contextmanager
    def _control_scope(self, before):
        self._c.scope_control(before)
        held, self._controls = self._controls, self._controls + [self._operation(out >> 16) for out in before]
        try:
            yield
        finally:
            self._controls = held
            self._c.pop()

    @contextlib.contextmanager
    def _no_control(self):
        self._c.scope_control(None)
        context, self._context = self._context, None
        controls, self._controls = self._controls, []
        try:
            yield
        finally:
            self._context, self._controls = context, controls
            self._c.pop()

    def colocate_with(self, op, ignore_existing=False):
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        out = -1
        if op is not None:
            op = getattr(op, "_handle", op)  # A resource variable is on the device of its handle.
            out = getattr(op, "op", op)._out
        return self._scope(self._c.scope_colocate, out, ignore_existing)

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map):
        pairs = list(op_type_map.items()) if isinstance(op_type_map, dict) else [(None, None)]
        if not all(isinstance(kind, str) and isinstance(name, str) for kind, name in pairs):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for kind, name in pairs:
            self._c.scope_gradient(kind, name)
        try:
            yield
        finally:
            for _ in pairs:
                self._c.pop()

    @contextlib.contextmanager
    def _differentiating(self):
        """Puts gradient nodes that the library adds into the current context, and forgets them if it fails."""
        try:
            with self._made_by_library():
                yield
        except BaseException:
            self._forget()
            raise

    def _forget(self):
        """Updates the Python objects after the library removed its newest nodes."""
        size = self._c.size()
        self._ops = {i: op for i, op in self._ops.items() if i < size}
        self._readers, self._read_by = {}, 0
        context = self._context
        while context is not None:
            context.forget(size)
            context = context.outer

    def container(self, container_name):
        return self._scope(self._c.scope_container, container_name)

    def _variable_root(self):
        """Opens the scope for the name of a variable: the current one without the scopes of called functions."""
        if not self._calls:
            return contextlib.nullcontext()
        prefix = self._c.prefix()
        prefix += "/" if prefix else ""
        for around, own in reversed(self._calls):
            prefix = around + prefix.removeprefix(own) if prefix.startswith(own) else prefix
        return self.name_scope(prefix)

    def _belong(self, node_name):
        return self._scope(self._c.scope_belong, node_name)


class _Stack(threading.local):
    """A stack of default graphs or sessions, one for each thread."""

    def __init__(self):
        self.items = []

    @contextlib.contextmanager
    def entered(self, item):
        self.items.append(item)
        try:
            yield item
        finally:
            self.items.remove(item)


class _Graphs(_Stack):
    shared = None  # the graph for all threads that made none

    def get(self):
        if self.items:
            return self.items[-1]
        if _Graphs.shared is None:
            _Graphs.shared = Graph()
        return _Graphs.shared

    def reset(self):
        if self.items:
            raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
                                 "graph, exit the nesting and create a new graph.")
        _Graphs.shared = None


_default_graphs = _Graphs()


def get_default_graph():
    return _default_graphs.get()


def reset_default_graph():
    _default_graphs.reset()


@contextlib.contextmanager
def name_scope(name, default_name=None, values=None):
    """Opens a name scope and yields its name with a slash: tf.name_scope."""
    used = default_name if name is None else name
    if used is not None and not isinstance(used, str):
        raise TypeError("`default_name` type (%s) is not a string type. You likely meant to pass this into the `values`"
                        " kwarg." % type(used))
    if used is None and values is not None:
        raise ValueError("At least one of name (None) and default_name (None) must be provided.")
    graph = graph_of(values) if values else get_default_graph()
    with graph.as_default() if graph is not get_default_graph() else contextlib.nullcontext(), graph.name_scope(used) as s:
        yield s


def graph_of(values):
    """Returns the graph of the values, or the default one. A function's body captures the values instead."""
    found = None
    for v in values if get_default_graph().outer is None else ():
        graph = getattr(v, "graph", None)
        if not isinstance(graph, Graph):
            continue
        if found is not None and graph is not found[0]:
            raise ValueError("%s must be from the same graph as %s." % (v, found[1]))
        found = found or (graph, v)
    return found[0] if found else get_default_graph()


def device(device_name_or_function):
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs):
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op, ignore_existing=False):
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name):
    return get_default_graph().container(container_name)


def add_to_collection(name, value):
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    return get_default_graph().get_collection_ref(key)


def get_all_collection_keys():
    return get_default_graph().get_all_collection_keys()


def set_random_seed(seed):
    graph = get_default_graph()
    graph.seed = seed
    if seed is not None:
        graph._c.set_seed(int(seed))


def init_scope():
    return get_default_graph().control_dependencies(None)


def _program_gradient(graph, node, kind, rows):
    """Returns the gradients that the program registered. The library calls it for ops without a gradient of its own."""
    from weft._core.framework.gradient_registry import registry
    return registry.differentiate(graph(), node, kind, rows)


_weft.set_error(errors.make)
