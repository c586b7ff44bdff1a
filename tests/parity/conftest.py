import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # the plain kernels are the oracle
sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402

import ran  # noqa: E402

tf.compat.v1.disable_eager_execution()
tf.compat.v1.disable_control_flow_v2()


def pytest_configure(config):
    config.pluginmanager.register(ran.Record(gaps))


@pytest.fixture(autouse=True, scope="module")
def watched(request):
    """Notes the ops that a module runs through the Python package, if it uses that."""
    weft = getattr(request.module, "weft", None)
    if weft is None:
        yield
    else:
        with ran.watch(weft):
            yield


def gaps(by_file):
    return (("ops with a kernel that no test ran", missing(by_file)),
            ("ops that the scenario of their file does not run", ran.not_run(by_file, "tests/parity/")),
            ("ops whose gradient no test asks for", ran.not_differentiated(by_file, "tests/parity/")))


def missing(by_file):
    """Ops that nothing compared with TensorFlow; cases that only the C battery can ask count, and so do scenarios of
    tests/python, which checks them itself."""
    compared = set().union(*by_file.values())
    return sorted(o["name"] for o in ran.ops()
                  if o["name"] not in compared and not any(c["flags"] & 8 for c in o["cases"])
                  and not any(f.startswith("tests/python/") for f in ran.scenarios(o)))


def pytest_terminal_summary(terminalreporter, config):
    if ran.is_whole(config):
        import gradient_gaps
        terminalreporter.write_line(gradient_gaps.summary())
