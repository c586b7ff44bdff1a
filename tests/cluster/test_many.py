"""Many small workers want more of a ps than it has: all of them go on, and the job ends."""
import subprocess

import pytest

from tasks import BUILD

MANY = 24


class Worker:
    """Counts up a variable on the ps when asked to; bench/cluster_jobs.c."""

    def __init__(self, flags, log):
        self.log = log
        with open(log, "w") as errors:
            self.process = subprocess.Popen([BUILD / "bench" / "cluster_jobs", "null", *flags], text=True, stderr=errors,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        return line


@pytest.fixture
def crowd(tmp_path, cluster):
    """A ps and its workers."""
    c = cluster(workers=MANY)
    ps = c.add("ps", BUILD / "bench" / "cluster_jobs", "null", *c.flags("ps", 0))
    workers = [Worker(c.flags("worker", i), tmp_path / f"worker{i}.log") for i in range(MANY)]
    yield ps, workers
    for worker in workers:
        worker.process.kill()
        worker.process.wait()


def test_nobody_starves_among_many_that_never_pause(crowd):
    ps, workers = crowd
    for worker in workers:
        assert worker.answer().strip() == "ready"
    for _ in range(3):
        for worker in workers:
            worker.ask("0.5")
        for worker in workers:
            steps, seconds = worker.answer().split()
            assert int(steps) > 0
            assert float(seconds) < 10  # half a second, and how long its last step waited for the others
    for worker in workers:
        worker.process.stdin.close()
    assert [worker.process.wait(60) for worker in workers] == [0] * MANY
    assert ps.wait() == 0, ps.output
