"""Barriers: tuples whose components arrive one by one, what waits for them, and what a closed barrier refuses."""
import tensorflow as tf

from scenario import Fails, Join, Start, Until, check

raw = tf.raw_ops
TYPES = [tf.float32, tf.int32]


class Made:
    def __init__(self, name, shapes=((), (2,))):
        self.handle = raw.Barrier(component_types=TYPES, shapes=[list(s) for s in shapes], shared_name=name)

    def put(self, component, keys, values):
        values = tf.constant(values, TYPES[component])
        return raw.BarrierInsertMany(handle=self.handle, keys=keys, values=values, component_index=component)

    def take(self, n, types=TYPES, **more):
        made = raw.BarrierTakeMany(handle=self.handle, num_elements=n, component_types=types, **more)
        return [made.indices, made.keys, *made.values]

    def close(self, cancel=False):
        return raw.BarrierClose(handle=self.handle, cancel_pending_enqueues=cancel)

    def ready(self):
        return raw.BarrierReadySize(handle=self.handle)

    def incomplete(self):
        return raw.BarrierIncompleteSize(handle=self.handle)


def tuples():
    b = Made("tuples")
    sizes = lambda: [b.ready(), b.incomplete()]
    return [sizes(), b.put(0, ["a", "b", "c"], [1.0, 2.0, 3.0]), sizes(), b.put(1, ["c", "a"], [[30, 31], [10, 11]]), sizes(),
            b.put(1, ["c"], [[32, 33]]), b.put(0, ["b"], [5.0]), b.take(2), sizes(), b.put(0, ["c", ""], [5.0, 6.0]), sizes(), b.take(1),
            b.put(1, ["", "b"], [[1, 2], [3, 4]]), b.take(1), b.take(1), sizes(), b.put(0, ["x", "x"], [5.0, 6.0]), sizes(), b.handle]


def closed():
    b = Made("closed", ((), ()))
    return [b.put(0, ["a", "b", "c"], [1.0, 2.0, 3.0]), b.put(1, ["b"], [20]), b.close(), Fails(b.close()), Fails(b.put(0, ["new"], [1.0])),
            b.take(5), b.take(4, allow_small_batch=True), b.take(4, allow_small_batch=True), b.put(1, ["a"], [10]), b.take(1),
            b.put(1, ["c"], [30]), b.take(2, allow_small_batch=True, wait_for_incomplete=True),
            b.take(1), Fails(b.put(1, ["c"], [30])), [b.ready(), b.incomplete()]]


def canceled():
    b = Made("canceled", ((), ()))
    return [b.put(0, ["a", "b"], [1.0, 2.0]), b.put(1, ["b"], [20]), b.close(True), [b.ready(), b.incomplete()],
            Fails(b.put(1, ["a"], [1])), b.take(2), b.take(1), Fails(b.close()), b.take(1)]


def waits():
    b = Made("waits", ((), ()))
    return [Start("two", b.take(2)), b.put(0, ["a", "b"], [1.0, 2.0]), b.put(1, ["b"], [20]), b.put(1, ["a"], [10]), Join("two"),
            Start("none", b.take(1)), b.put(0, ["c"], [3.0]), Until(b.incomplete(), 1), b.close(), b.put(1, ["c"], [30]), Join("none")]


def wrong():
    b = Made("wrong")
    other = raw.Barrier(component_types=[tf.int32], shapes=[[]], shared_name="wrong")
    return [b.put(0, ["a"], [1.0]), Fails(raw.BarrierInsertMany(handle=b.handle, keys=["z"], values=[1.0], component_index=2)),
            Fails(raw.BarrierInsertMany(handle=b.handle, keys=["z"], values=[1], component_index=0)),
            Fails(raw.BarrierReadySize(handle=other)), Fails(b.take(1, [tf.int32, tf.int32])),
            raw.Barrier(component_types=[tf.float32], shapes=[[]], capacity=3), raw.Barrier(component_types=[tf.float32], shapes=[]),
            raw.Barrier(component_types=[tf.float32], shapes=[tf.TensorShape([None])])]


def test_a_tuple_is_ready_once_it_has_all_components():
    check(tuples)


def test_a_closed_barrier_takes_no_new_keys():
    check(closed)


def test_a_canceled_barrier_drops_what_is_not_complete():
    check(canceled)


def test_a_take_waits_for_tuples():
    check(waits)


def test_what_does_not_fit_is_refused():
    check(wrong)
