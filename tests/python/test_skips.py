"""What is skipped in CI without a reason in tests/skips.txt fails the run: pytest's, ctest's and scripts/test's."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = """import pytest

def test_that_runs(): pass
def test_listed(): pytest.skip("for the test")
@pytest.mark.skipif(True, reason="for the test")
@pytest.mark.parametrize("x", [1])
def test_not_listed(x): pass
"""
RESULTS = """<testsuite><testcase name="a" status="run"/><testcase name="b" status="notrun"><skipped/></testcase>
<testcase name="c" status="disabled"/></testsuite>"""


@pytest.fixture
def folder(tmp_path):
    for name in ("conftest.py", "skips.py"):
        shutil.copy(TESTS / name, tmp_path)
    (tmp_path / "test_program.py").write_text(PROGRAM)
    (tmp_path / "results.xml").write_text(RESULTS)
    return tmp_path


def run(folder, ci, *command):
    done = subprocess.run([sys.executable, *command], cwd=folder, env={**os.environ, "CI": ci}, capture_output=True, text=True)
    return done.returncode, done.stdout


PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "test_program.py")


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_an_unlisted_skip_of_pytest_fails_in_ci_only(folder, more):
    (folder / "skips.txt").write_text("test_program.py::test_listed  it is slow\n")
    code, said = run(folder, "true", *PYTEST, *more)
    assert code == 1 and "test_not_listed[1]: NOT LISTED" in said and "test_listed: it is slow" in said
    assert run(folder, "false", *PYTEST, *more)[0] == 0


def test_listed_skips_pass_in_ci(folder):
    (folder / "skips.txt").write_text("test_program.py::test_listed  slow\ntest_program.py::test_not_listed[1]  slow too\n")
    assert run(folder, "true", *PYTEST)[0] == 0


def test_entries_of_ctest_that_did_not_run_are_skips(folder):
    (folder / "skips.txt").write_text("ctest:b  no reason\n")
    code, said = run(folder, "true", "skips.py", "ctest", "results.xml")
    assert code == 1 and "ctest:b: no reason" in said and "ctest:c: NOT LISTED" in said and "ctest:a" not in said


def test_a_step_that_is_skipped_fails_in_ci_unless_it_is_listed(folder):
    (folder / "skips.txt").write_text("step:CUDA plug-in  no compiler for it\n")
    assert run(folder, "true", "skips.py", "step", "CUDA plug-in")[0] == 0
    assert run(folder, "true", "skips.py", "step", "shellcheck")[0] == 1
    assert run(folder, "false", "skips.py", "step", "shellcheck")[0] == 0


def test_a_line_without_a_reason_is_refused(folder):
    (folder / "skips.txt").write_text("step:CUDA plug-in\n")
    assert run(folder, "true", "skips.py", "step", "other")[0] == 1
