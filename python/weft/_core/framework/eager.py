"""tf.executing_eagerly and similar functions for programs that always build graphs, and the error for eager mode."""
from weft._core.framework import absent


def executing_eagerly():
    """Returns False, except in a function of tf.py_function, whose tensors have values."""
    from weft._core.framework.graph import get_default_graph
    from weft._core.ops.immediate import CallGraph
    return isinstance(get_default_graph(), CallGraph)


def disable_eager_execution():
    """Does nothing, because Weft always builds graphs."""


disable_control_flow_v2 = disable_eager_execution


def disable_v2_behavior():
    """Turns off resource variables by default, the only one of these behaviors that Weft has."""
    from weft._core.ops.variables import disable_resource_variables
    disable_resource_variables()


def enable_eager_execution(*args, **kwargs):
    raise NotImplementedError(
        "tf.enable_eager_execution is not in Weft%s: build a graph and run it in a tf.Session" % absent.where())


def _only_v1(name, instead):
    """Returns a function that raises an error, for a function that turns on a part of TensorFlow 2 that Weft lacks."""
    def enable():
        raise NotImplementedError("tf.%s is not in Weft%s: %s" % (name, absent.where(), instead))
    enable.__name__ = enable.__qualname__ = name
    enable.__doc__ = "Not in Weft: %s." % instead
    return enable


enable_v2_behavior = _only_v1("enable_v2_behavior", "programs are those of TensorFlow 1; call tf.disable_v2_behavior() or nothing")
enable_control_flow_v2 = _only_v1("enable_control_flow_v2", "tf.cond and tf.while_loop make TensorFlow 1's nodes")
enable_tensor_equality = _only_v1("enable_tensor_equality", "== on tensors is identity; compare values with tf.equal")
enable_v2_tensorshape = _only_v1("enable_v2_tensorshape", "dimensions of a shape are tf.Dimension; use .value")


def disable_tensor_equality():
    """Does nothing: == on tensors already compares identity, as in TensorFlow 1."""


def disable_v2_tensorshape():
    """Does nothing: the dimensions of a shape are already tf.Dimension, as in TensorFlow 1."""


def control_flow_v2_enabled():
    """Returns False: tf.cond and tf.while_loop make TensorFlow 1's nodes."""
    return False


def executing_eagerly_outside_functions():
    """Returns False, because Weft always builds graphs."""
    return False
