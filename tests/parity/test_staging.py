"""Staging areas: tuples in the order of arrival and by key, waits, limits and what goes wrong."""
import tensorflow as tf

from scenario import Fails, Join, Start, Until, check

raw = tf.raw_ops
TYPES = [tf.float32, tf.int32]


def fifo(name="area", **limits):
    at = dict(shared_name=name, **limits)
    return (lambda *v: raw.Stage(values=[tf.constant(v[0], tf.float32), tf.constant(v[1], tf.int32)], **at),
            lambda: raw.Unstage(dtypes=TYPES, **at), lambda i: raw.StagePeek(index=i, dtypes=TYPES, **at),
            lambda: raw.StageSize(dtypes=TYPES, **at), lambda: raw.StageClear(dtypes=TYPES, **at))


def in_order():
    put, get, peek, size, clear = fifo()
    return [size(), put(1.0, 1), put([2.0, 3.0], 2), size(), peek(1), peek(0), get(), size(), put(4.0, 4), get(), get(), size(),
            put(5.0, 5), clear(), size()]


def waits():
    put, get, peek, size, _ = fifo("small", capacity=1)
    return [Start("taker", get()), put(1.0, 1), Join("taker"), put(2.0, 2), Start("putter", put(3.0, 3)), get(), Join("putter"),
            Until(size(), 1), Start("peeker", peek(0)), Join("peeker"), get(), size()]


def limits():
    put, _, _, size, _ = fifo("bytes", memory_limit=16)
    return [put(1.0, 1), Fails(put([1.0] * 50, 1)), size()]


def mapped(kind):
    at = dict(shared_name=kind)
    key = lambda k: tf.constant(k, tf.int64)
    stage = lambda k, where, v: getattr(raw, kind + "Stage")(key=key(k), indices=where, values=v, dtypes=TYPES, **at)
    both = lambda k, x, n: stage(k, [0, 1], [tf.constant(x, tf.float32), tf.constant(n, tf.int32)])
    take = lambda k, where, types: getattr(raw, kind + "Unstage")(key=key(k), indices=where, dtypes=types, **at)
    peek = lambda k, where, types: getattr(raw, kind + "Peek")(key=key(k), indices=where, dtypes=types, **at)
    size = lambda: getattr(raw, kind + "Size")(dtypes=TYPES, **at)
    part = lambda: getattr(raw, kind + "IncompleteSize")(dtypes=TYPES, **at)

    def any_one():
        made = getattr(raw, kind + "UnstageNoKey")(indices=[0, 1], dtypes=TYPES, **at)
        return [made.key, *made.values]

    def steps():
        first = [both(7, 1.5, 1), size(), peek(7, [1], [tf.int32]), take(7, [0, 1], TYPES), size(), stage(3, [1], [tf.constant(9)]), part(),
                 size(), Fails(stage(3, [1], [tf.constant(8)])), stage(3, [0], [tf.constant(2.5)]), part(), take(3, [0], [tf.float32]),
                 size(), Fails(take(3, [0], [tf.float32])), take(3, [1], [tf.int32]), size(), Start("waits", take(5, [0, 1], TYPES)),
                 both(5, 0.5, 5), Join("waits"), both(6, 6.0, 6)]
        ordered = [both(4, 4.0, 4), any_one(), any_one()] if kind == "OrderedMap" else [any_one()]
        return first + ordered + [size(), both(1, 1.0, 1), getattr(raw, kind + "Clear")(dtypes=TYPES, **at), size()]
    return steps


def test_tuples_leave_in_the_order_of_arrival():
    check(in_order)


def test_requests_wait_for_tuples_and_for_room():
    check(waits)


def test_tuples_that_are_too_large_are_refused():
    check(limits)


def test_maps():
    for kind in ("Map", "OrderedMap"):
        check(mapped(kind))
