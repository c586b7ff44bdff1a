"""tf.linalg: matrices factored, inverted, solved."""
from weft._core.nn.nn import l2_normalize
from weft._core.ops.array_ops import matrix_transpose, matrix_transpose as transpose
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
from weft._core.ops.math_ops import (
    cross,
    diag as tensor_diag,
    diag_part as tensor_diag_part,
    einsum,
    matmul,
    matrix_band_part as band_part,
    matrix_diag as diag,
    matrix_diag_part as diag_part,
    norm,
    tensordot,
)
from weft._core.ops.special_math import matvec, normalize
from weft._core.public import publish as _publish

__all__ = [
    "adjoint", "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "einsum", "eye",
    "global_norm", "inv", "l2_normalize", "logdet", "matmul", "matrix_transpose", "matvec", "norm", "normalize", "qr",
    "set_diag", "slogdet", "solve", "tensor_diag", "tensor_diag_part", "tensordot", "trace", "transpose",
    "triangular_solve",
]
__getattr__ = _publish(__name__)
