"""Calls of the public API as cases: a function of `tf` that returns what is to be compared.

`collect()` loads every case of this folder, `run_all(tf)` runs them one after the other, each in a graph and a folder of
its own, and describes what came back in plain values, so that two processes can be compared: `python machine.py SYSTEM OUT`
is one of them.  What a case calls, and with which keywords, is read from its source (`used`), which is why cases are
straight lines: `tf.a.b(...)` written in one is a call that was made.
"""
import ast
import collections
import contextlib
import importlib
import inspect
import os
import pathlib
import pickle
import sys
import tempfile
import traceback

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
import ran  # noqa: E402

SAME = {"AddV2": "Add", "BatchMatMulV2": "BatchMatMul", "SelectV2": "Select", "FusedBatchNormV3": "FusedBatchNorm"}
Case = collections.namedtuple("Case", "name function nodes tolerance alone")
_cases = []


def case(function=None, *, nodes=True, tolerance=1e-5, alone=False):
    """nodes: whether the nodes made must be TensorFlow's; docs/decisions.md says where they are not.  alone: no oracle has
    what is called, and the case asserts what it expects."""
    def mark(f):
        _cases.append(Case("%s.%s" % (pathlib.Path(f.__code__.co_filename).stem, f.__name__), f, nodes, tolerance, alone))
        return f
    return mark if function is None else mark(function)


def collect():
    sys.modules.setdefault("machine", sys.modules[__name__])
    sys.path.insert(0, str(HERE))
    for path in sorted(HERE.glob("calls_*.py")):
        importlib.import_module(path.stem)
    return sys.modules["machine"]._cases


# ---- what a case uses ----

class _Uses(ast.NodeVisitor):
    def __init__(self):
        self.calls = collections.defaultdict(lambda: (set(), set()))  # symbol -> keywords, counts of positional arguments
        self.names, self.made = set(), collections.defaultdict(set)

    def symbol(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id == "tf":
            return ".".join(["tf"] + parts[::-1])
        return None

    def makers(self, node):
        """The symbols that made the object that a method is taken from."""
        if isinstance(node, ast.Call):
            found = self.symbol(node.func)
            return {found} if found else set()
        return self.made[node.id] if isinstance(node, ast.Name) else set()

    def visit_Attribute(self, node):
        found = self.symbol(node)
        if found:
            self.names.add(found)
        self.names.update("%s().%s" % (m, node.attr) for m in self.makers(node.value))
        self.generic_visit(node)

    def visit_Call(self, node):
        found = self.symbol(node.func)
        if found:
            keywords, counts = self.calls[found]
            keywords.update(k.arg for k in node.keywords if k.arg)
            counts.add(len(node.args))
        self.generic_visit(node)

    def bind(self, target, value):
        if isinstance(target, ast.Name):
            self.made[target.id] |= self.makers(value)

    def visit_Assign(self, node):
        for target in node.targets:
            pairs = zip(target.elts, node.value.elts) if isinstance(target, ast.Tuple) and isinstance(
                node.value, ast.Tuple) else [(target, node.value)]
            for t, v in pairs:
                self.bind(t, v)
        self.generic_visit(node)

    def visit_With(self, node):
        for item in node.items:
            if item.optional_vars is not None:
                self.bind(item.optional_vars, item.context_expr)
        self.generic_visit(node)

    def visit_ClassDef(self, node):
        for base in node.bases:
            found = self.symbol(base)
            if found:
                self.calls[found][1].add(0)
        self.generic_visit(node)


def parts(cases):
    """The cases and the functions of `tf` beside them, which they call."""
    for path in {inspect.getsourcefile(c.function) for c in cases}:
        for node in ast.parse(pathlib.Path(path).read_text()).body:
            if isinstance(node, ast.FunctionDef) and [a.arg for a in node.args.args[:1]] == ["tf"] and node.name != "stand_in":
                yield node


def used(cases):
    """(every name and method used, {symbol: (keywords, positional counts)}) of the cases together."""
    names, calls = set(), {}
    for part in parts(cases):
        uses = _Uses()
        uses.visit(part)
        names |= uses.names
        for symbol, (keywords, counts) in uses.calls.items():
            have = calls.setdefault(symbol, (set(), set()))
            have[0].update(keywords)
            have[1].update(counts)
    return names, calls


# ---- what a case returned, in plain values ----

class Described:
    """Takes a nest apart; tensors wait for their values."""

    def __init__(self, tf):
        self.tf, self.tensors = tf, []

    def take(self, x):
        tf = self.tf
        if isinstance(x, dict):
            return {str(k): self.take(v) for k, v in x.items()}
        if isinstance(x, tf.SparseTensor):
            return ["sparse"] + [self.take(t) for t in (x.indices, x.values, x.dense_shape)]
        if isinstance(x, tf.IndexedSlices):
            return ["slices"] + [self.take(t) for t in (x.values, x.indices, x.dense_shape)]
        if isinstance(x, (list, tuple)):
            return [self.take(v) for v in x]
        if isinstance(x, tf.Operation):
            return ("op", x.name, SAME.get(x.type, x.type))
        kind = "variable" if is_variable(tf, x) else "tensor"
        if kind == "variable" or isinstance(x, tf.Tensor):
            self.tensors.append(x)
            return _Value(kind, x.name, x.dtype.base_dtype.name, shape_of(x.get_shape()), len(self.tensors) - 1)
        return plain(tf, x)


def is_variable(tf, x):
    """TensorFlow 2.15's resource variables are not of the class tf.Variable of its 1.x mode, but of one above it."""
    return isinstance(x, tf.Variable) or type(x).__name__ == "ResourceVariable" and hasattr(x, "handle")


_Value = collections.namedtuple("_Value", "kind name dtype shape at")


def shape_of(shape):
    return None if shape.ndims is None else shape.as_list()


def plain(tf, x):
    if isinstance(x, tf.DType):
        return x.name
    if isinstance(x, tf.TensorShape):
        return ("shape", shape_of(x))
    if isinstance(x, BaseException):
        return ("raised", type(x).__name__)
    if hasattr(x, "SerializeToString"):
        return ("message", str(x))
    if isinstance(x, (np.ndarray, np.generic, str, bytes, int, float, bool, type(None))):
        return x
    return ("object", getattr(x, "__name__", type(x).__name__))


def filled(x, values):
    if isinstance(x, _Value):
        return ("%s %s %s %s" % x[:4], values[x.at])
    if isinstance(x, dict):
        return {k: filled(v, values) for k, v in x.items()}
    if isinstance(x, list):
        return [filled(v, values) for v in x]
    return x


def variables(tf, graph):
    return {key: [(v.name, v.dtype.base_dtype.name, shape_of(v.get_shape())) for v in graph.get_collection(key)]
            for key in ("variables", "trainable_variables", "local_variables", "moving_average_variables")}


def node(n):
    """Its name, op and inputs; the order of control inputs means nothing."""
    data = [i for i in n.input if not i.startswith("^")]
    return n.name, SAME.get(n.op, n.op), tuple(data + sorted(set(n.input) - set(data)))


def draws(graph):
    """(op, seed, seed2) of every node that draws, whatever its name."""
    return sorted((n.op, n.attr["seed"].i, n.attr["seed2"].i) for n in graph.as_graph_def().node
                  if "seed" in n.attr and "seed2" in n.attr)


def config(tf, **given):
    """A session's configuration without TensorFlow's graph optimizer, which takes half of the time of a short run."""
    made = tf.ConfigProto(**given)
    made.graph_options.rewrite_options.disable_meta_optimizer = True
    return made


def run_case(tf, c):
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(11)
        taken = Described(tf)
        nest = taken.take(c.function(tf))
        made = [node(n) for n in graph.as_graph_def().node] if c.nodes else None
        held, drawn, values = variables(tf, graph), draws(graph), []
        if taken.tensors:
            with tf.Session(graph=graph, config=config(tf)) as sess:
                sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
                values = sess.run(taken.tensors)
    return filled(nest, values), made, held, drawn


def run_all(tf, only=None, alone=True):
    """{case: (what it returned, nodes, variables, draws) or the traceback}"""
    found, home = {}, os.getcwd()
    for c in collect():
        if only and not any(o in c.name for o in only) or c.alone and not alone:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                found[c.name] = run_case(tf, c)
            except Exception:  # noqa: BLE001 - told by the test
                found[c.name] = traceback.format_exc()
            finally:
                os.chdir(home)
    return found


def main(system, out, *only):
    tf = importlib.import_module("names_of_" + system).load()
    with ran.watch(tf) if system == "weft" else contextlib.nullcontext():
        found = run_all(tf, only, alone=system == "weft")
    with open(out, "wb") as f:
        pickle.dump(found, f)
    pathlib.Path(out + ".ran").write_text("\n".join(ran.names))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main(*sys.argv[1:])
