"""A synchronous job on two ps, one of which is silent for a while and keeps its variables: the job goes on after it."""
import re
import signal
import time

import pytest
from tasks import BUILD, eventually


def step_of(task):
    steps = re.findall(r" ack \d+ \d+ (\d+)$", task.output, re.M)
    return int(steps[-1]) if steps else 0


def start(c, folder):
    """tests/chaos/train.c: MonitoredTrainingSession's hooks and a checkpoint each second."""
    return {(job, i): c.add(f"{job}{i}", BUILD / "chaos" / "train", *c.flags(job, i), "--mode=sync", f"--dir={folder}")
            for job, n in (("ps", 2), ("worker", 3)) for i in range(n)}


@pytest.mark.parametrize("silent", [0, 1])
def test_a_ps_that_was_silent_does_not_stop_the_job(cluster, tmp_path, silent):
    tasks = start(cluster(ps=2, workers=3), tmp_path)
    workers = [tasks["worker", i] for i in range(3)]
    for _ in range(4):
        before = [step_of(w) for w in workers]
        eventually(lambda before=before: all(step_of(w) > b + 20 for w, b in zip(workers, before)), 40)
        tasks["ps", silent].send(signal.SIGSTOP)
        time.sleep(2.5)  # longer than it takes to be missed
        tasks["ps", silent].send(signal.SIGCONT)
    before = [step_of(w) for w in workers]
    eventually(lambda: all(step_of(w) > b + 20 for w, b in zip(workers, before)), 40)
