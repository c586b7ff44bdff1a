"""The tensors with values that tf.py_function passes to its function, and their gradients.

A call has a graph of its own.  The function adds nodes to it, as to any graph, and a node is run when its value is
asked for; a node that has state runs once.  So the functions of `tf` work on these tensors, Python can read their
values, and the gradient is that of the nodes of the call.
"""
import numpy as np

from weft._core.framework import opdef
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Graph, Tensor
from weft._core.framework.tensor_shape import as_shape


class EagerTensor(Tensor):
    """A tensor that has a value."""

    __slots__ = ()

    def numpy(self):
        return self.graph.value(self)

    @property
    def shape(self):
        known = super().shape
        return known if known.is_fully_defined() else as_shape(np.shape(self.numpy()))

    def get_shape(self):
        return self.shape

    @property
    def ndim(self):
        return self.shape.ndims

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.numpy(), dtype)

    def __bool__(self):
        return bool(self.numpy())

    __nonzero__ = __bool__

    def __int__(self):
        return int(self.numpy())

    def __float__(self):
        return float(self.numpy())

    def __complex__(self):
        return complex(self.numpy())

    def __index__(self):
        return int(np.asarray(self.numpy()).__index__())

    def __len__(self):
        if not self.shape.ndims:
            raise TypeError("Scalar tensor has no `len()`")
        return self.shape.as_list()[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __format__(self, how):
        return format(self.numpy() if how else str(self), how)

    def __str__(self):
        return "tf.Tensor(%s, shape=%s, dtype=%s)" % (self.numpy(), tuple(self.shape.as_list()), self.dtype.name)

    def __repr__(self):
        return "<tf.Tensor: shape=%s, dtype=%s, numpy=%r>" % (tuple(self.shape.as_list()), self.dtype.name, self.numpy())


class CallGraph(Graph):
    """The graph of one call, with the values that are known in it."""

    _TENSOR = EagerTensor

    def __init__(self):
        super().__init__()
        self._known, self._ran, self._looked, self._session = {}, set(), 0, None

    def given(self, value, dtype):
        """Returns a tensor of this graph for a given value."""
        from weft._core.ops.array_ops import placeholder
        tensor = placeholder(dtype, np.shape(value))
        self._known[tensor] = value
        self._ran.add(tensor.op)
        return tensor

    def _waiting(self):
        """Returns the nodes with state that have not run yet."""
        return [op for op in self.get_operations() if op not in self._ran and opdef.get(op.type).is_stateful]

    def values(self, tensors):
        """Returns the values of tensors, and runs nodes with state that have not run yet."""
        from weft._core.session.client import Session
        waiting = self._waiting()
        also = [t for op in waiting for t in op.outputs if t.dtype.is_numpy_compatible and not t.dtype._is_ref_dtype]
        wanted = [t for t in dict.fromkeys([*tensors, *also]) if t not in self._known]
        if wanted or waiting:
            if self._session is None:
                self._session = Session(graph=self)
            found = self._session.run([wanted, [op for op in waiting if not op.outputs]], dict(self._known))[0]
            self._known.update(zip(wanted, found))
            self._ran.update(waiting)
        return [self._known[t] for t in tensors]

    def value(self, tensor):
        return self.values([tensor])[0]


class Call:
    """A call of a function of tf.py_function: its graph, its inputs and its results."""

    def __init__(self, function, values, types):
        self.graph = CallGraph()
        with self.graph.as_default():
            self.inputs = [self.graph.given(v, t) for v, t in zip(values, types)]
            made = function(*self.inputs)
        self.results = list(made) if isinstance(made, (list, tuple)) else [] if made is None else [made]

    def arrays(self, types):
        """Returns the results of the function as arrays of the promised types."""
        if len(self.results) != len(types):
            raise ValueError("the function returned %d values, but %d were promised by Tout" % (len(self.results), len(types)))
        tensors = [r for r in self.results if isinstance(r, EagerTensor)]
        found = dict(zip(tensors, self.graph.values(tensors)))
        return [_array(r, found, as_dtype(t)) for r, t in zip(self.results, types)]

    def gradients(self, grads):
        """Returns the gradients of the inputs as arrays, given those of the results.

        They are zeros where no result depends on an input.
        """
        from weft._core.ops.gradients import gradients
        with self.graph.as_default():
            pairs = [(r, convert_to_tensor(g)) for r, g in zip(self.results, grads)
                     if isinstance(r, EagerTensor) and (r.dtype.is_floating or r.dtype.is_complex)]
            made = gradients([r for r, _ in pairs], self.inputs, [g for _, g in pairs]) if pairs else [None] * len(self.inputs)
            made = [None if g is None else convert_to_tensor(g) for g in made]
        given = self.graph.values([g for g in made if g is not None])
        return [np.zeros_like(self.graph.value(x)) if g is None else given.pop(0) for x, g in zip(self.inputs, made)]

    def had(self, values):
        """Returns whether the call was made with these values."""
        mine = [self.graph.value(x) for x in self.inputs]
        return all(np.shape(a) == np.shape(b) and np.array_equal(a, b) for a, b in zip(mine, values))


def _array(value, found, dtype):
    if isinstance(value, EagerTensor):
        if value.dtype.base_dtype != dtype.base_dtype:
            raise TypeError("the function returned a tensor of type %s, but Tout promised %s" % (value.dtype.name, dtype.name))
        return found[value]
    if value is None:
        raise ValueError("the function returned None, but Tout promised %s" % dtype.name)
    return value if dtype == as_dtype("string") else np.asarray(value).astype(dtype.as_numpy_dtype)
