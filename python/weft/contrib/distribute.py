"""tf.contrib.distribute: strategies with the arguments that they had in TensorFlow 1."""
from weft._core.contrib.distribute import (
    CentralStorageStrategy,
    CollectiveAllReduceStrategy,
    CrossDeviceOps,
    DistributeConfig,
    DistributionStrategy,
    MirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
    ReductionToOneDeviceCrossDeviceOps,
)
from weft._core.public import publish as _publish

__all__ = [
    "CentralStorageStrategy", "CollectiveAllReduceStrategy", "CrossDeviceOps", "DistributeConfig",
    "DistributionStrategy", "MirroredStrategy", "OneDeviceStrategy", "ParameterServerStrategy",
    "ReductionToOneDeviceCrossDeviceOps",
]
__getattr__ = _publish(__name__)
