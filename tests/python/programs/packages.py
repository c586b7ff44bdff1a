"""What programs use of absl, six and google.protobuf; the same is printed where they are installed and where they are not."""
from __future__ import absolute_import, division, print_function

import sys

import six
from absl import app, flags, logging
from google.protobuf import text_format
from google.protobuf.message import Message
from six.moves import range, urllib, xrange, zip
from six.moves.urllib.parse import urlparse

import tensorflow as tf
from tensorflow.core.example import example_pb2, feature_pb2
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, summary_pb2, tensor_pb2, types_pb2
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, saver_pb2
from tensorflow.python.platform import app as tf_app, flags as tf_flags, gfile, googletest, resource_loader, tf_logging

FLAGS = flags.FLAGS
flags.DEFINE_string("name", "x", "A name.")
flags.DEFINE_integer("steps", 3, "How many.", lower_bound=0)
flags.DEFINE_bool("fast", False, "Whether.")
flags.DEFINE_enum("mode", "train", ["train", "eval"], "Which.")
flags.DEFINE_list("sizes", ["1", "2"], "Some.")
flags.DEFINE_float("rate", 0.1, "How fast.")
flags.DEFINE_multi_string("more", ["a"], "More.")
tf.flags.DEFINE_string("old", "y", "Of tf.flags.")
tf.app.flags.DEFINE_integer("old_number", 1, "Of tf.app.flags.")
flags.register_validator("steps", lambda n: n < 100, message="too many")


def messages():
    graph = text_format.Merge("""
        # a comment
        node { name: "a" op: 'Const' attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1.5, -2] } } } }
        node < name: "b\\"\\101" op: "Ident" "ity" input: "a" input: "^a" >
        versions { producer: 24 }""", graph_pb2.GraphDef())
    print(len(graph.node), graph.node[0].attr["value"].tensor.float_val, graph.node[1].name, graph.node[1].op, list(graph.node[1].input))
    print(graph.node[0].attr["dtype"].type == types_pb2.DT_FLOAT, graph.node[0].attr["dtype"].WhichOneof("value"), graph.versions.producer)
    again = text_format.Parse(text_format.MessageToString(graph), tf.GraphDef())
    print(again == graph, isinstance(graph, node_def_pb2.NodeDef), text_format.MessageToString(graph.versions).strip())
    config = text_format.Parse("device_count { key: 'CPU' value: 1 } gpu_options { allow_growth: true } log_device_placement: false",
                               config_pb2.ConfigProto())
    print(config.device_count["CPU"], config.gpu_options.allow_growth, config.HasField("graph_options"))
    try:
        text_format.Merge("no_field: 1", tf.ConfigProto())
    except text_format.ParseError as e:
        print("no_field" in str(e))
    example = example_pb2.Example(features=feature_pb2.Features(feature={
        "n": feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=[3]))}))
    print(text_format.MessageToString(example, as_one_line=True), example.features.feature["n"].WhichOneof("kind"))
    print([field.name for field, _ in summary_pb2.Summary.Value(tag="t", simple_value=1.0).ListFields()],
          tensor_pb2.TensorProto.__name__, attr_value_pb2.AttrValue.__name__, saver_pb2.SaverDef.__name__, meta_graph_pb2.MetaGraphDef.__name__)


def main(argv):
    print(FLAGS.name, FLAGS.steps, FLAGS.fast, FLAGS.mode, FLAGS.sizes, FLAGS.rate, FLAGS.more, argv[1:])
    print(FLAGS.old, tf.flags.FLAGS.old, FLAGS.old_number + 1, tf.app.flags.FLAGS.steps, tf_flags.FLAGS.name)
    print(six.PY3, isinstance("s", six.string_types), isinstance(3, six.integer_types), sorted(six.iteritems({"a": 1})), six.b("x"),
          list(xrange(2)), list(zip([1], range(1))), urlparse("http://h/p").netloc, urllib.parse.quote("a b"), six.ensure_str(b"z"))
    logging.set_verbosity(logging.INFO)
    logging.info("step %d", 3)
    messages()
    print(callable(tf_app.run), callable(gfile.Exists), callable(googletest.main), callable(tf_logging.info),
          resource_loader.get_data_files_path() == __file__.rpartition("/")[0], issubclass(Message, object))
    return 0


if __name__ == "__main__":
    (tf.app.run if "--by_tf" in sys.argv else app.run)(main, [a for a in sys.argv if a != "--by_tf"])
