import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # the plain kernels are the oracle
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.compat.v1.disable_eager_execution()
tf.compat.v1.disable_control_flow_v2()


# ---- an op that no test ran is a failure of the whole run ----

RAN = pytest.StashKey()


def pytest_configure(config):
    config.stash[RAN] = set()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    node.config.stash[RAN].update(getattr(node, "workeroutput", {}).get("ran", ()))


def pytest_sessionfinish(session):
    import weftlib
    config = session.config
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist: the controller sums up
        config.workeroutput["ran"] = sorted(weftlib.ran)
        return
    whole = not config.option.keyword and all(pathlib.Path(a).is_dir() for a in config.args)
    config.stash[RAN] |= weftlib.ran
    if whole and missing(config) and session.exitstatus == 0:
        session.exitstatus = 1


def missing(config):
    """Ops with a kernel that nothing compared with TensorFlow; cases that only the C battery can ask count."""
    import weftlib
    return sorted(o["name"] for o in weftlib.ops()
                  if o["kernel"] and o["name"] not in config.stash[RAN] and not o["name"].startswith("_")
                  and not any(c["flags"] & 8 for c in o["cases"]))


def pytest_terminal_summary(terminalreporter, config):
    if config.option.keyword or not all(pathlib.Path(a).is_dir() for a in config.args):
        return
    names = missing(config)
    terminalreporter.write_line(f"ops with a kernel that no test ran: {', '.join(names) or 'none'}", red=bool(names))
