"""tf.contrib.kfac.optimizer: the optimizer."""
from weft._core.contrib.kfac.optimizer import KfacOptimizer
from weft._core.public import publish as _publish

__all__ = ["KfacOptimizer"]
__getattr__ = _publish(__name__)
