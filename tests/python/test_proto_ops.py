"""decode_proto and encode_proto: fields of messages as tensors and back, with TensorFlow's values, shapes and errors."""
import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from both import compare, oracle, weft as ours

F = descriptor_pb2.FieldDescriptorProto
KINDS = {"double": F.TYPE_DOUBLE, "float": F.TYPE_FLOAT, "int64": F.TYPE_INT64, "uint64": F.TYPE_UINT64, "int32": F.TYPE_INT32,
         "fixed64": F.TYPE_FIXED64, "fixed32": F.TYPE_FIXED32, "bool": F.TYPE_BOOL, "string": F.TYPE_STRING, "bytes": F.TYPE_BYTES,
         "uint32": F.TYPE_UINT32, "enum": F.TYPE_ENUM, "sfixed32": F.TYPE_SFIXED32, "sfixed64": F.TYPE_SFIXED64,
         "sint32": F.TYPE_SINT32, "sint64": F.TYPE_SINT64, "message": F.TYPE_MESSAGE}
NUMBERS = {"double": "float64", "float": "float32", "uint64": "uint64", "fixed64": "uint64", "int64": "int64", "sfixed64": "int64",
           "sint64": "int64", "uint32": "uint32", "fixed32": "uint32", "bool": "bool", "string": "string", "bytes": "string",
           "message": "string"}
VALUES = {"double": [1.5, -2e300, 0.0], "float": [0.1, -3.0, 7.0], "bool": [True, False, True], "string": ["a", "", "\u00e4"],
          "bytes": [b"x\x00y", b"", b"z"], "enum": [1, 0, 1]}
DEFAULTS = {"double": "2.5", "float": "-inf", "int64": "-7", "uint64": "200", "int32": "-5", "bool": "true",
            "string": "none", "bytes": "abc", "enum": "ONE", "uint32": "40"}


def file_of(syntax):
    """The messages weft.All, weft.All.Inside and, in proto2, weft.Defaults."""
    file = descriptor_pb2.FileDescriptorProto(name=syntax + ".proto", package="weft." + syntax, syntax=syntax)
    enum = file.enum_type.add(name="Which")
    enum.value.add(name="ZERO", number=0)
    enum.value.add(name="ONE", number=1)
    for name in ("All", "Defaults"):
        message = file.message_type.add(name=name)
        message.nested_type.add(name="Inside").field.add(name="x", number=3, type=F.TYPE_SINT32, label=F.LABEL_OPTIONAL)
        for i, (kind, number) in enumerate(KINDS.items()):
            for j, (ending, label) in enumerate((("_one", F.LABEL_OPTIONAL), ("_many", F.LABEL_REPEATED), ("_packed", F.LABEL_REPEATED))):
                if ending == "_packed" and kind in ("string", "bytes", "message"):
                    continue
                f = message.field.add(name=kind + ending, number=500 - 3 * i - j, type=number, label=label)
                if kind in ("enum", "message"):
                    f.type_name = f".weft.{syntax}." + ("Which" if kind == "enum" else f"{name}.Inside")
                if label == F.LABEL_REPEATED and kind not in ("string", "bytes", "message"):
                    f.options.packed = ending == "_packed"
                if name == "Defaults" and ending == "_one" and syntax == "proto2" and kind in DEFAULTS:
                    f.default_value = DEFAULTS[kind]
    return file


FILES = {syntax: file_of(syntax) for syntax in ("proto2", "proto3")}
POOL = descriptor_pool.DescriptorPool()
for one in FILES.values():
    POOL.Add(one)


def classes(syntax, name):
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"weft.{syntax}.{name}"))


def source(syntax):
    return b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[FILES[syntax]]).SerializeToString()


def filled(syntax, name, count):
    message = classes(syntax, name)()
    for kind in KINDS:
        given = VALUES.get(kind, [5, 2**31 - 1, 3] if kind[0] == "u" or kind[0] == "f" else [-5, 2**31 - 1, -2**31])
        for ending in ("_many", "_packed"):
            if count and kind == "message":
                message.message_many.add(x=-count)
            elif count and hasattr(message, kind + ending):
                getattr(message, kind + ending).extend(given[:count])
        if count and kind == "message":
            message.message_one.x = count
        elif count:
            setattr(message, kind + "_one", given[count - 1])
    return message.SerializeToString()


def fields(tf, syntax, name="All"):
    found = [f.name for f in classes(syntax, name).DESCRIPTOR.fields]
    return found, [getattr(tf, NUMBERS.get(f.split("_")[0], "int32")) for f in found]


def outcome(run):
    try:
        return run()
    except Exception as e:
        return type(e).__name__


def decoded(tf, texts, given):
    with tf.Graph().as_default():
        made = tf.io.decode_proto(texts, **given)
        shapes = [made.sizes.shape.as_list(), [v.shape.as_list() for v in made.values], [v.dtype.name for v in made.values]]
        with tf.Session() as sess:
            sizes, values = sess.run([made.sizes, list(made.values)])
        return [np.array(s) for s in (shapes[0], sizes)], shapes[1:], values


def same(given, texts):
    a, b = (outcome(lambda tf=tf: decoded(tf, texts, given(tf))) for tf in (ours, oracle))
    assert isinstance(a, str) == isinstance(b, str), (a, b)
    if isinstance(b, str):
        assert a == b
        return
    assert a[1] == b[1]
    compare([a[0], a[2]], [b[0], b[2]], 0)


@pytest.mark.parametrize("name", ["All", "Defaults"])
@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_decoding_is_tensorflows(syntax, name):
    texts = [[filled(syntax, name, n)] for n in (0, 1, 3, 2)]

    def given(tf):
        found, types = fields(tf, syntax, name)
        return {"message_type": f"weft.{syntax}.{name}", "field_names": found, "output_types": types, "descriptor_source": source(syntax)}
    same(given, texts)


WIDER = [("float_many", "float64"), ("int32_many", "int64"), ("uint32_many", "int64"), ("uint32_many", "uint64"),
         ("uint32_many", "int32"), ("uint64_many", "int64"), ("fixed32_many", "int64"), ("sint32_many", "int64"),
         ("enum_many", "int64"), ("bool_many", "int32"), ("double_many", "float32"), ("int64_many", "int32"), ("string_many", "int32")]


@pytest.mark.parametrize("field,kind", WIDER)
def test_other_types_of_a_field(field, kind):
    same(lambda tf: {"message_type": "weft.proto3.All", "field_names": [field], "output_types": [getattr(tf, kind)],
                     "descriptor_source": source("proto3")}, [filled("proto3", "All", 3)])


@pytest.mark.parametrize("change", [{"message_type": "weft.proto3.None"}, {"field_names": ["none"]}, {"field_names": ["bool_one"] * 2},
                                    {"message_type": "weft.proto3.All.Inside", "field_names": ["x"], "output_types": [3]},
                                    {"message_format": "xml"}], ids=str)
def test_wrong_arguments(change):
    same(lambda tf: {"message_type": "weft.proto3.All", "field_names": ["bool_one"], "output_types": [tf.bool] * len(
        change.get("field_names", [0])), "descriptor_source": source("proto3"), **change}, [filled("proto3", "All", 1)])


def test_broken_messages():
    def given(tf):
        return {"message_type": "weft.proto3.All", "field_names": ["bool_many"], "output_types": [tf.bool],
                "descriptor_source": source("proto3")}
    whole = filled("proto3", "All", 2)
    for text in (b"\xff", whole[:-1], b"\x00\x00", b"\x0a\x7f"):
        same(given, [text])


def test_descriptors_in_a_file_and_of_the_build(tmp_path):
    path = tmp_path / "set"
    path.write_bytes(source("proto2")[len("bytes://"):])
    same(lambda tf: {"message_type": "weft.proto2.All", "field_names": ["string_many"], "output_types": [tf.string],
                     "descriptor_source": str(path)}, [filled("proto2", "All", 2)])
    example = oracle.train.Example()
    example.features.feature["a"].int64_list.value.append(3)
    same(lambda tf: {"message_type": "tensorflow.Example", "field_names": ["features"], "output_types": [tf.string]},
         [example.SerializeToString()])
    feature = example.features.feature["a"]
    same(lambda tf: {"message_type": "tensorflow.Feature", "field_names": ["int64_list", "bytes_list"], "output_types": [tf.string] * 2},
         [feature.SerializeToString()])
    dims = oracle.TensorShape([2, 3]).as_proto()
    same(lambda tf: {"message_type": "tensorflow.TensorShapeProto.Dim", "field_names": ["size", "name"],
                     "output_types": [tf.int64, tf.string]}, [d.SerializeToString() for d in dims.dim])


def encoded(tf, syntax, texts):
    found, types = fields(tf, syntax)
    given = {"message_type": f"weft.{syntax}.All", "field_names": found, "descriptor_source": source(syntax)}
    with tf.Graph().as_default():
        made = tf.io.decode_proto(texts, output_types=types, **given)
        back = tf.io.encode_proto(made.sizes, made.values, **given)
        with tf.Session() as sess:
            return back.shape.as_list(), sess.run(back)


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_encoding_is_tensorflows(syntax):
    texts = [[filled(syntax, "All", n)] for n in (0, 1, 3, 2)]
    a, b = (encoded(tf, syntax, texts) for tf in (ours, oracle))
    assert a[0] == b[0]
    assert a[1].tolist() == b[1].tolist()
    for x, text in zip(a[1].ravel(), np.array(texts, object).ravel(), strict=True):
        assert classes(syntax, "All").FromString(x) == classes(syntax, "All").FromString(text)


@pytest.mark.parametrize("sizes,values", [([[3]], [[1, 2]]), ([[2]], [[1, 2], [3, 4]]), ([2], [1, 2]), (2, [1, 2]), ([[2, 1]], [[1, 2]]),
                                          ([[-1]], [[1, 2]]), ([[2]], [[1, 2]])])
@pytest.mark.parametrize("field", ["int64_many", "int64_one"])
def test_wrong_sizes(field, sizes, values):
    def run(tf):
        with tf.Graph().as_default(), tf.Session() as sess:
            return sess.run(tf.io.encode_proto(sizes, [np.int64(values)], [field], "weft.proto3.All", source("proto3"))).tolist()
    assert outcome(lambda: run(ours)) == outcome(lambda: run(oracle))


def test_what_is_not_read_is_refused():
    with ours.Graph().as_default(), ours.Session() as sess:
        for given, field in (({"message_format": "text"}, "bool_one"), ({"sanitize": True}, "message_one")):
            kind = ours.string if "message" in field else ours.bool
            made = ours.io.decode_proto([b""], "weft.proto3.All", [field], [kind], descriptor_source=source("proto3"), **given)
            with pytest.raises(ours.errors.UnimplementedError, match=next(iter(given))):
                sess.run(made.sizes)
