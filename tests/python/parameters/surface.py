"""The public functions of the front end, and which recipe calls which of them."""
import ast
import enum
import inspect
import types

import values
import walk

# Functions whose parameters are tested elsewhere, or that have none of their own.
SKIPPED_MODULES = ("raw_ops",  # one function per op, made from its definition: tests/parity runs each attribute
                   "applications",  # networks of hundreds of layers: calls_keras_applications.py and test_applications.py
                   "inception")  # the same: test_slim.py
SKIPPED_BASES = (BaseException,)  # the classes of errors


def functions(weft):
    """{name: function or class}, the shortest public name of each."""
    found, seen = {}, set()

    def visit(module, prefix):
        if id(module) in seen:
            return
        seen.add(id(module))
        for name in sorted(n for n in dir(module) if not n.startswith("_") and n not in SKIPPED_MODULES):
            value = getattr(module, name, None)
            if inspect.ismodule(value):
                # test_compat_v2.py compares the parameters of tf.compat.v2, which is there once it is imported.
                if value.__name__.startswith("weft.") and not value.__name__.startswith("weft.compat.v2"):
                    visit(value, prefix + name + ".")
            elif callable(value) and not (isinstance(value, type) and issubclass(value, SKIPPED_BASES)):
                found.setdefault(id(value), []).append((prefix + name, value))
    visit(weft, "tf.")
    return {name: value for name, value in (min(names, key=lambda row: (len(row[0]), row[0])) for names in found.values())}


# Modules that a program imports by their whole path: `weft run` finds them, and a public module has the same functions.
MODULES = {"tf.examples.tutorials.mnist.input_data": "tf.contrib.learn.datasets.mnist", "tf.python.ops.logging_ops": "tf",
           "tf.contrib.learn.python.learn": "tf.contrib.learn", "tf.python.ops.partitioned_variables": "tf"}


def resolved(weft, symbol):
    """What a public name stands for; None if it is not here."""
    module, _, name = symbol.rpartition(".")
    symbol, value = "%s.%s" % (MODULES.get(module, module), name), weft
    for part in symbol.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def own(function):
    """The function itself, for a method of an object."""
    return function.__func__ if isinstance(function, types.MethodType) else function


def called(weft, line):
    """The function that a recipe calls; None if it cannot be found."""
    try:
        with weft.Graph().as_default():
            return walk.Caller(weft, walk.parse(line)).function(values.environment(weft))
    except Exception:  # noqa: BLE001 - the walk itself tells what is wrong
        return None


def generated(name, function):
    """A recipe from the names of the required parameters; None if one of them has no usual value."""
    needed = [p for p, default in walk.parameters(function).items() if default is inspect.Parameter.empty]
    if isinstance(function, type) or not needed or not all(p in values.REQUIRED for p in needed):
        return None
    return "%s(%s)" % (name, ", ".join(values.REQUIRED[p] for p in needed))


def recipes(weft, written):
    """(lines to walk, {line: public name}, public functions that have parameters and no recipe)"""
    public = functions(weft)
    names = {id(f): name for name, f in public.items()}
    lines = {line: names.get(id(own(called(weft, line))), ast.unparse(ast.parse(walk.parse(line).call, mode="eval").body.func))
             for line in written}
    lacking = []
    for name, function in sorted(public.items()):
        if name in lines.values() or not parameterized(function):
            continue
        line = generated(name, function)
        if line is None:
            lacking.append(name)
        else:
            lines[line] = name
    return lines, lacking


def parameterized(function):
    if isinstance(function, enum.EnumMeta):
        return False
    try:
        return bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
