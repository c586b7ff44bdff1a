"""Decompositions, functions of matrices, and linear operators."""
import numpy as np

from machine import case

S = np.array([[[9, 2, 1], [2, 8, 3], [1, 3, 7]], [[5, 0, 1], [0, 6, 2], [1, 2, 4]]], np.float64)
A = np.array([[4, 1, -1], [2, 5, 1], [0, -1, 3]], np.float64)
T = np.array([[1, 2, -1, 3], [0, 1, 4, 1], [2, -2, 1, 1]], np.float64)
B = np.arange(12, dtype=np.float64).reshape(2, 3, 2)


@case(nodes=False)
def decompositions(tf):
    s = tf.constant(S)
    return [list(tf.svd(T)), tf.svd(S, compute_uv=False), list(tf.linalg.svd(T.T)), [tf.abs(x) for x in tf.svd(T,
        full_matrices=True)[1:2]],
            list(tf.self_adjoint_eig(s)), tf.self_adjoint_eigvals(s), list(tf.linalg.eigh(S[0])), tf.linalg.eigvalsh(S[0]),
            list(tf.linalg.lu(A)), list(tf.linalg.lu(S, output_idx_type=tf.int64))]


@case(nodes=False)
def functions_of_matrices(tf):
    wide = np.stack([A, 5 * A])
    made = [tf.linalg.expm(A), tf.linalg.expm(wide), tf.linalg.expm(A.astype(np.float32) / 8), tf.linalg.expm(np.zeros((2, 2)))]
    return [tf.identity(m) for m in made] + [tf.linalg.sqrtm(S), tf.matrix_square_root(S[0]), tf.linalg.logm(S.astype(np.complex128))]


@case(nodes=False)
def solvers(tf):
    lower_upper, perm = tf.linalg.lu(S)
    one, order = tf.linalg.lu(A)
    return [tf.identity(x) for x in (
        tf.matrix_solve_ls(T.T, np.ones((4, 1))), tf.linalg.lstsq(T, B[0], l2_regularizer=0.5), tf.linalg.lstsq(T, B[0], fast=False),
        tf.linalg.lu_solve(one, order, B[0]), tf.linalg.lu_solve(lower_upper, perm, B, validate_args=True),
        tf.linalg.lu_matrix_inverse(one, order), tf.linalg.lu_reconstruct(one, order), tf.linalg.lu_reconstruct(lower_upper, perm),
        tf.linalg.pinv(T), tf.linalg.pinv(np.ones((2, 3))), tf.linalg.matrix_rank(T), tf.linalg.matrix_rank(np.ones((3, 3))),
        tf.linalg.matrix_rank(T, tol=3.0), tf.linalg.pinv(T, rcond=0.5))]


@case(nodes=False)
def tridiagonal(tf):
    d, upper, main, lower = A.copy(), tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0, 5.0]), tf.constant([6.0, 7.0])
    return [tf.identity(x) for x in (
        tf.linalg.tridiagonal_solve(tf.constant(d), tf.constant(B[0])), tf.linalg.tridiagonal_solve(tf.constant(d), tf.constant([1.0,
            2, 3], tf.float64)),
        tf.linalg.tridiagonal_solve((upper, main, lower), tf.constant([1.0, 2.0, 3.0]), diagonals_format="sequence"),
        tf.linalg.tridiagonal_solve(tf.constant(S[0]), tf.constant(B[0]), diagonals_format="matrix", partial_pivoting=False),
        tf.linalg.tridiagonal_solve(tf.constant(d), tf.constant(B[0].T), transpose_rhs=True),
        tf.linalg.tridiagonal_matmul(tf.constant(d), tf.constant(B[0])),
        tf.linalg.tridiagonal_matmul((main, main, main), tf.constant(B[0], tf.float32), diagonals_format="sequence"),
        tf.linalg.eigh_tridiagonal([1.0, 2, 3], [0.5, 0.25]), tf.linalg.eigh_tridiagonal([1.0, 2, 3], [0.5, 0.25], select="i",
            select_range=(1, 2)),
        tf.linalg.eigh_tridiagonal([1.0, 2, 3], [0.5, 0.25], select="v", select_range=(1.5, 2.7)))]


@case(nodes=False)
def slopes_of_decompositions(tf):
    s, a, t = tf.constant(S), tf.constant(A), tf.constant(T)
    w = np.array([1.0, -2.0, 0.5])
    e, v = tf.self_adjoint_eig(s)
    sv, u, vt = tf.svd(t)
    d, b = tf.constant(A), tf.constant(B[0])
    losses = [(tf.reduce_sum(e * w) + tf.reduce_sum(v[..., 0] * v[..., 1] ** 2), s), (tf.reduce_sum(tf.self_adjoint_eigvals(s) * w), s),
              (tf.reduce_sum(sv * w) + tf.reduce_sum(u ** 2 * w) + tf.reduce_sum(vt ** 2 * w), t), (tf.reduce_sum(tf.svd(t,
                  compute_uv=False) * w), t),
              (tf.reduce_sum(tf.linalg.sqrtm(s) * A), s), (tf.reduce_sum(tf.linalg.expm(a) * A), a),
              (tf.reduce_sum(tf.linalg.lstsq(t, b) * w[:2]), t), (tf.reduce_sum(tf.linalg.pinv(t) * T.T), t),
              (tf.reduce_sum(tf.linalg.tridiagonal_solve(d, b) * B[0]), d), (tf.reduce_sum(tf.linalg.tridiagonal_solve(d, b) * B[0]), b),
              (tf.reduce_sum(tf.linalg.tridiagonal_matmul(d, b) * B[0]), d), (tf.reduce_sum(tf.linalg.tridiagonal_matmul(d, b) * B[0]),
                  b)]
    return [tf.identity(tf.gradients(loss, x)[0]) for loss, x in losses]


def made_operators(tf):
    L = tf.linalg
    d, f = L.LinearOperatorDiag([1.0, 2.0]), L.LinearOperatorFullMatrix([[2.0, 0.5], [0.25, 3.0]])
    p = L.LinearOperatorFullMatrix([[2.0, 0.5], [0.5, 3.0]], is_self_adjoint=True, is_positive_definite=True)
    t = L.LinearOperatorLowerTriangular([[1.0, 7.0], [2.0, 3.0]])
    return [d, f, p, t, L.LinearOperatorIdentity(2), L.LinearOperatorIdentity(2, batch_shape=[3]), L.LinearOperatorScaledIdentity(2, 3.0),
            L.LinearOperatorHouseholder([1.0, 2.0]), L.LinearOperatorCirculant([1.0, 2.0], input_output_dtype=tf.float32),
            L.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), L.LinearOperatorTridiag([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
            L.LinearOperatorPermutation([1, 0]), L.LinearOperatorLowRankUpdate(d, [[1.0], [2.0]]),
            L.LinearOperatorLowRankUpdate(p, [[1.0], [2.0]], diag_update=[2.0], is_diag_update_positive=True),
            L.LinearOperatorLowRankUpdate(f, [[1.0], [2.0]], diag_update=[2.0], v=[[0.5], [1.0]]), L.LinearOperatorComposition([f, t]),
            L.LinearOperatorAdjoint(f), L.LinearOperatorInversion(f), f.matmul(t), d.matmul(t), d.inverse(), f.adjoint(), p.cholesky(),
            p.inverse(),
            L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix([[2.0]]), L.LinearOperatorDiag([3.0])]),
            L.LinearOperatorBlockLowerTriangular([[L.LinearOperatorDiag([2.0])], [L.LinearOperatorFullMatrix([[1.0]]),
                L.LinearOperatorDiag([3.0])]]),
            L.LinearOperatorKronecker([L.LinearOperatorDiag([2.0]), f])]


@case(nodes=False)
def operators(tf):
    found, x = [], np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
    for o in made_operators(tf):
        made = [o.matmul(x), o.matmul(x, adjoint=True), o.matmul(x, adjoint_arg=True), o.matvec(x[0]), o.solve(x), o.solve(x,
            adjoint=True),
                o.solvevec(x[1]), o.to_dense(), o.determinant(), o.log_abs_determinant(), o.trace(), o.diag_part(), o.add_to_tensor(x),
                o.shape_tensor(), o.batch_shape_tensor(), o.tensor_rank_tensor(), o.domain_dimension_tensor(),
                o.range_dimension_tensor(), o.cond()]
        if o.is_self_adjoint:
            made.append(tf.sort(o.eigvals()))
        found.append([[tf.identity(m, name="m") for m in made], type(o).__name__, o.name, o.shape, o.batch_shape, o.tensor_rank,
            o.is_square,
                      o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.dtype])
    return [[tf.identity(m) for m in row[0]] for row in found] + [row[1:] for row in found]


@case(nodes=False)
def wide_operators(tf):
    L = tf.linalg
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    k = L.LinearOperatorKronecker([L.LinearOperatorFullMatrix([[1.0, 2.0], [0.5, 1.5]]),
        L.LinearOperatorFullMatrix(A.astype(np.float32))])
    c2 = L.LinearOperatorCirculant2D([[3.0, 1.0, 1.0], [2.0, 0.5, 0.5]], input_output_dtype=tf.complex64)
    c3 = L.LinearOperatorCirculant3D(np.arange(1, 9, dtype=np.float32).reshape(2, 2, 2))
    z = L.LinearOperatorZeros(3, 6, is_square=False, is_self_adjoint=False)
    block = L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(np.stack([A, A + 1]).astype(np.float32)), L.LinearOperatorDiag([1.0,
        2.0, 3.0])])
    low = L.LinearOperatorBlockLowerTriangular([[L.LinearOperatorFullMatrix(A)], [L.LinearOperatorFullMatrix(A),
        L.LinearOperatorFullMatrix(A + 1)]])
    y = x.astype(np.float64)
    return [tf.identity(m) for m in (
        k.matmul(x), k.solve(x), k.matmul(x, adjoint=True), k.determinant(), k.to_dense(), c2.matmul(x.astype(np.complex64)),
        c2.solve(x.astype(np.complex64)), c2.to_dense(), c2.determinant(), c3.to_dense(), c3.trace(), z.matmul(x), z.to_dense(),
        block.matmul(x), block.solve(x), block.to_dense(), block.determinant(), block.log_abs_determinant(), low.matmul(y), low.solve(y),
        low.solve(y, adjoint=True), low.inverse().to_dense(), low.determinant())]


@case(nodes=False)
def conjugate_gradients(tf):
    o = tf.linalg.LinearOperatorFullMatrix(S[0], is_self_adjoint=True, is_positive_definite=True)
    found = tf.linalg.experimental.conjugate_gradient(o, tf.constant([1.0, 2.0, 3.0], tf.float64), max_iter=2)
    return [tf.identity(found.i), tf.identity(found.x), tf.identity(found.gamma), type(found).__name__]


@case(nodes=False)
def operators_that_are_wrong(tf):
    L, found = tf.linalg, []
    o = L.LinearOperatorFullMatrix([[2.0, 0.5], [0.25, 3.0]])
    for f in (lambda: L.LinearOperatorDiag([1.0, 2.0], is_square=False), lambda: L.LinearOperatorFullMatrix([1.0]),
            lambda: o.matmul([[1.0]]),
              lambda: L.LinearOperatorFullMatrix([[1.0, 2.0]]).solve([[1.0]]), lambda: L.LinearOperatorFullMatrix([[1.0, 2.0]]).inverse(),
              lambda: o.matmul(tf.constant([[1.0], [1.0]], tf.float64)), lambda: o.cholesky(), lambda: o.eigvals(),
              lambda: L.LinearOperatorFullMatrix([[1.0]], is_positive_definite=True, is_non_singular=False),
              lambda: L.LinearOperatorComposition([]), lambda: L.LinearOperatorZeros(2).solve([[1.0], [2.0]]),
              lambda: L.LinearOperator(tf.float32)):
        try:
            f()
        except Exception as e:
            found.append(type(e).__name__)
        else:
            found.append("no error")
    return found
