"""Loops over the first axis: tf.map_fn, tf.scan, tf.foldl, tf.foldr."""
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import constant, convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.framework.nest import flatten, pack_like
from weft._core.framework.type_spec import RaggedTensorSpec, SparseTensorSpec
from weft._core.ops import array_ops
from weft._core.ops.control_flow import while_loop
from weft._core.ops.sparse import SparseTensor
from weft._core.ops.tensor_array import TensorArray


class _Rows:
    """The rows of one input in an array. A SparseTensor or RaggedTensor has one variant for each row."""

    def __init__(self, elem):
        from weft._core.data.components import kind_of, spec_of
        self.spec = None  # of a row of a composite
        if isinstance(elem, SparseTensor) or hasattr(elem, "nested_row_splits"):
            whole, elem = spec_of(elem)
            self.kind, self.spec = kind_of(whole), kind_of(whole).unbatched(whole)
            tensor, = self.kind.to_rows(whole, elem)
            self.known = whole.shape.as_list()[0] if whole.shape.ndims else None
        else:
            tensor = convert_to_tensor(elem, name="elem")
            if tensor.shape.ndims == 0:
                raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
            self.known = tensor.shape.as_list()[0] if tensor.shape.ndims is not None else None
        self.tensor = tensor

    def unstack(self, n):
        self.array = TensorArray(self.tensor.dtype.base_dtype, n).unstack(self.tensor)

    def read(self, i):
        row = self.array.read(i)
        return row if self.spec is None else self.kind.from_tensors(self.spec, [row])


class _Results:
    """The results of one output in an array, which becomes a tensor or, for the spec of a composite, a composite."""

    def __init__(self, given, n, infer_shape):
        from weft._core.data.components import kind_of
        self.spec = given if isinstance(given, (SparseTensorSpec, RaggedTensorSpec)) else None
        self.dtype = dtypes.variant if self.spec is not None else as_dtype(getattr(given, "dtype", given))
        self.kind = None if self.spec is None else kind_of(self.spec)
        self.array = TensorArray(self.dtype, n, dynamic_size=False, infer_shape=infer_shape)

    def as_tensor(self, value):
        if self.spec is not None:
            return self.kind.to_tensors(self.spec, value)[0]
        return convert_to_tensor(value, preferred_dtype=self.dtype)

    def packed(self, stacked, known):
        return stacked if self.spec is None else self.kind.from_tensors(self.kind.batched(self.spec, known), [stacked])


def _inputs(fn, elems):
    """Returns the rows of each input, the number of rows, and that number if it is known now."""
    if not callable(fn):
        raise TypeError("fn must be callable, not %r" % (fn,))
    rows = [_Rows(e) for e in flatten(elems)]
    if not rows:
        raise ValueError("elems must be a Tensor or a nest with at least one Tensor")
    sizes = [r.known for r in rows if r.known is not None]
    for size in sizes:
        if size != sizes[0]:
            raise ValueError("Dimensions %s and %s are not compatible: the inputs have different numbers of rows" % (sizes[0], size))
    known = sizes[0] if sizes else None
    n = known if known is not None else array_ops.shape(rows[0].tensor)[0]
    for r in rows:
        r.unstack(n)
    return rows, n, known


class _Loop:
    """The base of the loops over rows: the rows, and the parameters of the loop."""

    def __init__(self, fn, elems, parallel_iterations, back_prop, swap_memory):
        self.fn, self.elems = fn, elems
        self.rows, self.n, self.known = _inputs(fn, elems)
        self.options = dict(parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory)

    def row(self, i):
        return pack_like(self.elems, [r.read(i) for r in self.rows])

    def run(self, going, body, variables):
        return while_loop(going, body, variables, maximum_iterations=self.n, return_same_structure=True, **self.options)

    def stacked(self, arrays):
        results = [a.stack() for a in arrays]
        for made in results:
            if made.shape.ndims is not None:
                made.set_shape(tensor_shape.TensorShape([self.known]).concatenate(made.shape[1:]))
        return results


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None,
           fn_output_signature=None):
    dtype = fn_output_signature if dtype is None else dtype
    with name_scope(name, "map", flatten(elems)):
        loop = _Loop(fn, elems, parallel_iterations or 10, back_prop, swap_memory)
        structure = elems if dtype is None else dtype
        given = [r.spec or r.tensor.dtype.base_dtype for r in loop.rows] if dtype is None else flatten(dtype)
        i = constant(0)
        results = [_Results(g, loop.n, infer_shape) for g in given]

        def body(i, outs):
            made = flatten(fn(loop.row(i)))
            if len(made) != len(outs):
                raise ValueError("fn must return a nest like %s, not of %d tensors" % (structure, len(made)))
            outs = [o.write(i, r.as_tensor(v)) for o, r, v in zip(outs, results, made)]
            return i + 1, outs
        _, outs = loop.run(lambda i, _: i < loop.n, body, (i, [r.array for r in results]))
        return pack_like(structure, [r.packed(t, loop.known) for r, t in zip(results, loop.stacked(outs))])


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    with name_scope(name, "foldl", flatten(elems)):
        loop = _Loop(fn, elems, parallel_iterations, back_prop, swap_memory)
        state = loop.row(0) if initializer is None else initializer
        i = constant(1 if initializer is None else 0)

        def body(i, a):
            a = fn(a, loop.row(i))
            return i + 1, a
        return loop.run(lambda i, _: i < loop.n, body, (i, state))[1]


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    with name_scope(name, "foldr", flatten(elems)):
        loop = _Loop(fn, elems, parallel_iterations, back_prop, swap_memory)
        last = loop.n - 1 if initializer is None else loop.n
        state = loop.row(last) if initializer is None else initializer

        def body(i, a):
            i = i - 1
            return i, fn(a, loop.row(i))
        return loop.run(lambda i, _: i > 0, body, (last, state))[1]


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    with name_scope(name, "scan", flatten(elems)):
        loop = _Loop(fn, elems, parallel_iterations, back_prop, swap_memory)
        i = 1 if initializer is None else 0
        state = loop.row(loop.n - 1 if reverse else 0) if initializer is None else initializer
        state = pack_like(state, [convert_to_tensor(v) for v in flatten(state)])
        outs = [TensorArray(s.dtype.base_dtype, loop.n, dynamic_size=False, infer_shape=infer_shape,
                            element_shape=s.shape if infer_shape else None) for s in flatten(state)]
        if initializer is None:
            outs = [o.write(loop.n - 1 if reverse else 0, s) for o, s in zip(outs, flatten(state))]

        def body(i, a, outs):
            a = fn(a, loop.row(i))
            outs = [o.write(i, v) for o, v in zip(outs, flatten(a))]
            return (i - 1 if reverse else i + 1), a, outs
        first = loop.n - 1 - i if reverse else i
        going = (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < loop.n)
        _, _, outs = loop.run(going, body, (first, state, outs))
        return pack_like(state, loop.stacked(outs))


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """Returns the stacked results of a function for each row of its inputs; tf.map_fn does the work.

    Args:
      fn: a function of a row, or of a structure of rows.
      elems: a tensor or a structure of tensors with one first dimension.
      fallback_to_while_loop: whether a loop may do it; if not, this is an error, since Weft has no other way.
      warn: has no effect.
    """
    if not fallback_to_while_loop:
        raise ValueError("tf.vectorized_map(fallback_to_while_loop=False) is not in Weft, which maps by a loop: leave it out")
    flat = [convert_to_tensor(e) for e in flatten(elems)]
    elems = pack_like(elems, flat)
    first = fn(pack_like(elems, [e[0] for e in flat]))
    return map_fn(fn, elems, dtype=pack_like(first, [convert_to_tensor(f).dtype for f in flatten(first)]))


__all__ = ["TensorArray", "foldl", "foldr", "map_fn", "scan", "vectorized_map"]
