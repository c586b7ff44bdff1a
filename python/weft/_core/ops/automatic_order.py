"""Runs the stateful ops of a function in the order of the program: tf.function, its conditions and its loops.

Between the start and the end of a body, an op that changes a resource waits for the ops before it that touch the same
resource; other stateful ops wait for one another.  What the body returns waits for all of them.  A tf.cond or
tf.while_loop inside counts as one op, whose branches are ordered in the same way.
"""
from weft._core.framework import opdef
from weft._core.framework.graph import Operation, Tensor, control_dependencies
from weft._core.framework.nest import flatten, pack_parts, parts

_READS = {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp", "VariableShape", "LookupTableFindV2",
          "LookupTableSizeV2", "LookupTableExportV2"}
# Their order changes no result, because each has a seed and numbers of its own.
_RANDOM = {"RandomUniform", "RandomUniformInt", "RandomStandardNormal", "ParameterizedTruncatedNormal", "TruncatedNormal",
           "RandomShuffle", "Multinomial", "RandomGamma", "RandomPoisson", "RandomPoissonV2"}
_THROUGH = {"Identity", "RefIdentity", "Enter", "RefEnter", "Switch", "RefSwitch"}
_CREATION = {"Assign", "IsInitialized/VarIsInitializedOp", "Read/ReadVariableOp"}
_OTHERS = "all stateful ops without a resource"


def _origin(graph, out):
    """Returns the output that creates the resource or reference variable which an output passes on."""
    while graph._c.node(out >> 16)[1] in _THROUGH:
        out = graph._c.inputs(out >> 16)[0]
    return out


def _creates(operation):
    """Returns whether the op only makes a handle, or belongs to the creation of a variable."""
    if not operation.inputs:
        return bool(operation.outputs) and (operation.outputs[0].dtype.name == "resource" or operation.outputs[0].dtype._is_ref_dtype)
    handle = operation.inputs[0].op
    return handle.type in ("VarHandleOp", "VariableV2") and operation.name.removeprefix(handle.name + "/") in _CREATION


def is_stateful(operation):
    return opdef.get(operation.type).is_stateful and not _creates(operation)


def _uses(graph, operation):
    """Returns {what the op touches: whether it changes it}."""
    if operation.type in _THROUGH or _creates(operation):
        return {}
    held = [t for t in operation.inputs if t.dtype.name == "resource" or t.dtype._is_ref_dtype]
    if held:
        return dict.fromkeys((_origin(graph, t._out) for t in held), operation.type not in _READS)
    return {_OTHERS: True} if is_stateful(operation) and operation.type not in _RANDOM else {}


class Ordered:
    """A `with` block in which the stateful ops of one control flow context are ordered at its end."""

    def __init__(self, graph):
        self.graph, self.units, self.must, self.touched = graph, [], [], {}

    def __enter__(self):
        self.first, self.outer = self.graph._c.size(), self.graph._order
        self.graph._order = self
        return self

    def __exit__(self, kind, *error):
        self.graph._order = self.outer
        if kind is None:
            self._connect()

    def add(self, first, entries, exits, touched):
        """Counts the nodes from `first` on as one op: entries wait for what came before, and exits come after it."""
        self.units.append((first, self.graph._c.size(), entries, exits, touched))

    def _events(self):
        """Yields (ops that must wait, ops that come last, what they touch), in the order of the program."""
        node, graph = self.first, self.graph
        for first, end, entries, exits, touched in [*self.units, (graph._c.size(),) * 2 + ((), (), {})]:
            for i in range(node, first):
                operation = graph._operation(i)
                yield [operation], [operation], _uses(graph, operation)
            yield entries, exits, touched
            node = end

    def _connect(self):
        writers, readers = {}, {}
        for entries, exits, touched in self._events():
            before = [o for key, changes in touched.items() for o in writers.get(key, []) + (readers.get(key, []) if changes else [])]
            for operation in entries:
                for earlier in dict.fromkeys(before):
                    operation._add_control_input(earlier)
            for key, changes in touched.items():
                self.touched[key] = self.touched.get(key, False) or changes
                if changes:
                    writers[key], readers[key] = exits, []
                else:
                    readers.setdefault(key, []).extend(exits)
        self.must = list(dict.fromkeys(o for last in writers.values() for o in last))

    def held(self, made):
        """Returns what a branch returned, with tensors and operations that wait for all that the branch changes."""
        if not self.must or made is None:
            return made
        with control_dependencies(self.must):
            return pack_parts(made, [_after(x) for x in parts(made)]) if flatten(made) else made


def _after(x):
    from weft._core.ops.control_flow import group
    if isinstance(x, Operation):
        return group(x)
    if isinstance(x, Tensor) and x.dtype._is_ref_dtype:
        return x
    from weft._core.ops.array_ops import identity
    return identity(x)


def branch(graph, fn, orders):
    """Returns the result of a branch or loop function; in an ordered body, the ordered result, noted in `orders`."""
    if graph._order is None:
        return fn()
    with Ordered(graph) as order:
        made = fn()
    orders.append(order)
    return order.held(made)


def count_as_one(graph, first, entries, exits, orders):
    """Tells the ordered body that the nodes from `first` on are one op, with what its branches touch."""
    if graph._order is None:
        return
    touched = {}
    for order in orders:
        for key, changes in order.touched.items():
            touched[key] = touched.get(key, False) or changes
    graph._order.add(first, entries, exits, touched)
