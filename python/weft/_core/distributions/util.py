"""Helper functions of the distributions: seeds, parameters as logits or probabilities, and checks of arguments."""
import hashlib

import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape, as_shape
from weft._core.ops import array_ops, check_ops, math_ops, special_math
from weft._core.ops.control_flow import with_dependencies


def new_seed(seed, salt):
    """Returns a second seed that a first one and a word decide, or None stays None."""
    if seed is None:
        return None
    return int(hashlib.md5((str(seed) + salt).encode("utf-8")).hexdigest()[:8], 16) & 0x7FFFFFFF


def checked(assertions, x, validate):
    """Returns x, behind assertions that a function makes where arguments are validated."""
    return with_dependencies(assertions(), x) if validate else x


def parameter(value, name):
    """Returns a parameter as an Identity node of that name."""
    return array_ops.identity(value, name=name)



def broadcast_static(*tensors):
    """Returns the static shape that tensors broadcast to."""
    shape = TensorShape([])
    for x in tensors:
        shape = special_math.broadcast_static_shape(shape, as_shape(x.shape))
    return shape


def broadcast_dynamic(*tensors):
    """Returns the shape, as a tensor, that tensors broadcast to."""
    shape = array_ops.shape(tensors[0])
    for x in tensors[1:]:
        shape = special_math.broadcast_dynamic_shape(shape, array_ops.shape(x))
    return shape


def filled_like(shape, value, dtype, name):
    return op("Fill", name, dims=shape, value=constant(np.array(value, dtype.as_numpy_dtype), name=name + "/value"))


def select(condition, x, y):
    return special_math.where_v2(condition, x, y)


def assert_integer_form(x, message, name="assert_integer_form"):
    """Returns an op that fails unless every element is a whole number."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            from weft._core.ops.control_flow import no_op
            return no_op()
        whole = math_ops.cast(math_ops.cast(x, dtypes.int64 if x.dtype.size == 8 else dtypes.int32), x.dtype)
        return check_ops.assert_equal(x, whole, data=[message, x], message=message)


def nonnegative_integers(x, name="embed_check_nonnegative_integer_form"):
    """Returns x, behind checks that its elements are whole numbers of at least 0."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        assertions = [check_ops.assert_non_negative(x, message="'%s' must be non-negative." % x.op.name)]
        if not x.dtype.is_integer:
            assertions.append(assert_integer_form(x, "'%s' cannot contain fractional components." % x.op.name))
        return with_dependencies(assertions, x)


def casting_closed(x, target):
    """Returns x, behind checks that a cast to an integer type loses nothing."""
    with name_scope("embed_check_casting_closed", values=[x]):
        assertions = [check_ops.assert_non_negative(x, message="Elements must be non-negative.")]
        if x.dtype.is_floating:
            assertions.append(assert_integer_form(x, "Elements must be %s-equivalent." % target.name))
        return with_dependencies(assertions, x)


def _valid_probs(probs, multidimensional):
    with name_scope("validate_probs"):
        one = constant(1.0, probs.dtype)
        assertions = [check_ops.assert_non_negative(probs)]
        if multidimensional:
            assertions.append(check_ops.assert_near(math_ops.reduce_sum(probs, -1), one, message="probs does not sum to 1."))
        else:
            assertions.append(check_ops.assert_less_equal(probs, one, message="probs has components greater than 1."))
        return with_dependencies(assertions, probs)


def logits_and_probs(logits, probs, multidimensional, validate, name, dtype=None):
    """Returns (logits, probs) where one of them is given; multidimensional: of classes along the last dimension."""
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, dtype, name="logits") if dtype else convert_to_tensor(logits, name="logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if multidimensional:
                return logits, op("Softmax", "probs", logits=logits)
            return logits, math_ops.sigmoid(logits, name="probs")
        probs = convert_to_tensor(probs, dtype, name="probs") if dtype else convert_to_tensor(probs, name="probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate:
            probs = _valid_probs(probs, multidimensional)
        with name_scope("logits"):
            if multidimensional:
                return math_ops.log(probs), probs
            return math_ops.log(probs) - math_ops.log1p(-1.0 * probs), probs


def log_combinations(n, counts, name="log_combinations"):
    """Returns the logarithm of the multinomial coefficient of n and the counts along the last dimension."""
    with name_scope(name, values=[n, counts]):
        n, counts = convert_to_tensor(n, name="n"), convert_to_tensor(counts, name="counts")
        return math_ops.lgamma(n + 1) - math_ops.reduce_sum(math_ops.lgamma(counts + 1), axis=[-1])
