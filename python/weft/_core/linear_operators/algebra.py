"""Operators that are composed of operators: adjoints, inverses, products, Kronecker products and block matrices."""
import functools
import operator as python_operator

from weft._core.framework.build import convert_to_tensor
from weft._core.framework.tensor_shape import TensorShape
from weft._core.linear_operators import operator as base
from weft._core.linear_operators.matrices import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from weft._core.linear_operators.operator import LinearOperator, adjoint as adjoint_of, all_hold
from weft._core.ops import array_ops, math_ops, special_math

# ---- products and solutions of two operators ----

def _common_hints(a, b):
    """Returns the hints of a product whose factors commute."""
    return dict(is_non_singular=_non_singular(a, b), is_self_adjoint=all_hold(a.is_self_adjoint, b.is_self_adjoint),
                is_positive_definite=all_hold(a.is_positive_definite, b.is_positive_definite, a.is_self_adjoint, b.is_self_adjoint),
                is_square=True)


def _non_singular(*operators):
    if any(o.is_non_singular is False for o in operators) and all(o.is_square for o in operators):
        return False
    return all_hold(*(o.is_non_singular for o in operators))


def product(a, b):
    """Returns the product of two operators, of the most special class that holds it."""
    if isinstance(a, LinearOperatorIdentity):
        return b
    if isinstance(b, LinearOperatorIdentity):
        return a
    if isinstance(a, LinearOperatorZeros) or isinstance(b, LinearOperatorZeros):
        return _zeros(a, b)
    kinds = type(a), type(b)
    diagonal = (LinearOperatorDiag, LinearOperatorScaledIdentity)
    if kinds == (LinearOperatorScaledIdentity, LinearOperatorScaledIdentity):
        return LinearOperatorScaledIdentity(a._rows, a.multiplier * b.multiplier, **_common_hints(a, b))
    if kinds[0] in diagonal and kinds[1] in diagonal:
        return LinearOperatorDiag(_factors(a) * _factors(b), **_common_hints(a, b))
    if kinds == (LinearOperatorDiag, LinearOperatorLowerTriangular):
        return LinearOperatorLowerTriangular(a.diag[..., None] * b.to_dense(), is_non_singular=_non_singular(a, b), is_square=True)
    if kinds == (LinearOperatorLowerTriangular, LinearOperatorDiag):
        return LinearOperatorLowerTriangular(a.to_dense() * b.diag[..., None, :], is_non_singular=_non_singular(a, b), is_square=True)
    made = _circulants(a, b, python_operator.mul)
    return LinearOperatorComposition([a, b], **_composed_hints(a, b)) if made is None else made


def _factors(a):
    """Returns the factors of a diagonal operator in a form that broadcasts over a last dimension."""
    return a.diag if isinstance(a, LinearOperatorDiag) else a.multiplier[..., None]


def _zeros(a, b):
    first = a if isinstance(a, LinearOperatorZeros) else b
    rows, columns = a.range_dimension_tensor(), b.domain_dimension_tensor()
    square = a.is_square and b.is_square
    return LinearOperatorZeros(rows, columns, batch_shape=first._batch, dtype=first.dtype,
                               is_self_adjoint=True if square else False, is_square=bool(square))


def _composed_hints(a, b):
    same = a is b
    adjoint = same and a.is_self_adjoint
    return dict(is_non_singular=_non_singular(a, b), is_self_adjoint=True if adjoint else None,
                is_positive_definite=True if adjoint and a.is_non_singular else None,
                is_square=all_hold(a.is_square, b.is_square))


def _circulants(a, b, function):
    from weft._core.linear_operators.structured import LinearOperatorCirculant
    if type(a) is type(b) is LinearOperatorCirculant:
        return LinearOperatorCirculant(function(a.spectrum, b.spectrum), input_output_dtype=a.dtype, **_common_hints(a, b))
    return None


def solution(a, b):
    """Returns the operator X with A X = B."""
    if isinstance(a, LinearOperatorIdentity):
        return b
    if isinstance(b, LinearOperatorIdentity):
        return a.inverse()
    diagonal = (LinearOperatorDiag, LinearOperatorScaledIdentity)
    if type(a) is type(b) is LinearOperatorScaledIdentity:
        return LinearOperatorScaledIdentity(a._rows, b.multiplier / a.multiplier, **_common_hints(a, b))
    if isinstance(a, diagonal) and isinstance(b, diagonal):
        return LinearOperatorDiag(_factors(b) / _factors(a), **_common_hints(a, b))
    if isinstance(a, LinearOperatorDiag) and isinstance(b, LinearOperatorLowerTriangular):
        return LinearOperatorLowerTriangular(b.to_dense() / a.diag[..., None], is_non_singular=_non_singular(a, b), is_square=True)
    made = _circulants(b, a, python_operator.truediv)
    if made is not None:
        return made
    return LinearOperatorComposition([a.inverse(), b], is_non_singular=_non_singular(a, b), is_square=all_hold(a.is_square, b.is_square))


# ---- classes ----

class LinearOperatorAdjoint(LinearOperator):
    """The adjoint of an operator.

    Args:
      operator: the operator.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        given = base.given_arguments(locals())
        self._operator = operator
        hints = _inherited(operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(operator.dtype, None, *hints, name or operator.name + "_adjoint", given)

    @property
    def operator(self):
        """The operator whose adjoint this is."""
        return self._operator

    def _shape(self):
        known = self._operator.shape
        return known if known.ndims is None else known[:-2].concatenate([known[-1], known[-2]])

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return array_ops.concat([shape[:-2], [shape[-1], shape[-2]]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _conjugated(self, x):
        return x if self.is_self_adjoint else math_ops.conj(x)

    def _determinant(self):
        return self._conjugated(self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _trace(self):
        return self._conjugated(self._operator.trace())

    def _diag_part(self):
        return self._conjugated(self._operator.diag_part())

    def _to_dense(self):
        return adjoint_of(self._operator.to_dense())

    def _eigvals(self):
        return self._conjugated(self._operator.eigvals())

    def _cond(self):
        return self._operator.cond()

    def _adjoint_operator(self):
        return self._operator


def _inherited(operator, *given):
    """Returns the hints given, or those of the operator; a contradiction is an error."""
    words = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
    found = []
    for word, value in zip(words, given):
        own = getattr(operator, word)
        if value is not None and own is not None and value != own:
            raise ValueError("The hint %s=%s contradicts the operator %s, which has %s" % (word, value, operator.name, own))
        found.append(own if value is None else value)
    return found


class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator.

    Args:
      operator: the operator.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        given = base.given_arguments(locals())
        if operator.is_square is False or is_square is False:
            raise ValueError("operator must be square: %s" % operator.name)
        self._operator = operator
        hints = _inherited(operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(operator.dtype, None, *hints, name or operator.name + "_inv", given)

    @property
    def operator(self):
        """The operator whose inverse this is."""
        return self._operator

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -1.0 * self._operator.log_abs_determinant()

    def _eigvals(self):
        return 1.0 / self._operator.eigvals()

    def _cond(self):
        return self._operator.cond()

    def _inverse_operator(self):
        return self._operator


def _operators(operators):
    operators = list(operators)
    if not operators:
        raise ValueError("Expected a non-empty list of operators. Found: %s" % operators)
    for o in operators[1:]:
        if o.dtype != operators[0].dtype:
            raise TypeError("Expected all operators to have the same dtype.  Found %s" % [(o.name, o.dtype) for o in operators])
    return operators


def _broadcast_batches(operators):
    return functools.reduce(special_math.broadcast_static_shape, [o.batch_shape for o in operators], TensorShape([]))


def _broadcast_batch_tensors(operators):
    return functools.reduce(special_math.broadcast_dynamic_shape, [o.batch_shape_tensor() for o in operators])


class LinearOperatorComposition(LinearOperator):
    """The product of operators, applied from the last to the first.

    Args:
      operators: the operators.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        given = base.given_arguments(locals())
        self._operators = _operators(operators)
        for a, b in zip(self._operators, self._operators[1:]):
            a.domain_dimension.assert_is_compatible_with(b.range_dimension)
        if all(o.is_non_singular for o in self._operators):
            if is_non_singular is False:
                raise ValueError("The composition of non-singular operators is always non-singular.")
            is_non_singular = True
        if len(self._operators) == 1 and is_self_adjoint is None:
            is_self_adjoint = self._operators[0].is_self_adjoint
        super().__init__(self._operators[0].dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name or "_o_".join(o.name for o in self._operators), given)

    @property
    def operators(self):
        """The operators."""
        return self._operators

    def _shape(self):
        batch = _broadcast_batches(self._operators)
        return batch.concatenate([self._operators[0].range_dimension, self._operators[-1].domain_dimension])

    def _shape_tensor(self):
        ends = [self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor()]
        return array_ops.concat([_broadcast_batch_tensors(self._operators), array_ops.stack(ends)], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        for i, o in enumerate(self._operators if adjoint else reversed(self._operators)):
            x = o.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg and i == 0)
        return x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        for i, o in enumerate(reversed(self._operators) if adjoint else self._operators):
            rhs = o.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg and i == 0)
        return rhs

    def _determinant(self):
        return functools.reduce(python_operator.mul, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self):
        return functools.reduce(python_operator.add, [o.log_abs_determinant() for o in self._operators])

    def _adjoint_operator(self):
        return LinearOperatorComposition([o.adjoint() for o in reversed(self._operators)], **self._hints())

    def _inverse_operator(self):
        return LinearOperatorComposition([o.inverse() for o in reversed(self._operators)], **self._hints())


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators.

    Args:
      operators: the operators.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        given = base.given_arguments(locals())
        self._operators = _operators(operators)
        hints = _of_all(self._operators, "Kronecker product", is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(self._operators[0].dtype, None, *hints, is_square, name or "_x_".join(o.name for o in self._operators), given)

    @property
    def operators(self):
        """The operators."""
        return self._operators

    def _sizes(self, word):
        found = [getattr(o, word).value for o in self._operators]
        return None if None in found else functools.reduce(python_operator.mul, found)

    def _shape(self):
        return _broadcast_batches(self._operators).concatenate([self._sizes("range_dimension"), self._sizes("domain_dimension")])

    def _shape_tensor(self):
        rows = functools.reduce(python_operator.mul, [o.range_dimension_tensor() for o in self._operators])
        columns = functools.reduce(python_operator.mul, [o.domain_dimension_tensor() for o in self._operators])
        return array_ops.concat([_broadcast_batch_tensors(self._operators), array_ops.stack([rows, columns])], 0)

    def _apply(self, x, method, adjoint):
        """Returns each operator in turn works on its own dimension of x, whose rows are all dimensions together."""
        sides = [o.range_dimension_tensor() if (method == "matmul") == adjoint else o.domain_dimension_tensor()
                 for o in self._operators]
        out, batch = array_ops.shape(x)[-1], array_ops.shape(x)[:-2]
        for o, side in zip(self._operators, sides):
            # The first remaining dimension is moved to the end once it is processed.
            rest = array_ops.shape(x)[-2] // side
            x = array_ops.reshape(x, array_ops.concat([batch, [side, rest * out]], 0))
            x = getattr(o, method)(x, adjoint=adjoint)
            batch, done = array_ops.shape(x)[:-2], array_ops.shape(x)[-2]
            x = array_ops.reshape(x, array_ops.concat([batch, array_ops.stack([done, rest, out])], 0))
            x = array_ops.reshape(_swap(x), array_ops.concat([batch, array_ops.stack([rest * done, out])], 0))
        return x

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._shaped(self._apply(adjoint_of(x) if adjoint_arg else x, "matmul", adjoint), x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._shaped(self._apply(adjoint_of(rhs) if adjoint_arg else rhs, "solve", adjoint), rhs, not adjoint, adjoint_arg)

    def _shaped(self, found, x, columns, adjoint_arg):
        rows = self.domain_dimension if columns else self.range_dimension
        if x.shape.ndims is not None and self.batch_shape.ndims is not None:
            batch = special_math.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            found.set_shape(batch.concatenate([rows, x.shape[-2 if adjoint_arg else -1]]))
        return found

    def _power(self, o):
        return math_ops.cast(self.domain_dimension_tensor() / o.domain_dimension_tensor(), self.dtype)

    def _determinant(self):
        return functools.reduce(python_operator.mul, [o.determinant() ** self._power(o) for o in self._operators])

    def _log_abs_determinant(self):
        return functools.reduce(python_operator.add, [o.log_abs_determinant() * self._power(o) for o in self._operators])

    def _trace(self):
        return functools.reduce(python_operator.mul, [o.trace() for o in self._operators])

    def _outer(self, parts):
        found = parts[0]
        for p in parts[1:]:
            found = found[..., :, None] * p[..., None, :]
            found = array_ops.reshape(found, array_ops.concat([array_ops.shape(found)[:-2], [-1]], 0))
        return found

    def _diag_part(self):
        found = self._outer([o.diag_part() for o in self._operators])
        found.set_shape(self.batch_shape.concatenate(self.domain_dimension if self.is_square else [None]))
        return found

    def _eigvals(self):
        found = self._outer([o.eigvals() for o in self._operators])
        found.set_shape(self.batch_shape.concatenate(self.domain_dimension))
        return found

    def _each(self, method):
        return LinearOperatorKronecker([getattr(o, method)() for o in self._operators], **self._hints())

    def _adjoint_operator(self):
        return self._each("adjoint")

    def _inverse_operator(self):
        return self._each("inverse")

    def _cholesky_operator(self):
        return LinearOperatorKronecker([o.cholesky() for o in self._operators], is_non_singular=True, is_self_adjoint=None,
                                       is_square=True)


def _swap(x):
    """Returns the third-last and second-last dimensions exchanged."""
    from weft._core.ops.math_ops import range as range_op
    rank = array_ops.rank(x) if x.shape.ndims is None else x.shape.ndims
    front = range_op(rank - 3)
    return array_ops.transpose(x, array_ops.concat([front, array_ops.stack([rank - 2, rank - 3, rank - 1])], 0))


def _of_all(operators, what, is_non_singular, is_self_adjoint, is_positive_definite):
    found = []
    for word, value in (("is_non_singular", is_non_singular), ("is_self_adjoint", is_self_adjoint),
                        ("is_positive_definite", is_positive_definite)):
        if all(getattr(o, word) for o in operators):
            if value is False:
                raise ValueError("The %s of operators with %s always has it too." % (what, word))
            value = True
        found.append(value)
    return found


class LinearOperatorBlockDiag(LinearOperator):
    """A block-diagonal matrix of operators.

    Args:
      operators: the operators.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True, name=None):
        given = base.given_arguments(locals())
        self._operators = _operators(operators)
        if is_square is False and all(o.is_square for o in self._operators):
            raise ValueError("The block diagonal of square operators is always square.")
        hints = _of_all(self._operators, "block diagonal", is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(self._operators[0].dtype, None, *hints, is_square, name or "_ds_".join(o.name for o in self._operators), given)

    @property
    def operators(self):
        """The operators."""
        return self._operators

    def _sum(self, word):
        found = [getattr(o, word).value for o in self._operators]
        return None if None in found else sum(found)

    def _shape(self):
        return _broadcast_batches(self._operators).concatenate([self._sum("range_dimension"), self._sum("domain_dimension")])

    def _shape_tensor(self):
        rows = sum(o.range_dimension_tensor() for o in self._operators)
        columns = sum(o.domain_dimension_tensor() for o in self._operators)
        return array_ops.concat([_broadcast_batch_tensors(self._operators), array_ops.stack([rows, columns])], 0)

    def _split(self, x, columns):
        sizes = [o.domain_dimension_tensor() if columns else o.range_dimension_tensor() for o in self._operators]
        known = [(o.domain_dimension if columns else o.range_dimension).value for o in self._operators]
        return array_ops.split(x, array_ops.stack(sizes) if None in known else known, axis=-2, num=len(sizes))

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Returns the product with a matrix, with a list of blocks, or with another operator."""
        if isinstance(x, (list, tuple)):
            with self._name_scope(name):
                return [o.matmul(convert_to_tensor(b, name="x"), adjoint=adjoint, adjoint_arg=adjoint_arg)
                        for o, b in zip(self._operators, x)]
        return super().matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg, name=name)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """Returns the solution of A X = rhs, which may be a matrix, a list of blocks, or another operator."""
        if isinstance(rhs, (list, tuple)):
            self._must_solve()
            with self._name_scope(name):
                return [o.solve(convert_to_tensor(b, name="rhs"), adjoint=adjoint, adjoint_arg=adjoint_arg)
                        for o, b in zip(self._operators, rhs)]
        return super().solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg, name=name)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        parts = [o.matmul(p, adjoint=adjoint) for o, p in zip(self._operators, self._split(x, not adjoint))]
        return array_ops.concat(base.same_batches(*parts), -2)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        parts = [o.solve(p, adjoint=adjoint) for o, p in zip(self._operators, self._split(rhs, adjoint))]
        return array_ops.concat(base.same_batches(*parts), -2)

    def _determinant(self):
        return functools.reduce(python_operator.mul, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self):
        return functools.reduce(python_operator.add, [o.log_abs_determinant() for o in self._operators])

    def _trace(self):
        return functools.reduce(python_operator.add, [o.trace() for o in self._operators])

    def _joined(self, vectors):
        columns = base.same_batches(*(v[..., None] for v in vectors))
        return array_ops.squeeze(array_ops.concat(columns, -2), axis=-1)

    def _diag_part(self):
        return self._joined([o.diag_part() for o in self._operators])

    def _eigvals(self):
        return self._joined([o.eigvals() for o in self._operators])

    def _to_dense(self):
        blocks = base.same_batches(*(o.to_dense() for o in self._operators))
        rows, left, total = [], 0, self.domain_dimension_tensor()
        for b in blocks:
            width = array_ops.shape(b)[-1]
            before = array_ops.zeros(array_ops.concat([array_ops.shape(b)[:-1], array_ops.reshape(left, [1])], 0), dtype=b.dtype)
            after = array_ops.zeros(array_ops.concat([array_ops.shape(b)[:-1], array_ops.reshape(total - left - width, [1])], 0),
                                    dtype=b.dtype)
            rows.append(array_ops.concat([before, b, after], -1))
            left = left + width
        found = array_ops.concat(rows, -2)
        found.set_shape(self.shape)
        return found

    def _assert_non_singular(self):
        from weft._core.ops.control_flow import group
        return group(*(o.assert_non_singular() for o in self._operators))

    def _assert_self_adjoint(self):
        from weft._core.ops.control_flow import group
        return group(*(o.assert_self_adjoint() for o in self._operators))

    def _assert_positive_definite(self):
        from weft._core.ops.control_flow import group
        return group(*(o.assert_positive_definite() for o in self._operators))

    def _adjoint_operator(self):
        return LinearOperatorBlockDiag([o.adjoint() for o in self._operators], **self._hints())

    def _inverse_operator(self):
        return LinearOperatorBlockDiag([o.inverse() for o in self._operators], **self._hints())

    def _cholesky_operator(self):
        return LinearOperatorBlockDiag([o.cholesky() for o in self._operators], is_non_singular=True, is_self_adjoint=None,
                                       is_square=True)


class LinearOperatorBlockLowerTriangular(LinearOperator):
    """A block lower triangular matrix: rows of operators, of which row i has i + 1.

    Args:
      operators: a list of the rows, each a list of operators.
      is_non_singular: whether it is known to have an inverse.
      is_self_adjoint: whether it is known to equal its adjoint.
      is_positive_definite: whether it is known to be positive definite.
      is_square: whether it is known to be square.
      name: the name of the scope of its ops.
    """

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorBlockLowerTriangular"):
        given = base.given_arguments(locals())
        self._operators = [list(row) for row in operators]
        for i, row in enumerate(self._operators):
            if len(row) != i + 1:
                raise ValueError("Expected row %d of `operators` to have %d operators, got %d." % (i, i + 1, len(row)))
        diagonal = [row[-1] for row in self._operators]
        if any(o.is_square is False for o in diagonal):
            raise ValueError("Matrices on the diagonal must be square.")
        # As in TensorFlow, the argument has no effect.
        is_non_singular = True if all(o.is_non_singular for o in diagonal) else None
        super().__init__(diagonal[0].dtype, None, is_non_singular, is_self_adjoint, is_positive_definite,
                         True if is_square is None else is_square, name, given)
        self._diagonal = diagonal

    @property
    def operators(self):
        """The rows of operators."""
        return self._operators

    def _all(self):
        return [o for row in self._operators for o in row]

    def _shape(self):
        sizes = [o.range_dimension.value for o in self._diagonal]
        total = None if None in sizes else sum(sizes)
        return _broadcast_batches(self._all()).concatenate([total, total])

    def _shape_tensor(self):
        total = sum(o.range_dimension_tensor() for o in self._diagonal)
        return array_ops.concat([_broadcast_batch_tensors(self._all()), array_ops.stack([total, total])], 0)

    def _split(self, x):
        known = [o.range_dimension.value for o in self._diagonal]
        sizes = array_ops.stack([o.range_dimension_tensor() for o in self._diagonal]) if None in known else known
        return array_ops.split(x, sizes, axis=-2, num=len(known))

    def _joined(self, parts):
        return array_ops.concat(base.same_batches(*parts), -2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        blocks, n = self._split(adjoint_of(x) if adjoint_arg else x), len(self._operators)
        if adjoint:
            return self._joined([functools.reduce(python_operator.add, [
                self._operators[i][j].matmul(blocks[i], adjoint=True) for i in range(j, n)]) for j in range(n)])
        return self._joined([functools.reduce(python_operator.add, [
            self._operators[i][j].matmul(blocks[j]) for j in range(i + 1)]) for i in range(n)])

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        blocks, n, found = self._split(adjoint_of(rhs) if adjoint_arg else rhs), len(self._operators), {}
        for i in reversed(range(n)) if adjoint else range(n):
            left = blocks[i]
            for j in found:
                o = self._operators[j][i] if adjoint else self._operators[i][j]
                left = left - o.matmul(found[j], adjoint=adjoint)
            found[i] = self._diagonal[i].solve(left, adjoint=adjoint)
        return self._joined([found[i] for i in range(n)])

    def _determinant(self):
        return functools.reduce(python_operator.mul, [o.determinant() for o in self._diagonal])

    def _log_abs_determinant(self):
        return functools.reduce(python_operator.add, [o.log_abs_determinant() for o in self._diagonal])

    def _trace(self):
        return functools.reduce(python_operator.add, [o.trace() for o in self._diagonal])

    def _diag_part(self):
        columns = base.same_batches(*(o.diag_part()[..., None] for o in self._diagonal))
        return array_ops.squeeze(array_ops.concat(columns, -2), axis=-1)

    def _eigvals(self):
        columns = base.same_batches(*(o.eigvals()[..., None] for o in self._diagonal))
        return array_ops.squeeze(array_ops.concat(columns, -2), axis=-1)

    def _assert_non_singular(self):
        from weft._core.ops.control_flow import group
        return group(*(o.assert_non_singular() for o in self._diagonal))

    def _inverse_operator(self):
        if len(self._operators) == 1:
            return LinearOperatorBlockLowerTriangular([[self._diagonal[0].inverse()]], **self._hints())
        inverses = [o.inverse() for o in self._diagonal]
        rows = [[inverses[0]]]
        for i in range(1, len(self._operators)):
            row = []
            for j in range(i):
                # -D_i^-1 times the sum of the remaining terms, over the rows that are finished
                terms = [self._operators[i][k].matmul(rows[k][j].to_dense()) for k in range(j, i)]
                from weft._core.linear_operators.matrices import LinearOperatorFullMatrix
                row.append(LinearOperatorFullMatrix(-inverses[i].matmul(functools.reduce(python_operator.add, terms))))
            rows.append([*row, inverses[i]])
        return LinearOperatorBlockLowerTriangular(rows, **self._hints())
