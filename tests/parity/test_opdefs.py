"""Each of our op definitions, held against TensorFlow's registry."""
import re

import pytest
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry, tensor_util

import weftlib

OPS = {o["name"]: o for o in weftlib.ops()}
NUMBER = ("float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
          "complex128,half,uint32,uint64")
REAL = "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64"

# Ops of tf.contrib's own libraries as TensorFlow 1.15 defined them; TensorFlow 2.15 has none of them.
CONTRIB = (
    "BytesInUse() -> (out:int64) ; stateful",
    "BytesLimit() -> (out:int64) ; stateful",
    "DecodeAudio(contents:string) -> (sampled_audio:float) | file_format:string samples_per_second:int channel_count:int",
    "DecodeAudioV2(contents:string, file_format:string, samples_per_second:int32, channel_count:int32, stream:string) -> "
    "(sampled_audio:float)",
    "DecodeVideo(contents:string) -> (output:uint8)",
    "EncodeAudio(sampled_audio:float) -> (contents:string) | file_format:string samples_per_second:int bits_per_second:int=192000",
    "EncodeAudioV2(sampled_audio:float, file_format:string, samples_per_second:int32, bits_per_second:int32) -> (contents:string)",
    "ForestGrow(nodes:&float, slots:&int32, splits:&float, features:float, targets:float, weights:float, drawn:int32) -> "
    "(size:int32) | outputs:int regression:bool=false split_after_samples:float check_every_samples:float=0.0 "
    "dominate_fraction:float=0.0",
    "ForestPredict(nodes:float, slots:int32, features:float) -> (predictions:float, leaf:int32) | outputs:int "
    "regression:bool=false valid_leaf_threshold:float=1.0",
    "GatherTree(step_ids:T, parent_ids:T, max_sequence_lengths:int32, end_token:T) -> (beams:T) | T:type{int32}",
    "MaxBytesInUse() -> (out:int64) ; stateful",
    "ObtainNext(list:string, counter:&int64) -> (out_element:string)",
)


def type_name(t):
    return types_pb2.DataType.Name(t)[3:].lower()


def arg_text(a):
    if a.type_list_attr:
        t = "@" + a.type_list_attr
    else:
        t = a.type_attr or type_name(a.type)
        if a.number_attr:
            t = f"{a.number_attr}*{t}"
    return f"{a.name}:{'&' if a.is_ref else ''}{t}"


def shape_text(s):
    return "?" if s.unknown_rank else "[" + ",".join(str(d.size) for d in s.dim) + "]"


def value_text(v):
    kind = v.WhichOneof("value")
    if kind == "tensor":
        a = tensor_util.MakeNdarray(v.tensor)
        dims = str(list(a.shape)).replace(" ", "")
        return f"tensor({type_name(v.tensor.dtype)},{dims},{' '.join(map(str, a.ravel()))})"
    if kind == "list":
        l = v.list
        items = [f"'{x.decode()}'" for x in l.s] + [str(x) for x in l.i] + ["%.9g" % x for x in l.f]
        items += [str(x).lower() for x in l.b] + [type_name(x) for x in l.type] + [shape_text(x) for x in l.shape]
        return "[" + ",".join(items) + "]"
    return {"s": lambda: f"'{v.s.decode()}'", "i": lambda: str(v.i), "f": lambda: "%.9g" % v.f,
            "b": lambda: str(v.b).lower(), "type": lambda: type_name(v.type), "shape": lambda: shape_text(v.shape)}[kind]()


def attr_text(a):
    s = f"{a.name}:{a.type}"
    if a.HasField("allowed_values"):
        s += "{" + value_text(a.allowed_values)[1:-1] + "}"
    if a.has_minimum:
        s += f">={a.minimum}"
    if a.HasField("default_value"):
        s += "=" + value_text(a.default_value)
    return s


def definition(o):
    args = lambda list_: "(" + ", ".join(arg_text(a) for a in list_) + ")"
    s = f"{o.name}{args(o.input_arg)} -> {args(o.output_arg)}"
    if o.attr:
        s += " | " + " ".join(attr_text(a) for a in o.attr)
    flags = [n for n, b in (("stateful", o.is_stateful), ("commutative", o.is_commutative),
                            ("aggregate", o.is_aggregate), ("uninit", o.allows_uninitialized_input)) if b]
    return s + (" ; " + " ".join(flags) if flags else "")


@pytest.mark.parametrize("name", sorted(OPS))
def test_definition_is_tensorflows(name):
    theirs, contrib = op_def_registry.get(name), {line.partition("(")[0]: line for line in CONTRIB}
    assert (theirs is None) == (name in contrib), f"TensorFlow has no op {name}"
    want = (contrib[name] if theirs is None else
            definition(theirs).replace("{" + NUMBER + "}", "{number}").replace("{" + REAL + "}", "{real}"))
    assert re.sub(r"\s+", " ", OPS[name]["definition"]).strip() == re.sub(r"\s+", " ", want)
