"""tf.linalg: matrices factored, inverted, solved."""
from weft._core.linear_operators.algebra import (
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorBlockLowerTriangular,
    LinearOperatorComposition,
    LinearOperatorInversion,
    LinearOperatorKronecker,
)
from weft._core.linear_operators.matrices import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from weft._core.linear_operators.operator import LinearOperator
from weft._core.linear_operators.structured import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorHouseholder,
    LinearOperatorLowRankUpdate,
    LinearOperatorPermutation,
    LinearOperatorToeplitz,
    LinearOperatorTridiag,
)
from weft._core.nn.nn import l2_normalize
from weft._core.ops.array_ops import matrix_transpose, matrix_transpose as transpose
from weft._core.ops.diagonals import matrix_diag as diag, matrix_diag_part as diag_part
from weft._core.ops.gradients import global_norm
from weft._core.ops.linalg import (
    adjoint,
    cholesky,
    cholesky_solve,
    det,
    eye,
    inv,
    logdet,
    qr,
    set_diag,
    slogdet,
    solve,
    trace,
    triangular_solve,
)
from weft._core.ops.linalg_solve import (
    eigh_tridiagonal,
    lu,
    lu_matrix_inverse,
    lu_reconstruct,
    lu_solve,
    matrix_exponential as expm,
    matrix_logarithm as logm,
    matrix_rank,
    matrix_solve_ls as lstsq,
    matrix_square_root as sqrtm,
    pinv,
    self_adjoint_eig as eigh,
    self_adjoint_eigvals as eigvalsh,
    svd,
    tridiagonal_matmul,
    tridiagonal_solve,
)
from weft._core.ops.math_ops import (
    cross,
    diag as tensor_diag,
    diag_part as tensor_diag_part,
    einsum,
    matmul,
    matrix_band_part as band_part,
    norm,
    tensordot,
)
from weft._core.ops.special_math import matvec, normalize
from weft._core.public import publish as _publish
from weft.linalg import experimental

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D", "LinearOperatorComposition",
    "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity",
    "LinearOperatorInversion", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros", "adjoint", "band_part", "cholesky",
    "cholesky_solve", "cross", "det", "diag", "diag_part", "eigh", "eigh_tridiagonal", "eigvalsh", "einsum", "experimental", "expm",
    "eye", "global_norm", "inv", "l2_normalize", "logdet", "logm", "lstsq", "lu", "lu_matrix_inverse",
    "lu_reconstruct", "lu_solve", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize", "pinv",
    "qr", "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part", "tensordot", "trace",
    "transpose", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve",
]
__getattr__ = _publish(__name__)
