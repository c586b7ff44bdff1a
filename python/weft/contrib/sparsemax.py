"""tf.contrib.sparsemax: a softmax that gives zeros."""
from weft._core.contrib.small_models import sparsemax, sparsemax_loss
from weft._core.public import publish as _publish

__all__ = ["sparsemax", "sparsemax_loss"]
__getattr__ = _publish(__name__)
