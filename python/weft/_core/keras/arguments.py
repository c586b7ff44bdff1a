"""Converts arguments of layers to one form: sizes to tuples, and names of paddings and layouts."""
from weft._core.keras.backend import image_data_format


def sizes(value, n, name, allow_zero=False):
    """Returns a number or a sequence of n numbers as a tuple of n integers."""
    said = "The `%s` argument must be a tuple of %d integers. Received: %s" % (name, n, value)
    if isinstance(value, int):
        made = (value,) * n
    else:
        try:
            made = tuple(value)
        except TypeError:
            raise ValueError(said) from None
        if len(made) != n:
            raise ValueError(said)
        for v in made:
            try:
                int(v)
            except (ValueError, TypeError):
                raise ValueError("%s including element %s of type %s" % (said, v, type(v))) from None
    least = 0 if allow_zero else 1
    wrong = {v for v in made if v < least}
    if wrong:
        raise ValueError("%s including %s that does not satisfy the requirement `%s`." % (said, wrong, ">= 0" if allow_zero else "> 0"))
    return made


def pairs(value, n, name):
    """Returns a number, n numbers or n pairs as n pairs."""
    if isinstance(value, int):
        return ((value, value),) * n
    if not hasattr(value, "__len__") or len(value) != n:
        raise ValueError("`%s` should have %s elements. Received: %s." % (name, {1: "one", 2: "two", 3: "3"}[n], value))
    return tuple(sizes(v, 2, "%s entry of %s" % (("1st", "2nd", "3rd")[i], name), allow_zero=True) for i, v in enumerate(value))


def padding_name(value):
    """Returns a padding name in lower case; pairs are returned unchanged."""
    if isinstance(value, (list, tuple)):
        return value
    found = value.lower()
    if found not in ("valid", "same", "causal"):
        raise ValueError('The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). '
                         "Received: %s" % found)
    return found


def layout(value):
    """Returns channels_last or channels_first; None means the default of tf.keras.backend."""
    found = (image_data_format() if value is None else value).lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: %s' % found)
    return found


def op_layout(data_format, axes):
    """Returns the name of the layout in an operation: NHWC, NCW and so on."""
    names = {1: "W", 2: "HW", 3: "DHW"}[axes]
    return "N" + names + "C" if data_format == "channels_last" else "NC" + names


def window_length(length, size, padding, stride, dilation=1):
    """Returns the output length of a window operation, or None if the length is unknown."""
    if length is None:
        return None
    wide = size + (size - 1) * (dilation - 1)
    made = length if padding in ("same", "causal") else length - wide + 1 if padding == "valid" else length + wide - 1
    return (made + stride - 1) // stride


def transposed_length(length, size, padding, output_padding=None, stride=0, dilation=1):
    """Returns the output length of a transposed convolution (a number or a tensor), or None if it is unknown."""
    if length is None:
        return None
    size = size + (size - 1) * (dilation - 1)
    if output_padding is None:
        if padding == "valid":
            more = max(size - stride, 0)
            return length * stride + more
        return length * stride if padding == "same" else length * stride - (stride + size - 2)
    border = {"same": size // 2, "valid": 0, "full": size - 1}[padding]
    return (length - 1) * stride + size - 2 * border + output_padding
