"""tf.contrib.layers.utils, which slim calls slim.utils: named outputs of layers, and conversions of arguments."""
import collections

from weft._core.framework.graph import Tensor, add_to_collections, get_collection, get_collection_ref
from weft._core.framework.tensor_shape import TensorShape
from weft._core.ops.control_flow import cond
from weft._core.ops.special_math import get_static_value as _known
from weft._core.ops.variables import Variable

NamedOutputs = collections.namedtuple("NamedOutputs", ["name", "outputs"])


def collect_named_outputs(collections, alias, outputs):
    """Adds an output to collections under another name; returns the output."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor, alias):
    """Adds a name to a tensor."""
    alias = alias[:-1] if alias[-1] == "/" else alias
    if getattr(tensor, "aliases", None):
        tensor.aliases.append(alias)
    else:
        tensor.aliases = [alias]
    return tensor


def gather_tensors_aliases(tensors):
    """Returns the other names of all the tensors, in one list."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def get_tensor_aliases(tensor):
    """Returns the other names of a tensor, or its own name if it has none."""
    found = getattr(tensor, "aliases", None)
    return list(found) if found else [tensor.name[:-2] if tensor.name.endswith(":0") else tensor.name]


def convert_collection_to_dict(collection, clear_collection=False):
    """Returns {alias: tensor} of the outputs that layers put into a collection."""
    found = collections.OrderedDict((alias, t) for t in get_collection(collection) for alias in get_tensor_aliases(t))
    if clear_collection:
        del get_collection_ref(collection)[:]
    return found


def constant_value(value_or_tensor_or_var, dtype=None):
    """Returns the value of a constant, or None if it is known only in the run."""
    if value_or_tensor_or_var is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    value = value_or_tensor_or_var
    if isinstance(value, (Tensor, Variable)):
        if dtype and value.dtype != dtype:
            raise ValueError("It has the wrong type %s instead of %s" % (value.dtype, dtype))
        return None if isinstance(value, Variable) else _known(value)
    if dtype and not isinstance(value, dtype):
        raise ValueError("It has the wrong type %s instead of %s" % (type(value), dtype))
    return value


def static_cond(pred, fn1, fn2):
    """Returns the result of the first function if the Python value `pred` is true, otherwise that of the second."""
    if not callable(fn1):
        raise TypeError("fn1 must be callable.")
    if not callable(fn2):
        raise TypeError("fn2 must be callable.")
    return fn1() if pred else fn2()


def smart_cond(pred, fn1, fn2, name=None):
    """Returns static_cond if the condition is known while the graph is built, else tf.cond."""
    value = constant_value(pred)
    if value is not None:
        return static_cond(value, fn1, fn2)
    return cond(pred, fn1, fn2, name=name)


def get_variable_collections(variables_collections, name):
    """Returns the collections for a variable: the given ones, or from a dict those under its name."""
    return variables_collections.get(name) if isinstance(variables_collections, dict) else variables_collections


def _dimension(shape, index, min_rank):
    dims = TensorShape(shape)
    if dims.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if dims.ndims < min_rank:
        raise ValueError("rank of shape must be at least %d not: %d" % (min_rank, dims.ndims))
    found = dims[index].value
    if found is None:
        raise ValueError("dimension %d of shape must be known but is None: %s" % (index, dims))
    return found


def channel_dimension(shape, data_format, min_rank=1):
    """Returns the number of channels in a shape."""
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape, min_rank=1):
    """Returns the size of the last axis of a shape."""
    return _dimension(shape, -1, min_rank)


def two_element_tuple(int_or_tuple):
    """Returns a number as a pair of equal numbers; a pair is returned unchanged."""
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError("Must be a list with 2 elements: %s" % (int_or_tuple,))
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int(int_or_tuple), int(int_or_tuple)
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0].value, int_or_tuple[1].value
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


def n_positive_integers(n, value):
    """Returns a positive number n times, or n positive numbers as a tuple."""
    n = int(n)
    if n < 1:
        raise ValueError("n must be a positive integer")
    said = "value must be a positive integer or a sequence of %d positive integers, not %s" % (n, value)
    try:
        found = [int(value)] * n
    except TypeError:
        try:
            found = [int(getattr(v, "value", v)) for v in value]
        except TypeError:
            raise ValueError(said) from None
    if len(found) != n or any(v < 1 for v in found):
        raise ValueError(said)
    return tuple(found)
