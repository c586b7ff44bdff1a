"""tensorflow.python.util.deprecation: decorators that mark functions and arguments as deprecated."""
import contextlib
import functools
import inspect
import re

from weft._core.platform import logging

_PRINT_DEPRECATION_WARNINGS = True
_told = set()


def _printing():
    """Returns whether warnings are printed; programs set the variable in tensorflow.python.util.deprecation."""
    import sys
    seen = sys.modules.get("tensorflow.python.util.deprecation")
    return getattr(seen, "_PRINT_DEPRECATION_WARNINGS", True) and _PRINT_DEPRECATION_WARNINGS


def _check(date, instructions):
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be in format YYYY-MM-DD. Received: %s" % date)
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions! Specify the `instructions` argument.")


def _when(date):
    return "in a future version" if date is None else "after %s" % date


def _noted(doc, word, notice, instructions):
    """Returns a docstring with the notice behind its first line."""
    lines = inspect.cleandoc(doc).splitlines() if doc else ["DEPRECATED FUNCTION"]
    head = "%s (%s)" % (lines[0], word) if doc else lines[0]
    rest = "\n".join(lines[1:]).strip()
    made = "%s\n\nDeprecated: %s\nInstructions for updating:\n%s" % (head, notice, instructions)
    return made + ("\n\n" + rest if rest else "")


def _warn(key, once, text, *args):
    if _printing() and not (once and key in _told):
        _told.add(key)
        logging.warning(text, *args)


def deprecated(date, instructions, warn_once=True):
    """Returns a decorator: calls of the function log a warning."""
    _check(date, instructions)

    def decorate(function):
        if isinstance(function, type):
            return function

        @functools.wraps(function)
        def call(*args, **kwargs):
            _warn(function, warn_once, "From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                  _caller(), function.__qualname__, function.__module__, _when(date), instructions)
            return function(*args, **kwargs)
        call.__doc__ = _noted(function.__doc__, "deprecated", "THIS FUNCTION IS DEPRECATED. It will be removed %s." % _when(date),
                              instructions)
        return call
    return decorate


def _caller():
    frame = inspect.currentframe().f_back.f_back
    return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)


def _given(function, names, args, kwargs, allowed):
    """Returns the deprecated arguments of a call, without those that have a value that is allowed."""
    bound = inspect.signature(function).bind_partial(*args, **kwargs).arguments
    return [n for n in names if n in bound and not (n in allowed and bound[n] == allowed[n])]


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **kwargs):
    """Returns a decorator: calls with one of these arguments log a warning; (name, value) allows that value."""
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    once = kwargs.pop("warn_once", True)
    if kwargs:
        raise TypeError("deprecated_args() got an unexpected keyword argument '%s'" % next(iter(kwargs)))
    pairs = [n if isinstance(n, tuple) else (n,) for n in deprecated_arg_names_or_tuples]
    names, allowed = [p[0] for p in pairs], {p[0]: p[1] for p in pairs if len(p) == 2}

    def decorate(function):
        spec = inspect.getfullargspec(function)
        unknown = [n for n in names if n not in spec.args + spec.kwonlyargs + [spec.varargs, spec.varkw]]
        if unknown:
            raise ValueError("The following deprecated arguments are not present in the function signature: %s. Expected arguments "
                             "from the following list: %s." % (unknown, spec.args + [spec.varargs, spec.varkw]))

        @functools.wraps(function)
        def call(*args, **kwargs):
            for name in _given(function, names, args, kwargs, allowed):
                _warn((function, name), once, "From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\n"
                      "Instructions for updating:\n%s", _caller(), function.__qualname__, function.__module__, name, _when(date),
                      instructions)
            return function(*args, **kwargs)
        call.__doc__ = _noted(function.__doc__, "deprecated arguments", "SOME ARGUMENTS ARE DEPRECATED: `(%s)`. They will be removed "
                              "%s." % (", ".join(sorted(names)), _when(date)), instructions)
        return call
    return decorate


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Returns a decorator: calls with one of these values log a warning."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            bound = inspect.signature(function).bind_partial(*args, **kwargs).arguments
            for name, value in deprecated_kwargs.items():
                if name in bound and bound[name] == value:
                    _warn((function, name), warn_once, "From %s: calling %s (from %s) with %s=%s is deprecated and will be removed "
                          "%s.\nInstructions for updating:\n%s", _caller(), function.__qualname__, function.__module__, name, value,
                          _when(date), instructions)
            return function(*args, **kwargs)
        values = ", ".join("%s=%r" % pair for pair in sorted(deprecated_kwargs.items()))
        call.__doc__ = _noted(function.__doc__, "deprecated argument values", "SOME ARGUMENT VALUES ARE DEPRECATED: `(%s)`. They will "
                              "be removed %s." % (values, _when(date)), instructions)
        return call
    return decorate


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """Returns the function under an old name, which logs a warning."""
    if isinstance(func_or_class, type):
        return func_or_class

    @functools.wraps(func_or_class)
    def call(*args, **kwargs):
        _warn((func_or_class, deprecated_name), warn_once, "From %s: The name %s is deprecated. Please use %s instead.\n", _caller(),
              deprecated_name, name)
        return func_or_class(*args, **kwargs)
    return call


def deprecated_endpoints(*args):
    """Returns a decorator that changes nothing: which names of a function are old."""
    return lambda function: function


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """Returns the value of an argument that has a new name."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'." % (old_name, new_name))
    return old_value


def rewrite_argument_docstring(old_doc, old_argument, new_argument):
    """Returns a docstring in which an argument has another name."""
    return old_doc.replace("`%s`" % old_argument, "`%s`" % new_argument).replace("%s:" % old_argument, "%s:" % new_argument)


@contextlib.contextmanager
def silence():
    """Turns off these warnings inside the block."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before
