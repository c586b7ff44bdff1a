"""The argument of device functions, and of the strategies of tf.train.replica_device_setter."""
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
