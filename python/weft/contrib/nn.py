"""tf.contrib.nn: functions of networks beside those of tf.nn."""
from weft._core.contrib.small_models import (
    alpha_dropout,
    deprecated_flipped_sigmoid_cross_entropy_with_logits,
    deprecated_flipped_softmax_cross_entropy_with_logits,
    deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
    scaled_softplus,
)
from weft._core.nn.convolution import conv1d_transpose
from weft._core.public import publish as _publish

__all__ = [
    "alpha_dropout", "conv1d_transpose", "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits", "scaled_softplus",
]
__getattr__ = _publish(__name__)
