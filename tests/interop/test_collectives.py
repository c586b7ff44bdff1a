"""Collective ops whose members are workers of both systems, each with its own master; either system leads the groups."""
import pathlib
import sys

import pytest

from tasks import BUILD

PROGRAM = pathlib.Path(__file__).with_name("collectives.py")


@pytest.mark.parametrize("systems", [("weft", "tensorflow", "weft"),
                                     pytest.param(("tensorflow", "weft"), marks=pytest.mark.every_mix),
                                     pytest.param(("tensorflow", "weft", "tensorflow", "weft", "weft"), marks=pytest.mark.every_mix)])
def test_workers_of_both_systems_exchange_tensors(cluster, systems):
    c = cluster(ps=0, workers=len(systems))
    started = [c.add(f"worker{i}", sys.executable, PROGRAM, system, *c.flags("worker", i), PYTHONPATH=str(BUILD / "python"))
               for i, system in enumerate(systems)]
    for task in started:
        assert task.wait(120) == 0, "\n".join(t.output for t in started)
    said = [[line for line in t.output.splitlines() if line.startswith(("sums", "rows", "sent"))] for t in started]
    assert len(said[0]) == 9 and all(lines == said[0] for lines in said), said
    for i, t in enumerate(started):
        assert "shares %s" % [float(10 * j + i) for j in range(len(systems))] in t.output
