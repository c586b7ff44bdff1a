"""A NodeDef in the JSON form of protocol buffers, as the configurations of Keras keep it.

64-bit integers are strings, bytes are base64, enums are names, and fields with their default values are left out.
"""
import base64

from weft._core.framework.dtypes import as_dtype
from weft._core.framework.protos import NodeDef


def to_dict(node_def):
    made = {"name": node_def.name, "op": node_def.op, "input": list(node_def.input),
            "attr": {k: _value_to_dict(v) for k, v in node_def.attr.items()}}
    return {k: v for k, v in made.items() if v}


def _type_name(number):
    return "DT_" + as_dtype(number).name.upper().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE").replace("FLOAT16", "HALF")


def _value_to_dict(value):
    kind = value.WhichOneof("value")
    if kind == "s":
        return {"s": base64.b64encode(value.s).decode()}
    if kind == "i":
        return {"i": str(value.i)}
    if kind in ("f", "b"):
        return {kind: getattr(value, kind)}
    if kind == "type":
        return {"type": _type_name(value.type)}
    if kind == "shape":
        shape = value.shape
        return {"shape": {"unknownRank": True} if shape.unknown_rank else {"dim": [{"size": str(d.size)} for d in shape.dim]}
                if len(shape.dim) else {}}
    if kind == "list":
        given = value.list
        made = {"s": [base64.b64encode(s).decode() for s in given.s], "i": [str(i) for i in given.i], "f": list(given.f),
                "b": list(given.b), "type": [_type_name(t) for t in given.type]}
        return {"list": {k: v for k, v in made.items() if v}}
    raise NotImplementedError("get_config of an operation with an attribute of kind %s is not in Weft: write a tf.keras.layers.Lambda "
                              "around it" % kind)


_KINDS = {"s": lambda v: base64.b64decode(v), "i": int, "f": float, "b": bool,
          "type": lambda v: _type_number(v)}


def _type_number(name):
    short = name.removeprefix("DT_").lower()
    return as_dtype({"float": "float32", "double": "float64", "half": "float16"}.get(short, short)).as_datatype_enum


def from_dict(given):
    node = NodeDef(name=given.get("name", ""), op=given["op"])
    node.input.extend(given.get("input", []))
    for key, value in given.get("attr", {}).items():
        _set_value(node.attr[key], value)
    return node


def _set_value(attr, value):
    for kind, found in value.items():
        if kind in _KINDS:
            setattr(attr, kind, _KINDS[kind](found))
        elif kind == "shape":
            attr.shape.unknown_rank = bool(found.get("unknownRank"))
            for d in found.get("dim", []):
                attr.shape.dim.add(size=int(d["size"]))
        elif kind == "list":
            for k, items in found.items():
                getattr(attr.list, k).extend(_KINDS[k](i) for i in items)
