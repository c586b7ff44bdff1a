"""tensorflow.python.training.training_util: reads and increments the global step in a graph."""
from weft._core.framework.graph import control_dependencies, get_default_graph
from weft._core.ops.variables import assign_add
from weft._core.train.training_util import get_global_step

GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def _get_global_step_read(graph=None):
    """Returns the tensor that reads the global step, if one was made; RuntimeError if there are several."""
    found = (graph or get_default_graph()).get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError("There are multiple items in collection %s. There should be only one." % GLOBAL_STEP_READ_KEY)
    return found[0] if found else None


def _get_or_create_global_step_read(graph=None):
    """Returns the tensor that reads the global step, or None without a global step."""
    graph = graph or get_default_graph()
    found = _get_global_step_read(graph)
    if found is not None:
        return found
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"):
        made = step.read_value() + 0
    graph.add_to_collection(GLOBAL_STEP_READ_KEY, made)
    return made


def _increment_global_step(increment, graph=None):
    """Returns the op that adds to the global step, once it was read."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling increment.")
    read = _get_or_create_global_step_read(graph)
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"), control_dependencies([read]):
        return assign_add(step, increment)
