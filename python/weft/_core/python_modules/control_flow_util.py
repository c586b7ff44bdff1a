"""tensorflow.python.ops.control_flow_util: tells the role of an op in a conditional or a loop."""

ENABLE_CONTROL_FLOW_V2 = ENABLE_CONTROL_FLOW_V2_IN_GRAPH = False


def EnableControlFlowV2(graph):
    """Returns False: tf.cond and tf.while_loop make TensorFlow 1's nodes."""
    return False


def IsInXLAContext(op):
    """Returns False: there is no XLA."""
    return False


def GraphOrParentsInXlaContext(graph):
    """Returns False: there is no XLA."""
    return False


InXlaContext = GraphOrParentsInXlaContext


def IsSwitch(op):
    """Returns whether an op sends its input one of two ways."""
    return op.type in ("Switch", "RefSwitch")


def IsMerge(op):
    """Returns whether an op passes on the one of its inputs that comes."""
    return op.type in ("Merge", "RefMerge")


def IsLoopEnter(op):
    """Returns whether an op passes a value into a loop."""
    return op.type in ("Enter", "RefEnter")


def IsLoopExit(op):
    """Returns whether an op passes a value out of a loop."""
    return op.type in ("Exit", "RefExit")


def IsLoopConstantEnter(op):
    """Returns whether an op passes a value into a loop that does not change there."""
    return IsLoopEnter(op) and op.get_attr("is_constant")
