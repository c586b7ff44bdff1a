"""Which ops the tests of a folder ran, per file: an op that no test ran fails the whole run.

The conftest files of tests/parity and tests/python register `Record` as a plug-in of pytest.  A test adds to `names`: the
ops of every graph that a session ran something of, and "gradient of OP" for those of every graph that was differentiated.
With pytest-xdist each worker hands its record to the controller, which sums up.
"""
import contextlib
import functools
import json
import pathlib
import re
import subprocess
import weakref

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRADIENTS = ROOT / "tests" / "parity" / "gradient_gaps.txt"
names = set()  # of the test that runs now


@functools.cache
def ops():
    """Every registered op that has a kernel and is not one of the runtime's own: what `weft ops --json` says of it."""
    out = subprocess.run([ROOT / "build" / "bin" / "weft", "ops", "--json"], check=True, capture_output=True, text=True).stdout
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(out.rstrip()):
        op, at = decoder.raw_decode(out, at)
        found.append(op)
        at += len(out[at:]) - len(out[at:].lstrip())
    return [o for o in found if o["kernel"] and not o["name"].startswith("_")]


def scenarios(op):
    """The test files that its row names because the op has no cases."""
    return (op["scenario"] or "").split()


def gradient_scenarios(folder):
    """{op: the test file of this folder that asks for its gradient}"""
    return dict(re.findall(rf"^(\w+) ({folder}\S+)$", GRADIENTS.read_text(), re.MULTILINE))


def files_of(folder):
    return {f for op in ops() for f in scenarios(op) if f.startswith(folder)} | set(gradient_scenarios(folder).values())


def is_whole(config):
    return not config.option.keyword and all(pathlib.Path(a).is_dir() for a in config.args)


class Record:
    """gaps(by_file) lists (what, ops) at the end of a run of the whole folder; any op in it fails the run."""

    def __init__(self, gaps):
        self.gaps, self.by_file = gaps, {}

    def add(self, by_file):
        for file, ran in by_file.items():
            self.by_file.setdefault(file, set()).update(ran)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        names.clear()
        result = yield
        self.add({item.path.relative_to(ROOT).as_posix(): names})
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        self.add(getattr(node, "workeroutput", {}).get("ran", {}))

    def pytest_sessionfinish(self, session):
        config = session.config
        if hasattr(config, "workeroutput"):
            config.workeroutput["ran"] = {file: sorted(ran) for file, ran in self.by_file.items()}
        elif is_whole(config) and session.exitstatus == 0 and any(ops for _, ops in self.gaps(self.by_file)):
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter, config):
        if is_whole(config):
            for what, found in self.gaps(self.by_file):
                terminalreporter.write_line(f"{'FAILED: ' if found else ''}{what}: {', '.join(found) or 'none'}", red=bool(found))


def not_run(by_file, folder):
    """Ops whose row names files of this folder, none of which ran them."""
    out = []
    for op in ops():
        files = [f for f in scenarios(op) if f.startswith(folder)]
        if files and not any(op["name"] in by_file.get(f, ()) for f in files):
            out.append(f"{op['name']} ({' '.join(files)})")
    return sorted(out)


def not_differentiated(by_file, folder):
    """Ops whose gradient the test does not ask for which gradient_gaps.txt names."""
    return sorted(f"{name} ({file})" for name, file in gradient_scenarios(folder).items()
                  if f"gradient of {name}" not in by_file.get(file, ()))


@contextlib.contextmanager
def watch(weft):
    """Adds to `names` what sessions of the Python package run in here and what it differentiates."""
    from weft._core.ops import gradients
    from weft._core.session.client import BaseSession
    known = weakref.WeakKeyDictionary()  # graph -> its size when it was looked at, and its ops then

    def of(graph):
        size = graph._c.size()
        if known.get(graph, (0,))[0] != size:
            made = graph.as_graph_def()
            inner = {n.op for f in made.library.function for n in f.node_def}
            known[graph] = size, {n.op for n in made.node} | inner
        return known[graph][1]

    @functools.wraps(BaseSession.run)
    def run(self, *args, **given):
        out = plain_run(self, *args, **given)
        names.update(of(self.graph))
        return out

    @functools.wraps(gradients.gradients)
    def differentiate(*args, **given):
        names.update("gradient of " + op for op in of(weft.get_default_graph()))
        return plain_gradients(*args, **given)

    plain_run, plain_gradients = BaseSession.run, gradients.gradients
    changed = ((BaseSession, "run", plain_run, run), (gradients, "gradients", plain_gradients, differentiate),
               (weft, "gradients", weft.gradients, differentiate))
    for owner, name, _, now in changed:
        setattr(owner, name, now)
    try:
        yield
    finally:
        for owner, name, before, _ in changed:
            setattr(owner, name, before)
