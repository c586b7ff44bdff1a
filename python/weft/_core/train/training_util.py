"""Functions of the global step: tf.train.get_global_step and related functions."""
from weft import _weft
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.ops.variables import Variable, resource_wanted, variable_of


def get_global_step(graph=None):
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise TypeError("Multiple tensors in global_step collection.")
    made = found[0] if found else _by_name(graph)
    if made is not None:
        assert_global_step(made)
    return made


def _by_name(graph):
    """Returns the variable or tensor global_step:0 of a program that put it into no collection."""
    try:
        made = variable_of(graph, "global_step:0")
        return graph.get_tensor_by_name("global_step:0") if made is None else made
    except KeyError:
        return None


def create_global_step(graph=None):
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("\"global_step\" already exists.")
    return get_or_create_global_step(graph)


def get_or_create_global_step(graph=None):
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    if found is not None:
        return found
    graph._check_not_finalized()
    graph._c.variables_resource(resource_wanted(None))
    out = _weft.global_step_make(graph._c)
    made = variable_of(graph, graph._tensor(out).name)
    graph._variable_store[made.op.name] = made
    return made


def assert_global_step(global_step_tensor):
    if not (isinstance(global_step_tensor, Variable) or hasattr(global_step_tensor, "dtype")):
        raise TypeError("Existing \"global_step\" must be a Variable or Tensor: %s." % global_step_tensor)
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError("Existing \"global_step\" does not have integer type: %s" % global_step_tensor.dtype)
    if global_step_tensor.shape.ndims not in (0, None):
        raise TypeError("Existing \"global_step\" is not scalar: %s" % global_step_tensor.shape)


def global_step(sess, global_step_tensor):
    return int(sess.run(global_step_tensor))
