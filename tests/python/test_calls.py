"""What programs call, called: every symbol that the usage tables count twice or more, with the keywords and numbers of
arguments that programs give it, in one process of Weft and one of TensorFlow, and what came back compared."""
import importlib
import inspect
import os
import pathlib
import pickle
import pkgutil
import subprocess
import sys

import pytest

import ran
import scripts
import weft

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "calls"))
import compare_calls  # noqa: E402
import machine  # noqa: E402

CASES = machine.collect()
FACTS = None if scripts.seeds() is None else scripts.seeds().parent / "facts"
counted = pytest.mark.skipif(FACTS is None, reason="the tables of names are not above this checkout")
# Methods of the synchronous optimizer, counted for the optimizer inside it since programs give both one name; `join` of a
# server that never returns is in test_seeds.py, which runs clusters to their end.
REBOUND = ("get_chief_queue_runner", "get_init_tokens_op", "chief_init_op", "local_step_init_op", "ready_for_local_init_op",
           "make_session_run_hook")
OF_FILES = ("tf.contrib.learn.datasets.mnist.DataSet", "tf.contrib.learn.datasets.mnist.read_data_sets")
# A fork's, or of before 1.0 with a meaning that is gone.
FORK = {"tf.feature_column.embedding_column": {"do_fusion"}}


@pytest.fixture(scope="session")
def found(tmp_path_factory):
    """What each system did with all cases; the two run side by side."""
    folder = tmp_path_factory.mktemp("calls")
    env = dict(os.environ, PYTHONWARNINGS="ignore", WEFT_PYTHON=scripts.PACKAGE)
    tasks = {}
    for system in ("weft", "tf"):
        log = open(folder / (system + ".log"), "w")
        tasks[system] = subprocess.Popen([sys.executable, str(HERE / "calls" / "machine.py"), system, str(folder / system)],
                                         env=env, stdout=log, stderr=log)
    try:
        for system, task in tasks.items():
            assert task.wait(timeout=900) == 0, (folder / (system + ".log")).read_text()[-3000:]
    finally:
        for task in tasks.values():
            task.kill()
    ran.names.update((folder / "weft.ran").read_text().splitlines())
    return {system: pickle.loads((folder / system).read_bytes()) for system in tasks}


def test_calls_give_what_they_give_in_tensorflow(found):
    differ = {}
    for case in CASES:
        ours = found["weft"][case.name]
        said = compare_calls.difference(ours, found["tf"].get(case.name, ours), case.tolerance)
        if said:
            differ[case.name] = said
    assert not differ, "\n".join("%s: %s" % row for row in differ.items())


def parameters(function):
    try:
        return inspect.signature(function).parameters
    except ValueError:  # an exception
        return {}


def draws(namespace):
    """Functions and classes of a public module that take a seed, each with its names."""
    found = {}
    for module in namespace:
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and "seed" in parameters(value):
                found.setdefault(id(value), []).append("tf%s.%s" % (module.__name__.removeprefix("weft"), name))
    return found.values()


def public_modules():
    yield weft
    for found in pkgutil.walk_packages(weft.__path__, "weft."):
        if "._" not in found.name and found.name != "weft.raw_ops":
            yield importlib.import_module(found.name)


def test_what_takes_a_seed_has_a_case_that_gives_it_one():
    """tf.contrib.learn.datasets reads files in numpy's order, which calls_mnist.py compares."""
    calls = machine.used(CASES)[1]
    lacking = [names for names in draws(public_modules()) if not any(
        n in OF_FILES or n.endswith("set_random_seed") or "seed" in calls.get(n, (set(),))[0] for n in names)]
    assert lacking == []


def table(name):
    return [line.split("\t") for line in (FACTS / name).read_text().splitlines()[1:]]


def twice():
    return {name for name, count, *_ in table("tf-api-usage.tsv") if int(count) > 1}


@counted
def test_every_symbol_counted_twice_has_a_case():
    names, _ = machine.used(CASES)
    assert sorted(n for n in twice() if n not in names and not any(u.startswith(n + ".") for u in names)) == []


@counted
def test_cases_give_the_keywords_and_counts_that_programs_give():
    _, calls = machine.used(CASES)
    wanted, lacking = twice(), []
    for name, keywords, counts in table("tf-api-keywords.tsv"):
        if name not in wanted:
            continue
        have = calls.get(name, (set(), set()))
        lacking += ["%s(%s=)" % (name, k) for k in sorted({k.partition("(")[0] for k in keywords.split()}
                                                          - have[0] - FORK.get(name, set()))]
        lacking += ["%s with %d positional" % (name, n) for n in sorted({int(c.partition("(")[0]) for c in counts.split()}
                                                                        - have[1])]
    assert lacking == []


@counted
def test_every_method_counted_twice_has_a_case():
    names, _ = machine.used(CASES)
    lacking = [m for m, count in table("tf-api-methods.tsv") if int(count) > 1 and m not in names
               and not m.startswith("subclass:") and not (m.rpartition(".")[2] in REBOUND and "Sync" not in m)]
    assert lacking == []
