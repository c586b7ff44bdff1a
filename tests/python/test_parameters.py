"""The parameter walk: each parameter of each public function has TensorFlow's effect, or an error names it.

parameters/walk.py makes the calls, one process of Weft and two of TensorFlow side by side; parameters/judge.py compares;
parameters/exemptions.txt lists what is not as it should be, with reasons.
"""
import importlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

import scripts
import weft

HERE = pathlib.Path(__file__).resolve().parent / "parameters"
sys.path[:0] = [str(HERE), str(HERE.parent / "calls")]
import judge  # noqa: E402
import surface  # noqa: E402
import walk  # noqa: E402

FACTS = None if scripts.seeds() is None else scripts.seeds().parent / "facts"
# These numbers may only shrink.
EXEMPT = 40  # exemptions that stay
WITHOUT_RECIPE = 95  # public functions that have parameters and no recipe
WITHOUT_VALUE = 64  # parameters that a recipe gives no value


@pytest.fixture(scope="module")
def recipes():
    """({recipe: public name}, functions without a recipe, [[recipe, our parameters, {parameter: value}]])"""
    written = [line for path in sorted(HERE.glob("recipes_*.py"))
               for line in walk.read(importlib.import_module(path.stem).RECIPES)]
    lines, lacking = surface.recipes(weft, written)
    functions = {line: surface.called(weft, line) for line in lines}
    jobs = [[line, list(walk.parameters(f)), walk.changes(f, line)] for line, f in functions.items()]
    return lines, lacking, jobs


def run(jobs, folder):
    """What each system did; TensorFlow is slow, and two processes share its calls."""
    env = dict(os.environ, PYTHONWARNINGS="ignore", WEFT_PYTHON=scripts.PACKAGE)
    tasks = {}
    for system, part, given in (("weft", 0, jobs), ("tf", 0, jobs[::2]), ("tf", 1, jobs[1::2])):
        name = folder / ("%s%d" % (system, part))
        name.with_suffix(".json").write_text(json.dumps(given))
        with open(name.with_suffix(".log"), "w") as log:
            tasks[name] = subprocess.Popen([sys.executable, str(HERE / "walk.py"), system, str(name.with_suffix(".json")),
                                            str(name)], env=env, stdout=log, stderr=log)
    try:
        for name, task in tasks.items():
            assert task.wait(timeout=1500) == 0, name.with_suffix(".log").read_text()[-3000:]
    finally:
        for task in tasks.values():
            task.kill()
    return walk.results(folder / "weft0"), {**walk.results(folder / "tf0"), **walk.results(folder / "tf1")}


def findings(lines, found):
    """{function(parameter): (recipe, what differs)}.  Where TensorFlow lacks the function, one recipe must show an effect."""
    wrong, effects = {}, set()
    for line, name in lines.items():
        ours = found[0][line]
        said = judge.findings(ours, found[1][line])
        effects.update("%s(%s)" % (name, p) for p in ours if p not in said) if isinstance(ours, dict) else None
        for parameter, words in said.items():
            wrong.setdefault("%s(%s)" % (name, parameter), []).append((line, words))
    found = {k: [row for row in rows if k not in effects or row[1] != judge.NO_EFFECT] for k, rows in wrong.items()}
    return {k: rows[0] for k, rows in found.items() if rows}


def exemptions():
    """{function(parameter): reason}"""
    rows = [line.partition(" # ") for line in (HERE / "exemptions.txt").read_text().splitlines() if line and line[0] != "#"]
    return {key.strip(): reason.strip() for key, _, reason in rows}


def test_parameters_have_the_effect_that_they_have_in_tensorflow(recipes, tmp_path_factory):
    """What differs from the list of exemptions is called once more: some calls have threads that do not keep an order."""
    lines, _, jobs = recipes
    exempt = exemptions()
    wrong = findings(lines, run(jobs, tmp_path_factory.mktemp("parameters")))
    surprises = set(wrong) ^ {k for k in exempt if not exempt[k].startswith("varies")}
    names = {key.rpartition("(")[0] for key in surprises}
    again = {line: name for line, name in lines.items() if name in names}
    if surprises:
        second = findings(again, run([j for j in jobs if j[0] in again], tmp_path_factory.mktemp("again")))
        new = {k: wrong[k] for k in surprises if k in wrong and k in second and k not in exempt}
        assert not new, "\n".join("%s: %s\n        %s" % (k, *v) for k, v in new.items())
        assert not {k for k in surprises if k not in wrong and k not in second}, "cured: delete these exemptions"


def test_exemptions_are_few_and_have_reasons():
    exempt = exemptions()
    assert all(exempt.values())
    assert len(exempt) <= EXEMPT


def test_functions_without_a_recipe_and_parameters_without_a_value_do_not_grow(recipes):
    lines, lacking, jobs = recipes
    assert len(lacking) <= WITHOUT_RECIPE, "give these functions a recipe: %s" % lacking
    given = {(lines[line], p) for line, _, changes in jobs for p, v in changes.items() if v is not None}
    empty = {(lines[line], p) for line, names, changes in jobs for p, v in changes.items()
             if v is None and p not in walk.given(line, names)} - given
    assert len(empty) <= WITHOUT_VALUE, "give these parameters a value: %s" % sorted(empty)


@pytest.mark.skipif(FACTS is None, reason="the tables of names are not above this checkout")
def test_recipes_cover_the_keywords_that_programs_give(recipes):
    lines, _, jobs = recipes
    covered = {}
    for line, names, changes in jobs:
        covered.setdefault(lines[line], set()).update(walk.given(line, names), (p for p, v in changes.items() if v is not None))
    public = {id(f): name for name, f in surface.functions(weft).items()}
    uses, lacking = 0, {}
    for row in (FACTS / "tf-api-keywords.tsv").read_text().splitlines()[1:]:
        symbol, keywords, _ = row.split("\t")
        for keyword in keywords.split():
            name, _, count = keyword.rstrip(")").partition("(")
            uses += int(count)
            if name not in covered.get(public.get(id(surface.resolved(weft, symbol))), ()):
                lacking["%s(%s)" % (symbol, name)] = int(count)
    missed = sum(lacking.values())
    assert missed <= 0.05 * uses, "%d of %d uses are not covered: %s" % (missed, uses, lacking)
