"""absl, six and google.protobuf: the installed packages, or the small replacements in ../stand_in.

An installed protobuf does not know this package's messages, so its text_format is patched to pass them to ours.
"""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "stand_in")
_PACKAGES = ("absl", "google", "google.protobuf")
_MODULES = ("absl.app", "absl.flags", "absl.logging", "google.protobuf.message", "google.protobuf.text_format", "six")
_TEXT = "google.protobuf.text_format"


class Fallback(importlib.abc.MetaPathFinder):
    """The last finder, for packages that are not installed."""

    def find_spec(self, fullname, path=None, target=None):
        where = os.path.join(_FOLDER, *fullname.split("."))
        if fullname in _PACKAGES:
            return importlib.util.spec_from_file_location(fullname, os.path.join(where, "__init__.py"),
                                                          submodule_search_locations=[where])
        return importlib.util.spec_from_file_location(fullname, where + ".py") if fullname in _MODULES else None


def _shared(name, theirs, ours, ours_is):
    """Returns a function of text_format that passes our messages to our function."""
    def call(*args, **kwargs):
        return (ours if any(ours_is(a) for a in (*args, *kwargs.values())) else theirs)(*args, **kwargs)
    call.__name__, call.__doc__ = name, theirs.__doc__
    return call


def teach(module):
    """Makes an installed text_format accept this package's messages."""
    from weft._core.framework import text_format as ours
    for name in ("Merge", "MergeLines", "MessageToBytes", "MessageToString", "Parse", "ParseLines", "PrintMessage"):
        if hasattr(module, name) and hasattr(ours, name):
            setattr(module, name, _shared(name, getattr(module, name), getattr(ours, name), ours.is_ours))
    ours.ParseError = module.ParseError  # Programs catch protobuf's class.


class _Teaching(importlib.abc.Loader):
    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        teach(module)


class Watch(importlib.abc.MetaPathFinder):
    """The first finder, which patches the installed text_format when it is imported."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _TEXT:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin != os.path.join(_FOLDER, "google", "protobuf", "text_format.py"):
            spec.loader = _Teaching(spec.loader)
        return spec


def install():
    if any(isinstance(f, Fallback) for f in sys.meta_path):
        return
    sys.meta_path.insert(0, Watch())
    sys.meta_path.append(Fallback())
    if _TEXT in sys.modules:
        teach(sys.modules[_TEXT])
