"""The names that a program sees: those of the tensors that public functions return, and those of variables.

get_tensor_by_name, saved models and checkpoints depend on them.  parameters/names.py builds the base call of every recipe of
test_parameters.py in both systems; parameters/names_that_differ.txt lists the functions with other names, with reasons.
"""
import json
import os
import pickle
import subprocess
import sys

import pytest

import scripts
from test_parameters import HERE, recipes  # noqa: F401

DIFFERENT = 50  # functions whose names differ; this number may only shrink
COMPARED = 2150  # calls that both systems can make; this number may only grow
VARIABLES = ("variables", "trainable_variables", "local_variables", "metric_variables", "model_variables",
             "moving_average_variables")


def listed():
    """{function: reason}"""
    rows = [line.partition(" # ") for line in (HERE / "names_that_differ.txt").read_text().splitlines() if line[0] != "#"]
    return {name.strip(): reason.strip() for name, _, reason in rows}


def built(lines, folder):
    """({recipe: what it built} of Weft, of TensorFlow)"""
    env = dict(os.environ, PYTHONWARNINGS="ignore", WEFT_PYTHON=scripts.PACKAGE)
    (folder / "lines.json").write_text(json.dumps(list(lines)))
    tasks = {}
    for system in ("weft", "tf"):
        with open(folder / (system + ".log"), "w") as log:
            tasks[system] = subprocess.Popen([sys.executable, str(HERE / "names.py"), system, str(folder / "lines.json"),
                                              str(folder / system)], env=env, stdout=log, stderr=log)
    try:
        for system, task in tasks.items():
            assert task.wait(timeout=900) == 0, (folder / (system + ".log")).read_text()[-3000:]
    finally:
        for task in tasks.values():
            task.kill()
    return [pickle.loads((folder / system).read_bytes()) for system in ("weft", "tf")]


def difference(ours, theirs):
    if ours[0] != theirs[0]:
        return "result %s, TensorFlow %s" % (ours[0], theirs[0])
    for key in VARIABLES:
        mine, other = ours[2].get(key) or [], theirs[2].get(key) or []
        if mine != other:
            return "%s %s, TensorFlow %s" % (key, mine, other)
    return None


@pytest.fixture(scope="module")
def differences(recipes, tmp_path_factory):  # noqa: F811
    """({function: what differs}, number of calls that were compared)"""
    lines = recipes[0]
    ours, theirs = built(lines, tmp_path_factory.mktemp("names"))
    both = [line for line in lines if not isinstance(ours[line], str) and not isinstance(theirs[line], str)]
    found = {line: difference(ours[line], theirs[line]) for line in both}
    return {lines[line]: "%s: %s" % (line, said) for line, said in found.items() if said}, len(both)


def test_results_and_variables_have_the_names_of_tensorflow(differences):
    found, compared = differences
    assert compared >= COMPARED
    known = listed()
    assert not found.keys() - known, "\n".join("%s\n    %s" % item for item in found.items() if item[0] not in known)
    assert not known.keys() - found, "these are right now: delete them from the list"


def test_functions_with_other_names_are_few_and_have_reasons():
    assert all(listed().values())
    assert len(listed()) <= DIFFERENT
