"""The argument of device functions, and of the strategies of tf.train.replica_device_setter."""
from weft._core.framework.details import device_text
from weft._core.framework.graph import Operation


class DeviceNode(Operation):
    """What a device function is given: the node that is being added, on the device that inner scopes gave it."""

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
    """A device function as the library calls it: with a node's name, its op and the device of the inner scopes."""
    def place(name, _, device):
        node = DeviceNode(graph, name, device)
        try:
            return device_text(function(node)) or ""
        finally:  # the library may refuse the node, and give its number to the next one
            graph._ops.pop(node._id, None)
    return place
