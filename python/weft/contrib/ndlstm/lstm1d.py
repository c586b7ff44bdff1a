"""tf.contrib.ndlstm.lstm1d: LSTMs over sequences."""
from weft._core.contrib.ndlstm.lstm1d import ndlstm_base, ndlstm_base_dynamic, ndlstm_base_unrolled, sequence_softmax, sequence_to_final
from weft._core.public import publish as _publish

__all__ = ["ndlstm_base", "ndlstm_base_dynamic", "ndlstm_base_unrolled", "sequence_softmax", "sequence_to_final"]
__getattr__ = _publish(__name__)
