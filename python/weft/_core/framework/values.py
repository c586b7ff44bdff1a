"""Converts Python values to the elements of a tensor: which types are allowed, and the default type of numbers.

The rules are TensorFlow's. A numpy array is converted by numpy's rules. In a list every element is checked: an integer
or a bool may become any number type, a float may not become an integer, and only a bool may become a bool.

The rules are TensorFlow's.  An array of numpy is converted as numpy converts it.  In a list every element is checked:
an integer or a bool may become any number, a float no integer, and only a bool may become a bool.
"""
import numbers

import numpy as np

from weft import _weft
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.dtypes import DType, as_dtype


def _default_numpy(value, array):
    """Converts numbers to float32 and int32, including numpy numbers in a list, as TensorFlow does.

    Numpy arrays keep their type.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return array
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    if array.dtype == np.int64 and (array.size == 0 or (array.min() >= -2**31 and array.max() < 2**31)):
        return array.astype(np.int32)
    return array


def _strings(array, value):
    """Returns the elements of an array of text as bytes, or as str, which the extension encodes.

    The elements of a list are converted one by one, because numpy's own string types drop trailing zero bytes and turn
    numbers into text.
    """
    if array.dtype.kind in "SU" and not isinstance(value, (np.ndarray, np.generic)):
        array = np.array(value, dtype=object)
    out = array.ravel().tolist()
    _weft.check_strings(out)
    return out


_NESTS = (list, tuple, tensor_shape.Dimension, tensor_shape.TensorShape, range)


def _plain(value):
    """Converts dimensions and shapes to numbers and ranges to lists, at all levels of a nest."""
    if isinstance(value, tensor_shape.TensorShape):
        if not value.is_fully_defined():
            raise ValueError("Cannot convert a partially known TensorShape to a Tensor: %s" % value)
        return value.as_list()
    if isinstance(value, tensor_shape.Dimension):
        if value.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: %s" % value)
        return value.value
    if isinstance(value, range):
        return list(value)
    if isinstance(value, (list, tuple)) and any(issubclass(kind, _NESTS) for kind in set(map(type, value))):
        return [_plain(v) for v in value]
    if isinstance(value, DType):
        return value.as_datatype_enum
    return value


def triple(value, dtype=None, shape=None, check=False):
    """Returns a value in the form that the extension takes, (dtype number, shape, buffer or list of bytes and str), and
    its DType.

    If check is true, an integer that does not fit int32 is an error; otherwise it wraps around, as in TensorFlow's
    constants.
    """
    if value is None:
        raise ValueError("None values not supported.")
    value = _plain(value)
    dtype = None if dtype is None else as_dtype(dtype).base_dtype
    text = dtype is not None and dtype.as_datatype_enum == 7
    try:
        array = np.asarray(value, dtype=object if text else None)
    except ValueError as e:
        raise ValueError("Argument must be a dense tensor: %s (%s)" % (value, e)) from None
    if not text and dtype is None and array.dtype.kind == "O":
        _check_64_bits(array)
    if text or (dtype is None and array.dtype.kind in "SUO"):
        flat = _strings(array, value)
        if shape is not None:
            count = int(np.prod(shape, dtype=np.int64))
            flat = flat + flat[-1:] * (count - len(flat))
        return (7, tuple(array.shape) if shape is None else tuple(shape), flat), dtypes.string
    if dtype is None:
        array = _default_numpy(value, array)
        dtype = as_dtype(array.dtype)
    else:
        array = _cast(value, array, dtype, check)
    if shape is not None:
        array = _filled(array, shape)
    array = np.ascontiguousarray(array).reshape(array.shape)
    if dtype.as_datatype_enum == 14:
        array = dtypes.bfloat16_bits(array)
    return (dtype.as_datatype_enum, array.shape, array), dtype


def check_range(array, dtype):
    """Raises OverflowError if an integer of the array does not fit the type; numpy would wrap it around."""
    want = np.dtype(dtype.as_numpy_dtype)
    if array.dtype.kind not in "iu" or want.kind not in "iu" or array.size == 0 or np.can_cast(array.dtype, want):
        return
    least, most, limits = int(array.min()), int(array.max()), np.iinfo(want)
    if least < limits.min or most > limits.max:
        raise OverflowError("%d is out of range for %s, which holds %d to %d" % (
            least if least < limits.min else most, dtype.name, limits.min, limits.max))


def _check_64_bits(array):
    """Raises OverflowError if a Python integer fits no type of a tensor; numpy keeps such an integer as an object."""
    wide = next((v for v in array.ravel().tolist() if isinstance(v, int) and not -2**63 <= v < 2**64), None)
    if wide is not None:
        raise OverflowError("%d is out of range for every integer type of a tensor" % wide)


# The Python types of elements, and the kinds of numpy's arrays, that may become a type of each kind.
_TAKES = {"b": ((bool, np.bool_), "b"), "i": ((numbers.Integral, np.integer), "iu"), "u": ((numbers.Integral, np.integer), "iu"),
          "f": ((numbers.Real, np.integer, np.floating), "iuf"), "c": ((numbers.Number, np.number), "iufc")}


def _leaves(value):
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _leaves(v)
    else:
        yield value


def _cast(value, array, dtype, check):
    want = np.dtype(dtype.as_numpy_dtype)
    kind = "f" if dtype.is_floating else "i" if dtype.is_integer else want.kind
    if array.dtype == want:
        return array
    if isinstance(value, (np.ndarray, np.generic)):
        if array.dtype.kind in "SUO":
            raise TypeError("Expected %s, got %r of type '%s' instead." % (dtype.name, value, type(value).__name__))
        if check and want == np.int32:
            check_range(array, dtype)
        return array.astype(want)
    if kind in _TAKES and array.size and array.dtype.kind not in _TAKES[kind][1]:
        array = _checked(value, array, dtype, kind)
    if check and want == np.int32:
        check_range(array, dtype)
    if array.dtype == np.uint64 and want.kind in "iu" and array.size:
        array = _integers(array, dtype)
    with np.errstate(over="ignore"):
        return array.astype(want)


def _checked(value, array, dtype, kind):
    """Raises TypeError for the first element that cannot become the type; returns the others as an array for astype."""
    types, kinds = _TAKES[kind]
    for v in _leaves(value):
        fits = v.dtype.kind in kinds if isinstance(v, np.ndarray) else isinstance(v, types)
        if not fits:
            raise TypeError("Expected %s, got %r of type '%s' instead." % (dtype.name, v, type(v).__name__))
    if kind in "iu" and array.dtype.kind in "fO":  # numpy has no integer type for a mix such as [-1, 2**63]
        return _integers(np.asarray(value, dtype=object), dtype)
    return array.astype(np.complex128 if kind == "c" else np.float64) if array.dtype.kind == "O" else array


def _integers(array, dtype):
    """Returns an array of Python integers with 64 bits, which wrap around; raises OverflowError for larger ones."""
    limit = 2**64 if dtype == dtypes.uint64 else 2**63
    wide = next((v for v in array.ravel().tolist() if not -2**63 <= v < limit), None)
    if wide is not None:
        raise OverflowError("%d is out of range for %s: an integer must fit 64 bits" % (wide, dtype.name))
    flat = [int(v) % 2**64 for v in array.ravel().tolist()]
    return np.array(flat, np.uint64).reshape(array.shape).astype(np.dtype(dtype.as_numpy_dtype))


def _filled(array, shape):
    count = int(np.prod(shape, dtype=np.int64))
    if array.size == count:
        return array.reshape(shape)
    if count == 0 or array.size == 0:  # As in TensorFlow, an empty array stays empty or becomes zeros.
        return np.zeros(shape, dtype=array.dtype)
    if array.size > count:
        raise ValueError("Too many elements provided. Needed at most %d, but received %d" % (count, array.size))
    out = np.empty(count, dtype=array.dtype)
    out[:array.size] = array.ravel()
    out[array.size:] = array.ravel()[-1]
    return out.reshape(shape)
