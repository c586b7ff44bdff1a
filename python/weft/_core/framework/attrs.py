"""Converts attributes from Python values to arguments of the extension, and from AttrValue to Python values."""
from weft._core.framework import protos, tensor_shape
from weft._core.framework.dtypes import DType, as_dtype

_LETTER = {"int": "i", "float": "f", "bool": "b", "type": "t", "string": "s", "shape": "p", "tensor": "T"}


def to_bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def _one(kind, value, where):
    try:
        if kind == "int":
            if not -2**63 <= int(value) < 2**63:
                raise OverflowError("Value out of range: %d" % int(value))
            return int(value)
        if kind == "float":
            return float(value)
        if kind == "bool":
            if not isinstance(value, (bool, int)):
                raise TypeError
            return bool(value)
        if kind == "type":
            return as_dtype(value).base_dtype.as_datatype_enum
        if kind == "string":
            return to_bytes(value)
        if kind == "shape":
            value = tensor_shape.dims_of(shape_from(value))
    except OverflowError as e:
        raise ValueError("Attr %s: %s" % (where, e)) from None
    except (TypeError, ValueError):
        raise TypeError("Expected %s for argument '%s' not %r." % (kind, where, value)) from None
    if kind == "shape":
        _check_dims(value, where)
    return value


def _check_dims(dims, where):
    for d in dims or ():
        if d is not None and d >= 2**63:
            raise TypeError("Error converting %s (arg name = %s) to a TensorShape: Value out of range: %d" % (list(dims), where, d))


def shape_from(value):
    """Returns a TensorShape for a shape or a TensorShapeProto."""
    if isinstance(value, protos.TensorShapeProto):
        return tensor_shape.TensorShape(None if value.unknown_rank else [None if d.size < 0 else d.size for d in value.dim])
    return tensor_shape.as_shape(value)


def shape_proto(shape):
    dims = tensor_shape.dims_of(shape)
    if dims is None:
        return protos.TensorShapeProto(unknown_rank=True)
    made = protos.TensorShapeProto()
    for d in dims:
        made.dim.add(size=-1 if d is None else d)
    return made


def row(name, kind, is_list, value):
    """Returns one attribute in the form that the extension takes: (name, letter, value)."""
    if isinstance(value, protos.AttrValue):
        return (name, "A", value.SerializeToString())
    if kind == "func":
        made = protos.AttrValue()
        made.func.name = getattr(value, "name", value)
        return (name, "A", made.SerializeToString())
    if not is_list:
        return (name, _LETTER[kind], _one(kind, value, name))
    if not isinstance(value, (list, tuple)):
        if not hasattr(value, "__iter__") or isinstance(value, (str, bytes)):
            raise TypeError("Expected list for attr %s" % name)
    values = [_one(kind, v, name) for v in value]
    if kind == "int":
        return (name, "I", values)
    if kind == "type":
        return (name, "Y", values)
    made = protos.AttrValue()
    if kind == "float":
        made.list.f.extend(values)
    elif kind == "bool":
        made.list.b.extend(values)
    elif kind == "string":
        made.list.s.extend(values)
    elif kind == "shape":
        made.list.shape.extend(shape_proto(v) for v in values)
    elif values:
        raise TypeError("attr %s: a list of %s is not possible" % (name, kind))
    data = made.SerializeToString() if values else b"\x0a\x00"  # An empty list must still be written as a list.
    return (name, "A", data)


def attr_rows(attrs):
    """Returns the attributes of Graph.create_op, {name: AttrValue}, in the form that the extension takes."""
    return [row(name, "tensor", False, value) for name, value in attrs.items()]


def attr_to_python(value):
    """Returns the Python value of an AttrValue, as Operation.get_attr does."""
    for name in ("s", "i", "f", "b", "type", "shape", "tensor", "list", "func", "placeholder"):
        if name in value._values:
            found = value._values[name]
            if name == "type":
                return DType(found)
            if name == "list":
                return _list_to_python(found)
            return found
    return []


def _list_to_python(found):
    for name in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = found._values.get(name)
        if items:
            return [DType(v) for v in items] if name == "type" else list(items)
    return []
