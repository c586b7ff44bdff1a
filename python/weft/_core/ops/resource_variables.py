"""Resource variables: a VarHandleOp, and a ReadVariableOp wherever the value is used.

A read sees the value at the time it runs, so control dependencies order reads and updates.  An update returns a
variable that reads after the update (_UnreadVariable); running it returns the new value.
"""
from weft._core.framework import protos, tensor_shape
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops.variables import Variable


class ResourceVariable(Variable):
    """A variable whose handle is passed to the ops that read and change it."""

    # ---- the nodes ----

    def _build(self, graph, scope, initial_value, dtype, validate_shape, caching_device):
        self._caching_device, self._cached, self._validate_shape = caching_device, None, validate_shape
        true_name = scope[:-1] if scope.endswith("/") else scope
        with graph._belong(true_name):
            with name_scope("Initializer"), graph.device(None):
                made = initial_value() if callable(initial_value) else initial_value
                self._initial_value = initial = convert_to_tensor(made, dtype, name="initial_value")
            shape = self._checked_shape(initial)
            self._handle = op("VarHandleOp", scope, dtype=initial.dtype.base_dtype, shape=shape, shared_name=true_name,
                              debug_name=scope)
        self._dtype, self._declared = initial.dtype.base_dtype, shape
        with name_scope("IsInitialized"):
            self._is_initialized = op("VarIsInitializedOp", resource=self._handle)
        with graph.colocate_with(None, True), graph.device(self._handle.device):
            self._initializer_op = op("AssignVariableOp", "Assign", resource=self._handle, value=initial)
        with name_scope("Read"), graph.device(self._handle.device):
            self._element = self._read()
            if caching_device is not None:
                with graph.colocate_with(None, True), graph.device(caching_device):
                    self._cached = op("Identity", input=self._element)

    def _checked_shape(self, initial):
        if self._asked_shape is None:
            return initial.shape
        asked = tensor_shape.as_shape(self._asked_shape)
        if not asked.is_compatible_with(initial.shape):
            raise ValueError("In this `tf.Variable` creation, the initial value's shape (%s) is not compatible with the "
                             "explicitly supplied `shape` argument (%s)." % (initial.shape, self._asked_shape))
        return asked

    def _take(self, graph, variable_def, import_scope=None):
        """Initializes the object from a VariableDef whose nodes are in the graph."""
        prefix = import_scope + "/" if import_scope else ""

        def element(name):
            return graph.as_graph_element(prefix + name) if name else None
        self._handle = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name)
        self._initial_value = element(variable_def.initial_value_name)
        self._dtype, self._declared = self._described(graph)
        snapshot, read = element(variable_def.snapshot_name), self._handle.op.name + "/Read/ReadVariableOp:0"
        self._cached, self._caching_device = None, None
        self._element = snapshot
        if snapshot.op.type != "ReadVariableOp":  # The snapshot is a copy on the caching device.
            self._element, self._cached, self._caching_device = graph.as_graph_element(read), snapshot, snapshot.device
        self._is_initialized = element(variable_def.variable_name.rpartition(":")[0] + "/IsInitialized/VarIsInitializedOp:0") \
            if graph._c.find("^" + self._handle.op.name + "/IsInitialized/VarIsInitializedOp") >= 0 else None
        self._validate_shape = self._declared.is_fully_defined()
        self._trainable = variable_def.trainable
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = Variable.SaveSliceInfo(save_slice_info_def=variable_def.save_slice_info_def)
        graph._variables[self.name] = self

    def _described(self, graph):
        attr = self._handle.op.node_def.attr
        given = attr["shape"].shape
        dims = None if given.unknown_rank else [d.size if d.size >= 0 else None for d in given.dim]
        return as_dtype(attr["dtype"].type), tensor_shape.TensorShape(dims)

    # ---- properties ----

    @property
    def handle(self):
        return self._handle

    @property
    def name(self):
        return self._handle.name

    @property
    def op(self):
        return self._handle.op

    @property
    def graph(self):
        return self._handle.graph

    @property
    def device(self):
        return self._handle.device

    @property
    def dtype(self):
        return self._dtype

    @property
    def shape(self):
        return self._declared

    def get_shape(self):
        return self._declared

    def set_shape(self, shape):
        self._declared = self._declared.merge_with(shape)

    @property
    def create(self):
        return self._initializer_op

    def _ref(self):
        """Returns the output by which the library identifies the variable."""
        return self._handle

    def _as_graph_element(self):
        return self._element

    @property
    def _graph_element(self):
        return self._element

    def eval(self, session=None):
        return self._as_graph_element().eval(session=session)

    def is_initialized(self, name=None):
        return op("VarIsInitializedOp", name, resource=self._handle)

    def to_proto(self, export_scope=None):
        """Returns a VariableDef with names relative to the scope, or None if the variable is of another scope."""
        from weft._core.train.meta_graph import in_scope_only
        snapshot = self._element if self._cached is None else self._cached
        made = protos.VariableDef(variable_name=self._handle.name, snapshot_name=snapshot.name, is_resource=True,
                                  trainable=self._trainable, **self._use_numbers())
        if self._initial_value is not None:
            made.initial_value_name = self._initial_value.name
        if self._initializer_op is not None:
            made.initializer_name = self._initializer_op.name
        if self._save_slice_info is not None:
            made.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto())
        return in_scope_only(made, export_scope)

    def __bool__(self):
        return bool(self.read_value())

    # ---- reading ----

    def _read(self):
        made = op("ReadVariableOp", resource=self._handle, dtype=self._dtype)
        made.set_shape(self._declared)
        return made

    def value(self):
        if self._cached is not None:
            return self._cached
        with self.graph.colocate_with(None, True):
            return self._read()

    def read_value(self):
        with name_scope("Read"):
            if self._caching_device is None:
                made = self._read()
            else:
                with self.graph.colocate_with(None, True), self.graph.device(self._caching_device):
                    made = self._read()
        return op("Identity", input=made)

    def sparse_read(self, indices, name=None):
        return op("ResourceGather", name or "Gather", resource=self._handle, indices=indices, dtype=self._dtype)

    def gather_nd(self, indices, name=None):
        made = op("ResourceGatherNd", name or "GatherNd", resource=self._handle, indices=indices, dtype=self._dtype)
        return op("Identity", input=made)

    # ---- updates ----

    def _lazy_read(self, operation):
        return _UnreadVariable(self, operation)

    def _after(self, operation, read_value):
        return self._lazy_read(operation) if read_value else operation

    def assign(self, value, use_locking=None, name=None, read_value=True):
        value = convert_to_tensor(value, self._dtype)
        if not self._declared.is_compatible_with(value.shape):
            raise ValueError("Cannot assign value to variable ' %s': Shape mismatch.The variable shape %s, and the assigned "
                             "value shape %s are incompatible." % (self.name, self._declared, value.shape))
        made = op("AssignVariableOp", name, resource=self._handle, value=value,
                  validate_shape=bool(self._validate_shape) and self._declared.is_fully_defined())
        return self._after(made, read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        return self._after(op("AssignAddVariableOp", name, resource=self._handle,
                              value=convert_to_tensor(delta, self._dtype)), read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        return self._after(op("AssignSubVariableOp", name, resource=self._handle,
                              value=convert_to_tensor(delta, self._dtype)), read_value)

    def count_up_to(self, limit):
        return op("ResourceCountUpTo", resource=self._handle, limit=limit, T=self._dtype)

    def _scattered(self, kind, indices, updates, name):
        updates = convert_to_tensor(updates, self._dtype)
        return self._lazy_read(op("ResourceScatter" + kind, name, resource=self._handle, indices=indices, updates=updates))

    def _scattered_nd(self, kind, indices, updates, name):
        updates = convert_to_tensor(updates, self._dtype)
        return self._lazy_read(op("ResourceScatterNd" + kind, name, ref=self._handle, indices=indices, updates=updates))


class _UnreadVariable(ResourceVariable):
    """A variable after an update: every read waits for the update."""

    def __init__(self, variable, operation):
        self._source, self._parent = variable, operation
        self._handle, self._dtype, self._declared = variable._handle, variable._dtype, variable._declared
        self._validate_shape, self._trainable = variable._validate_shape, variable._trainable
        self._constraint, self._save_slice_info = variable._constraint, variable._save_slice_info
        self._initial_value = self._initializer_op = self._is_initialized = self._cached = self._caching_device = None
        self._element = self._read()

    @property
    def name(self):
        return self._parent.name

    @property
    def op(self):
        return self._parent

    def _after_parent(self):
        return self.graph.control_dependencies([self._parent])

    def _read(self):
        with self._after_parent():
            return super()._read()

    def value(self):
        return self._read()

    def _lazy_read(self, operation):
        return _UnreadVariable(self._source, operation)


def _ordered(method):
    """Returns a method whose nodes wait for the update that returned the variable."""
    whole = getattr(ResourceVariable, method)

    def call(self, *args, **kwargs):
        with self._after_parent():
            return whole(self, *args, **kwargs)
    call.__name__, call.__doc__ = method, whole.__doc__
    return call


def _scatter_method(kind):
    def scatter(self, sparse_delta, use_locking=False, name=None):
        if not hasattr(sparse_delta, "indices"):
            raise TypeError("sparse_delta is not IndexedSlices: %s" % (sparse_delta,))
        return self._scattered(kind, sparse_delta.indices, sparse_delta.values, name)
    return scatter


def _scatter_nd_method(kind):
    def scatter(self, indices, updates, name=None):
        return self._scattered_nd(kind, indices, updates, name)
    return scatter


for _kind in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update"):
    setattr(ResourceVariable, "scatter_" + _kind.lower(), _scatter_method(_kind))
for _kind in ("Add", "Sub", "Min", "Max", "Update"):
    setattr(ResourceVariable, "scatter_nd_" + _kind.lower(), _scatter_nd_method(_kind))
for _name in ["assign", "assign_add", "assign_sub", "count_up_to", "read_value", "sparse_read", "gather_nd"] + [
        n for n in dir(ResourceVariable) if n.startswith("scatter_")]:
    setattr(_UnreadVariable, _name, _ordered(_name))


def is_resource_variable(var):
    return isinstance(var, ResourceVariable) or hasattr(var, "_should_act_as_resource_variable")

