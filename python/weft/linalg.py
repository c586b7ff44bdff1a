"""tf.linalg: matrices factored, inverted, solved."""
from weft._core.ops.array_ops import matrix_transpose, matrix_transpose as transpose
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
    matmul,
    matrix_band_part as band_part,
    matrix_diag as diag,
    matrix_diag_part as diag_part,
    norm,
    tensordot,
)
from weft._core.public import publish as _publish

__all__ = [
    "adjoint", "band_part", "cholesky", "cholesky_solve", "det", "diag", "diag_part", "eye", "inv", "logdet", "matmul",
    "matrix_transpose", "norm", "qr", "set_diag", "slogdet", "solve", "tensordot", "trace", "transpose",
    "triangular_solve",
]
__getattr__ = _publish(__name__)
