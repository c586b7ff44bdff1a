"""tf.contrib: what programs of 2016 to 2019 take from it."""
from weft._core.public import publish as _publish
from weft.contrib import data, deprecated, framework, layers, learn, legacy_seq2seq, lookup, losses, metrics, rnn, slim, training

__all__ = [
    "data", "deprecated", "framework", "layers", "learn", "legacy_seq2seq", "lookup", "losses", "metrics", "rnn",
    "slim", "training",
]
__getattr__ = _publish(__name__)
