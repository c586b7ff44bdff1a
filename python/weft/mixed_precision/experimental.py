"""tf.mixed_precision.experimental: loss scales by their first place."""
from weft._core.public import publish as _publish
from weft._core.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale

__all__ = ["DynamicLossScale", "FixedLossScale", "LossScale"]
__getattr__ = _publish(__name__)
