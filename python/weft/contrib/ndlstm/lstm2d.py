"""tf.contrib.ndlstm.lstm2d: LSTMs over images."""
from weft._core.contrib.ndlstm.lstm2d import (
    get_blocks,
    horizontal_lstm,
    images_to_sequence,
    reduce_to_final,
    reduce_to_sequence,
    separable_lstm,
    sequence_to_images,
)
from weft._core.public import publish as _publish

__all__ = [
    "get_blocks", "horizontal_lstm", "images_to_sequence", "reduce_to_final", "reduce_to_sequence", "separable_lstm",
    "sequence_to_images",
]
__getattr__ = _publish(__name__)
