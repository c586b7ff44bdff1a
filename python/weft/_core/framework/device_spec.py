"""tf.DeviceSpec: the fields of a device's name."""
from weft._core.framework.absent import Named


class DeviceSpec(metaclass=Named):
    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self.job, self.replica, self.task = job, replica, task
        self.device_type = device_type and device_type.upper() if device_type in ("cpu", "gpu") else device_type
        self.device_index = device_index

    @staticmethod
    def from_string(spec):
        return DeviceSpec().parse_from_string(spec)

    def parse_from_string(self, spec):
        self.__init__()
        for part in spec.split("/"):
            words = part.split(":")
            if words[0] == "job" and len(words) == 2:
                self.job = words[1]
            elif words[0] == "replica" and len(words) == 2:
                self.replica = int(words[1])
            elif words[0] == "task" and len(words) == 2:
                self.task = int(words[1])
            elif words[0] == "device" and len(words) >= 2:
                self.device_type = words[1].upper() if words[1] != "*" else None
                if len(words) > 2 and words[2] != "*":
                    self.device_index = int(words[2])
            elif words[0].lower() in ("cpu", "gpu") and len(words) == 2:
                self.device_type = words[0].upper()
                self.device_index = None if words[1] == "*" else int(words[1])
            elif part:
                raise ValueError("Unknown attribute: '%s' in '%s'" % (words[0], spec))
        return self

    def merge_from(self, dev):
        for field in ("job", "replica", "task", "device_type", "device_index"):
            if getattr(dev, field) is not None:
                setattr(self, field, getattr(dev, field))

    def make_merged_spec(self, dev):
        """Returns a spec with the fields of another one, and this spec's fields where the other has none."""
        made = DeviceSpec.from_string(self.to_string())
        made.merge_from(dev)
        return made

    def replace(self, **kwargs):
        """Returns a copy of the spec in which some fields have other values."""
        fields = ("job", "replica", "task", "device_type", "device_index")
        return DeviceSpec(**{**{f: getattr(self, f) for f in fields}, **kwargs})

    def to_string(self):
        out = ""
        if self.job is not None:
            out += "/job:%s" % self.job
        if self.replica is not None:
            out += "/replica:%d" % self.replica
        if self.task is not None:
            out += "/task:%d" % self.task
        if self.device_type is not None:
            out += "/device:%s:%s" % (self.device_type, "*" if self.device_index is None else self.device_index)
        return out

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())

    def __str__(self):
        return self.to_string()
