"""Programs of the kinds people wrote for TensorFlow 1, run here and in TensorFlow, compared line by line.

Words are equal; numbers differ by a thousandth, or by the last digit printed.  A program that amplifies rounding has a
tolerance of its own, with the reason.
"""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import scripts

HERE = pathlib.Path(__file__).resolve().parent
ZOO = sorted((HERE / "programs" / "zoo").glob("*.py"))
TOLERANCE = {"dcgan": 2e-2}  # two networks that play against each other: rounding grows with every step
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """The folder in which TensorFlow ran all programs."""
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("zoo")
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    done = subprocess.run([sys.executable, str(HERE / "zoo_of_tf.py"), str(folder), *map(str, ZOO)], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder, done.stdout


def last_digit(text):
    """How much the last digit of a printed number is worth."""
    places = re.search(r"\.(\d*)", text)
    return 1.01 * 10.0 ** -len(places.group(1)) if places and "e" not in text.lower() else 0.0


def same_line(ours, theirs, tolerance):
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    for a, b in zip(NUMBER.findall(ours), NUMBER.findall(theirs)):
        x, y = float(a), float(b)
        if a != b and not abs(x - y) <= max(tolerance * max(abs(x), abs(y)), last_digit(b)):
            return False
    return True


def compare(program, oracle, tmp_path):
    """Runs a program, and compares its lines with those that the program of the same name printed in TensorFlow."""
    folder, said = oracle
    theirs = (folder / (program.stem + ".txt")).read_text()
    assert (folder / (program.stem + ".code")).read_text() == "0", (theirs[-2000:], said[-2000:])
    code, ours, err = scripts.run(program, cwd=tmp_path)
    assert code == 0, (ours[-1000:], err[-3000:])
    assert len(ours.splitlines()) == len(theirs.splitlines()) > 3, (ours, theirs)
    for a, b in zip(ours.splitlines(), theirs.splitlines()):
        assert same_line(a, b, TOLERANCE.get(program.stem, 1e-3)), "\nWeft:       %s\nTensorFlow: %s" % (a, b)


@pytest.mark.parametrize("program", ZOO, ids=lambda p: p.stem)
def test_program_prints_what_it_prints_in_tensorflow(program, oracle, tmp_path):
    compare(program, oracle, tmp_path)


def test_beam_search_of_contrib_prints_what_one_by_hand_prints_in_tensorflow(oracle, tmp_path):
    compare(HERE / "programs" / "beam_search.py", oracle, tmp_path)
