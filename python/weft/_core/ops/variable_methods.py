"""Methods of variables other than their value: updates of parts, assignable slices, and attributes that programs use
although they are not in TensorFlow's public API.
"""
import enum

from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.details import OVERLOADABLE_OPERATORS, Reference
from weft._core.framework.trackable import Trackable


class VariableSynchronization(enum.Enum):
    """When the copies of a variable, one for each replica of a strategy, are synchronized."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the updates of replicas are combined."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self is other or (isinstance(other, int) and self.value == other)


def distributed_use(synchronization, aggregation, trainable, name):
    """Returns (synchronization, aggregation, trainable) by TensorFlow's rules: a variable with ON_READ is not trained.
    """
    synchronization = VariableSynchronization.AUTO if synchronization is None else synchronization
    aggregation = VariableAggregation.NONE if aggregation is None else aggregation
    for kind, value, what in ((VariableSynchronization, synchronization, "synchronization"),
                              (VariableAggregation, aggregation, "aggregation")):
        if not isinstance(value, kind):
            raise ValueError("Invalid variable %s mode: %s for variable: %s" % (what, value, name))
    if synchronization == VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. "
                             "You have specified trainable=True and synchronization=VariableSynchronization.ON_READ.")
        trainable = False
    return synchronization, aggregation, True if trainable is None else trainable


class VariableMethods(Trackable):
    """The methods that Variable gets from this module. A subclass may override them."""

    OVERLOADABLE_OPERATORS = set(OVERLOADABLE_OPERATORS)
    _use = (VariableSynchronization.AUTO, VariableAggregation.NONE)
    synchronization = property(lambda self: self._use[0])
    aggregation = property(lambda self: self._use[1])
    _name = property(lambda self: self.op.name)
    _handle_name = property(lambda self: self.name)
    _unique_id = property(lambda self: self.op.name)
    _in_graph_mode = property(lambda self: True)

    def _use_numbers(self):
        """Returns the fields of a VariableDef that are not zero."""
        numbers = dict(synchronization=self.synchronization.value, aggregation=self.aggregation.value)
        return {name: value for name, value in numbers.items() if value}

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": self}

    def _AsTensor(self):
        return self.value()

    def ref(self):
        return Reference(self)

    experimental_ref = ref

    def is_initialized(self, name=None):
        return op("IsVariableInitialized", name, ref=self._ref())

    def _strided_slice_assign(self, begin, end, strides, value, name, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                              shrink_axis_mask):
        where = dict(begin=begin, end=end, strides=strides, value=value, begin_mask=begin_mask, end_mask=end_mask,
                     ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask)
        if hasattr(self, "handle"):
            where["value"] = convert_to_tensor(value, self.dtype)
            return self._lazy_read(op("ResourceStridedSliceAssign", name, ref=self.handle, **where))
        return op("StridedSliceAssign", name, ref=self._ref(), **where)


def _rows(kind):
    def scatter(self, sparse_delta, use_locking=False, name=None):
        if not hasattr(sparse_delta, "indices"):
            raise TypeError("sparse_delta is not IndexedSlices: %s" % (sparse_delta,))
        return op("Scatter" + kind, name, ref=self._ref(), indices=sparse_delta.indices, updates=sparse_delta.values,
                  use_locking=use_locking)
    return scatter


def _places(kind):
    def scatter(self, indices, updates, name=None):
        return op("ScatterNd" + kind, name, ref=self._ref(), indices=indices, updates=updates, use_locking=True)
    return scatter


for _kind in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update"):
    setattr(VariableMethods, "scatter_" + _kind.lower(), _rows(_kind))
for _kind in ("Add", "Sub", "Min", "Max", "Update"):
    setattr(VariableMethods, "scatter_nd_" + _kind.lower(), _places(_kind))


def sliced_assign(variable, made, where):
    """Returns the method `assign` of a slice of a variable, which writes to that part of the variable."""
    def assign(val, name=None):
        return variable._strided_slice_assign(value=val, name=name or made.op.name + "/_assign", **where)
    return assign
