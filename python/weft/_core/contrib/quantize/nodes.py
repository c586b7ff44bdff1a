"""Reads a graph for quantization: layers, their weights, and the nodes that follow them."""
import weft as tf

CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
LAYERS = (*CONVOLUTIONS, "MatMul")
ACTIVATIONS = ("Relu", "Relu6", "Identity")
ADDS = ("Add", "AddV2")
FUSED = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_READS = ("Identity", "ReadVariableOp")
_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")


def context_of(op):
    """Returns the scope of an operation."""
    return op.name.rpartition("/")[0]


def in_context(op, suffix):
    return "/".join(filter(None, (context_of(op), suffix)))


def source(tensor):
    """Returns the operation that makes a tensor; reads are looked through."""
    op = tensor.op
    while op.type in _READS and len(op.inputs) == 1:
        op = op.inputs[0].op
    return op


def is_variable(tensor):
    return source(tensor).type in _VARIABLES


def is_bias(tensor):
    """Returns whether an added tensor is not another layer's output but a variable, a constant, or the shift of a
    folded normalization.
    """
    return is_variable(tensor) or source(tensor).type == "Const" or tensor.op.name.endswith("/bias_fold")


def layers(graph, scope):
    """Yields the layers below a scope whose weights are variables, or variables times a folded normalization, in order.
    """
    for op in graph.get_operations():
        if op.type in LAYERS and (not scope or op.name.startswith(scope)):
            weights = op.inputs[1]
            if is_variable(weights) or source(weights).name.endswith("mul_fold"):
                yield op


def readers(tensor, kinds):
    return [op for op in tensor.consumers() if op.type in kinds]


def replace(old, new, among):
    """Replaces the input `old` of the operations in `among` by `new`."""
    for op in among:
        for i, tensor in enumerate(op.inputs):
            if tensor is old:
                op._update_input(i, new)


def refuse_training(graph):
    """Raises an error if the graph has training ops, because quantization must be added before the gradients."""
    for op in graph.get_operations():
        if op.type.startswith(_UPDATES):
            raise ValueError("Training op found in graph, exiting {'%s'}: quantize the graph before minimize()" % op.type)


def global_step():
    return tf.train.get_or_create_global_step()
