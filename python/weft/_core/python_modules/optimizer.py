"""Names of tensorflow.python.training.optimizer that programs use in their own optimizers."""
from weft._core.ops import array_ops, math_ops


def _var_key(var):
    """Returns the key of a variable's slots: the graph and the name of its op."""
    return var.op.graph, var.op.name


def _deduplicate_indexed_slices(values, indices):
    """Returns (sums of the rows of equal indices, the distinct indices)"""
    unique, positions = array_ops.unique(indices)
    return math_ops.unsorted_segment_sum(values, positions, array_ops.shape(unique)[0]), unique
