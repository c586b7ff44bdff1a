"""tf.train.replica_device_setter: places variables on the ps tasks in turn, and all other nodes on the worker."""
from weft._core.framework.absent import Named
from weft._core.framework.device_spec import DeviceSpec

STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                   "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                   "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
                   "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
                   "DecisionTreeResource")


class GreedyLoadBalancingStrategy(metaclass=Named):
    """The ps task with the smallest load so far."""

    def __init__(self, num_tasks, load_fn):
        self._loads, self._load_fn = [0.0] * num_tasks, load_fn

    def __call__(self, op):
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """Bytes of a variable that is about to be made."""
    for attr, value in op.node_def.attr.items():
        if attr == "shape":
            n = 1
            for d in value.shape.dim:
                n *= max(d.size, 1)
            return 4.0 * n
    return 4.0


class _Setter:
    """A device function; entered through tf.device it is the library's own, which counts on over all graphs."""

    def __init__(self, tasks, ps_device, worker_device, by_bytes):
        self._tasks, self._ps, self._worker, self._by_bytes = tasks, ps_device, worker_device, by_bytes
        self._made, self._next = None, 0

    def _library_replica(self, graph):
        if self._made is None:
            self._made = graph._c.replica(self._tasks, self._ps, self._worker, self._by_bytes)
        return self._made

    def __call__(self, op):
        return _choose(op, STANDARD_PS_OPS, self._ps, self._worker, self._turn)

    def _turn(self, op):
        task, self._next = self._next, (self._next + 1) % self._tasks
        return task


def _choose(op, ps_ops, ps_device, worker_device, strategy):
    """What TensorFlow's device chooser answers for one op."""
    current = DeviceSpec.from_string(op.device or "")
    if ps_device and op.type in ps_ops:
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
    by_bytes = isinstance(ps_strategy, GreedyLoadBalancingStrategy) and ps_strategy._load_fn is byte_size_load_fn
    if ps_ops is None and (ps_strategy is None or by_bytes):
        return _Setter(ps_tasks, ps_device, worker_device, by_bytes)
    if ps_strategy is not None and not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    turns = _Setter(ps_tasks, ps_device, worker_device, False)
    ops = tuple(ps_ops or STANDARD_PS_OPS)
    return lambda op: _choose(op, ops, ps_device, worker_device, ps_strategy or turns._turn)


