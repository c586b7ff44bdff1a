"""Options of communication between workers."""
import collections
import enum

from weft._core.framework.absent import Named


class CommunicationImplementation(enum.Enum):
    """How workers exchange values. Weft always uses a ring of its own."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions(metaclass=Named):
    """How values are packed for communication, and how long it may take."""

    def __init__(self, bytes_per_pack=0, timeout_seconds=None, implementation=CommunicationImplementation.AUTO):
        if bytes_per_pack < 0:
            raise ValueError("`bytes_per_pack` must be >=0, got %s" % bytes_per_pack)
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if not isinstance(implementation, CommunicationImplementation):
            raise ValueError("implementation should be one of `tf.distribute.experimental.CommunicationImplementation`")
        self.bytes_per_pack, self.timeout_seconds, self.implementation = bytes_per_pack, timeout_seconds, implementation


class CollectiveHints(CommunicationOptions):
    """The older name of CommunicationOptions."""

    def __init__(self, bytes_per_pack=0, timeout_seconds=None):
        super().__init__(bytes_per_pack, timeout_seconds)


RunOptions = collections.namedtuple("RunOptions", ["experimental_enable_dynamic_batch_size",
                                                   "experimental_bucketizing_dynamic_shape", "experimental_xla_options"],
                                    defaults=[True, False, None])
