"""tf.linalg.LinearOperator: the base class.

A subclass defines its shape, `_matmul`, and the methods that its structure makes cheaper than for a dense matrix:
`_solve`, `_diag_part`, `_determinant` and so on.  What it does not say is computed from the dense matrix.
"""
import abc
import contextlib

import numpy as np

from weft._core.framework.absent import Named
from weft._core.framework.build import constant, convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.ops import array_ops, check_ops, linalg, linalg_solve, math_ops, special_math


def adjoint(x):
    """Returns the conjugate transpose of matrices."""
    return linalg.adjoint(x)


def matmul(a, b, adjoint_a=False, adjoint_b=False):
    return math_ops.matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def same_batches(*matrices):
    """Returns matrices whose batch dimensions are broadcast to each other."""
    known = TensorShape([])
    for m in matrices:
        if m.shape.ndims is None:
            known = TensorShape(None)
            break
        known = special_math.broadcast_static_shape(known, m.shape[:-2])
    if known.is_fully_defined():
        return [m if m.shape[:-2] == known else array_ops.broadcast_to(
            m, array_ops.concat([np.array(known.as_list(), np.int32), array_ops.shape(m)[-2:]], 0)) for m in matrices]
    batch = array_ops.shape(matrices[0])[:-2]
    for m in matrices[1:]:
        batch = special_math.broadcast_dynamic_shape(batch, array_ops.shape(m)[:-2])
    return [array_ops.broadcast_to(m, array_ops.concat([batch, array_ops.shape(m)[-2:]], 0)) for m in matrices]


def solve(matrix, rhs, adjoint=False):
    matrix, rhs = same_batches(matrix, rhs)
    return linalg.matrix_solve(matrix, rhs, adjoint=adjoint)


def triangular_solve(matrix, rhs, adjoint=False):
    matrix, rhs = same_batches(matrix, rhs)
    return linalg.matrix_triangular_solve(matrix, rhs, lower=True, adjoint=adjoint)


def is_real(dtype):
    return not as_dtype(dtype).is_complex


def all_hold(*flags):
    """Returns whether all hints are True, or None where that is not known."""
    return True if all(f is True for f in flags) else None


def given_arguments(scope):
    """Returns the arguments of a constructor, from its locals()."""
    return {k: v for k, v in scope.items() if k not in ("self", "__class__")}


class LinearOperator(metaclass=Named):
    """A matrix, or a batch of matrices, that need not be stored as a dense tensor.

    Args:
      dtype: the type of its elements.
      graph_parents: the tensors that it is made from.
      is_non_singular: whether it is known to have an inverse; None: not known.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
      parameters: the arguments of the constructor, as a dict.
    """

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None, parameters=None):
        for i, parent in enumerate(graph_parents or []):
            if parent is None or not hasattr(parent, "op"):
                raise ValueError("Graph parent item %d is not a Tensor; %s." % (i, parent))
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._is_square_hint, self._dtype = is_square, None if dtype is None else as_dtype(dtype)
        self._graph_parents, self._name = list(graph_parents or []), name or type(self).__name__
        self._is_non_singular, self._is_self_adjoint = is_non_singular, is_self_adjoint
        self._is_positive_definite, self._parameters = is_positive_definite, parameters or {}

    @contextlib.contextmanager
    def _name_scope(self, name=None):
        outer = get_default_graph().get_name_scope()
        with name_scope("%s%s/" % (outer + "/" if outer else "", self.name)), name_scope(name) as scope:
            yield scope

    def _tensors(self):
        return [v for v in vars(self).values() if hasattr(v, "op")] + self._graph_parents

    # ---- properties ----

    @property
    def parameters(self):
        """The arguments of the constructor."""
        return dict(self._parameters)

    @property
    def dtype(self):
        """The type of the elements."""
        return self._dtype

    @property
    def name(self):
        """The name of the scope of its ops."""
        return self._name

    @property
    def graph_parents(self):
        """The tensors that it is made from."""
        return self._graph_parents

    @property
    def is_non_singular(self):
        """Whether it is known to have an inverse."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self):
        """Whether it is known to equal its adjoint."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self):
        """Whether it is known to be positive definite."""
        return self._is_positive_definite

    @property
    def is_square(self):
        """Whether it is known to be square."""
        if self.domain_dimension.value is None or self.range_dimension.value is None:
            return self._is_square_hint
        fact = self.domain_dimension.value == self.range_dimension.value
        if self._is_square_hint is not None and fact != self._is_square_hint:
            raise ValueError("User set is_square hint to %s, but the operator was not." % self._is_square_hint)
        return fact

    def _hints(self):
        return dict(is_non_singular=self.is_non_singular, is_self_adjoint=self.is_self_adjoint,
                    is_positive_definite=self.is_positive_definite, is_square=self.is_square)

    # ---- shapes ----

    @abc.abstractmethod
    def _shape(self):
        """Returns the static shape."""

    @abc.abstractmethod
    def _shape_tensor(self):
        """Returns the shape as a tensor."""

    @property
    def shape(self):
        """The static shape."""
        return self._shape()

    def shape_tensor(self, name="shape_tensor"):
        """Returns the shape as a tensor."""
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return convert_to_tensor(np.array(self.shape.as_list(), np.int32), name="shape")
            return self._shape_tensor()

    @property
    def batch_shape(self):
        """The static shape of the batch."""
        return self.shape[:-2] if self.shape.ndims is not None else TensorShape(None)

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """Returns the shape of the batch as a tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(np.array(self.batch_shape.as_list(), np.int32), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self):
        """The number of dimensions, those of the batch included."""
        return self.shape.ndims

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """Returns the number of dimensions as a tensor."""
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(np.array(self.tensor_rank, np.int32))
            return array_ops.size(self.shape_tensor())

    @property
    def domain_dimension(self):
        """The static number of columns."""
        return special_math.dimension_at_index(self.shape, -1)

    @property
    def range_dimension(self):
        """The static number of rows."""
        return special_math.dimension_at_index(self.shape, -2)

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """Returns the number of columns as a tensor."""
        with self._name_scope(name):
            if self.domain_dimension.value is not None:
                return convert_to_tensor(np.array(self.domain_dimension.value, np.int32))
            return self.shape_tensor()[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """Returns the number of rows as a tensor."""
        with self._name_scope(name):
            if self.range_dimension.value is not None:
                return convert_to_tensor(np.array(self.range_dimension.value, np.int32))
            return self.shape_tensor()[-2]

    # ---- assertions ----

    def assert_non_singular(self, name="assert_non_singular"):
        """Returns an op that fails unless the operator has an inverse."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self):
        limit = np.finfo(self.dtype.as_numpy_dtype).eps * self._largest_dimension()
        return check_ops.assert_less(self.cond(), math_ops.cast(1.0 / limit, self.dtype.real_dtype),
                                     message="Singular matrix up to precision epsilon.")

    def _largest_dimension(self):
        sizes = [self.domain_dimension.value, self.range_dimension.value]
        if None in sizes:
            return math_ops.cast(math_ops.reduce_max(self.shape_tensor()[-2:]), self.dtype.real_dtype)
        return max(sizes)

    def assert_positive_definite(self, name="assert_positive_definite"):
        """Returns an op that fails unless the operator is positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self):
        found = linalg.diag_part(linalg.cholesky(self.to_dense()))
        return check_ops.assert_positive(math_ops.real(found), message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """Returns an op that fails unless the operator equals its adjoint."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return check_ops.assert_equal(dense, adjoint(dense), message="Matrix was not equal to its adjoint.")

    # ---- products ----

    def _checked(self, x):
        if self.dtype is not None and x.dtype.base_dtype != self.dtype:
            raise TypeError("Expected argument to have dtype %s.  Found: %s in tensor %s" % (
                self.dtype, x.dtype, getattr(x, "name", type(x).__name__)))
        return x

    @abc.abstractmethod
    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        """Returns the product with a dense matrix."""

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Returns the product with a matrix or with another operator."""
        if isinstance(x, LinearOperator):
            left, right = self.adjoint() if adjoint else self, x.adjoint() if adjoint_arg else x
            self._compatible(left.domain_dimension, right.range_dimension)
            with self._name_scope(name):
                from weft._core.linear_operators import algebra
                return algebra.product(left, right)
        with self._name_scope(name):
            x = self._checked(convert_to_tensor(x, name="x"))
            self._compatible(self.range_dimension if adjoint else self.domain_dimension, x.shape[-1 if adjoint_arg else -2])
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    @staticmethod
    def _compatible(a, b):
        a.assert_is_compatible_with(b)

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """Returns the product with a vector."""
        with self._name_scope(name):
            x = self._checked(convert_to_tensor(x, name="x"))
            self._compatible(self.range_dimension if adjoint else self.domain_dimension, x.shape[-1])
            return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x, adjoint=False):
        return array_ops.squeeze(self.matmul(x[..., None], adjoint=adjoint), axis=-1)

    # ---- solving ----

    def _must_solve(self, what="Exact solve"):
        if self.is_non_singular is False:
            raise NotImplementedError("%s not implemented for an operator that is expected to be singular." % what)
        if self.is_square is False:
            raise NotImplementedError("%s not implemented for an operator that is expected to not be square." % what)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = globals()["adjoint"](rhs) if adjoint_arg else rhs
        if self.is_self_adjoint and self.is_positive_definite:
            chol, rhs = same_batches(linalg.cholesky(self.to_dense()), rhs)
            return linalg.cholesky_solve(chol, rhs)
        return solve(self.to_dense(), rhs, adjoint=adjoint)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """Returns the solution X of A X = rhs; rhs may be another operator."""
        self._must_solve()
        if isinstance(rhs, LinearOperator):
            left, right = self.adjoint() if adjoint else self, rhs.adjoint() if adjoint_arg else rhs
            self._compatible(left.range_dimension, right.range_dimension)
            with self._name_scope(name):
                from weft._core.linear_operators import algebra
                return algebra.solution(left, right)
        with self._name_scope(name):
            rhs = self._checked(convert_to_tensor(rhs, name="rhs"))
            self._compatible(self.domain_dimension if adjoint else self.range_dimension, rhs.shape[-1 if adjoint_arg else -2])
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """Returns the solution x of A x = rhs, both vectors."""
        with self._name_scope(name):
            rhs = self._checked(convert_to_tensor(rhs, name="rhs"))
            return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs, adjoint=False):
        return array_ops.squeeze(self.solve(rhs[..., None], adjoint=adjoint), axis=-1)

    # ---- other operators ----

    def adjoint(self, name="adjoint"):
        """Returns the adjoint operator."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return self._adjoint_operator()

    H = property(adjoint, None, None, "The adjoint operator.")

    def _adjoint_operator(self):
        from weft._core.linear_operators.algebra import LinearOperatorAdjoint
        return LinearOperatorAdjoint(self)

    def inverse(self, name="inverse"):
        """Returns the inverse operator."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return self._inverse_operator()

    def _inverse_operator(self):
        from weft._core.linear_operators.algebra import LinearOperatorInversion
        return LinearOperatorInversion(self)

    def cholesky(self, name="cholesky"):
        """Returns the lower triangular operator L with A = L L^H."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return self._cholesky_operator()

    def _cholesky_operator(self):
        from weft._core.linear_operators.matrices import LinearOperatorLowerTriangular
        return LinearOperatorLowerTriangular(linalg.cholesky(self.to_dense()), is_non_singular=True, is_self_adjoint=False,
                                             is_square=True)

    # ---- determinants and other numbers ----

    def _determinant(self):
        if self.is_self_adjoint and self.is_positive_definite:
            return math_ops.exp(self._log_abs_determinant())
        return linalg.matrix_determinant(self._dense_for_determinant())

    def _dense_for_determinant(self):
        return self.to_dense()

    def determinant(self, name="det"):
        """Returns the determinant of each matrix."""
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self):
        if self.is_self_adjoint and self.is_positive_definite:
            diagonal = linalg.diag_part(linalg.cholesky(self.to_dense()))
            return 2 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])
        return linalg.slogdet(self.to_dense())[1]

    def log_abs_determinant(self, name="log_abs_det"):
        """Returns the logarithm of the absolute value of the determinant of each matrix."""
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _to_dense(self):
        """Returns the product with the identity."""
        n = self.domain_dimension.value
        n = self.domain_dimension_tensor() if n is None else n
        return self.matmul(linalg.eye(n, dtype=self.dtype))

    def to_dense(self, name="to_dense"):
        """Returns the matrices, written out."""
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self):
        return linalg.diag_part(self.to_dense())

    def diag_part(self, name="diag_part"):
        """Returns the diagonal of each matrix."""
        with self._name_scope(name):
            return self._diag_part()

    def _trace(self):
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name="trace"):
        """Returns the sum of the diagonal of each matrix."""
        with self._name_scope(name):
            return self._trace()

    def _add_to_tensor(self, x):
        return self.to_dense() + x

    def add_to_tensor(self, x, name="add_to_tensor"):
        """Returns the matrices plus a tensor."""
        return self._plus(x, name)

    def _plus(self, x, name):
        with self._name_scope(name):
            return self._add_to_tensor(self._checked(convert_to_tensor(x, name="x")))

    def _eigvals(self):
        return linalg_solve.self_adjoint_eigvals(self.to_dense())

    def eigvals(self, name="eigvals"):
        """Returns the eigenvalues of each matrix."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        with self._name_scope(name):
            return self._eigvals()

    def _cond(self):
        if not self.is_self_adjoint:
            found = linalg_solve.svd(self.to_dense(), compute_uv=False)
            return found[..., 0] / found[..., -1]
        found = math_ops.abs(self.eigvals())
        return math_ops.reduce_max(found, axis=-1) / math_ops.reduce_min(found, axis=-1)

    def cond(self, name="cond"):
        """Returns the condition number of each matrix."""
        with self._name_scope(name):
            return self._cond()


def scalar(value, dtype):
    return constant(np.array(value, as_dtype(dtype).as_numpy_dtype))
