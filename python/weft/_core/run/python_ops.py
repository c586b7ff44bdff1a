"""tensorflow.python.framework.ops, as programs import it."""
import itertools
import re

from weft._core.contrib.framework import get_graph_from_inputs as _get_graph_from_inputs  # noqa: F401
from weft._core.framework import dtypes  # noqa: F401
from weft._core.framework.build import convert_to_tensor, register_tensor_conversion_function  # noqa: F401
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
from weft._core.framework.graph import get_default_graph, name_scope, reset_default_graph  # noqa: F401
from weft._core.session.client import get_default_session  # noqa: F401

# ---- names of scopes ----

def strip_name_scope(name, export_scope):
    """A name without the scope that it begins with."""
    return _rescoped(name, export_scope and re.escape(export_scope.rstrip("/")) + "/", "")


def prepend_name_scope(name, import_scope):
    """A name inside a scope."""
    return _rescoped(name, "", import_scope and import_scope.rstrip("/") + "/")


def _rescoped(name, before, after):
    """A name with one beginning in the place of another, behind ^ or loc:@ if it has one."""
    if not before and not after:
        return name
    return re.sub(r"^(\^|loc:@|)" + before, lambda found: found.group(1) + after, str(name))


def get_name_scope():
    """The name scope in which operations are made now."""
    return get_default_graph().get_name_scope()


# ---- conversions of several values ----

def _several(values, convert, name):
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [convert(value, None if name is None else "%s_%d" % (name, i)) for i, value in enumerate(values)]


def convert_n_to_tensor(values, dtype=None, name=None, preferred_dtype=None):
    """Values as tensors."""
    return _several(values, lambda value, of: convert_to_tensor(value, dtype=dtype, name=of, preferred_dtype=preferred_dtype), name)


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    """Values as tensors; those that are IndexedSlices, and None, stay."""
    return _several(values, lambda value, of: None if value is None else convert_to_tensor_or_indexed_slices(value, dtype, of), name)


internal_convert_to_tensor, internal_convert_n_to_tensor = convert_to_tensor, convert_n_to_tensor


# ---- which graph and which mode ----

class EagerTensor:
    """The class of eager tensors, for isinstance: there are none."""


def inside_function():
    """Whether operations are made in the body of a function."""
    return get_default_graph().outer is not None


def executing_eagerly_outside_functions():
    """False: graphs are all there is."""
    return False


def has_default_graph():
    """True: there is always a graph."""
    return True


_numbers = itertools.count(1)


def uid():
    """A number that no other call gave."""
    return next(_numbers)
