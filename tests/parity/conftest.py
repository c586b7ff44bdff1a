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


# ---- an op that no test ran, or that its scenario does not run, is a failure of the whole run ----

RAN = pytest.StashKey()  # per file of tests, from the root: the ops that its tests ran
ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_configure(config):
    config.stash[RAN] = {}


def add_ran(config, by_file):
    for file, names in by_file.items():
        config.stash[RAN].setdefault(file, set()).update(names)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    import weftlib
    weftlib.ran = set()
    result = yield
    add_ran(item.config, {item.path.relative_to(ROOT).as_posix(): weftlib.ran})
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    add_ran(node.config, getattr(node, "workeroutput", {}).get("ran", {}))


def is_whole(config):
    return not config.option.keyword and all(pathlib.Path(a).is_dir() for a in config.args)


def pytest_sessionfinish(session):
    config = session.config
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist: the controller sums up
        config.workeroutput["ran"] = {file: sorted(names) for file, names in config.stash[RAN].items()}
        return
    if is_whole(config) and (missing(config) or unscripted(config) or undifferentiated(config)) and session.exitstatus == 0:
        session.exitstatus = 1


def missing(config):
    """Ops with a kernel that nothing compared with TensorFlow; cases that only the C battery can ask count."""
    import weftlib
    ran = set().union(*config.stash[RAN].values())
    return sorted(o["name"] for o in weftlib.ops()
                  if o["kernel"] and o["name"] not in ran and not o["name"].startswith("_")
                  and not any(c["flags"] & 8 for c in o["cases"]))


def unscripted(config):
    """Ops that no scenario runs which their file names (`scenario` in graph/op.h)."""
    import weftlib
    out = []
    for o in weftlib.ops():
        files = (o["scenario"] or "").split()
        ran = set().union(*(config.stash[RAN].get(f, ()) for f in files))
        if o["kernel"] and not o["name"].startswith("_") and any(f.startswith("tests/parity/") for f in files) and o["name"] not in ran:
            out.append(f"{o['name']} ({o['scenario']})")
    return sorted(out)


def undifferentiated(config):
    """Ops whose gradient the test does not ask for which gradient_gaps.txt names."""
    import gradient_gaps
    return sorted(f"{name} ({file})" for name, file in gradient_gaps.LISTED["scenario"].items()
                  if f"gradient of {name}" not in config.stash[RAN].get(file, ()))


def pytest_terminal_summary(terminalreporter, config):
    if not is_whole(config):
        return
    for what, names in (("ops with a kernel that no test ran", missing(config)),
                        ("ops that the scenario of their file does not run", unscripted(config)),
                        ("ops whose gradient no test asks for", undifferentiated(config))):
        terminalreporter.write_line(f"{what}: {', '.join(names) or 'none'}", red=bool(names))
    import gradient_gaps
    terminalreporter.write_line(gradient_gaps.summary())
