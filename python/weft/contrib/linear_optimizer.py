"""tf.contrib.linear_optimizer: linear models trained by stochastic dual coordinate ascent."""
from weft._core.contrib.linear_optimizer import SdcaModel, SDCAOptimizer, SparseFeatureColumn
from weft._core.public import publish as _publish

__all__ = ["SDCAOptimizer", "SdcaModel", "SparseFeatureColumn"]
__getattr__ = _publish(__name__)
