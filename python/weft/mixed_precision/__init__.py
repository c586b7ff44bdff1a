"""tf.mixed_precision: loss scales for training in 16 bits."""
from weft._core.public import publish as _publish
from weft._core.train.loss_scale import (
    DynamicLossScale,
    FixedLossScale,
    LossScale,
    MixedPrecisionLossScaleOptimizer,
    disable_mixed_precision_graph_rewrite,
    enable_mixed_precision_graph_rewrite,
)
from weft.mixed_precision import experimental

__all__ = [
    "experimental",
    "DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer",
    "disable_mixed_precision_graph_rewrite", "enable_mixed_precision_graph_rewrite",
]
__getattr__ = _publish(__name__)
