"""tf.variable_scope and tf.get_variable: the library's scopes keep names and reuse, and Python keeps the rest."""
import contextlib
import sys

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import GraphKeys, Tensor, get_default_graph, graph_of
from weft._core.ops import init_ops
from weft._core.ops.variable_methods import distributed_use
from weft._core.ops.variables import Variable, resource_wanted


class _Reuse:
    def __init__(self, number, name):
        self.number, self.name = number, name

    def __repr__(self):
        return self.name

    def __bool__(self):
        return self.number in (2, 3)


AUTO_REUSE = _Reuse(3, "AUTO_REUSE")
_INHERIT, _NEVER, _ALWAYS, _AUTO = range(4)
_EXTRAS = ("initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype", "use_resource",
           "constraint")


class VariableScope(metaclass=Named):
    """A scope of the library, with the data that only Python has: functions and defaults for making variables."""

    def __init__(self, graph, row, extras):
        self._graph, self._handle, self._name, self._name_scope, reuse = (graph, *row)
        self._reuse = {_ALWAYS: True, _AUTO: AUTO_REUSE}.get(reuse, False)
        self._extras = extras

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._extras.get("initializer"))
    regularizer = property(lambda self: self._extras.get("regularizer"))
    caching_device = property(lambda self: self._extras.get("caching_device"))
    partitioner = property(lambda self: self._extras.get("partitioner"))
    custom_getter = property(lambda self: self._extras.get("custom_getter"))
    dtype = property(lambda self: self._extras.get("dtype") or dtypes.float32)
    use_resource = property(lambda self: self._extras.get("use_resource"))
    constraint = property(lambda self: self._extras.get("constraint"))

    def reuse_variables(self):
        self._reuse = True
        if self._graph._c.variables_now()[0] == self._handle:  # else it counts when the scope is entered again
            self._graph._c.variables_reuse()

    def _set(self, key, value):
        self._extras[key] = value

    def set_initializer(self, initializer):
        self._set("initializer", initializer)

    def set_regularizer(self, regularizer):
        self._set("regularizer", regularizer)

    def set_caching_device(self, caching_device):
        self._set("caching_device", caching_device)

    def set_partitioner(self, partitioner):
        self._set("partitioner", partitioner)

    def set_custom_getter(self, custom_getter):
        self._set("custom_getter", custom_getter)

    def set_dtype(self, dtype):
        self._set("dtype", as_dtype(dtype))

    def set_use_resource(self, use_resource):
        self._set("use_resource", use_resource)

    def get_variable(self, var_store, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None, **kwargs):
        with variable_scope(self, reuse=reuse, auxiliary_name_scope=False):
            return get_variable(name, shape, dtype, initializer, regularizer, **kwargs)

    def get_collection(self, name):
        return self._graph.get_collection(name, self._name + "/" if self._name else None)

    def trainable_variables(self):
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        """Returns the local variables whose names begin with the name of the scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)


def get_variable_scope():
    graph = get_default_graph()
    row = graph._c.variables_now()
    found = graph._scope_extras.get(row[0])
    if found is None:
        found = graph._scope_extras[row[0]] = VariableScope(graph, row, {})
    return found


def _reuse_number(reuse):
    return _INHERIT if reuse is None else reuse.number if isinstance(reuse, _Reuse) else _ALWAYS if reuse else _INHERIT


class variable_scope(metaclass=Named):
    """Opens a variable scope: with tf.variable_scope("layer", reuse=...) as scope"""

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None,
                 constraint=None, auxiliary_name_scope=True):
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if not isinstance(reuse, (bool, _Reuse, type(None))):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError("The auxiliary_name_scope must be `True` or `False`, while get %s" % (auxiliary_name_scope,))
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError("Passed a custom_getter which is not callable: %s" % (custom_getter,))
        given = dict(initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                     partitioner=partitioner, custom_getter=custom_getter, dtype=dtype and as_dtype(dtype),
                     use_resource=use_resource, constraint=constraint)
        self._given = {k: v for k, v in given.items() if v is not None}
        self._name, self._default, self._reuse, self._aux = name_or_scope, default_name, reuse, auxiliary_name_scope
        self._values, self._of_values, self._entered = list(values or ()), None, None

    def __enter__(self):
        """Opens the scope in the graph of `values`, which is the default graph until the scope is closed."""
        graph = graph_of(self._values)
        self._of_values = contextlib.nullcontext() if graph is get_default_graph() else graph.as_default()
        self._of_values.__enter__()
        try:
            return self._open(graph)
        except BaseException:
            self._of_values.__exit__(*sys.exc_info())
            raise

    def _open(self, graph):
        from weft._core.framework import errors
        again = self._name if isinstance(self._name, VariableScope) else None
        outer = again or get_variable_scope()
        if again is not None and again._graph is not graph:
            again = None
        reuse = _reuse_number(self._reuse)
        if reuse == _INHERIT and again is not None and again._reuse is True:
            reuse = _ALWAYS
        try:
            row = graph._c.variables(None if again else self._name, again and again._handle,
                                     self._default if self._name is None else None, reuse,
                                     bool(self._aux))
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        extras = {k: outer._extras[k] for k in _EXTRAS if k in outer._extras}
        getter = self._given.get("custom_getter")
        if getter is not None and outer.custom_getter is not None:
            getter = _nested_getter(getter, outer.custom_getter)
        extras.update(self._given)
        if getter is not None:
            extras["custom_getter"] = getter
        made = VariableScope(graph, row, extras)
        graph._scope_extras[row[0]] = made
        self._entered = graph, row[0]
        return made

    def __exit__(self, *exc):
        self._entered[0]._c.pop()
        self._of_values.__exit__(*exc)
        return False


def _pure_variable_scope(name_or_scope, reuse=None, initializer=None, regularizer=None, caching_device=None, partitioner=None,
                         custom_getter=None, old_name_scope=None, dtype=dtypes.float32, use_resource=None, constraint=None):
    """Opens a variable scope without a name scope; old_name_scope must be None, because a scope keeps the one it has."""
    if old_name_scope is not None:
        raise NotImplementedError("_pure_variable_scope: old_name_scope=%r is not supported" % (old_name_scope,))
    return variable_scope(name_or_scope, initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                          partitioner=partitioner, custom_getter=custom_getter, reuse=reuse,
                          dtype=None if isinstance(name_or_scope, VariableScope) else dtype, use_resource=use_resource,
                          constraint=constraint, auxiliary_name_scope=False)


def _nested_getter(inner, outer):
    def getter(getter, *args, **kwargs):
        def around(*a, **k):
            return outer(getter, *a, **k)
        return inner(around, *args, **kwargs)
    return getter


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """Makes variables inside the scope be created by variable_creator(next_creator, **kwargs)."""
    stack = get_default_graph().__dict__.setdefault("_variable_creators", [])
    stack.append(variable_creator)
    try:
        yield
    finally:
        stack.remove(variable_creator)


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, **kwargs):
    with variable_scope(name_or_scope, default_name, values, **kwargs) as scope:
        yield scope


def no_regularizer(_):
    return None


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=None, aggregation=None):
    scope = get_variable_scope()
    if dtype is not None and initializer is not None and not callable(initializer):
        # As in TensorFlow, a value becomes a constant that no other node reads.
        found = convert_to_tensor(initializer).dtype.base_dtype
        if found != as_dtype(dtype):
            raise ValueError("Initializer type '%s' and explicit dtype '%s' don't match." % (found, as_dtype(dtype)))
    full = scope.name + "/" + name if scope.name else name
    synchronization, aggregation, trained = distributed_use(synchronization, aggregation, trainable, name)
    given = dict(shape=shape, dtype=as_dtype(dtype or scope.dtype),
                 initializer=scope.initializer if initializer is None else initializer,
                 regularizer=scope.regularizer if regularizer is None else regularizer, reuse=scope.reuse,
                 trainable=trained, collections=collections,
                 caching_device=caching_device or scope.caching_device, partitioner=partitioner or scope.partitioner,
                 validate_shape=validate_shape, constraint=constraint or scope.constraint,
                 use_resource=scope.use_resource if use_resource is None else use_resource,
                 synchronization=synchronization, aggregation=aggregation)
    getter = custom_getter or scope.custom_getter
    if getter is not None:
        # As in TensorFlow, nodes that the getter adds are named outside of all scopes.
        with get_default_graph().name_scope(None):
            return getter(_true_getter, name=full, **given)
    return _true_getter(full, **given)


def _true_getter(name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None, trainable=True,
                 collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None,
                 constraint=None, synchronization=None, aggregation=None, **_):
    scalar = isinstance(shape, (list, tuple)) and not shape
    dtype = as_dtype(dtype).base_dtype  # A variable's own type is a reference type.
    # A partitioned variable is found without a partitioner, too.
    shared = reuse is True and name in get_default_graph()._partitioned_store
    if (partitioner is not None or shared) and not scalar:
        from weft._core.ops.partitioned import get_partitioned
        return get_partitioned(name, shape, dtype, initializer, regularizer, reuse, trainable, collections,
                               caching_device, partitioner, validate_shape, constraint, use_resource)
    return single(name, shape, dtype, initializer, regularizer, reuse, trainable, collections, caching_device,
                  validate_shape, constraint, use_resource=use_resource, synchronization=synchronization, aggregation=aggregation)


def single(name, shape, dtype, initializer, regularizer=None, reuse=None, trainable=True, collections=None,
           caching_device=None, validate_shape=True, constraint=None, partition_info=None, use_resource=None,
           synchronization=None, aggregation=None):
    """Returns the variable of a full name, which is made if it does not exist."""
    graph = get_default_graph()
    found = graph._variable_store.get(name)
    if found is not None:
        return _shared(found, name, shape, dtype, reuse)
    if name + "/part_0" in graph._variable_store:
        raise ValueError("No partitioner was provided, but a partitioned version of the variable was found: %s/part_0. Perhaps a variable "
                         "of the same name was already created with partitioning?" % name)
    if reuse is True:
        raise ValueError("Variable %s does not exist, or was not created with tf.get_variable(). Did you mean to set "
                         "reuse=tf.AUTO_REUSE in VarScope?" % name)
    init_value, dtype = _initial(name, shape, dtype, initializer, validate_shape, partition_info)
    cut = None if partition_info is None else Variable.SaveSliceInfo(
        partition_info.full_name, partition_info.full_shape, partition_info.var_offset, list(shape))
    with graph.name_scope(None):
        made = Variable(init_value, trainable=trainable, collections=collections, caching_device=caching_device,
                        name=name, dtype=dtype, validate_shape=validate_shape, constraint=constraint,
                        use_resource=resource_wanted(use_resource), synchronization=synchronization, aggregation=aggregation,
                        shape=shape, **({} if cut is None else {"_slice": cut}))
    graph._variable_store[name] = made
    if regularizer is not None and regularizer is not no_regularizer:
        with graph.colocate_with(made.op), graph.name_scope(name + "/Regularizer/"):
            loss = regularizer(made)
        if loss is not None:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _shared(found, name, shape, dtype, reuse):
    if not reuse:
        at = found.op._made_at
        raise ValueError("Variable %s already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE "
                         "in VarScope?%s" % (name, " Originally defined at:\n\n%s\n" % at if at else ""))
    if shape is not None and not tensor_shape.as_shape(shape).is_compatible_with(found.get_shape()):
        raise ValueError("Trying to share variable %s, but specified shape %s and found shape %s." % (
            name, tensor_shape.as_shape(shape), found.get_shape()))
    if not dtype.is_compatible_with(found.dtype.base_dtype):
        raise ValueError("Trying to share variable %s, but specified dtype %s and found dtype %s." % (
            name, dtype.name, found.dtype.name))
    return found


def _initial(name, shape, dtype, initializer, validate_shape, partition_info):
    if initializer is None:
        initializer = init_ops.default_for(dtype, name)
        if shape is None:
            raise ValueError("Variable %s did not get an initializer, so its `shape` argument must be specified." % name)
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer):  # A value determines shape and type.
        if shape is not None and partition_info is None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer, initializer.dtype.base_dtype if isinstance(initializer, Tensor) else None
    if shape is None and not _needs_shape(initializer):
        return initializer, dtype
    dims = tensor_shape.as_shape(shape)
    if shape is None:
        raise ValueError("The initializer passed is not valid. It should be a callable with no arguments and the shape should not be "
                         "provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined.")
    if not dims.is_fully_defined():
        raise ValueError("Shape of a new variable (%s) must be fully defined, but instead was %s." % (name, dims))

    def make():
        import inspect
        try:
            takes = inspect.signature(initializer).parameters
        except (TypeError, ValueError):
            takes = {}
        if "partition_info" in takes:
            return initializer(dims.as_list(), dtype=dtype, partition_info=partition_info)
        if "dtype" in takes or any(p.kind == p.VAR_KEYWORD for p in takes.values()):
            return initializer(dims.as_list(), dtype=dtype)
        if not takes:
            return initializer()
        return initializer(dims.as_list(), dtype)
    return make, dtype


def _needs_shape(initializer):
    """Returns true for a function that cannot be called without arguments."""
    import inspect
    try:
        takes = inspect.signature(initializer).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in takes)


def get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False,
                       collections=None, **kwargs):
    collections = list(collections or []) + [GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, collections, **kwargs)


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    def partitioner(shape, dtype):
        from weft._core.ops.partitioned import axis_size_pieces
        return axis_size_pieces(shape, dtype, max_shard_bytes, axis, bytes_per_string_element, max_shards)
    return partitioner


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    def partitioner(shape, dtype):
        dims = tensor_shape.as_shape(shape).as_list()
        size = tensor_shape.as_shape(shape).num_elements() * (
            bytes_per_string_element if as_dtype(dtype) == dtypes.string else as_dtype(dtype).size)
        pieces = [1] * len(dims)
        pieces[axis] = max(1, min(max_partitions, -(-size // min_slice_size), dims[axis]))
        return pieces
    return partitioner


def fixed_size_partitioner(num_shards, axis=0):
    def partitioner(shape, **unused):
        pieces = [1] * len(shape)
        pieces[axis] = min(num_shards, int(shape[axis]))
        return pieces
    return partitioner
