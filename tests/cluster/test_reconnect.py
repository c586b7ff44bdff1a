"""A worker that comes and goes, again and again, leaves nothing on its ps."""
import pytest

from tasks import LINEAR, Task, eventually

WARM_UP, COUNTED = 150, 150
LEAVES_KB = 2  # 10 to 15 kB before it was cured
# 85 to 120 kB before; 1.5 to 2.0 kB are measured. A worker's session, without its plans, is kept for ten minutes after its
# master was killed, since the master may come back.
DIES_KB = 4


def come_and_leave(c, folder):
    assert Task(folder / "worker.log", LINEAR, *c.flags("worker", 0), "--steps=3").wait() == 0


def come_and_die(c, folder):
    worker = Task(folder / "worker.log", LINEAR, *c.flags("worker", 0), "--steps=1000000000")
    eventually(lambda: "=> step: 1\n" in worker.output or worker.process.poll() is not None)
    worker.kill()  # or the ps took it for the one before, and its step failed: that is a reconnect as well


@pytest.mark.parametrize("once, most_kb", [(come_and_leave, LEAVES_KB), (come_and_die, DIES_KB)],
                         ids=["come_and_leave", "come_and_die"])
def test_memory_stays_flat(cluster, tmp_path, once, most_kb):
    c = cluster(workers=1)
    ps = c.serve("ps", 0)
    ps.until("Started server")
    for _ in range(WARM_UP):
        once(c, tmp_path)
    before = ps.memory_mb()
    for _ in range(COUNTED):
        once(c, tmp_path)
    assert (ps.memory_mb() - before) * 1024 / COUNTED < most_kb, ps.output
