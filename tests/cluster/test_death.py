"""A task that dies, freezes or restarts is noticed within two seconds, and the others go on or say so."""
import signal
import time

import pytest

from tasks import eventually


def running(cluster):
    c = cluster()
    ps = c.serve("ps", 0)
    workers = [c.linear("worker", i, steps=100000) for i in range(2)]
    for w in workers:
        w.until("step: 3\n")
    return c, ps, workers


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_dead_ps_fails_the_step(cluster, number):
    _, ps, workers = running(cluster)
    began = time.monotonic()
    ps.send(number)
    for w in workers:
        assert w.wait() != 0
        assert "UNAVAILABLE" in w.output or "ABORTED" in w.output, w.output
    assert time.monotonic() - began < 10  # two seconds; the rest is for a busy machine


def test_a_dead_worker_does_not_hold_the_other_up(cluster):
    _, ps, (victim, other) = running(cluster)
    victim.kill()
    before = other.output.count("step")
    eventually(lambda: other.output.count("step") > before + 10)
    assert ps.process.poll() is None


def test_a_worker_that_comes_back_goes_on(cluster):
    c, _, (victim, other) = running(cluster)
    victim.kill()
    again = c.linear("worker", 0, steps=20)
    assert again.wait() == 0, again.output
    assert other.process.poll() is None


def test_a_ps_that_restarted_has_no_variables(cluster):
    c, ps, workers = running(cluster)
    ps.kill()
    for w in workers:
        w.wait()
    c.serve("ps", 0)
    late = c.linear("worker", 1)  # waits for worker 0 to initialize
    late.until("Start master session")
    time.sleep(0.5)  # it does not begin to train meanwhile
    assert late.process.poll() is None and "step" not in late.output
    chief = c.linear("worker", 0)
    assert chief.wait() == 0 and late.wait() == 0
