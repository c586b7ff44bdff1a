"""Restores names that Python and numpy have removed since TensorFlow 1, for programs that use them."""
import collections
import collections.abc
import fractions
import inspect
import math
import time

import numpy as np

_NUMPY = {"bool": bool, "complex": complex, "float": float, "int": int, "long": int, "object": object, "str": str, "unicode": str}


def _getargspec(func):
    """Implements inspect.getargspec, which Python 3.11 removed."""
    found = inspect.getfullargspec(func)
    return collections.namedtuple("ArgSpec", "args varargs keywords defaults")(found.args, found.varargs, found.varkw, found.defaults)


def _give(module, name, value):
    if name not in vars(module):
        setattr(module, name, value)


def restore():
    """Restores the removed names: np.int is int, time.clock returns the processor time, and so on."""
    for name, kind in _NUMPY.items():
        _give(np, name, kind)
    _give(time, "clock", time.process_time)
    _give(fractions, "gcd", math.gcd)
    _give(inspect, "getargspec", _getargspec)
    for name in collections.abc.__all__:
        _give(collections, name, getattr(collections.abc, name))
