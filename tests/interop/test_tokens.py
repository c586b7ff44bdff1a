"""A synchronous job loses a worker that holds a token.  On TensorFlow's ps the others would wait for ever."""
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("tokens.py")


def test_tensorflows_workers_go_on_without_one_that_died(cluster):
    c = cluster(ps=1, workers=3)
    ps = c.serve("ps", 0)
    start = lambda i, *more: c.add(f"worker{i}", sys.executable, PROGRAM, "tensorflow", *c.flags("worker", i), *more)
    stay = [start(i, "--steps=150") for i in range(2)]
    dies = start(2, "--steps=150", "--die_at=20")
    assert dies.wait(120) == 9, dies.output
    # Whoever is there first may take the other along: the chief applies what the workers sent.
    assert any(w.wait(120) == 0 and "reached 1" in w.output for w in stay), "\n".join(w.output for w in stay)
    ps.until("The token of /job:worker/replica:0/task:2 goes back")
