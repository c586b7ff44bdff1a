"""tensorflow.python.ops.linalg.linear_operator_util: products and solutions of matrices whose batches are broadcast."""
import weft as tf
from weft._core.linear_operators.operator import same_batches


def broadcast_matrix_batch_dims(batch_matrices, name=None):
    """Returns matrices whose batch dimensions are broadcast to each other."""
    with tf.name_scope(name or "broadcast_matrix_batch_dims"):
        made = [tf.convert_to_tensor(m) for m in batch_matrices]
        for m in made:
            if m.shape.ndims is not None and m.shape.ndims < 2:
                raise ValueError("Input batch matrices must have at least two dimensions. Found: %s" % m)
        return made if len(made) < 2 else same_batches(*made)


def matrix_solve_with_broadcast(matrix, rhs, adjoint=False, name=None):
    """Returns the solutions of systems of linear equations."""
    with tf.name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        return tf.linalg.solve(*broadcast_matrix_batch_dims([matrix, rhs]), adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(matrix, rhs, lower=True, adjoint=False, name=None):
    """Returns the solutions of systems of linear equations with triangular matrices."""
    with tf.name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        return tf.linalg.triangular_solve(*broadcast_matrix_batch_dims([matrix, rhs]), lower=lower, adjoint=adjoint)


def cholesky_solve_with_broadcast(chol, rhs, name=None):
    """Returns the solutions of systems of linear equations, given the Cholesky factors of the matrices."""
    with tf.name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        return tf.linalg.cholesky_solve(*broadcast_matrix_batch_dims([chol, rhs]))
