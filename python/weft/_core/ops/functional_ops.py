"""TensorArray, and loops over the first axis: tf.map_fn, tf.scan, tf.foldl, tf.foldr."""
from weft._core.framework import tensor_shape
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.framework.nest import flatten, pack_like
from weft._core.ops import array_ops
from weft._core.ops.control_flow import while_loop


class TensorArray:
    """Tensors by number, written once each; `flow` orders what is done with them."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, name=None):
        self._dtype, self._shape = as_dtype(dtype), tensor_shape.TensorShape(element_shape)
        if handle is not None:
            self._handle, self._flow = handle, flow
            return
        self._handle, self._flow = op("TensorArrayV3", name or "TensorArray", size=0 if size is None else size,
                                      dtype=self._dtype, dynamic_size=bool(dynamic_size), element_shape=self._shape,
                                      clear_after_read=True if clear_after_read is None else clear_after_read,
                                      tensor_array_name=tensor_array_name or "")

    dtype = property(lambda self: self._dtype)
    handle = property(lambda self: self._handle)
    flow = property(lambda self: self._flow)

    def _with(self, flow):
        return TensorArray(self._dtype, handle=self._handle, flow=flow, element_shape=self._shape)

    def identity(self):
        return self._with(array_ops.identity(self._flow))

    def read(self, index, name=None):
        made = op("TensorArrayReadV3", name, handle=self._handle, index=index, flow_in=self._flow, dtype=self._dtype)
        made.set_shape(self._shape)
        return made

    def write(self, index, value, name=None):
        value = convert_to_tensor(value, self._dtype)
        if self._shape.ndims is None:
            self._shape = value.shape
        return self._with(op("TensorArrayWriteV3", name, handle=self._handle, index=index, value=value, flow_in=self._flow))

    def gather(self, indices, name=None):
        return op("TensorArrayGatherV3", name, handle=self._handle, indices=indices, flow_in=self._flow, dtype=self._dtype,
                  element_shape=self._shape)

    def stack(self, name=None):
        from weft._core.ops.math_ops import range as range_of
        with name_scope(name, "TensorArrayStack"):
            return self.gather(range_of(0, self.size()))

    def scatter(self, indices, value, name=None):
        return self._with(op("TensorArrayScatterV3", name, handle=self._handle, indices=indices,
                             value=convert_to_tensor(value, self._dtype), flow_in=self._flow))

    def unstack(self, value, name=None):
        from weft._core.ops.math_ops import range as range_of
        with name_scope(name, "TensorArrayUnstack"):
            value = convert_to_tensor(value, self._dtype)
            made = self.scatter(range_of(0, array_ops.shape(value)[0]), value)
            made._shape = value.shape[1:]
            return made

    unpack, pack = unstack, stack

    def concat(self, name=None):
        value, _ = op("TensorArrayConcatV3", name, handle=self._handle, flow_in=self._flow, dtype=self._dtype)
        return value

    def size(self, name=None):
        return op("TensorArraySizeV3", name, handle=self._handle, flow_in=self._flow)

    def close(self, name=None):
        return op("TensorArrayCloseV3", name, handle=self._handle)


def _inputs(elems):
    """Arrays of the rows of each tensor, and how many rows there are."""
    flat = [convert_to_tensor(e) for e in flatten(elems)]
    known = flat[0].shape.as_list()[0] if flat[0].shape.ndims else None
    n = constant(known) if known is not None else array_ops.shape(flat[0])[0]
    return [TensorArray(t.dtype.base_dtype, n).unstack(t) for t in flat], n, known


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None):
    with name_scope(name, "map"):
        arrays, n, known = _inputs(elems)
        structure = elems if dtype is None else dtype
        types = [a.dtype for a in arrays] if dtype is None else [as_dtype(d) for d in flatten(dtype)]
        outs = [TensorArray(t, n) for t in types]
        shapes = [None] * len(outs)

        def body(i, *flows):
            made = flatten(fn(pack_like(elems, [a.read(i) for a in arrays])))
            new = []
            for k, (out, flow, value) in enumerate(zip(outs, flows, made)):
                value = convert_to_tensor(value, out.dtype)
                shapes[k] = value.shape
                new.append(out._with(flow).write(i, value).flow)
            return [i + 1] + new
        loop = while_loop(lambda i, *_: i < n, body, [constant(0)] + [o.flow for o in outs], return_same_structure=True,
                          parallel_iterations=parallel_iterations or 10)
        results = []
        for out, flow, shape in zip(outs, loop[1:], shapes):
            made = out._with(flow).stack()
            made.set_shape(tensor_shape.TensorShape([known]).concatenate(shape))
            results.append(made)
        return pack_like(structure, results)


def _fold(fn, elems, initializer, reverse, name, default):
    with name_scope(name, default):
        arrays, n, _ = _inputs(elems)
        first = 0
        state = initializer
        if state is None:
            state, first = pack_like(elems, [a.read(n - 1 if reverse else 0) for a in arrays]), 1
            arrays = [TensorArray(a.dtype, n).unstack(convert_to_tensor(e)) for a, e in zip(arrays, flatten(elems))]

        def body(i, *flat):
            at = n - 1 - i if reverse else i
            made = fn(pack_like(state, list(flat)), pack_like(elems, [a.read(at) for a in arrays]))
            return [i + 1] + flatten(made)
        loop = while_loop(lambda i, *_: i < n, body, [constant(first)] + [convert_to_tensor(s) for s in flatten(state)],
                          return_same_structure=True)
        return pack_like(state, loop[1:])


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    return _fold(fn, elems, initializer, False, name, "foldl")


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    return _fold(fn, elems, initializer, True, name, "foldr")


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    if reverse:
        raise NotImplementedError("tf.scan(reverse=True) is not in Weft: reverse the elements")
    with name_scope(name, "scan"):
        arrays, n, known = _inputs(elems)
        state, first = initializer, 0
        if state is None:
            state, first = pack_like(elems, [convert_to_tensor(e)[0] for e in flatten(elems)]), 1
        flat = [convert_to_tensor(s) for s in flatten(state)]
        outs = [TensorArray(s.dtype.base_dtype, n) for s in flat]
        if first:
            outs = [o.write(0, s) for o, s in zip(outs, flat)]

        def body(i, *both):
            old, flows = both[:len(flat)], both[len(flat):]
            made = flatten(fn(pack_like(state, list(old)), pack_like(elems, [a.read(i) for a in arrays])))
            return [i + 1] + made + [o._with(f).write(i, v).flow for o, f, v in zip(outs, flows, made)]
        loop = while_loop(lambda i, *_: i < n, body, [constant(first)] + flat + [o.flow for o in outs],
                          return_same_structure=True)
        results = [o._with(f).stack() for o, f in zip(outs, loop[1 + len(flat):])]
        for made, s in zip(results, flat):
            made.set_shape(tensor_shape.TensorShape([known]).concatenate(s.shape))
        return pack_like(state, results)
