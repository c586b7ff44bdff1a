"""Assertions about tensors: they fail in a run, or at once if the values are constants."""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import Tensor, name_scope
from weft._core.framework.shape_values import constant_value
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import Assert, no_op


def _printed(item):
    """Returns the text that an error shows for text or a tensor: its value if that is known, else its name."""
    value = constant_value(item) if isinstance(item, Tensor) else None
    if value is None:
        return str(item)
    return str(value)


def _compare(public, known, op, sign):
    """Returns the function assert_PUBLIC(x, y), which asserts that x SIGN y holds for each element."""
    def check(x, y, data=None, summarize=None, message=None, name=None):
        # TensorFlow opens the scope once to check whether x is y, and once more to compare.
        if public == "assert_equal":
            with name_scope(name, public, [x, y, data]):
                if x is y:
                    return no_op()
        with name_scope(name, public, [x, y]):
            x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
            said = ["Condition x %s y did not hold element-wise:" % sign, "x (%s) = " % x.name, x, "y (%s) = " % y.name, y]
            said = said if data is None else list(data)
            said = [message, *said] if message else said
            condition = math_ops.reduce_all(op(x, y))
            a, b = constant_value(x), constant_value(y)
            if a is not None and b is not None and not np.all(known(a, b)):
                from weft._core.framework.errors import InvalidArgumentError
                raise InvalidArgumentError(None, None, "\n".join(_printed(d) for d in said))
            return Assert(condition, said, summarize=summarize)
    check.__name__ = check.__qualname__ = public
    check.__module__ = __name__
    return check


def _sign(public, sign, compare, zero_first):
    """Returns the function assert_PUBLIC(x), which asserts that x SIGN 0 holds; `compare` takes x and zero, or zero and
    x.
    """
    def check(x, data=None, summarize=None, message=None, name=None):
        with name_scope(name, public, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [message and message + ".  " or "", "Condition x %s 0 did not hold element-wise:" % sign, "x (%s) = " % x.name, x]
            zero = convert_to_tensor(0, x.dtype.base_dtype)
            pair = (zero, x) if zero_first else (x, zero)
            return compare(*pair, data=data, summarize=summarize)
    check.__name__ = check.__qualname__ = public
    check.__module__ = __name__
    return check


assert_equal = _compare("assert_equal", np.equal, math_ops.equal, "==")
assert_none_equal = _compare("assert_none_equal", np.not_equal, math_ops.not_equal, "!=")
assert_less = _compare("assert_less", np.less, math_ops.less, "<")
assert_less_equal = _compare("assert_less_equal", np.less_equal, math_ops.less_equal, "<=")
assert_greater = _compare("assert_greater", np.greater, math_ops.greater, ">")
assert_greater_equal = _compare("assert_greater_equal", np.greater_equal, math_ops.greater_equal, ">=")
assert_positive = _sign("assert_positive", ">", assert_less, True)
assert_negative = _sign("assert_negative", "<", assert_less, False)
assert_non_negative = _sign("assert_non_negative", ">=", assert_less_equal, True)
assert_non_positive = _sign("assert_non_positive", "<=", assert_less_equal, False)


def _rank(public, fits, word):
    def check(x, rank, data=None, summarize=None, message=None, name=None):
        with name_scope(name, public, [x, rank]):
            x, rank_tensor = convert_to_tensor(x, name="x"), convert_to_tensor(rank, name="rank")
            if rank_tensor.dtype.base_dtype != dtypes.int32:
                raise TypeError("%s must be of type tf.int32; got %s" % (rank_tensor.name, rank_tensor.dtype.base_dtype.name))
            wanted = constant_value(rank_tensor)
            if wanted is not None and wanted.ndim != 0:
                raise ValueError("Rank must be a scalar.")
            if wanted is None or x.shape.ndims is None:
                found = array_ops.rank(x)
                good = math_ops.equal(found, rank) if public == "assert_rank" else math_ops.greater_equal(found, rank)
                told = ("Tensor %s must have rank %s" % (x.name, word)).strip()
                told = [message and message + ".  " or "", told, rank, "Received shape: ", array_ops.shape(x)]
                return Assert(good, data or told, summarize=summarize)
            if not fits(x.shape.ndims, int(wanted)):
                raise ValueError("%sTensor %s must have rank %s%d.  Received rank %d, shape %s" % (
                    message and message + ".  " or "", x.name, word and word + " ", wanted, x.shape.ndims, x.shape))
            return no_op(name="static_checks_determined_all_ok")
    check.__name__ = check.__qualname__ = public
    check.__module__ = __name__
    return check


assert_rank = _rank("assert_rank", lambda a, b: a == b, "")
assert_rank_at_least = _rank("assert_rank_at_least", lambda a, b: a >= b, "at least")


def assert_type(tensor, tf_type, message=None, name=None):
    from weft._core.framework.dtypes import as_dtype
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype != as_dtype(tf_type).base_dtype:
            raise TypeError("%s%s must be of type %r; got %r" % (
                message and message + ".  " or "", tensor.name, as_dtype(tf_type), tensor.dtype.base_dtype))
        return no_op(name="statically_determined_correct_type")


def is_numeric_tensor(tensor):
    from weft._core.framework.graph import Tensor
    if not isinstance(tensor, Tensor):
        return False
    kind = tensor.dtype.base_dtype
    return kind.is_floating or kind.is_integer or kind.is_complex or kind.is_quantized


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """Returns the tensor after a check that all its numbers are finite."""
    from weft._core.framework.build import either, op
    from weft._core.ops.control_flow import with_dependencies
    t, msg = either("x", x, "t", t), either("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [t]):
        t = convert_to_tensor(t)
        return with_dependencies([op("CheckNumerics", tensor=t, message=msg)], t)


assert_all_finite = verify_tensor_all_finite


def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """Fails unless |x - y| <= atol + rtol * |y| everywhere.

    Args:
      x: a tensor of floating-point numbers.
      y: a tensor of the same type.
      rtol: the relative tolerance; by default ten times the type's epsilon.
      atol: the absolute tolerance; by default ten times the type's epsilon.
      data: tensors to print when it fails.
      summarize: how many elements of each to print.
      message: what to say first.
      name: a name for the operation.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
        kind = x.dtype.base_dtype
        epsilon = np.finfo(kind.as_numpy_dtype if kind.name != "bfloat16" else np.float32).eps if kind.name != "bfloat16" else 2.0 ** -8
        rtol = convert_to_tensor(10 * epsilon if rtol is None else rtol, kind, name="rtol")
        atol = convert_to_tensor(10 * epsilon if atol is None else atol, kind, name="atol")
        if data is None:
            data = [message or "", "x and y not equal to tolerance rtol = %s, atol = %s" % (rtol, atol), "x (%s) = " % x.name, x,
                    "y (%s) = " % y.name, y]
        limit = atol + rtol * math_ops.abs(y)
        return Assert(math_ops.reduce_all(math_ops.less(math_ops.abs(x - y), limit)), data, summarize=summarize)


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """Fails unless the rank of x is one of `ranks`.

    Args:
      x: a tensor.
      ranks: a list of ranks.
      data: tensors to print when it fails.
      summarize: how many elements of each to print.
      message: what to say first.
      name: a name for the operation.
    """
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or [])]):
        x, ranks = convert_to_tensor(x, name="x"), [convert_to_tensor(r, name="rank") for r in ranks]
        known = [constant_value(r) for r in ranks]
        if any(k is not None and k.ndim != 0 for k in known):
            raise ValueError("Rank must be a scalar")
        if x.shape.ndims is not None and None not in known:
            if x.shape.ndims not in [int(k) for k in known]:
                raise ValueError("%sTensor %s must have rank in %s.  Received rank %d, shape %s" % (
                    message and message + ".  " or "", x.name, tuple(int(k) for k in known), x.shape.ndims, x.shape))
            return no_op(name="static_checks_determined_all_ok")
        found = array_ops.rank(x)
        fits = [math_ops.equal(found, r) for r in ranks]
        told = "Tensor %s must have rank in" % x.name
        data = data or [message and message + ".  " or "", told, *ranks, "Received shape: ", array_ops.shape(x)]
        return Assert(math_ops.reduce_any(array_ops.stack(fits)), data, summarize=summarize)


def assert_integer(x, message=None, name=None):
    """Raises a TypeError unless x has an integer type.

    Args:
      x: a tensor.
      message: what to say first.
      name: a name for the operation.
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.base_dtype.is_integer:
            raise TypeError('%sExpected "x" to be integer type.  Found: %s of dtype %s' % (
                message and message + ".  " or "", x.name, x.dtype))
        return no_op("statically_determined_was_integer")


def assert_scalar(tensor, name=None, message=None):
    """Raises a ValueError unless a tensor has no dimensions.

    Args:
      tensor: a tensor.
      name: a name for the operation.
      message: what to say first.
    """
    with name_scope(name, "assert_scalar", [tensor]):
        tensor = convert_to_tensor(tensor, name=name or "assert_scalar")
        if tensor.shape.ndims != 0:
            raise ValueError("%sExpected scalar shape for %s, saw shape: %s." % (message or "", tensor.name, tensor.shape))
        return tensor


def assert_proper_iterable(values):
    """Raises a TypeError unless the values can be iterated over and are not one tensor, array or text.

    Args:
      values: what to check.
    """
    from weft._core.framework.graph import Tensor
    from weft._core.ops.sparse import SparseTensor
    wrong = (Tensor, SparseTensor, np.ndarray, str, bytes)
    if isinstance(values, wrong):
        raise TypeError('Expected argument "values" to be a "proper" iterable.  Found: %s' % type(values))
    if not hasattr(values, "__iter__"):
        raise TypeError('Expected argument "values" to be iterable.  Found: %s' % type(values))


def assert_same_float_dtype(tensors=None, dtype=None):
    """Returns the floating-point type of all tensors; raises a ValueError if they have several types or another kind of
    type.

    Args:
      tensors: a list of tensors; None among them is passed over.
      dtype: the type that they must have, or None.
    """
    from weft._core.framework import dtypes
    for tensor in tensors or []:
        if tensor is None:
            continue
        if dtype is None:
            dtype = tensor.dtype.base_dtype
        elif tensor.dtype.base_dtype != dtypes.as_dtype(dtype).base_dtype:
            raise ValueError("Tensor %s must be of the same type: expected %s, got %s" % (tensor, dtype, tensor.dtype))
    dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype).base_dtype
    if not dtype.is_floating:
        raise ValueError("Expected floating point type, got %s." % dtype)
    return dtype
