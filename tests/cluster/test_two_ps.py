"""Two ps of which one is lost: nobody computes with one that was set back to the checkpoint and one that was not."""
import pathlib
import re
import sys
import time

import pytest

from tasks import BUILD, eventually

PROGRAM = pathlib.Path(__file__).with_name("pair.py")


def counted(task):
    found = re.findall(r"^counted (\d+)$", task.output, re.M)
    return int(found[-1]) if found else 0


def lines(task):
    return task.output.count("counted ")


@pytest.mark.parametrize("style", ["supervisor", "monitored"])
@pytest.mark.parametrize("victim", [("ps", 0), ("ps", 1), ("worker", 0)], ids=["first", "second", "chief"])
def test_nobody_runs_on_a_mixture_of_old_and_restored_state(cluster, tmp_path, victim, style):
    c = cluster(ps=2, workers=3)

    def start(job, i):
        if job == "ps":
            return c.serve(job, i)
        return c.add(f"{job}{i}", sys.executable, PROGRAM, *c.flags(job, i), f"--logdir={tmp_path}/log", f"--style={style}",
                     PYTHONPATH=str(BUILD / "python"))

    running = {role: start(*role) for role in [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("worker", 2)]}
    workers = [("worker", i) for i in range(3)]
    for _ in range(4):
        eventually(lambda: all(counted(running[w]) > 3000 for w in workers))
        time.sleep(0.2)
        running[victim].kill()
        before = {w: lines(running[w]) for w in workers}
        running[victim] = start(*victim)
        if victim in workers:
            before[victim] = 0

        def on_again():
            for w in workers:
                assert running[w].process.poll() is None, running[w].output[-1500:]
            return all(lines(running[w]) > before[w] + 2 for w in workers)
        eventually(on_again)
    for w in workers:
        assert "mixed" not in running[w].output
