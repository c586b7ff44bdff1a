"""Every public name of TensorFlow 1 that programs use is here, or is listed with a reason.

missing_names.txt has a name a line and the reason behind "#"; NAME.* stands for all names that begin so.  A name that is
there after all must leave the list, and a name that is neither there nor listed fails the test.
"""
import importlib
import os
import pathlib
import subprocess
import sys

import pytest

import scripts
from weft._core.run import runner

HERE = pathlib.Path(__file__).resolve().parent
FACTS = None if scripts.seeds() is None else scripts.seeds().parent / "facts"
REASONS = ("eager", "TPU", "Lite", "DeepRec", "to be added")


def listed():
    """{name or prefix that ends in a dot: reason}."""
    found = {}
    for line in (HERE / "missing_names.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(" # ")
            assert reason.startswith(REASONS), line
            found[name[:-1] if name.endswith(".*") else name] = reason
    return found


def entry_of(name, table):
    """The line of the list that speaks of a name."""
    if name in table:
        return name
    return next((p for p in table if p.endswith(".") and (name + ".").startswith(p)), None)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """All names: compat.v1's, the `v1` rows of tf-api-wide.tsv, and contrib's."""
    pytest.importorskip("tensorflow")
    path = tmp_path_factory.mktemp("names") / "names.txt"
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    subprocess.run([sys.executable, str(HERE / "public_names.py"), str(path)], env=env, check=True,
                   stderr=subprocess.DEVNULL)
    found = set(path.read_text().split())
    assert len(found) > 4000
    if FACTS is not None:
        rows = [line.split("\t") for line in (FACTS / "tf-api-wide.tsv").read_text().splitlines() if line[:1] != "#"]
        found |= {"tf." + row[0] for row in rows if row[-1] == "v1"}
        contrib = (FACTS / "contrib-names.txt").read_text().splitlines()
        found |= {"tf.contrib." + line.split()[0] for line in contrib if line and line[0] != "#"}
    return sorted(found)


@pytest.fixture(scope="module")
def missing(names):
    saved = {n: sys.modules.pop(n) for n in list(sys.modules) if n == "tensorflow" or n.startswith("tensorflow.")}
    runner.install()
    try:
        return [n for n in names if not is_there(n)]
    finally:
        sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, runner.Finder)]
        for n in [n for n in sys.modules if n == "tensorflow" or n.startswith("tensorflow.")]:
            del sys.modules[n]
        sys.modules.update(saved)


def is_there(name):
    found, parts = importlib.import_module("tensorflow"), name.split(".")[1:]
    try:
        for i, part in enumerate(parts):
            try:
                found = getattr(found, part)
            except AttributeError:
                found = importlib.import_module("tensorflow." + ".".join(parts[:i + 1]))
    except Exception:  # a name that is not there may be any error, with a sentence
        return False
    return True


def test_every_name_is_there_or_listed(missing):
    table = listed()
    unlisted = [n for n in missing if entry_of(n, table) is None]
    assert not unlisted, "%d names are neither there nor in missing_names.txt: %s" % (len(unlisted), unlisted[:40])


def test_the_list_has_only_what_is_missing(names, missing):
    table, absent = listed(), set(missing)
    spoken = {entry_of(n, table) for n in absent}
    if FACTS is not None:  # without the tables the names of contrib are not asked for
        assert not set(table) - spoken, "these are there, or are names of nothing: %s" % sorted(set(table) - spoken)[:40]
    wrong = [n for n in names if n in table and n not in absent]
    assert not wrong, "these are there: %s" % wrong


def test_names_that_programs_use_are_not_listed():
    if FACTS is None:
        pytest.skip("the tables of names are not above this checkout")
    table = listed()
    rows = [line.split("\t") for line in (FACTS / "tf-api-usage.tsv").read_text().splitlines()[1:]]
    used = [row[0] for row in rows if int(row[1]) > 1 and entry_of(row[0], table)]
    assert not [n for n in used if not n.startswith("tf.lite")], used
