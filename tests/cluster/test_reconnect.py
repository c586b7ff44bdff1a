"""A worker that comes and goes, again and again, leaves nothing on its ps."""
import pytest
from tasks import LINEAR, Task, eventually

WARM_UP, COUNTED, KB_EACH = 150, 150, 2  # it was 10 to 15 kB for one that leaves in order, 85 to 120 for one that is killed


def come_and_leave(c, folder):
    assert Task(folder / "worker.log", LINEAR, *c.flags("worker", 0), "--steps=3").wait() == 0


def come_and_die(c, folder):
    worker = Task(folder / "worker.log", LINEAR, *c.flags("worker", 0), "--steps=1000000000")
    eventually(lambda: "=> step: 1\n" in worker.output or worker.process.poll() is not None)
    worker.kill()  # or the ps took it for the one before, and its step failed: that is a reconnect as well


@pytest.mark.parametrize("once", [come_and_leave, come_and_die], ids=lambda f: f.__name__)
def test_memory_stays_flat(cluster, tmp_path, once):
    c = cluster(workers=1)
    ps = c.serve("ps", 0)
    ps.until("Started server")
    for _ in range(WARM_UP):
        once(c, tmp_path)
    before = ps.memory_mb()
    for _ in range(COUNTED):
        once(c, tmp_path)
    assert (ps.memory_mb() - before) * 1024 / COUNTED < KB_EACH, ps.output
