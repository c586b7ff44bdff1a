"""tf.contrib.crf: linear chains of tags: their likelihood, and the best one."""
from weft._core.contrib.crf import (
    CrfDecodeBackwardRnnCell,
    CrfDecodeForwardRnnCell,
    CrfForwardRnnCell,
    crf_binary_score,
    crf_constrained_decode,
    crf_decode,
    crf_log_likelihood,
    crf_log_norm,
    crf_multitag_log_likelihood,
    crf_multitag_sequence_score,
    crf_sequence_score,
    crf_unary_score,
    viterbi_decode,
)
from weft._core.public import publish as _publish

__all__ = [
    "CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell", "crf_binary_score",
    "crf_constrained_decode", "crf_decode", "crf_log_likelihood", "crf_log_norm", "crf_multitag_log_likelihood",
    "crf_multitag_sequence_score", "crf_sequence_score", "crf_unary_score", "viterbi_decode",
]
__getattr__ = _publish(__name__)
