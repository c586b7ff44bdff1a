"""Operators with special structures: circulant, Toeplitz, tridiagonal, Householder, permutations, low-rank updates."""
import numpy as np

from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.dtypes import as_dtype, complex64, complex128, float32
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.linear_operators import operator as base
from weft._core.linear_operators.matrices import LinearOperatorDiag, LinearOperatorIdentity
from weft._core.linear_operators.operator import LinearOperator, adjoint as adjoint_of, all_hold
from weft._core.ops import array_ops, check_ops, linalg, math_ops, signal_ops, special_math


class LinearOperatorHouseholder(LinearOperator):
    """The reflection I - 2 v v^H at the hyperplane to which v is normal.

    Args:
      reflection_axis: the vectors; they are normalized first.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, reflection_axis, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorHouseholder"):
        given = base.given_arguments(locals())
        with name_scope(name, values=[reflection_axis]):
            self._axis = convert_to_tensor(reflection_axis, name="reflection_axis")
            if self._axis.shape.ndims is not None and self._axis.shape.ndims < 1:
                raise ValueError("Argument reflection_axis must have at least 1 dimension.  Found: %s" % self._axis)
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite is True:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_square is False:
            raise ValueError("A Householder operator is always square.")
        super().__init__(self._axis.dtype.base_dtype, None, is_non_singular, True, False, True, name, given)

    @property
    def reflection_axis(self):
        """The vectors."""
        return self._axis

    def _shape(self):
        return TensorShape(None) if self._axis.shape.ndims is None else self._axis.shape.concatenate(self._axis.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._axis)
        return array_ops.concat([shape, shape[-1:]], 0)

    def _assert_non_singular(self):
        from weft._core.ops.control_flow import no_op
        return no_op("assert_non_singular")

    _assert_self_adjoint = _assert_non_singular

    def _unit(self):
        length = math_ops.norm(self._axis, axis=-1, keepdims=True)
        return self._axis / math_ops.cast(length, self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x, v = adjoint_of(x) if adjoint_arg else x, self._unit()[..., None]
        return x - 2 * v * base.matmul(v, x, adjoint_a=True)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return -array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _trace(self):
        n = math_ops.cast(self.domain_dimension_tensor(), self.dtype)
        return (n - 2) * array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _diag_part(self):
        v = self._unit()
        return 1.0 - 2 * v * math_ops.conj(v)

    def _to_dense(self):
        v = self._unit()[..., None]
        outer = -2 * base.matmul(v, v, adjoint_b=True)
        return linalg.set_diag(outer, 1.0 + linalg.diag_part(outer))

    def _eigvals(self):
        shape = array_ops.concat([self.batch_shape_tensor(), [self.domain_dimension_tensor() - 1]], 0)
        low = -array_ops.ones(array_ops.concat([self.batch_shape_tensor(), [1]], 0), dtype=self.dtype)
        return array_ops.concat([low, array_ops.ones(shape, dtype=self.dtype)], -1)

    def _cond(self):
        return array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _inverse_operator(self):
        return self


class LinearOperatorPermutation(LinearOperator):
    """A permutation of rows: (P x)[i] = x[perm[i]].

    Args:
      perm: the permutations.
      dtype: the type of the elements.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, perm, dtype=float32, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorPermutation"):
        given = base.given_arguments(locals())
        with name_scope(name, values=[perm]):
            self._perm = convert_to_tensor(perm, name="perm")
            if self._perm.shape.ndims is not None and self._perm.shape.ndims < 1:
                raise ValueError("Argument perm must have at least 1 dimension.  Found: %s" % self._perm)
            if not self._perm.dtype.is_integer:
                raise TypeError("Argument perm must be integer dtype.  Found: %s" % self._perm)
            known = constant_value(self._perm)
            if known is not None and not np.array_equal(np.sort(known, axis=-1), np.broadcast_to(np.arange(known.shape[-1]), known.shape)):
                raise ValueError("Argument perm must be a vector of unique integers from 0 to %d." % (known.shape[-1] - 1))
        if is_non_singular is False or is_square is False:
            raise ValueError("A permutation operator is always non-singular and square.")
        super().__init__(as_dtype(dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, given)

    @property
    def perm(self):
        """The permutations."""
        return self._perm

    def _shape(self):
        return TensorShape(None) if self._perm.shape.ndims is None else self._perm.shape.concatenate(self._perm.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._perm)
        return array_ops.concat([shape, shape[-1:]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return base.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _to_dense(self):
        n = self.domain_dimension_tensor()
        columns = math_ops.range(n, dtype=self._perm.dtype) if n.dtype == self._perm.dtype else math_ops.cast(
            math_ops.range(n), self._perm.dtype)
        return math_ops.cast(math_ops.equal(columns, self._perm[..., None]), self.dtype)

    def _diag_part(self):
        own = math_ops.cast(math_ops.range(self.domain_dimension_tensor()), self._perm.dtype)
        return math_ops.cast(math_ops.equal(own, self._perm), self.dtype)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _cond(self):
        return array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)


class LinearOperatorToeplitz(LinearOperator):
    """A matrix that is constant along its diagonals.

    Args:
      col: the first columns.
      row: the first rows; their first element is that of `col`.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, col, row, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorToeplitz"):
        given = base.given_arguments(locals())
        with name_scope(name, values=[col, row]):
            self._row = convert_to_tensor(row, name="row")
            self._col = convert_to_tensor(col, name="col")
            if self._row.shape.ndims == 0 or self._col.shape.ndims == 0:
                raise ValueError("Arguments col and row must have at least 1 dimension.")
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(self._row.dtype.base_dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, given)

    @property
    def col(self):
        """The first columns."""
        return self._col

    @property
    def row(self):
        """The first rows."""
        return self._row

    def _shape(self):
        if self._row.shape.ndims is None or self._col.shape.ndims is None:
            return TensorShape(None)
        shape = special_math.broadcast_static_shape(self._row.shape, self._col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = special_math.broadcast_dynamic_shape(array_ops.shape(self._row), array_ops.shape(self._col))
        return array_ops.concat([shape, shape[-1:]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return base.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        batch = special_math.broadcast_dynamic_shape(array_ops.shape(self._row), array_ops.shape(self._col))
        row, col = array_ops.broadcast_to(self._row, batch), array_ops.broadcast_to(self._col, batch)
        n = self.domain_dimension_tensor()
        # These are the diagonals from the lower left to the upper right; element (i, j) is on diagonal n - 1 + j - i.
        diagonals = array_ops.concat([array_ops.reverse(col, [-1]), row[..., 1:]], -1)
        steps = math_ops.range(n)
        found = array_ops.gather(diagonals, steps[None, :] - steps[:, None] + (n - 1), axis=-1)
        found.set_shape(self.shape)
        return found

    def _trace(self):
        return math_ops.cast(self.domain_dimension_tensor(), self.dtype) * (self._col[..., 0] + array_ops.zeros_like(self._row[..., 0]))

    def _diag_part(self):
        first = self._col[..., 0] + array_ops.zeros_like(self._row[..., 0])
        return first[..., None] * array_ops.ones([self.domain_dimension_tensor()], dtype=self.dtype)


class LinearOperatorTridiag(LinearOperator):
    """A matrix with three diagonals.

    Args:
      diagonals: the diagonals, in the form that `diagonals_format` names.
      diagonals_format: "compact" (a tensor of three rows: superdiagonal, diagonal, subdiagonal), "sequence" (a list of the
        three), or "matrix" (the whole matrix).
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, diagonals, diagonals_format="compact", is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorTridiag"):
        given = base.given_arguments(locals())
        with name_scope(name, values=[]):
            if diagonals_format == "sequence":
                self._diagonals = [convert_to_tensor(d, name="diag") for d in diagonals]
                dtype = self._diagonals[0].dtype
            elif diagonals_format in ("compact", "matrix"):
                self._diagonals = convert_to_tensor(diagonals, name="diagonals")
                dtype = self._diagonals.dtype
            else:
                raise ValueError("Expected `diagonals_format` to be one of compact, matrix, sequence. Found: %s" % diagonals_format)
        if is_square is False:
            raise ValueError("Only square tridiagonal operators currently supported.")
        super().__init__(dtype.base_dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, given)
        self._format = diagonals_format

    @property
    def diagonals(self):
        """The diagonals, as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self):
        """The form of `diagonals`."""
        return self._format

    def _rows(self):
        """Returns (superdiagonal, diagonal, subdiagonal), each as long as the matrix is wide."""
        if self._format == "sequence":
            upper, main, lower = self._diagonals
            n = main.shape[-1].value
            if upper.shape[-1].value == n - 1:
                upper = array_ops.pad(upper, [[0, 0]] * (upper.shape.ndims - 1) + [[0, 1]])
            if lower.shape[-1].value == n - 1:
                lower = array_ops.pad(lower, [[0, 0]] * (lower.shape.ndims - 1) + [[1, 0]])
            return upper, main, lower
        if self._format == "compact":
            return self._diagonals[..., 0, :], self._diagonals[..., 1, :], self._diagonals[..., 2, :]
        m = self._diagonals
        pads = [[0, 0]] * (m.shape.ndims - 2)
        upper = array_ops.pad(linalg.diag_part(m[..., :-1, 1:]), [*pads, [0, 1]])
        lower = array_ops.pad(linalg.diag_part(m[..., 1:, :-1]), [*pads, [1, 0]])
        return upper, linalg.diag_part(m), lower

    def _shape(self):
        if self._format == "matrix":
            return self._diagonals.shape
        if self._format == "compact":
            known = self._diagonals.shape
            return TensorShape(None) if known.ndims is None else known[:-2].concatenate([known[-1], known[-1]])
        upper, main, lower = (d.shape[:-1] for d in self._diagonals)
        known = special_math.broadcast_static_shape(special_math.broadcast_static_shape(upper, main), lower)
        n = self._diagonals[1].shape[-1]
        return known.concatenate([n, n])

    def _shape_tensor(self):
        if self._format == "matrix":
            return array_ops.shape(self._diagonals)
        main = self._rows()[1]
        shape = array_ops.shape(main)
        return array_ops.concat([shape, shape[-1:]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return base.matmul(self.to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        if self._format == "matrix":
            return self._diagonals
        upper, main, lower = self._rows()
        pads = [[0, 0]] * (main.shape.ndims - 1)
        above = linalg.diag(upper[..., :-1])
        below = linalg.diag(lower[..., 1:])
        return (linalg.diag(main) + array_ops.pad(above, [*pads, [0, 1], [1, 0]])
                + array_ops.pad(below, [*pads, [1, 0], [0, 1]]))

    def _diag_part(self):
        return linalg.diag_part(self._diagonals) if self._format == "matrix" else self._rows()[1]


class _Circulant(LinearOperator):
    """The base of the circulant operators, which a Fourier transform of `_depth` dimensions diagonalizes."""

    def __init__(self, spectrum, depth, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square, given, name):
        with name_scope(name, values=[spectrum]):
            spectrum = convert_to_tensor(spectrum, name="spectrum")
            if spectrum.shape.ndims is not None and spectrum.shape.ndims < depth:
                raise ValueError("Argument spectrum must have at least %d dimensions.  Found: %s" % (depth, spectrum))
            if not spectrum.dtype.is_complex:
                if is_self_adjoint is False and not as_dtype(input_output_dtype).is_complex:
                    raise ValueError("A real spectrum makes a self-adjoint operator.")
                is_self_adjoint = True
            self._spectrum, self._depth = spectrum, depth
        if is_square is False:
            raise ValueError("A [[nested] block] circulant operator is always square.")
        super().__init__(as_dtype(input_output_dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, given)

    @property
    def spectrum(self):
        """The eigenvalues, in the order of the Fourier domain."""
        return self._spectrum

    @property
    def block_depth(self):
        """The number of dimensions of the Fourier transform."""
        return self._depth

    @property
    def block_shape(self):
        """The static shape of the last dimensions of the spectrum."""
        return self._spectrum.shape[-self._depth:]

    def block_shape_tensor(self, name="block_shape_tensor"):
        """Returns the shape of the last dimensions of the spectrum, as a tensor."""
        with self._name_scope(name):
            return array_ops.shape(self._spectrum)[-self._depth:]

    def _shape(self):
        known = self._spectrum.shape
        if known.ndims is None:
            return TensorShape(None)
        sizes = known[-self._depth:].as_list()
        n = None if None in sizes else int(np.prod(sizes))
        return known[:-self._depth].concatenate([n, n])

    def _shape_tensor(self):
        shape = array_ops.shape(self._spectrum)
        n = math_ops.reduce_prod(shape[-self._depth:])
        return array_ops.concat([shape[:-self._depth], array_ops.stack([n, n])], 0)

    def _complex(self):
        return complex128 if self.dtype.real_dtype.size == 8 else complex64

    def _fourier(self, x, inverse=False):
        forward = {1: signal_ops.fft, 2: signal_ops.fft2d, 3: signal_ops.fft3d}
        back = {1: signal_ops.ifft, 2: signal_ops.ifft2d, 3: signal_ops.ifft3d}
        return (back if inverse else forward)[self._depth](x)

    def _times(self, x, factor, adjoint_arg):
        """Returns the product of the Fourier transform of x with a factor, transformed back."""
        x = math_ops.cast(adjoint_of(x) if adjoint_arg else x, self._complex())
        columns = linalg.transpose(x)
        shape = array_ops.shape(columns)
        block = array_ops.shape(self._spectrum)[-self._depth:]
        blocks = array_ops.reshape(columns, array_ops.concat([shape[:-1], block], 0))
        axis = -self._depth - 1
        found = self._fourier(array_ops.expand_dims(factor, axis) * self._fourier(blocks), inverse=True)
        flat = array_ops.reshape(found, array_ops.concat([array_ops.shape(found)[:axis + 1], [shape[-1]]], 0)) if self._depth > 1 else found
        flat = linalg.transpose(flat)
        if x.shape.ndims is not None and self.batch_shape.ndims is not None:
            flat.set_shape(special_math.broadcast_static_shape(x.shape[:-2], self.batch_shape).concatenate(x.shape[-2:]))
        return math_ops.cast(flat, self.dtype)

    def _factor(self, adjoint):
        spectrum = math_ops.cast(self._spectrum, self._complex())
        return math_ops.conj(spectrum) if adjoint else spectrum

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._times(x, self._factor(adjoint), adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._times(rhs, 1.0 / self._factor(adjoint), adjoint_arg)

    def _axes(self):
        return list(range(-self._depth, 0))

    def _flat(self):
        shape = array_ops.concat([array_ops.shape(self._spectrum)[:-self._depth], [-1]], 0)
        found = array_ops.reshape(self._spectrum, shape)
        found.set_shape(self.batch_shape.concatenate(self.domain_dimension))
        return found

    def _determinant(self):
        return math_ops.cast(math_ops.reduce_prod(self._spectrum, axis=self._axes()), self.dtype)

    def _log_abs_determinant(self):
        found = math_ops.reduce_sum(math_ops.log(math_ops.abs(self._spectrum)), axis=self._axes())
        return math_ops.cast(found, self.dtype)

    def _trace(self):
        return math_ops.cast(math_ops.reduce_sum(self._spectrum, axis=self._axes()), self.dtype)

    def _diag_part(self):
        n = math_ops.cast(self.domain_dimension_tensor(), self._spectrum.dtype)
        mean = math_ops.reduce_sum(self._spectrum, axis=self._axes()) / n
        return math_ops.cast(mean[..., None] * array_ops.ones([self.domain_dimension_tensor()], dtype=mean.dtype), self.dtype)

    def _eigvals(self):
        return math_ops.cast(self._flat(), self.dtype)

    def _cond(self):
        size = math_ops.abs(self._flat())
        return math_ops.cast(math_ops.reduce_max(size, axis=-1) / math_ops.reduce_min(size, axis=-1), self.dtype)

    def _assert_non_singular(self):
        return check_ops.assert_less(np.array(0, self._spectrum.dtype.real_dtype.as_numpy_dtype), math_ops.abs(self._spectrum),
                                     message="Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self):
        return check_ops.assert_positive(math_ops.real(self._spectrum),
                                         message="Not positive definite: Real part of spectrum was not all positive.")

    def convolution_kernel(self, name="convolution_kernel"):
        """Returns the first column of the operator, in the shape of a block."""
        with self._name_scope(name):
            return math_ops.cast(self._fourier(self._factor(False), inverse=True), self.dtype)

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """Returns an op that fails unless the convolution kernel is real."""
        with self._name_scope(name):
            limit = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
            size = math_ops.abs(math_ops.imag(self._fourier(self._factor(False), inverse=True)))
            return check_ops.assert_less(size, np.array(5 * limit * max(1, self._depth), size.dtype.as_numpy_dtype),
                                         message="Spectrum was not Hermitian")

    def _again(self, spectrum, **hints):
        return type(self)(spectrum, input_output_dtype=self.dtype, **hints)

    def _adjoint_operator(self):
        return self._again(math_ops.conj(self._spectrum), **self._hints())

    def _inverse_operator(self):
        return self._again(1.0 / self._spectrum, **self._hints())

    def _cholesky_operator(self):
        from weft._core.linear_operators.operator import LinearOperator
        return LinearOperator._cholesky_operator(self)


class LinearOperatorCirculant(_Circulant):
    """A circulant matrix: each column is the previous one, shifted down by one.

    Args:
      spectrum: the Fourier transform of the first column.
      input_output_dtype: the type of the elements.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, spectrum, input_output_dtype=complex64, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, name="LinearOperatorCirculant"):
        super().__init__(spectrum, 1, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         {k: v for k, v in base.given_arguments(locals()).items() if k != "given"}, name)


class LinearOperatorCirculant2D(_Circulant):
    """A matrix of circulant blocks, which are arranged in a circulant pattern.

    Args:
      spectrum: the two-dimensional Fourier transform of the first column.
      input_output_dtype: the type of the elements.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, spectrum, input_output_dtype=complex64, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, name="LinearOperatorCirculant2D"):
        super().__init__(spectrum, 2, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         base.given_arguments(locals()), name)


class LinearOperatorCirculant3D(_Circulant):
    """A nested matrix of circulant blocks, three levels deep.

    Args:
      spectrum: the three-dimensional Fourier transform of the first column.
      input_output_dtype: the type of the elements.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, spectrum, input_output_dtype=complex64, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, name="LinearOperatorCirculant3D"):
        super().__init__(spectrum, 3, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         base.given_arguments(locals()), name)


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator plus a product of thin matrices: L + U D V^H.

    Args:
      base_operator: the operator L.
      u: the thin matrices U.
      diag_update: the diagonal of D; the identity by default.
      v: the thin matrices V; U by default.
      is_diag_update_positive: whether `diag_update` is known to be positive.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate"):
        given = base.given_arguments(locals())
        with name_scope(name, values=[u, diag_update, v]):
            self._u = convert_to_tensor(u, name="u")
            self._v = self._u if v is None else convert_to_tensor(v, name="v")
            self._diag = None if diag_update is None else convert_to_tensor(diag_update, name="diag_update")
        self._base, self._symmetric = base_operator, v is None
        positive = True if diag_update is None else is_diag_update_positive
        if self._symmetric:
            is_self_adjoint = is_self_adjoint or all_hold(base_operator.is_self_adjoint,
                                                          not (diag_update is not None and self._u.dtype.is_complex))
            if base_operator.is_positive_definite and base_operator.is_self_adjoint and positive:
                is_positive_definite = is_non_singular = True
        super().__init__(base_operator.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name, given)
        self._positive = positive

    @property
    def u(self):
        """The thin matrices U."""
        return self._u

    @property
    def v(self):
        """The thin matrices V."""
        return self._v

    @property
    def diag_update(self):
        """The diagonal of D, or None."""
        return self._diag

    @property
    def is_diag_update_positive(self):
        """Whether `diag_update` is known to be positive."""
        return self._positive

    @property
    def diag_operator(self):
        """The operator D."""
        if self._diag is not None:
            return LinearOperatorDiag(self._diag, is_positive_definite=self._positive)
        rank = self._u.shape[-1].value
        return LinearOperatorIdentity(array_ops.shape(self._u)[-1] if rank is None else rank, dtype=self.dtype)

    @property
    def base_operator(self):
        """The operator L."""
        return self._base

    def _shape(self):
        batch = self._base.batch_shape
        for m in (self._u, self._v):
            batch = special_math.broadcast_static_shape(batch, m.shape[:-2])
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self):
        batch = self._base.batch_shape_tensor()
        for m in (self._u, self._v):
            batch = special_math.broadcast_dynamic_shape(batch, array_ops.shape(m)[:-2])
        return array_ops.concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        u, v = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = base.matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg)
        inner = self.diag_operator.matmul(inner, adjoint=adjoint)
        return self._base.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + base.matmul(u, inner)

    def _capacitance(self):
        """Returns D^-1 + V^H L^-1 U, whose size is the rank of the update."""
        inner = base.matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner) if self._diag is not None else linalg.set_diag(
            inner, linalg.diag_part(inner) + 1.0)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        # This is Woodbury's identity.
        u, v = (self._v, self._u) if adjoint else (self._u, self._v)
        first = self._base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = base.matmul(v, first, adjoint_a=True)
        if self.is_positive_definite and self.is_self_adjoint:
            chol, inner = base.same_batches(linalg.cholesky(self._capacitance()), inner)
            inner = linalg.cholesky_solve(chol, inner)
        else:
            inner = base.solve(self._capacitance(), inner, adjoint=adjoint)
        return first - self._base.solve(base.matmul(u, inner), adjoint=adjoint)

    def _determinant(self):
        found = linalg.matrix_determinant(self._capacitance()) * self._base.determinant()
        return found if self._diag is None else found * self.diag_operator.determinant()

    def _log_abs_determinant(self):
        if self.is_positive_definite and self.is_self_adjoint:
            diagonal = linalg.diag_part(linalg.cholesky(self._capacitance()))
            inner = 2 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])
        else:
            inner = linalg.slogdet(self._capacitance())[1]
        found = inner + self._base.log_abs_determinant()
        return found if self._diag is None else found + self.diag_operator.log_abs_determinant()

    def _diag_part(self):
        product = self._u * math_ops.conj(self._v)
        if self._diag is not None:
            product *= self._diag[..., None, :]
        return math_ops.reduce_sum(product, axis=-1) + self._base.diag_part()

    def _to_dense(self):
        u = self._u if self._diag is None else self._u * self._diag[..., None, :]
        return base.matmul(u, self._v, adjoint_b=True) + self._base.to_dense()

    def _adjoint_operator(self):
        diagonal = self._diag if self._diag is None or not self.dtype.is_complex else math_ops.conj(self._diag)
        return LinearOperatorLowRankUpdate(self._base.adjoint(), self._v, diagonal, self._u, self._positive, **self._hints())
