"""tf.compat: conversions of text, bytes and dimensions, and forward compatibility dates."""
import contextlib
import numbers

import numpy as np


def as_bytes(bytes_or_text, encoding="utf-8"):
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError("Expected binary or unicode string, got %r" % (bytes_or_text,))


def as_text(bytes_or_text, encoding="utf-8"):
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError("Expected binary or unicode string, got %r" % (bytes_or_text,))


as_str = as_text


def as_str_any(value):
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    return str(path)


integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def dimension_value(dimension):
    """Returns the number of a tf.Dimension; a number or None is returned unchanged."""
    return getattr(dimension, "value", dimension)


def forward_compatible(year, month, day):
    """Returns whether what TensorFlow added by that day may be used: it may."""
    return True


@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """Has no effect on what is built inside, because there is only one form of each node."""
    yield
