"""MultiWorkerMirroredStrategy: each worker has a graph, a session and copies of the variables; collective ops keep them equal.

All workers build the same graph.  A collective op of one worker finds those of the others by its instance key, so the keys
are counted in the order in which the graph is built.  The first worker's initial values are sent to the others.  Gradients
are added up on each machine first, and then over the workers.
"""
from weft._core.distribute.cluster_resolver import TFConfigClusterResolver
from weft._core.distribute.collectives import CommunicationImplementation
from weft._core.distribute.cross_device import ReductionToOneDevice, added, copied, devices_of, divided
from weft._core.distribute.inputs import InputContext
from weft._core.distribute.strategies import MirroredExtended, check_task, local_devices
from weft._core.distribute.strategy import Strategy, reduction
from weft._core.distribute.values import DistributedValues, DistributedVariable, PerReplica, ReduceOp
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.device_spec import DeviceSpec
from weft._core.framework.graph import IndexedSlices, get_default_graph
from weft._core.ops import array_ops, math_ops

_GROUP_KEY = 1  # the group of all workers
_FIRST_INSTANCE = 100
_WORKERS = ("chief", "master", "worker")


class _Position:
    """The workers of a cluster in TensorFlow's order, and the index of this process."""

    def __init__(self, spec, task_type, task_id):
        jobs = [j for j in _WORKERS if j in spec.jobs] if spec is not None else []
        tasks = [(j, i) for j in jobs for i in spec.task_indices(j)]
        self.task, self.count, self.number = None, 1, 0
        if task_type == "evaluator" or not tasks:  # An evaluator works alone.
            return
        if task_type is None or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
        check_task(spec, task_type, task_id)
        if (task_type, task_id) not in tasks:
            raise ValueError("There is no id for task_type %r: MultiWorkerMirroredStrategy trains on %s" % (
                task_type, ", ".join(_WORKERS)))
        self.task, self.count, self.number = (task_type, task_id), len(tasks), tasks.index((task_type, task_id))
        self.leader = "/job:%s/replica:0/task:%d" % tasks[0]

    def device(self, name):
        """Returns the name of a device of this machine within the cluster."""
        spec = DeviceSpec.from_string(name)
        return name if self.task is None else DeviceSpec(self.task[0], 0, self.task[1], spec.device_type, spec.device_index).to_string()


class _Collectives:
    """The collective ops of one strategy. Keys are counted for each graph."""

    def __init__(self, position, hint):
        self._position, self._hint = position, hint

    def _of(self):
        graph = get_default_graph()
        key = graph.__dict__["_collective_instance"] = graph.__dict__.get("_collective_instance", _FIRST_INSTANCE - 1) + 1
        return dict(group_size=self._position.count, group_key=_GROUP_KEY, instance_key=key, communication_hint=self._hint)

    def summed(self, value):
        """Returns the sum of a tensor over the workers."""
        return op("CollectiveReduce", input=value, merge_op="Add", final_op="Id", subdiv_offsets=[0], **self._of())

    def from_first(self, value, what):
        """Returns the value of the first worker."""
        if not value.shape.is_fully_defined():
            raise ValueError("MultiWorkerMirroredStrategy: the initial value of %s has the shape %s: all its dimensions must be "
                             "known, because the first worker sends it to the others" % (what, value.shape))
        shape = value.shape.as_list()
        if self._position.number == 0:
            return op("CollectiveBcastSend", input=value, shape=shape, **self._of())
        return op("CollectiveBcastRecv", T=value.dtype.base_dtype, shape=shape, **self._of())

    def concatenated(self, value):
        """Returns the concatenated tensors of all workers, which have equal shapes."""
        rows = [None] + value.shape.as_list()[1:]
        return op("CollectiveGather", input=value, shape=rows, **self._of())

    def joined(self, slices):
        """Returns the rows of all workers' IndexedSlices.

        Since their numbers of rows can differ, rows are padded and then cut.
        """
        length = array_ops.shape(slices.indices)
        lengths = self.concatenated(length)
        longest = math_ops.reduce_max(lengths)
        mask = array_ops.reshape(array_ops.sequence_mask(lengths, longest), [-1])
        more = longest - length[0]
        parts = []
        for rows in (slices.values, slices.indices):
            rank = rows.shape.ndims
            padded = array_ops.pad(rows, array_ops.concat([[[0, more]], array_ops.zeros([rank - 1, 2], "int32")], 0))
            padded.set_shape([None] + rows.shape.as_list()[1:])
            parts.append(array_ops.boolean_mask(self.concatenated(padded), mask))
        return IndexedSlices(parts[0], parts[1], slices.dense_shape)


class _CollectiveReduction(ReductionToOneDevice):
    """Adds on this machine's first device, then over the workers."""

    def __init__(self, collectives, replicas):
        super().__init__()
        self._collectives, self._replicas = collectives, replicas

    def _finish(self, reduce_op, total, destinations):
        if reduce_op == ReduceOp.MEAN:
            total = divided(total, self._replicas)
        elif reduce_op != ReduceOp.SUM:
            raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
        return total if destinations is None else self.broadcast(total, destinations)

    @staticmethod
    def _local(value):
        values = value._values if isinstance(value, DistributedValues) else [value]
        return added(values) if len(values) > 1 else copied(values[0])

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        return self.batch_reduce_implementation(reduce_op, [(per_replica_value, destinations)], options)[0]

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        """Sums all dense tensors of a type with known shapes in one collective op."""
        totals = []
        for value, destination in value_destination_pairs:
            with get_default_graph().device(self._place(value, destination)):
                totals.append(self._local(value))
        packs = {}
        for i, total in enumerate(totals):
            if isinstance(total, IndexedSlices):
                totals[i] = self._collectives.joined(total)
            elif total.shape.is_fully_defined():
                packs.setdefault(total.dtype.base_dtype, []).append(i)
            else:
                totals[i] = self._collectives.summed(total)
        for rows in packs.values():
            for i, total in zip(rows, self._packed([totals[i] for i in rows])):
                totals[i] = total
        return [self._finish(reduce_op, total, destination) for total, (_, destination) in zip(totals, value_destination_pairs)]

    @staticmethod
    def _place(value, destination):
        return devices_of(destination if destination is not None else value)[0] or None

    def _packed(self, tensors):
        if len(tensors) == 1:
            return [self._collectives.summed(tensors[0])]
        sizes = [t.shape.num_elements() for t in tensors]
        total = self._collectives.summed(array_ops.concat([array_ops.reshape(t, [-1]) for t in tensors], 0))
        return [array_ops.reshape(part, t.shape.as_list()) for part, t in zip(array_ops.split(total, sizes), tensors)]


class MultiWorkerExtended(MirroredExtended):
    """Places replicas on the devices of each worker."""

    experimental_between_graph = True

    def __init__(self, container, resolver, communication):
        super().__init__(container)
        self._cluster_resolver, self._communication, self._local_devices = resolver, communication, local_devices()
        self._take(resolver.cluster_spec(), resolver.task_type, resolver.task_id)

    def _take(self, spec, task_type, task_id):
        self._position = _Position(spec, task_type, task_id)
        self._use_devices(self._local_devices)

    def _use_devices(self, devices):
        at, self._local_devices = self._position, devices
        self._on([at.device(d) for d in devices])
        if at.count > 1:
            self._collectives = _Collectives(at, self._communication.value.lower())
            self._cross_device_ops = _CollectiveReduction(self._collectives, self._num_replicas_in_sync)

    def _configure(self, session_config, cluster_spec, task_type, task_id):
        if cluster_spec is not None and cluster_spec.jobs:
            self._take(cluster_spec, task_type, task_id)
        if session_config is not None:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto):
        made = super()._update_config_proto(config_proto)
        if self._position.count > 1:
            made.isolate_session_state = False
            del made.device_filters[:]
            made.device_filters.append("/job:%s/task:%d" % self._position.task)
            made.experimental.collective_group_leader = self._position.leader
        return made

    _num_replicas_in_sync = property(lambda self: len(self._worker_devices) * self._position.count)
    _first_replica = property(lambda self: len(self._worker_devices) * self._position.number)
    should_checkpoint = should_save_summary = property(lambda self: self._position.number == 0)

    def _input_context(self):
        return InputContext(self._position.count, self._position.number, self._num_replicas_in_sync)

    def _in_multi_worker_mode(self):
        return self._position.count > 1

    def _new_variable(self, next_creator, **kwargs):
        if self._position.count == 1 or kwargs.get("initial_value") is None:
            return super()._new_variable(next_creator, **kwargs)
        given, dtype, shape = kwargs["initial_value"], kwargs.get("dtype"), kwargs.get("shape")

        def first():
            value = convert_to_tensor(given() if callable(given) else given, dtype)
            if shape is not None and not value.shape.is_fully_defined():
                value.set_shape(shape)
            return self._collectives.from_first(value, kwargs.get("name") or "a variable")
        return super()._new_variable(next_creator, **dict(kwargs, initial_value=first))

    def _whole(self, value):
        """Wraps a value of the only replica of this machine as one part of many."""
        alone = self._position.count > 1 and len(self._worker_devices) == 1
        return PerReplica([value]) if alone and not isinstance(value, (DistributedValues, DistributedVariable)) else value

    def _reduced(self, reduce_op, value):
        return super()._reduced(reduce_op, self._whole(value))

    def reduce_to(self, reduce_op, value, destinations, options=None):
        return super().reduce_to(reduce_op, self._whole(value), destinations, options)

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        if self._position.count == 1:
            return super().batch_reduce_to(reduce_op, value_destination_pairs, options)
        pairs = [(self._whole(value), destination) for value, destination in value_destination_pairs]
        if not all(isinstance(value, DistributedValues) for value, _ in pairs):
            return super().batch_reduce_to(reduce_op, pairs, options)
        return self._cross_device_ops.batch_reduce(reduction(reduce_op), pairs, options)


class MultiWorkerMirroredStrategy(Strategy):
    """Synchronous training on several workers. With one worker it is a MirroredStrategy on the devices of the machine.
    """

    def __init__(self, communication=None, cluster_resolver=None):
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        self._communication = communication or CommunicationImplementation.AUTO
        super().__init__(MultiWorkerExtended(self, resolver, self._communication))
