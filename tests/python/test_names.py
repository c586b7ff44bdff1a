"""What real programs name: every symbol counted twice or more is there, with the keywords they use."""
import importlib
import inspect
import pathlib
import re
import sys

import pytest

import scripts
from weft._core.run import runner

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "calls"))
import machine  # noqa: E402

FACTS = None if scripts.seeds() is None else scripts.seeds().parent / "facts"
pytestmark = pytest.mark.skipif(FACTS is None, reason="the tables of names are not above this checkout")
# Whole parts of TensorFlow that are not in Weft; asking for one says so.
ABSENT = ("tf.lite", "tf.python.data.experimental.ops.parquet_dataset_ops")
# Of one fork of TensorFlow, or of before 1.0 with a meaning that is gone.
IGNORED = {"tf.train.SyncReplicasOptimizer": {"replica_id"}, "tf.feature_column.embedding_column": {"do_fusion"},
           "tf.feature_column.input_layer": {"adaptive_mask_tensors"}, "tf.feature_column.linear_model": {"do_fusion"}}


def rows(name):
    path = pathlib.Path(FACTS or ".") / name
    return [line.split("\t") for line in path.read_text().splitlines()[1:]] if path.exists() else []


def find(name):
    parts = name.split(".")[1:]
    found = importlib.import_module("tensorflow")
    for i, part in enumerate(parts):
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module("tensorflow." + ".".join(parts[:i + 1]))
    return found


@pytest.fixture(scope="module")
def alias():
    """`tensorflow` is ours for a while; the oracle comes back after."""
    saved = {n: sys.modules.pop(n) for n in list(sys.modules) if n == "tensorflow" or n.startswith("tensorflow.")}
    runner.install()
    yield
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, runner.Finder)]
    for n in [n for n in sys.modules if n == "tensorflow" or n.startswith("tensorflow.")]:
        del sys.modules[n]
    sys.modules.update(saved)


def test_every_name_counted_twice_is_there(alias):
    missing = []
    for name, count, *_ in rows("tf-api-usage.tsv"):
        if int(count) > 1 and not name.startswith(ABSENT):
            try:
                find(name)
            except (AttributeError, ImportError):
                missing.append(name)
    assert missing == []


def told(name):
    """What the program is told that asks for a name, or for something in a module that is empty."""
    try:
        found = find(name)
        empty = inspect.ismodule(found) and not [n for n in dir(found) if not n.startswith("_")]
        return told(name + ".anything") if empty else None
    except (AttributeError, ImportError) as e:
        return str(e)


def test_every_name_counted_once_works_or_says_what_to_use(alias):
    """Those that work have a case in calls/; each of the others names the symbol, what to use instead, and our line."""
    cases = machine.used(machine.collect())[0]
    wrong, said = {}, {}
    for name, count, *_ in rows("tf-api-usage.tsv"):
        if int(count) == 1 and name not in cases and not any(c.startswith(name + ".") for c in cases):
            said[name] = told(name)
            symbol, _, rest = (said[name] or "").partition(" is not in Weft (%s, line " % __file__)
            if not (name + ".anything").startswith(symbol or "-") or not re.fullmatch(r"\d+\): .{20,}", rest):
                wrong[name] = said[name]
    assert wrong == {} and 10 < len(said) < 40, sorted(said)


def test_a_misspelt_name_finds_its_neighbour(alias):
    for name, meant in (("tf.train.AdamOptimiser", "AdamOptimizer"), ("tf.plaseholder", "placeholder")):
        assert "did you mean %s" % meant in told(name)


def test_absent_parts_say_so(alias):
    for name in ABSENT:
        with pytest.raises((AttributeError, ImportError), match="is not in Weft"):
            find(name)


def test_functions_take_the_keywords_that_programs_use(alias):
    wrong, checked = [], 0
    for name, keywords, *_ in rows("tf-api-keywords.tsv"):
        if not keywords or name.startswith(ABSENT):
            continue
        try:
            takes = inspect.signature(find(name)).parameters
        except (AttributeError, ImportError, TypeError, ValueError):
            continue
        if any(p.kind == p.VAR_KEYWORD for p in takes.values()):
            continue
        used = {k.partition("(")[0] for k in keywords.split()} - IGNORED.get(name, set())
        checked += len(used)
        wrong += ["%s(%s=)" % (name, k) for k in sorted(used) if k not in takes]
    assert wrong == [] and checked > 100
