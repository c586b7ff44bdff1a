"""`weft run SCRIPT.py`: runs a TensorFlow program without changes.

A finder handles `import tensorflow` and its submodules. It finds every name under tensorflow in a table of modules
(modules.py) or as an attribute of the package.  So `from tensorflow.python.framework import ops` works where Weft has
what is asked for, and says what is missing where it has not.
"""
import importlib.abc
import importlib.machinery
import os
import resource
import sys
import types

import weft
from weft._core.framework import absent, protos
from weft._core.run import aliases, older
from weft._core.run.message_modules import MESSAGE_MODULES
from weft._core.run.modules import MODULES


class _Joined(types.ModuleType):
    """Joins several modules into one; a name comes from the first module that has it."""

    def __init__(self, modules):
        super().__init__(modules[0].__name__)
        self.__dict__.update({k: v for m in reversed(modules) for k, v in vars(m).items() if not k.startswith("__")})
        self.__dict__["__all__"] = sorted({n for m in modules for n in absent.public_names(m)})
        self._modules = modules

    def __getattr__(self, name):
        if not name.startswith("__"):
            for module in self._modules[:-1]:
                try:
                    return getattr(module, name)
                except AttributeError:
                    pass
        return getattr(self._modules[-1], name)


def _target(modules):
    """Returns the module of a table entry, which may join several."""
    found = [importlib.import_module(m) for m in modules.split()]
    return found[0] if len(found) == 1 else _Joined(found)


def _attribute(name):
    """Returns tensorflow.a.b as weft.a.b if that exists; the longest listed prefix determines the module."""
    parts = name.split(".")
    known = max(n for n in range(1, len(parts) + 1) if n == 1 or MODULES.get(".".join(parts[:n])))
    found = _target(MODULES[".".join(parts[:known])])
    for part in parts[known:]:
        if part == "python":
            continue
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def _beside(name):
    """Returns the public names and modules beside a name that is missing."""
    folder = name.rpartition(".")[0]
    module, depth = _attribute(folder), folder.count(".") + 1
    names = absent.public_names(module) if isinstance(module, types.ModuleType) else ()
    modules = {known.split(".")[depth] for known in (*MODULES, *MESSAGE_MODULES) if known.startswith(folder + ".")}
    messages = (n for n, v in vars(protos).items() if hasattr(v, "FIELDS")) if folder in MESSAGE_MODULES else ()
    return [*names, *sorted(modules), *messages]


class _Package(types.ModuleType):
    """A package; names that it lacks are imported as submodules."""

    __path__ = []

    def __getattr__(self, name):
        full = "%s.%s" % (self.__name__, name)
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return aliases.find(self.__name__, name)
        except AttributeError:
            pass
        try:
            return importlib.import_module(full)
        except ImportError as e:
            raise AttributeError(str(e)) from None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in ("tensorflow", "tensorflow_estimator"):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        name = spec.name.replace("tensorflow_estimator", "tensorflow", 1)  # the estimators' own package has the same paths
        target = MODULES.get(name, "weft._core.framework.protos" if name in MESSAGE_MODULES else "")
        if target == "":
            found = _attribute(name)
            if isinstance(found, types.ModuleType):
                return self._wrap(name, {}, found)
            elif found is not None:
                return self._wrap(name, vars(found) if hasattr(found, "__dict__") else {})
            elif any(known.startswith(name + ".") for known in MODULES) or name.split(".")[1:2] in (["python"], ["core"]) \
                    and name.count(".") == 2:
                target = None
            else:
                raise ImportError(absent.said(name, _beside(name)))
        if target is None:
            return self._wrap(name, {})
        return self._wrap(name, {}, _target(target))

    def _wrap(self, name, names, module=None):
        made = _Package(name)
        made.__dict__.update(names)
        if module is not None:
            made.__dict__.update({k: v for k, v in vars(module).items() if not _ours(v) and (
                k in _OF_MODULES or not k.startswith("__"))})
            made.__dict__["__path__"] = list(getattr(module, "__path__", []))
            made.__class__ = _mirror(module)
        return made

    def exec_module(self, module):
        pass


# Names with underscores that are looked up in a module.
_OF_MODULES = ("__version__", "__git_version__", "__compiler_version__", "__cxx11_abi_flag__", "__cxx_version__",
               "__monolithic_build__", "__file__", "__doc__", "__all__")


def _ours(x):
    """Returns whether x is a module of this package.

    Programs get it by its name under tensorflow, which may have more names.
    """
    return isinstance(x, types.ModuleType) and x.__name__.startswith("weft")


def _first(*finds):
    """Returns the result of the first function that raises no AttributeError; if all do, raises the last error."""
    for find in finds[:-1]:
        try:
            return find()
        except AttributeError:
            pass
    return finds[-1]()


def _mirror(module):
    """Returns a class of modules whose missing names come from another module."""
    class Mirror(_Package):
        def __dir__(self):
            return sorted({*dir(module), *(k for k in vars(self) if not k.startswith("_"))})

        def __getattr__(self, name):
            if name.startswith("__") and name.endswith("__"):
                if name in vars(module):  # dir() lists it
                    return vars(module)[name]
                raise AttributeError(name)
            full, found = "%s.%s" % (self.__name__, name), None
            try:
                found = _first(lambda: getattr(module, name), lambda: aliases.find(self.__name__, name))
            except AttributeError:
                if full not in MODULES and not any(a.startswith(full + ".") for a in MODULES):
                    raise absent.missing(full, lambda: _beside(full)) from None
            return importlib.import_module(full) if found is None or _ours(found) else found
    return Mirror


def install():
    """Makes `import tensorflow` import this package."""
    if not any(isinstance(f, Finder) for f in sys.meta_path):
        for name in [n for n in sys.modules if n == "tensorflow" or n.startswith("tensorflow.")]:
            del sys.modules[name]
        sys.meta_path.insert(0, Finder())


_OLD_NAMES = {"ps": "parameter_servers", "worker": "workers"}


def _fill_role(flags, argv):
    """Fills in cluster flags that the script defines and the user left unset, from other spellings, TF_CONFIG, Slurm or
    MPI.

    Without --job_name on the command line, the script's own flags do not count as a role: it may have a default, or use
    flags of these names for something else.

    Without --job_name on the command line its flags say no role: the script may have a default, or mean something else
    by flags of these names.
    """
    from weft import _weft
    from weft._core.framework import protos
    named = any(word.lstrip("-").partition("=")[0] == "job_name" for word in argv[1:] if word.startswith("-"))
    cluster, job, task = _weft.role(list(argv) if named else list(argv[:1]))
    if cluster is None:
        return
    for j in protos.ClusterDef.FromString(cluster).job:
        hosts = ",".join(j.tasks[i] for i in sorted(j.tasks))
        flags._fill(j.name + "_hosts", hosts)
        if j.name in _OLD_NAMES and flags._is_text(_OLD_NAMES[j.name]) and not flags._defines(j.name + "_hosts"):
            flags._fill(_OLD_NAMES[j.name], hosts)
    flags._fill("job_name", job)
    for name in ("task_index", "task_id"):
        if flags._is_number(name):
            flags._fill(name, task)


_DESCRIPTORS = 1 << 16


def _raise_descriptors():
    """Raises the limit of open descriptors as far as the system allows, because a task has one for each connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _print_own_frames(path):
    """Makes the traceback of an exception that ends the script begin in the script, as under `python script.py`.

    Under `weft launch`, which reports itself that Ctrl-C ended the tasks, a task prints no traceback for Ctrl-C. Python
    still ends by the signal, so the exit code is the same.
    """
    before, launched = sys.excepthook, os.environ.get("WEFT_LAUNCH")

    def hook(kind, value, trace):
        if launched and issubclass(kind, KeyboardInterrupt):
            return
        own = trace
        while own is not None and own.tb_frame.f_code.co_filename != path:
            own = own.tb_next
        if own is None and not issubclass(kind, SyntaxError):  # The error was not in the script.
            own = trace
        before(kind, value.with_traceback(own), own)
    sys.excepthook = hook


def run(path, args, python2=False):
    """Runs a script as __main__, as `python script.py args` would."""
    from weft._core.run import python2 as old
    _raise_descriptors()
    older.restore()
    install()
    full = os.path.abspath(path)  # As in Python, __file__ is the absolute path of the script.
    _print_own_frames(full)
    python2 = python2 or old.is_asked_for(path)
    weft.flags.FLAGS._fill_with(_fill_role)
    sys.argv = [path] + list(args)
    sys.path[0] = os.path.dirname(full)
    old.install(sys.path[0], python2)
    code = old.compile_file(full, python2)
    module = types.ModuleType("__main__")
    module.__file__, module.__builtins__ = full, __builtins__
    sys.modules["__main__"] = module
    exec(code, module.__dict__)
