"""Constants of variants: lists of tensors and tensors, in TensorFlow's coding, as other programs write them into graphs."""
import pathlib

import pytest

from both import both, oracle, weft

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "state.variant_proto"


def constant(tf, data):
    """The Const node of a serialized TensorProto."""
    graph = tf.GraphDef()
    node = graph.node.add(name="c", op="Const")
    node.attr["dtype"].type = 21
    value = node.attr["value"].tensor
    value.ParseFromString(data)
    return tf.import_graph_def(graph, return_elements=["c:0"], name="")[0]


@pytest.mark.parametrize("name", ["list", "reserved", "stacked", "values", "nested"])
def test_a_list_is_a_constant(name):
    data = (CORPUS / name).read_bytes()

    def program(tf):
        c, raw = constant(tf, data), tf.raw_ops
        one = c[1] if name == "stacked" else c
        if name == "nested":
            one = raw.TensorListGetItem(input_handle=c, index=0, element_shape=tf.constant([], tf.int32), element_dtype=tf.variant)
        longer = raw.TensorListPushBack(input_handle=one, tensor=tf.constant([5, 6] if name == "values" else [[5, 6]]))
        shape = [2] if name == "values" else [1, 2]
        found = [c.shape.as_list(), raw.TensorListLength(input_handle=one), raw.TensorListLength(input_handle=longer),
                 raw.TensorListGetItem(input_handle=longer, index=-1 % (2 if name == "values" else 4), element_shape=shape,
                                       element_dtype=tf.int32)]
        if name not in ("reserved", "values"):
            found.append(raw.TensorListGetItem(input_handle=one, index=1, element_shape=shape, element_dtype=tf.int32))
        return found
    both(program, same_nodes=False)


def test_a_tensor_is_a_constant():
    data = (CORPUS / "sparse").read_bytes()

    def program(tf):
        parts = tf.raw_ops.DeserializeSparse(serialized_sparse=constant(tf, data), dtype=tf.float32)
        return list(parts)
    both(program, same_nodes=False)


def test_messages_have_the_fields_of_variants_and_resources():
    for tf in (weft, oracle):
        made = tf.GraphDef().node.add().attr["a"].tensor
        made.variant_val.add(type_name="t", metadata=b"m").tensors.add(dtype=1, float_val=[1.5])
        made.resource_handle_val.add(name="v", container="c")
        assert made.variant_val[0].tensors[0].float_val[0] == 1.5 and made.resource_handle_val[0].name == "v"


@pytest.mark.parametrize("kind, metadata, tensors, words", [
    ("tensorflow::data::Optional", b"\0", 0, "variant of type 'tensorflow::data::Optional'"),
    ("tensorflow::TensorList", b"", 0, "malformed"),
    ("tensorflow::TensorList", b"\1\7\3\1", 1, "not among"), ("tensorflow::TensorList", b"\x80", 0, "malformed"),
    ("tensorflow::TensorList", b"\0\1\1", 1, "another type"), ("tensorflow::Tensor", b"", 2, "holds a tensor has 2")])
def test_other_variants_are_errors_of_the_run(kind, metadata, tensors, words):
    with weft.Graph().as_default(), weft.Session() as sess:
        message = weft.GraphDef().node.add().attr["a"].tensor
        message.dtype = 21
        message.tensor_shape.SetInParent()
        held = message.variant_val.add(type_name=kind, metadata=metadata)
        for _ in range(tensors):
            held.tensors.add(dtype=3, int_val=[1]).tensor_shape.SetInParent()
        c = constant(weft, message.SerializeToString())
        with pytest.raises((weft.errors.InvalidArgumentError, weft.errors.UnimplementedError), match=words):
            sess.run(weft.raw_ops.TensorListLength(input_handle=c))


def test_a_resource_is_fetched_as_bytes():
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=[1.0], use_resource=True)
            with tf.Session() as sess:
                sess.run(v.initializer)
                found, value = sess.run([v.handle, v])
                assert found.dtype == [("resource", "u1")] and found.ndim == 1 and found.size > 1 and value == [1.0]
                assert sess.run(v.handle).tobytes()[:1] == found.tobytes()[:1] and sess.run({"h": v.handle})["h"].shape == found.shape
