"""The standard normal and Laplace distribution functions, accurate in their tails.

log_ndtr of x far below zero is an asymptotic series, since ndtr itself is zero there.  Each function picks the formula by
the range of its argument, and gives the others an argument that is safe, so that gradients stay finite.
"""
import numpy as np

from weft._core.framework.build import constant, convert_to_tensor
from weft._core.framework.dtypes import float32, float64
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops, special_math
from weft._core.ops.math_ops import erf, erfc

# Below the lower limit the series is used; above the upper one, log(1 - q) is -q.
_LIMITS = {np.float32: (-10.0, 5.0), np.float64: (-20.0, 8.0)}


def _floats(x, name):
    x = convert_to_tensor(x, name="x")
    if x.dtype.base_dtype not in (float32, float64):
        raise TypeError("%s: x has type %s, but only float32 and float64 are allowed" % (name, x.dtype.name))
    return x


def ndtr(x, name="ndtr"):
    """Returns the distribution function of the standard normal distribution."""
    with name_scope(name, values=[x]):
        return _ndtr(_floats(x, "ndtr"))


def _ndtr(x):
    half_root = constant(0.5 * np.sqrt(2.0), x.dtype, name="half_sqrt_2")
    w = x * half_root
    z = math_ops.abs(w)
    y = special_math.where_v2(math_ops.less(z, half_root), 1.0 + erf(w),
                              special_math.where_v2(math_ops.greater(w, 0.0), 2.0 - erfc(z), erfc(z)))
    return 0.5 * y


def ndtri(p, name="ndtri"):
    """Returns the quantile function of the standard normal distribution."""
    with name_scope(name, values=[p]):
        return special_math.ndtri(_floats(p, "ndtri"))


def log_ndtr(x, series_order=3, name="log_ndtr"):
    """Returns the logarithm of the distribution function of the standard normal distribution."""
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with name_scope(name, values=[x]):
        x = _floats(x, "log_ndtr")
        lower, upper = _LIMITS[x.dtype.as_numpy_dtype]
        middle = math_ops.log(_ndtr(math_ops.maximum(x, lower)))
        return special_math.where_v2(math_ops.greater(x, upper), -_ndtr(-x), special_math.where_v2(
            math_ops.greater(x, lower), middle, _log_ndtr_lower(math_ops.minimum(x, lower), series_order)))


def _log_ndtr_lower(x, order):
    square = math_ops.square(x)
    return -0.5 * square - math_ops.log(-x) - 0.5 * np.log(2 * np.pi) + math_ops.log(_series(x, square, order))


def _series(x, square, order):
    """Returns 1 + the sum of (-1)^n (2n - 1)!! / x^(2n), for n up to the order."""
    total, even, odd, power, product = array_ops.ones_like(x), 0.0, 0.0, square, 1.0
    for n in range(1, order + 1):
        product *= 2 * n - 1
        if n % 2:
            odd += product / power
        else:
            even += product / power
        power *= square
    return total + even - odd


def log_cdf_laplace(x, name="log_cdf_laplace"):
    """Returns the logarithm of the distribution function of the standard Laplace distribution."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        below = -np.log(2.0) + x
        above = math_ops.log1p(-0.5 * math_ops.exp(-math_ops.abs(x)))
        return special_math.where_v2(x < 0.0, below, above)
