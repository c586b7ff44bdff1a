"""tf.distribute.Strategy and its extended part: the base of all strategies, complete for one replica."""
import contextlib

from weft._core.distribute import context
from weft._core.distribute.cross_device import ReductionToOneDevice, copied, devices_of
from weft._core.distribute.inputs import DistributedDataset, DistributedIterator, InputContext, InputReplicationMode, numpy_dataset
from weft._core.distribute.replicas import ReplicaContext, Replicas
from weft._core.distribute.values import (
    DistributedValues,
    DistributedVariable,
    MirroredVariable,
    PerReplica,
    ReduceOp,
    SyncOnReadVariable,
    part,
    regroup,
)
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.framework.nest import flatten, pack_like
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import group
from weft._core.ops.variable_methods import VariableAggregation, VariableSynchronization
from weft._core.ops.variable_scope import get_variable_scope, variable_creator_scope, variable_scope
from weft._core.ops.variables import Variable
from weft._core.train.server import ClusterSpec


def reduction(given):
    """Returns a ReduceOp, which a program can give by name."""
    return ReduceOp(given.upper()) if isinstance(given, str) else given


class Strategy(metaclass=Named):
    """Where the replicas of a model and its variables are placed, and how they are kept equal."""

    _scale_losses_for_estimator = False

    def __init__(self, extended):
        self._extended = extended

    extended = property(lambda self: self._extended)
    num_replicas_in_sync = property(lambda self: self._extended._num_replicas_in_sync)
    cluster_resolver = property(lambda self: getattr(self._extended, "_cluster_resolver", None))

    @contextlib.contextmanager
    def scope(self):
        """Makes variables that are created inside belong to the strategy."""
        now = context.get_strategy()
        if context.has_strategy() and now is not self:
            raise RuntimeError("Mixing different tf.distribute.Strategy objects: %s is not %s" % (now, self))
        if now is self and context.in_cross_replica_context():
            yield self
            return
        with context.entered(self), self._extended._scope():
            yield self

    # ---- computing ----

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls fn once for each replica, with its parts of the arguments; returns values with a part for each replica."""
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    experimental_run_v2 = run

    def experimental_run(self, fn, input_iterator=None):
        """Calls run() with the next element of an iterator as the argument."""
        with self.scope():
            return self.run(fn, args=() if input_iterator is None else (input_iterator.get_next(),))

    def reduce(self, reduce_op, value, axis=None):
        """Returns the sum or mean over all replicas, and over an axis of each replica's value."""
        reduce_op = reduction(reduce_op)
        if axis is None:
            return self._mapped(lambda v: self._extended._reduced(reduce_op, v), value)
        return self._mapped(lambda v: self._reduced_axis(reduce_op, v, axis), value)

    @staticmethod
    def _mapped(fn, value):
        if isinstance(value, (DistributedValues, DistributedVariable)):
            return fn(value)
        return pack_like(value, [fn(v) for v in flatten(value)])

    def _reduced_axis(self, reduce_op, value, axis):
        parts = value._values if isinstance(value, DistributedValues) else [value]
        totals, counts = [], []
        for v in parts:
            v = convert_to_tensor(v)
            with get_default_graph().device(v.device or None):
                totals.append(math_ops.reduce_sum(v, axis=axis))
                counts.append(math_ops.reduce_prod(array_ops.gather(array_ops.shape(v), convert_to_tensor(axis))))
        total = self._extended._reduced(ReduceOp.SUM, PerReplica(totals))
        if reduce_op == ReduceOp.SUM:
            return total
        count = self._extended._reduced(ReduceOp.SUM, PerReplica(counts))
        return total / math_ops.cast(count, total.dtype)

    def experimental_local_results(self, value):
        """Returns the parts of a value on this machine, as a tuple."""
        return self._extended._local_results(value)

    def unwrap(self, value):
        return self._extended._local_results(value)

    def group(self, value, name=None):
        """Returns one op that runs the ops of all replicas."""
        return group(*[v for x in flatten(value) for v in self._extended._local_results(x)], name=name)

    # ---- input ----

    def make_dataset_iterator(self, dataset):
        """Returns an iterator that gives each replica its part of each batch."""
        return DistributedIterator(self, DistributedDataset(self, dataset, split=True))

    def make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """Returns an iterator over the data set of input_fn(InputContext); each replica takes one element."""
        if replication_mode != InputReplicationMode.PER_WORKER:
            raise ValueError("Input replication mode not supported: %r" % replication_mode)
        with self.scope():
            made = input_fn(self._extended._input_context())
        return DistributedIterator(self, DistributedDataset(self, made, split=False))

    def experimental_distribute_dataset(self, dataset, options=None):
        """Returns a data set whose batches are divided among the replicas."""
        return DistributedDataset(self, dataset, split=True)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """Returns a data set of dataset_fn(InputContext); each replica takes one element."""
        return DistributedDataset(self, dataset_fn(self._extended._input_context()), split=False)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """Returns a data set of the rows of arrays."""
        return numpy_dataset(numpy_input)

    # ---- placement ----

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """Configures the strategy with the cluster and the task of this process."""
        self._extended._configure(session_config, None if cluster_spec is None else ClusterSpec(cluster_spec), task_type, task_id)

    def update_config_proto(self, config_proto):
        """Returns a copy of a session's configuration, changed for the strategy."""
        return self._extended._update_config_proto(config_proto)

    def colocate_vars_with(self, colocate_with_variable):
        return self._extended.colocate_vars_with(colocate_with_variable)


StrategyV1 = Strategy


class StrategyExtended(metaclass=Named):
    """How a strategy places and updates variables. This one has a replica for each device of `worker_devices`."""

    experimental_between_graph = False
    experimental_should_init = should_checkpoint = should_save_summary = True
    experimental_require_static_shapes = False
    _cross_device_ops = None

    def __init__(self, container_strategy):
        self._container, self._worker_devices, self._cross_device_ops = container_strategy, ("",), ReductionToOneDevice()

    def _on(self, devices, cross_device_ops=None):
        """Returns this object with a replica on each of the devices."""
        self._worker_devices, self._cross_device_ops = tuple(devices), cross_device_ops or self._cross_device_ops
        return self

    worker_devices = parameter_devices = property(lambda self: self._worker_devices)
    _num_replicas_in_sync = property(lambda self: len(self._worker_devices))
    _first_replica = 0  # the index of this machine's first replica among those of all workers

    def _container_strategy(self):
        return self._container

    def _configure(self, session_config, cluster_spec, task_type, task_id):
        pass

    def _in_multi_worker_mode(self):
        """Returns whether several workers keep copies of the variables equal."""
        return False

    def _update_config_proto(self, config_proto):
        made = type(config_proto)()
        made.CopyFrom(config_proto)
        return made

    def _input_context(self):
        return InputContext(num_replicas_in_sync=self._num_replicas_in_sync)

    # ---- variables ----

    @contextlib.contextmanager
    def _scope(self):
        def whole(getter, *args, **kwargs):
            if kwargs.pop("partitioner", None) is not None:
                from weft._core.platform import logging
                logging.warning("Partitioned variables are disabled when using current tf.distribute.Strategy.")
            return getter(*args, **kwargs)

        def creator(next_creator, **kwargs):
            kwargs["use_resource"] = True
            return self._create_variable(next_creator, **kwargs)
        with variable_creator_scope(creator), variable_scope(get_variable_scope(), custom_getter=whole,
                                                             auxiliary_name_scope=False):
            yield

    def _create_variable(self, next_creator, **kwargs):
        """Returns a variable with a copy on each device. The first replica creates it, and the others find it."""
        replica = context.get_replica_context()
        if replica is None or replica._thread is None:
            return self._new_variable(next_creator, **kwargs)
        made = replica._thread.run_of.shared.setdefault(kwargs.get("name") or "Variable", [])
        taken = replica._thread.__dict__.setdefault("taken", {})
        at = taken[kwargs.get("name")] = taken.get(kwargs.get("name"), -1) + 1
        if at == len(made):
            if replica._number:
                raise RuntimeError("replica %d makes a variable %r that the first replica did not make: all replicas must make "
                                   "the same variables" % (replica._number, kwargs.get("name")))
            with context.entered(self._container):
                made.append(self._new_variable(next_creator, **kwargs))
        return made[at]

    def _new_variable(self, next_creator, **kwargs):
        devices = kwargs.pop("_devices", None) or self._variable_devices()
        kind, aggregation = self._kind(kwargs)
        collections = kwargs.pop("collections", None)
        collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if kwargs.get("trainable", True) and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections.append(GraphKeys.TRAINABLE_VARIABLES)
        copies, graph = [], get_default_graph()
        for i, device in enumerate(devices):
            given = dict(kwargs, collections=[], _copy=True)
            with graph.control_dependencies(None) if i else contextlib.nullcontext(), graph.device(device or None):
                if i:
                    # noqa: B023 - it is called immediately
                    given["initial_value"] = lambda: copied(copies[0].initial_value)
                    given["name"] = "%s/replica_%d/" % (copies[0].op.name, i)
                copies.append(next_creator(**given))
        made = kind(self._container, copies, aggregation)
        graph._variables[made.name] = made
        graph._initializers_replaced = True  # The library would initialize only the first copy.
        for key in dict.fromkeys(collections):
            graph.add_to_collection(key, made)
        return made

    def _variable_devices(self):
        return self.parameter_devices

    def _kind(self, kwargs):
        synchronization = VariableSynchronization(kwargs.get("synchronization") or VariableSynchronization.AUTO)
        aggregation = VariableAggregation(kwargs.get("aggregation") or VariableAggregation.NONE)
        if synchronization == VariableSynchronization.NONE:
            raise ValueError("`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please change "
                             "the `synchronization` for variable: %s" % kwargs.get("name"))
        return SyncOnReadVariable if synchronization == VariableSynchronization.ON_READ else MirroredVariable, aggregation

    def variable_created_in_scope(self, v):
        """Returns whether the variable was created in this strategy's scope."""
        return getattr(v, "_strategy", None) is self._container

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable):
        """Makes variables created inside be placed on the device of the given one."""
        def creator(next_creator, **kwargs):
            kwargs["_devices"] = devices_of(colocate_with_variable)
            return next_creator(**kwargs)
        with variable_creator_scope(creator):
            yield

    def read_var(self, v):
        """Returns the value of a variable outside of replicas."""
        return v.read_value()

    def value_container(self, value):
        """Returns the variable to which a copy belongs; other values are returned unchanged."""
        return getattr(value, "_distributed_container", value)

    # ---- replicas ----

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Calls fn like Strategy.run, for code that is already in the scope."""
        kwargs = kwargs or {}
        with self._container.scope():
            if context.get_replica_context() is not None:
                raise RuntimeError("`run` may not be called in a replica context")
            if len(self._worker_devices) > 1:
                return Replicas(self._container, self._worker_devices, fn, args, kwargs).run()
            with context.entered(self._container, ReplicaContext(self._container, 0)), \
                    get_default_graph().device(self._worker_devices[0] or None):
                return regroup([fn(*part(args, 0), **part(kwargs, 0))])

    def experimental_run_steps_on_iterator(self, fn, iterator, iterations=1, initial_loop_values=None):
        """Runs fn(context, element) `iterations` times in one step; the context's last_step_outputs are of the last time."""
        from weft._core.distribute.steps import run_steps
        return run_steps(self._container, fn, iterator, iterations, initial_loop_values)

    # ---- reductions ----

    def _reduced(self, reduce_op, value):
        """Reduces to the machine's first device; a value without parts counts as the value of each replica."""
        if isinstance(value, DistributedVariable):
            return value.read_value()
        if not isinstance(value, DistributedValues):
            count = self._num_replicas_in_sync
            if reduce_op == ReduceOp.MEAN or count == 1:
                return value
            return value * count
        return self.reduce_to(reduce_op, value, self._worker_devices[0])

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """Returns the sum or mean of a value's parts, on the devices of the destinations."""
        reduce_op = reduction(reduce_op)
        if not isinstance(value, DistributedValues):
            count = self._num_replicas_in_sync
            if reduce_op == ReduceOp.SUM and count > 1:
                value = convert_to_tensor(value) * count
            return value if destinations is None else self.broadcast_to(value, destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations, options)

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """Returns the result of reduce_to() for each pair."""
        return [self.reduce_to(reduce_op, value, destination, options) for value, destination in value_destination_pairs]

    def broadcast_to(self, tensor, destinations):
        """Returns a tensor on the devices of the destinations."""
        return self._cross_device_ops.broadcast(tensor, destinations)

    # ---- updates ----

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls fn(copy, ...) for each copy of a variable, on its device."""
        copies = var._values if isinstance(var, DistributedVariable) else (var,)
        return self._updated([v.device for v in copies], group, lambda i: fn(copies[i], *part(args, i), **part(kwargs or {}, i)))

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        """Calls fn(...) for each of the devices."""
        return self._updated(devices_of(colocate_with), group, lambda i: fn(*part(args, i), **part(kwargs or {}, i)))

    def _updated(self, devices, grouped, call):
        made = []
        for i, device in enumerate(devices):
            with context.entered(self._container, copy=i), get_default_graph().device(device or None), \
                    get_default_graph().name_scope("update_%d" % i) if len(devices) > 1 else contextlib.nullcontext():
                made.append(call(i))
        if not grouped:
            return regroup(made)
        return group(*[m for m in flatten(made) if m is not None])

    def non_slot_devices(self, var_list):
        """Returns the devices for variables of an optimizer that belong to no variable of the model."""
        return tuple(self.parameter_devices)

    def _local_results(self, value):
        if isinstance(value, (DistributedValues, DistributedVariable)):
            return tuple(value._values)
        return (value,)

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        return numpy_dataset(numpy_input)


class _DefaultExtended(StrategyExtended):
    """Keeps variables and devices as they are without a strategy."""

    @contextlib.contextmanager
    def _scope(self):
        yield

    def colocate_vars_with(self, colocate_with_variable):
        return get_default_graph().colocate_with(colocate_with_variable)

    def variable_created_in_scope(self, v):
        return isinstance(v, Variable) and getattr(v, "_strategy", None) is None


class DefaultStrategy(Strategy):
    """The strategy of a program that uses none."""

    def __init__(self):
        super().__init__(_DefaultExtended(self))
        self.replica = ReplicaContext(self, 0)

    def run(self, fn, args=(), kwargs=None, options=None):
        return fn(*args, **(kwargs or {}))

    experimental_run_v2 = run

    @contextlib.contextmanager
    def scope(self):
        if context.has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        yield self

    def reduce(self, reduce_op, value, axis=None):
        return value if axis is None else super().reduce(reduce_op, value, axis)
