"""Functions that every public module of the package calls at its end."""
import importlib
import sys

from weft._core import docs
from weft._core.framework import absent, dispatch

_PRIVATE = __name__.rpartition(".")[0] + "."


def publish(namespace, later=(), elsewhere=None):
    """Makes a module public, and returns the function for its `__getattr__`.

    The classes and functions in its `__all__` carry its name from now on, in errors, in help() and in pickles; one that
    is in several modules carries the name of the first.  They get their docstrings from docs.py.  A name that is not in
    the module raises an error that says what to use instead; a submodule in `later` is loaded when it is first asked
    for, and so is a module of another place in `elsewhere`, a dict of their full names.
    """
    module, elsewhere = sys.modules[namespace], elsewhere or {}
    for name in module.__all__:
        value = None if name in later else vars(module)[name]
        if isinstance(value, type) and value.__module__.startswith("weft"):
            absent.name_what_objects_lack(value)
        wrapped = dispatch.published(name, value)
        if wrapped is not value:
            value = vars(module)[name] = wrapped
        if getattr(value, "__qualname__", None) == name and (value.__module__ or "").startswith(_PRIVATE):
            value.__module__ = namespace
        docs.describe(value, ("%s.%s" % (namespace, name)).removeprefix("weft."))

    def __getattr__(name):
        if name in later:
            return importlib.import_module("%s.%s" % (namespace, name))
        if name in elsewhere:
            return importlib.import_module(elsewhere[name])
        if name.startswith("__"):
            raise AttributeError("module '%s' has no attribute '%s'" % (namespace, name))
        raise absent.missing("tf%s.%s" % (namespace.removeprefix("weft"), name), module.__all__)
    return __getattr__
