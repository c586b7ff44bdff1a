"""tf.contrib: what programs of 2016 to 2019 take from it."""
from .. import lookup  # noqa: F401
from . import data, framework, layers, learn, metrics, rnn, slim, training  # noqa: F401


def __getattr__(name):
    raise AttributeError("tf.contrib.%s is not in Weft" % name)
