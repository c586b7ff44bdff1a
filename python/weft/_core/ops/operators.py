"""The operators of Tensor and Variable: `+` makes a node Add, named "add"; a Python number is converted to the tensor's
type.
"""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import Tensor, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.resource_variables import ResourceVariable
from weft._core.ops.sparse import SparseTensor
from weft._core.ops.variables import Variable


def _binary(name, fn):
    def forward(x, y):
        with name_scope(None, name, [x, y]) as scope:
            x = convert_to_tensor(x)
            try:
                y = y if isinstance(y, SparseTensor) else convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
            except TypeError:
                if hasattr(type(y), "__r%s__" % name):
                    return NotImplemented
                raise
            return fn(x, y, scope)

    def backward(y, x):
        with name_scope(None, name, [x, y]) as scope:
            x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return fn(x, convert_to_tensor(y), scope)

    return forward, backward


def _plain(kind):
    return lambda x, y, scope: op(kind, scope, x=x, y=y)


def _div(x, y, scope):
    return math_ops.div(x, y, name=scope)


def _mul(x, y, scope):
    if isinstance(y, SparseTensor):
        return _of_values("SparseDenseCwiseMul", y, x, scope)
    return op("Mul", scope, x=x, y=y)


def _logical(logical, of_bits):
    """Returns the function for `&`, `|` or `^`: a logical one for booleans, one of bits for integers."""
    def fn(x, y, scope):
        return logical(x, y, name=scope) if x.dtype.base_dtype == dtypes.bool else op(of_bits, scope, x=x, y=y)
    return fn


def _invert(x):
    x = convert_to_tensor(x)
    return math_ops.logical_not(x) if x.dtype.base_dtype == dtypes.bool else op("Invert", None, x=x)


def _add(x, y, scope):
    return op(math_ops.add_op(x, y), scope, x=x, y=y)


_BINARY = {"add": ("add", _add), "sub": ("sub", _plain("Sub")), "mul": ("mul", _mul), "div": ("div", _div),
           "truediv": ("truediv", lambda x, y, s: math_ops.truediv(x, y, s)),
           "floordiv": ("floordiv", lambda x, y, s: math_ops.floordiv(x, y, s)), "mod": ("mod", _plain("FloorMod")),
           "pow": ("pow", _plain("Pow")), "and": ("and", _logical(math_ops.logical_and, "BitwiseAnd")),
           "or": ("or", _logical(math_ops.logical_or, "BitwiseOr")), "xor": ("xor", _logical(math_ops.logical_xor, "BitwiseXor")),
           "matmul": ("matmul", lambda x, y, s: math_ops.matmul(x, y, name=s))}


# ---- operators of a sparse tensor and a dense one, which is broadcast to it ----

def _of_values(kind, sparse, dense, scope):
    """Returns a sparse tensor with the result of the op for each of its values."""
    return sparse.with_values(op(kind, scope, sp_indices=sparse.indices, sp_values=sparse.values, sp_shape=sparse.dense_shape,
                                 dense=dense))


def _sparse_operator(name, kind):
    def operator(sparse, dense):
        with name_scope(None, name, [sparse.values, dense]) as scope:
            dense = convert_to_tensor(dense, dtype=sparse.dtype.base_dtype, name="y")
            wide = math_ops._divided_as(sparse.dtype.base_dtype) if name == "truediv" else None
            if wide is not None:
                sparse = sparse.with_values(math_ops.cast(sparse.values, wide))
                dense = math_ops.cast(dense, wide)
            return _of_values(kind, sparse, dense, scope)
    return operator


for _name, _kind in (("mul", "SparseDenseCwiseMul"), ("div", "SparseDenseCwiseDiv"), ("truediv", "SparseDenseCwiseDiv")):
    setattr(SparseTensor, "__%s__" % _name, _sparse_operator(_name, _kind))


def install(cls):
    for method, (name, fn) in _BINARY.items():
        forward, backward = _binary(name, fn)
        setattr(cls, "__%s__" % method, forward)
        setattr(cls, "__r%s__" % method, backward)
    for method, fn in (("lt", math_ops.less), ("le", math_ops.less_equal), ("gt", math_ops.greater),
                       ("ge", math_ops.greater_equal)):
        setattr(cls, "__%s__" % method, lambda x, y, fn=fn: fn(convert_to_tensor(x), y))
    cls.__neg__ = lambda x: math_ops.negative(x)
    cls.__abs__ = lambda x: math_ops.abs(x)
    cls.__invert__ = _invert
    cls.__getitem__ = lambda x, item: array_ops.slice_helper(x, item)


def install_on_values(cls):
    """Adds operators to a class of resource variables; the variable is read first, outside of the operator's name
    scope.
    """
    def of_value(method):
        return lambda v, *args: method(v.value(), *args)
    for name in ["__%s%s__" % (r, m) for m in _BINARY for r in ("", "r")] + [
            "__%s__" % m for m in ("lt", "le", "gt", "ge", "neg", "abs", "invert")]:
        setattr(cls, name, of_value(getattr(Tensor, name)))


install(Tensor)
install(Variable)
install_on_values(ResourceVariable)
ResourceVariable.__getitem__ = lambda v, item: array_ops.slice_helper(v.value(), item, var=v)
Variable.__getitem__ = lambda v, item: array_ops.slice_helper(v, item, var=v)
