"""Adds nodes from Python values: conversion to tensors, constants, and nodes of any op by its definition."""
import numbers

import numpy as np

from weft import _weft
from weft._core.framework import absent, dtypes, numeric_checks, opdef, tensor_shape
from weft._core.framework.attrs import row
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Graph, IndexedSlices, Operation, Tensor, get_default_graph, name_scope
from weft._core.framework.values import triple

_weft.use_numpy(np.ndarray, dtypes.numpy_table(), np.dtype(object))

_conversions = []  # (type, function(value, dtype, name, as_ref)), searched in order


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    _conversions.append((base_type, conversion_func))


# ---- tensors ----

def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    return _constant(value, dtype, shape, name, verify_shape)


def _constant(value, dtype, shape=None, name="Const", verify_shape=False, check=False):
    if shape is not None:
        shape = [int(d) for d in tensor_shape.as_shape(shape).as_list()]
    given, found = triple(value, dtype, shape, check)
    if verify_shape and shape is not None and tuple(shape) != np.shape(value):
        raise TypeError("Expected Tensor's shape: %s, got %s." % (tuple(shape), np.shape(value)))
    made = get_default_graph()._add("Const", name, (), [("value", "T", given), ("dtype", "t", found._number)])
    return (numeric_checks.outputs_of(made) if numeric_checks.on else made.outputs)[0]


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """Returns a Tensor for the value: a tensor itself, the value of a variable, or a constant.

    Args:
      value: the value.
      dtype: the type that the tensor must have.
      name: a name for the constant.
      preferred_dtype: the type that a constant has if it can.
      dtype_hint: the other name of preferred_dtype.
    """
    return convert(value, dtype, name, either("dtype_hint", dtype_hint, "preferred_dtype", preferred_dtype))


def convert(value, dtype=None, name=None, preferred_dtype=None, as_ref=False, check=False):
    """Converts as convert_to_tensor does. With as_ref, a variable gives its reference, for an op that changes it.

    With check, an integer that does not fit int32 is an error; otherwise it wraps around, as in TensorFlow.
    """
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype.base_dtype):
            raise ValueError("Tensor conversion requested dtype %s for Tensor with dtype %s: %s" % (
                dtype.name, value.dtype.base_dtype.name, value))
        return value
    for kind, function in _conversions:
        if isinstance(value, kind):
            made = function(value, dtype=dtype, name=name, as_ref=as_ref)
            if made is not NotImplemented:
                return made
    if isinstance(value, (list, tuple)) and _has_tensor(value):
        return _packed(value, dtype, name or "packed")
    if isinstance(value, Operation):
        raise TypeError("Can't convert Operation '%s' to Tensor (target dtype=%s, name=%r, as_ref=False)" % (
            value.name, dtype and dtype.name, name))
    if dtype is None and preferred_dtype is not None:
        try:
            return _constant(value, preferred_dtype, name=name or "Const", check=check)
        except (TypeError, ValueError, OverflowError):
            pass
    return _constant(value, dtype, name=name or "Const", check=check)


def _has_tensor(value):
    return any(_is_tensor(v) or (isinstance(v, (list, tuple)) and _has_tensor(v)) for v in value)


def _is_tensor(value):
    return isinstance(value, (Tensor, IndexedSlices)) or isinstance(value, tuple(k for k, _ in _conversions))


def is_tensor(x):
    return _is_tensor(x)


def _packed(value, dtype, name):
    if dtype is None:
        dtype = next((v.dtype.base_dtype for v in _flat(value) if _is_tensor(v)), None)
    else:
        value = _cast_parts(value, as_dtype(dtype).base_dtype)
    with name_scope(name) as scope:
        parts = [_packed(v, dtype, str(i)) if isinstance(v, (list, tuple)) else convert_to_tensor(v, dtype, name=str(i))
                 for i, v in enumerate(value)]
        return op("Pack", scope, values=parts, axis=0)


def _cast_parts(value, dtype):
    """Returns nested lists with the tensors of another type cast to `dtype`."""
    from weft._core.ops.math_ops import cast
    if isinstance(value, (list, tuple)):
        return [_cast_parts(v, dtype) for v in value]
    return cast(value, dtype) if _is_tensor(value) and value.dtype.base_dtype != dtype else value


def _flat(value):
    for v in value:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        else:
            yield v


def either(name, value, old_name, old):
    """Returns the value of a parameter that also has an old name; raises TensorFlow's error if both are given."""
    if old is None:
        return value
    if value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'." % (old_name, name))
    return old


def constant_value(tensor):
    """Returns the value of a tensor if it is known without a run, else None: tf.contrib.util.constant_value."""
    if isinstance(tensor, Tensor):
        return tensor.graph._c.constant(tensor._out)
    return tensor


def _from_slices(value, dtype=None, name=None, as_ref=False):
    if value.dense_shape is None:
        raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: %s" % value)
    from weft._core.ops.array_ops import gather_rows_count
    return op("UnsortedSegmentSum", name, data=value.values, segment_ids=value.indices,
              num_segments=gather_rows_count(value.dense_shape))


register_tensor_conversion_function(IndexedSlices, _from_slices)


# ---- nodes ----

def _own_type(value):
    """Returns the name of the type that an array or numbers have by themselves, or None. An op that takes this type gets it,
    not the default of its attribute.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.name if value.dtype.kind in "iufc" else None
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, int) and not isinstance(value, bool):
        return "int32" if -2**31 <= value < 2**31 else None
    return {float: "float32", complex: "complex128"}.get(type(value))


class _Call:
    """One call of `op`: converts its inputs to tensors and collects the attributes that follow from them."""

    def __init__(self, definition, given):
        self.definition, self.given = definition, given
        self.types, self.numbers, self.lists = {}, {}, {}
        for name in definition.inferred:
            if given.get(name) is not None:
                kind = definition.attrs[name]
                if kind.kind == "type" and not kind.is_list:
                    self.types[name] = as_dtype(given[name]).base_dtype
                elif kind.kind == "type":
                    self.lists[name] = [as_dtype(d).base_dtype for d in given[name]]

    def wanted(self, arg):
        """Returns the type that an input must have, or None if it is not known yet."""
        if arg.type is not None:
            return arg.type
        found = self.types.get(arg.type_attr)
        if found is None:
            for other in self.definition.inputs:
                if other.type_attr == arg.type_attr and other.name in self.given:
                    value = self.given[other.name]
                    for v in _flat(value) if isinstance(value, (list, tuple)) else (value,):
                        if _is_tensor(v):
                            return v.dtype.base_dtype
        return found

    def hint(self, arg, value):
        attr = self.definition.attrs.get(arg.type_attr)
        if attr is None or not attr.default:
            return None
        in_list = arg.number_attr and not isinstance(value, (np.ndarray, np.generic))
        own = None if in_list else _own_type(value)  # Python's numbers in a list of tensors get the default.
        return None if own is not None and attr.allowed is not None and attr.allows(own) else attr.default

    def convert(self, arg, value, name):
        want = self.wanted(arg)
        sized = want is None or arg.type is not None  # a size, or a place: a number that wraps around is another one
        try:
            made = convert(value, want, name, self.hint(arg, value), arg.is_ref, sized)
        except OverflowError as e:
            raise OverflowError("Argument '%s' of '%s' Op: %s" % (arg.name, self.definition.name, e)) from None
        except TypeError as e:
            if want is None or not str(e).startswith("Expected "):
                raise
            raise TypeError("Expected %s passed to parameter '%s' of op '%s', got %r of type '%s' instead. Error: %s" % (
                want.name, arg.name, self.definition.name, value, type(value).__name__, e)) from None
        except ValueError as e:
            if value is None:
                raise ValueError("Tried to convert '%s' to a tensor and failed. Error: %s" % (arg.name, e)) from None
            if not _is_tensor(value):
                raise
            raise TypeError(self.mismatch(arg, value, want)) from None
        found = made.dtype.base_dtype
        if want is not None and found != want:
            raise TypeError(self.mismatch(arg, made, want))
        if arg.is_ref and not made.dtype._is_ref_dtype:
            raise TypeError("'%s' Op requires that input '%s' be a mutable tensor (e.g.: a tf.Variable)" % (
                self.definition.name, arg.name))
        if arg.type_attr:
            self.types[arg.type_attr] = found
        return made

    def mismatch(self, arg, value, want):
        first = next((a.name for a in self.definition.inputs if a.type_attr == arg.type_attr and a is not arg), None)
        text = "Input '%s' of '%s' Op has type %s that does not match " % (
            arg.name, self.definition.name, value.dtype.base_dtype.name)
        if arg.type is not None or first is None:
            return text + "expected type of %s." % want.name
        return text + "type %s of argument '%s'." % (want.name, first)

    def several(self, arg, values):
        """Returns the tensors of an input that takes a list of one type."""
        try:
            return [self.convert(arg, v, "%s_%d" % (arg.name, i)) for i, v in enumerate(values)]
        except TypeError:
            types = [v.dtype.base_dtype.name for v in values if _is_tensor(v)]
            if len(types) < len(values) or len(set(types)) == 1:
                raise
            raise TypeError("Tensors in list passed to '%s' of '%s' Op have types [%s] that %s." % (
                arg.name, self.definition.name, ", ".join(types), "don't all match" if arg.type is None else
                "do not match expected type %s" % arg.type.name)) from None

    def one(self, arg):
        value = self.given[arg.name]
        if arg.number_attr:
            if not isinstance(value, (list, tuple)):
                raise TypeError("Expected list for '%s' argument to '%s' Op, not %s." % (
                    arg.name, self.definition.name, value))
            least = int(self.definition.attrs[arg.number_attr].least or 0)
            if len(value) < least:
                raise ValueError("List argument '%s' to '%s' Op with length %d shorter than minimum length %d." % (
                    arg.name, self.definition.name, len(value), least))
            self.numbers[arg.number_attr] = len(value)
            return self.several(arg, value)
        if arg.list_attr:
            if not isinstance(value, (list, tuple)):
                raise TypeError("Expected list for '%s' argument to '%s' Op, not %s." % (
                    arg.name, self.definition.name, value))
            types = self.lists.get(arg.list_attr) or [None] * len(value)
            made = [convert_to_tensor(v, t, "%s_%d" % (arg.name, i)) for i, (v, t) in enumerate(zip(value, types))]
            self.lists[arg.list_attr] = [t.dtype.base_dtype for t in made]
            return made
        return [self.convert(arg, value, arg.name)]

    def inputs(self):
        return [t for arg in self.definition.inputs for t in self.one(arg)]

    def attrs(self):
        rows = []
        for name, attr in self.definition.attrs.items():
            value = self.given.get(name)
            if name in self.types:
                value = self.types[name]
            elif name in self.lists:
                value = self.lists[name]
            elif name in self.numbers:
                value = self.numbers[name]
            if value is None and attr.default is None and attr.kind != "shape" and name not in self.definition.inferred:
                raise TypeError("Missing argument '%s' of op %s" % (name, self.definition.name))
            if value is not None or (attr.kind == "shape" and attr.default is None):
                if attr.kind == "tensor" and not isinstance(value, tuple):
                    value, _ = triple(value, self.given.get("dtype"))
                rows.append(row(name, attr.kind, attr.is_list, value))
        return rows


def _ready(arg, value):
    """Returns whether an input needs no conversion; if none does, the name scope of the op is not needed either."""
    if isinstance(value, (list, tuple)) and (arg.number_attr or arg.list_attr):
        return all(isinstance(v, Tensor) for v in value)
    return isinstance(value, Tensor)


def add_op(kind, name=None, **given):
    """Adds a node of any op and returns it as an Operation. Inputs and attributes go by their names in the definition.
    """
    try:
        definition = opdef.get(kind)
    except KeyError:
        raise NotImplementedError(absent.said_of_op(kind)) from None
    for key in given:
        if key not in definition.attrs and not any(key == a.name for a in definition.inputs):
            raise TypeError("%s() got an unexpected keyword argument '%s'" % (kind, key))
    for arg in definition.inputs:
        if arg.name not in given:
            raise TypeError("No argument for input %s found in %s" % (arg.name, kind))
    graph = get_default_graph()
    values = [given[a.name] for a in definition.inputs]
    # The body of a function captures tensors from outside instead.
    for v in _flat(values) if graph.outer is None else ():
        owner = getattr(v, "graph", None)
        if isinstance(owner, Graph):
            if owner is not graph and graph is not _graph_of_first(values):
                graph = owner
            break
    call = _Call(definition, given)
    if all(_ready(a, v) for a, v in zip(definition.inputs, values)) and graph._context is None:
        try:
            return _make(graph, definition, call, call.inputs(), name or kind)
        except Exception:
            _use_up(graph, name or kind)
            raise
    with graph.as_default(), graph.name_scope(name or kind) as scope:
        return _make(graph, definition, call, call.inputs(), scope)


def _use_up(graph, name):
    """Uses up the name of a node that was refused, as TensorFlow does, which opens the scope of the name first."""
    if not name.endswith("/"):
        graph._c.unique(name, True)


def _graph_of_first(values):
    for v in _flat(values):
        owner = getattr(v, "graph", None)
        if isinstance(owner, Graph):
            return owner
    return None


def _make(graph, definition, call, inputs, name):
    if graph.outer is not None:
        inputs = [graph.capture(t) for t in inputs]
    for t in inputs:
        if t.op.graph is not graph:
            raise ValueError("%s must be from the same graph as %s." % (
                t, next(o for o in inputs if o.op.graph is graph) if any(o.op.graph is graph for o in inputs) else graph))
    return graph._add(definition.name, name, [t._out for t in inputs], call.attrs())


def op(kind, name=None, **given):
    """Adds a node like add_op, and returns the output, a list or named tuple of outputs, or the Operation if there are
    none.
    """
    return results(add_op(kind, name, **given), opdef.get(kind))


def results(made, definition):
    """Returns the outputs of a node: a single one, or a named tuple. An output with several tensors is a list."""
    outputs = numeric_checks.outputs_of(made) if numeric_checks.on else made.outputs
    if not definition.outputs:
        return made
    parts, at = [], 0
    for arg in definition.outputs:
        if not (arg.number_attr or arg.list_attr):
            parts.append(outputs[at])
            at += 1
            continue
        found = made.get_attr(arg.list_attr or arg.number_attr) if len(definition.outputs) > 1 else outputs
        count = found if isinstance(found, int) else len(found)
        parts.append(list(outputs[at:at + count]))
        at += count
    return parts[0] if len(parts) == 1 else definition.result(*parts)


def is_number(value):
    return isinstance(value, numbers.Number)


__all__ = ["add_op", "constant", "constant_value", "convert_to_tensor", "name_scope", "op", "triple"]
