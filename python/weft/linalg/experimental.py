"""tf.linalg.experimental: methods that are new."""
from weft._core.ops.linalg_solve import conjugate_gradient
from weft._core.public import publish as _publish

__all__ = ["conjugate_gradient"]
__getattr__ = _publish(__name__)
