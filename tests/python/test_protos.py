"""The table of messages is TensorFlow's: every field's number, kind and shape, held against the descriptors."""
import importlib
import random

import pytest
from google.protobuf import message, message_factory
from tensorflow.core.example import example_pb2
from tensorflow.core.framework import (
    attr_value_pb2,
    device_attributes_pb2,
    function_pb2,
    graph_pb2,
    op_def_pb2,
    step_stats_pb2,
    summary_pb2,
    variable_pb2,
)
from tensorflow.core.protobuf import (
    cluster_pb2,
    config_pb2,
    meta_graph_pb2,
    queue_runner_pb2,
    saved_model_pb2,
    saver_pb2,
    tensorflow_server_pb2,
    trackable_object_graph_pb2,
)
from tensorflow.core.util import event_pb2

import weft
from weft._core.framework import proto, protos, protos_rare
from weft._core.run import error_codes_pb2 as our_codes

KINDS = {1: "double", 2: "float", 3: "int", 4: "int", 5: "int32", 6: "fixed64", 8: "bool", 9: "string", 12: "bytes", 13: "int",
         14: "enum"}
FILES = [config_pb2, graph_pb2, meta_graph_pb2, saver_pb2, queue_runner_pb2, cluster_pb2, tensorflow_server_pb2, event_pb2,
         summary_pb2, example_pb2, variable_pb2, device_attributes_pb2, step_stats_pb2, saved_model_pb2,
         trackable_object_graph_pb2, attr_value_pb2, function_pb2, op_def_pb2]
RARE = [importlib.import_module("tensorflow.core.%s_pb2" % name) for name in (
    "example.example_parser_configuration framework.kernel_def framework.reader_base framework.resource_handle framework.tensor "
    "framework.tensor_slice framework.api_def framework.log_memory protobuf.control_flow protobuf.device_properties "
    "protobuf.named_tensor protobuf.verifier_config util.memmapped_file_system util.saved_tensor_slice protobuf.config "
    "grappler.costs.op_performance_data profiler.tfprof_options protobuf.transport_options").split()]
OURS = {name: value for module in (protos, protos_rare) for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, proto.Message)}


def descriptors():
    for file in FILES + RARE:
        yield from file.DESCRIPTOR.message_types_by_name.items()


@pytest.mark.parametrize("name,theirs", [(n, d) for n, d in descriptors() if n in OURS])
def test_fields_have_tensorflows_numbers(name, theirs):
    for field, (number, kind, shape) in OURS[name].FIELDS.items():
        want = theirs.fields_by_name[field]
        entry = want.message_type is not None and want.message_type.GetOptions().map_entry
        assert number == want.number
        assert (shape in ("map", "imap")) == entry and (shape == "one") == (want.label != 3)
        if entry:
            assert (shape == "imap") == (want.message_type.fields_by_name["key"].type != 9)
            want = want.message_type.fields_by_name["value"]
        assert kind == KINDS[want.type] if isinstance(kind, str) else want.message_type is not None


@pytest.mark.parametrize("file", RARE, ids=lambda file: file.__name__)
def test_all_messages_of_a_file_are_there(file):
    """With all fields, oneofs and enumerations; the bytes of each message are read by the other system."""
    for name, theirs in file.DESCRIPTOR.message_types_by_name.items():
        ours = getattr(protos, name)
        if name not in vars(protos_rare):
            continue
        assert set(ours.FIELDS) == set(theirs.fields_by_name)
        assert {o.name: {f.name for f in o.fields} for o in theirs.oneofs} == {
            group: set(members) for group, members in ours._groups().items()}
        for e in theirs.enum_types:
            assert getattr(ours, e.name).items() == [(v.name, v.number) for v in e.values]
        made = message_factory.GetMessageClass(theirs)()
        for field in theirs.fields:
            if field.type == 9 and field.label == 1:
                setattr(made, field.name, "some")
            elif field.type in (3, 5, 13) and field.label == 3:
                getattr(made, field.name).extend([1, 2**30])
        assert ours.FromString(made.SerializeToString()).SerializeToString(deterministic=True) == made.SerializeToString()


def test_codes_of_errors_are_tensorflows():
    from tensorflow.core.protobuf import error_codes_pb2
    assert sorted(our_codes.Code.items()) == sorted(error_codes_pb2.Code.items()) and our_codes.NOT_FOUND == error_codes_pb2.NOT_FOUND


def test_task_zero_survives():
    spec = weft.train.ClusterSpec({"ps": ["a:1", "b:2"]})
    again = protos.ClusterDef.FromString(cluster_pb2.ClusterDef.FromString(
        spec.as_cluster_def().SerializeToString()).SerializeToString())
    assert weft.train.ClusterSpec(again).as_dict() == {"ps": ["a:1", "b:2"]}


@pytest.mark.parametrize("set_it", [
    lambda tf: setattr(tf.ConfigProto(), "intra_op_parallelism_threads", 2**32 + 1),
    lambda tf: tf.ConfigProto(inter_op_parallelism_threads=-2**31 - 1),
    lambda tf: setattr(tf.ConfigProto(), "operation_timeout_in_ms", 2**64),
    lambda tf: tf.ConfigProto(device_count={"CPU": 2**32}).SerializeToString(),
    lambda tf: tf.train.ClusterSpec({"worker": {2**32: "a:1"}}).as_cluster_def().SerializeToString(),
    lambda tf: tf.train.Server({"worker": ["localhost:0"]}, job_name="worker", task_index=2**32, start=False),
], ids=["threads", "negative", "64 bits", "device_count", "task", "task_index"])
def test_a_number_that_a_field_does_not_hold_is_refused(set_it):
    import tensorflow.compat.v1 as oracle
    for tf in (weft, oracle):
        with pytest.raises((ValueError, OverflowError), match="[0-9]{10}|int"):
            set_it(tf)


def test_functions_of_a_graph_can_be_read():
    """A program that looks into graph_def.library sees TensorFlow's functions and calls, and writes them back whole."""
    import tensorflow.compat.v1 as oracle
    with oracle.Graph().as_default() as g:
        oracle.data.Dataset.range(3).map(lambda x: x * 2 + 1).make_one_shot_iterator().get_next()
    theirs = g.as_graph_def()
    ours = protos.GraphDef.FromString(theirs.SerializeToString())

    def told(graph_def):
        return sorted((f.signature.name, [a.name for a in f.signature.input_arg], sorted((n.name, n.op) for n in f.node_def),
                       sorted(f.ret.items()), sorted(n.attr["f"].func.name for n in f.node_def if "f" in n.attr))
                      for f in graph_def.library.function)
    assert len(told(theirs)) > 1 and told(ours) == told(theirs)
    assert graph_pb2.GraphDef.FromString(ours.SerializeToString()) == theirs


def test_text_names_the_numbers_of_each_enumeration():
    from tensorflow.core.protobuf import rewriter_config_pb2
    for field, (_, kind, _) in protos.RewriterConfig.FIELDS.items():
        if kind == "enum":
            for number in range(1, 3):
                theirs, ours = rewriter_config_pb2.RewriterConfig(), protos.RewriterConfig()
                setattr(theirs, field, number)
                setattr(ours, field, number)
                assert str(ours) == str(theirs)


# ---- what messages do with values, as protobuf's ----

def messages_of(tf):
    """{name: function} of what programs do with messages; each gives a value or raises an error of a class."""
    train = tf.train

    def group():
        made = tf.AttrValue()
        made.i, made.f = 3, 2.0
        return made.WhichOneof("value"), made.HasField("i"), made.i

    def group_by_reference():
        made = tf.AttrValue(i=3)
        made.list.i.append(4)
        return made.WhichOneof("value"), str(made)

    def zero_in_a_group():
        made = tf.AttrValue()
        made.i = 0
        return made.WhichOneof("value"), made.SerializeToString()

    def merged():
        made, other = tf.ConfigProto(), tf.ConfigProto()
        made.gpu_options.allow_growth, other.gpu_options.per_process_gpu_memory_fraction = True, 0.5
        made.MergeFrom(other)
        return str(made)

    def copies():
        graph, node, options = tf.GraphDef(), tf.NodeDef(name="a"), tf.GPUOptions()
        graph.node.extend([node])
        config = tf.ConfigProto(gpu_options=options)
        node.name, options.allow_growth = "b", True
        return graph.node[0].name, config.gpu_options.allow_growth

    def described():
        of = tf.NodeDef.DESCRIPTOR.fields_by_name
        return (tf.Summary.Value.DESCRIPTOR.full_name, tf.GraphDef.DESCRIPTOR.name,
                [(of[n].number, of[n].label, of[n].type, of[n].cpp_type, of[n].full_name, of[n].default_value) for n in ("name", "input")],
                sorted(f.name for f in tf.train.Feature.DESCRIPTOR.oneofs_by_name["kind"].fields))

    def enumerations():
        options = tf.RunOptions(trace_level="FULL_TRACE")
        return (options.trace_level, tf.RunOptions.TraceLevel.Name(3), tf.RunOptions.TraceLevel.Value("NO_TRACE"),
                tf.OptimizerOptions.Level.keys())

    counts = tf.ConfigProto(device_count={"GPU": 2}).device_count
    return {
        "group": group, "group_by_reference": group_by_reference, "zero": zero_in_a_group, "merged": merged, "copies": copies,
        "described": described, "enumerations": enumerations,
        "other class": lambda: tf.ConfigProto().CopyFrom(tf.AttrValue()), "float in ints": lambda: train.Int64List(value=[1.5]),
        "text in ints": lambda: train.Int64List(value=["a"]), "int in bytes": lambda: train.BytesList(value=[1]),
        "text in floats": lambda: train.FloatList(value=["a"]), "no list": lambda: train.Int64List(value=3),
        "appended": lambda: train.Int64List().value.append(1.5), "wrong message": lambda: train.Feature(int64_list=train.FloatList()),
        "no message": lambda: train.Feature(int64_list=[1]), "unknown": lambda: setattr(tf.ConfigProto(), "gpuoptions", 3),
        "bool": lambda: setattr(tf.ConfigProto(), "allow_soft_placement", "x"), "presence": lambda: tf.NodeDef().HasField("name"),
        "int": lambda: setattr(tf.ConfigProto(), "intra_op_parallelism_threads", 2.0), "clear": lambda: tf.GraphDef().ClearField("x"),
        "map": lambda: tf.NodeDef().attr.__setitem__("z", tf.AttrValue()), "item": lambda: tf.GraphDef(node=[{}]).node.__setitem__(0, 1),
        "positional": lambda: train.Int64List([1]), "parse": lambda: tf.GraphDef.FromString(b"\x0a\xff"),
        "parse text": lambda: tf.GraphDef().ParseFromString("abc"), "deterministic": lambda: tf.NodeDef(name="a").SerializeToString(
            deterministic=True), "float": lambda: train.FloatList(value=[0.1]).value[0],
        "count": lambda: tf.ConfigProto().device_count["x"], "get": lambda: (counts["GPU"], counts.get("CPU", 7)),
        "bad count": lambda: tf.ConfigProto(device_count={"GPU": "a"})}


@pytest.mark.parametrize("name", sorted(messages_of(weft)))
def test_messages_take_and_refuse_values_as_protobufs_do(name):
    import tensorflow.compat.v1 as oracle

    def told(tf):
        try:
            return messages_of(tf)[name]()
        except Exception as e:
            return next(c.__name__ for c in type(e).__mro__ if c.__module__ != "google.protobuf.message" or c.__name__ == "DecodeError")
    assert told(weft) == told(oracle)


def test_json_of_messages_is_protobufs():
    import tensorflow.compat.v1 as oracle
    from google.protobuf import json_format

    def told(tf):
        example = tf.train.Example()
        example.features.feature["k"].int64_list.value.extend([1, 2])
        example.features.feature["b"].bytes_list.value.append(b"\xff")
        config = tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 1}, gpu_options={"allow_growth": True})
        node = tf.NodeDef(name="a", input=["b"])
        node.attr["T"].type = 1
        return (json_format.MessageToDict(example), json_format.MessageToJson(node), json_format.MessageToDict(
            config, preserving_proto_field_name=True), json_format.Parse('{"name": "q", "input": ["a"]}', tf.NodeDef()).input[0],
            json_format.ParseDict({"gpuOptions": {"allowGrowth": True}}, tf.ConfigProto()).gpu_options.allow_growth,
            json_format.ParseDict(json_format.MessageToDict(node), tf.NodeDef()).SerializeToString())
    assert told(weft) == told(oracle)


# ---- bytes ----

def both():
    """(our class, TensorFlow's) of every message that has a name of its own."""
    return [(OURS[d.name], message_factory.GetMessageClass(d)) for _, d in descriptors() if d.name in OURS]


def test_groups_are_tensorflows():
    for ours, theirs in both():
        want = {o.name: {f.name for f in o.fields}.intersection(ours.FIELDS) for o in theirs.DESCRIPTOR.oneofs}
        assert {name: set(members) for name, members in ours._groups().items()} == want, ours


def random_value(draw, field):
    if field.message_type is None and field.enum_type is not None:
        return draw.choice(field.enum_type.values).number
    return {9: lambda: draw.choice(["", "a", "\u00e4\n", "x" * 200]), 12: lambda: draw.randbytes(draw.choice([0, 1, 300])),
            8: lambda: draw.random() < 0.5, 1: draw.random, 2: lambda: draw.choice([0.0, 1.5, -2.0**-140, float("inf")]),
            5: lambda: draw.choice([0, 1, -1, 2**31 - 1, -2**31]), 13: lambda: draw.choice([0, 1, 2**32 - 1]),
            4: lambda: draw.choice([0, 1, 2**63 - 1]), 6: lambda: draw.choice([0, 1, 2**64 - 1]),
            3: lambda: draw.choice([0, 1, -1, 127, 128, 2**63 - 1, -2**63])}.get(field.type, lambda: 1)()


def fill(draw, message, depth=0):
    """Sets about half of the fields of one of TensorFlow's messages."""
    for field in message.DESCRIPTOR.fields:
        if draw.random() < 0.5 or depth > 4:
            continue
        entry = field.message_type is not None and field.message_type.GetOptions().map_entry
        if entry:
            value = field.message_type.fields_by_name["value"]
            for key in draw.sample(["", "b", "a"], 2) if field.message_type.fields_by_name["key"].type == 9 else [0, 7]:
                if value.message_type is not None:
                    fill(draw, getattr(message, field.name)[key], depth + 1)
                else:
                    getattr(message, field.name)[key] = random_value(draw, value)
        elif field.label == 3:
            for _ in range(draw.randrange(4)):
                held = getattr(message, field.name)
                fill(draw, held.add(), depth + 1) if field.message_type is not None else held.append(random_value(draw, field))
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            fill(draw, getattr(message, field.name), depth + 1)
        else:
            setattr(message, field.name, random_value(draw, field))
    return message


def test_bytes_are_protobufs():
    """What TensorFlow writes of a random message we read and write again, byte for byte, known fields or not."""
    draw = random.Random(5)
    for ours, theirs in both():
        for _ in range(4):
            data = fill(draw, theirs()).SerializeToString(deterministic=True)
            made = ours.FromString(data)
            assert theirs.FromString(made.SerializeToString()) == theirs.FromString(data), ours
            if not made._rest:
                assert len(made.SerializeToString()) == len(data), ours


def changed(draw, data):
    data = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 3])):
        at, n = draw.randrange(len(data)) if data else 0, draw.choice([1, 1, 1, 0, 2])
        data[at:at + n] = draw.choice([draw.randbytes(n), draw.randbytes(n), b"", b"\xff" * 9, b"\x0a\x7f"])
    return bytes(data[:draw.randrange(len(data) + 1)] if draw.random() < 0.2 else data)


def test_other_bytes_are_an_error_or_protobufs_message():
    """Bytes that protobuf reads we read as it does; others raise an error or are read, too (text that is no UTF-8)."""
    draw, read, refused = random.Random(6), 0, 0
    for ours, theirs in both():
        good = [fill(draw, theirs()).SerializeToString() for _ in range(3)]
        for _ in range(150):
            data = changed(draw, draw.choice(good))
            try:
                want = theirs.FromString(data)
            except message.DecodeError:
                want, refused = None, refused + 1
            try:
                made = ours.FromString(data)
            except message.DecodeError as e:
                assert want is None or "wire type" in str(e), (ours, data)  # protobuf knows groups, which nobody writes
                continue
            again = made.SerializeToString()
            if want is not None and want == theirs.FromString(data):  # a NaN is not equal to itself
                read += 1
                assert theirs.FromString(again) == want, (ours, data)
    assert read > 1000 and refused > 1000


def test_messages_that_are_nested_too_deeply_are_refused():
    data = b""
    for _ in range(200):  # AttrValue.func.attr["a"] = AttrValue
        entry = b"\x0a\x01a\x12" + proto_size(data) + data
        inner = b"\x12" + proto_size(entry) + entry
        data = b"\x52" + proto_size(inner) + inner
    for cls in (weft.AttrValue, attr_value_pb2.AttrValue):
        with pytest.raises(message.DecodeError):
            cls.FromString(data)


def proto_size(data):
    n, out = len(data), b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
