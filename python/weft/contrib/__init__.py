"""tf.contrib: what programs of 2016 to 2019 take from it."""
from .. import lookup  # noqa: F401
from . import data, deprecated, framework, layers, learn, legacy_seq2seq, losses, metrics, rnn, slim, training  # noqa: F401
