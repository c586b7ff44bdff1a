"""Assertions about tensors: an op that fails when run, or an error at once where the answer is known already."""
import numpy as np

from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import Assert, no_op


def _compare(public, known, op, sign):
    """assert_PUBLIC(x, y): that x SIGN y, element by element."""
    def check(x, y, data=None, summarize=None, message=None, name=None):
        message = message or ""
        with name_scope(name, public, [x, y]):
            x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
            a, b = constant_value(x), constant_value(y)
            if a is not None and b is not None:
                if not np.all(known(a, b)):
                    from weft._core.framework.errors import InvalidArgumentError
                    raise InvalidArgumentError(None, None, "%s\nCondition x %s y did not hold element-wise: x (%s) = %s, y (%s) = %s" % (
                        message, sign, x.name, a, y.name, b))
                return no_op(name="static_checks_determined_all_ok")
            said = [message, "Condition x %s y did not hold element-wise:" % sign, "x (%s) = " % x.name, x, "y (%s) = " % y.name, y]
            return Assert(math_ops.reduce_all(op(x, y)), said if data is None else list(data), summarize=summarize)
    check.__name__ = check.__qualname__ = public
    check.__module__ = __name__
    return check


def _sign(public, compare):
    """assert_PUBLIC(x): x against zero."""
    def check(x, data=None, summarize=None, message=None, name=None):
        x = convert_to_tensor(x, name="x")
        return compare(x, array_ops.zeros([], x.dtype.base_dtype), data, summarize, message, name or public)
    check.__name__ = check.__qualname__ = public
    check.__module__ = __name__
    return check


assert_equal = _compare("assert_equal", np.equal, math_ops.equal, "==")
assert_none_equal = _compare("assert_none_equal", np.not_equal, math_ops.not_equal, "!=")
assert_less = _compare("assert_less", np.less, math_ops.less, "<")
assert_less_equal = _compare("assert_less_equal", np.less_equal, math_ops.less_equal, "<=")
assert_greater = _compare("assert_greater", np.greater, math_ops.greater, ">")
assert_greater_equal = _compare("assert_greater_equal", np.greater_equal, math_ops.greater_equal, ">=")
assert_positive = _sign("assert_positive", assert_greater)
assert_negative = _sign("assert_negative", assert_less)
assert_non_negative = _sign("assert_non_negative", assert_greater_equal)
assert_non_positive = _sign("assert_non_positive", assert_less_equal)


def _rank(public, fits, word):
    def check(x, rank, data=None, summarize=None, message=None, name=None):
        with name_scope(name, public, [x, rank]):
            x, wanted = convert_to_tensor(x, name="x"), constant_value(convert_to_tensor(rank))
            if wanted is None or x.shape.ndims is None:
                found = array_ops.rank(x)
                good = math_ops.equal(found, rank) if public == "assert_rank" else math_ops.greater_equal(found, rank)
                return Assert(good, data or [message or "", "Tensor %s must have rank %s " % (x.name, word), rank, "Received shape: ",
                                             array_ops.shape(x)], summarize=summarize)
            if not fits(x.shape.ndims, int(wanted)):
                raise ValueError("%s.  Tensor %s must have rank %s %d.  Received rank %d, shape %s" % (
                    message or "", x.name, word, wanted, x.shape.ndims, x.shape))
            return no_op(name="static_checks_determined_all_ok")
    check.__name__ = check.__qualname__ = public
    check.__module__ = __name__
    return check


assert_rank = _rank("assert_rank", lambda a, b: a == b, "")
assert_rank_at_least = _rank("assert_rank_at_least", lambda a, b: a >= b, "at least")


def assert_type(tensor, tf_type, message=None, name=None):
    from weft._core.framework.dtypes import as_dtype
    tensor = convert_to_tensor(tensor)
    if tensor.dtype.base_dtype != as_dtype(tf_type).base_dtype:
        raise TypeError("%s  %s must be of type %r" % (message or "", tensor.name, as_dtype(tf_type)))
    return no_op(name="statically_determined_correct_type")


def is_numeric_tensor(tensor):
    from weft._core.framework.graph import Tensor
    return isinstance(tensor, Tensor) and (tensor.dtype.base_dtype.is_floating or tensor.dtype.base_dtype.is_integer)


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The tensor, once all its numbers are finite."""
    from weft._core.framework.build import op
    from weft._core.ops.control_flow import with_dependencies
    t, msg = x if t is None else t, message if msg is None else msg
    with name_scope(name, "VerifyFinite", [t]):
        t = convert_to_tensor(t)
        return with_dependencies([op("CheckNumerics", tensor=t, message=msg)], t)


assert_all_finite = verify_tensor_all_finite
