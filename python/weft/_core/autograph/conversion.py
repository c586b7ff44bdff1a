"""Converts Python functions: reads their source, rewrites it and compiles it, once per function."""
import ast
import functools
import inspect
import os
import sysconfig
import textwrap
import types
import weakref

from weft._core import PACKAGE
from weft._core.autograph import transformer

_SKIPPED = "_autograph_not_converted"
_LIBRARY = tuple(os.path.join(sysconfig.get_path(k), "") for k in ("stdlib", "platstdlib"))
_SITE = ("site-packages", "dist-packages")
_made = weakref.WeakKeyDictionary()  # code object -> code object of the converted function, by whether calls are converted


class NotConvertible(Exception):
    """The source of a function is not there, or has parts that cannot be converted."""


def _is_of_program(function):
    """Returns whether a function belongs to the program: not to Weft, to Python, or to an installed package."""
    name = function.__code__.co_filename
    if name.startswith((PACKAGE, "<frozen")):
        return False
    return not name.startswith(_LIBRARY) and not any(s in name for s in _SITE)


def skip(function):
    """Marks a function as one that is not converted."""
    @functools.wraps(function)
    def called(*args, **kwargs):
        return function(*args, **kwargs)
    setattr(called, _SKIPPED, True)
    return called


def _definition(function):
    """Returns the syntax tree of a function's definition, at the lines of its file."""
    if function.__name__ == "<lambda>":
        raise NotConvertible("it is a lambda")
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as e:
        raise NotConvertible("its source cannot be read: %s" % e) from None
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError as e:
        raise NotConvertible("its source cannot be parsed: %s" % e) from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.name != function.__name__:
        raise NotConvertible("its source is not that of a function")
    if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in ast.walk(node)):
        raise NotConvertible("it is a generator")
    ast.increment_lineno(tree, first - 1)
    return node


def rewritten(function, recursive=True):
    """Returns the syntax tree of the converted function."""
    node = _definition(function)
    node.decorator_list, node.returns = [], None
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [None if d is None else ast.Constant(None) for d in node.args.kw_defaults]
    transformer.Transformer(recursive, transformer.parameters_of(node)).function(node)
    return ast.fix_missing_locations(node)


def _compiled(function, recursive):
    """Returns the code of the converted function, whose free variables are those of the function, and ag__."""
    node = rewritten(function, recursive)
    free = [n for n in function.__code__.co_freevars if n != "ag__"]
    around = ast.parse("def ag_factory(%s):\n    pass\n    return %s" % (", ".join(["ag__", *free]), node.name))
    around.body[0].body[0] = node
    ast.fix_missing_locations(around)
    module = compile(around, function.__code__.co_filename, "exec")
    factory = next(c for c in module.co_consts if isinstance(c, types.CodeType) and c.co_name == "ag_factory")
    return next(c for c in factory.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)


def convert(function, recursive=True):
    """Returns the converted function, or raises NotConvertible."""
    from weft._core.autograph import operators
    known = _made.setdefault(function.__code__, {})
    if recursive not in known:
        known[recursive] = _compiled(function, recursive)
    code = known[recursive]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells["ag__"] = types.CellType(operators)
    try:
        closure = tuple(cells[n] for n in code.co_freevars)
    except KeyError as e:
        raise NotConvertible("it uses %s of the function around it" % e) from None
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__doc__, made.__qualname__ = function.__kwdefaults__, function.__doc__, function.__qualname__
    made.__module__ = function.__module__
    setattr(made, _SKIPPED, True)  # it is converted already
    return made


def converted(function, recursive=True):
    """Returns a function of the program converted if it can be, and any other object as it is."""
    if isinstance(function, types.MethodType):
        inner = converted(function.__func__, recursive)
        return function if inner is function.__func__ else types.MethodType(inner, function.__self__)
    if not isinstance(function, types.FunctionType) or getattr(function, _SKIPPED, False) or hasattr(function, "__wrapped__"):
        return function
    if not _is_of_program(function):
        return function
    try:
        return convert(function, recursive)
    except NotConvertible:
        return function
