"""Graphs are all there is: what programs call to make sure of it, and the error where they ask for something else."""
from weft._core.framework import absent


def executing_eagerly():
    return False


def disable_eager_execution():
    """Graphs are all there is."""


disable_control_flow_v2 = disable_eager_execution


def disable_v2_behavior():
    """What it turns off that there is: resource variables by default."""
    from weft._core.ops.variables import disable_resource_variables
    disable_resource_variables()


def enable_eager_execution(*args, **kwargs):
    raise NotImplementedError(
        "tf.enable_eager_execution is not in Weft%s: build a graph and run it in a tf.Session" % absent.where())
