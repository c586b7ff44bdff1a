"""Functions: each has a graph of its own, traced by calling Python once, in the function library of the outer graph.

Tensors of the outer graph that the function uses become additional arguments, which each calling node passes.
"""
import itertools

from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Graph, get_default_graph

_numbers = itertools.count()


class FuncGraph(Graph):
    """The graph of a function's body while it is traced."""

    def __init__(self, outer):
        super().__init__()
        # tensor of the outer graph -> (the tensor, its placeholder in this graph)
        self.outer, self.captured = outer, {}
        self.seed = outer.seed
        if self.seed is not None:
            self._c.set_seed(int(self.seed))

    def argument(self, dtype, shape, name):
        from weft._core.ops.array_ops import placeholder
        with self.as_default(), self.control_dependencies(None):
            return placeholder(dtype, shape, name)

    def capture(self, tensor):
        """Returns the placeholder in this graph for a tensor of an outer graph."""
        if tensor.graph is self:
            return tensor
        if tensor.graph is not self.outer and isinstance(self.outer, FuncGraph):
            tensor = self.outer.capture(tensor)
        if tensor.graph is not self.outer:
            raise ValueError("Tensor %s must be from the same graph as the function that uses it." % tensor)
        if tensor not in self.captured:
            self.captured[tensor] = tensor, self.argument(tensor.dtype.base_dtype, tensor.shape, "captured")
        return self.captured[tensor][1]


class Function:
    """A function in a graph's function library: its name, and the captured tensors that each call passes."""

    def __init__(self, name, captured, outputs):
        self.name, self.captured = name, captured
        self.types = [t.dtype.base_dtype for t in outputs]
        self.shapes = [t.shape for t in outputs]


def trace(fn, types, shapes, name):
    """Calls fn with a tensor for each type and shape; fn returns a flat list of tensors and any other object.

    Returns the Function and that object.
    """
    outer = get_default_graph()
    body = FuncGraph(outer)
    with body.as_default():
        args = [body.argument(t, s, "args_%d" % i) for i, (t, s) in enumerate(zip(types, shapes))]
        made, more = fn(*args)
        outputs = [body.capture(t) for t in made]
    captured = list(body.captured.values())
    name = "%s_%d" % (name, next(_numbers))
    outer._c.function(name, body._c, [t._out for t in args] + [inner._out for _, inner in captured],
                      [t._out for t in outputs])
    outer._functions.extend(body._functions)
    return Function(name, [tensor for tensor, _ in captured], outputs), more


def computing(tensor, name):
    """Returns the name of a new function without arguments that computes a tensor as its graph does."""
    name = "%s_%d" % (name, next(_numbers))
    tensor.graph._c.function_of(name, tensor._out)
    return name


class _Defined:
    """A function that nodes call. It is traced once in each graph that calls it."""

    def __init__(self, fn, types, name, gradient=None):
        self._fn, self._types, self.name = fn, types, name
        self._gradient = None if gradient is None else "%s-gradient-%d" % (name, next(_numbers))
        if gradient is not None:
            from weft._core.framework.gradient_registry import registry
            registry.register(gradient, self._gradient)

    def _traced(self, args):
        known = get_default_graph().__dict__.setdefault("_defined", {})
        if self not in known:
            def body(*inner):
                made = self._fn(*inner)
                several = isinstance(made, (list, tuple))
                return list(made) if several else [made], several
            types = self._types or [a.dtype.base_dtype for a in args]
            known[self] = trace(body, types, [None] * len(types), self.name)
        return known[self]

    def __call__(self, *args, name=None):
        args = [convert_to_tensor(a, self._types[i] if i < len(self._types) else None) for i, a in enumerate(args)]
        f, several = self._traced(args)
        graph = get_default_graph()
        how = {} if self._gradient is None else {"PartitionedCall": self._gradient}
        with graph.gradient_override_map(how):
            made = op("PartitionedCall", name or self.name, args=args + f.captured, Tout=f.types, f=f)
        for tensor, shape in zip(made, f.shapes):
            tensor.set_shape(shape)
        return made if several else made[0]


class Defun:
    """Decorates a Python function of tensors so that nodes call it as a graph function:
    tensorflow.python.framework.function.Defun.
    """

    def __init__(self, *input_types, func_name=None, grad_func=None, python_grad_func=None, **_):
        if grad_func is not None and python_grad_func is not None:
            raise ValueError("Gradient defined twice for function %s" % (func_name or "given to Defun"))
        self._types, self._name = [as_dtype(t) for t in input_types], func_name
        self._gradient = python_grad_func if grad_func is None else _called_by_gradients(grad_func)

    def __call__(self, fn):
        return _Defined(fn, self._types, self._name or fn.__name__, self._gradient)


def _called_by_gradients(grad_func):
    """Returns a gradient function of the call that applies a Defun to the arguments and the gradients of the results.
    """
    def gradient(call, *grads):
        return grad_func(*call.inputs, *grads)
    return gradient


__all__ = ["Defun", "FuncGraph", "Function", "computing", "trace"]
