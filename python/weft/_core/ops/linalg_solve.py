"""tf.linalg.*: decompositions, functions of matrices, and solvers."""
import collections

import numpy as np

from weft._core.framework import dtypes, wrap
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops import array_ops, check_ops, linalg, math_ops, special_math
from weft._core.ops.control_flow import while_loop

wrap.functions("""
matrix_square_root MatrixSquareRoot input
matrix_logarithm MatrixLogarithm input
""", globals())
sqrtm, logm = matrix_square_root, matrix_logarithm  # noqa: F821

_Lu = collections.namedtuple("Lu", ["lu", "p"])
CGState = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """Returns the singular values of matrices in descending order, and the left and right singular vectors.

    Args:
      tensor: the matrices.
      full_matrices: whether the vectors are completed to square matrices.
      compute_uv: whether the vectors are computed; if not, the values alone are returned.
      name: a name for the operation.
    """
    s, u, v = op("Svd", name, input=tensor, compute_uv=compute_uv, full_matrices=full_matrices)
    return (math_ops.real(s), u, v) if compute_uv else math_ops.real(s)


def self_adjoint_eig(tensor, name=None):
    """Returns the eigenvalues of Hermitian matrices in ascending order, and their eigenvectors as columns.

    Args:
      tensor: the matrices; their lower halves are read.
      name: a name for the operation.
    """
    e, v = op("SelfAdjointEigV2", name, input=tensor, compute_v=True)
    return e, v


def self_adjoint_eigvals(tensor, name=None):
    """Returns the eigenvalues of Hermitian matrices in ascending order.

    Args:
      tensor: the matrices; their lower halves are read.
      name: a name for the operation.
    """
    return op("SelfAdjointEigV2", name, input=tensor, compute_v=False)[0]


def lu(input, output_idx_type=dtypes.int32, name=None):
    """Returns the packed triangles of an LU decomposition with exchanged rows, and the order of the rows.

    Args:
      input: square matrices.
      output_idx_type: the type of the order.
      name: a name for the operation.
    """
    return _Lu(*op("Lu", name, input=input, output_idx_type=output_idx_type))


def _gram(matrix, regularizer, wide):
    gram = math_ops.matmul(matrix, matrix, adjoint_a=not wide, adjoint_b=wide)
    if regularizer is None:
        return gram
    small = array_ops.shape(matrix)[-2 if wide else -1]
    return gram + math_ops.cast(regularizer, gram.dtype) * linalg.eye(small, batch_shape=array_ops.shape(gram)[:-2], dtype=gram.dtype)


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """Returns the least-squares solutions of systems of equations.

    Args:
      matrix: the matrices of the systems.
      rhs: the right sides, as columns.
      l2_regularizer: a number that is added to the diagonal of the normal equations.
      fast: whether the normal equations are used; if not, a decomposition that serves systems of any rank.
      name: a name for the operation.
    """
    if not fast:
        return op("MatrixSolveLs", name, matrix=matrix, rhs=rhs, l2_regularizer=l2_regularizer, fast=False)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        matrix = convert_to_tensor(matrix)
        shape = matrix.shape[-2:] if matrix.shape.ndims is not None else matrix.shape
        if shape.ndims is None or not shape.is_fully_defined():
            return op("MatrixSolveLs", matrix=matrix, rhs=rhs, l2_regularizer=l2_regularizer, fast=True)
        regularizer = None if isinstance(l2_regularizer, (int, float)) and l2_regularizer == 0 else l2_regularizer
        rows, columns = shape.as_list()
        if rows >= columns:
            chol = linalg.cholesky(_gram(matrix, regularizer, False))
            return linalg.cholesky_solve(chol, math_ops.matmul(matrix, rhs, adjoint_a=True))
        chol = linalg.cholesky(_gram(matrix, regularizer, True))
        return math_ops.matmul(matrix, linalg.cholesky_solve(chol, rhs), adjoint_a=True)


lstsq = matrix_solve_ls


# ---- functions of an LU decomposition ----

def _checks(lower_upper, perm, validate, rhs=None):
    """Returns assertions about the arguments; conditions that are known while the graph is built raise at once."""
    if lower_upper.shape.ndims is not None and lower_upper.shape.ndims < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if rhs is not None and rhs.shape.ndims is not None and rhs.shape.ndims < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    if perm.shape.ndims is not None and lower_upper.shape.ndims is not None and perm.shape.ndims + 1 != lower_upper.shape.ndims:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    if not validate:
        return []
    shape = array_ops.shape(lower_upper)
    found = [check_ops.assert_rank_at_least(lower_upper, 2, message="Input `lower_upper` must have at least 2 dimensions."),
             check_ops.assert_equal(shape[-1], shape[-2], message="`lower_upper` must be square.")]
    if rhs is not None:
        found.append(check_ops.assert_equal(shape[-1], array_ops.shape(rhs)[-2],
                                            message="`lower_upper.shape[-1]` must equal `rhs.shape[-2]`."))
    return found


def _unit_lower(lower_upper):
    lower = linalg.band_part(lower_upper, -1, 0)
    return linalg.set_diag(lower, array_ops.ones(array_ops.shape(lower_upper)[:-1], dtype=lower_upper.dtype))



def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Returns the solutions of systems whose matrices are given by tf.linalg.lu.

    Args:
      lower_upper: the packed triangles.
      perm: the order of the rows.
      rhs: the right sides, as columns.
      validate_args: whether shapes are checked when the graph runs.
      name: a name for the operation.
    """
    with name_scope(name or "lu_solve"):
        lower_upper = convert_to_tensor(lower_upper, name="lower_upper")
        perm = convert_to_tensor(perm, dtypes.int32, name="perm")
        rhs = convert_to_tensor(rhs, lower_upper.dtype, name="rhs")
        with control_dependencies(_checks(lower_upper, perm, validate_args, rhs)):
            if rhs.shape.ndims == 2 and perm.shape.ndims == 1:
                ordered = array_ops.gather(rhs, perm, axis=-2)
            else:
                from weft._core.linear_operators.operator import same_batches
                lower_upper, rhs, one_hot = same_batches(
                    lower_upper, rhs, array_ops.one_hot(perm, array_ops.shape(perm)[-1], dtype=rhs.dtype))
                ordered = math_ops.matmul(one_hot, rhs)
            lower = linalg.matrix_triangular_solve(_unit_lower(lower_upper), ordered)
            return linalg.matrix_triangular_solve(lower_upper, lower, lower=False)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """Returns the inverses of matrices that are given by tf.linalg.lu.

    Args:
      lower_upper: the packed triangles.
      perm: the order of the rows.
      validate_args: whether shapes are checked when the graph runs.
      name: a name for the operation.
    """
    with name_scope(name or "lu_matrix_inverse"):
        lower_upper = convert_to_tensor(lower_upper, name="lower_upper")
        perm = convert_to_tensor(perm, dtypes.int32, name="perm")
        shape = array_ops.shape(lower_upper)
        return lu_solve(lower_upper, perm, linalg.eye(shape[-1], batch_shape=shape[:-2], dtype=lower_upper.dtype), validate_args)


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """Returns the matrices that tf.linalg.lu has decomposed.

    Args:
      lower_upper: the packed triangles.
      perm: the order of the rows.
      validate_args: whether shapes are checked when the graph runs.
      name: a name for the operation.
    """
    with name_scope(name or "lu_reconstruct"):
        lower_upper = convert_to_tensor(lower_upper, name="lower_upper")
        perm = convert_to_tensor(perm, dtypes.int32, name="perm")
        with control_dependencies(_checks(lower_upper, perm, validate_args)):
            product = math_ops.matmul(_unit_lower(lower_upper), linalg.band_part(lower_upper, 0, -1))
            if perm.shape.ndims == 1:
                return array_ops.gather(product, op("InvertPermutation", x=perm), axis=-2)
            one_hot = array_ops.one_hot(perm, array_ops.shape(perm)[-1], dtype=product.dtype)
            return math_ops.matmul(one_hot, product, transpose_a=True)


# ---- rank and pseudo-inverse ----

def _matrix(a, validate):
    if not a.dtype.is_floating:
        raise TypeError("Input `a` must have `float`-like `dtype` (saw %s)." % a.dtype.name)
    if a.shape.ndims is not None and a.shape.ndims < 2:
        raise ValueError("Input `a` must have at least 2 dimensions (saw: %d)." % a.shape.ndims)
    if not validate or a.shape.ndims is not None:
        return a
    with control_dependencies([check_ops.assert_rank_at_least(a, 2, message="Input `a` must have at least 2 dimensions.")]):
        return array_ops.identity(a)


def _longest(a):
    known = a.shape[-2:] if a.shape.ndims is not None else a.shape
    if known.ndims is not None and known.is_fully_defined():
        return float(max(known.as_list()))
    return math_ops.cast(math_ops.reduce_max(array_ops.shape(a)[-2:]), a.dtype)


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """Returns the number of singular values that are greater than a tolerance.

    Args:
      a: the matrices.
      tol: the tolerance; by default the largest value times the longer side times the precision of the type.
      validate_args: whether the rank of the tensor is checked when the graph runs.
      name: a name for the operation.
    """
    with name_scope(name or "matrix_rank"):
        a = _matrix(convert_to_tensor(a, name="a"), validate_args)
        s = svd(a, compute_uv=False)
        if tol is None:
            tol = math_ops.reduce_max(s, axis=-1, keepdims=True) * (np.finfo(a.dtype.as_numpy_dtype).eps * _longest(a))
        return math_ops.reduce_sum(math_ops.cast(s > tol, dtypes.int32), axis=-1)


def pinv(a, rcond=None, validate_args=False, name=None):
    """Returns the Moore-Penrose pseudo-inverses of matrices.

    Args:
      a: the matrices.
      rcond: singular values below this part of the largest one count as zero; by default ten times the longer side times
        the precision of the type.
      validate_args: whether the rank of the tensor is checked when the graph runs.
      name: a name for the operation.
    """
    with name_scope(name or "pinv"):
        a = _matrix(convert_to_tensor(a, name="a"), validate_args)
        if rcond is None:
            rcond = 10.0 * _longest(a) * np.finfo(a.dtype.as_numpy_dtype).eps
        rcond = convert_to_tensor(rcond, a.dtype, name="rcond")
        s, u, v = svd(a)
        cutoff = rcond * math_ops.reduce_max(s, axis=-1)
        s = special_math.where_v2(s > array_ops.expand_dims(cutoff, -1), s, np.array(np.inf, a.dtype.as_numpy_dtype))
        found = math_ops.matmul(v / array_ops.expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.ndims is not None:
            found.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return found


# ---- the exponential ----

# Coefficients of the Pade approximants of the exponential, and the norms up to which each is exact enough.
_PADE = {3: (120.0, 60.0, 12.0), 5: (30240.0, 15120.0, 3360.0, 420.0, 30.0),
         7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0),
         9: (17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0),
         13: (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
              10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0)}


def _pade(matrix, order, eye):
    """Returns (U, V) so that exp(matrix) is about (V - U)^-1 (V + U)."""
    b = [*_PADE[order], 1.0]
    square = math_ops.matmul(matrix, matrix)
    power, even, odd = eye, b[0] * eye, b[1] * eye
    for i in range(2, order + 1, 2):
        power = math_ops.matmul(power, square) if i > 2 else square
        even, odd = even + b[i] * power, odd + b[i + 1] * power
    return math_ops.matmul(matrix, odd), even


def matrix_exponential(input, name=None):
    """Returns the exponentials of square matrices, by scaling, Pade approximation and squaring.

    Args:
      input: the matrices.
      name: a name for the operation.
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.shape.ndims is not None and matrix.shape[-2:] == [0, 0]:
            return matrix
        shape = array_ops.shape(matrix)
        flat = array_ops.reshape(matrix, array_ops.concat([[-1], shape[-2:]], 0))
        norm = math_ops.reduce_max(math_ops.reduce_sum(math_ops.abs(flat), axis=-2), axis=-1)
        order, limit = (7, 3.925724783138660) if norm.dtype.size <= 4 else (13, 5.371920351148152)
        steps = math_ops.maximum(math_ops.floor(math_ops.log(norm / limit) / np.log(2.0)) + 1.0, 0.0)
        steps = special_math.where_v2(math_ops.is_finite(steps), steps, array_ops.zeros_like(steps))
        scale = math_ops.cast(math_ops.pow(np.array(2.0, norm.dtype.as_numpy_dtype), -steps), flat.dtype)
        eye = linalg.eye(shape[-1], dtype=flat.dtype) + array_ops.zeros_like(flat)
        u, v = _pade(flat * scale[:, None, None], order, eye)
        found, most = linalg.matrix_solve(v - u, v + u), math_ops.reduce_max(steps)

        def again(i, x):
            return i + 1.0, special_math.where_v2((steps > i)[:, None, None], math_ops.matmul(x, x), x)
        found = while_loop(lambda i, x: i < most, again, [array_ops.zeros([], norm.dtype), found])[1]
        found = array_ops.reshape(found, shape)
        found.set_shape(matrix.shape)
        return found


expm = matrix_exponential


# ---- tridiagonal matrices ----

def _diagonals(diagonals, form, what):
    """Returns the three diagonals as rows of one tensor."""
    if form == "compact":
        diagonals = convert_to_tensor(diagonals)
        if diagonals.shape.ndims is not None and diagonals.shape[-2].value not in (None, 3):
            raise ValueError("Expected diagonals to have 3 rows, got %s" % diagonals.shape)
        return diagonals
    if form == "sequence":
        upper, main, lower = (convert_to_tensor(d) for d in diagonals)
        n = main.shape[-1].value
        pads = [[0, 0]] * (main.shape.ndims - 1)
        if upper.shape[-1].value != n:
            upper = array_ops.pad(upper, [*pads, [0, 1]])
        if lower.shape[-1].value != n:
            lower = array_ops.pad(lower, [*pads, [1, 0]])
        return array_ops.stack([upper, main, lower], axis=-2)
    if form == "matrix":
        from weft._core.linear_operators.structured import LinearOperatorTridiag
        return array_ops.stack(LinearOperatorTridiag(diagonals, diagonals_format="matrix")._rows(), axis=-2)
    raise ValueError("Unrecognized diagonals_format: %s in %s" % (form, what))


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
                      partial_pivoting=True, perturb_singular=False):
    """Returns the solutions of systems of equations with tridiagonal matrices.

    Args:
      diagonals: the diagonals, in the form that `diagonals_format` names.
      rhs: the right sides: vectors, or columns of matrices.
      diagonals_format: "compact" (superdiagonal, diagonal and subdiagonal as rows), "sequence" (a list of them) or "matrix".
      transpose_rhs: whether the right sides are transposed first.
      conjugate_rhs: whether the right sides are conjugated first.
      name: a name for the operation.
      partial_pivoting: whether rows are exchanged for accuracy.
      perturb_singular: whether a singular matrix is perturbed instead of giving NaN.
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is True.")
    with name_scope(name or "tridiagonal_solve"):
        rows = _diagonals(diagonals, diagonals_format, "tridiagonal_solve")
        rhs = convert_to_tensor(rhs, rows.dtype)
        vector = rhs.shape.ndims is not None and rows.shape.ndims is not None and rhs.shape.ndims == rows.shape.ndims - 1
        if conjugate_rhs:
            rhs = math_ops.conj(rhs)
        if vector:
            rhs = array_ops.expand_dims(rhs, -1)
        elif transpose_rhs:
            rhs = linalg.transpose(rhs)
        found = op("TridiagonalSolve", diagonals=rows, rhs=rhs, partial_pivoting=partial_pivoting, perturb_singular=perturb_singular)
        return array_ops.squeeze(found, -1) if vector else found


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Returns the products of tridiagonal matrices with other matrices.

    Args:
      diagonals: the diagonals, in the form that `diagonals_format` names.
      rhs: the matrices to multiply.
      diagonals_format: "compact" (superdiagonal, diagonal and subdiagonal as rows), "sequence" (a list of them) or "matrix".
      name: a name for the operation.
    """
    rows = _diagonals(diagonals, diagonals_format, "tridiagonal_matmul")
    rhs = convert_to_tensor(rhs, rows.dtype)
    parts = [array_ops.expand_dims(rows[..., i, :], -2) for i in range(3)]
    return op("TridiagonalMatMul", name, superdiag=parts[0], maindiag=parts[1], subdiag=parts[2], rhs=rhs)


def eigh_tridiagonal(alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None):
    """Returns the eigenvalues of a Hermitian tridiagonal matrix.

    Args:
      alpha: the diagonal.
      beta: the superdiagonal.
      eigvals_only: whether the eigenvectors are left out.
      select: "a" for all eigenvalues, "i" for those with indices in `select_range`, "v" for those between its two values.
      select_range: the two limits, both included.
      tol: not available: the eigenvalues are as exact as their type allows.
      name: a name for the operation.
    """
    if tol is not None:
        raise NotImplementedError("tf.linalg.eigh_tridiagonal(tol=%r) is not in Weft: leave it out for full accuracy" % (tol,))
    with name_scope(name or "eigh_tridiagonal"):
        alpha, beta = convert_to_tensor(alpha, name="alpha"), convert_to_tensor(beta, name="beta")
        if alpha.dtype != beta.dtype:
            raise ValueError("'alpha' and 'beta' must have the same type.")
        if select not in ("a", "i", "v"):
            raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
        lower = array_ops.pad(linalg.diag(math_ops.conj(beta)), [[1, 0], [0, 1]])
        values, vectors = self_adjoint_eig(linalg.diag(alpha) + lower)
        values = math_ops.real(values)
        if select == "i":
            first, last = select_range
            if first > last:
                raise ValueError("Got empty index range in select_range.")
            values, vectors = values[first:last + 1], vectors[:, first:last + 1]
        elif select == "v":
            first, last = select_range
            if first >= last:
                raise ValueError("Got empty interval in select_range.")
            inside = math_ops.logical_and(values > first, values <= last)
            values, vectors = array_ops.boolean_mask(values, inside), array_ops.boolean_mask(vectors, inside, axis=1)
        return values if eigvals_only else (values, vectors)


def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-5, max_iter=20, name="conjugate_gradient"):
    """Returns the solution of A x = rhs for a positive definite operator A, by the method of conjugate gradients.

    Args:
      operator: a LinearOperator that is self-adjoint and positive definite.
      rhs: the right side.
      preconditioner: an operator that is close to the inverse of A.
      x: where to begin; zero by default.
      tol: the iteration stops when the residual is below this part of the right side.
      max_iter: the most iterations.
      name: a name for the operation.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")

    def squared(v):
        return math_ops.reduce_sum(math_ops.conj(v) * v, axis=-1)

    def preconditioned(r):
        return r if preconditioner is None else preconditioner.matvec(r)

    with name_scope(name):
        rhs = convert_to_tensor(rhs, operator.dtype) if not hasattr(rhs, "dtype") else convert_to_tensor(rhs)
        limit = tol * math_ops.norm(rhs, axis=-1)

        def unfinished(i, state):
            far = math_ops.norm(state.r, axis=-1) > limit
            return math_ops.logical_and(i < max_iter, math_ops.reduce_any(far))

        def step(i, state):
            z = operator.matvec(state.p)
            length = state.gamma / math_ops.reduce_sum(math_ops.conj(state.p) * z, axis=-1)
            x = state.x + length[..., None] * state.p
            r = state.r - length[..., None] * z
            q = preconditioned(r)
            gamma = squared(r) if preconditioner is None else math_ops.reduce_sum(math_ops.conj(r) * q, axis=-1)
            return i + 1, CGState(i + 1, x, r, q + (gamma / state.gamma)[..., None] * state.p, gamma)
        first = array_ops.zeros_like(rhs) if x is None else convert_to_tensor(x)
        r = rhs if x is None else rhs - operator.matvec(first)
        p = preconditioned(r)
        gamma = squared(r) if preconditioner is None else math_ops.reduce_sum(math_ops.conj(r) * p, axis=-1)
        i = convert_to_tensor(np.array(0, np.int32))
        _, found = while_loop(unfinished, step, [i, CGState(i, first, r, p, gamma)])
        return CGState(found.i, found.x, found.r, found.p, found.gamma)
