"""Small modules of tensorflow.python.util: tf_export, tf_decorator, function_utils, lazy_loader, all_util, tf_should_use.

tf_inspect is Python's inspect, and tf_contextlib its contextlib.
"""
import contextlib
import functools
import importlib
import inspect
import sys
import types

contextmanager = contextlib.contextmanager


# ---- tf_export: marks public names ----

class tf_export:  # noqa: N801 - TensorFlow's name
    """A decorator that returns the function unchanged; its argument is the public name."""

    def __init__(self, *args, **kwargs):
        self._names = args

    def __call__(self, func):
        return func

    def export_constant(self, module_name, name):
        """Does nothing; the arguments are the public name of a constant."""


keras_export = estimator_export = tf_export


def kwarg_only(f):
    """Returns a function that takes keywords only."""
    @functools.wraps(f)
    def wrapper(**kwargs):
        return f(**kwargs)
    return wrapper


# ---- tf_decorator ----

def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """Returns the function that calls a target, with the target's name and docstring."""
    made = functools.wraps(target)(decorator_func)
    made.__wrapped__ = target
    return made


def unwrap(maybe_tf_decorator):
    """Returns the decorators of a function, and the function inside all of them."""
    found = []
    while hasattr(maybe_tf_decorator, "__wrapped__"):
        found.append(maybe_tf_decorator)
        maybe_tf_decorator = maybe_tf_decorator.__wrapped__
    return found, maybe_tf_decorator


# ---- function_utils ----

def fn_args(fn):
    """Returns the names of the arguments that a call of a function, method or object still takes."""
    if isinstance(fn, functools.partial):
        left = list(fn_args(fn.func))[len(fn.args):]
        return tuple(a for a in left if a not in set(fn.keywords or ()))
    own = fn if inspect.isfunction(fn) or inspect.ismethod(fn) or isinstance(fn, type) else type(fn).__call__
    spec = inspect.getfullargspec(own)
    bound = inspect.ismethod(fn) or own is not fn
    return tuple((spec.args[1:] if bound else spec.args) + spec.kwonlyargs)


def has_kwargs(fn):
    """Returns whether a function takes any keyword."""
    if isinstance(fn, functools.partial):
        return has_kwargs(fn.func)
    if not callable(fn):
        raise TypeError("Argument `fn` should be a callable. Received: fn=%s (of type %s)" % (fn, type(fn)))
    return inspect.getfullargspec(fn if inspect.isroutine(fn) or isinstance(fn, type) else fn.__call__).varkw is not None


def get_func_name(func):
    """Returns the name of a function."""
    _, func = unwrap(func)
    if not callable(func):
        raise ValueError("Argument `func` must be a callable. Received func=%s (of type %s)" % (func, type(func)))
    if isinstance(func, functools.partial):
        return get_func_name(func.func)
    if inspect.isfunction(func) and func.__name__ == "<lambda>":
        return func.__name__
    return getattr(func, "__qualname__", None) or str(type(func))


def get_func_code(func):
    """Returns the code of a function, or None for an object that is called."""
    _, func = unwrap(func)
    if not callable(func):
        raise ValueError("Argument `func` must be a callable. Received func=%s (of type %s)" % (func, type(func)))
    return getattr(func, "__code__", None)


# ---- others ----

class LazyLoader(types.ModuleType):
    """A module that is imported when one of its names is first read."""

    def __init__(self, local_name, parent_module_globals, name, warning=None):
        super().__init__(name)
        self._local_name, self._parent, self._warning = local_name, parent_module_globals, warning

    def _load(self):
        from weft._core.platform import logging
        module = importlib.import_module(self.__name__)
        self._parent[self._local_name] = module
        if self._warning:
            logging.warning(self._warning)
            self._warning = None
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item):
        return getattr(self._load(), item)

    def __dir__(self):
        return dir(self._load())


def make_all(module_name, doc_string_modules=None):
    """Returns the public names of a module."""
    return [n for n, v in vars(sys.modules[module_name]).items() if not n.startswith("_") and not inspect.ismodule(v)]


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Does nothing: names that a module imported are kept here."""


def should_use_result(fn=None, warn_in_eager=False, error_in_function=False):
    """Returns a decorator that changes nothing: the result of the function should be used."""
    return (lambda f: f) if fn is None else fn


def is_in_graph_mode():
    """Returns True: graphs are all there is."""
    return True


IS_IN_GRAPH_MODE = is_in_graph_mode
