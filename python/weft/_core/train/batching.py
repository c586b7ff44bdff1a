"""tf.train.batch and its variants: queues of elements, runners that fill them, and batches dequeued from them.

A SparseTensor is stored in a sparse tensors map (AddSparseToTensorsMap), and the queue holds its key.
"""
import collections
import operator

from weft._core.files import summary
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import constant_value, convert_to_tensor, op
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops.array_ops import dynamic_partition, expand_dims, identity, squeeze
from weft._core.ops.control_flow import cond, no_op
from weft._core.ops.data_flow import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from weft._core.ops.math_ops import cast, maximum
from weft._core.ops.sparse import SparseTensor, SparseTensorValue
from weft._core.train.coordinator import QueueRunner, add_queue_runner

_Options = collections.namedtuple("_Options", "capacity min_after seed many shapes pad smaller shared_name keep threads")


def _when(keep, then, otherwise):
    """Returns then() or otherwise() if the value of keep is known when the graph is built, else a tf.cond of both."""
    known = constant_value(keep)
    if known is None:
        return cond(keep, then, otherwise)
    return then() if known else otherwise()


def _keep_input(keep, many):
    made = convert_to_tensor(keep)
    if made.shape.ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not many and made.shape.ndims == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if made.shape.ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return made


def _flat(tensors):
    """Returns the tensors of an element as a list; those of a dict are in the order of its sorted keys."""
    return [tensors[k] for k in sorted(tensors)] if isinstance(tensors, dict) else list(tensors)


def _like(tensors, outputs):
    if isinstance(tensors, dict):
        return dict(zip(sorted(tensors), outputs))
    return outputs[0] if len(outputs) == 1 else list(outputs)


# ---- sparse tensors ----

def _store(sparse, many, shared):
    """Returns the keys under which a map keeps a SparseTensor, or its rows."""
    kind = "AddManySparseToTensorsMap" if many else "AddSparseToTensorsMap"
    given = {} if shared is None else {"shared_name": shared}
    return op(kind, sparse_indices=sparse.indices, sparse_values=sparse.values, sparse_shape=sparse.dense_shape, **given)


def _map_of(key):
    """Returns the name of the map, which is that of the op that stored the tensor; that op may be inside a conditional.
    """
    while key.op.type in ("Merge", "Identity"):
        key = next(i for i in key.op.inputs if i.op.type != "Switch" and constant_value(i) is None)
    return key.op.name


def _stored(tensor, keep, many, shared):
    if isinstance(tensor, SparseTensorValue):
        tensor = SparseTensor.from_value(tensor)
    if not isinstance(tensor, SparseTensor):
        return convert_to_tensor(tensor), None
    if keep.shape.ndims == 1:
        raise NotImplementedError("maybe_batch(keep_input=a vector) does not take a SparseTensor in Weft: filter its rows "
                                  "before")
    key = _when(keep, lambda: _store(tensor, many, shared), lambda: convert_to_tensor(-1, dtypes.int64))
    name = shared or _map_of(key)
    rank = tensor.dense_shape.shape[0].value
    return expand_dims(key, -1), (name, tensor.dtype, rank if many or rank is None else rank + 1)


def _store_lists(lists, keep, many):
    """Returns the lists with keys in place of SparseTensors, and for each component its map, or None if it is dense."""
    first = [_stored(t, keep, many, None) for t in lists[0]]
    infos = [info for _, info in first]
    rest = [[_stored(t, keep, many, info and info[0])[0] for t, info in zip(one, infos, strict=True)] for one in lists[1:]]
    return [[t for t, _ in first], *rest], infos


def _restored(outputs, infos):
    if not any(infos):
        return outputs
    made = []
    for out, info in zip(outputs, infos):
        if info is None:
            made.append(out)
            continue
        name, dtype, rank = info
        keys = squeeze(out, [1])
        indices, values, shape = op("TakeManySparseFromTensorsMap", sparse_handles=keys, dtype=dtype, shared_name=name)
        if rank is not None:
            indices.set_shape([None, rank])
            shape.set_shape([rank])
        made.append(SparseTensor(indices, values, shape))
    parts = [m.values if isinstance(m, SparseTensor) else m for m in made]
    with control_dependencies([p.op for p in parts]):
        waiting = [SparseTensor(*(identity(t, name="control_dependency") for t in (m.indices, m.values, m.dense_shape)))
                   if isinstance(m, SparseTensor) else identity(m, name="control_dependency") for m in made]
    return waiting if len(made) > 1 else made


# ---- the queue and its elements ----

def _types(lists):
    types = [t.dtype.base_dtype for t in lists[0]]
    for other in lists[1:]:
        found = [t.dtype.base_dtype for t in other]
        if found != types:
            raise TypeError("Expected types to be consistent: %s vs. %s." % (
                ", ".join(t.name for t in types), ", ".join(t.name for t in found)))
    return types


def _element_shape(shapes, many):
    """Returns a shape that is compatible with this component in all lists."""
    shapes = [s.with_rank_at_least(1)[1:] if many else s for s in shapes]
    made = shapes[0]
    for s in shapes[1:]:
        if not made.is_compatible_with(s):
            raise ValueError("Shapes %s and %s are not compatible" % (made, s))
        made = made.merge_with(s)
    return made


def _shapes(lists, given, many):
    if given is not None:
        return [tensor_shape.as_shape(s) for s in given]
    for one in lists:
        for t in one:
            if t.shape.ndims is None:
                raise ValueError("Cannot infer Tensor's rank: %s" % t)
    return [_element_shape([one[i].shape for one in lists], many) for i in range(len(lists[0]))]


def _queue(o, types, shapes):
    if o.min_after is not None:
        return RandomShuffleQueue(capacity=o.capacity, min_after_dequeue=o.min_after, seed=o.seed, dtypes=types, shapes=shapes,
                                  shared_name=o.shared_name)
    kind = PaddingFIFOQueue if o.pad else FIFOQueue
    return kind(capacity=o.capacity, dtypes=types, shapes=shapes, shared_name=o.shared_name)


def _enqueue_op(queue, tensors, o, keep):
    put = queue.enqueue_many if o.many else queue.enqueue
    if keep.shape.ndims == 1:
        chosen = cast(keep, dtypes.int32)
        return put([dynamic_partition(t, chosen, num_partitions=2)[1] for t in tensors])
    return _when(keep, lambda: put(tensors), no_op)


def _summarize(queue, o):
    if o.min_after is None:
        name, full, room = "fraction_of_%d_full" % o.capacity, queue.size(), o.capacity
    else:
        room = o.capacity - o.min_after
        name, full = "fraction_over_%d_of_%d_full" % (o.min_after, room), maximum(0, queue.size() - o.min_after)
    summary.scalar(name, cast(full, dtypes.float32) * (1. / room))


def _whole(value, what):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError("Expected int for argument '%s' not %s." % (what, value)) from None


def _capacity(value):
    return int(value) if isinstance(value, float) and value == int(value) else _whole(value, "capacity")


def _checked(o):
    o = o._replace(capacity=_capacity(o.capacity), threads=_whole(o.threads, "num_threads"))
    if o.min_after is not None:
        o = o._replace(min_after=_whole(o.min_after, "min_after_dequeue"))
        if o.capacity <= o.min_after:
            raise ValueError("capacity %d must be bigger than min_after_dequeue %d." % (o.capacity, o.min_after))
    return o


def _batch(structures, batch_size, o, name, default):
    """Returns batches of one structure of tensors, or of several that are filled by one thread each (the join
    variants).
    """
    o = _checked(o)
    lists = [_flat(s) for s in structures]
    with name_scope(name, default, [t for one in lists for t in one if not isinstance(t, (SparseTensor, SparseTensorValue))]) \
            as scope:
        keep = _keep_input(o.keep, o.many)
        lists, infos = _store_lists(lists, keep, o.many)
        queue = _queue(o, _types(lists), _shapes(lists, o.shapes, o.many))
        puts = [_enqueue_op(queue, one, o, keep) for one in lists] * (o.threads if len(structures) == 1 else 1)
        add_queue_runner(QueueRunner(queue, puts))
        _summarize(queue, o)
        take = queue.dequeue_up_to if o.smaller else queue.dequeue_many
        outputs = take(batch_size, name=scope)
        outputs = _restored(list(outputs) if isinstance(outputs, (list, tuple)) else [outputs], infos)
        return _like(structures[0], outputs)


def _one(tensors, where):
    if isinstance(tensors, (list, tuple, dict)) and not tensors:
        raise ValueError("Expected at least one tensor in %s()." % where)
    if hasattr(tensors, "_as_graph_element"):
        return [[tensors]]
    return [tensors]


def _several(tensors_list):
    tensors_list = list(tensors_list)
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict) and any(set(t) != set(tensors_list[0]) for t in tensors_list[1:]):
        raise ValueError("All dictionaries must have the same keys")
    if any(len(t) != len(tensors_list[0]) for t in tensors_list[1:]):
        raise ValueError("All sets of tensors must have as many tensors: %s" % [len(t) for t in tensors_list])
    return tensors_list


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
          allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches of the tensors. shapes gives the shapes of the elements if the tensors have no known shapes."""
    return maybe_batch(tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
                       allow_smaller_final_batch, shared_name, name)


def maybe_batch(tensors, keep_input, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None,
                dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches of the elements for which keep_input is true."""
    return _batch(_one(tensors, "batch"), batch_size, _Options(
        capacity, None, None, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, keep_input,
        num_threads), name, "batch")


def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
               allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches of several lists of tensors, each filled by a thread of its own."""
    return maybe_batch_join(tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                            allow_smaller_final_batch, shared_name, name)


def maybe_batch_join(tensors_list, keep_input, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
                     allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches of several lists of tensors, with only the elements for which keep_input is true."""
    return _batch(_several(tensors_list), batch_size, _Options(
        capacity, None, None, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, keep_input, 1),
        name, "batch_join")


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False,
                  shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches of the tensors in random order, drawn from a queue that keeps min_after_dequeue elements."""
    return maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
                               shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, keep_input, num_threads=1, seed=None,
                        enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches in random order of the elements for which keep_input is true."""
    return _batch(_one(tensors, "shuffle_batch"), batch_size, _Options(
        capacity, min_after_dequeue, seed, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, keep_input,
        num_threads), name, "shuffle_batch")


def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False, shapes=None,
                       allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches in random order of several lists of tensors, each filled by a thread of its own."""
    return maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
                                    allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, keep_input, seed=None,
                             enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Returns batches in random order of several lists of tensors, with only the elements for which keep_input is true.
    """
    return _batch(_several(tensors_list), batch_size, _Options(
        capacity, min_after_dequeue, seed, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name, keep_input, 1),
        name, "shuffle_batch_join")
