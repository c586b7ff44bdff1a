"""The operators of RaggedTensor: `+` adds the values of each row."""
from weft._core.ops import math_ops
from weft._core.ragged.ragged_ops import elementwise, map_flat_values
from weft._core.ragged.ragged_tensor import RaggedTensor

_BINARY = {"add": math_ops.add, "sub": math_ops.subtract, "mul": math_ops.multiply, "div": math_ops.div,
           "truediv": math_ops.truediv, "floordiv": math_ops.floordiv, "mod": math_ops.floormod, "pow": math_ops.pow,
           "and": math_ops.logical_and, "or": math_ops.logical_or, "xor": math_ops.logical_xor}
_COMPARE = {"lt": math_ops.less, "le": math_ops.less_equal, "gt": math_ops.greater, "ge": math_ops.greater_equal}


def _forward(function):
    return lambda x, y: elementwise(function, x, y)


def _backward(function):
    return lambda y, x: elementwise(function, x, y)


def install(cls):
    for name, function in _BINARY.items():
        setattr(cls, "__%s__" % name, _forward(function))
        setattr(cls, "__r%s__" % name, _backward(function))
    for name, function in _COMPARE.items():
        setattr(cls, "__%s__" % name, _forward(function))
    cls.__neg__ = lambda x: map_flat_values(math_ops.negative, x)
    cls.__abs__ = lambda x: map_flat_values(math_ops.abs, x)
    cls.__invert__ = lambda x: map_flat_values(math_ops.logical_not, x)


install(RaggedTensor)
