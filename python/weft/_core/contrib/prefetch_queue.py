"""tf.contrib.slim.prefetch_queue: a queue that a thread fills with batches ahead of time."""
from weft._core.files import summary
from weft._core.framework.graph import name_scope
from weft._core.ops import data_flow, math_ops
from weft._core.train.coordinator import QueueRunner, add_queue_runner


def prefetch_queue(tensors, capacity=8, num_threads=1, dynamic_pad=False, shared_name=None, name=None):
    names = list(tensors) if isinstance(tensors, dict) else None
    values = list(tensors.values()) if names else list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    with name_scope(name, "prefetch_queue", values):
        kind = data_flow.PaddingFIFOQueue if dynamic_pad else data_flow.FIFOQueue
        queue = kind(capacity, [t.dtype.base_dtype for t in values], [t.shape for t in values], names, shared_name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        summary.scalar("fraction_of_%d_full" % capacity, math_ops.to_float(queue.size()) * (1.0 / capacity))
        return queue
