"""tensorflow.python.util.tf_inspect: Python's inspect with getargspec, which Python 3.11 removed."""
import collections
import inspect as _inspect  # noqa: F401
from inspect import *  # noqa: F403
from inspect import stack as stack

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getfullargspec(obj):
    """Returns the names and defaults of the arguments of a function; of a wrapped one, those of the function inside."""
    inside = _inspect.unwrap(obj)
    if not _inspect.isfunction(inside) and not _inspect.ismethod(inside):
        return _inspect.getfullargspec(obj)
    if "__signature__" not in vars(inside):
        return _inspect.getfullargspec(inside)
    parameters = _inspect.signature(inside).parameters.values()
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    only = [p for p in parameters if p.kind == p.KEYWORD_ONLY]
    starred = {p.kind: p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    return _inspect.FullArgSpec([p.name for p in plain], starred.get(_inspect.Parameter.VAR_POSITIONAL),
                                starred.get(_inspect.Parameter.VAR_KEYWORD),
                                tuple(p.default for p in plain if p.default is not p.empty) or None, [p.name for p in only],
                                {p.name: p.default for p in only if p.default is not p.empty} or None, {})


def getargspec(obj):
    """Returns the names and defaults of the arguments of a function."""
    found = getfullargspec(obj)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)
