"""tf.contrib.linalg: the linear operators, as programs before TensorFlow 1.4 name them."""
from weft._core.public import publish as _publish
from weft.linalg import (
    LinearOperator,
    LinearOperatorBlockDiag,
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorComposition,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorFullMatrix as LinearOperatorMatrix,
    LinearOperatorIdentity,
    LinearOperatorKronecker,
    LinearOperatorLowerTriangular,
    LinearOperatorLowerTriangular as LinearOperatorTriL,
    LinearOperatorLowRankUpdate,
    LinearOperatorLowRankUpdate as LinearOperatorUDVHUpdate,
    LinearOperatorScaledIdentity,
)

__all__ = [
    "LinearOperator", "LinearOperatorBlockDiag", "LinearOperatorCirculant", "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D", "LinearOperatorComposition", "LinearOperatorDiag", "LinearOperatorFullMatrix",
    "LinearOperatorIdentity", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate", "LinearOperatorLowerTriangular",
    "LinearOperatorMatrix", "LinearOperatorScaledIdentity", "LinearOperatorTriL", "LinearOperatorUDVHUpdate",
]
__getattr__ = _publish(__name__)
