"""The modules of tf.compat.v2, made from tables when a program asks for them.

A name is, in this order: a function with the parameters of TensorFlow 2 (signatures.py), an object of another module of
this package (OWN), the object of tf.compat.v1 (names.py, LIKE), or an error that says what to use instead.
"""
import importlib
import pkgutil
import sys
import types

from weft._core import docs
from weft._core.compat_v2 import own, signatures
from weft._core.compat_v2.names import SAME
from weft._core.framework import absent

_ROOT = "weft.compat.v2"
# Modules that are those of tf as a whole.
_WHOLE = {"compat": "compat", "raw_ops": "raw_ops"}


def _entries():
    """Returns {module: {name: what it is}}: a path in tf, or an object that is made at once."""
    found = {}
    for module, words in SAME.items():
        table = found.setdefault(module, {})
        for word in words.split():
            name, _, path = word.partition("=")
            table[name] = path or (module + "." + name).lstrip(".")
    for path, made in {**own.LIKE, **signatures.FUNCTIONS, **own.OWN}.items():
        module, _, name = path.rpartition(".")
        found.setdefault(module, {})[name] = made
    for module in list(found):
        while module:
            module, _, name = module.rpartition(".")
            found.setdefault(module, {}).setdefault(name, None)
    found[""].update(dict.fromkeys(_WHOLE))
    return found


_ENTRIES = _entries()


def names(module):
    """Returns the public names of a module, by its path behind tf.compat.v2."""
    return sorted(_ENTRIES[module])


class _Module(types.ModuleType):
    """A module of tf.compat.v2; each name is looked up when it is first used."""

    def __init__(self, path):
        super().__init__("%s.%s" % (_ROOT, path), "tf.compat.v2.%s: TensorFlow 2's names, in graphs." % path)
        self.__dict__["__path__"], self.__dict__["__all__"] = [], names(path)
        self.__dict__["_find"] = publish(self.__name__)

    def __dir__(self):
        return list(self.__all__)

    def __getattr__(self, name):
        found = self._find(name)
        self.__dict__[name] = found
        return found


def install():
    """Makes the modules below tf.compat.v2, so that `import` finds them."""
    for path in _ENTRIES:
        if path and path not in _WHOLE:
            sys.modules["%s.%s" % (_ROOT, path)] = _Module(path)


def _absent(path):
    """Returns the error for a name that is not here."""
    module, use = path.rpartition(".")[0], own.OTHERWISE.get(path)
    if use is None and absent.speaks_of("tf." + path):
        use = absent.instead("tf." + path)
    if use is None and not absent.speaks_of("tf.compat.v2." + path):
        try:
            pkgutil.resolve_name("weft:" + path)
            use = "TensorFlow 2 does not have it: use tf.compat.v1." + path
        except AttributeError:
            pass
    return absent.missing("tf.compat.v2." + path, names(module) if module in _ENTRIES else (), 2, use)


def publish(namespace):
    """Returns the function for the `__getattr__` of a module of tf.compat.v2."""
    inside = namespace.removeprefix(_ROOT).lstrip(".")

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError("module '%s' has no attribute '%s'" % (namespace, name))
        path = (inside + "." + name).lstrip(".")
        entry = _ENTRIES[inside].get(name, _absent)
        if entry is _absent:
            raise _absent(path)
        if entry is None:
            return importlib.import_module("weft." + _WHOLE[path] if path in _WHOLE else "%s.%s" % (_ROOT, path))
        if isinstance(entry, str):
            return pkgutil.resolve_name("weft:" + entry)
        docs.describe(entry, path)
        return entry
    return __getattr__
