"""tf.contrib.distribute: strategies with the arguments that they had in TensorFlow 1."""
import collections

from weft._core.distribute import strategies
from weft._core.distribute.collectives import CommunicationImplementation
from weft._core.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice
from weft._core.distribute.multi_worker import MultiWorkerMirroredStrategy
from weft._core.distribute.strategies import local_devices
from weft._core.distribute.strategy import Strategy as DistributionStrategy

__all__ = ["CentralStorageStrategy", "CollectiveAllReduceStrategy", "CrossDeviceOps", "DistributeConfig",
           "DistributionStrategy", "MirroredStrategy", "OneDeviceStrategy", "ParameterServerStrategy",
           "ReductionToOneDeviceCrossDeviceOps"]

OneDeviceStrategy = strategies.OneDeviceStrategy
ReductionToOneDeviceCrossDeviceOps = ReductionToOneDevice


def _devices(num_gpus, num_gpus_per_worker):
    if num_gpus is not None and num_gpus_per_worker is not None:
        raise ValueError("You can't specify both `num_gpus` and `num_gpus_per_worker`: they mean the same")
    count = num_gpus if num_gpus_per_worker is None else num_gpus_per_worker
    return None if count is None else local_devices(count)


class MirroredStrategy(strategies.MirroredStrategy):
    """A tf.distribute.MirroredStrategy that also accepts a number of GPUs."""

    def __init__(self, devices=None, num_gpus=None, num_gpus_per_worker=None, cross_device_ops=None, auto_shard_dataset=False):
        if auto_shard_dataset:
            raise NotImplementedError("tf.contrib.distribute.MirroredStrategy(auto_shard_dataset=True): use Dataset.shard in input_fn")
        if devices is not None and (num_gpus is not None or num_gpus_per_worker is not None):
            raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
        super().__init__(devices if devices is not None else _devices(num_gpus, num_gpus_per_worker), cross_device_ops)


class ParameterServerStrategy(DistributionStrategy):
    """Places variables on the ps tasks of TF_CONFIG. Without a cluster they are on the CPU, with a replica on each GPU.
    """

    def __new__(cls, num_gpus_per_worker=0):
        from weft._core.distribute.cluster_resolver import TFConfigClusterResolver
        if TFConfigClusterResolver().cluster_spec().jobs:
            return strategies.ParameterServerStrategy()
        return strategies.CentralStorageStrategy(local_devices(num_gpus_per_worker) if num_gpus_per_worker else ["/cpu:0"])


class CentralStorageStrategy(strategies.CentralStorageStrategy):
    """A tf.distribute.experimental.CentralStorageStrategy that accepts a number of GPUs."""

    def __init__(self, num_gpus_per_worker=0, compute_devices=None, parameter_device=None):
        if num_gpus_per_worker and compute_devices is not None:
            raise ValueError("Must only specify one of `compute_devices` and `num_gpus_per_worker`.")
        super().__init__(compute_devices or (local_devices(num_gpus_per_worker) if num_gpus_per_worker else None), parameter_device)


class CollectiveAllReduceStrategy(MultiWorkerMirroredStrategy):
    """A tf.distribute.experimental.MultiWorkerMirroredStrategy under its first name."""

    def __init__(self, num_gpus_per_worker=0, communication=CommunicationImplementation.AUTO):
        super().__init__(communication)
        if num_gpus_per_worker:
            self._extended._use_devices(local_devices(num_gpus_per_worker))


DistributeConfig = collections.namedtuple("DistributeConfig", ["train_distribute", "eval_distribute", "remote_cluster"],
                                          defaults=[None, None, None])
