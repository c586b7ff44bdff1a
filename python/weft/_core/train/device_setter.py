"""tf.train.replica_device_setter: places variables on the ps tasks in turn, and all other nodes on the worker."""
import math

from weft._core.framework.absent import Named
from weft._core.framework.device_spec import DeviceSpec
from weft._core.framework.protos import NodeDef

STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                   "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                   "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
                   "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
                   "DecisionTreeResource")


class GreedyLoadBalancingStrategy(metaclass=Named):
    """Places each op on the ps task with the smallest load so far."""

    def __init__(self, num_tasks, load_fn):
        self._loads, self._load_fn = [0.0] * num_tasks, load_fn

    def __call__(self, op):
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """Returns the size in bytes of a variable that is about to be created; raises ValueError if its shape is not known.
    """
    from weft._core.framework.dtypes import as_dtype
    shape = op.get_attr("shape")
    if any(d.size < 0 for d in shape.dim) or shape.unknown_rank:
        raise ValueError("byte_size_load_fn: the shape of %r must be fully defined to place it by bytes" % op.name)
    return float(math.prod(d.size for d in shape.dim) * as_dtype(op.get_attr("dtype")).base_dtype.size)


class _Setter:
    """A device function.

    tf.device recognizes it and uses the library's own setter, whose counter is shared by all graphs.
    """

    def __init__(self, tasks, ps_device, worker_device):
        self._tasks, self._ps, self._worker = tasks, ps_device, worker_device
        self._made, self._next = None, 0

    def _library_replica(self, graph):
        if self._made is None:
            self._made = graph._c.replica(self._tasks, self._ps, self._worker, False)
        return self._made

    def __call__(self, op):
        return _choose(op, STANDARD_PS_OPS, self._ps, self._worker, self._turn)

    def _turn(self, op):
        task, self._next = self._next, (self._next + 1) % self._tasks
        return task


def _choose(op, ps_ops, ps_device, worker_device, strategy):
    """Returns the device that TensorFlow's device chooser selects for one op."""
    current = DeviceSpec.from_string(op.device or "")
    if ps_device and (op.op if isinstance(op, NodeDef) else op.type) in ps_ops:
        spec = DeviceSpec.from_string(ps_device)
        if spec.job is None or current.job is None or spec.job == current.job:
            if spec.task is None:
                spec.task = strategy(op)
        spec.merge_from(current)
        return spec.to_string()
    spec = DeviceSpec.from_string(worker_device or "")
    spec.merge_from(current)
    return spec.to_string()


def replica_device_setter(ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True, cluster=None,
                          ps_ops=None, ps_strategy=None):
    if cluster is not None:
        from weft._core.train.server import ClusterSpec
        spec = cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)
        job = DeviceSpec.from_string(ps_device).job
        jobs = spec.as_dict()
        if job not in jobs or not jobs[job]:
            return None
        ps_tasks = len(jobs[job])
    if ps_tasks == 0:
        return None
    if ps_strategy is not None and not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    turns = _Setter(ps_tasks, ps_device, worker_device)
    if ps_ops is None and ps_strategy is None and merge_devices:
        return turns
    ops = tuple(ps_ops or STANDARD_PS_OPS)

    def place(op):
        if not merge_devices and op.device:
            return op.device
        return _choose(op, ops, ps_device, worker_device, ps_strategy or turns._turn)
    return place
