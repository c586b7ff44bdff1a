"""tensorflow.python.framework.ops, as programs import it."""
import abc
import itertools
import re

from weft._core.contrib.framework import get_graph_from_inputs as _get_graph_from_inputs  # noqa: F401
from weft._core.framework import dtypes  # noqa: F401
from weft._core.framework.build import convert_to_tensor, register_tensor_conversion_function  # noqa: F401
from weft._core.framework.collection_messages import (  # noqa: F401
    get_collection_proto_type,
    get_from_proto_function,
    get_to_proto_function,
    register_proto_function,
)
from weft._core.framework.conversions import convert_to_tensor_or_indexed_slices, op_scope  # noqa: F401
from weft._core.framework.gradient_registry import (  # noqa: F401
    NoGradient,
    NotDifferentiable,
    RegisterGradient,
    get_gradient_function,
    registry as _gradient_registry,  # noqa: F401
    registry as gradient_registry,  # noqa: F401
)
from weft._core.framework.graph import *  # noqa: F403
from weft._core.framework.graph import Tensor, get_default_graph, name_scope, reset_default_graph  # noqa: F401
from weft._core.framework.indexed_slices import IndexedSlices, IndexedSlicesValue  # noqa: F401
from weft._core.ops.sparse import SparseTensor
from weft._core.ops.variables import Variable
from weft._core.session.client import get_default_session  # noqa: F401

# ---- names and scopes ----

def strip_name_scope(name, export_scope):
    """Returns a name without a scope at its beginning."""
    return _rescoped(name, export_scope and re.escape(export_scope.rstrip("/")) + "/", "")


def prepend_name_scope(name, import_scope):
    """Returns a name inside a scope."""
    return _rescoped(name, "", import_scope and import_scope.rstrip("/") + "/")


def _rescoped(name, before, after):
    """Returns a name with one prefix replaced by another, after ^ or loc:@ if it has one."""
    if not before and not after:
        return name
    return re.sub(r"^(\^|loc:@|)" + before, lambda found: found.group(1) + after, str(name))


def get_name_scope():
    """Returns the current name scope."""
    return get_default_graph().get_name_scope()


# ---- conversions of several values ----

def _several(values, convert, name):
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [convert(value, None if name is None else "%s_%d" % (name, i)) for i, value in enumerate(values)]


def convert_n_to_tensor(values, dtype=None, name=None, preferred_dtype=None):
    """Returns the values as tensors."""
    return _several(values, lambda value, of: convert_to_tensor(value, dtype=dtype, name=of, preferred_dtype=preferred_dtype), name)


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    """Returns the values as tensors; IndexedSlices and None are kept."""
    return _several(values, lambda value, of: None if value is None else convert_to_tensor_or_indexed_slices(value, dtype, of), name)


internal_convert_to_tensor, internal_convert_n_to_tensor = convert_to_tensor, convert_n_to_tensor


# ---- what is a tensor ----

class _TensorLike(abc.ABC):
    """The class of tensors, sparse tensors and IndexedSlices, for isinstance() and for classes that derive from it."""


for _kind in (Tensor, SparseTensor, IndexedSlices):
    _TensorLike.register(_kind)
_dense = [Tensor, Variable]


def register_dense_tensor_like_type(tensor_type):
    """Lets is_dense_tensor_like() accept a class, which must have the properties name and dtype."""
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError("Type %s does not define a `%s` property" % (tensor_type.__name__, name))
    _dense.append(tensor_type)


def is_dense_tensor_like(t):
    """Returns whether a value is a tensor, a variable or of a registered class."""
    return isinstance(t, tuple(_dense))


def _as_graph_element(obj):
    """Returns the tensor or operation that an object such as a variable stands for; None if it has none."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if callable(convert) else None


# ---- graph and mode ----

class EagerTensor:
    """The class of eager tensors, for isinstance(). It has no instances."""


def inside_function():
    """Returns whether operations are made in the body of a function."""
    return get_default_graph().outer is not None


def executing_eagerly_outside_functions():
    """Returns False, because Weft always builds graphs."""
    return False


def has_default_graph():
    """Returns True, because there is always a default graph."""
    return True


_numbers = itertools.count(1)


def uid():
    """Returns a number that no other call returned."""
    return next(_numbers)


def set_shapes_for_outputs(op):
    """Sets the shapes of an op's outputs.  Weft infers them when it makes the op, so nothing is left to do."""
