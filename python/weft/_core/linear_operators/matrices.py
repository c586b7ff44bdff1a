"""Operators with the structure of a single matrix: full, triangular, diagonal, a multiple of the identity, or zero."""
import numpy as np

from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.dtypes import as_dtype, float32, int32
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.linear_operators import operator as base
from weft._core.linear_operators.operator import LinearOperator, adjoint as adjoint_of
from weft._core.ops import array_ops, check_ops, linalg, math_ops
from weft._core.ops.control_flow import no_op, with_dependencies


def _at_least(x, dims, name):
    if x.shape.ndims is not None and x.shape.ndims < dims:
        raise ValueError("Argument `%s` must have at least %d dimension%s. Received: %s" % (name, dims, "s" * (dims > 1), x))
    return x


class LinearOperatorFullMatrix(LinearOperator):
    """A dense matrix, without known structure.

    Args:
      matrix: the matrices.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        given = base.given_arguments(locals())
        with name_scope(name, values=[matrix]):
            self._matrix = _at_least(convert_to_tensor(matrix, name="matrix"), 2, "matrix")
        super().__init__(self._matrix.dtype.base_dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
                         given)

    @property
    def matrix(self):
        """The matrices."""
        return self._matrix

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return array_ops.shape(self._matrix)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return base.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """A lower triangular matrix; elements above the diagonal are ignored.

    Args:
      tril: the matrices.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        given = base.given_arguments(locals())
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._tril = _at_least(convert_to_tensor(tril, name="tril"), 2, "tril")
        super().__init__(self._tril.dtype.base_dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, given)

    @property
    def tril(self):
        """The matrices."""
        return self._tril

    def _lower(self):
        return linalg.band_part(self._tril, -1, 0)

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return array_ops.shape(self._tril)

    def _assert_non_singular(self):
        return _no_zeros(self.diag_part(), "Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return base.matmul(self._lower(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return base.triangular_solve(self._lower(), adjoint_of(rhs) if adjoint_arg else rhs, adjoint=adjoint)

    def _determinant(self):
        return math_ops.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self):
        return math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag_part())), axis=[-1])

    def _diag_part(self):
        return linalg.diag_part(self._tril)

    def _to_dense(self):
        return self._lower()

    def _eigvals(self):
        return self._diag_part()


def _no_zeros(x, message):
    return check_ops.assert_less(np.array(0, x.dtype.real_dtype.as_numpy_dtype), math_ops.abs(x), message=message)


class LinearOperatorDiag(LinearOperator):
    """A diagonal matrix.

    Args:
      diag: the diagonals.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorDiag"):
        given = base.given_arguments(locals())
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        with name_scope(name, values=[diag]):
            self._diag = _at_least(convert_to_tensor(diag, name="diag"), 1, "diag")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(self._diag.dtype.base_dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, given)

    @property
    def diag(self):
        """The diagonals."""
        return self._diag

    def _shape(self):
        return TensorShape(None) if self._diag.shape.ndims is None else self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._diag)
        return array_ops.concat([shape, shape[-1:]], 0)

    def _assert_non_singular(self):
        return _no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        return check_ops.assert_positive(math_ops.real(self._diag), message="Operator is not positive definite")

    def _assert_self_adjoint(self):
        return no_op() if base.is_real(self.dtype) else check_ops.assert_equal(
            math_ops.imag(self._diag), np.array(0, self.dtype.real_dtype.as_numpy_dtype),
            message="This diagonal operator contained non-zero imaginary values.")

    def _of(self, adjoint):
        return math_ops.conj(self._diag) if adjoint else self._diag

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._of(adjoint)[..., None] * (adjoint_of(x) if adjoint_arg else x)

    def _matvec(self, x, adjoint=False):
        return self._of(adjoint) * x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return rhs * (1.0 / self._of(adjoint))[..., None]

    def _solvevec(self, rhs, adjoint=False):
        return rhs / self._of(adjoint)

    def _determinant(self):
        return math_ops.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self):
        found = math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag)), axis=[-1])
        return math_ops.cast(found, self.dtype)

    def _to_dense(self):
        return linalg.diag(self._diag)

    def _diag_part(self):
        return self._diag

    def _add_to_tensor(self, x):
        return linalg.set_diag(x, linalg.diag_part(x) + self._diag)

    def _eigvals(self):
        return self._diag

    def _cond(self):
        size = math_ops.abs(self._diag)
        return math_ops.cast(math_ops.reduce_max(size, axis=-1) / math_ops.reduce_min(size, axis=-1), self.dtype)

    def _adjoint_operator(self):
        return LinearOperatorDiag(math_ops.conj(self._diag), **self._hints())

    def _inverse_operator(self):
        return LinearOperatorDiag(1.0 / self._diag, **self._hints())

    def _cholesky_operator(self):
        return LinearOperatorDiag(math_ops.sqrt(self._diag), is_non_singular=True, is_self_adjoint=True,
                                  is_positive_definite=True, is_square=True)


class _Sized(LinearOperator):
    """The base of operators whose size is an argument."""

    def _checked_size(self, value, name, proper):
        """Returns (the size as a tensor, its value if known); proper: the graph checks it when it runs."""
        if value is None:
            return None, None
        value = convert_to_tensor(value, int32, name=name) if not hasattr(value, "op") else value
        if value.dtype.is_integer is False:
            raise TypeError("Argument %s must be integer type.  Found: %s" % (name, value))
        known = constant_value(value)
        if known is not None:
            if value.shape.ndims and name != "batch_shape":
                raise ValueError("Argument %s must be a 0-D Tensor.  Found: %s" % (name, known))
            if np.any(np.asarray(known) < 0):
                raise ValueError("Argument %s must be non-negative.  Found: %s" % (name, known))
        if proper:
            value = with_dependencies([check_ops.assert_non_negative(value, message="Argument %s must be non-negative" % name)], value)
        return value, known

    def _known(self, number):
        return None if number is None else int(number)

    def _batch_broadcast(self, x):
        """Returns x, broadcast to the operator's batch."""
        if self._batch is None:
            return x
        return x + array_ops.zeros(array_ops.concat([self.batch_shape_tensor(), [1, 1]], 0), dtype=self.dtype)

    def _sized(self, x):
        """Returns x, behind the check that it has as many rows as the identity."""
        if not self._assert_proper_shapes:
            return x
        return with_dependencies([check_ops.assert_equal(self._rows, array_ops.shape(x)[-2])], x)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """Returns the matrices plus a tensor; mat is named x in other operators."""
        return self._plus(mat, name)


class LinearOperatorIdentity(_Sized):
    """The identity matrix.

    Args:
      num_rows: the number of rows.
      batch_shape: the shape of the batch; None: a single matrix.
      dtype: the type of the elements, tf.float32 by default.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      assert_proper_shapes: whether shapes are checked when the graph runs.
      name: the name of the scope of its ops.
    """

    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True,
                 is_positive_definite=True, is_square=True, assert_proper_shapes=False, name="LinearOperatorIdentity"):
        given = base.given_arguments(locals())
        for value, word in ((is_self_adjoint, "self adjoint"), (is_non_singular, "non-singular"),
                            (is_positive_definite, "positive-definite")):
            if value is False:
                raise ValueError("An identity operator is always %s." % word)
        if is_square is False:
            raise ValueError("An identity operator is always square.")
        with name_scope(name, values=[]):
            self._rows, self._rows_known = self._checked_size(num_rows, "num_rows", assert_proper_shapes)
            self._batch, self._batch_known = self._checked_size(batch_shape, "batch_shape", assert_proper_shapes)
        super().__init__(as_dtype(dtype or float32), None, True, True, True, True, name, given)
        self._assert_proper_shapes = assert_proper_shapes

    def _shape(self):
        rows = self._known(self._rows_known)
        if self._batch is None:
            return TensorShape([rows, rows])
        if self._batch_known is None:
            return TensorShape(None)
        return TensorShape([*(int(d) for d in self._batch_known), rows, rows])

    def _shape_tensor(self):
        matrix = array_ops.stack([self._rows, self._rows])
        return matrix if self._batch is None else array_ops.concat([self._batch, matrix], 0)

    def _assert_non_singular(self):
        return no_op("assert_non_singular")

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        return self._batch_broadcast(self._sized(x))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _ones(self, shape):
        return array_ops.ones(shape, dtype=self.dtype)

    def _determinant(self):
        return self._ones(self.batch_shape_tensor())

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _diag_part(self):
        return self._ones(self.shape_tensor()[:-1])

    def _trace(self):
        return math_ops.cast(self.domain_dimension_tensor(), self.dtype) * self._ones(self.batch_shape_tensor())

    def _add_to_tensor(self, x):
        return linalg.set_diag(x, 1 + linalg.diag_part(x))

    def _to_dense(self):
        return linalg.eye(self.domain_dimension_tensor(), batch_shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _eigvals(self):
        return self._diag_part()

    def _cond(self):
        return self._ones(self.batch_shape_tensor())

    def _adjoint_operator(self):
        return self

    _inverse_operator = _adjoint_operator

    def _cholesky_operator(self):
        return LinearOperatorIdentity(self._rows, batch_shape=self._batch, dtype=self.dtype)


class LinearOperatorScaledIdentity(_Sized):
    """A multiple of the identity matrix.

    Args:
      num_rows: the number of rows.
      multiplier: the factor; its shape is the batch.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      assert_proper_shapes: whether shapes are checked when the graph runs.
      name: the name of the scope of its ops.
    """

    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorScaledIdentity"):
        given = base.given_arguments(locals())
        if is_square is False:
            raise ValueError("A ScaledIdentity operator is always square.")
        with name_scope(name, values=[multiplier]):
            self._multiplier = convert_to_tensor(multiplier, name="multiplier")
            self._rows, self._rows_known = self._checked_size(num_rows, "num_rows", assert_proper_shapes)
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(self._multiplier.dtype.base_dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
                         given)
        self._assert_proper_shapes = assert_proper_shapes

    @property
    def multiplier(self):
        """The factor."""
        return self._multiplier

    def _shape(self):
        rows = self._known(self._rows_known)
        return TensorShape(None) if self._multiplier.shape.ndims is None else self._multiplier.shape.concatenate([rows, rows])

    def _shape_tensor(self):
        return array_ops.concat([array_ops.shape(self._multiplier), array_ops.stack([self._rows, self._rows])], 0)

    def _assert_non_singular(self):
        return _no_zeros(self._multiplier, "LinearOperator was singular")

    def _assert_positive_definite(self):
        return check_ops.assert_positive(math_ops.real(self._multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self):
        return no_op() if base.is_real(self.dtype) else check_ops.assert_equal(
            math_ops.imag(self._multiplier), np.array(0, self.dtype.real_dtype.as_numpy_dtype),
            message="LinearOperator was not self-adjoint")

    def _matrix(self, adjoint=False):
        return (math_ops.conj(self._multiplier) if adjoint else self._multiplier)[..., None, None]

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._sized(adjoint_of(x) if adjoint_arg else x) * self._matrix(adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._sized(adjoint_of(rhs) if adjoint_arg else rhs) / self._matrix(adjoint)

    def _determinant(self):
        return self._multiplier ** math_ops.cast(self.domain_dimension_tensor(), self.dtype)

    def _log_abs_determinant(self):
        rows = math_ops.cast(self.domain_dimension_tensor(), self.dtype.real_dtype)
        return rows * math_ops.log(math_ops.abs(self._multiplier))

    def _diag_part(self):
        return self._multiplier[..., None] * array_ops.ones([self.domain_dimension_tensor()], dtype=self.dtype)

    def _trace(self):
        return math_ops.cast(self.domain_dimension_tensor(), self.dtype) * self._multiplier

    def _to_dense(self):
        return linalg.diag(self._diag_part())

    def _add_to_tensor(self, x):
        return linalg.set_diag(x, linalg.diag_part(x) + self._multiplier[..., None])

    def _eigvals(self):
        return self._diag_part()

    def _cond(self):
        nan = array_ops.ones_like(self._multiplier) * base.scalar(np.nan, self.dtype)
        from weft._core.ops.special_math import where_v2
        return where_v2(math_ops.equal(self._multiplier, base.scalar(0, self.dtype)), nan, array_ops.ones_like(self._multiplier))

    def _again(self, multiplier, **hints):
        return LinearOperatorScaledIdentity(self._rows, multiplier, **hints)

    def _adjoint_operator(self):
        return self._again(math_ops.conj(self._multiplier), **self._hints())

    def _inverse_operator(self):
        return self._again(1.0 / self._multiplier, **self._hints())

    def _cholesky_operator(self):
        return self._again(math_ops.sqrt(self._multiplier), is_non_singular=True, is_self_adjoint=True,
                           is_positive_definite=True, is_square=True)


class LinearOperatorZeros(_Sized):
    """A matrix of zeros.

    Args:
      num_rows: the number of rows.
      num_columns: the number of columns, that of the rows by default.
      batch_shape: the shape of the batch; None: a single matrix.
      dtype: the type of the elements, tf.float32 by default.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      assert_proper_shapes: whether shapes are checked when the graph runs.
      name: the name of the scope of its ops.
    """

    def __init__(self, num_rows, num_columns=None, batch_shape=None, dtype=None, is_non_singular=False, is_self_adjoint=True,
                 is_positive_definite=False, is_square=True, assert_proper_shapes=False, name="LinearOperatorZeros"):
        given = base.given_arguments(locals())
        if is_self_adjoint is False and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        with name_scope(name, values=[]):
            self._rows, self._rows_known = self._checked_size(num_rows, "num_rows", assert_proper_shapes)
            self._columns, self._columns_known = self._checked_size(num_columns, "num_columns", assert_proper_shapes)
            self._batch, self._batch_known = self._checked_size(batch_shape, "batch_shape", assert_proper_shapes)
        if self._columns is None:
            self._columns, self._columns_known = self._rows, self._rows_known
        super().__init__(as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name, given)
        self._assert_proper_shapes = assert_proper_shapes

    def _shape(self):
        matrix = [self._known(self._rows_known), self._known(self._columns_known)]
        if self._batch is None:
            return TensorShape(matrix)
        return TensorShape(None) if self._batch_known is None else TensorShape([*(int(d) for d in self._batch_known), *matrix])

    def _shape_tensor(self):
        matrix = array_ops.stack([self._rows, self._columns])
        return matrix if self._batch is None else array_ops.concat([self._batch, matrix], 0)

    def _assert_non_singular(self):
        from weft._core.framework.errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        from weft._core.framework.errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return no_op("assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        if self._assert_proper_shapes:
            rows = self._rows if adjoint else self._columns
            x = with_dependencies([check_ops.assert_equal(rows, array_ops.shape(x)[-2])], x)
        rows = self.domain_dimension_tensor() if adjoint else self.range_dimension_tensor()
        zeros = array_ops.zeros(array_ops.stack([rows, array_ops.shape(x)[-1]]), dtype=self.dtype)
        batch = array_ops.zeros(array_ops.concat([array_ops.shape(x)[:-2], [1, 1]], 0), dtype=self.dtype)
        return self._batch_broadcast(zeros + batch if x.shape.ndims != 2 else zeros)

    def _zeros(self, shape):
        return array_ops.zeros(shape, dtype=self.dtype)

    def _determinant(self):
        return self._zeros(self.batch_shape_tensor())

    def _trace(self):
        return self._zeros(self.batch_shape_tensor())

    def _diag_part(self):
        shorter = math_ops.minimum(self.domain_dimension_tensor(), self.range_dimension_tensor())
        return self._zeros(array_ops.concat([self.batch_shape_tensor(), array_ops.stack([shorter])], 0))

    def _to_dense(self):
        return self._zeros(self.shape_tensor())

    def _add_to_tensor(self, x):
        return x + self._zeros(array_ops.concat([self.batch_shape_tensor(), [1, 1]], 0)) if self._batch is not None else x

    def _eigvals(self):
        return self._diag_part()

    def _adjoint_operator(self):
        return LinearOperatorZeros(self._columns, self._rows, batch_shape=self._batch, dtype=self.dtype,
                                   is_self_adjoint=self.is_self_adjoint, is_square=self.is_square)
