"""The same Python, once with Weft as `tf` and once with TensorFlow, and what came out compared."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import ran  # noqa: E402

pytest.register_assert_rewrite("both")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
sys.path.insert(0, os.environ.get("WEFT_PYTHON", str(ROOT / "build" / "python")))
sys.path.insert(0, str(pathlib.Path(__file__).parent))


# ---- ops whose row names a test file of this folder must be run by it ----

FOLDER = "tests/python/"


def pytest_configure(config):
    config.pluginmanager.register(ran.Record(gaps))


def gaps(by_file):
    return (("ops that the scenario of their file does not run", ran.not_run(by_file, FOLDER)),
            ("ops whose gradient no test asks for", ran.not_differentiated(by_file, FOLDER)))


@pytest.fixture(autouse=True, scope="module")
def watched(request):
    """Notes the ops that the module's tests run, if an op's row names the module."""
    if request.path.relative_to(ROOT).as_posix() in ran.files_of(FOLDER):
        import weft
        with ran.watch(weft):
            yield
    else:
        yield
