"""A synchronous job on two ps, one of which is silent for a while and keeps its variables: the job goes on after it."""
import os
import re
import shutil
import signal
import sys
import time

import pytest

from tasks import BUILD, ROOT, Cluster, eventually

sys.path.append(str(ROOT / "tests" / "chaos"))
from network import Network  # noqa: E402

HOSTS = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("worker", 2)]
no_hosts = os.geteuid() != 0 or not shutil.which("ip") or not os.path.exists("/dev/net/tun")


def step_of(task):
    steps = re.findall(r" ack \d+ \d+ (\d+)$", task.output, re.M)
    return int(steps[-1]) if steps else 0


def start(c, folder, prefix=lambda host: []):
    """tests/chaos/train.c: MonitoredTrainingSession's hooks and a checkpoint each second."""
    return {task: c.add("".join(map(str, task)), *prefix(host), BUILD / "chaos" / "train", *c.flags(*task), "--mode=sync",
                        f"--dir={folder}") for host, task in enumerate(HOSTS)}


def expect_steps(workers):
    before = [step_of(w) for w in workers]
    eventually(lambda: all(step_of(w) > b + 20 for w, b in zip(workers, before)), 60)


@pytest.mark.parametrize("silent", [0, 1])
def test_a_ps_that_was_silent_does_not_stop_the_job(cluster, tmp_path, silent):
    tasks = start(cluster(ps=2, workers=3), tmp_path)
    workers = [tasks["worker", i] for i in range(3)]
    for _ in range(4):
        expect_steps(workers)
        tasks["ps", silent].send(signal.SIGSTOP)
        time.sleep(2.5)  # longer than it takes to be missed
        tasks["ps", silent].send(signal.SIGCONT)
    expect_steps(workers)


@pytest.mark.skipif(no_hosts, reason="network namespaces need root, ip and /dev/net/tun")
@pytest.mark.parametrize("seconds", [2.5, 3.5])
@pytest.mark.parametrize("ps", [0, 1])
def test_a_chief_cut_off_from_one_ps_ends_what_it_had_begun_there(tmp_path, ps, seconds):
    """The chief gives the ps up, but not the ps the chief: the update that waits there must not take the gradients that
    the next one needs."""
    network = Network(BUILD / "chaos" / "relay", len(HOSTS), tmp_path / "relay.log")
    c = Cluster(tmp_path, ps=2, workers=3)
    c.hosts = {"ps": network.addresses[:2], "worker": network.addresses[2:]}
    try:
        tasks = start(c, tmp_path, network.enter)
        workers = [tasks["worker", i] for i in range(3)]
        expect_steps(workers)
        for link in [(2, ps), (ps, 2)]:
            network.set(*link, "cut", 1)
        time.sleep(seconds)
        network.heal()
        expect_steps(workers)
    finally:
        c.end()
        network.end()
