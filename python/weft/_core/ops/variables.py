"""tf.Variable: the nodes of a variable (VariableV2, Assign, read) and the object that represents them.

Variable is the reference variable. With use_resource=True, as an argument, in a scope or by default, tf.Variable
returns its subclass ResourceVariable.
"""
import abc
import functools
import inspect

from weft._core.framework import absent, dtypes, errors, protos, tensor_shape
from weft._core.framework.build import convert_to_tensor, op, register_tensor_conversion_function
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import GraphKeys, Tensor, get_collection, get_default_graph, name_scope
from weft._core.ops.variable_methods import VariableMethods, distributed_use


class VariableType(abc.ABCMeta):
    """The metaclass of Variable: a call goes through the functions of tf.variable_creator_scope, the innermost first.
    """

    __instancecheck__, __subclasscheck__ = type.__instancecheck__, type.__subclasscheck__

    def __call__(cls, *args, **kwargs):
        creators = get_default_graph().__dict__.get("_variable_creators") if cls is Variable else None
        if not creators or kwargs.get("variable_def") is not None:
            return type.__call__(cls, *args, **kwargs)
        given = {**_DEFAULTS, **dict(zip(_DEFAULTS, args)), **kwargs}

        def make(level):
            if level < 0:
                return lambda **changed: type.__call__(cls, **changed)
            return functools.partial(creators[level], make(level - 1))
        return make(len(creators) - 1)(**given)


class Variable(VariableMethods, metaclass=VariableType):
    """A value that persists between steps."""

    __array_priority__ = 100
    numpy = absent.EagerOnly("tf.Variable.numpy")

    def __new__(cls, *args, **kwargs):
        if cls is not Variable or not _asks_resource(*args, **kwargs):
            return object.__new__(cls)
        from weft._core.ops.resource_variables import ResourceVariable
        return object.__new__(ResourceVariable)

    def __init__(self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                 use_resource=None, synchronization=None, aggregation=None, shape=None, _slice=None, _copy=False):
        synchronization, aggregation, trainable = distributed_use(synchronization, aggregation, trainable, name)
        if (synchronization, aggregation) != self._use:
            self._use = synchronization, aggregation
        self._save_slice_info, self._constraint, self._trainable = _slice, constraint, bool(trainable)
        self._asked_shape = shape
        if variable_def is not None:
            self._take(get_default_graph(), variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        lists = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        if not isinstance(lists, (list, tuple, set)):
            raise ValueError("collections argument to Variable constructor must be a list, tuple, or set. Got %s of type "
                             "%s" % (collections, type(collections)))
        if trainable and GraphKeys.TRAINABLE_VARIABLES not in lists and not _copy:
            lists = list(lists) + [GraphKeys.TRAINABLE_VARIABLES]
        graph = get_default_graph()
        graph._check_not_finalized()
        with graph.control_dependencies(None), graph._variable_root(), name_scope(name, "Variable") as scope:
            self._build(graph, scope, initial_value, dtype, validate_shape, caching_device)
        graph._variables[self.name] = self
        for key in dict.fromkeys(lists):
            graph.add_to_collection(key, self)

    def _build(self, graph, scope, initial_value, dtype, validate_shape, caching_device):
        true_name = scope[:-1] if scope.endswith("/") else scope
        if callable(initial_value):
            with graph._belong(true_name):
                with name_scope("Initializer"), graph.device(None):
                    initial = convert_to_tensor(initial_value(), dtype, name="initial_value")
                self._variable = self._node(scope, initial, validate_shape)
        else:
            initial = convert_to_tensor(initial_value, dtype, name="initial_value")
            self._variable = self._node(scope, initial, validate_shape)
        self._initial_value = initial
        with graph.colocate_with(self._variable.op):
            self._initializer_op = op("Assign", ref=self._variable, value=initial,
                                      validate_shape=validate_shape).op
        with graph.device(caching_device) if caching_device else graph.colocate_with(self._variable.op):
            self._snapshot = op("Identity", "read", input=self._variable)

    def _node(self, scope, initial, validate_shape):
        shape = initial.shape if validate_shape else tensor_shape.as_shape(self._asked_shape)
        if validate_shape and not shape.is_fully_defined():
            raise ValueError("initial_value must have a shape specified: %s" % initial)
        return op("VariableV2", scope, shape=shape, dtype=initial.dtype.base_dtype)

    def _take(self, graph, variable_def, import_scope=None):
        """Initializes the object from a VariableDef whose nodes are in the graph."""
        prefix = import_scope + "/" if import_scope else ""
        self._variable = graph.as_graph_element(prefix + variable_def.variable_name)
        self._initializer_op = graph.as_graph_element(prefix + variable_def.initializer_name) \
            if variable_def.initializer_name else None
        self._initial_value = graph.as_graph_element(prefix + variable_def.initial_value_name) \
            if variable_def.initial_value_name else None
        self._snapshot = graph.as_graph_element(prefix + variable_def.snapshot_name)
        self._trainable = variable_def.trainable
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = Variable.SaveSliceInfo(save_slice_info_def=variable_def.save_slice_info_def)
        graph._variables[self.name] = self

    # ---- properties ----

    @property
    def name(self):
        return self._variable.name

    @property
    def op(self):
        return self._variable.op

    @property
    def graph(self):
        return self._variable.graph

    @property
    def device(self):
        return self._variable.device

    @property
    def dtype(self):
        return self._variable.dtype

    @property
    def shape(self):
        return self._variable.shape

    def get_shape(self):
        return self._variable.shape

    def set_shape(self, shape):
        self._variable.set_shape(shape)
        self.value().set_shape(shape)

    @property
    def trainable(self):
        return self._trainable

    @property
    def constraint(self):
        return self._constraint

    @property
    def initializer(self):
        return self._initializer_op

    @property
    def initial_value(self):
        return self._initial_value

    @property
    def _shared_name(self):
        return self.op.name

    def value(self):
        return self._snapshot

    def read_value(self):
        return op("Identity", "read", input=self._variable)

    def _ref(self):
        return self._variable

    def _as_graph_element(self):
        return self._variable

    def initialized_value(self):
        from weft._core.ops.control_flow import cond
        with get_default_graph().control_dependencies(None):
            return cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def to_proto(self, export_scope=None):
        """Returns a VariableDef with names relative to the scope, or None if the variable is of another scope."""
        from weft._core.train.meta_graph import in_scope_only
        made = protos.VariableDef(variable_name=self.name, snapshot_name=self._snapshot.name, trainable=self._trainable,
                                  **self._use_numbers())
        if self._initial_value is not None:
            made.initial_value_name = self._initial_value.name
        if self._initializer_op is not None:
            made.initializer_name = self._initializer_op.name
        if self._save_slice_info is not None:
            made.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto())
        return in_scope_only(made, export_scope)

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        return Variable(variable_def=variable_def, import_scope=import_scope)

    # ---- operations ----

    def eval(self, session=None):
        return self._variable.eval(session=session)

    def load(self, value, session=None):
        from weft._core.session.client import get_default_session
        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self._initializer_op, {self._initializer_op.inputs[1]: value})

    def assign(self, value, use_locking=False, name=None, read_value=True):
        made = op("Assign", name, ref=self._variable, value=value, use_locking=use_locking)
        return made if read_value else made.op

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        made = op("AssignAdd", name, ref=self._variable, value=delta, use_locking=use_locking)
        return made if read_value else made.op

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        made = op("AssignSub", name, ref=self._variable, value=delta, use_locking=use_locking)
        return made if read_value else made.op

    def count_up_to(self, limit):
        return op("CountUpTo", ref=self._variable, limit=limit)

    def _set_save_slice_info(self, info):
        self._save_slice_info = info

    def _get_save_slice_info(self):
        return self._save_slice_info

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __iter__(self):
        raise errors.OperatorNotAllowedInGraphError("'Variable' object is not iterable: its values are known only when the "
                                                    "graph runs. Use tf.unstack or tf.map_fn.")

    def __str__(self):
        return "<tf.Variable '%s' shape=%s dtype=%s>" % (self.name, self.get_shape(), self.dtype.name)

    __repr__ = __str__

    class SaveSliceInfo:
        """Describes which part of a partitioned variable a piece is."""

        def __init__(self, full_name=None, full_shape=None, var_offset=None, var_shape=None, save_slice_info_def=None,
                     import_scope=None):
            if save_slice_info_def is not None:
                d = save_slice_info_def
                full_name, full_shape, var_offset, var_shape = d.full_name, d.full_shape, d.var_offset, d.var_shape
            self.full_name, self.full_shape = full_name, list(full_shape)
            self.var_offset, self.var_shape = list(var_offset), list(var_shape)

        @property
        def spec(self):
            whole = " ".join("%d" % d for d in self.full_shape) + " "
            return whole + ":".join("%d,%d" % pair for pair in zip(self.var_offset, self.var_shape))

        def to_proto(self, export_scope=None):
            return protos.SaveSliceInfoDef(full_name=self.full_name, full_shape=self.full_shape,
                                           var_offset=self.var_offset, var_shape=self.var_shape)


RefVariable = Variable
Variable.__signature__ = inspect.signature(Variable.__init__)
Variable.__signature__ = Variable.__signature__.replace(parameters=list(Variable.__signature__.parameters.values())[1:-2])
_DEFAULTS = {name: p.default for name, p in Variable.__signature__.parameters.items()}
_by_default = False  # set by tf.enable_resource_variables()


def _asks_resource(initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                   name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                   use_resource=None, *args, **kwargs):
    """Returns whether a variable of these arguments is a resource, by request, by its VariableDef, by the scope or by
    default.
    """
    if variable_def is not None:
        return variable_def.is_resource
    return resource_wanted(use_resource)


def resource_wanted(use_resource):
    """Returns whether use_resource, which may be None for the default, means a resource variable here."""
    if use_resource is None:
        from weft._core.ops.variable_scope import get_variable_scope
        use_resource = get_variable_scope().use_resource
        if use_resource is None and get_default_graph()._calls:
            return True  # as in TensorFlow, a function makes resource variables
    return bool(_by_default if use_resource is None else use_resource)


def enable_resource_variables():
    """Makes new variables resource variables unless use_resource=False is given."""
    global _by_default
    _by_default = True


def disable_resource_variables():
    """Makes new variables reference variables unless use_resource=True is given."""
    global _by_default
    _by_default = False


def resource_variables_enabled():
    return _by_default


def variable_from_def(graph, variable_def):
    """Returns the variable for a VariableDef of the library's lists: the existing object, or a new one."""
    found = graph._variables.get(variable_def.variable_name)
    if found is None:
        from weft._core.ops.resource_variables import ResourceVariable
        found = object.__new__(ResourceVariable if variable_def.is_resource else Variable)
        found._save_slice_info = found._constraint = found._asked_shape = None
        found._take(graph, variable_def)
    return found


def variable_of(graph, tensor_name):
    """Returns the Variable whose output has this name; it is made if the library added the nodes."""
    found = graph._variables.get(tensor_name)
    if found is None:
        for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
            graph._collection(key)
        found = graph._variables.get(tensor_name)
    return found


def _to_tensor(value, dtype=None, name=None, as_ref=False):
    if dtype is not None and as_dtype(dtype) == dtypes.resource and hasattr(value, "handle"):
        return value.handle
    if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype.base_dtype):
        raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" % (
            as_dtype(dtype).name, value.dtype.base_dtype.name))
    return value._ref() if as_ref and value.dtype._is_ref_dtype else value.value()


register_tensor_conversion_function(Variable, _to_tensor)


# ---- lists of variables ----

def global_variables(scope=None):
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables():
    return global_variables()


def local_variables(scope=None):
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list, name="init"):
    from weft._core.ops.control_flow import group
    return group(*[v.initializer for v in var_list], name=name)


def initialize_variables(var_list, name="init"):
    return variables_initializer(var_list, name)


def global_variables_initializer():
    return variables_initializer(global_variables())


def initialize_all_variables():
    return global_variables_initializer()


def local_variables_initializer():
    return variables_initializer(local_variables(), "init")


def initialize_local_variables():
    return local_variables_initializer()


def is_variable_initialized(variable):
    if hasattr(variable, "handle"):
        return variable.is_initialized()
    return op("IsVariableInitialized", ref=variable._ref())


def assert_variables_initialized(var_list=None):
    from weft._core.ops.control_flow import group
    var_list = global_variables() + local_variables() if var_list is None else var_list
    if not var_list:
        return None
    ranks = []
    for var in var_list:
        with get_default_graph().colocate_with(var.op):
            ranks.append(op("Rank", input=var.value() if hasattr(var, "handle") else var._ref()))
    return group(*ranks) if len(ranks) > 1 else ranks[0]


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    from weft._core.framework.build import constant
    from weft._core.ops.array_ops import boolean_mask, stack
    from weft._core.ops.math_ops import logical_not
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        with get_default_graph().device("/cpu:0"):
            if not var_list:
                return constant([], dtypes.string)
            mask = logical_not(stack([is_variable_initialized(v) for v in var_list]))
            names = constant([v.op.name for v in var_list])
            return boolean_mask(names, mask)


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    # This can be a slice of a variable; objects that cannot be assigned to lack the method.
    if hasattr(ref, "handle") or not _is_ref(ref):
        return ref.assign(value, name=name)
    return op("Assign", name, ref=_ref(ref), value=value, validate_shape=validate_shape,
              use_locking=use_locking)


def assign_add(ref, value, use_locking=None, name=None):
    if hasattr(ref, "handle") or not _is_ref(ref):
        return ref.assign_add(value)
    return op("AssignAdd", name, ref=_ref(ref), value=value, use_locking=use_locking)


def assign_sub(ref, value, use_locking=None, name=None):
    if hasattr(ref, "handle") or not _is_ref(ref):
        return ref.assign_sub(value)
    return op("AssignSub", name, ref=_ref(ref), value=value, use_locking=use_locking)


def _is_ref(ref):
    """Returns true for a variable and for a tensor that refers to one."""
    return isinstance(ref, Variable) or (isinstance(ref, Tensor) and ref.dtype._is_ref_dtype)


def _ref(ref):
    return ref._ref() if isinstance(ref, Variable) else ref


def _scatter(kind, locking, nd=""):
    def scatter(ref, indices, updates, use_locking=locking, name=None):
        if hasattr(ref, "handle"):
            return (ref._scattered_nd if nd else ref._scattered)(kind, indices, updates, name)
        return op("Scatter" + nd + kind, name, ref=_ref(ref), indices=indices, updates=updates, use_locking=use_locking)
    return scatter


scatter_update = _scatter("Update", True)
scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_min, scatter_max = (
    _scatter(kind, False) for kind in ("Add", "Sub", "Mul", "Div", "Min", "Max"))
scatter_nd_update = _scatter("Update", True, "Nd")
scatter_nd_add, scatter_nd_sub = _scatter("Add", False, "Nd"), _scatter("Sub", False, "Nd")


def count_up_to(ref, limit, name=None):
    if hasattr(ref, "handle"):
        return op("ResourceCountUpTo", name, resource=ref.handle, limit=limit, T=ref.dtype)
    return op("CountUpTo", name, ref=_ref(ref), limit=limit)
