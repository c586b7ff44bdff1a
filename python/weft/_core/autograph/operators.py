"""What the rewritten branches, loops and calls of a function do: Python's own work, or nodes of the graph for tensors."""
import builtins
import functools
import threading

import numpy as np

from weft._core.autograph import conversion
from weft._core.framework import tensor_shape
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import Tensor, control_dependencies, get_default_graph, name_scope
from weft._core.framework.nest import flatten, is_nested, pack_like, pack_parts, parts
from weft._core.ops import automatic_order, control_flow
from weft._core.ops.variables import Variable


class Undefined:
    """Stands for a variable that has no value, or none that a graph can compute."""

    def __init__(self, name, why="it has no value here"):
        self.__dict__.update(_name=name, _why=why)

    def _refuse(self, *_):
        raise UnboundLocalError("tf.autograph: '%s' cannot be used: %s" % (self._name, self._why))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __bool__ = __call__ = _refuse
    __getitem__ = __iter__ = __len__ = __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __float__ = __int__ = _refuse


NO_VALUE = Undefined("the result", "the function returns in one case only")


def returned(value):
    """Returns the result of a function, which is None if it ended without `return`."""
    return None if value is NO_VALUE else value


def attribute(owner, name):
    return Undefined(name) if isinstance(owner, Undefined) else getattr(owner, name, Undefined(name))


def set_attribute(owner, name, value):
    if not isinstance(owner, Undefined) and not isinstance(value, Undefined) and getattr(owner, name, owner) is not value:
        setattr(owner, name, value)


def _in_graph(x):
    return isinstance(x, (Tensor, Variable))


# ---- expressions ----

def and_(a, b):
    if not _in_graph(a):
        return a and b()
    from weft._core.ops.math_ops import logical_and
    return control_flow.cond(a, lambda: logical_and(a, b()), lambda: control_flow.identity(a)) if _is_scalar(a) else logical_and(a, b())


def or_(a, b):
    if not _in_graph(a):
        return a or b()
    from weft._core.ops.math_ops import logical_or
    return control_flow.cond(a, lambda: control_flow.identity(a), lambda: logical_or(a, b())) if _is_scalar(a) else logical_or(a, b())


def _is_scalar(x):
    return x.shape.ndims == 0


def not_(a):
    if not _in_graph(a):
        return not a
    from weft._core.ops.math_ops import logical_not
    return logical_not(a)


def if_exp(test, then, otherwise):
    return control_flow.cond(test, then, otherwise) if _in_graph(test) else then() if test else otherwise()


# ---- branches ----

def if_stmt(test, then, otherwise, get, put, names):
    """Runs one of two blocks, or both in a condition of the graph, whose values are merged."""
    if not _in_graph(test):
        return then() if test else otherwise()
    test = convert_to_tensor(test)
    before, graph, orders = get(), control_flow.graph_of([test]), []
    with name_scope("cond"):
        start = graph._c.size()
        off, on = control_flow.switch(test, test)
        pivots = control_flow.identity(on, "switch_t"), control_flow.identity(off, "switch_f")
        pred = control_flow.identity(test, "pred_id")
        branches = []
        for block, pivot, which in ((then, pivots[0], 1), (otherwise, pivots[1], 0)):
            context = control_flow.CondContext(graph, pred, pivot, which, graph.unique_name("cond_text"), graph._context)
            branches.append(_Branch(context, pivot, orders, block, before, get, put))
        put(before)
        joined = _joined(graph, branches, before, names)
        done = control_flow.merge([b.end() for b in reversed(branches)])[0]
        for b in branches:
            b.context.done("cond_context")
        automatic_order.count_as_one(graph, start, [on.op, pred.op], [done.op], orders)
    put(joined)


class _Branch:
    """One side of a condition: the values of the variables after its block."""

    def __init__(self, context, pivot, orders, block, before, get, put):
        self.context, self.pivot, self.order = context, pivot, None
        graph = context.graph
        with context.entered():
            if graph._order is None:
                put(before)
                block()
            else:
                with automatic_order.Ordered(graph) as self.order:
                    put(before)
                    block()
                orders.append(self.order)
            self.values = get()

    def inside(self, value, dtype=None):
        """Returns a value as a tensor inside, which waits for the effects of the block."""
        with self.context.entered(), control_dependencies(self.order.must if self.order else []):
            made = convert_to_tensor(value, dtype)
            made = control_flow.identity(made) if self.order and self.order.must else made
            return self.context.graph._tensor(self.context.bring(made._out))

    def end(self):
        """Returns a tensor that is there once the block has ended."""
        return self.inside(self.pivot)


def _joined(graph, branches, before, names):
    """Returns the values of the variables after a condition."""
    made = []
    for name, old, a, b in zip(names, before, branches[0].values, branches[1].values):
        if a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, str, bytes)) and a == b):
            made.append(a)
        elif isinstance(a, Undefined) or isinstance(b, Undefined):
            made.append(Undefined(name, "only one branch of a condition of the graph gives it a value"))
        else:
            made.append(_merged(name, branches, a, b))
    return tuple(made)


def _merged(name, branches, a, b):
    first, second = parts(a), parts(b)
    if len(first) != len(second) or is_nested(a) != is_nested(b):
        return Undefined(name, "the branches of a condition of the graph give it values of different structures")
    made = []
    for x, y in zip(first, second):
        kinds = [v.dtype.base_dtype for v in (x, y) if _in_graph(v)]
        try:
            x, y = (branch.inside(v, None if _in_graph(v) or not kinds else kinds[0]) for branch, v in zip(branches, (x, y)))
        except (TypeError, ValueError) as e:
            return Undefined(name, "the branches of a condition of the graph give it values that are no tensors: %s" % e)
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise TypeError("'%s' must have the same type in both branches of a condition: it is %s and %s" % (
                name, x.dtype.base_dtype.name, y.dtype.base_dtype.name))
        made.append(control_flow.merge([y, x])[0])
    return pack_parts(a, made)


# ---- loops ----

def loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Returns what tf.autograph.experimental.set_loop_options was called with."""
    given = {"parallel_iterations": parallel_iterations, "swap_memory": swap_memory, "maximum_iterations": maximum_iterations}
    return {k: v for k, v in given.items() if v is not None}, list(shape_invariants or [])


def _is_state(value):
    """Returns whether a graph's loop can carry a value."""
    leaves = [leaf for leaf in flatten(value)]
    return all(_in_graph(x) or hasattr(x, "_parts") or isinstance(x, (bool, int, float, np.ndarray, np.generic)) for x in leaves)


class _Loop:
    """The variables of a loop of the graph."""

    def __init__(self, get, put, names):
        self.get, self.put, self.names, self.before = get, put, names, get()
        self.carried = [i for i, v in enumerate(self.before) if not isinstance(v, Undefined) and _is_state(v)]
        self.like = [pack_parts(self.before[i], [convert_to_tensor(p) for p in parts(self.before[i])]) for i in self.carried]

    def enter(self, values):
        """Gives the variables the values of an iteration."""
        now = [Undefined(n) if isinstance(v, Undefined) else v for n, v in zip(self.names, self.before)]
        for i, v in zip(self.carried, values):
            now[i] = v
        self.put(tuple(now))

    def leave(self):
        """Returns the values after an iteration, or raises an error for those that a loop cannot carry."""
        now = self.get()
        for i, (name, old, new) in enumerate(zip(self.names, self.before, now)):
            if i not in self.carried and not isinstance(old, Undefined) and new is not old:
                raise TypeError("'%s' is %r before a loop of the graph, which cannot carry it: give it a tensor" % (name, old))
        return [self._typed(self.names[i], now[i], like) for i, like in zip(self.carried, self.like)]

    @staticmethod
    def _typed(name, value, like):
        given, wanted = parts(value), parts(like)
        if len(given) != len(wanted):
            raise TypeError("'%s' does not have the same structure before and after one iteration of a loop" % name)
        return pack_parts(like, [x if _in_graph(x) else convert_to_tensor(x, w.dtype.base_dtype) for x, w in zip(given, wanted)])

    def run(self, test, body, options, counter):
        """Runs the loop; test and body get the iteration's number if there is a counter."""
        given, invariants = ({}, []) if options is None else options()
        if invariants:
            given["shape_invariants"] = [tensor_shape.scalar(), self._invariants(invariants)]

        def going(i, values):
            self.enter(values)
            return convert_to_tensor(test(i))

        def step(i, values):
            self.enter(values)
            body(i)
            return i + 1, self.leave()
        _, values = control_flow.while_loop(going, step, [counter, self.like], return_same_structure=True, **given)
        self.enter(values)

    def _invariants(self, invariants):
        """Returns the shapes that the variables keep, in the structure of the loop's variables."""
        found = []
        for i, like in zip(self.carried, self.like):
            asked = next((shape for value, shape in invariants if value is self.before[i]), None)
            found.append(asked if asked is not None else pack_like(like, [x.shape for x in flatten(like)]))
        return found


def while_stmt(test, body, get, put, names, options):
    """Runs a loop while a test holds; a test that is a tensor makes it a loop of the graph."""
    first = test()
    if _in_graph(first):
        _Loop(get, put, names).run(lambda _: test(), lambda _: body(), options, convert_to_tensor(0))
        return
    while first:
        body()
        first = test()


def for_stmt(items, extra, body, get, put, names, options):
    """Runs a loop over items; returns whether it is a loop of the graph, over the rows of a tensor or a data set."""
    if isinstance(items, Variable):
        items = items.value()
    if isinstance(items, Tensor):
        from weft._core.ops import array_ops
        from weft._core.ops.math_ops import less
        count = array_ops.shape(items)[0]

        def test(i):
            return less(i, count) if extra is None else and_(less(i, count), extra)
        _Loop(get, put, names).run(test, lambda i: body(array_ops.gather(items, i)), options, convert_to_tensor(0))
        return True
    if hasattr(items, "_variant_tensor") or hasattr(items, "make_one_shot_iterator"):
        _over_data_set(items, extra, body, _Loop(get, put, names))
        return True
    for item in items:
        if extra is not None and not extra():
            break
        body(item)
    return False


def _over_data_set(items, extra, body, loop):
    """Passes the variables through Dataset.reduce."""
    if extra is not None:
        raise NotImplementedError("tf.autograph: `break` and `return` in a loop over a data set are not in Weft: use Dataset.take_while")

    def step(values, item):
        loop.enter(list(values))
        body(item)
        return tuple(loop.leave())
    if not loop.like:
        items.reduce(convert_to_tensor(0), lambda i, item: (step((), item), i + 1)[1])
        return
    loop.enter(list(items.reduce(tuple(loop.like), step)))


# ---- calls ----

def _len(x):
    if not isinstance(x, Tensor):
        return len(x)
    from weft._core.ops import array_ops
    return x.shape.as_list()[0] if x.shape.ndims and x.shape.as_list()[0] is not None else array_ops.shape(x)[0]


def _range(*limits):
    if not any(isinstance(x, Tensor) for x in limits):
        return range(*limits)
    from weft._core.ops.math_ops import range as range_of
    return range_of(*limits)


def _print(*values, **given):
    if not any(_in_graph(v) for v in flatten(list(values))):
        return print(*values, **given)
    from weft._core.ops.logging_ops import print as print_tensors
    return print_tensors(*values, **given)


def _number(kind):
    def convert(x=0, *base):
        if not isinstance(x, Tensor):
            return getattr(builtins, kind)(x, *base)
        from weft._core.framework import dtypes
        from weft._core.ops.math_ops import cast
        return cast(x, dtypes.int32 if kind == "int" else dtypes.float32)
    return convert


def _of_tensors(kind, name):
    def function(*args, **given):
        if not any(isinstance(a, Tensor) for a in args):
            return getattr(builtins, kind)(*args, **given)
        from weft._core.ops import math_ops
        if len(args) == 1:
            return getattr(math_ops, name)(*args, **given)
        return functools.reduce(getattr(math_ops, {"min": "minimum", "max": "maximum"}[kind]), args)
    return function


_BUILTINS = {len: _len, range: _range, print: _print, int: _number("int"), float: _number("float"), abs: _of_tensors("abs", "abs"),
             min: _of_tensors("min", "reduce_min"), max: _of_tensors("max", "reduce_max")}


class _Depth(threading.local):
    value = 0


_depth = _Depth()


def call(function):
    """Returns what a call in a converted function calls: functions of the program are converted too."""
    try:
        if function in _BUILTINS:
            return _BUILTINS[function]
    except TypeError:  # it has no hash
        return function
    return conversion.converted(function)


__all__ = ["NO_VALUE", "Undefined", "and_", "attribute", "call", "for_stmt", "get_default_graph", "if_exp", "if_stmt",
           "loop_options", "not_", "or_", "returned", "set_attribute", "while_stmt"]
