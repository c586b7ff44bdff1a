"""tf.distribute: strategies that run a model on several devices or tasks, and the server of a task."""
from weft._core.distribute.collectives import RunOptions
from weft._core.distribute.context import (
    experimental_set_strategy,
    get_loss_reduction,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from weft._core.distribute.cross_device import CrossDeviceOps, HierarchicalCopyAllReduce, NcclAllReduce, ReductionToOneDevice
from weft._core.distribute.inputs import InputContext, InputReplicationMode
from weft._core.distribute.replicas import ReplicaContext
from weft._core.distribute.strategies import MirroredStrategy, OneDeviceStrategy
from weft._core.distribute.strategy import Strategy, StrategyExtended
from weft._core.distribute.values import ReduceOp
from weft._core.public import publish as _publish
from weft._core.session.cluster import Server
from weft.distribute import cluster_resolver, experimental

__all__ = [
    "CrossDeviceOps", "HierarchicalCopyAllReduce", "InputContext", "InputReplicationMode", "MirroredStrategy",
    "NcclAllReduce", "OneDeviceStrategy", "ReduceOp", "ReductionToOneDevice", "ReplicaContext", "RunOptions",
    "Server", "Strategy", "StrategyExtended", "cluster_resolver", "experimental", "experimental_set_strategy",
    "get_loss_reduction", "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context",
]
__getattr__ = _publish(__name__)
