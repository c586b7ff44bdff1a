"""Converts the definition of an op to TensorFlow's message OpDef."""
import re

from weft._core.framework import dtypes, opdef, protos

_stored = {}


def _fill_args(made, args):
    for arg in args:
        made.add(name=arg.name, type=int(arg.type.as_datatype_enum) if arg.type is not None else 0, type_attr=arg.type_attr or "",
                 number_attr=arg.number_attr or "", type_list_attr=arg.list_attr or "", is_ref=arg.is_ref)


def _number(text):
    return int(dtypes.as_dtype(text).as_datatype_enum)


_SCALARS = {"int": ("i", int), "float": ("f", float), "bool": ("b", lambda text: text == "true"), "type": ("type", _number),
            "string": ("s", lambda text: text[1:-1].encode())}


def _fill_shape(made, text):
    if text == "?":
        made.unknown_rank = True
    for size in re.findall(r"-?\d+", text):
        made.dim.add(size=int(size))
    made.SetInParent()


def _fill_tensor(made, text):
    """Parses a tensor such as tensor(uint8,[4],255 0 0 255) into a TensorProto."""
    kind, shape, values = re.match(r"tensor\((\w+),\[([\d,]*)\],(.*)\)$", text).groups()
    made.dtype = _number(kind)
    for size in shape.split(","):
        made.tensor_shape.dim.add(size=int(size))
    made.int_val.extend(int(v) for v in values.split())


def _fill_default(made, attr):
    """Writes the default of an attribute, which a definition has as text, into an AttrValue."""
    if attr.is_list:
        made.list.SetInParent()
        if attr.kind in _SCALARS:
            field, read = _SCALARS[attr.kind]
            getattr(made.list, field).extend(read(word) for word in re.findall(r"'[^']*'|[^\[\],\s]+", attr.default))
    elif attr.kind in _SCALARS:
        field, read = _SCALARS[attr.kind]
        setattr(made, field, read(attr.default))
    elif attr.kind == "shape":
        _fill_shape(made.shape, attr.default)
    elif attr.kind == "tensor":
        _fill_tensor(made.tensor, attr.default)


def _fill_attr(made, attr):
    made.name, made.type = attr.name, "list(%s)" % attr.kind if attr.is_list else attr.kind
    if attr.default is not None:
        _fill_default(made.default_value, attr)
    if attr.allowed is not None:
        field, read = ("type", _number) if attr.kind == "type" else ("s", lambda word: word.strip("'").encode())
        getattr(made.allowed_values.list, field).extend(read(word) for word in attr.allowed[1:-1].split(","))
    if attr.least is not None:
        made.has_minimum, made.minimum = True, int(attr.least)


def get(name):
    """Returns the OpDef of an op, or None if there is no such op."""
    if name not in opdef.names():
        return None
    if name not in _stored:
        definition, made = opdef.get(name), protos.OpDef(name=name, is_stateful=opdef.get(name).is_stateful)
        _fill_args(made.input_arg, definition.inputs)
        _fill_args(made.output_arg, definition.outputs)
        for attr in definition.attrs.values():
            _fill_attr(made.attr.add(), attr)
        _stored[name] = made.SerializeToString()
    return protos.OpDef.FromString(_stored[name])
