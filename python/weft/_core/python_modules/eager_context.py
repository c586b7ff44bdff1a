"""tensorflow.python.eager.context, for programs that always build graphs."""
import contextlib

from weft._core.framework import absent
from weft._core.framework.eager import executing_eagerly  # noqa: F401
from weft._core.framework.graph import get_default_graph

GRAPH_MODE, EAGER_MODE = 0, 1


def in_graph_mode():
    """Returns True: graphs are all there is."""
    return True


def in_eager_mode():
    """Returns False: graphs are all there is."""
    return False


@contextlib.contextmanager
def graph_mode():
    """Has no effect, because ops always are nodes of a graph."""
    yield


def eager_mode():
    """Raises an error, because Weft has no eager mode."""
    raise NotImplementedError("tf.python.eager.context.eager_mode is not in Weft%s: build a graph and run it in a tf.Session"
                              % absent.where())


def device(name):
    """Returns a context in which new ops are placed on the device."""
    return get_default_graph().device(name)


def num_gpus():
    """Returns the number of GPUs."""
    from weft._core.session.device_config import list_physical_devices
    return len(list_physical_devices("GPU"))


class Context:
    """The context object of a program, which always builds graphs."""

    def executing_eagerly(self):
        """Returns False."""
        return False

    in_eager_mode = executing_eagerly

    def in_graph_mode(self):
        """Returns True."""
        return True

    def num_gpus(self):
        """Returns the number of GPUs."""
        return num_gpus()

    def mode(self):
        """Raises an error, because Weft has no eager mode."""
        return eager_mode()


_context = Context()


def context():
    """Returns the state of the program."""
    return _context






def shared_name(name=None):
    """Returns the shared name of a resource."""
    return name
