"""The argument of device functions, and of the strategies of tf.train.replica_device_setter."""
from weft._core.framework.details import device_text
from weft._core.framework.graph import Operation


class DeviceNode(Operation):
    """The argument of a device function: the node that is being added, with the device from the inner scopes."""

    def __init__(self, graph, name, device):
        super().__init__(graph, graph._c.find("^" + name) >> 16)
        self._given = device

    @property
    def device(self):
        return self._given

    @property
    def node_def(self):
        made = super().node_def
        made.device = self._given
        return made


def placer(graph, function):
    """Returns a device function in the form that the library calls, with a node's name, op and device of the inner
    scopes.
    """
    def place(name, _, device):
        node = DeviceNode(graph, name, device)
        try:
            return device_text(function(node)) or ""
        finally:  # The library may refuse the node and give its number to the next one.
            graph._ops.pop(node._id, None)
    return place
