"""tf.contrib.ndlstm: LSTMs over sequences and images."""
from weft._core.public import publish as _publish
from weft.contrib.ndlstm import lstm1d, lstm2d, misc

__all__ = ["lstm1d", "lstm2d", "misc"]
__getattr__ = _publish(__name__)
