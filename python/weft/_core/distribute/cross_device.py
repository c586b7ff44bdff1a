"""tf.distribute.CrossDeviceOps: sums over devices.

All kinds add on one device and copy the sum to the others. They add in the order of the replicas, so that each run
gives the same bits. NcclAllReduce does the same without NCCL.

All kinds add up on one device and copy the sum to the others, in the order of the replicas, so that each run gives the
same bits.  NcclAllReduce does the same without NCCL.
"""
from weft._core.distribute.values import DistributedValues, DistributedVariable, Mirrored, PerReplica, ReduceOp
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import IndexedSlices, get_default_graph
from weft._core.ops import array_ops, math_ops


def devices_of(destination):
    """Returns the devices on which a value must be: those of a variable or value, or the named device."""
    if isinstance(destination, str):
        return (destination,)
    if isinstance(destination, (DistributedValues, DistributedVariable)):
        return tuple(v.device for v in destination._values)
    if isinstance(destination, (list, tuple)):
        return tuple(destination)
    return (getattr(destination, "device", "") or "",)


def added(values):
    """Returns the sum of tensors or IndexedSlices."""
    if not any(isinstance(v, IndexedSlices) for v in values):
        return math_ops.add_n([convert_to_tensor(v) for v in values])
    if not all(isinstance(v, IndexedSlices) for v in values):
        return math_ops.add_n([convert_to_tensor(v) for v in values])
    return IndexedSlices(array_ops.concat([v.values for v in values], 0), array_ops.concat([v.indices for v in values], 0),
                         values[0].dense_shape)


def divided(value, by):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(divided(value.values, by), value.indices, value.dense_shape)
    return value / convert_to_tensor(by, value.dtype.base_dtype)


def copied(value):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(op("Identity", input=value.values), op("Identity", input=value.indices), value.dense_shape)
    return op("Identity", input=convert_to_tensor(value))


class CrossDeviceOps(metaclass=Named):
    """How values are reduced and copied between devices."""

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        """Returns the sum or mean of a value's parts, on the devices of the destinations."""
        if not isinstance(per_replica_value, DistributedValues):
            per_replica_value = PerReplica([per_replica_value])
        return self.reduce_implementation(reduce_op, per_replica_value, destinations, options)

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None):
        """Returns the result of reduce() for each pair."""
        return self.batch_reduce_implementation(reduce_op, value_destination_pairs, options)

    def broadcast(self, tensor, destinations):
        """Returns the tensor on the devices of the destinations."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        return [self.reduce_implementation(reduce_op, value if isinstance(value, DistributedValues) else PerReplica([value]),
                                           destination, options) for value, destination in value_destination_pairs]

    def broadcast_implementation(self, tensor, destinations):
        copies = []
        for device in devices_of(destinations):
            with get_default_graph().device(device or None):
                copies.append(copied(tensor))
        return copies[0] if len(copies) == 1 else Mirrored(copies)


class ReductionToOneDevice(CrossDeviceOps):
    """Adds on one device: the given one, or the first one of the destination."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn or math_ops.add_n

    def _added(self, values):
        if self.accumulation_fn is math_ops.add_n or any(isinstance(v, IndexedSlices) for v in values):
            return added(values)
        return self.accumulation_fn([convert_to_tensor(v) for v in values])

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        place = self.reduce_to_device or devices_of(destinations if destinations is not None else per_replica_value)[0]
        values = per_replica_value._values
        with get_default_graph().device(place or None):
            total = self._added(values) if len(values) > 1 else copied(values[0])
            if reduce_op == ReduceOp.MEAN:
                total = divided(total, len(values))
            elif reduce_op != ReduceOp.SUM:
                raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
        return self.broadcast(total, destinations) if destinations is not None else total


class _AllReduce(ReductionToOneDevice):
    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError("%s all-reduce requires num_packs >= 0, but %s is specified" % (self._KIND, num_packs))
        self._num_packs = num_packs  # the number of tensors that are sent together; it does not change the sums
        super().__init__()


class HierarchicalCopyAllReduce(_AllReduce):
    """Adds on one device and copies the sum. num_packs has no effect, since devices here share memory."""

    _KIND = "HierarchicalCopy"


class NcclAllReduce(_AllReduce):
    """Sums without NCCL: it adds on one device and copies the sum."""

    _KIND = "NCCL"
