"""tf.FIFOQueue and the other queues, barriers and gradient accumulators."""
import hashlib

from weft._core.framework import tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import constant_value, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, control_dependencies, device, name_scope
from weft._core.ops.control_flow import group  # noqa: F401 - programs import it from here
from weft._core.ops.random_ops import get_seed


def _list(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _known(n):
    value = constant_value(n) if isinstance(n, Tensor) else n
    return None if value is None else int(value)


class QueueBase(metaclass=Named):
    """A queue: its handle or reference, and the types, shapes and names of its elements."""

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = [as_dtype(d) for d in _list(dtypes)]
        self._shapes = [tensor_shape.TensorShape(None)] * len(self._dtypes) if not shapes else [
            tensor_shape.as_shape(s) for s in shapes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("List of names must have the same length as the list of dtypes, received len(names)=%d,len(dtypes)=%d" % (
                len(names), len(self._dtypes)))
        self._names, self._queue_ref = names, queue_ref

    @staticmethod
    def from_list(index, queues):
        """Returns a queue that a tensor selects in each run; all queues have elements of the same types and names."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(q.dtypes != first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = []
        for each in zip(*(q.shapes for q in queues)):
            shape = each[0]
            for other in each[1:]:
                shape = shape.most_specific_compatible_shape(other)
            shapes.append(shape)
        from weft._core.ops import array_ops
        chosen = array_ops.gather(array_ops.stack([q.queue_ref for q in queues]), index)
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    queue_ref = property(lambda self: self._queue_ref)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)

    @property
    def name(self):
        return self._queue_ref.op.name

    @property
    def graph(self):
        return self._queue_ref.graph

    def _name(self, suffix):
        return "%s_%s" % (self._queue_ref.op.name.rpartition("/")[2], suffix)

    def _kind(self, kind):
        """Returns the name of the op: the original op for a queue by reference, the V2 op for a resource."""
        return kind if self._queue_ref.dtype.base_dtype.name == "string" else kind + "V2"

    def _components(self, vals):
        if not isinstance(vals, dict):
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            return _list(vals)
        if not self._names:
            raise ValueError("Queue must have names to enqueue a dictionary")
        if sorted(vals) != sorted(self._names):
            raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: %s,Queue: %s" % (
                sorted(vals), sorted(self._names)))
        return [vals[n] for n in self._names]

    def _tensors(self, vals):
        """Converts one value for each component; values past the last component are dropped, as in TensorFlow."""
        from weft._core.framework.build import convert_to_tensor
        pairs = zip(self._components(vals), self._dtypes)
        return [convert_to_tensor(v, d, name="component_%d" % i) for i, (v, d) in enumerate(pairs)]

    def enqueue(self, vals, name=None):
        with name_scope(name, self._name("enqueue")) as scope:
            vals = self._tensors(vals)
            for v, s in zip(vals, self._shapes):
                v.shape.assert_is_compatible_with(s)
            return op(self._kind("QueueEnqueue"), scope, handle=self._queue_ref, components=vals)

    def enqueue_many(self, vals, name=None):
        with name_scope(name, self._name("EnqueueMany")) as scope:
            vals = self._tensors(vals)
            for v, s in zip(vals, self._shapes):
                v.shape.with_rank_at_least(1)[1:].assert_is_compatible_with(s)
            count = tensor_shape.TensorShape([None])
            for v in vals:
                count = count.merge_with(v.shape[:1])  # All components have the same number of elements.
            return op(self._kind("QueueEnqueueMany"), scope, handle=self._queue_ref, components=vals)

    def _result(self, outputs):
        if self._names:
            return dict(zip(self._names, outputs))
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def _shaped(self, outputs, prefix):
        for out, shape in zip(outputs, self._shapes):
            if shape.ndims is not None:
                out.set_shape(tensor_shape.TensorShape(prefix).concatenate(shape))
        return self._result(outputs)

    def dequeue(self, name=None):
        made = op(self._kind("QueueDequeue"), name or self._name("Dequeue"), handle=self._queue_ref,
                  component_types=self._dtypes)
        return self._shaped(_list(made), [])

    def dequeue_many(self, n, name=None):
        made = op(self._kind("QueueDequeueMany"), name or self._name("DequeueMany"), handle=self._queue_ref, n=n,
                  component_types=self._dtypes)
        return self._shaped(_list(made), [n if isinstance(n, int) else _known(n)])

    def dequeue_up_to(self, n, name=None):
        made = op(self._kind("QueueDequeueUpTo"), name or self._name("DequeueUpTo"), handle=self._queue_ref, n=n,
                  component_types=self._dtypes)
        return self._shaped(_list(made), [None])

    def close(self, cancel_pending_enqueues=False, name=None):
        return op(self._kind("QueueClose"), name or self._name("Close"), handle=self._queue_ref,
                  cancel_pending_enqueues=cancel_pending_enqueues)

    def is_closed(self, name=None):
        return op("QueueIsClosedV2", name or self._name("IsClosed"), handle=self._queue_ref)

    def size(self, name=None):
        return op(self._kind("QueueSize"), name or self._name("Size"), handle=self._queue_ref)


class Barrier:
    """Collects elements whose components arrive separately; one can be taken when all its components are there."""

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        self._types = [as_dtype(t) for t in _list(types)]
        if shapes is not None:
            shapes = [tensor_shape.as_shape(s) for s in shapes]
            _check_shapes("Barrier", self._types, shapes)
        self._shapes = shapes or [tensor_shape.TensorShape(None)] * len(self._types)
        given = {"shapes": shapes} if shapes else {}
        self._ref = op("Barrier", name, component_types=self._types, shared_name=shared_name or "", **given)

    barrier_ref = property(lambda self: self._ref)

    @property
    def name(self):
        return self._ref.op.name

    def _name(self, suffix):
        return "%s_%s" % (self.name, suffix)

    def insert_many(self, component_index, keys, values, name=None):
        """Adds one component to the elements of these keys."""
        return op("BarrierInsertMany", name or self._name("BarrierInsertMany"), handle=self._ref, keys=keys, values=values,
                  component_index=component_index)

    def take_many(self, num_elements, allow_small_batch=False, timeout=None, name=None):
        """Returns (indices, keys, values of each component) of complete elements, in the order of their first
        components.
        """
        made = op("BarrierTakeMany", name or self._name("BarrierTakeMany"), handle=self._ref, num_elements=num_elements,
                  component_types=self._types, allow_small_batch=allow_small_batch, **({} if timeout is None else {"timeout_ms": timeout}))
        indices, keys, *values = made.indices, made.keys, *_list(made.values)
        count = None if allow_small_batch else _known(num_elements)
        for tensor, shape in zip([indices, keys, *values], [tensor_shape.scalar(), tensor_shape.scalar(), *self._shapes]):
            tensor.set_shape(tensor_shape.TensorShape([count]).concatenate(shape))
        return indices, keys, values

    def close(self, cancel_pending_enqueues=False, name=None):
        """Stops accepting new keys, and with cancel_pending_enqueues also new components."""
        return op("BarrierClose", name or self._name("BarrierClose"), handle=self._ref, cancel_pending_enqueues=cancel_pending_enqueues)

    def ready_size(self, name=None):
        """Returns the number of complete elements."""
        return op("BarrierReadySize", name or self._name("BarrierReadySize"), handle=self._ref)

    def incomplete_size(self, name=None):
        """Returns the number of elements that lack a component."""
        return op("BarrierIncompleteSize", name or self._name("BarrierIncompleteSize"), handle=self._ref)


def queue_of(queue_ref, dtypes, shapes):
    """Returns the queue object for a queue that the library made."""
    return QueueBase(dtypes, shapes, None, queue_ref)


def _make(kind, name, dtypes, shapes, **more):
    known = [as_dtype(d) for d in _list(dtypes)]
    if shapes is not None:
        shapes = [tensor_shape.as_shape(s) for s in (shapes if len(known) > 1 or _nested(shapes) else [shapes])]
        _check_shapes(kind, known, shapes)
    given = {"shapes": shapes} if shapes is not None else {}
    return known, shapes, op(kind, name, component_types=known, **given, **more)


def _check_shapes(kind, known, shapes):
    if len(shapes) != len(known):
        raise ValueError("Queue shapes must have the same length as dtypes, received len(shapes)=%d, len(dtypes)=%d"
                         % (len(shapes), len(known)))
    if kind == "PaddingFIFOQueueV2":
        if any(s.ndims is None for s in shapes):
            raise ValueError("Cannot use an unknown rank in the shapes of a PaddingFIFOQueue: %s" % (shapes,))
    elif not all(s.is_fully_defined() for s in shapes):
        raise ValueError("All shapes must be fully defined: %s" % (shapes,))


def _nested(shapes):
    """Returns whether this is a list of shapes and not one shape."""
    return isinstance(shapes, (list, tuple)) and all(
        isinstance(s, (list, tuple, tensor_shape.TensorShape)) for s in shapes) and len(shapes) > 0


class FIFOQueue(QueueBase):
    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        with control_dependencies(None), device("/device:CPU:*"):
            known, shapes, ref = _make("FIFOQueueV2", name, dtypes, shapes, capacity=capacity, shared_name=shared_name or "")
        super().__init__(known, shapes, names, ref)


def queue_seeds(seed, shared_name):
    """Returns the seeds of a queue. As in TensorFlow, tasks that share a queue derive the same second seed from its name."""
    first, second = get_seed(seed)
    if first is None:
        return 0, 0
    if seed is None and shared_name is not None:
        second = int(hashlib.md5((str(first) + shared_name).encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
    return first, second


class RandomShuffleQueue(QueueBase):
    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        first, second = queue_seeds(seed, shared_name)
        known, shapes, ref = _make("RandomShuffleQueueV2", name, dtypes, shapes, capacity=capacity, seed=first,
                                   seed2=second, min_after_dequeue=min_after_dequeue, shared_name=shared_name or "")
        super().__init__(known, shapes, names, ref)


class PaddingFIFOQueue(QueueBase):
    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        if shapes is None or isinstance(shapes, (list, tuple)) and None in shapes:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        known, shapes, ref = _make("PaddingFIFOQueueV2", name, dtypes, shapes, capacity=capacity, shared_name=shared_name or "")
        super().__init__(known, shapes, names, ref)


class PriorityQueue(QueueBase):
    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        from weft._core.framework import dtypes
        known = [as_dtype(t) for t in _list(types)]
        given = {} if shapes is None else {"shapes": [tensor_shape.as_shape(s) for s in shapes]}
        ref = op("PriorityQueueV2", name, component_types=known, capacity=capacity, shared_name=shared_name or "", **given)
        super().__init__([dtypes.int64] + known, None if shapes is None else [tensor_shape.scalar()] + list(given["shapes"]),
                         names, ref)


class ConditionalAccumulatorBase(metaclass=Named):
    """The base of gradient accumulators."""

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype, self._shape, self._ref = as_dtype(dtype), tensor_shape.TensorShape(shape), accumulator_ref

    accumulator_ref = property(lambda self: self._ref)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._ref.op.name)

    def num_accumulated(self, name=None):
        return op("AccumulatorNumAccumulated", name, handle=self._ref)

    def set_global_step(self, new_global_step, name=None):
        return op("AccumulatorSetGlobalStep", name, handle=self._ref, new_global_step=new_global_step)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums gradients until enough of them have arrived."""

    def __init__(self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"):
        super().__init__(dtype, shape, op("ConditionalAccumulator", name, dtype=as_dtype(dtype), shape=tensor_shape.TensorShape(shape),
                                          shared_name=shared_name or "", reduction_type=reduction_type))

    def apply_grad(self, grad, local_step=0, name=None):
        """Adds a gradient; it is dropped if local_step is less than the accumulator's global step."""
        from weft._core.framework import dtypes
        from weft._core.framework.build import convert_to_tensor
        from weft._core.ops.math_ops import cast
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return op("AccumulatorApplyGradient", name, handle=self._ref, local_step=cast(local_step, dtypes.int64), gradient=grad)

    def take_grad(self, num_required, name=None):
        """Returns the average, once num_required gradients have arrived."""
        taken = op("AccumulatorTakeGradient", name, handle=self._ref, num_required=num_required, dtype=self._dtype)
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums sparse gradients until enough of them have arrived."""

    def __init__(self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator", reduction_type="MEAN"):
        super().__init__(dtype, shape, op("SparseConditionalAccumulator", name, dtype=as_dtype(dtype), reduction_type=reduction_type,
                                          shape=tensor_shape.TensorShape(shape), shared_name=shared_name or ""))

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        """Adds rows of a gradient; it is dropped if local_step is less than the accumulator's global step."""
        from weft._core.framework import dtypes
        from weft._core.ops.math_ops import cast
        local_step = cast(local_step, dtypes.int64)
        return op("SparseAccumulatorApplyGradient", name, handle=self._ref, local_step=local_step,
                  gradient_indices=cast(grad_indices, dtypes.int64), gradient_values=grad_values,
                  gradient_shape=cast([] if grad_shape is None else grad_shape, dtypes.int64), has_known_shape=grad_shape is not None)

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """Adds a gradient given as IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def take_grad(self, num_required, name=None):
        """Returns the indices, values and shape of the average, once num_required gradients have arrived."""
        return op("SparseAccumulatorTakeGradient", name, handle=self._ref, num_required=num_required, dtype=self._dtype)

    def take_indexed_slices_grad(self, num_required, name=None):
        """Returns the average as IndexedSlices."""
        from weft._core.framework.graph import IndexedSlices
        made = self.take_grad(num_required, name)
        return IndexedSlices(made.values, made.indices, made.shape)
