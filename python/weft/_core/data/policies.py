"""tf.data.experimental: constants for options of data sets, and settings for several workers."""
import enum

from weft._core.data.options import _Settings

SHARD_HINT = -1


class AutoShardPolicy(enum.IntEnum):
    """How a data set is divided among workers."""
    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow chooses numbers of threads."""
    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What happens to state outside of a data set that is saved."""
    WARN = 0
    IGNORE = 1
    FAIL = 2


class DistributeOptions(_Settings):
    """How a data set is divided among workers. These settings do not change the elements of one worker."""

    def __init__(self):
        super().__init__(auto_shard_policy=AutoShardPolicy, num_devices=int)
