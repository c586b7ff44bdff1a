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
    "batching", "bayesflow", "boosted_trees", "checkpoint", "cluster_resolver", "compiler", "crf", "cudnn_rnn", "data", "deprecated",
    "distribute", "distributions", "eager", "estimator", "factorization", "feature_column",
    "ffmpeg", "framework", "gan", "graph_editor", "hooks", "image",
    "input_pipeline", "integrate", "kfac", "layers", "learn", "legacy_seq2seq", "linalg",
    "linear_optimizer", "lookup", "losses", "memory_stats", "metrics",
    "model_pruning", "nccl", "ndlstm", "nn", "opt", "periodic_resample", "predictor", "quantize", "resampler", "rnn",
    "saved_model", "seq2seq", "session_bundle", "signal", "slim", "sparsemax", "staging", "stat_summarizer", "stateless", "summary",
    "tensor_forest", "tensorboard", "tensorrt", "text", "tfprof", "timeseries", "tpu", "training", "util",
]
_LATER = (
    "batching", "bayesflow", "boosted_trees", "cluster_resolver", "compiler", "crf", "cudnn_rnn", "distribute", "distributions", "eager",
    "estimator", "factorization", "feature_column", "ffmpeg", "gan", "graph_editor", "hooks", "image", "input_pipeline", "integrate",
    "kfac", "linalg",
    "linear_optimizer", "memory_stats",
    "model_pruning", "nccl", "ndlstm", "nn", "opt", "periodic_resample", "predictor", "quantize", "resampler",
    "saved_model", "seq2seq", "session_bundle", "signal", "sparsemax", "staging", "stat_summarizer", "stateless", "summary",
    "tensor_forest", "tensorboard", "tensorrt", "text", "tfprof", "timeseries", "tpu", "util",
)
# Modules under a second name: dir() does not list them, so that a walk over all names meets each module once.
_ELSEWHERE = {"autograph": "weft.autograph", "keras": "weft.keras"}
__getattr__ = _publish(__name__, _LATER, _ELSEWHERE)


def __dir__():
    return [*__all__, "__file__", "__path__"]
