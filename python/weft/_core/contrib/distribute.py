"""tf.contrib.distribute: strategies with the arguments that they had in TensorFlow 1."""
import collections
import json
import os

from weft._core.distribute import context, strategies
from weft._core.distribute.collectives import CommunicationImplementation
from weft._core.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice, _AllReduce
from weft._core.distribute.multi_worker import MultiWorkerMirroredStrategy
from weft._core.distribute.strategies import local_devices
from weft._core.distribute.strategy import Strategy as DistributionStrategy

__all__ = ["AllReduceCrossDeviceOps", "CentralStorageStrategy", "CollectiveAllReduceStrategy", "CrossDeviceOps", "DistributeConfig",
           "DistributionStrategy", "MirroredStrategy", "OneDeviceStrategy", "ParameterServerStrategy",
           "ReductionToOneDeviceCrossDeviceOps", "get_cross_replica_context", "require_replica_context",
           "run_standard_tensorflow_server"]

OneDeviceStrategy = strategies.OneDeviceStrategy
ReductionToOneDeviceCrossDeviceOps = ReductionToOneDevice


class AllReduceCrossDeviceOps(_AllReduce):
    """Adds on one device and copies the sum, whichever algorithm is named.

    Args:
      all_reduce_alg: "nccl" or "hierarchical_copy"; both give the same sums here.
      num_packs: how many tensors are sent together; it does not change the sums.
      agg_small_grads_max_bytes: the size below which gradients are sent together; it does not change the sums.
      agg_small_grads_max_group: how many small gradients are sent together; it does not change the sums.
    """

    _KIND = "AllReduceCrossDeviceOps"

    def __init__(self, all_reduce_alg="nccl", num_packs=1, agg_small_grads_max_bytes=0, agg_small_grads_max_group=10):
        super().__init__(num_packs)
        self._all_reduce_alg, self._agg_small_grads_max_bytes = all_reduce_alg, agg_small_grads_max_bytes
        self._agg_small_grads_max_group = agg_small_grads_max_group


def get_cross_replica_context():
    """Returns the current strategy outside its replicas, or None in a replica."""
    return context.get_strategy() if context.in_cross_replica_context() else None


def require_replica_context(replica_ctx):
    """Raises an error unless the code runs in this replica.

    Args:
      replica_ctx: the context of a replica.
    """
    found = context.get_replica_context()
    if found is None:
        raise RuntimeError("Need to be inside a replica of the strategy: call it in a function that strategy.extended."
                           "call_for_each_replica runs")
    if found is not replica_ctx:
        raise RuntimeError("Mismatching ReplicaContext: %s runs, and replica_ctx is %s" % (found, replica_ctx))


def run_standard_tensorflow_server(session_config=None):
    """Starts the server of this task of TF_CONFIG, and returns it.

    Args:
      session_config: a tf.ConfigProto for the server.
    """
    from weft._core.session.cluster import Server
    given = json.loads(os.environ.get("TF_CONFIG") or "{}")
    for key in ("cluster", "task"):
        if not given.get(key):
            raise ValueError("run_standard_tensorflow_server needs `%s` in the environment variable TF_CONFIG, which is %r" % (
                key, os.environ.get("TF_CONFIG", "")))
    task = given["task"]
    return Server(given["cluster"], task["type"], int(task["index"]), given.get("rpc_layer") or "grpc", session_config)


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
