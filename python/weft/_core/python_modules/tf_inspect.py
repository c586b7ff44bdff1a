"""tensorflow.python.util.tf_inspect: Python's inspect, with the getargspec that Python 3.11 dropped."""
import collections
from inspect import *  # noqa: F403
from inspect import getfullargspec, stack as stack

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getargspec(obj):
    """The names and defaults of the arguments of a function."""
    found = getfullargspec(obj)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)
