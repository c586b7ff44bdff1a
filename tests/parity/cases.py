"""An op's cases (graph/op.h, "cases") turned into GraphDefs and inputs that TensorFlow and Weft both run."""
import re
import zlib

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, graph_pb2
from tensorflow.python.framework import op_def_registry

NO_GRAD, RANDOM, FIXED_TYPE, NO_PARITY = 1, 2, 4, 8

SHORT = {"f16": tf.half, "bf16": tf.bfloat16, "f32": tf.float32, "f64": tf.float64, "i8": tf.int8, "i16": tf.int16,
         "i32": tf.int32, "i64": tf.int64, "u8": tf.uint8, "u16": tf.uint16, "u32": tf.uint32, "u64": tf.uint64,
         "bool": tf.bool, "str": tf.string, "c64": tf.complex64, "c128": tf.complex128,
         "qi8": tf.qint8, "qi16": tf.qint16, "qi32": tf.qint32, "qu8": tf.quint8, "qu16": tf.quint16}


class Input:
    def __init__(self, dtype, value, is_var):
        self.dtype, self.value, self.is_var = dtype, value, is_var

    def cast(self, dtype):
        """The same value as another number type; signs dropped for unsigned ones.  Fractions become whole numbers
        away from zero: a divisor stays one (TensorFlow dies of some integer divisions by zero).  A complex number gets an
        imaginary part, without which a conjugate would be the number itself."""
        v = self.value
        if dtype.is_complex and not np.iscomplexobj(v):
            v = v + 0.5j * v.reshape(-1)[::-1].reshape(v.shape)
        if dtype.is_unsigned or dtype == tf.bool:
            v = np.abs(v.real if np.iscomplexobj(v) else v)
        if np.iscomplexobj(v) and not dtype.is_complex:
            v = v.real
        if dtype.is_integer and v.dtype.kind not in "iub":
            v = np.sign(v.astype(np.float64)) * np.ceil(np.abs(v.astype(np.float64)))
        return Input(dtype, v.astype(dtype.as_numpy_dtype), self.is_var)


def split_outside_quotes(text, sep):
    parts, quoted, at = [""], False, 0
    while at < len(text):
        c = text[at]
        if c == "\\" and quoted:
            parts[-1] += text[at:at + 2]
            at += 2
            continue
        if c == '"':
            quoted = not quoted
        if c == sep and not quoted:
            parts.append("")
        else:
            parts[-1] += c
        at += 1
    return [p.strip() for p in parts]


def generate(kind, dtype, shape, rng):
    n = int(np.prod(shape, dtype=np.int64))
    if kind.startswith("below:"):
        return rng.randint(0, int(kind[6:]), size=n)
    if kind == "rand":
        if dtype == tf.bool:
            return rng.randint(0, 2, size=n)
        if dtype.is_complex:
            return rng.uniform(-1, 1, n) + 1j * rng.uniform(-1, 1, n)
        return rng.randint(-5, 6, size=n) if dtype.is_integer else rng.uniform(-1, 1, n)
    if kind == "pos":
        return rng.randint(1, 6, size=n) if dtype.is_integer else rng.uniform(0.1, 2, n)
    return {"unit": lambda: rng.uniform(0.001, 0.999, n), "seq": lambda: np.arange(n), "normal": lambda: rng.randn(n)}[kind]()


def parse_value(text, rng):
    m = re.match(r"(&?)(\w+)\[([-\d,\s]*)\]\s*(.*)$", text, re.S)
    if not m:
        raise ValueError(f"cannot read the value {text!r}")
    dtype = SHORT[m.group(2)]
    shape = [int(d) for d in m.group(3).split(",") if d.strip()]
    n = int(np.prod(shape, dtype=np.int64))
    words = split_outside_quotes(m.group(4), " ") if m.group(4) else []
    words = [w for w in words if w]
    if dtype == tf.string:
        items = [w[1:-1].encode().decode("unicode_escape").encode("latin1") for w in words] or [b""]
        items = (items + [items[-1]] * n)[:n]
        value = np.empty(n, dtype=object)
        value[:] = items
    elif words and re.match(r"[a-z]+(:\d+)?$", words[0]) and words[0] not in ("true", "false", "nan", "inf"):
        value = generate(words[0], dtype, shape, rng)
    else:
        items = [1 if w == "true" else 0 if w == "false" else complex(w.replace("i", "j")) if dtype.is_complex
                 else int(w, 0) if dtype.is_integer else float(w) for w in words] or [0]
        value = np.array((items + [items[-1]] * n)[:n])
    if dtype != tf.string:
        if dtype.is_integer and value.dtype == object:
            value = np.array([int(v) % (1 << 64) for v in value], dtype=np.uint64)
        value = value.astype(dtype.as_numpy_dtype)
    return Input(dtype, value.reshape(shape), bool(m.group(1)))


def parse_inputs(case, seed_text):
    rng = np.random.RandomState(zlib.crc32(seed_text.encode()) & 0x7FFFFFFF)
    text = case["in"].strip()
    return [parse_value(p, rng) for p in split_outside_quotes(text, ";") if p] if text else []


def parse_attrs(text):
    """'axis=1 padding='SAME' strides=[1,2] T=float' into (name, text) pairs."""
    return re.findall(r"(\w+)=('(?:[^']*)'|\[[^\]]*(?:\][^\]\s]*)*\]|\S+)", text or "")


def type_enum(word):
    names = {"float": "float32", "double": "float64"}
    return tf.as_dtype(names.get(word, word)).as_datatype_enum


def set_scalar(value, kind, word, in_list):
    def put(field, v):
        if in_list:
            getattr(value.list, field).append(v)
        else:
            setattr(value, field, v)
    if kind == "int":
        put("i", int(word))
    elif kind == "float":
        put("f", float(word))
    elif kind == "bool":
        put("b", word == "true")
    elif kind == "string":
        put("s", word.strip("'").encode())
    elif kind == "type":
        put("type", type_enum(word))
    elif kind == "shape":
        shape = value.list.shape.add() if in_list else value.shape
        if word == "?":
            shape.unknown_rank = True
        else:
            shape.SetInParent()
            for d in word.strip("[]").split(","):
                if d.strip():
                    shape.dim.add().size = int(d)
    else:
        raise ValueError(f"attributes of kind {kind} are not for cases")


def attr_value(attr_def, text):
    value = attr_value_pb2.AttrValue()
    if attr_def.type.startswith("list("):
        kind = attr_def.type[5:-1]
        value.list.SetInParent()
        inner = text.strip()[1:-1].strip()
        words = re.findall(r"\[[^\]]*\]|'[^']*'|[^,\s]+", inner)
        for w in words:
            set_scalar(value, kind, w, True)
    else:
        set_scalar(value, attr_def.type, text, False)
    return value


class Node:
    """The one node under test: `op`, fed by placeholders in0, in1, ... and variables for & inputs."""

    def __init__(self, name, inputs, attr_text):
        self.op = op_def_registry.get(name)
        self.inputs, self.attr_text = inputs, attr_text
        self.graph_def = graph_pb2.GraphDef()
        # An op that was removed runs in graphs of the versions before.
        self.graph_def.versions.producer = (self.op.deprecation.version or tf.version.GRAPH_DEF_VERSION + 1) - 1
        self.attrs = {}
        defs = {a.name: a for a in self.op.attr}
        for key, text in parse_attrs(attr_text):
            self.attrs[key] = attr_value(defs[key], text)
        self.infer_attrs()
        self.feeds, self.init, self.variables = {}, [], []
        self.build()

    def arg_of_input(self):
        """For each input its ArgDef, lists flattened."""
        out = []
        for arg in self.op.input_arg:
            out += [arg] * self.count(arg, len(out))
        return out

    def count(self, arg, used):
        for attr in (arg.number_attr, arg.type_list_attr):
            if not attr:
                continue
            if attr in self.attrs:
                return self.attrs[attr].i if arg.number_attr else len(self.attrs[attr].list.type)
            later = self.op.input_arg[list(self.op.input_arg).index(arg) + 1:]
            return len(self.inputs) - used - sum(1 for _ in later)
        return 1

    def infer_attrs(self):
        at = 0
        for arg in self.op.input_arg:
            n = self.count(arg, at)
            mine = self.inputs[at:at + n]
            at += n
            if arg.number_attr:
                self.attrs.setdefault(arg.number_attr, attr_value_pb2.AttrValue(i=n))
            if arg.type_attr and mine:
                self.attrs.setdefault(arg.type_attr, attr_value_pb2.AttrValue(type=mine[0].dtype.as_datatype_enum))
            if arg.type_list_attr and arg.type_list_attr not in self.attrs:
                value = attr_value_pb2.AttrValue()
                value.list.SetInParent()
                value.list.type.extend(i.dtype.as_datatype_enum for i in mine)
                self.attrs[arg.type_list_attr] = value
        for i in self.inputs:  # resource variables: dtype and T are the variable's
            for key in ("dtype", "T"):
                if i.is_var and any(a.name == key for a in self.op.attr):
                    self.attrs.setdefault(key, attr_value_pb2.AttrValue(type=i.dtype.as_datatype_enum))

    def add(self, name, op, inputs=(), **attrs):
        node = self.graph_def.node.add(name=name, op=op, input=inputs)
        for k, v in attrs.items():
            if isinstance(v, attr_value_pb2.AttrValue):
                node.attr[k].CopyFrom(v)
            elif isinstance(v, tf.DType):
                node.attr[k].type = v.as_datatype_enum
            else:
                node.attr[k].shape.CopyFrom(v)
        return name

    def build(self):
        names = []
        for i, (inp, arg) in enumerate(zip(self.inputs, self.arg_of_input())):
            shape = tf.TensorShape(inp.value.shape).as_proto()
            self.add(f"in{i}", "Placeholder", dtype=inp.dtype, shape=shape)
            self.feeds[f"in{i}:0"] = inp.value
            if not inp.is_var:
                names.append(f"in{i}")
            elif arg.is_ref:
                names.append(self.add(f"var{i}", "VariableV2", dtype=inp.dtype, shape=shape))
                self.init.append(self.add(f"init{i}", "Assign", [f"var{i}", f"in{i}"], T=inp.dtype))
                self.variables.append(f"var{i}:0")
            else:
                names.append(self.add(f"var{i}", "VarHandleOp", dtype=inp.dtype, shape=shape,
                                      shared_name=attr_value_pb2.AttrValue(s=f"var{i}".encode())))
                self.init.append(self.add(f"init{i}", "AssignVariableOp", [f"var{i}", f"in{i}"], dtype=inp.dtype))
                self.add(f"read{i}", "ReadVariableOp", [f"var{i}"], dtype=inp.dtype)
                self.variables.append(f"read{i}:0")
        self.add("op", self.op.name, names, **self.attrs)

    def outputs(self):
        """Names of the outputs that can be fetched, with their types."""
        names, at = [], 0
        for arg in self.op.output_arg:
            if arg.type_list_attr:
                types = list(self.value(arg.type_list_attr).list.type)
            else:
                t = arg.type or self.value(arg.type_attr).type
                types = [t] * (self.value(arg.number_attr).i if arg.number_attr else 1)
            for t in types:
                if tf.as_dtype(t).base_dtype not in (tf.resource, tf.variant):
                    names.append((f"op:{at}", tf.as_dtype(t).base_dtype))
                at += 1
        return names

    def value(self, attr):
        if attr in self.attrs:
            return self.attrs[attr]
        return next(a.default_value for a in self.op.attr if a.name == attr)


ALL_TYPES = [tf.half, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
             tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128]


def variants(name, case):
    """(label, inputs, attr text) of a case: as written, and recast to every other type each type attr allows."""
    inputs = parse_inputs(case, name + case["in"])
    yield "", inputs, case["attr"]
    if case["flags"] & FIXED_TYPE:
        return
    node = Node(name, inputs, case["attr"])
    args = node.arg_of_input()
    explicit = {k for k, _ in parse_attrs(case["attr"])}
    for attr in node.op.attr:
        at = [i for i, a in enumerate(args) if a.type_attr == attr.name
              or (inputs[i].is_var and a.type == tf.resource.as_datatype_enum and attr.name in ("T", "dtype"))]
        if attr.type != "type" or not at or attr.name in explicit:
            continue
        allowed = [tf.as_dtype(t) for t in attr.allowed_values.list.type] or ALL_TYPES
        for dtype in allowed:
            if dtype not in ALL_TYPES or dtype == inputs[at[0]].dtype or inputs[at[0]].dtype == tf.string:
                continue
            yield f"{attr.name}={dtype.name}", [x.cast(dtype) if i in at else x for i, x in enumerate(inputs)], case["attr"]
