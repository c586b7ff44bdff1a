"""tensorflow.python.tools.optimize_for_inference_lib: folds batch normalization of a frozen graph into convolutions."""
import numpy as np

from weft._core.framework import protos
from weft._core.framework.graph_util import _constant, _name, extract_sub_graph, remove_training_nodes
from weft._core.framework.tensor_util import make_ndarray
from weft._core.platform import logging
from weft._core.python_modules.strip_unused import strip_unused

# The positions of a normalization's inputs (image, mean, variance, offset, scale), and the name of its epsilon.
_PARTS = {"BatchNormWithGlobalNormalization": ((0, 1, 2, 3, 4), "variance_epsilon"),
          "FusedBatchNorm": ((0, 3, 4, 2, 1), "epsilon"), "FusedBatchNormV2": ((0, 3, 4, 2, 1), "epsilon"),
          "FusedBatchNormV3": ((0, 3, 4, 2, 1), "epsilon")}


def optimize_for_inference(input_graph_def, input_node_names, output_node_names, placeholder_type_enum, toco_compatible=False):
    """Returns the part of a frozen graph between inputs and outputs, without what only training needs.

    Args:
      input_graph_def: the GraphDef, whose variables are constants.
      input_node_names: the nodes that become placeholders.
      output_node_names: the nodes that are needed.
      placeholder_type_enum: the type of the placeholders, or a list of one for each.
      toco_compatible: without it TensorFlow joins resizing, padding and convolution into one op; Weft does so when it runs.
    """
    names = [n.name for n in input_graph_def.node]
    for name in names:
        if names.count(name) > 1:
            raise ValueError("Duplicate node names detected for " + name)
    made = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    made = remove_training_nodes(made, output_node_names)
    return extract_sub_graph(fold_batch_norms(made), output_node_names)


def _values(node):
    if node.op != "Const":
        raise ValueError("Can not extract constant value from a node that is not Const. Got: %s" % node)
    return make_ndarray(node.attr["value"].tensor)


def _scaled(node):
    return node.attr["scale_after_normalization"].b if node.op == "BatchNormWithGlobalNormalization" else True


class _Folded:
    """A normalization with constant statistics, and the convolution before it."""

    def __init__(self, node, nodes):
        (image, mean, variance, offset, scale), epsilon = _PARTS[node.op]
        self.node, self.ok, self.why = node, False, ""
        self.conv = nodes.get(_name(node.input[image]))
        parts = [nodes.get(_name(node.input[i])) for i in (mean, variance, offset, scale)]
        if self.conv is None or self.conv.op not in ("Conv2D", "DepthwiseConv2dNative"):
            self.why = "the input of %s is no convolution" % node.name
            return
        self.weights = nodes.get(_name(self.conv.input[1]))
        if any(p is None or p.op != "Const" for p in [*parts, self.weights]):
            self.why = "an input of %s is no constant" % node.name
            return
        self.mean, variance, self.offset, self.scale = (_values(p) for p in parts)
        self.factor = (self.scale if _scaled(node) else 1.0) / np.sqrt(variance + node.attr[epsilon].f)
        channels = self.conv.op == "Conv2D" and _values(self.weights).shape[3] or np.prod(_values(self.weights).shape[2:])
        self.ok = all(a.shape == (channels,) for a in (self.mean, variance, self.offset))
        self.why = "" if self.ok else "%s has other channels than its convolution" % node.name

    def made(self):
        """Returns the nodes that replace the two."""
        weights, conv = _values(self.weights), protos.NodeDef()
        shape = (1, 1, 1, -1) if self.conv.op == "Conv2D" else (1, 1, *weights.shape[2:])
        factor = self.factor.reshape(shape)
        kind = self.conv.attr["T"].type
        conv.CopyFrom(self.conv)
        conv.input[1] = self.conv.name + "_weights"
        add = protos.NodeDef(op="BiasAdd", name=self.node.name)
        add.input.extend([self.conv.name, self.conv.name + "_bn_offset"])
        add.attr["T"].type = kind
        add.attr["data_format"].s = self.conv.attr["data_format"].s or b"NHWC"
        return [_constant(self.conv.name + "_weights", (weights * factor).astype(weights.dtype), kind), conv,
                _constant(self.conv.name + "_bn_offset", (self.offset - self.mean * self.factor).astype(weights.dtype), kind), add]


def fold_batch_norms(input_graph_def):
    """Returns a graph whose normalizations behind convolutions have become part of the convolutions."""
    nodes = {n.name: n for n in input_graph_def.node}
    users = {}
    for node in input_graph_def.node:
        for name in node.input:
            users.setdefault(_name(name), []).append(node.name)
    gone, new = set(), []
    for node in input_graph_def.node:
        if node.op not in _PARTS:
            continue
        folded = _Folded(node, nodes)
        if not folded.ok or len(users[folded.conv.name]) > 1:
            logging.warning("Didn't fold %s: %s", node.name, folded.why or "others need the convolution too")
            continue
        gone |= {node.name, folded.conv.name} | ({folded.weights.name} if len(users[folded.weights.name]) == 1 else set())
        new += folded.made()
    made = protos.GraphDef()
    for node in [*(n for n in input_graph_def.node if n.name not in gone), *new]:
        made.node.add().CopyFrom(node)
    made.versions.CopyFrom(input_graph_def.versions)
    return made
