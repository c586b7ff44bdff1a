"""Synchronous training: workers in step, and a worker that dies with its token does not freeze the others."""
import pathlib
import re
import signal
import sys

import pytest

from tasks import BUILD, eventually

SUPERVISED = pathlib.Path(__file__).with_name("insync.py")


def start(c, steps):
    def role(job, i):
        return c.add(f"{job}{i}", BUILD / "examples" / "sync", *c.flags(job, i), f"--steps={steps}")

    return role("ps", 0), [role("worker", i) for i in range(len(c.hosts["worker"]))]


def global_step(task):
    steps = re.findall(r"^step (\d+):", task.output, re.M)
    return int(steps[-1]) if steps else 0


def test_workers_in_step_end_together(cluster):
    ps, workers = start(cluster(workers=3), 60)
    for w in workers:
        assert w.wait() == 0, w.output
        assert "y = 2.000 x + 10.000" in w.output
    assert ps.wait() == 0, ps.output


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_dead_worker_gives_its_token_back(cluster, number):
    _, workers = start(cluster(workers=3), 10**9)
    for w in workers:
        w.until("step 5")
    workers[2].send(number)
    before = global_step(workers[0])
    eventually(lambda: global_step(workers[0]) > before + 1000)  # more than it could do without noticing
    assert workers[1].process.poll() is None


def test_a_worker_that_came_back_is_in_step_again(cluster):
    c = cluster(workers=2)
    _, workers = start(c, 10**9)
    for w in workers:
        w.until("step 5")
    workers[1].kill()
    again = c.add("again", BUILD / "examples" / "sync", *c.flags("worker", 1), f"--steps={10**9}")
    again.until("step ")
    before = global_step(again)
    eventually(lambda: global_step(again) > before)


def test_a_supervised_job_in_step_survives_its_ps(cluster, tmp_path):
    """The program enqueues the first tokens itself, and the ps that comes back has none."""
    c = cluster(workers=2)

    def role(job, i):
        return c.add(f"{job}{i}", sys.executable, SUPERVISED, *c.flags(job, i), "--logdir", tmp_path / "log",
                     PYTHONPATH=str(BUILD / "python"))
    ps, workers = role("ps", 0), [role("worker", i) for i in range(2)]
    for w in workers:
        w.until("\nstep ")
    ps.kill()
    again = role("ps", 0)
    for w in workers:
        assert w.wait() == 0, w.output
        assert "loss small" in w.output
    assert again.wait() == 0, again.output
