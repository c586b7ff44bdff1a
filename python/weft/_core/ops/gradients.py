"""tf.gradients and clipping."""
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import IndexedSlices, get_default_graph, name_scope
from weft._core.ops.variables import Variable


class AggregationMethod:
    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _list(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _out(x):
    """A variable is differentiated by its reference, whoever reads it."""
    return x._ref()._out if isinstance(x, Variable) else convert_to_tensor(x)._out


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients="none"):
    ys, xs = _list(ys), _list(xs)
    graph = get_default_graph()
    graph._check_not_finalized()
    tensors = [convert_to_tensor(y) for y in ys]
    given = None
    if grad_ys is not None:
        given = []
        for y, g in zip(tensors, _list(grad_ys)):
            given.append(-1 if g is None else convert_to_tensor(g, y.dtype.base_dtype, name="grad_ys")._out)
    rows = graph._c.gradients([y._out for y in tensors], given, [_out(x) for x in xs],
                              [_out(s) for s in _list(stop_gradients or [])], name, bool(colocate_gradients_with_ops),
                              bool(gate_gradients), aggregation_method not in (None, 0))
    made = []
    for x, (dense, indices, values, shape) in zip(xs, rows):
        if indices >= 0:
            made.append(IndexedSlices(graph._tensor(values), graph._tensor(indices), graph._tensor(shape)))
        elif dense >= 0:
            made.append(graph._tensor(dense))
        elif unconnected_gradients in ("zero", getattr(unconnected_gradients, "ZERO", object())):
            made.append(op("ZerosLike", x=convert_to_tensor(x)))
        else:
            made.append(None)
    return made


def hessians(ys, xs, **kwargs):
    raise NotImplementedError("tf.hessians is not in Weft; use tf.gradients twice where the second derivative exists")


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        low = op("Minimum", x=values, y=clip_value_max)
        made = op("Maximum", scope, x=low, y=clip_value_min)
        return IndexedSlices(made, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else made


def clip_by_norm(t, clip_norm, axes=None, name=None):
    from weft._core.ops import math_ops
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        squares = math_ops.reduce_sum(values * values, axes, keepdims=True)
        pred = squares > 0
        safe = op("Select", condition=pred, t=squares, e=op("OnesLike", x=squares))
        norm = op("Select", condition=pred, t=op("Sqrt", x=safe), e=squares)
        clipped = op("Identity", scope, input=(values * clip_norm) / math_ops.maximum(norm, clip_norm))
        return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def global_norm(t_list, name=None):
    from weft._core.ops import math_ops
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    with name_scope(name, "global_norm", t_list):
        halves = []
        for t in t_list:
            if t is not None:
                values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t)
                with get_default_graph().colocate_with(values.op):
                    halves.append(op("L2Loss", t=values))
        total = math_ops.reduce_sum(op("Pack", "stack", values=halves))
        return op("Sqrt", "global_norm", x=total * 2.0)


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    from weft._core.framework.build import constant
    from weft._core.ops import math_ops
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", list(t_list) + [clip_norm]) as scope:
        one = constant(1.0, use_norm.dtype.base_dtype)
        scale = clip_norm * math_ops.minimum(1.0 / use_norm, one / clip_norm)
        finite = use_norm - use_norm  # infinite norms make everything no number, as in TensorFlow
        scale = scale + finite
        out = []
        for i, t in enumerate(t_list):
            if t is None:
                out.append(None)
                continue
            values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t)
            with get_default_graph().colocate_with(values.op):
                made = op("Identity", "%s_%d" % (scope, i), input=values * scale)
            out.append(IndexedSlices(made, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else made)
    return out, use_norm


def clip_by_average_norm(t, clip_norm, name=None):
    from weft._core.ops import math_ops
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = math_ops.cast(op("Size", input=t), t.dtype.base_dtype)
        norm = op("Rsqrt", x=math_ops.reduce_sum(t * t))
        return op("Identity", scope, input=t * clip_norm * math_ops.minimum(norm * count, 1.0 / clip_norm))
