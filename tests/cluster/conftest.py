import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pytest  # noqa: E402
import tasks  # noqa: E402


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
