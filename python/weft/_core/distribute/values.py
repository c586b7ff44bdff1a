"""Values that have one part for each replica: results of replicas, and variables with a copy on each device."""
import enum

from weft._core.distribute import context
from weft._core.framework.build import convert_to_tensor, register_tensor_conversion_function
from weft._core.framework.graph import IndexedSlices
from weft._core.ops.control_flow import group
from weft._core.ops.resource_variables import ResourceVariable, _UnreadVariable
from weft._core.ops.variable_methods import VariableAggregation, VariableSynchronization


class ReduceOp(enum.Enum):
    """How the values of replicas are combined."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        found = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}.get(aggregation)
        if found is None:
            raise ValueError("Could not convert from `tf.VariableAggregation` %s to`tf.distribute.ReduceOp` type" % aggregation)
        return found


class DistributedValues:
    """One value for each replica."""

    def __init__(self, values):
        self._values = tuple(values)

    values = property(lambda self: self._values)
    _primary = property(lambda self: self._values[0])

    def _get(self):
        number = context.copy_now()
        if number is None:
            return self._outside()
        return self._values[number]

    def _outside(self):
        raise ValueError("a %s has one value for each replica, and there is no replica here: use strategy.reduce, or "
                         "strategy.experimental_local_results: %s" % (type(self).__name__, self))

    @property
    def dtype(self):
        return self._primary.dtype

    def __repr__(self):
        return "%s:{\n%s\n}" % (type(self).__name__, ",\n".join("  %d: %r" % row for row in enumerate(self._values)))

    __str__ = __repr__


class PerReplica(DistributedValues):
    """Values that may differ."""


class Mirrored(DistributedValues):
    """Values that are equal on all devices."""

    def _outside(self):
        return self._primary


def _to_tensor(value, dtype=None, name=None, as_ref=False):
    return convert_to_tensor(value._get(), dtype)


register_tensor_conversion_function(DistributedValues, _to_tensor)


def part(value, number):
    """Returns the part of a nest for one replica."""
    if isinstance(value, (DistributedValues, DistributedVariable)):
        return value._values[number] if isinstance(value, DistributedValues) else value
    if isinstance(value, dict):
        return type(value)((k, part(v, number)) for k, v in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[part(v, number) for v in value])
    if type(value) in (list, tuple):
        return type(value)(part(v, number) for v in value)
    return value


def regroup(values, wrap=PerReplica):
    """Combines the nests of replicas into one nest of values with a part for each replica.

    Equal parts stay single values.
    """
    first = values[0]
    if isinstance(first, dict):
        return type(first)((k, regroup([v[k] for v in values], wrap)) for k in first)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[regroup(list(rows), wrap) for rows in zip(*values)])
    if type(first) in (list, tuple):
        if any(len(v) != len(first) for v in values):
            raise ValueError("the replicas returned nests of different lengths: %s" % ([len(v) for v in values],))
        return type(first)(regroup(list(rows), wrap) for rows in zip(*values))
    if all(v is first for v in values):
        return first
    holder = getattr(first, "_distributed_container", None)
    if holder is not None and all(getattr(v, "_distributed_container", None) is holder for v in values):
        return holder
    return wrap(values)


def _of_copy(name):
    return property(lambda self: getattr(self._get(), name))


class DistributedVariable(ResourceVariable):
    """A variable with a copy on each device. In a replica or an update it acts as the copy there."""

    def __init__(self, strategy, copies, aggregation):
        self._strategy, self._values, self._aggregation, self._init = strategy, tuple(copies), aggregation, None
        for copy in copies:
            copy._distributed_container = self

    values = property(lambda self: self._values)
    _primary = property(lambda self: self._values[0])
    distribute_strategy = property(lambda self: self._strategy)
    aggregation = property(lambda self: self._aggregation)
    name = property(lambda self: self._primary.name)
    _shared_name = property(lambda self: self._primary._shared_name)
    _constraint = property(lambda self: self._primary._constraint)
    initial_value = property(lambda self: self._primary.initial_value)

    def _get(self):
        return self._values[context.copy_now() or 0]

    @property
    def _initializer_op(self):
        if self._init is None:
            self._init = group(*[v.initializer for v in self._values])
        return self._init

    def is_initialized(self, name=None):
        from weft._core.ops.math_ops import reduce_all
        return reduce_all([v.is_initialized() for v in self._values], name=name)

    def load(self, value, session=None):
        for copy in self._values:
            copy.load(value, session)

    def __str__(self):
        return "%s:{\n%s\n}" % (type(self).__name__, ",\n".join("  %d: %r" % row for row in enumerate(self._values)))

    __repr__ = __str__

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def _change(self, method, value, args, kwargs):
        raise NotImplementedError

    def _all_copies(self, method, value, args, kwargs):
        """Updates all copies, and returns a variable that reads after the update."""
        with self._primary.graph.as_default():
            done = group(*[_operation(getattr(copy, method)(_part_for(value, i), *args, **kwargs))
                           for i, copy in enumerate(self._values)])
        return _UnreadVariable(self._primary, done) if kwargs.get("read_value", True) else done


def _operation(made):
    return getattr(made, "op", made)


def _part_for(value, number):
    return value._values[number] if isinstance(value, DistributedValues) else value


for _name in ("_handle", "_dtype", "_declared", "_trainable", "_save_slice_info", "_validate_shape", "_initial_value",
              "_is_initialized", "_cached", "_caching_device", "_element"):
    setattr(DistributedVariable, _name, _of_copy(_name))


class MirroredVariable(DistributedVariable):
    """A variable whose copies have equal values, because each update changes all of them."""

    synchronization = VariableSynchronization.ON_WRITE

    def _change(self, method, value, args, kwargs):
        replica = context.get_replica_context()
        if replica is None and context.copy_now() is not None:
            return getattr(self._get(), method)(_part_for(value, context.copy_now()), *args, **kwargs)
        if replica is None or self._strategy.num_replicas_in_sync == 1 or not context.has_strategy():
            return self._all_copies(method, value, args, kwargs)
        # The program is responsible for updates that agree between replicas.
        if self._aggregation == VariableAggregation.NONE:
            return getattr(self._get(), method)(value, *args, **kwargs)

        def merged(strategy, value):
            if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
                value = value._primary if isinstance(value, DistributedValues) else value
            elif isinstance(value, DistributedValues) or self._aggregation == VariableAggregation.SUM:
                value = strategy.extended.reduce_to(ReduceOp.from_variable_aggregation(self._aggregation), value, self)
            return self._all_copies(method, value, args, kwargs)
        return replica.merge_call(merged, args=(value,))


class SyncOnReadVariable(DistributedVariable):
    """Each replica changes its own copy. Outside of replicas, the value is the copies' aggregate."""

    synchronization = VariableSynchronization.ON_READ

    def _change(self, method, value, args, kwargs):
        if context.copy_now() is not None:
            return getattr(self._get(), method)(value, *args, **kwargs)
        if method != "assign":
            raise ValueError("SyncOnReadVariable does not support `%s` in cross-replica context when aggregation is set to "
                             "`tf.VariableAggregation.%s`." % (method, self._aggregation.name))
        if self._aggregation == VariableAggregation.SUM:
            value = convert_to_tensor(value, self._dtype) / self._strategy.num_replicas_in_sync
        return self._all_copies(method, value, args, kwargs)

    def _read(self):
        """Returns the value of the variable outside of replicas."""
        if context.copy_now() is not None or self._strategy.num_replicas_in_sync == 1:
            return self._get()._read()
        if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
            return self._primary._read()
        if self._aggregation == VariableAggregation.NONE:
            raise ValueError("Could not convert from `tf.VariableAggregation` VariableAggregation.NONE to"
                             "`tf.distribute.ReduceOp` type: the copies of %s differ; give the variable an aggregation" % self.name)
        return self._strategy.extended.reduce_to(ReduceOp.from_variable_aggregation(self._aggregation),
                                                 PerReplica([copy._read() for copy in self._values]), None)

    def value(self):
        return self._read()

    def read_value(self):
        return self._read()

    def _as_graph_element(self):
        return self._element if context.copy_now() is not None else self._aggregate()

    def _aggregate(self):
        if self.__dict__.get("_read_outside") is None:
            with self._primary.graph.as_default(), self._primary.graph.control_dependencies(None):
                self._read_outside = self._read()
        return self._read_outside


def _changing(method):
    def change(self, value, *args, **kwargs):
        return self._change(method, value, args, kwargs)
    change.__name__, change.__doc__ = method, getattr(ResourceVariable, method).__doc__
    return change


for _name in ("assign", "assign_add", "assign_sub"):
    setattr(DistributedVariable, _name, _changing(_name))
for _name in [n for n in dir(ResourceVariable) if n.startswith("scatter_") and not n.startswith("scatter_nd")]:
    setattr(DistributedVariable, _name, _changing(_name))


def is_value(x):
    """Returns whether x is a tensor or similar, and not a nest or a Python value."""
    return isinstance(x, IndexedSlices) or hasattr(x, "dtype")
