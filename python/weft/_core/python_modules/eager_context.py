"""tensorflow.python.eager.context: always a graph."""
import contextlib

from weft._core.framework import absent
from weft._core.framework.eager import executing_eagerly  # noqa: F401
from weft._core.framework.graph import get_default_graph

GRAPH_MODE, EAGER_MODE = 0, 1


def in_graph_mode():
    """True: graphs are all there is."""
    return True


def in_eager_mode():
    """False: graphs are all there is."""
    return False


@contextlib.contextmanager
def graph_mode():
    """Within it ops are nodes of a graph, as they are everywhere."""
    yield


def eager_mode():
    """Not in Weft."""
    raise NotImplementedError("tf.python.eager.context.eager_mode is not in Weft%s: build a graph and run it in a tf.Session"
                              % absent.where())


def device(name):
    """Ops made within it run on that device."""
    return get_default_graph().device(name)


def num_gpus():
    """The number of GPUs."""
    from weft._core.session.device_config import list_physical_devices
    return len(list_physical_devices("GPU"))


class Context:
    """The state of the program: graphs are all there is."""

    def executing_eagerly(self):
        """False."""
        return False

    in_eager_mode = executing_eagerly

    def in_graph_mode(self):
        """True."""
        return True

    def num_gpus(self):
        """The number of GPUs."""
        return num_gpus()

    def mode(self):
        """Not in Weft."""
        return eager_mode()


_context = Context()


def context():
    """The state of the program."""
    return _context






def shared_name(name=None):
    """The shared name of a resource."""
    return name
