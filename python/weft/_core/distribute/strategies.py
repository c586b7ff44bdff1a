"""The strategies: one device, mirrored variables, central variables, and parameter servers."""
import contextlib

from weft._core.distribute.cluster_resolver import TFConfigClusterResolver
from weft._core.distribute.inputs import InputContext
from weft._core.distribute.strategy import Strategy, StrategyExtended
from weft._core.distribute.values import MirroredVariable
from weft._core.framework.absent import Named
from weft._core.framework.device_spec import DeviceSpec
from weft._core.framework.graph import get_default_graph


def _canonical(device):
    """Returns a device name in TensorFlow's full form, on this machine unless the name says otherwise."""
    spec = DeviceSpec.from_string(device if device.startswith("/") else "/" + device)
    return DeviceSpec(spec.job, 0 if spec.replica is None else spec.replica, 0 if spec.task is None else spec.task,
                      spec.device_type or "CPU", spec.device_index or 0).to_string()


def local_devices(num_gpus=None):
    """Returns the GPUs of this machine, or its CPU."""
    from weft._core.session.cluster import list_local_devices
    found = [d.name for d in list_local_devices() if d.device_type == "GPU"]
    if num_gpus is not None and num_gpus > len(found):
        raise ValueError("num_gpus (num_gpus_per_worker) is %d, and this machine has %d GPUs" % (num_gpus, len(found)))
    found = found if num_gpus is None else found[:num_gpus]
    return [_canonical("/device:GPU:%s" % name.rpartition(":")[2]) for name in found] or [_canonical("/device:CPU:0")]


_TASK_TYPES = ("chief", "worker", "evaluator", "ps", None)


def check_task(spec, task_type, task_id):
    """Raises ValueError unless the cluster has the task.

    An evaluator is none of its tasks: it is started beside the cluster, and reads checkpoints.
    """
    if task_type not in spec.jobs and task_type not in _TASK_TYPES:
        raise ValueError("Unrecognized task_type: %s, valid task types are: %s" % (task_type, _TASK_TYPES))
    if task_type == "evaluator":
        return
    if task_type not in spec.jobs:
        raise ValueError("`task_type` %r not found in cluster_spec." % task_type)
    if task_id >= spec.num_tasks(task_type):
        raise ValueError("The `task_id` %d exceeds the maximum id of %s." % (task_id, task_type))


class _OneDeviceExtended(StrategyExtended):
    def _new_variable(self, next_creator, **kwargs):
        """Creates a variable with one copy on the device, as without a strategy."""
        self._kind(kwargs)
        for key in ("_devices",):
            kwargs.pop(key, None)
        with get_default_graph().device(self._worker_devices[0]):
            made = next_creator(**kwargs)
        made._strategy = self._container
        return made


class OneDeviceStrategy(Strategy):
    """Puts all variables and all computation on one device."""

    def __init__(self, device):
        super().__init__(_OneDeviceExtended(self)._on([_canonical(device)]))


class MirroredExtended(StrategyExtended):
    """Places a replica, with a copy of each variable, on each device."""


class MirroredStrategy(Strategy):
    """Trains synchronously on several devices of one machine. Each has a copy of the model and a part of the batch."""

    def __init__(self, devices=None, cross_device_ops=None):
        devices = local_devices() if devices is None else [_canonical(d) for d in devices]
        if not devices:
            raise ValueError("Got an empty `devices` list. Must provide at least one device.")
        if len(set(devices)) != len(devices):
            raise AssertionError("No duplicates allowed in `devices` argument: %s" % (tuple(devices),))
        super().__init__(MirroredExtended(self)._on(devices, cross_device_ops))


class _CentralExtended(StrategyExtended):
    """Places replicas on several devices, with one copy of each variable."""

    def __init__(self, container, devices, parameter_device):
        super().__init__(container)
        self._on(devices)
        self._parameter_device = parameter_device

    experimental_between_graph = True  # as in TensorFlow, whose class for central storage is that of parameter servers
    worker_devices = property(lambda self: list(self._worker_devices))
    parameter_devices = property(lambda self: (self._parameter_device,))


class _CentralVariable(MirroredVariable):
    """A variable with one copy, which all replicas share."""

    def _get(self):
        return self._values[0]


_CentralExtended._kind = lambda self, kwargs: (_CentralVariable, StrategyExtended._kind(self, kwargs)[1])


class CentralStorageStrategy(Strategy):
    """Computes on all devices with variables on one: the CPU, or the only device."""

    def __init__(self, compute_devices=None, parameter_device=None):
        if parameter_device is not None and compute_devices is None:
            raise ValueError("CentralStorageStrategy(parameter_device=...) needs compute_devices, too")
        devices = local_devices() if compute_devices is None else [_canonical(d) for d in compute_devices]
        place = parameter_device or (devices[0] if len(devices) == 1 else "/device:CPU:0")
        super().__init__(_CentralExtended(self, devices, place))


class ParameterServerStrategy(Strategy):
    """Trains asynchronously in a cluster of ps and workers. Variables are placed on the ps tasks in turn."""

    def __init__(self, cluster_resolver=None):
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        super().__init__(_ParameterServerExtended(self, resolver))


class _ParameterServerExtended(_OneDeviceExtended):
    experimental_between_graph = True

    def __init__(self, container, resolver):
        super().__init__(container)
        self._cluster_resolver = resolver
        self._configure(None, resolver.cluster_spec(), resolver.task_type, resolver.task_id)

    def _configure(self, session_config, cluster_spec, task_type, task_id):
        if cluster_spec is None or not cluster_spec.jobs:
            return
        if task_type is None or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        check_task(cluster_spec, task_type, task_id)
        self._spec, self._task = cluster_spec, (task_type, task_id)
        ps = cluster_spec.num_tasks("ps") if "ps" in cluster_spec.jobs else 0
        if not ps:
            raise ValueError("The cluster spec needs to have `ps` jobs. ParameterServerStrategy puts the variables there; the "
                             "cluster has: %s" % ", ".join(sorted(cluster_spec.jobs)))
        from weft._core.train.device_setter import replica_device_setter
        worker = "/job:%s/task:%d" % (task_type, task_id)
        self._worker_devices = (worker,)
        self._setter = replica_device_setter(ps_tasks=ps, worker_device=worker, cluster=cluster_spec)

    _spec = _task = _setter = None
    should_checkpoint = should_save_summary = experimental_should_init = property(
        lambda self: self._task is None or self._task[0] in ("chief", "evaluator") or
        (self._task == ("worker", 0) and "chief" not in self._spec.jobs))
    parameter_devices = property(lambda self: tuple("/job:ps/task:%d" % i for i in range(self._spec.num_tasks("ps")))
                                 if self._spec is not None else tuple(self.worker_devices))

    @property
    def worker_devices(self):
        """The whole name of the device that computes; the graph's device strings name only the task."""
        whole = local_devices()[0]
        return [whole if self._task is None else whole.replace("/replica:0/task:0", "/job:%s/replica:0/task:%d" % self._task)]

    @contextlib.contextmanager
    def _scope(self):
        with super()._scope(), get_default_graph().device(self._setter):
            yield

    def _new_variable(self, next_creator, **kwargs):
        self._kind(kwargs)
        kwargs.pop("_devices", None)
        made = next_creator(**kwargs)
        made._strategy = self._container
        return made

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        from weft._core.distribute import context
        from weft._core.distribute.replicas import ReplicaContext
        with self._container.scope(), context.entered(self._container, ReplicaContext(self._container, 0)):
            return fn(*args, **(kwargs or {}))

    def _input_context(self):
        if self._spec is None:
            return InputContext()
        workers = sum(self._spec.num_tasks(j) for j in ("chief", "worker") if j in self._spec.jobs)
        kind, number = self._task
        first = 0 if kind == "chief" or "chief" not in self._spec.jobs else 1
        return InputContext(workers, first + number, self._num_replicas_in_sync)


class TPUStrategy(metaclass=Named):
    """Raises an error, because Weft does not support TPUs."""

    def __init__(self, tpu_cluster_resolver=None, steps_per_run=None, device_assignment=None):
        raise NotImplementedError("tf.distribute.experimental.TPUStrategy: Weft has no TPUs; use tf.distribute.MirroredStrategy")

