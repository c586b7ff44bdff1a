"""tf.keras.mixed_precision: an optimizer that scales its loss."""
from weft._core.keras.loss_scale_optimizer import LossScaleOptimizer
from weft._core.public import publish as _publish

__all__ = ["LossScaleOptimizer"]
__getattr__ = _publish(__name__)
