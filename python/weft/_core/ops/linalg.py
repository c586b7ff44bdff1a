"""tf.linalg.*: factorizations, inverses and solvers. `tf.cholesky` and the other old names are the same functions."""
from weft._core.framework import wrap
from weft._core.framework.build import convert_to_tensor, is_number
from weft._core.framework.dtypes import float32
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.diagonals import matrix_diag, matrix_diag_part, matrix_set_diag

wrap.functions("""
cholesky Cholesky input
matrix_determinant MatrixDeterminant input
matrix_inverse MatrixInverse input adjoint=False
matrix_solve MatrixSolve matrix rhs adjoint=False
matrix_triangular_solve_op MatrixTriangularSolve matrix rhs lower=True adjoint=False
log_matrix_determinant LogMatrixDeterminant input
qr_op Qr input full_matrices=False
""", globals())
matmul, norm, tensordot = math_ops.matmul, math_ops.norm, math_ops.tensordot
band_part, diag, diag_part, set_diag = math_ops.matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
det, inv, solve, slogdet = matrix_determinant, matrix_inverse, matrix_solve, log_matrix_determinant  # noqa: F821
transpose = matrix_transpose = array_ops.matrix_transpose


def matrix_triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    with name_scope(name, "triangular_solve"):
        return matrix_triangular_solve_op(matrix, rhs, lower=lower, adjoint=adjoint)  # noqa: F821


triangular_solve = matrix_triangular_solve


def qr(input, full_matrices=False, name=None):
    return qr_op(input, full_matrices=full_matrices, name=name)  # noqa: F821


def adjoint(matrix, name=None):
    with name_scope(name, "adjoint"):
        return array_ops.matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


def cholesky_solve(chol, rhs, name=None):
    with name_scope(name, "cholesky_solve"):
        return matrix_triangular_solve_op(chol, matrix_triangular_solve_op(chol, rhs), adjoint=True)  # noqa: F821


def logdet(matrix, name=None):
    """Returns the logarithm of the determinant of a Hermitian positive definite matrix."""
    with name_scope(name, "logdet"):
        chol = cholesky(matrix)  # noqa: F821
        return 2.0 * math_ops.reduce_sum(math_ops.log(math_ops.real(diag_part(chol))), axis=[-1])


def trace(x, name=None):
    with name_scope(name, "Trace") as scope:
        return math_ops.reduce_sum(diag_part(convert_to_tensor(x, name="x")), [-1], name=scope)


def eye(num_rows, num_columns=None, batch_shape=None, dtype=float32, name=None):
    with name_scope(name, default_name="eye"):
        square = num_columns is None
        num_columns = num_rows if square else num_columns
        known = is_number(num_rows) and is_number(num_columns)
        shorter = min(num_rows, num_columns) if known else math_ops.minimum(num_rows, num_columns)
        own = [shorter] if known else array_ops.stack([shorter])
        shape = own if batch_shape is None else _joined(batch_shape, [shorter])
        ones = array_ops.ones(shape, dtype=dtype)
        if square:
            return diag(ones)
        whole = [num_rows, num_columns] if batch_shape is None else _joined(batch_shape, [num_rows, num_columns])
        return set_diag(array_ops.zeros(whole, dtype=dtype), ones)


def _joined(*shapes):
    """Returns the dimensions of shapes one after the other, as a list if all are numbers."""
    parts = [s.as_list() if hasattr(s, "as_list") else s for s in shapes]
    if all(isinstance(p, (list, tuple)) and all(is_number(n) for n in p) for p in parts):
        return [n for p in parts for n in p]
    return array_ops.concat(shapes, 0)
