"""Removes masks from models: the product of weights and mask becomes a constant."""
import weft as tf
from weft._core.framework import tensor_util
from weft._core.framework.graph_util import convert_variables_to_constants, extract_sub_graph

_NAME = "masked_weight"


def graph_def_from_checkpoint(checkpoint_dir, output_node_names):
    """Returns the graph of a folder's newest checkpoint, its variables as constants.

    Args:
      checkpoint_dir: the folder.
      output_node_names: the nodes that must be computed.
    """
    path = tf.train.latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError("there is no checkpoint in %s" % checkpoint_dir)
    with tf.Graph().as_default() as graph:
        saver = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
        with tf.Session() as sess:
            saver.restore(sess, path)
            return convert_variables_to_constants(sess, graph.as_graph_def(), output_node_names)


def strip_pruning_vars_fn(input_graph_def, output_node_names):
    """Returns a GraphDef in which the products of weights and masks are constants.

    Args:
      input_graph_def: a GraphDef without variables, as graph_def_from_checkpoint returns it.
      output_node_names: the nodes that must be computed.
    """
    products = [n.name for n in input_graph_def.node if n.op == "Mul" and n.name.rpartition("/")[2].startswith(_NAME)]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(input_graph_def, name="")
        values = dict(zip(products, sess.run([name + ":0" for name in products])))
    made = tf.GraphDef()
    made.CopyFrom(input_graph_def)
    for node in made.node:
        if node.name in values:
            value = values[node.name]
            node.op = "Const"
            del node.input[:]
            for key in list(node.attr):
                del node.attr[key]
            node.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
            node.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(value))
    return extract_sub_graph(made, output_node_names)
