"""Queues: order, waiting, closing, cancelling and TensorFlow's words for what goes wrong."""
import pytest
import tensorflow as tf

from scenario import Fails, Join, Start, Until, check

v1 = tf.compat.v1
raw = tf.raw_ops


def fifo(types=(tf.float32,), shapes=((),), capacity=10, **kw):
    return raw.FIFOQueueV2(component_types=list(types), shapes=list(shapes), capacity=capacity, name=kw.pop("name", "q"), **kw)


def fed(value, dtype=None):
    """A value whose shape is known only when it runs."""
    return v1.placeholder_with_default(tf.constant(value, dtype), None)


def enqueue(q, *c):
    return raw.QueueEnqueueV2(handle=q, components=list(c))


def enqueue_many(q, *c):
    return raw.QueueEnqueueManyV2(handle=q, components=list(c))


def dequeue(q, *types):
    return raw.QueueDequeueV2(handle=q, component_types=list(types) or [tf.float32])


def dequeue_many(q, n, *types):
    return raw.QueueDequeueManyV2(handle=q, n=n, component_types=list(types) or [tf.float32])


def dequeue_up_to(q, n, *types):
    return raw.QueueDequeueUpToV2(handle=q, n=n, component_types=list(types) or [tf.float32])


def close(q, cancel=False):
    return raw.QueueCloseV2(handle=q, cancel_pending_enqueues=cancel)


def size(q):
    return raw.QueueSizeV2(handle=q)


def is_closed(q):
    return raw.QueueIsClosedV2(handle=q)


def order():
    q = fifo()
    return [enqueue_many(q, [1., 2, 3]), enqueue(q, 4.), size(q), dequeue(q), dequeue_many(q, 3), size(q), is_closed(q)]


def closed():
    q = fifo()
    return [enqueue(q, 1.), close(q), dequeue(q), dequeue(q), size(q), is_closed(q), enqueue(q, 1.), close(q), close(q, True),
            dequeue_many(q, 2), dequeue_up_to(q, 2), dequeue_many(q, 0)]


def closing_with_a_rest():
    q = fifo()
    return [enqueue_many(q, [1., 2]), close(q), dequeue_many(q, 3), size(q), dequeue_up_to(q, 3), size(q)]


def wrong_shapes():
    q = fifo()
    return [enqueue(q, fed([1., 2])), enqueue_many(q, fed([[1., 2]])), size(q), dequeue_many(q, fed(-1)),
            dequeue_up_to(q, fed(-1)), enqueue_many(q, fed([], tf.float32)), size(q),
            raw.QueueEnqueueV2(handle=q, components=[1.], timeout_ms=5)]


def wrong_types():
    q = fifo([tf.float32, tf.int32], [[], [2]])
    return [enqueue(q, 1), enqueue(q, 1.), enqueue(q, 1., [1, 2]), enqueue_many(q, fed([1., 2]), fed([[1, 2]])),
            enqueue_many(q, [1., 2], [[1, 2], [3, 4]]), enqueue(q, 1., fed([1, 2, 3])), dequeue(q, tf.float32),
            dequeue(q, tf.float32, tf.float32), dequeue_many(q, 3, tf.float32, tf.int32)]


def no_shapes():
    q = fifo(shapes=())
    return [enqueue(q, [1., 2]), enqueue(q, 3.), enqueue_many(q, [[4., 5], [6, 7]]), size(q), dequeue_many(q, 2),
            dequeue_up_to(q, 2), dequeue(q), dequeue(q), dequeue(q)]


def strings():
    q = fifo([tf.string, tf.bool, tf.complex64], [[], [1], []])
    types = [tf.string, tf.bool, tf.complex64]
    return [enqueue_many(q, ["a", "", "c"], [[True], [False], [True]], tf.constant([1j, 2, 3], tf.complex64)),
            dequeue(q, *types), dequeue_many(q, 2, *types)]


def shared():
    q, same = fifo(shared_name="s"), fifo(shared_name="s", name="same")
    return [enqueue(q, 1.), size(same), size(fifo(shared_name="s", capacity=11, name="a")),
            size(fifo([tf.int32], shared_name="s", name="b")), size(fifo(shapes=[[2]], shared_name="s", name="c")),
            size(raw.RandomShuffleQueueV2(component_types=[tf.float32], shapes=[[]], capacity=10, shared_name="s", name="d")),
            size(fifo(shared_name="s", container="elsewhere", name="e"))]


def waiting_dequeues_are_served_in_order():
    q = fifo(capacity=4)
    return [Start("many", dequeue_many(q, 3)), enqueue_many(q, [1., 2]), Until(size(q), 0), Start("one", dequeue(q)),
            enqueue_many(q, [3., 4]), Join("many"), Join("one"), size(q)]


def waiting_enqueues_are_served_in_order():
    q = fifo(capacity=2)
    return [enqueue(q, 1.), Start("many", enqueue_many(q, [2., 3, 4])), Until(size(q), 2), dequeue_many(q, 3), Join("many"),
            dequeue(q), size(q)]


def closing_ends_a_dequeue_that_waits():
    q = fifo()
    return [enqueue_many(q, [1., 2]), Start("get", dequeue_many(q, 3)), Until(size(q), 0), close(q), Join("get"), size(q),
            dequeue_many(q, 2)]


def closing_gives_a_waiting_up_to_its_rest():
    q = fifo()
    return [enqueue_many(q, [1., 2]), Start("get", dequeue_up_to(q, 3)), Until(size(q), 0), close(q), Join("get"), size(q)]


def closing_cancels_enqueues_when_told():
    q = fifo(capacity=2)
    return [enqueue(q, 1.), Start("put", enqueue_many(q, [2., 3])), Until(size(q), 2), close(q, True), Join("put"),
            dequeue_many(q, 2), dequeue(q)]


def closing_waits_for_enqueues():
    q = fifo(capacity=2)
    return [enqueue(q, 1.), Start("put", enqueue_many(q, [2., 3])), Until(size(q), 2), Start("close", close(q)),
            dequeue(q), Join("put"), Join("close"), is_closed(q), dequeue_many(q, 2), dequeue(q)]


def deadlines():
    q, full = fifo(), fifo(capacity=1, name="full")
    return [Fails(dequeue(q)), size(q), enqueue(full, 1.), Fails(enqueue(full, 2.)), dequeue(full), size(full), enqueue(q, 3.),
            dequeue(q)]


def shuffle(min_after=0, **kw):
    return raw.RandomShuffleQueueV2(component_types=[tf.int32], shapes=[[]], capacity=20, min_after_dequeue=min_after,
                                    seed=kw.get("seed", 3), seed2=kw.get("seed2", 7), name="r")


def shuffled():
    q, i = shuffle(), tf.int32
    return [enqueue_many(q, list(range(10))), dequeue_many(q, 10, i), enqueue_many(q, list(range(20))), dequeue_many(q, 15, i),
            *[dequeue(q, i) for _ in range(5)]]


def shuffled_with_a_reserve():
    q, i = shuffle(2), tf.int32
    return [enqueue_many(q, list(range(10))), dequeue_many(q, 3, i), dequeue(q, i), dequeue_many(q, 4, i), size(q),
            Fails(dequeue(q, i)), close(q), dequeue_many(q, 2, i), dequeue(q, i)]


def shuffle_that_waits_below_its_reserve():
    q, i = shuffle(5), tf.int32
    return [enqueue_many(q, list(range(7))), Start("get", dequeue_many(q, 9, i)), Until(size(q), 5), close(q), Join("get"),
            size(q), dequeue_up_to(q, 9, i)]


def shuffle_with_bad_reserves():
    return [size(shuffle(n)) for n in (20, 30, -1)]


def padded():
    types = [tf.float32, tf.string]
    q = raw.PaddingFIFOQueueV2(component_types=types, shapes=[[None], [None, 2]], capacity=10, name="p")
    return [enqueue(q, fed([1., 2]), fed([["a", "b"]])), enqueue(q, fed([3.]), fed([["c", "d"], ["e", "f"]])),
            enqueue(q, fed(1.), fed([["a", "b"]])), enqueue(q, fed([1.]), fed([["a", "b", "c"]])), dequeue_many(q, 2, *types),
            enqueue(q, [1.], [["a", "b"]]), dequeue(q, *types), dequeue_many(q, 0, *types),
            enqueue_many(q, [[5., 6, 7]], [[["x", "y"]]]), close(q), dequeue_up_to(q, 5, *types)]


def padding_needs_ranks():
    make = lambda shapes, name: raw.PaddingFIFOQueueV2(component_types=[tf.float32], shapes=shapes, name=name)
    return [size(make([None], "a")), size(make([], "b"))]


def by_priority():
    q = raw.PriorityQueueV2(component_types=[tf.string], shapes=[[]], capacity=10, name="pq")
    types = [tf.int64, tf.string]
    return [enqueue_many(q, tf.constant([3, 1, 2, 1, 3], tf.int64), list("abcde")), size(q), dequeue(q, *types),
            dequeue_many(q, 3, *types), enqueue(q, fed([1], tf.int64), "x"), enqueue(q, tf.constant(0, tf.int64), "x"),
            dequeue_many(q, 2, *types), close(q), dequeue(q, *types)]


def old_handles():
    q = raw.FIFOQueue(component_types=[tf.float32], shapes=[[]], capacity=10, shared_name="old", name="old")
    return [q, raw.QueueEnqueue(handle=q, components=[1.]), raw.QueueEnqueueMany(handle=q, components=[[2., 3]]),
            raw.QueueSize(handle=q), raw.QueueDequeue(handle=q, component_types=[tf.float32]),
            raw.QueueDequeueMany(handle=q, n=1, component_types=[tf.float32]), raw.QueueClose(handle=q),
            raw.QueueDequeueUpTo(handle=q, n=5, component_types=[tf.float32]), raw.QueueIsClosed(handle=q),
            raw.QueueDequeue(handle=q, component_types=[tf.float32])]


SCENARIOS = [order, closed, closing_with_a_rest, wrong_shapes, wrong_types, no_shapes, strings, shared,
             waiting_dequeues_are_served_in_order, waiting_enqueues_are_served_in_order, closing_ends_a_dequeue_that_waits,
             closing_gives_a_waiting_up_to_its_rest, closing_cancels_enqueues_when_told, closing_waits_for_enqueues, deadlines,
             shuffled, shuffled_with_a_reserve, shuffle_that_waits_below_its_reserve, shuffle_with_bad_reserves, padded,
             padding_needs_ranks, by_priority, old_handles]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_queue_behaves_as_tensorflows(scenario):
    check(scenario)
