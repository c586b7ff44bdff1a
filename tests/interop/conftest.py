"""Real processes that speak to one another: TensorFlow 2.15.1 and Weft in the seats of one cluster."""
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pytest  # noqa: E402

import processes  # noqa: E402


@pytest.fixture
def tasks():
    """Starts processes; whatever still runs when the test ends is ended by pid."""
    started = processes.Tasks()
    yield started
    started.end()


@pytest.fixture
def server(tasks):
    """A Weft server alone in its cluster, and its target."""
    return tasks.serve({"local": [processes.address()]}, "local", 0)
