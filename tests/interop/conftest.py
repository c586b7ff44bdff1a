"""TensorFlow 2.15.1 and Weft as tasks of one cluster: real processes of both."""
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster"),
                os.environ.get("WEFT_PYTHON", str(HERE.parent.parent / "build" / "python"))]

import pytest  # noqa: E402

import fixtures  # noqa: E402

cluster = fixtures.cluster  # pytest collects fixtures from the names in a conftest module


@pytest.fixture
def server(cluster):
    """A Weft server alone in its cluster, and its target."""
    alone = cluster(ps=0, workers=1)
    task = alone.serve("worker", 0)
    task.until("Started server with target")
    task.target = "grpc://" + alone.hosts["worker"][0]
    return task


def pytest_addoption(parser):
    parser.addoption("--every-mix", action="store_true", help="every task of every mix, not only a choice")


def pytest_collection_modifyitems(config, items):
    """Without --every-mix, tests that are marked so are left out: they take minutes."""
    if config.getoption("--every-mix"):
        return
    left_out = [i for i in items if i.get_closest_marker("every_mix")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [i for i in items if i not in left_out]


def pytest_configure(config):
    config.addinivalue_line("markers", "every_mix: only with --every-mix")
