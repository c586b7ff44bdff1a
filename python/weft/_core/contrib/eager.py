"""tf.contrib.eager, for graph programs that import it; functions that need eager mode raise an error."""
from weft._core.framework import absent


def _error(name):
    return NotImplementedError("tf.contrib.eager.%s is not in Weft%s: Weft has no eager mode: build a graph and run it in a tf.Session"
                               % (name, absent.where()))


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Raises an error, because Weft has no eager mode."""
    raise _error("enable_eager_execution")


def in_eager_mode():
    """Returns False, because ops never run at once."""
    return False


def in_graph_mode():
    """Returns True, because ops always build graphs."""
    return True


def list_devices():
    """Returns the names of the devices of this process."""
    from weft._core.session.cluster import list_local_devices
    return [d.name for d in list_local_devices()]


def num_gpus():
    """Returns the number of GPUs."""
    return sum("GPU" in name.upper() for name in list_devices())


def defun(func=None, input_signature=None, autograph=True):
    """Makes a function of tensors whose stateful ops run in the order of the program, as tf.function does."""
    from weft._core.ops.graph_function import function
    return function(func, input_signature, autograph)


def run_test_in_graph_and_eager_modes(func=None, config=None, use_gpu=True, reset_test=True, assert_no_eager_garbage=False):
    """Runs a test in graph mode."""
    return func if func is not None else lambda f: f
