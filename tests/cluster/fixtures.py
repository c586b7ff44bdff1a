"""The fixture that the tests of clusters share."""
import pytest

import tasks


@pytest.fixture
def cluster(tmp_path):
    """cluster(ps=1, workers=2); its processes end with the test."""
    made = []

    def make(**shape):
        made.append(tasks.Cluster(tmp_path, **shape))
        return made[-1]

    yield make
    for c in made:
        c.end()
