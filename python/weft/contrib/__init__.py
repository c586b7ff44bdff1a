"""tf.contrib: what programs of 2016 to 2019 take from it."""
from weft._core.public import publish as _publish
from weft.contrib import (
    checkpoint,
    data,
    deprecated,
    framework,
    layers,
    learn,
    legacy_seq2seq,
    lookup,
    losses,
    metrics,
    rnn,
    slim,
    training,
)

__all__ = [
    "checkpoint", "cluster_resolver", "crf", "cudnn_rnn", "data", "deprecated", "distribute",
    "distributions", "eager", "estimator", "factorization", "framework", "gan", "graph_editor",
    "hooks", "image", "integrate", "layers", "learn", "legacy_seq2seq", "lookup", "losses",
    "metrics", "nccl", "nn", "opt", "predictor", "resampler", "rnn", "saved_model", "seq2seq",
    "signal", "slim", "sparsemax", "staging", "summary", "tensorboard", "text",
    "tfprof", "tpu", "training", "util",
]
_LATER = (
    "cluster_resolver", "crf", "cudnn_rnn", "distribute", "distributions", "eager", "estimator",
    "factorization", "gan", "graph_editor", "hooks", "image", "integrate",
    "nccl", "nn", "opt", "predictor", "resampler", "saved_model", "seq2seq", "signal",
    "sparsemax", "staging", "summary", "tensorboard", "text", "tfprof", "tpu", "util",
)
__getattr__ = _publish(__name__, _LATER)


def __dir__():
    return [*__all__, "__file__", "__path__"]
