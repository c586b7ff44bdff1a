"""Bijectors of vectors and matrices: affine maps, chains, permutations, and inline functions."""
import numpy as np

from weft._core.distributions.bijectors import Bijector
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.linear_operators.matrices import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from weft._core.linear_operators.structured import LinearOperatorLowRankUpdate
from weft._core.ops import array_ops, linalg, math_ops


class AffineScalar(Bijector):
    """y = scale x + shift, element by element."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        with name_scope(name, values=[shift, scale]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def shift(self):
        """What is added, or None."""
        return self._shift

    @property
    def scale(self):
        """The factor, or None."""
        return self._scale

    def _forward(self, x):
        x = x if self.scale is None else x * self.scale
        return x if self.shift is None else x + self.shift

    def _inverse(self, y):
        y = y if self.shift is None else y - self.shift
        return y if self.scale is None else y / self.scale

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return array_ops.zeros([], dtype=x.dtype)
        return math_ops.log(math_ops.abs(self.scale))


class AffineLinearOperator(Bijector):
    """y = scale x + shift, scale being a LinearOperator."""

    def __init__(self, shift=None, scale=None, adjoint=False, validate_args=False, name="affine_linear_operator"):
        with name_scope(name, values=[shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
        if scale is not None and self._shift is not None and self._shift.dtype.base_dtype != scale.dtype:
            raise TypeError("shift.dtype(%s) is incompatible with scale.dtype(%s)." % (self._shift.dtype, scale.dtype))
        self._scale, self._adjoint = scale, adjoint
        super().__init__(forward_min_event_ndims=0 if scale is None else 1, is_constant_jacobian=True, validate_args=validate_args,
                         name=name)

    @property
    def shift(self):
        """What is added, or None."""
        return self._shift

    @property
    def scale(self):
        """The LinearOperator, or None."""
        return self._scale

    @property
    def adjoint(self):
        """Whether the adjoint of the operator is meant."""
        return self._adjoint

    def _forward(self, x):
        if self.scale is not None:
            x = self.scale.matvec(x, adjoint=self.adjoint)
        return x if self.shift is None else x + self.shift

    def _inverse(self, y):
        y = y if self.shift is None else y - self.shift
        return y if self.scale is None else self.scale.solvevec(y, adjoint=self.adjoint)

    def _forward_log_det_jacobian(self, x):
        return array_ops.zeros([], dtype=x.dtype) if self.scale is None else self.scale.log_abs_determinant()


class Affine(AffineLinearOperator):
    """y = (c I + D + L + V D2 V^T) x + shift: a matrix given by its parts.

    Args:
      shift: what is added.
      scale_identity_multiplier: the factor c.
      scale_diag: the diagonal D.
      scale_tril: the lower triangle L.
      scale_perturb_factor: the thin matrix V.
      scale_perturb_diag: the diagonal D2; the identity by default.
      validate_args: whether arguments are checked when the graph runs.
      name: the name of the scope of its ops.
    """

    def __init__(self, shift=None, scale_identity_multiplier=None, scale_diag=None, scale_tril=None, scale_perturb_factor=None,
                 scale_perturb_diag=None, validate_args=False, name="affine"):
        with name_scope(name):
            scale = _affine_scale(scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag)
            shift = None if shift is None else convert_to_tensor(shift, name="shift")
            if scale is None and shift is not None and scale_identity_multiplier is not None:
                scale = LinearOperatorScaledIdentity(array_ops.shape(shift)[-1] if shift.shape[-1].value is None else shift.shape[-1].value,
                                                     convert_to_tensor(scale_identity_multiplier, shift.dtype))
        super().__init__(shift=shift, scale=scale, validate_args=validate_args, name=name)


def _affine_scale(multiplier, diag, tril, factor, perturb):
    diag = None if diag is None else convert_to_tensor(diag, name="scale_diag")
    tril = None if tril is None else convert_to_tensor(tril, name="scale_tril")
    if tril is not None:
        tril = linalg.band_part(tril, -1, 0)
        whole = linalg.diag_part(tril)
        whole = whole if multiplier is None else whole + multiplier
        whole = whole if diag is None else whole + diag
        base = LinearOperatorLowerTriangular(linalg.set_diag(tril, whole), is_non_singular=True)
    elif diag is not None:
        base = LinearOperatorDiag(diag if multiplier is None else diag + multiplier, is_non_singular=True)
    elif factor is not None:
        factor = convert_to_tensor(factor, name="scale_perturb_factor")
        n = array_ops.shape(factor)[-2] if factor.shape[-2].value is None else factor.shape[-2].value
        base = LinearOperatorIdentity(n, dtype=factor.dtype) if multiplier is None else LinearOperatorScaledIdentity(
            n, convert_to_tensor(multiplier, factor.dtype), is_non_singular=True)
    else:
        return None
    if factor is None:
        return base
    return LinearOperatorLowRankUpdate(base, convert_to_tensor(factor, base.dtype), diag_update=perturb, is_non_singular=True)


class Chain(Bijector):
    """Applies bijectors one after the other, the last one first."""

    def __init__(self, bijectors=None, validate_args=False, name=None):
        self._bijectors = list(bijectors or ())
        least = max([b.forward_min_event_ndims for b in self._bijectors], default=0)
        name = ("identity" if not self._bijectors else "_of_".join(["chain",
            *(b.name for b in self._bijectors)])) if name is None else name
        super().__init__(is_constant_jacobian=all(b.is_constant_jacobian for b in self._bijectors), validate_args=validate_args,
                         forward_min_event_ndims=least, name=name)

    @property
    def bijectors(self):
        """The bijectors."""
        return self._bijectors

    def _forward(self, x):
        for b in reversed(self._bijectors):
            x = b.forward(x)
        return x

    def _inverse(self, y):
        for b in self._bijectors:
            y = b.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x):
        total, least = array_ops.zeros([], dtype=x.dtype), self.forward_min_event_ndims
        for b in reversed(self._bijectors):
            total = total + b.forward_log_det_jacobian(x, event_ndims=max(least, b.forward_min_event_ndims))
            x = b.forward(x)
        return total

    def _inverse_log_det_jacobian(self, y):
        total, least = array_ops.zeros([], dtype=y.dtype), self.inverse_min_event_ndims
        for b in self._bijectors:
            total = total + b.inverse_log_det_jacobian(y, event_ndims=max(least, b.inverse_min_event_ndims))
            y = b.inverse(y)
        return total

    def _forward_event_shape(self, shape):
        for b in reversed(self._bijectors):
            shape = b.forward_event_shape(shape)
        return shape

    def _inverse_event_shape(self, shape):
        for b in self._bijectors:
            shape = b.inverse_event_shape(shape)
        return shape

    def _forward_event_shape_tensor(self, shape):
        for b in reversed(self._bijectors):
            shape = b.forward_event_shape_tensor(shape)
        return shape

    def _inverse_event_shape_tensor(self, shape):
        for b in self._bijectors:
            shape = b.inverse_event_shape_tensor(shape)
        return shape


class Invert(Bijector):
    """The inverse of a bijector."""

    def __init__(self, bijector, validate_args=False, name=None):
        self._bijector = bijector
        super().__init__(is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args, dtype=bijector.dtype,
                         forward_min_event_ndims=bijector.inverse_min_event_ndims,
                         inverse_min_event_ndims=bijector.forward_min_event_ndims, name=name or "_".join(["invert", bijector.name]))

    @property
    def bijector(self):
        """The bijector whose inverse this is."""
        return self._bijector

    def _forward(self, x):
        return self._bijector.inverse(x)

    def _inverse(self, y):
        return self._bijector.forward(y)

    def _forward_log_det_jacobian(self, x):
        return self._bijector.inverse_log_det_jacobian(x, event_ndims=self.forward_min_event_ndims)

    def _inverse_log_det_jacobian(self, y):
        return self._bijector.forward_log_det_jacobian(y, event_ndims=self.inverse_min_event_ndims)

    def _forward_event_shape(self, shape):
        return self._bijector.inverse_event_shape(shape)

    def _inverse_event_shape(self, shape):
        return self._bijector.forward_event_shape(shape)

    def _forward_event_shape_tensor(self, shape):
        return self._bijector.inverse_event_shape_tensor(shape)

    def _inverse_event_shape_tensor(self, shape):
        return self._bijector.forward_event_shape_tensor(shape)


class Inline(Bijector):
    """A bijector made of functions.

    Args:
      forward_fn: the function.
      inverse_fn: its inverse.
      inverse_log_det_jacobian_fn: the logarithm of the determinant of the inverse's Jacobian.
      forward_log_det_jacobian_fn: that of the function's.
      forward_event_shape_fn: the static shape of a value.
      forward_event_shape_tensor_fn: the shape of a value as a tensor.
      inverse_event_shape_fn: the static shape of an argument.
      inverse_event_shape_tensor_fn: the shape of an argument as a tensor.
      is_constant_jacobian: whether the Jacobian is the same everywhere.
      validate_args: whether arguments are checked when the graph runs.
      forward_min_event_ndims: the dimensions of the least event that it maps.
      inverse_min_event_ndims: the same for its results.
      name: the name of the scope of its ops.
    """

    def __init__(self, forward_fn=None, inverse_fn=None, inverse_log_det_jacobian_fn=None, forward_log_det_jacobian_fn=None,
                 forward_event_shape_fn=None, forward_event_shape_tensor_fn=None, inverse_event_shape_fn=None,
                 inverse_event_shape_tensor_fn=None, is_constant_jacobian=False, validate_args=False, forward_min_event_ndims=None,
                 inverse_min_event_ndims=None, name="inline"):
        super().__init__(is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
                         forward_min_event_ndims=forward_min_event_ndims or 0, inverse_min_event_ndims=inverse_min_event_ndims, name=name)
        given = dict(_forward=forward_fn, _inverse=inverse_fn, _inverse_log_det_jacobian=inverse_log_det_jacobian_fn,
                     _forward_log_det_jacobian=forward_log_det_jacobian_fn, _forward_event_shape=forward_event_shape_fn,
                     _forward_event_shape_tensor=forward_event_shape_tensor_fn, _inverse_event_shape=inverse_event_shape_fn,
                     _inverse_event_shape_tensor=inverse_event_shape_tensor_fn)
        for method, function in given.items():
            if function is not None:
                setattr(self, method, function)


class Permute(Bijector):
    """The elements of the last dimension in another order."""

    def __init__(self, permutation, validate_args=False, name=None):
        with name_scope(name or "permute"):
            self._permutation = convert_to_tensor(permutation, name="permutation")
        if not self._permutation.dtype.is_integer:
            raise TypeError("permutation.dtype (%s) should be `int`-like." % self._permutation.dtype.name)
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=True, validate_args=validate_args, name=name or "permute")

    @property
    def permutation(self):
        """The order."""
        return self._permutation

    def _forward(self, x):
        return array_ops.gather(x, self.permutation, axis=-1)

    def _inverse(self, y):
        return array_ops.gather(y, op("InvertPermutation", x=self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x):
        return array_ops.zeros([], dtype=x.dtype)


class Reshape(Bijector):
    """An event of one shape as one of another."""

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        self._out, self._in = [int(d) for d in event_shape_out], [int(d) for d in event_shape_in]
        super().__init__(forward_min_event_ndims=len(self._in), inverse_min_event_ndims=len(self._out), is_constant_jacobian=True,
                         validate_args=validate_args, name=name or "reshape")

    def _shaped(self, x, before, after):
        return array_ops.reshape(x, array_ops.concat([array_ops.shape(x)[:x.shape.ndims - before], after], 0))

    def _forward(self, x):
        return self._shaped(x, len(self._in), self._out)

    def _inverse(self, y):
        return self._shaped(y, len(self._out), self._in)

    def _forward_log_det_jacobian(self, x):
        return array_ops.zeros([], dtype=x.dtype)

    def _forward_event_shape(self, shape):
        return shape if shape.ndims is None else shape[:shape.ndims - len(self._in)].concatenate(
            TensorShape([None if d < 0 else d for d in self._out]))

    def _inverse_event_shape(self, shape):
        return shape if shape.ndims is None else shape[:shape.ndims - len(self._out)].concatenate(
            TensorShape([None if d < 0 else d for d in self._in]))

    def _forward_event_shape_tensor(self, shape):
        return array_ops.concat([shape[:array_ops.shape(shape)[0] - len(self._in)], self._out], 0)

    def _inverse_event_shape_tensor(self, shape):
        return array_ops.concat([shape[:array_ops.shape(shape)[0] - len(self._out)], self._in], 0)


class FillTriangular(Bijector):
    """Vectors as triangular matrices."""

    def __init__(self, upper=False, validate_args=False, name="fill_triangular"):
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, is_constant_jacobian=True, validate_args=validate_args,
                         name=name)

    def _forward(self, x):
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y):
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x):
        return array_ops.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return array_ops.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, shape):
        if shape.ndims is None or shape[-1].value is None:
            return shape if shape.ndims is None else shape[:-1].concatenate([None, None])
        n = _side(shape[-1].value)
        return shape[:-1].concatenate([n, n])

    def _inverse_event_shape(self, shape):
        n = None if shape.ndims is None else shape[-1].value
        return shape[:-2].concatenate(None if n is None else n * (n + 1) // 2)


# ---- triangles ----

def _side(count):
    """Returns the n with n (n + 1) / 2 = count."""
    n = int(np.sqrt(0.25 + 2.0 * count) - 0.5 + 1e-9)
    if n * (n + 1) // 2 != count:
        raise ValueError("Input right-most shape (%d) does not correspond to a triangular matrix." % count)
    return n


def fill_triangular(x, upper=False, name=None):
    """Returns vectors as triangular matrices, with their elements in a clockwise spiral.

    Args:
      x: the vectors, in the last dimension.
      upper: whether the triangles are upper ones.
      name: a name for the operation.
    """
    with name_scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        count = x.shape[-1].value
        if count is None:
            raise ValueError("fill_triangular needs vectors of a known length, got %s" % x.shape)
        n = _side(count)
        # n rows of n elements are made of the vector without its first n elements, followed by the whole vector
        # reversed.
        parts = [x, array_ops.reverse(x[..., n:], [-1])] if upper else [x[..., n:], array_ops.reverse(x, [-1])]
        matrix = array_ops.reshape(array_ops.concat(parts, -1), array_ops.concat([array_ops.shape(x)[:-1], [n, n]], 0))
        found = linalg.band_part(matrix, 0 if upper else -1, -1 if upper else 0)
        found.set_shape(x.shape[:-1].concatenate([n, n]))
        return found


def fill_triangular_inverse(x, upper=False, name=None):
    """Returns the vectors that fill_triangular makes triangles of.

    Args:
      x: the triangles.
      upper: whether they are upper ones.
      name: a name for the operation.
    """
    with name_scope(name, "fill_triangular_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        n = x.shape[-1].value
        if n is None:
            raise ValueError("fill_triangular_inverse needs matrices of a known size, got %s" % x.shape)
        order = np.zeros(n * (n + 1) // 2, np.int64)
        count = order.size
        places = np.concatenate([np.arange(count), np.arange(n, count)[::-1]] if upper else [np.arange(n, count), np.arange(count)[::-1]])
        keep = (np.triu if upper else np.tril)(np.ones((n, n), bool)).reshape(-1)
        order[places[keep]] = np.nonzero(keep)[0]
        flat = array_ops.reshape(x, array_ops.concat([array_ops.shape(x)[:-2], [n * n]], 0))
        found = array_ops.gather(flat, order.astype(np.int32), axis=-1)
        found.set_shape(x.shape[:-2].concatenate(count))
        return found
