"""pickle and cPickle as Python 2 programs use them: text of Python 2 is loaded as str, and files may be open in text
mode.
"""
import pickle
from pickle import *  # noqa: F403
from pickle import HIGHEST_PROTOCOL, PickleError, Pickler, PicklingError, UnpicklingError  # noqa: F401


def _bytes(file):
    return getattr(file, "buffer", file)


def load(file, **kwargs):
    return pickle.load(_bytes(file), **{"encoding": "latin1", **kwargs})


def loads(data, **kwargs):
    return pickle.loads(data.encode("latin1") if isinstance(data, str) else data, **{"encoding": "latin1", **kwargs})


def dump(obj, file, protocol=0):
    pickle.dump(obj, _bytes(file), protocol)


def dumps(obj, protocol=0):
    return pickle.dumps(obj, protocol)


class Unpickler(pickle.Unpickler):
    def __init__(self, file, **kwargs):
        super().__init__(_bytes(file), **{"encoding": "latin1", **kwargs})
