"""tf.estimator.inputs: input functions that read batches from arrays in memory."""
import collections

import numpy as np

from weft._core.files import summary
from weft._core.framework import dtypes, errors
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.data_flow import FIFOQueue, RandomShuffleQueue
from weft._core.ops.script_ops import py_func
from weft._core.train.coordinator import QueueRunner, add_queue_runner


class _Rows:
    """Yields rows of arrays of equal length in order, a few at a time, for a number of epochs from a first row on."""

    def __init__(self, arrays, count, num_epochs, first):
        self._arrays, self._count, self._next = arrays, count, first
        self._end = None if num_epochs is None else first + num_epochs * len(arrays[0])

    def take(self):
        end = self._next + self._count if self._end is None else min(self._next + self._count, self._end)
        if end <= self._next:
            raise errors.OutOfRangeError(None, None, "the arrays of the input_fn are at their end")
        rows, self._next = np.arange(self._next, end) % len(self._arrays[0]), end
        return [rows.astype(np.int64)] + [a[rows] for a in self._arrays]


def _queue(types, shapes, capacity, shuffle):
    if shuffle:
        return RandomShuffleQueue(capacity, capacity // 4, types, shapes), capacity // 4
    return FIFOQueue(capacity, types, shapes), 0


def _enqueue(queue, types, rows):
    """Returns a node that takes rows and one that enqueues them.

    TensorFlow has a placeholder per array, which the thread of the queue runner feeds.  Here the first of these nodes
    calls Python, so that the library's own threads run it; the names and the number of the nodes are the same.
    """
    taken = py_func(rows.take, [], types, name="Placeholder")
    given = taken[:1] + [array_ops.identity(t, name="Placeholder") for t in taken[1:]]
    return queue.enqueue_many(given)


def _fullness(queue, least, capacity):
    """Adds TensorFlow's summary of a queue: how full it is, not counting the elements kept for shuffling."""
    over = math_ops.cast(math_ops.maximum(0, queue.size() - least), dtypes.float32)
    summary.scalar("queue/%sfraction_over_%d_of_%d_full" % (queue.name, least, capacity - least), over * (1.0 / (capacity - least)))


def _tensors(arrays, batch_size, num_epochs, shuffle, capacity, num_threads):
    """Returns the batches of arrays, dequeued from a queue that queue runners fill."""
    types = [dtypes.int64] + [dtypes.as_dtype(a.dtype) if a.dtype.kind not in "OSU" else dtypes.string for a in arrays]
    with name_scope("enqueue_input"):
        queue, least = _queue(types, [()] + [a.shape[1:] for a in arrays], capacity, shuffle)
        # As in TensorFlow, each thread of a shuffled input starts at a random row; here the graph's seed determines it.
        seed = get_default_graph().seed
        start = np.random.RandomState(None if seed is None else seed % 2**32)
        firsts = [start.randint(len(arrays[0])) if shuffle and len(arrays[0]) else 0 for _ in range(num_threads)]
        enqueued = [_enqueue(queue, types, _Rows(arrays, batch_size, num_epochs, first)) for first in firsts]
        add_queue_runner(QueueRunner(queue, enqueued, queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError)))
        _fullness(queue, least, capacity)
    return (queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size))[1:]


def _check(shuffle):
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
                         "training); got %s" % shuffle)


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """Returns an input_fn for batches of a dict of arrays (or of one array), with y as labels (an array, or a dict of
    them).
    """
    _check(shuffle)
    features = collections.OrderedDict(sorted((k, np.asarray(v)) for k, v in x.items())) if isinstance(x, dict) else np.asarray(x)
    if isinstance(x, dict) and not x:
        raise ValueError("x cannot be an empty dict")
    labels = collections.OrderedDict(sorted((k, np.asarray(v)) for k, v in y.items())) if isinstance(y, dict) else \
        None if y is None else np.asarray(y)
    if isinstance(y, dict) and not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    one = [features] if not isinstance(features, dict) else list(features.values())
    two = [] if labels is None else [labels] if not isinstance(labels, dict) else list(labels.values())
    if len({len(a) for a in one + two}) > 1:
        raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same length. "
                         "Shapes are: %s" % [a.shape for a in one + two])

    def input_fn():
        made = _tensors(one + two, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
        found = made[:len(one)]
        features_out = collections.OrderedDict(zip(features, found)) if isinstance(features, dict) else found[0]
        if labels is None:
            return features_out
        rest = made[len(one):]
        return features_out, (collections.OrderedDict(zip(labels, rest)) if isinstance(labels, dict) else rest[0])
    return input_fn


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1,
                    target_column="target"):
    """Returns an input_fn for batches of the columns of a DataFrame, with a Series (or DataFrame) as labels."""
    _check(shuffle)
    columns = {name: np.asarray(x[name]) for name in x.columns}
    if y is None:
        labels = None
    elif hasattr(y, "columns"):
        labels = {name: np.asarray(y[name]) for name in y.columns}
    else:
        labels = np.asarray(y)
    if y is not None and not np.array_equal(np.asarray(x.index), np.asarray(y.index)):
        raise ValueError("Index for x and y are mismatched.\nIndex for x: %s\nIndex for y: %s\n" % (x.index, y.index))
    return numpy_input_fn(columns, labels, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
