"""tf.contrib.distribute: strategies with the arguments that they had in TensorFlow 1."""
from weft._core.contrib.distribute import (
    AllReduceCrossDeviceOps,
    CentralStorageStrategy,
    CollectiveAllReduceStrategy,
    CrossDeviceOps,
    DistributeConfig,
    DistributionStrategy,
    MirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
    ReductionToOneDeviceCrossDeviceOps,
    get_cross_replica_context,
    require_replica_context,
    run_standard_tensorflow_server,
)
from weft._core.distribute.context import get_loss_reduction, get_replica_context, get_strategy, has_strategy, in_cross_replica_context
from weft._core.distribute.replicas import ReplicaContext
from weft._core.public import publish as _publish

AllReduceCrossTowerOps, CrossTowerOps = AllReduceCrossDeviceOps, CrossDeviceOps  # the names of TensorFlow 1.11
ReductionToOneDeviceCrossTowerOps = ReductionToOneDeviceCrossDeviceOps
get_distribution_strategy, has_distribution_strategy = get_strategy, has_strategy
get_tower_context, get_cross_tower_context, TowerContext = get_replica_context, get_cross_replica_context, ReplicaContext

__all__ = [
    "AllReduceCrossDeviceOps", "AllReduceCrossTowerOps", "CentralStorageStrategy", "CollectiveAllReduceStrategy",
    "CrossDeviceOps", "CrossTowerOps", "DistributeConfig", "DistributionStrategy", "MirroredStrategy", "OneDeviceStrategy",
    "ParameterServerStrategy", "ReductionToOneDeviceCrossDeviceOps", "ReductionToOneDeviceCrossTowerOps", "ReplicaContext",
    "TowerContext", "get_cross_replica_context", "get_cross_tower_context", "get_distribution_strategy", "get_loss_reduction",
    "get_replica_context", "get_strategy", "get_tower_context", "has_distribution_strategy", "has_strategy",
    "in_cross_replica_context", "require_replica_context", "run_standard_tensorflow_server",
]
__getattr__ = _publish(__name__)
