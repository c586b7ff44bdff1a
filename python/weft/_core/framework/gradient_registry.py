"""Gradient functions that programs write in Python: tf.RegisterGradient, tf.NotDifferentiable,
Graph.gradient_override_map.

The library looks here if it has no gradient for an op, or if gradient_override_map gave a node another name.
"""
import contextlib
import sys

from weft import _weft
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import IndexedSlices, get_default_graph


def rows_of(gradients):
    """Returns gradients as rows that the extension takes: (dense, indices, values, shape)."""
    rows = []
    for g in gradients:
        if g is None:
            rows.append((-1, -1, -1, -1))
        elif isinstance(g, IndexedSlices):
            shape = -1 if g.dense_shape is None else g.dense_shape._out
            rows.append((-1, g.indices._out, g.values._out, shape))
        else:
            rows.append((convert_to_tensor(g)._out, -1, -1, -1))
    return rows


def gradient_of(graph, row):
    """Returns the gradient that such a row describes."""
    dense, indices, values, shape = row
    if indices >= 0:
        return IndexedSlices(graph._result(values), graph._result(indices), graph._result(shape))
    return graph._result(dense)


class _Library:
    """The library's own gradient of an op, callable as a Python function."""

    def __init__(self, kind):
        self.__name__ = "_%sGrad" % kind

    def __call__(self, op, *grads):
        from weft._core.ops.gradients import gradients
        given = [(y, g) for y, g in zip(op.outputs, grads) if g is not None]
        inputs = list(op.inputs)
        made = gradients([y for y, _ in given], inputs, [g for _, g in given], stop_gradients=inputs)
        return made[0] if len(made) == 1 else made


class Registry:
    """Maps an op type, or a name of gradient_override_map, to a function of (op, *gradients), or to None if not
    differentiable.
    """

    def __init__(self):
        self._functions, self._where = {}, {}
        self._library = None  # {op type: "yes", "none" or "missing"}, read when it is first needed

    def _of_library(self, name):
        if self._library is None:
            self._library = _weft.op_gradients()
        return self._library.get(name, "missing")

    def register(self, candidate, name=None):
        if name in self._functions or self._of_library(name) != "missing":
            where = self._where.get(name, "register weft:1")
            raise KeyError("Registering two gradient with name '%s'! (Previous registration was in %s)" % (name, where))
        frame = sys._getframe(2)
        self._functions[name] = candidate
        self._where[name] = "%s %s:%d" % (frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno)

    def lookup(self, name):
        if name in self._functions:
            return self._functions[name]
        known = self._of_library(name)
        if known == "missing":
            raise LookupError("gradient registry has no entry for: %s" % name)
        return _Library(name) if known == "yes" else None

    def list(self):
        return list(self._functions)

    def differentiate(self, graph, node, kind, rows):
        """Returns gradients for the inputs of a node as rows, or None if nothing is registered. The library calls it.
        """
        if kind not in self._functions:
            return None
        op, function = graph._operation(node), self._functions[kind]
        count = len(op.inputs)
        if function is None:
            return rows_of([None] * count)
        default = get_default_graph() is graph
        with contextlib.nullcontext() if default else graph.as_default():
            made = function(op, *[gradient_of(graph, row) for row in rows])
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            if len(made) != count:
                raise ValueError("Num gradients %d generated for op %s do not match num inputs %d" % (
                    len(made), op.node_def, count))
            return rows_of(made)


registry = Registry()


class RegisterGradient(metaclass=Named):
    """tf.RegisterGradient("Name"): a decorator for the gradient function of an op type."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        registry.register(f, self._op_type)
        return f


def NotDifferentiable(op_type):
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    registry.register(None, op_type)


NoGradient = NotDifferentiable


def get_gradient_function(op):
    """Returns the gradient function of an operation, or None if it has no inputs or is not differentiable."""
    if not op.inputs:
        return None
    try:
        kind = op.get_attr("_gradient_op_type")
    except ValueError:
        kind = op.type
    return registry.lookup(kind.decode() if isinstance(kind, bytes) else kind)


__all__ = ["NoGradient", "NotDifferentiable", "RegisterGradient", "get_gradient_function", "registry"]
