"""Recipes of tf.linalg: decompositions, functions of matrices and linear operators."""
_HINTS = "is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True, name='given'"
_USE = "[it.to_dense(), it.name, it.is_non_singular, it.is_self_adjoint, it.is_positive_definite, it.is_square]"
_F = "tf.linalg.LinearOperatorFullMatrix(SQUARE)"
RECIPES = """
tf.svd(X) ; full_matrices=True, compute_uv=False ; it[0]
tf.self_adjoint_eig(SQUARE) ; ; it[0]
tf.self_adjoint_eigvals(SQUARE)
tf.matrix_solve_ls(X * X, X[:, :2]) ; l2_regularizer=0.5, fast=False
tf.matrix_solve_ls(tf.transpose(X * X), tf.transpose(Y)) ; l2_regularizer=0.5
tf.matrix_square_root(SQUARE)
tf.linalg.logm(tf.cast(SQUARE, tf.complex64))
tf.linalg.expm(SQUARE / 8) ; ; [tf.identity(it, name='m')]
tf.linalg.lu(SQUARE) ; output_idx_type=tf.int64
tf.linalg.lu_solve(*tf.linalg.lu(SQUARE), SQUARE) ; rhs=SQUARE + 1, lower_upper=SQUARE + 1, perm=[0, 2, 1]
tf.linalg.lu_matrix_inverse(*tf.linalg.lu(SQUARE)) ; lower_upper=SQUARE + 1, perm=[0, 2, 1]
tf.linalg.lu_reconstruct(*tf.linalg.lu(SQUARE)) ; lower_upper=SQUARE + 1, perm=[0, 2, 1]
tf.linalg.pinv(X) ; rcond=0.5 ; [tf.identity(it, name='m')]
tf.linalg.matrix_rank(X) ; tol=2.5
tf.linalg.tridiagonal_solve(SQUARE, X[:, :2]) ; diagonals=SQUARE + 1, rhs=X[:, 1:3], transpose_rhs=True, conjugate_rhs=True,
    partial_pivoting=False, perturb_singular=True, diagonals_format='matrix' ; [tf.identity(it, name='m')]
tf.linalg.tridiagonal_solve(SQUARE, X[:, :2], diagonals_format='matrix') ; ; [tf.identity(it, name='m')]
tf.linalg.tridiagonal_matmul(SQUARE, X[:, :2]) ; diagonals=SQUARE + 1, rhs=X[:, 1:3], diagonals_format='matrix' ; [tf.identity(it,
    name='m')]
tf.linalg.tridiagonal_matmul(SQUARE, X[:, :2], diagonals_format='matrix') ; ; [tf.identity(it, name='m')]
tf.linalg.eigh_tridiagonal([1.0, 2.0], [0.5]) ; alpha=[2.0, 2.0], beta=[1.0], eigvals_only=False, select='i', select_range=(0, 0),
    tol=0.1 ; [tf.abs(x, name='m') for x in (it if isinstance(it, tuple) else [it])]
tf.linalg.eigh_tridiagonal([1.0, 2.0], [0.5], select='i', select_range=(0, 0)) ; select_range=(1, 1) ; [tf.identity(it, name='m')]
tf.linalg.experimental.conjugate_gradient(tf.linalg.LinearOperatorFullMatrix(SQUARE, is_self_adjoint=True,
    is_positive_definite=True), V[:3]) ; rhs=V[1:], preconditioner=tf.linalg.LinearOperatorDiag([0.5, 0.25, 0.125]), x=V[:3], tol=0.5,
    max_iter=1,
    name='given', operator=tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0], is_positive_definite=True) ; [tf.identity(it.x, name='m')]
tf.linalg.LinearOperator(tf.float32) ; dtype=tf.float64, graph_parents=[X], parameters={}, HINTS
tf.linalg.solve(SQUARE, SQUARE + 1) ; adjoint=True
tf.linalg.triangular_solve(SQUARE, SQUARE + 1) ; lower=False, adjoint=True
tf.linalg.normalize(X) ; ord=1, axis=0
tf.linalg.band_part(SQUARE, 1, 0) ; num_lower=0, num_upper=1
tf.linalg.LinearOperatorFullMatrix(SQUARE) ; matrix=SQUARE + 1, HINTS ; USE
tf.linalg.LinearOperatorLowerTriangular(SQUARE) ; tril=SQUARE + 1, HINTS ; USE
tf.linalg.LinearOperatorDiag(V) ; diag=V + 1, HINTS ; USE
tf.linalg.LinearOperatorIdentity(3) ; num_rows=4, batch_shape=[2], dtype=tf.float64, assert_proper_shapes=True, is_non_singular=False,
    is_self_adjoint=False, is_positive_definite=False, is_square=False, name='given' ; USE
tf.linalg.LinearOperatorScaledIdentity(3, 2.0) ; num_rows=4, multiplier=[1.0, 2.0], assert_proper_shapes=True, HINTS ; USE
tf.linalg.LinearOperatorZeros(3) ; num_rows=4, num_columns=3, batch_shape=[2], dtype=tf.float64, assert_proper_shapes=True,
    is_non_singular=True, is_self_adjoint=False, is_positive_definite=True, name='given' ; USE
tf.linalg.LinearOperatorZeros(3, 2, is_self_adjoint=False, is_square=False) ; is_square=True ; USE
tf.linalg.LinearOperatorHouseholder(V) ; reflection_axis=V + 1, is_non_singular=True, is_self_adjoint=False,
    is_positive_definite=True, is_square=False, name='given' ; USE
tf.linalg.LinearOperatorPermutation([1, 2, 0]) ; perm=[0, 2, 1], dtype=tf.float64, HINTS ; USE
tf.linalg.LinearOperatorToeplitz(V, V) ; col=V + 1, row=V + 2, HINTS ; USE
tf.linalg.LinearOperatorTridiag(SQUARE) ; diagonals=SQUARE + 1, diagonals_format='matrix', HINTS ; USE
tf.linalg.LinearOperatorCirculant(V + 1) ; spectrum=V + 2, input_output_dtype=tf.float32, HINTS ; USE
tf.linalg.LinearOperatorCirculant2D(Y + 3) ; spectrum=Y + 4, input_output_dtype=tf.complex128, HINTS ; USE
tf.linalg.LinearOperatorCirculant3D(SEQUENCE + 3) ; spectrum=SEQUENCE + 4, input_output_dtype=tf.complex128, HINTS ; USE
tf.linalg.LinearOperatorLowRankUpdate(FULL, ROWS) ; base_operator=tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0]), u=ROWS + 1, v=ROWS + 2,
    diag_update=[2.0], is_diag_update_positive=True, HINTS ; USE
tf.linalg.LinearOperatorAdjoint(FULL) ; operator=tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0]), HINTS ; USE
tf.linalg.LinearOperatorInversion(FULL) ; operator=tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0]), HINTS ; USE
tf.linalg.LinearOperatorComposition([FULL, FULL]) ; operators=[tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0])], HINTS ; USE
tf.linalg.LinearOperatorKronecker([FULL, FULL]) ; operators=[tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0])], HINTS ; USE
tf.linalg.LinearOperatorBlockDiag([FULL, FULL]) ; operators=[tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0])], is_non_singular=True,
    is_self_adjoint=True, is_positive_definite=True, is_square=False, name='given' ; USE
tf.linalg.LinearOperatorBlockLowerTriangular([[FULL], [FULL, FULL]]) ; operators=[[tf.linalg.LinearOperatorDiag([1.0, 2.0])]],
    HINTS ; USE
""".replace("HINTS", _HINTS).replace("USE", _USE).replace("FULL", _F)
