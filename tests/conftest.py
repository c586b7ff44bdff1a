"""For all tests in Python: a skip in CI is a failure unless tests/skips.txt lists it."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import skips  # noqa: E402

SKIPPED = pytest.StashKey()  # the ids of what was skipped: tests, and files that were left out while collecting


class Watcher:
    """What pytest tells of skips, here and in the processes of pytest-xdist."""

    def __init__(self, config):
        self.config = config
        config.stash[SKIPPED] = set()

    def note(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            self.config.stash[SKIPPED].add(report.nodeid)

    def pytest_runtest_logreport(self, report):
        self.note(report)

    def pytest_collectreport(self, report):
        self.note(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        self.config.stash[SKIPPED].update(getattr(node, "workeroutput", {}).get("skipped", ()))

    def pytest_sessionfinish(self, session):
        if hasattr(self.config, "workeroutput"):  # a worker of pytest-xdist: the controller sums up
            self.config.workeroutput["skipped"] = sorted(self.config.stash[SKIPPED])
        elif skips.in_ci() and not all(skips.describe(name)[0] for name in self.config.stash[SKIPPED]):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for name in sorted(self.config.stash[SKIPPED]):
            known, line = skips.describe(name)
            terminalreporter.write_line(line, red=skips.in_ci() and not known)


def pytest_configure(config):
    config.pluginmanager.register(Watcher(config), "weft-skips")
