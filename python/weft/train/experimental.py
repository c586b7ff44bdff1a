"""tf.train.experimental: loss scales, and values of Python in checkpoints."""
from weft._core.framework.trackable import PythonState
from weft._core.public import publish as _publish
from weft._core.train.loss_scale import (
    DynamicLossScale,
    FixedLossScale,
    LossScale,
    MixedPrecisionLossScaleOptimizer,
    disable_mixed_precision_graph_rewrite,
    enable_mixed_precision_graph_rewrite,
)

__all__ = [
    "DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer", "PythonState",
    "disable_mixed_precision_graph_rewrite", "enable_mixed_precision_graph_rewrite",
]
__getattr__ = _publish(__name__)
