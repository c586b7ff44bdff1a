"""Tokens of synchronous jobs on a Weft ps: a worker that dies with one (on TensorFlow's ps the others would wait for ever), and
a queue that was closed, which is as TensorFlow's for everybody."""
import pathlib
import sys

import pytest

from tasks import BUILD

PROGRAM = pathlib.Path(__file__).with_name("tokens.py")


def test_tensorflows_workers_go_on_without_one_that_died(cluster):
    c = cluster(ps=1, workers=3)
    ps = c.serve("ps", 0)
    start = lambda i, *more: c.add(f"worker{i}", sys.executable, PROGRAM, "tensorflow", *c.flags("worker", i), *more)
    stay = [start(i, "--steps=150") for i in range(2)]
    dies = start(2, "--steps=150", "--die_at=20")
    assert dies.wait(120) == 9, dies.output
    # The first worker may end the other's step too: the chief applies what the workers sent.
    assert any(w.wait(120) == 0 and "reached 1" in w.output for w in stay), "\n".join(w.output for w in stay)
    ps.until("The token of /job:worker/replica:0/task:2 returns to the queue")


@pytest.mark.parametrize("ps,worker", [("weft", "weft"), ("weft", "tensorflow"),
                                       pytest.param("tensorflow", "tensorflow", marks=pytest.mark.every_mix)])
@pytest.mark.parametrize("style,code", [("plain", 1), ("managed", 0), ("monitored", 0)])
def test_a_closed_queue_of_tokens_gives_none(cluster, ps, worker, style, code):
    c = cluster(ps=1, workers=1)
    if ps == "weft":
        c.serve("ps", 0)
    else:
        c.add("ps", sys.executable, PROGRAM.with_name("serve.py"), *c.flags("ps", 0))
    task = c.add("worker", sys.executable, PROGRAM.with_name("closing.py"), worker, style, *c.flags("worker", 0),
                 PYTHONPATH=str(BUILD / "python"))
    assert task.wait(90) == code, task.output
    said = [line for line in task.output.splitlines() if line.split(" ")[0] in ("token", "closed", "after")]
    assert said == ["token 7", "closed True"] + ["after"] * (code == 0), task.output
