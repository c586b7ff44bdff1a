"""tensorflow.python.util.tf_inspect: Python's inspect with getargspec, which Python 3.11 removed."""
import collections
import inspect as _inspect  # noqa: F401
from inspect import *  # noqa: F403
from inspect import getfullargspec, stack as stack

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getargspec(obj):
    """Returns the names and defaults of the arguments of a function."""
    found = getfullargspec(obj)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)
