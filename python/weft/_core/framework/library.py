"""Functions of the library that add nodes by name (weft_helper): clipping, learning rates, lookups of embeddings.

The library opens the name scope that it is given.  A caller opens it first, converts its tensors there, and passes the
scope's name.
"""
import re

from weft import _weft
from weft._core.framework import errors, opdef
from weft._core.framework.build import convert_to_tensor, is_tensor, triple
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, get_default_graph


def operand(value, like=None, dtype=None, name=None):
    """A parameter for a helper: a tensor, or a constant of a type or that of another tensor (None: of its own)."""
    dtype = dtype if like is None else like.dtype.base_dtype
    if is_tensor(value) or isinstance(value, (list, tuple)) and any(is_tensor(v) for v in value):
        made = value if isinstance(value, Tensor) else convert_to_tensor(value, name=name)
        if dtype is not None and made.dtype.base_dtype != dtype:
            raise TypeError("Expected a tensor of type %s, got %s of type %s: cast it with tf.cast." % (
                dtype.name, made.name, made.dtype.base_dtype.name))
        return made
    return triple(value, dtype)[0]


def dtype_of(value):
    """The type of an operand."""
    return value.dtype.base_dtype if isinstance(value, Tensor) else as_dtype(value[0])


def outs(graph, tensors):
    """The numbers of tensors in a graph: a function's body captures those of the graph around, others are refused."""
    found = [graph.capture(t) if graph.outer is not None else t for t in tensors]
    for t in found:
        if t.graph is not graph:
            raise ValueError("Tensor %s must be from the same graph as %s." % (t, graph))
    return [t._out for t in found]


def outputs(kind, scope, operands, flag=False, method=None):
    """The tensors that a helper gives for operands, None where it gives none.  An operand may be None: it is left out."""
    graph = get_default_graph()
    graph._check_not_finalized()
    given = [-1 if x is None else outs(graph, [x])[0] if isinstance(x, Tensor) else x for x in operands]
    try:
        with graph._made_by_library():
            made = _weft.helper(graph._c, kind, scope, given, flag, method)
    except errors.InvalidArgumentError as e:  # TensorFlow's builders say so with Python's own classes
        refused = re.search(r"Op<name=(\w+)>", e.message)
        raise (refused and opdef.refused_type(refused.group(1), e.message)) or ValueError(e.message) from None
    return [graph._tensor(out) for out in made]


def helper(kind, scope, operands, flag=False, method=None):
    """The tensor that a helper gives."""
    return outputs(kind, scope, operands, flag, method)[0]
