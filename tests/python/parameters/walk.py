"""Calls every public function once as its recipe says, and once more for each of its parameters with another value.

A recipe is a line `CALL ; PARAMETER=VALUE, ... ; USE`.  CALL is the base call.  The values after the first semicolon
replace the ones that `values.py` finds by the parameter's name or by its default.  USE is an expression of `it`, the
result of the call, for results that show nothing by themselves, such as an optimizer.

`python walk.py SYSTEM RECIPES OUT` runs the recipes of a JSON file in one system and pickles, for each call, what it
returned, which nodes and collections it made, which files it wrote and which error it raised.
"""
import ast
import collections
import contextlib
import hashlib
import importlib
import inspect
import io
import json
import os
import pathlib
import pickle
import re
import signal
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "calls")]
import machine  # noqa: E402
import uses  # noqa: E402
import values  # noqa: E402

BASE = ""  # the name of the call with no parameter changed
Recipe = collections.namedtuple("Recipe", "call changes use")
Outcome = collections.namedtuple("Outcome", "value nodes held error digest", module="walk")
LIMIT = 20  # seconds
NAMES = ("name", "scope")  # they change the graph only, so that nothing needs to run


# ---- recipes ----

def parse(line):
    call, changes, use = (part.strip() for part in (re.split(r"\s;(?=\s)", line + " ; ; ")[:3]))
    given = ast.parse("f(%s)" % changes, mode="eval").body.keywords
    return Recipe(call, {k.arg: ast.unparse(k.value) for k in given}, use)


def read(text):
    """The recipes of a text; a line that is indented continues the one before it."""
    for line in re.sub(r"\n +", " ", text).splitlines():
        if line and not line.startswith("#"):
            yield line


def parameters(function):
    """{name: default} of what a function takes, without the ones that have no name."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


# ---- one call ----

class Caller:
    """Makes the calls of one recipe in one system."""

    def __init__(self, tf, recipe):
        self.tf, self.recipe = tf, recipe
        self.call = ast.parse(recipe.call, mode="eval").body

    def value(self, source, env):
        return eval(source if isinstance(source, str) else compile(ast.Expression(source), "recipe", "eval"), *env)

    def function(self, env):
        return self.value(self.call.func, env)

    def make(self, changed, source, order):
        """The result of the call, with one parameter changed unless `changed` is BASE; order: our names of its parameters."""
        env = values.environment(self.tf)
        function = self.function(env)
        args = [self.value(a, env) for a in self.call.args]
        kwargs = {k.arg: self.value(k.value, env) for k in self.call.keywords}
        if changed != BASE:
            names = list(parameters(function)) or order
            if changed in names[:len(args)]:
                args[names.index(changed)] = self.value(source, env)
            else:
                kwargs[changed] = self.value(source, env)
        env[0]["it"] = function(*args, **kwargs)
        return self.value(self.recipe.use, env) if self.recipe.use else env[0]["it"]


def changes(function, line):
    """{parameter: source of a value that is not its default}; parameters without a known value have None."""
    found, passed = parameters(function), given(line, list(parameters(function)))
    return {**{p: values.another(p, default, p in passed) for p, default in found.items()}, **parse(line).changes}


def given(line, names):
    """The parameters that the base call of a recipe passes; names: those of the function, in order."""
    call = ast.parse(parse(line).call, mode="eval").body
    return {k.arg for k in call.keywords}.union(names[:len(call.args)])


def held(graph):
    """What the collections of the graph hold, by name."""
    return {str(k): [getattr(v, "name", None) or type(v).__name__ for v in graph.get_collection(k)]
            for k in sorted(graph.get_all_collection_keys(), key=str)}


def files():
    """The files below this folder, with digits that depend on time and process taken out."""
    found = []
    for path in sorted(pathlib.Path().rglob("*")):
        kind = re.sub(r"\d{6,}.*", "#", str(path)) if "tfevents" in path.name else re.sub(r"\d{9,}", "#", str(path))
        text = path.suffix in (".pb", ".pbtxt", ".meta", ".index", ".txt", ".csv")
        found.append(kind + (" " + hashlib.md5(path.read_bytes()).hexdigest() if text and path.is_file() else ""))
    return found


def observe(caller, changed, source, order):
    """The outcome of one call in a graph of its own; the folder is empty."""
    tf = caller.tf
    graph = tf.Graph()
    printed, error, value, nodes = io.StringIO(), None, None, []
    with graph.as_default(), contextlib.redirect_stdout(printed):
        tf.set_random_seed(11)
        tf.get_variable_scope().set_initializer(uses.Uses(tf).ramp)
        try:
            taken = machine.Described(tf)
            nest = taken.take(caller.make(changed, source, order))
            nodes = [machine.node(n) for n in graph.as_graph_def().node]
            value = machine.filled(nest, run(tf, graph, taken.tensors, changed in NAMES))
        except Exception as e:  # noqa: BLE001 - the outcome
            error = ([c.__name__ for c in type(e).__mro__], str(e))
    kept = held(graph) if error is None else None
    text = repr((shown(value), nodes, serialized(graph), kept, files(), error, printed.getvalue()))
    tf.summary.FileWriterCache.clear()  # a writer opens its file when it is flushed, which has to be in this folder
    return Outcome(value, nodes, kept, error, hashlib.md5(text.encode()).hexdigest())


def serialized(graph):
    """The graph's bytes.  TensorFlow's are made from the message, with the entries of maps in order."""
    if hasattr(graph, "_as_graph_def_bytes"):
        return graph._as_graph_def_bytes()
    return graph.as_graph_def().SerializeToString(deterministic=True)


def shown(value):
    with np.printoptions(threshold=10000):
        return repr(value)


def run(tf, graph, tensors, only_names):
    if not tensors or only_names:
        return [None] * len(tensors)
    first = [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()] if any(
        graph.get_collection(k) for k in ("variables", "local_variables", "table_initializer")) else None
    with tf.Session(graph=graph, config=machine.config(tf, operation_timeout_in_ms=8000)) as sess:
        if first:
            sess.run(first)
        return sess.run(tensors)


def walk(tf, line, order, sources):
    """{parameter: outcome} of a recipe, with the base call under BASE; None if the system lacks the function."""
    caller = Caller(tf, parse(line))
    try:
        with tf.Graph().as_default():
            function = caller.function(values.environment(tf))
    except (AttributeError, ImportError):
        return None
    found = {"()": list(parameters(function)), BASE: alone(caller, BASE, "", order)}
    for parameter, source in sources.items():
        if source is not None:
            found[parameter] = alone(caller, parameter, source, order)
    if all(o.digest != found[BASE].digest for p, o in found.items() if p not in (BASE, "()")):
        found[BASE] = steady(found[BASE], alone(caller, BASE, "", order))
    return found


def steady(first, second):
    """The first outcome; without a digest if a second call gave another one, since then no digest says anything."""
    return first if first.digest == second.digest else first._replace(digest=None)


def alone(*call):
    """The outcome of one call in an empty folder; a call that waits for longer than LIMIT fails."""
    home = os.getcwd()
    signal.alarm(LIMIT)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return observe(*call)
        finally:
            signal.alarm(0)
            os.chdir(home)


def waited(number, frame):
    raise TimeoutError("the call took longer than %d s" % LIMIT)


def main(system, recipes, out):
    """Each result is written at once, so that a crash shows which recipe it was."""
    tf = importlib.import_module("walk_names_of_" + system).load()
    signal.signal(signal.SIGALRM, waited)
    environment = dict(os.environ)
    with open(out, "wb") as f:
        for line, order, sources in json.loads(pathlib.Path(recipes).read_text()):
            os.environ.clear()
            os.environ.update(environment)  # a recipe may have made this process a task of a cluster
            began = time.process_time()
            print(line, flush=True)
            try:
                found = walk(tf, line, order, sources)
            except Exception as e:  # noqa: BLE001 - a recipe that cannot be read is told by the test
                found = "%s: %s" % (type(e).__name__, e)
            pickle.dump((line, found), f)
            f.flush()
            print("%.2f s" % (time.process_time() - began))
    print("%.1f s of CPU in all" % time.process_time())


def results(path):
    """{recipe: what was found}, of a file that main wrote."""
    found = {}
    with open(path, "rb") as f:
        while f.peek(1):
            line, outcome = pickle.load(f)
            found[line] = outcome
    return found


if __name__ == "__main__":
    sys.modules["walk"] = sys.modules["__main__"]
    main(*sys.argv[1:])
