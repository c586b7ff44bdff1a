"""Translates Python 2 programs in memory if they do not parse, and keeps their line numbers.

lib2to3 (in Python up to 3.12; fissix from PyPI after that) translates the syntax. python2_tree.py translates what
depends on values, such as the division of ints. Text that a session fetched is str.  --python2, or a first line that
names python2, asks for all this where a program parses.
"""
import functools
import importlib
import importlib.abc
import importlib.util
import os
import re
import sys
import tokenize
import warnings

from weft._core.run import python2_names, python2_tree

_FIXERS = ("apply", "basestring", "dict", "except", "exec", "execfile", "funcattrs", "has_key",
           "imports", "isinstance", "itertools", "itertools_imports", "long", "map", "filter", "zip", "ne",
           "next", "nonzero", "numliterals", "paren", "print", "raise", "raw_input", "repr",
           "standarderror", "sys_exc", "throw", "tuple_params", "types", "unicode", "urllib", "xrange", "xreadlines",
           "methodattrs", "metaclass", "getcwdu", "input")
# Modules whose meaning changed; lib2to3 would treat them as Python 3's.
_MODULES = {"cPickle": "weft._core.run.old_pickle", "StringIO": "weft._core.run.old_io", "cStringIO": "weft._core.run.old_io"}
_said = set()


class NoTranslator(SyntaxError):
    pass


def _package():
    """Returns the package that translates: lib2to3, or fissix for a Python without it."""
    for name in ("lib2to3", "fissix"):
        try:
            importlib.import_module(name + ".refactor")
            return name
        except ImportError:
            continue
    raise NoTranslator("neither lib2to3 (in Python up to 3.12; in Debian python3-lib2to3) nor fissix is here to translate Python 2: "
                       "pip install fissix")


@functools.lru_cache(None)
def _tool():
    """Returns the refactoring tool with the fixers that keep line numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = _package()
        imports = importlib.import_module(package + ".fixes.fix_imports").FixImports
        imports.mapping = {**imports.mapping, **_MODULES}
        importlib.import_module(package + ".fixes.fix_types")._TYPE_MAPPING["StringType"] = "str"
        refactor = importlib.import_module(package + ".refactor")
        return refactor.RefactoringTool(["%s.fixes.fix_%s" % (package, f) for f in _FIXERS])


def _detab(source):
    """Expands tabs of the indentation as Python 2 did, to multiples of eight."""
    lines = []
    for line in source.splitlines(True):
        body = line.lstrip(" \t")
        indent = line[:len(line) - len(body)]
        lines.append(indent.expandtabs(8) + body if "\t" in indent else line)
    return "".join(lines)


def translate(source, path, say=True):
    """Translates Python 2 to Python 3 line by line, and reports the translation once on stderr."""
    source = _detab(source)
    if not source.endswith("\n"):
        source += "\n"
    try:
        tree = _tool().refactor_string(source, path)
    except SyntaxError:
        raise
    except Exception as e:
        raise SyntaxError("%s: neither Python 3 nor Python 2: %s" % (path, e)) from None
    if say and path not in _said:
        _said.add(path)
        print("weft: %s is Python 2; running it translated" % path, file=sys.stderr)
    return str(tree)


def _compile_old(text, path):
    """Compiles translated source so that names and operators keep their Python 2 meaning."""
    python2_names.install()
    from weft._core.session import client
    client.text_results = True
    return compile(python2_tree.with_old_meanings(text, path), path, "exec", dont_inherit=True)


def is_asked_for(path):
    """Returns whether the first line of a script names the interpreter python2."""
    try:
        with open(path, "rb") as f:
            first = f.readline(200)
    except OSError:
        return False
    return re.match(rb"#!.*\bpython2(\.\d+)?\b", first) is not None


def read(path):
    with tokenize.open(path) as f:
        return f.read()


def compile_source(source, path, python2=False):
    """Compiles a file. With python2, files beside a Python 2 program count as Python 2 even if they parse."""
    first = None
    try:
        code = compile(source, path, "exec", dont_inherit=True)
        if not python2:
            return code
    except (SyntaxError, TabError) as e:
        first = e
    try:
        text = translate(source, path, say=python2 is True or first is not None)
    except NoTranslator as e:
        why = "" if first is None else " is not Python 3 (line %s: %s), and" % (first.lineno, first.msg)
        raise NoTranslator("%s%s %s" % (path, why, e)) from None
    except SyntaxError:
        raise first or sys.exc_info()[1] from None
    try:
        return _compile_old(text, path)
    except SyntaxError as e:
        raise first or e from None


def compile_file(path, python2=False):
    return compile_source(read(path), path, python2)


class _Loader(importlib.abc.SourceLoader):
    """Loads modules beside the script, translated if necessary."""

    def __init__(self, path, python2):
        self._path, self._python2 = path, python2

    def get_filename(self, fullname):
        return self._path

    def get_data(self, path):
        with open(path, "rb") as f:
            return f.read()

    def path_stats(self, path):
        raise OSError  # A module that may be translated must not be cached.

    def source_to_code(self, data, path, *, _optimize=-1):
        source = importlib.util.decode_source(data)
        return compile_source(source, path, self._python2 or ("beside" if _said else False))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, folder, python2):
        self._folder, self._python2 = folder, python2

    def find_spec(self, fullname, path=None, target=None):
        folders = path or [self._folder]
        last = fullname.rpartition(".")[2]
        for folder in folders:
            if not os.path.abspath(folder).startswith(self._folder):
                continue
            file = os.path.join(folder, last + ".py")
            package = os.path.join(folder, last, "__init__.py")
            if os.path.exists(package):
                return importlib.util.spec_from_file_location(fullname, package, loader=_Loader(package, self._python2),
                                                              submodule_search_locations=[os.path.dirname(package)])
            if os.path.exists(file):
                return importlib.util.spec_from_file_location(fullname, file, loader=_Loader(file, self._python2))
        return None


class _Same(importlib.abc.Loader):
    """Gives an existing module another name."""

    def __init__(self, module):
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec


class _Beside(importlib.abc.MetaPathFinder):
    """Resolves `import x` in a module of the program's packages to the x beside it, unless a top-level module has that
    name.
    """

    def __init__(self, folder):
        self._folder = folder

    def find_spec(self, fullname, path=None, target=None):
        frame = sys._getframe(1)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        package = frame.f_globals.get("__package__") if frame is not None else None
        file = os.path.abspath(frame.f_code.co_filename) if package else ""
        beside = os.path.join(os.path.dirname(file), fullname.replace(".", os.sep))
        if not file.startswith(self._folder) or not (os.path.exists(beside + ".py") or os.path.isdir(beside)):
            return None
        module = importlib.import_module("%s.%s" % (package, fullname))
        return importlib.util.spec_from_loader(fullname, _Same(module), is_package=hasattr(module, "__path__"))


def install(folder, python2=False):
    folder = os.path.abspath(folder)
    sys.meta_path.insert(1, _Finder(folder, python2))
    sys.meta_path.append(_Beside(folder))
