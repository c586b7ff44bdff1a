"""The table of messages is TensorFlow's: every field's number, kind and shape, held against the descriptors."""
import pytest
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
from weft._core.framework import proto, protos

KINDS = {1: "double", 2: "float", 3: "int", 4: "int", 5: "int32", 6: "fixed64", 8: "bool", 9: "string", 12: "bytes", 13: "int",
         14: "enum"}
FILES = [config_pb2, graph_pb2, meta_graph_pb2, saver_pb2, queue_runner_pb2, cluster_pb2, tensorflow_server_pb2, event_pb2,
         summary_pb2, example_pb2, variable_pb2, device_attributes_pb2, step_stats_pb2, saved_model_pb2,
         trackable_object_graph_pb2, attr_value_pb2, function_pb2, op_def_pb2]
OURS = {name: value for name, value in vars(protos).items() if isinstance(value, type) and issubclass(value, proto.Message)}


def descriptors():
    for file in FILES:
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
