"""A peer that waits for a minute, as readers of a slow queue do, is left in peace by the other kind."""
import re

import pytest

from test_training import serve, start


def begin(cluster, worker, ps):
    """A worker that waits, and one that ends its waiting after a minute; gives the first."""
    c = cluster(ps=1, workers=2)
    serve(c, ps, "ps", 0)
    return [start(c, worker, "waiting", worker, *c.flags("worker", i), "--seconds=65") for i in range(2)][0]


@pytest.mark.every_mix
def test_a_minute_in_a_dequeue_is_not_disturbed(cluster):
    readers = [begin(cluster, "weft", "tensorflow"), begin(cluster, "tensorflow", "weft")]
    for reader in readers:
        assert reader.wait(150) == 0, reader.output
        assert int(re.search(r"took 42.0 after (\d+) s", reader.output).group(1)) >= 60, reader.output
