"""Functions of the library that add nodes by name (weft_helper): clipping, learning rates, lookups of embeddings.

The caller opens the name scope, converts its tensors in it, and passes the name of the scope to the library.
"""
import re

from weft import _weft
from weft._core.framework import errors, opdef
from weft._core.framework.build import convert_to_tensor, is_tensor, triple
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, get_default_graph


def operand(value, like=None, dtype=None, name=None):
    """Returns an operand of a helper: a tensor, or a constant of the given dtype or the type of `like`."""
    dtype = dtype if like is None else like.dtype.base_dtype
    if is_tensor(value) or isinstance(value, (list, tuple)) and any(is_tensor(v) for v in value):
        made = value if isinstance(value, Tensor) else convert_to_tensor(value, name=name)
        if dtype is not None and made.dtype.base_dtype != dtype:
            raise TypeError("Expected a tensor of type %s, got %s of type %s: cast it with tf.cast." % (
                dtype.name, made.name, made.dtype.base_dtype.name))
        return made
    return triple(value, dtype)[0]


def dtype_of(value):
    """Returns the type of an operand."""
    return value.dtype.base_dtype if isinstance(value, Tensor) else as_dtype(value[0])


def outs(graph, tensors):
    """Returns the numbers of tensors in a graph.

    A function's body captures tensors of outer graphs; other tensors are refused.
    """
    found = [graph.capture(t) if graph.outer is not None else t for t in tensors]
    for t in found:
        if t.graph is not graph:
            raise ValueError("Tensor %s must be from the same graph as %s." % (t, graph))
    return [t._out for t in found]


def outputs(kind, scope, operands, flag=False, method=None):
    """Returns the tensors that a helper makes from the operands, with None for missing ones.

    An operand of None is left out.
    """
    graph = get_default_graph()
    graph._check_not_finalized()
    given = [-1 if x is None else outs(graph, [x])[0] if isinstance(x, Tensor) else x for x in operands]
    try:
        with graph._made_by_library():
            made = _weft.helper(graph._c, kind, scope, given, flag, method)
    except errors.InvalidArgumentError as e:  # TensorFlow raises ValueError or TypeError here.
        refused = re.search(r"Op<name=(\w+)>", e.message)
        raise (refused and opdef.refused_type(refused.group(1), e)) or ValueError(e.message) from None
    return [graph._result(out) for out in made]


def helper(kind, scope, operands, flag=False, method=None):
    """Returns the tensor that a helper makes from the operands."""
    return outputs(kind, scope, operands, flag, method)[0]
