"""tensorflow.python.layers.utils: checks and normalizes arguments of layers."""
from weft._core.framework.graph import Tensor
from weft._core.framework.shape_values import constant_value as _constant
from weft._core.ops.control_flow import smart_cond  # noqa: F401


def convert_data_format(data_format, ndim):
    """Returns the data_format of an op for 'channels_last' or 'channels_first' and inputs of that rank."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError('Invalid data_format: %s. We only support "channels_first" or "channels_last"' % data_format)
    if ndim not in (3, 4, 5):
        raise ValueError("Input rank: %s not supported. We only support input rank 3, 4 or 5." % ndim)
    space = {3: "W", 4: "HW", 5: "DHW"}[ndim]
    return "N%sC" % space if data_format == "channels_last" else "NC" + space


def normalize_tuple(value, n, name):
    """Returns an integer, or a sequence of n integers, as a tuple of n integers."""
    if isinstance(value, int):
        return (value,) * n
    said = "Argument `%s` must be a tuple of %d integers. Received: %s" % (name, n, value)
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(said) from None
    if len(found) != n:
        raise ValueError(said)
    for item in found:
        try:
            int(item)
        except (ValueError, TypeError):
            raise ValueError("%s including element %s of type %s" % (said, item, type(item))) from None
    return found


def normalize_data_format(value):
    """Returns a data format in small letters."""
    found = value.lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: %s.' % value)
    return found


def normalize_padding(value):
    """Returns a padding in small letters."""
    found = value.lower()
    if found not in ("valid", "same"):
        raise ValueError('The `padding` argument must be one of "valid", "same". Received: %s.' % found)
    return found


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """Returns the length of a convolution's output."""
    if input_length is None:
        return None
    assert padding in ("same", "valid", "full")
    wide = filter_size + (filter_size - 1) * (dilation - 1)
    length = {"same": input_length, "valid": input_length - wide + 1, "full": input_length + wide - 1}[padding]
    return (length + stride - 1) // stride


def conv_input_length(output_length, filter_size, padding, stride):
    """Returns the length of the input whose convolution has that length."""
    if output_length is None:
        return None
    assert padding in ("same", "valid", "full")
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length, filter_size, padding, stride):
    """Returns the length of a transposed convolution's output."""
    if input_length is None:
        return None
    length = input_length * stride
    if padding == "valid":
        return length + max(filter_size - stride, 0)
    return length - (stride + filter_size - 2) if padding == "full" else length


def constant_value(pred):
    """Returns the truth of a predicate, or None if the graph decides it."""
    if isinstance(pred, bool):
        return pred
    if isinstance(pred, int) and pred in (0, 1):
        return bool(pred)
    if isinstance(pred, Tensor):
        return _constant(pred)
    raise TypeError("Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Received: pred=%s of type %s" % (
        pred, type(pred).__name__))
