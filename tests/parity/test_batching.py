"""Batch, Unbatch, UnbatchGrad and BatchFunction: rows of runs that go on at the same time."""
import os
import sys
import threading
import time

import numpy as np
import pytest
import tensorflow as tf

import weftlib

sys.path.append(os.environ.get("WEFT_PYTHON", str(weftlib.ROOT / "build" / "python")))
import weft  # noqa: E402

SYSTEMS = [tf.compat.v1, weft]
FULL = dict(num_batch_threads=1, max_batch_size=4, batch_timeout_micros=20_000_000)
SOON = dict(FULL, batch_timeout_micros=1000)


def rows(n, value):
    return np.full((n, 2), value, np.float32)


def together(session, fetches, feeds):
    """What each run gives; one starts a little after the other, since nothing shows that TensorFlow has taken its rows."""
    found = [None] * len(feeds)

    def run(i):
        try:
            found[i] = session.run(fetches, feeds[i])
        except Exception as e:  # the class is compared
            found[i] = type(e).__name__
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(feeds))]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    return found


def lists(values):
    return [v if isinstance(v, str) else [np.asarray(p).tolist() for p in (v if isinstance(v, list) else [v])] for v in values]


def compared(build, feeds):
    """Runs of all feeds at once, in both systems."""
    found = []
    for system in SYSTEMS:
        with system.Graph().as_default(), system.Session() as session:
            holders, fetches = build(system)
            made = together(session, fetches, [dict(zip(holders, f)) for f in feeds])
            shapes = [None if t.shape.ndims is None else t.shape.as_list() for t in system.nest.flatten(fetches)]
            found.append((lists(made), shapes))
    assert found[0] == found[1]
    return found[0][0]


def batched(options, times=1.0):
    def build(system):
        x = system.placeholder(system.float32, [None, 2])
        made = system.raw_ops.Batch(in_tensors=[x], grad_timeout_micros=0, **options)
        begins = made.batch_index[:, 1:]
        whole = system.raw_ops.Unbatch(batched_tensor=made.batched_tensors[0] * times, batch_index=made.batch_index, id=made.id,
                                       timeout_micros=20_000_000)
        return [x], [made.batched_tensors[0], begins, whole]
    return build


def test_the_last_of_two_runs_gets_the_batch_and_each_its_own_rows():
    found = compared(batched(FULL, 10.0), [[rows(1, 1)], [rows(3, 2)]])
    assert found[1][0] == [[1, 1], [2, 2], [2, 2], [2, 2]] and found[0][2] == [[10, 10]]


def test_a_batch_is_padded_with_its_first_row():
    found = compared(batched(dict(SOON, allowed_batch_sizes=[2, 4])), [[np.arange(6, dtype=np.float32).reshape(3, 2)]])
    assert found[0][0] == [[0, 1], [2, 3], [4, 5], [0, 1]]


@pytest.mark.parametrize("options, n", [({}, 5), ({"allowed_batch_sizes": [2, 3]}, 1), ({"allowed_batch_sizes": [4, 2]}, 1)])
def test_what_batch_refuses(options, n):
    found = compared(batched(dict(SOON, **options)), [[rows(n, 1)]])
    assert isinstance(found[0], str)


def test_one_batch_may_always_wait_and_a_second_only_with_room():
    assert not isinstance(compared(batched(dict(SOON, max_enqueued_batches=0)), [[rows(1, 1)]])[0], str)
    found = compared(batched(dict(FULL, max_enqueued_batches=1, batch_timeout_micros=300_000)), [[rows(3, 1)], [rows(3, 2)]])
    assert found[1] == "UnavailableError"


@pytest.mark.parametrize("last", [False, True])
def test_gradients_come_together_where_the_batch_is(last):
    def build(system):
        holders = [system.placeholder(t, s) for t, s in ((system.float32, [None, 2]), (system.int64, [None, 3]),
                                                         (system.float32, [None, 2]), (system.int64, []))]
        original, index, grad, own = holders
        return holders, system.raw_ops.UnbatchGrad(original_input=original, batch_index=index, grad=grad, id=own)
    feeds = [[rows(3, 0), [[5, 0, 1], [6, 1, 3]], rows(1, 1), 5], [rows(0, 0), np.zeros([0, 3]), rows(2, 2), 6]]
    compared(build, feeds[::-1] if last else feeds)


def test_unbatch_gives_up_after_its_time():
    def build(system):
        none = system.zeros([0, 2])
        return [], system.raw_ops.Unbatch(batched_tensor=none, batch_index=system.zeros([0, 3], system.int64),
                                          id=system.constant(7, system.int64), timeout_micros=1000)
    assert compared(build, [[]]) == ["DeadlineExceededError"]


def called(options, fn):
    def build(system):
        x, captured = system.placeholder(system.float32, [None, 2]), system.constant(100.0)
        made = system.nondifferentiable_batch_function(**options)(lambda y: fn(system, y, captured))(x)
        return [x], made
    return build


def total(system, x, captured):
    return [x * 0 + system.reduce_sum(x) + captured, x]


def test_a_batch_function_is_called_once_for_two_runs():
    found = compared(called(FULL, total), [[rows(1, 1)], [rows(3, 2)]])
    assert found[0][0] == [[114, 114]] and found[1][1] == rows(3, 2).tolist()


def test_a_batch_function_sees_the_padding():
    assert compared(called(dict(SOON, allowed_batch_sizes=[2, 4]), total), [[rows(3, 1)]])[0][0][0] == [108, 108]


@pytest.mark.parametrize("fn", [lambda s, x, c: s.reduce_sum(x), lambda s, x, c: x[:1], lambda s, x, c: s.check_numerics(x / 0.0, "no")])
def test_what_a_batch_function_may_not_give(fn):
    found = compared(called(SOON, fn), [[rows(2, 1)]])
    assert isinstance(found[0], str)


def test_a_batch_function_refuses_what_is_too_large():
    assert compared(called(SOON, total), [[rows(6, 1)]]) == ["InvalidArgumentError"]


@pytest.mark.parametrize("name", ["UnbatchGrad", "Unbatch"])
def test_a_run_that_waits_for_others_ends_at_its_deadline_and_when_its_session_closes(name):
    given = dict(batch_index=np.int64([[5, 0, 1], [6, 1, 2]]), id=np.int64(5 if name == "UnbatchGrad" else 9))
    given.update(dict(original_input=rows(2, 0), grad=rows(1, 1)) if name == "UnbatchGrad" else dict(batched_tensor=rows(2, 0),
                                                                                                   timeout_micros=60_000_000))
    with weft.Graph().as_default():
        made, session = getattr(weft.raw_ops, name)(**given), weft.Session()
        with pytest.raises(weft.errors.DeadlineExceededError):
            session.run(made, options=weft.RunOptions(timeout_in_ms=50))
        closing = threading.Timer(0.1, session.close)
        closing.start()
        with pytest.raises(weft.errors.CancelledError):
            session.run(made)
        closing.join()
